//! Takes the elements that `zip` steps over at once for as many as they are.
//!
//! ```text
//! before: %left = sub i64 %n, %i                                    ; `first.iter().zip(second).skip(lane).step_by(32)`
//!         %less = call i64 @llvm.umin.i64(i64 %left, i64 31)
//!         %end = call i64 @llvm.umax.i64(i64 %i, i64 (add i64 %less, %i))
//!         %sum = call { i64, i1 } @llvm.uadd.with.overflow.i64(i64 %end, i64 (xor i64 %less, 31))
//!         br i1 (or i1 (extractvalue %sum, 1), (icmp uge i64 (extractvalue %sum, 0), %n)), label %out, label %next
//!         next: … (extractvalue %sum, 0), (sub i64 %end, %less), (add i64 (add i64 %end, 1), %rest)
//! after:  %at = add i64 %i, 31
//!         br i1 (or i1 (icmp ugt i64 %i, -32), (icmp uge i64 %at, %n)), label %out, label %next
//!         next: … %at, %i, (add i64 %at, 1)
//! ```
//!
//! The standard library's `Zip` goes to the 31st next pair by as many pairs as there are of these, and then by the rest of
//! the way. LLVM does not see that both are always 31, so that a row of a sparse matrix that a warp shares took 15
//! instructions of two chains a round to find its next element.
//!
//! **Why it is right.** If `%i + 31` does not wrap around, neither does anything else: `%left` is what is left, or, where `%i` is
//! behind `%n`, wrapped and more than 31; then `%end` is `%i + %less`, and the sum is `%i + 31`. If it does wrap, both branches
//! go out: where `%i` is at most `%n`, `%end` is `%n`, and the sum overflows; where it is more, neither `%end` nor what does
//! not overflow is less than that. What is read behind the branch is read only where the sum is below `%n`, so that `%i` is,
//! and `%end - %less` is `%i`. That is frozen, because it is looked at twice and `%left` may have been frozen; a frozen value may be
//! any, also the one that all others agree on.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValue, BuilderError, Context, FunctionValue, InstructionOpcode as Op, InstructionValue,
    IntPredicate, IntValue, Module, Use,
};

use super::natural::Graph;

/// Elements that are stepped over at once.
const MOST: u64 = 1 << 31;

/// Rewrites all of them.
pub fn step_at_once<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    for function in llvm::functions(module).filter(|function| function.count_basic_blocks() > 1) {
        let sums: Vec<_> = llvm::instructions(function).filter(is_sum).collect();
        for sum in sums {
            let Some(step) = Step::of(function, sum) else { continue };
            step.write(context).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("cannot step over a pair of slices at once: {error}"))
            })?;
        }
    }
    Ok(())
}

fn is_sum(from: &InstructionValue<'_>) -> bool {
    llvm::calls(*from, &["llvm.uadd.with.overflow."])
}

/// The sum that a step goes to, by as many elements as there are and then by the rest of the way.
struct Sum<'ctx> {
    sum: InstructionValue<'ctx>,
    /// Where it begins.
    from: IntValue<'ctx>,
    /// How far it goes.
    places: u64,
    /// How many elements there are.
    len: IntValue<'ctx>,
    /// Where the elements end, or the step does.
    end: IntValue<'ctx>,
    /// How far that is.
    less: IntValue<'ctx>,
    rest: IntValue<'ctx>,
}

impl<'ctx> Sum<'ctx> {
    fn of(sum: InstructionValue<'ctx>) -> Option<Self> {
        let operands = [llvm::int_operand(sum, 0)?, llvm::int_operand(sum, 1)?];
        let [end, rest] = if rest_of(operands[1]).is_some() { operands } else { [operands[1], operands[0]] };
        let (less, places) = rest_of(rest)?;
        let least = made(less, |from| llvm::calls(from, &["llvm.umin."]))?;
        let left = made(llvm::int_operand(least, 0)?, |from| from.get_opcode() == Op::Sub)?;
        let (len, from) = (bare(llvm::int_operand(left, 0)?), bare(llvm::int_operand(left, 1)?));
        let found = Self { sum, from, places, len, end: bare(end), less, rest };
        let is_end = |end: InstructionValue<'ctx>| {
            let [Some(one), Some(other)] = [0, 1].map(|at| llvm::int_operand(end, at)) else { return false };
            let is_of = |one, other| bare(one) == from && made(other, |end| found.goes_on(end)).is_some();
            match end.get_opcode() {
                Op::Add => found.goes_on(end) && llvm::has_no_unsigned_wrap(end),
                _ => llvm::calls(end, &["llvm.umax."]) && (is_of(one, other) || is_of(other, one)),
            }
        };
        let is_as_far = llvm::int_operand(least, 1)?.get_zero_extended_constant() == Some(places);
        (is_as_far && made(end, is_end).is_some()).then_some(found)
    }

    /// Whether an instruction adds what there is at most to where the step begins.
    fn goes_on(&self, from: InstructionValue<'ctx>) -> bool {
        let operands = operands(from);
        let (begin, less) = (Some(self.from), Some(self.less));
        from.get_opcode() == Op::Add && (operands == [less, begin] || operands == [begin, less])
    }

    /// Whether nothing reads a part of the sum but the others and these: a search for the last element, for instance, would not
    /// know that they are one step.
    fn is_read_by(&self, others: &[InstructionValue<'ctx>]) -> bool {
        let is_part = |user: &InstructionValue<'ctx>| {
            *user == self.sum
                || self.rest.as_instruction() == Some(*user)
                || self.goes_on(*user)
                || others.contains(user)
        };
        [self.end, self.less, bare(self.rest)]
            .iter()
            .all(|part| readers(*part).is_some_and(|all| all.iter().all(is_part)))
    }
}

/// A step to the element so many places on, and the branch that goes out where there is none.
struct Step<'ctx> {
    sum: Sum<'ctx>,
    branch: InstructionValue<'ctx>,
    /// How many elements there are.
    len: IntValue<'ctx>,
    /// What reads where it ends.
    ends: Vec<(InstructionValue<'ctx>, u32)>,
    /// What computes where it began.
    begins: Vec<InstructionValue<'ctx>>,
    /// What computes where it ends and a constant.
    sums: Vec<(InstructionValue<'ctx>, IntValue<'ctx>)>,
}

impl<'ctx> Step<'ctx> {
    fn of(function: FunctionValue<'ctx>, sum: InstructionValue<'ctx>) -> Option<Self> {
        let parts: Vec<(InstructionValue<'ctx>, u32)> =
            users(sum)?.into_iter().map(|part| Some((part, llvm::part_of(part)?.1))).collect::<Option<_>>()?;
        let sum = Sum::of(sum)?;
        let of = |index| parts.iter().filter(move |(_, part)| *part == index).map(|(part, _)| *part);
        let [overflow] = of(1).collect::<Vec<_>>()[..] else { return None };
        let [either] = users(overflow)?[..] else { return None };
        let [branch] = users(either)?[..] else { return None };
        let (_, next) = llvm::branch_targets(branch)?;
        let compare = other_reason(either, overflow)?;
        let [left, right] = [llvm::int_operand(compare, 0)?, llvm::int_operand(compare, 1)?];
        let (place, len) = match compare.get_icmp_predicate()? {
            IntPredicate::UGE => (left, right),
            IntPredicate::ULE => (right, left),
            _ => return None,
        };
        let is_behind = of(0).any(|at| place.as_instruction() == Some(at))
            && bare(len) == sum.len
            && users(compare)?[..] == [either]
            && llvm::predecessors(next) == [branch.get_parent()?];
        if !is_behind {
            return None;
        }
        let graph = Graph::of(function);
        let mut ends = Vec::new();
        for at in of(0) {
            for user in users(at)?.into_iter().filter(|user| *user != compare) {
                let reads = llvm::value_operands(user).filter(|(_, value)| llvm::instruction_of(*value) == Some(at));
                for (index, _) in reads {
                    let is_known = graph.is_reached_by_way_of(place_of(user, index)?, next);
                    ends.push(is_known.then_some((user, index))?);
                }
            }
        }
        let is_known = |from: &InstructionValue<'ctx>| {
            from.get_parent().is_some_and(|place| graph.is_reached_by_way_of(place, next))
        };
        let behind: Vec<_> = readers(sum.end)?.into_iter().filter(is_known).collect();
        let is_begin = |from: InstructionValue<'ctx>| {
            from.get_opcode() == Op::Sub && operands(from) == [Some(sum.end), Some(sum.less)]
        };
        let begins: Vec<_> = behind.iter().copied().filter(|from| is_begin(*from)).collect();
        let mut others = begins.clone();
        let mut sums = Vec::new();
        for more in behind.iter().filter(|more| more.get_opcode() == Op::Add) {
            let [Some(one), Some(by)] = operands(*more) else { continue };
            let all = users(*more)?;
            let is_sum = |from: &InstructionValue<'ctx>| {
                let rest = operands(*from).into_iter().filter(|operand| *operand == Some(bare(sum.rest))).count();
                from.get_opcode() == Op::Add && rest == 1 && is_known(from)
            };
            if one == sum.end && by.is_const() && all.iter().all(is_sum) {
                others.push(*more);
                others.extend(&all);
                sums.extend(all.into_iter().map(|from| (from, by)));
            }
        }
        sum.is_read_by(&others).then_some(Self { sum, branch, len, ends, begins, sums })
    }

    fn write(&self, context: &'ctx Context) -> std::result::Result<(), BuilderError> {
        let builder = context.create_builder();
        builder.position_before(&self.sum.sum);
        let from = llvm::build_freeze(&builder, self.sum.from);
        let places = from.get_type().const_int(self.sum.places, false);
        let at = builder.build_int_add(from, places, "")?;
        for begin in &self.begins {
            llvm::replace_uses(*begin, from.into());
        }
        for (sum, by) in &self.sums {
            builder.position_before(sum);
            llvm::replace_uses(*sum, builder.build_int_add(at, *by, "")?.into());
        }
        for (user, index) in &self.ends {
            user.set_operand(*index, at);
        }
        builder.position_before(&self.branch);
        let wraps = builder.build_int_compare(IntPredicate::UGT, from, places.const_not(), "")?;
        let is_out = builder.build_int_compare(IntPredicate::UGE, at, self.len, "")?;
        llvm::set_condition(self.branch, builder.build_or(wraps, is_out, "")?);
        Ok(())
    }
}

/// What is left of so many places once a number of them was gone: that number, and how many they are.
fn rest_of(value: IntValue<'_>) -> Option<(IntValue<'_>, u64)> {
    let rest = value.as_instruction_value()?;
    let [left, right] = [llvm::int_operand(rest, 0)?, llvm::int_operand(rest, 1)?];
    let (less, places) = match rest.get_opcode() {
        Op::Sub => (right, left.get_zero_extended_constant()?),
        // The same, where that has only ones.
        Op::Xor => (left, right.get_zero_extended_constant().filter(|places| (places + 1).is_power_of_two())?),
        _ => return None,
    };
    (1..MOST).contains(&places).then_some((bare(less), places))
}

/// The other operand of an `or`, or of a choice that is one.
fn other_reason<'ctx>(
    either: InstructionValue<'ctx>,
    reason: InstructionValue<'ctx>,
) -> Option<InstructionValue<'ctx>> {
    let operand = |at| llvm::int_operand(either, at).and_then(|value| value.as_instruction_value());
    let [one, other] = match either.get_opcode() {
        Op::Or => [operand(0)?, operand(1)?],
        Op::Select if llvm::int_operand(either, 1)?.get_zero_extended_constant() == Some(1) => {
            [operand(0)?, operand(2)?]
        }
        _ => return None,
    };
    if one == reason { Some(other) } else { (other == reason).then_some(one) }
}

/// The two numbers that an instruction computes with.
fn operands(from: InstructionValue<'_>) -> [Option<IntValue<'_>>; 2] {
    [0, 1].map(|at| llvm::int_operand(from, at).map(bare))
}

/// A value without its freezes.
fn bare(value: IntValue<'_>) -> IntValue<'_> {
    match value.as_instruction_value() {
        Some(from) if from.get_opcode() == Op::Freeze => llvm::int_operand(from, 0).map_or(value, bare),
        _ => value,
    }
}

/// What computes a value, if it is such.
fn made<'ctx>(
    value: IntValue<'ctx>,
    is: impl FnOnce(InstructionValue<'ctx>) -> bool,
) -> Option<InstructionValue<'ctx>> {
    bare(value).as_instruction_value().filter(|from| is(*from))
}

/// What reads a value or a freeze of it, if only instructions do.
fn readers(value: IntValue<'_>) -> Option<Vec<InstructionValue<'_>>> {
    let mut readers = Vec::new();
    let mut pending = vec![bare(value).as_instruction_value()?];
    while let Some(value) = pending.pop() {
        let (frozen, others): (Vec<_>, Vec<_>) =
            users(value)?.into_iter().partition(|user| user.get_opcode() == Op::Freeze);
        pending.extend(frozen);
        readers.extend(others);
    }
    Some(readers)
}

/// The instructions that use a value, if nothing else does.
fn users(value: InstructionValue<'_>) -> Option<Vec<InstructionValue<'_>>> {
    let instruction = |user| match user {
        Use::Instruction(user) => Some(user),
        Use::Global(_) => None,
    };
    llvm::uses(&value).into_iter().map(instruction).collect()
}

/// Where an operand is read: a phi's, where control comes from.
fn place_of(user: InstructionValue<'_>, index: u32) -> Option<BasicBlock<'_>> {
    match user.get_opcode() {
        Op::Phi => llvm::incoming(user).get(index as usize).map(|(_, from)| *from),
        _ => user.get_parent(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::llvm::{AnyValue, parse_ir};
    use crate::loops::interpreter::{Event, Function, Value, agree};

    const TEXT: &str = "declare i64 @llvm.umin.i64(i64, i64)
        declare i64 @llvm.umax.i64(i64, i64)
        declare { i64, i1 } @llvm.uadd.with.overflow.i64(i64, i64)
        define void @f(ptr %to, i64 %i, i64 %n) {
        start:
          %left = sub i64 %n, %i
          %frozen = freeze i64 %left
          %less = call i64 @llvm.umin.i64(i64 %frozen, i64 31)
          %more = add i64 %less, %i
          %end = call i64 @llvm.umax.i64(i64 %i, i64 %more)
          %rest = xor i64 %less, 31
          %sum = call { i64, i1 } @llvm.uadd.with.overflow.i64(i64 %end, i64 %rest)
          %at = extractvalue { i64, i1 } %sum, 0
          %wraps = extractvalue { i64, i1 } %sum, 1
          %behind = icmp uge i64 %at, %n
          %out = or i1 %wraps, %behind
          br i1 %out, label %none, label %next
        next: store volatile i64 %at, ptr %to
          %begin = sub i64 %end, %less
          store volatile i64 %begin, ptr %to
          %end.next = add i64 %end, 1
          %behind.it = add i64 %rest, %end.next
          store volatile i64 %behind.it, ptr %to
          ret void
        none: store volatile i64 -1, ptr %to
          ret void
        }";

    /// The function before and after, where it changed.
    fn both(text: &str) -> Option<[String; 2]> {
        let context = Context::create();
        let module =
            parse_ir(&context, text.as_bytes(), "module").unwrap_or_else(|error| panic!("{}: {text}", error.0));
        let printed = || module.get_function("f").unwrap().print_to_string().to_string();
        let before = printed();
        step_at_once(&context, &module).unwrap();
        module.verify().unwrap();
        let after = printed();
        (before != after).then_some([before, after])
    }

    #[test]
    fn a_step_is_the_same_from_everywhere() {
        let edges = [1 << 31, 1 << 62, u64::MAX >> 1, u64::MAX - 62, u64::MAX - 30];
        let numbers: Vec<u64> =
            (0..70).chain(edges.iter().flat_map(|edge| edge - 3..=edge + 3)).chain([u64::MAX]).collect();
        let forms = [
            TEXT.to_string(),
            TEXT.replace("or i1 %wraps, %behind", "select i1 %wraps, i1 true, i1 %behind"),
            TEXT.replace("uge i64 %at, %n", "ule i64 %n, %at").replace("xor i64 %less, 31", "sub i64 31, %less"),
            TEXT.replace("i64 31)", "i64 6)").replace("xor i64 %less, 31", "sub i64 6, %less"),
        ];
        for text in forms {
            let [before, after] = both(&text).unwrap();
            let (old, new) = (Function::parse(&before), Function::parse(&after));
            let (mut within, mut out) = (0, 0);
            for (i, n) in numbers.iter().flat_map(|i| numbers.iter().map(move |n| (*i, *n))) {
                let given = [("%to", Value::Address(64)), ("%i", Value::Number(i, 64)), ("%n", Value::Number(n, 64))];
                let given = HashMap::from(given);
                let (was, is) = (old.run_original(&given), new.run(&given));
                assert!(agree(&is, &was), "{i} of {n}: {is:?}, not {was:?}:\n{after}");
                let is_out = was.contains(&Event::Store(64, u64::MAX));
                *if is_out { &mut out } else { &mut within } += 1;
            }
            assert!(within > 100 && out > 100, "{within} steps ended within, {out} did not");
        }
    }

    #[test]
    fn what_is_no_step_stays() {
        for (from, to) in [
            // Another number of places, a longer slice, a place that is read where there is none, and a way out that is the other.
            ("i64 %frozen, i64 31", "i64 %frozen, i64 30"),
            ("uge i64 %at, %n", "uge i64 %at, 7"),
            ("store volatile i64 -1", "store volatile i64 %at"),
            ("label %none, label %next", "label %next, label %none"),
            ("i64 %i, i64 %more)", "i64 %n, i64 %more)"),
            ("xor i64 %less, 31", "xor i64 %less, 30"),
            ("store volatile i64 -1", "store volatile i64 %end"),
            ("store volatile i64 -1", "store volatile i64 %less"),
        ] {
            let text = TEXT.replace(from, to);
            assert_ne!(text, TEXT);
            assert_eq!(both(&text), None, "{to}");
        }
        // Where nothing promises that what may be behind the end does not wrap around.
        let sum = |flags: &str| {
            TEXT.replace("%end = call i64 @llvm.umax.i64(i64 %i, i64 %more)", "")
                .replace("%more = add", &format!("%end = add{flags}"))
        };
        assert_eq!(both(&sum("")), None);
        assert!(both(&sum(" nuw")).is_some());
    }
}
