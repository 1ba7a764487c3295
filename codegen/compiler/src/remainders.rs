//! Takes the remainder of a neighbour by a minimum: of a number that is seen to be below twice the divisor.
//!
//! ```text
//! before:         br i1 (icmp ult i64 %x, %n), label %inside, label %out
//!         inside: urem i64 (add i64 %x, (add i64 %n, -1)), %n         ; `(x + width - 1) % width`
//! after:          call i64 @llvm.umin.i64(i64 (add i64 %x, -1), i64 (add i64 %n, -1))
//! ```
//!
//! So does Rust go around a torus, because a `usize` is not below 0, and so `rem_euclid`. A division of 64 bits is a
//! call of about 100 instructions; where both numbers are small it is still one of 32 bits and a branch, and each of a
//! cell's neighbours has two. LLVM sees nothing of a number that a branch has compared with one that changes from launch
//! to launch.
//!
//! **Why it is right.** Let `x < n`, which a branch has told on every way here, or `x` is a remainder by `n` itself.
//! Then `x + 1` is at most `n`, and so does not wrap around. `x + n` and `x + n - 1` are below `2 n`, if they do not
//! wrap around; and where they could, `n` is more than half of all numbers, so that whatever is left of them is below `2
//! n`, too. The remainder of a number `d` below `2 n` is `d` or `d - n`: that of `x + 1` is `x + 1` or 0; and where `n`
//! is seen to have 32 bits, so that nothing wraps around, that of `x + n` is `x`, and that of `x + n - 1` is `x - 1` or
//! `n - 1`. With a sign the same holds for such an `n`, and the remainder of `x - 1` is itself, but for `n = 1`.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValue, Builder, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue, IntPredicate, IntValue, Intrinsic, Module, Use,
};
use crate::loops::{Graph, instruction};

/// How deep a sum and a condition may be computed.
const MOST_STEPS: u32 = 4;

/// Users of a value that are looked at.
const MOST_USERS: usize = 32;

/// Does so in every function.
pub fn fold<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    // LLVM's minimum may be declared.
    for function in llvm::functions(module).filter(|function| function.count_basic_blocks() > 0).collect::<Vec<_>>() {
        fold_in(context, module, function).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot fold the remainders of a function: {error}"))
        })?;
    }
    Ok(())
}

fn fold_in<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    function: FunctionValue<'ctx>,
) -> std::result::Result<(), BuilderError> {
    let is_remainder = |from: &InstructionValue<'ctx>| matches!(from.get_opcode(), Op::URem | Op::SRem);
    let remainders: Vec<_> = llvm::instructions(function).filter(is_remainder).collect();
    if remainders.is_empty() {
        return Ok(());
    }
    let graph = Graph::of(function);
    for remainder in remainders {
        let Some(near) = Near::of(&graph, remainder) else { continue };
        let builder = context.create_builder();
        builder.position_before(&remainder);
        let result = near.write(module, &builder)?;
        llvm::replace_uses(remainder, result.into());
        remainder.erase_from_basic_block();
    }
    Ok(())
}

/// A remainder of a number that is below the divisor, or next to one that is.
struct Near<'ctx> {
    /// What is below the divisor.
    x: IntValue<'ctx>,
    dividend: IntValue<'ctx>,
    divisor: IntValue<'ctx>,
    place: Place,
}

/// Of what the remainder is.
enum Place {
    Itself,
    After,
    Before,
    /// With a sign: `-1`, if there is none before.
    BeforeOrBelow,
    /// Of a sum with the divisor that may wrap around.
    Once,
}

impl<'ctx> Near<'ctx> {
    fn of(graph: &Graph<'ctx>, remainder: InstructionValue<'ctx>) -> Option<Self> {
        let (dividend, divisor) = (llvm::int_operand(remainder, 0)?, llvm::int_operand(remainder, 1)?);
        // LLVM multiplies where the divisor is a constant.
        let is_signed = remainder.get_opcode() == Op::SRem;
        if divisor.is_const() || is_signed && !is_short(divisor) {
            return None;
        }
        let below = Below { graph, block: remainder.get_parent()?, divisor };
        let mut sum = Sum::default();
        below.add_up(dividend, MOST_STEPS, &mut sum)?;
        let place = match (sum.of_divisor, sum.more) {
            (0, 0) => Place::Itself,
            (0, 1) => Place::After,
            (1, 0) if is_short(divisor) => Place::Itself,
            (1, -1) if is_short(divisor) => Place::Before,
            (1, 0 | -1) => Place::Once,
            (0, -1) if is_signed => Place::BeforeOrBelow,
            _ => return None,
        };
        let [x] = sum.below[..] else { return None };
        Some(Self { x, dividend, divisor, place })
    }

    /// Writes the remainder. What is looked at twice is frozen, because each look at what is undefined could see another number;
    /// but where one look does, there is no value that nothing is known of.
    fn write(
        &self,
        module: &Module<'ctx>,
        builder: &Builder<'ctx>,
    ) -> std::result::Result<IntValue<'ctx>, BuilderError> {
        let (x, word) = (self.x, self.divisor.get_type());
        let less = |by| builder.build_int_sub(self.divisor, word.const_int(by, false), "");
        let least = |left: IntValue<'ctx>, right: IntValue<'ctx>| {
            let least = Intrinsic::find("llvm.umin").and_then(|found| found.get_declaration(module, &[word.into()]));
            let least = least.expect("LLVM has the smaller of two for every integer");
            let call = builder.build_call(least, &[left.into(), right.into()], "")?;
            Ok::<_, BuilderError>(call.try_as_basic_value().unwrap_basic().into_int_value())
        };
        let one = word.const_int(1, false);
        match self.place {
            Place::Itself => Ok(x),
            // Before 0 is the largest of all numbers, and so the last one.
            Place::Before => least(builder.build_int_sub(x, one, "")?, less(1)?),
            // The same, counted from the end.
            Place::After => {
                let left = least(builder.build_int_sub(less(2)?, x, "")?, less(1)?)?;
                builder.build_int_sub(less(1)?, left, "")
            }
            Place::Once => {
                let dividend = llvm::build_freeze(builder, self.dividend);
                let is_over = builder.build_int_compare(IntPredicate::UGE, dividend, self.divisor, "")?;
                let over = builder.build_int_sub(dividend, self.divisor, "")?;
                Ok(builder.build_select(is_over, over, dividend, "")?.into_int_value())
            }
            Place::BeforeOrBelow => {
                let is_one = builder.build_int_compare(IntPredicate::EQ, self.divisor, one, "")?;
                let before = builder.build_int_sub(x, one, "")?;
                Ok(builder.build_select(is_one, word.const_zero(), before, "")?.into_int_value())
            }
        }
    }
}

/// What a number is the sum of: numbers below the divisor, the divisor, and a constant.
#[derive(Default)]
struct Sum<'ctx> {
    below: Vec<IntValue<'ctx>>,
    of_divisor: u32,
    more: i64,
}

/// Whether a number of 64 bits is seen to need 32.
fn is_short(value: IntValue<'_>) -> bool {
    value.get_type().get_bit_width() == 64 && value.as_instruction_value().is_some_and(|from| narrow_of(from).is_some())
}

/// What a number of 64 bits has in its lower half, if the upper one is seen to be 0: a number of 32 bits that is extended,
/// the upper or the lower half of another.
enum Narrow<'ctx> {
    Extended(IntValue<'ctx>),
    Upper,
    Lower(IntValue<'ctx>),
}

fn narrow_of(from: InstructionValue<'_>) -> Option<Narrow<'_>> {
    let constant = || llvm::int_operand(from, 1)?.get_zero_extended_constant();
    match from.get_opcode() {
        Op::ZExt => {
            llvm::int_operand(from, 0).filter(|narrow| narrow.get_type().get_bit_width() == 32).map(Narrow::Extended)
        }
        Op::LShr if constant()? == 32 => Some(Narrow::Upper),
        Op::And if constant()? == u64::from(u32::MAX) => llvm::int_operand(from, 0).map(Narrow::Lower),
        _ => None,
    }
}

/// What is known where a block begins.
struct Below<'a, 'ctx> {
    graph: &'a Graph<'ctx>,
    block: BasicBlock<'ctx>,
    divisor: IntValue<'ctx>,
}

impl<'ctx> Below<'_, 'ctx> {
    /// Adds up what a number is the sum of, if that is all known.
    fn add_up(&self, value: IntValue<'ctx>, steps: u32, sum: &mut Sum<'ctx>) -> Option<()> {
        if let Some(constant) = value.get_sign_extended_constant() {
            sum.more = sum.more.checked_add(constant)?;
        } else if value == self.divisor {
            sum.of_divisor += 1;
        } else if self.is_below(value) {
            sum.below.push(value);
        } else {
            let from = value.as_instruction_value().filter(|from| from.get_opcode() == Op::Add && steps > 0)?;
            self.add_up(llvm::int_operand(from, 0)?, steps - 1, sum)?;
            self.add_up(llvm::int_operand(from, 1)?, steps - 1, sum)?;
        }
        Some(())
    }

    fn is_below(&self, x: IntValue<'ctx>) -> bool {
        let n = self.divisor;
        let narrow = || match narrow_of(x.as_instruction_value()?)? {
            Narrow::Extended(narrow) => Some(narrow),
            _ => None,
        };
        divisor(x) == Some(n)
            || self.is_told(x, |other| other == n)
            || narrow().is_some_and(|narrow| self.is_told(narrow, |other| is_lower_half(other, n)))
    }

    /// Whether a branch has told that a number is below one of some others.
    fn is_told(&self, x: IntValue<'ctx>, is_bound: impl Fn(IntValue<'ctx>) -> bool) -> bool {
        users(&x).any(|user| {
            let told = || {
                let (predicate, left, right) =
                    (user.get_icmp_predicate()?, llvm::int_operand(user, 0)?, llvm::int_operand(user, 1)?);
                let holds = match predicate {
                    IntPredicate::ULT if left == x && is_bound(right) => true,
                    IntPredicate::UGT if right == x && is_bound(left) => true,
                    IntPredicate::UGE if left == x && is_bound(right) => false,
                    IntPredicate::ULE if right == x && is_bound(left) => false,
                    _ => return None,
                };
                Some(self.has_told(user, holds, MOST_STEPS))
            };
            user.get_opcode() == Op::ICmp && told() == Some(true)
        })
    }

    /// Whether every way here is by a branch that says that a condition holds, or that it does not.
    fn has_told(&self, condition: InstructionValue<'ctx>, holds: bool, steps: u32) -> bool {
        users(&condition).any(|user| {
            if user.get_opcode() == Op::Br {
                let from = user.get_parent();
                let target = llvm::branch_targets(user).map(|(then, other)| if holds { then } else { other });
                return target.zip(from).is_some_and(|(to, from)| {
                    llvm::predecessors(to) == [from] && self.graph.is_reached_by_way_of(self.block, to)
                });
            }
            steps > 0 && is_all_of(user, holds) && self.has_told(user, holds, steps - 1)
        })
    }
}

/// Whether a condition says of all its parts that they hold, or, where it does not hold, that none does.
fn is_all_of(condition: InstructionValue<'_>, holds: bool) -> bool {
    let part = |index| llvm::int_operand(condition, index).and_then(IntValue::get_zero_extended_constant);
    match condition.get_opcode() {
        Op::And => holds,
        Op::Or => !holds,
        Op::Select if holds => part(2) == Some(0),
        Op::Select => part(1) == Some(1),
        _ => false,
    }
}

/// What a number is the remainder by, without signs, also as LLVM writes it beside the quotient.
pub fn divisor(remainder: IntValue<'_>) -> Option<IntValue<'_>> {
    if let Some(from) = instruction(remainder, Op::URem) {
        return llvm::int_operand(from, 1);
    }
    let from = instruction(remainder, Op::Sub)?;
    let (whole, product) = (llvm::int_operand(from, 0)?, instruction(llvm::int_operand(from, 1)?, Op::Mul)?);
    let sides = (llvm::int_operand(product, 0)?, llvm::int_operand(product, 1)?);
    [sides, (sides.1, sides.0)].into_iter().find_map(|(quotient, by)| {
        let quotient = instruction(quotient, Op::UDiv)?;
        (llvm::int_operand(quotient, 0)? == whole && llvm::int_operand(quotient, 1)? == by).then_some(by)
    })
}

/// Whether a number of 32 bits is the lower half of one of 64, whose upper half is seen to be 0.
fn is_lower_half<'ctx>(narrow: IntValue<'ctx>, wide: IntValue<'ctx>) -> bool {
    let Some(known) = wide.as_instruction_value().and_then(narrow_of) else { return false };
    let truncated = narrow.as_instruction_value().filter(|from| from.get_opcode() == Op::Trunc);
    let truncated = truncated.and_then(|from| llvm::int_operand(from, 0));
    match known {
        Narrow::Extended(extended) => extended == narrow,
        Narrow::Upper => truncated == Some(wide),
        Narrow::Lower(of) => truncated == Some(of) || truncated == Some(wide),
    }
}

fn users<'ctx>(value: &impl llvm::AnyValue<'ctx>) -> impl Iterator<Item = InstructionValue<'ctx>> {
    let of = |user| match user {
        Use::Instruction(user) => Some(user),
        Use::Global(_) => None,
    };
    llvm::uses(value).into_iter().take(MOST_USERS).filter_map(of)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::llvm::{AnyValue, parse_ir};
    use crate::loops::interpreter::{Event, Function, Value};

    /// A function that stores `%r`, if `%inside` holds, after [`fold`] where that is asked for.
    fn text(before: &str, body: &str, folded: bool) -> String {
        let text = format!(
            "define void @f(ptr %to, i64 %x, i64 %n, i32 %i, i32 %m) {{
            entry: {before}
              br i1 %inside, label %yes, label %no
            yes: {body}
              %low = trunc i64 %r to i32
              store volatile i32 %low, ptr %to
              %shifted = lshr i64 %r, 32
              %high = trunc i64 %shifted to i32
              store volatile i32 %high, ptr %to
              ret void
            no: ret void
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        if folded {
            fold(&context, &module).unwrap();
        }
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    fn run(text: &str, numbers: (u64, u64, u32, u32)) -> Vec<Event> {
        let (x, n, i, m) = numbers;
        let given = HashMap::from([
            ("%to", Value::Address(4096)),
            ("%x", Value::Number(x, 64)),
            ("%n", Value::Number(n, 64)),
            ("%i", Value::Number(i.into(), 32)),
            ("%m", Value::Number(m.into(), 32)),
        ]);
        Function::parse(text).run(&given)
    }

    const TOLD: [&str; 6] = [
        "%inside = icmp ult i64 %x, %n",
        "%inside = icmp ugt i64 %n, %x",
        "%a = icmp ult i64 %x, %n\n %b = icmp ne i32 %i, 5\n %inside = and i1 %b, %a",
        "%a = icmp ult i64 %x, %n\n %b = icmp ne i32 %i, 5\n %inside = select i1 %a, i1 %b, i1 false",
        "%a = icmp uge i64 %x, %n\n %b = icmp eq i32 %i, 5\n %o = or i1 %b, %a\n
         br i1 %o, label %no, label %next\n next: %inside = icmp ne i64 %n, 7",
        "%z = icmp eq i64 %n, 0\n br i1 %z, label %no, label %next\n next: %inside = icmp ult i64 %x, %n",
    ];
    const NEIGHBOURS: [&str; 5] = [
        "%r = urem i64 %x, %n",
        "%d = add i64 %x, 1\n %r = urem i64 %d, %n",
        "%d = add i64 %x, %n\n %r = urem i64 %d, %n",
        "%c = add i64 %n, -1\n %d = add i64 %c, %x\n %r = urem i64 %d, %n",
        "%d = add i64 %x, %n\n %e = add i64 %d, -1\n %r = urem i64 %e, %n",
    ];
    const EXTENDED: &str = "%x1 = zext i32 %i to i64\n %n1 = zext i32 %m to i64\n %inside = icmp ult i32 %i, %m";
    const SIGNED: [&str; 4] = [
        "%d = add nsw i64 %x1, -1\n %r = srem i64 %d, %n1",
        "%d = add i64 %x1, 1\n %r = srem i64 %d, %n1",
        "%r = srem i64 %x1, %n1",
        "%d = add i64 %x1, %n1\n %e = add i64 %d, -1\n %r = srem i64 %e, %n1",
    ];
    const NUMBERS: [u64; 11] = [0, 1, 2, 3, 7, 8, (1 << 32) - 1, 1 << 32, (1 << 63) - 1, 1 << 63, u64::MAX];

    #[test]
    fn neighbours_have_the_same_remainders_without_a_division() {
        let unsigned = TOLD.iter().flat_map(|told| NEIGHBOURS.map(|body| (*told, body)));
        for (told, body) in unsigned.chain(SIGNED.map(|body| (EXTENDED, body))) {
            let (before, after) = (text(told, body, false), text(told, body, true));
            assert!(before.contains("rem i64") && !after.contains("rem i64"), "{after}");
            for n in NUMBERS {
                for x in NUMBERS.into_iter().chain([n.wrapping_sub(1), n.wrapping_sub(2)]) {
                    let numbers = (x, n, x as u32, n as u32);
                    assert_eq!(run(&before, numbers), run(&after, numbers), "{numbers:?}: {after}");
                }
            }
        }
    }

    #[test]
    fn a_remainder_and_half_of_a_word_are_below_what_they_are_of() {
        for (before, body) in [
            ("%inside = icmp ne i64 %n, 0", "%a = urem i64 %x, %n\n %d = add i64 %a, 1\n %r = urem i64 %d, %n"),
            (
                "%inside = icmp ne i64 %n, 0",
                "%q = udiv i64 %x, %n\n %p = mul i64 %n, %q\n %a = sub i64 %x, %p\n %d = add i64 %a, 1\n %r = urem i64 %d, %n",
            ),
            (
                "%m1 = trunc i64 %n to i32\n %inside = icmp ult i32 %i, %m1\n %n1 = and i64 %n, 4294967295\n %x1 = zext i32 %i to i64",
                "%d = add i64 %x1, 1\n %r = urem i64 %d, %n1",
            ),
            (
                "%n1 = lshr i64 %n, 32\n %m1 = trunc i64 %n1 to i32\n %inside = icmp ult i32 %i, %m1\n %x1 = zext i32 %i to i64",
                "%d = add i64 %x1, 1\n %r = urem i64 %d, %n1",
            ),
        ] {
            let after = text(before, body, true);
            assert!(!after.contains("%r = urem") && (after.contains("umin") || after.contains("select")), "{after}");
        }
    }

    #[test]
    fn others_stay_as_they_are() {
        for (before, body) in [
            // Nothing is known; more than one over; what was compared is another; the other way of the branch.
            ("%inside = icmp ne i64 %n, 0", NEIGHBOURS[1]),
            (TOLD[0], "%d = add i64 %x, 2\n %r = urem i64 %d, %n"),
            (TOLD[0], "%d = add i64 %x, -1\n %r = urem i64 %d, %n"),
            (TOLD[0], "%c = add i64 %n, 1\n %d = add i64 %x, %c\n %r = urem i64 %d, %n"),
            (TOLD[0], "%c = add i64 %n, %n\n %d = add i64 %x, %c\n %r = urem i64 %d, %n"),
            (TOLD[0], "%d = add i64 %x, 1\n %m1 = add i64 %n, 1\n %r = urem i64 %d, %m1"),
            ("%inside = icmp uge i64 %x, %n", NEIGHBOURS[1]),
            ("%inside = icmp ule i64 %x, %n", NEIGHBOURS[1]),
            ("%a = icmp ult i64 %x, %n\n %b = icmp ne i32 %i, 5\n %inside = or i1 %a, %b", NEIGHBOURS[1]),
            // A signed divisor of any size; a number that is not below the extended one.
            (TOLD[0], "%d = add i64 %x, 1\n %r = srem i64 %d, %n"),
            (EXTENDED, "%d = add i64 %x, 1\n %r = srem i64 %d, %n1"),
        ] {
            let after = text(before, body, true);
            assert!(after.contains("%r = urem") || after.contains("%r = srem"), "{before}, {body}: {after}");
        }
    }
}
