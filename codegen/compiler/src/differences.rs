//! Asks once whether a difference is below a limit, and not first whether there is one.
//!
//! ```text
//! before: select i1 (icmp uge i64 %x, %r), i1 (icmp ult i64 (sub nuw i64 %x, %r), %n), i1 false
//! after:  icmp ult i64 (sub i64 %x, %r), %n
//! ```
//!
//! So safe Rust asks for a neighbour: `if x >= r && x - r < n`, or with `checked_sub`. `%x` is less than `%r` in few threads,
//! but each asks twice for each of its neighbours: a filter had 55 instructions for four elements, has 39 with this, and 36 in
//! CUDA C++.
//!
//! **Why it is right.** Where `%x` is less than `%r`, the difference comes round: it is 2^64 less something that is no more than
//! `%r`, and so no less than `%n`, if the sum of both has 64 bits. Then the answer is no, as before. The new difference says
//! nothing of not coming round. The limit was not looked at where `%x` is less, so it must be a number there, too: one that a
//! kernel is given, that is frozen, or made of such. Only the two questions change that are asked one right after the other,
//! so that what comes behind them is asked where both hold, as it was.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::hash::QuickMap;
use crate::indices::{Facts, Ranges};
use crate::llvm::{
    self, BasicValue, BasicValueEnum, BuilderError, Context, FunctionValue, InstructionOpcode as Op, InstructionValue,
    IntPredicate, IntValue, Module,
};
use crate::loops::{Graph, opposite};

/// How many conditions that are joined are looked through.
const MOST_STEPS: u32 = 40;

/// Does so in every function.
pub fn fold<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    for function in llvm::functions(module).filter(|function| function.count_basic_blocks() > 0) {
        fold_in(context, function).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot fold the differences of a function: {error}"))
        })?;
    }
    Ok(())
}

fn fold_in<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> std::result::Result<(), BuilderError> {
    let pairs = llvm::instructions(function).filter_map(Pair::of);
    let pairs: Vec<Pair<'ctx>> = pairs.filter(|pair| is_number(function, pair.limit)).collect();
    if pairs.is_empty() {
        return Ok(());
    }
    let (graph, given, same) = (Graph::of(function), QuickMap::default(), QuickMap::default());
    let ranges = Ranges::of_function(&graph, &given, &same);
    let fit: Vec<&Pair<'ctx>> = pairs.iter().filter(|pair| pair.comes_round_above(&ranges)).collect();
    for pair in fit {
        pair.fold(context)?;
    }
    Ok(())
}

/// How conditions are joined: both must hold, or one.
#[derive(Clone, Copy, PartialEq)]
enum Join {
    Both,
    Either,
}

impl Join {
    /// What an instruction joins, with the numbers of the operands that are asked first and then.
    fn of(from: InstructionValue<'_>) -> Option<(Self, u32, u32)> {
        let is = |index, wanted: u64| {
            let value = llvm::int_operand(from, index).filter(|value| value.get_type().get_bit_width() == 1);
            value.and_then(IntValue::get_zero_extended_constant) == Some(wanted)
        };
        let is_bool = || llvm::int_operand(from, 0).is_some_and(|value| value.get_type().get_bit_width() == 1);
        match from.get_opcode() {
            Op::And if is_bool() => Some((Self::Both, 0, 1)),
            Op::Or if is_bool() => Some((Self::Either, 0, 1)),
            Op::Select if is(2, 0) => Some((Self::Both, 0, 1)),
            Op::Select if is(1, 1) => Some((Self::Either, 0, 2)),
            _ => None,
        }
    }

    /// The part of an operand that is asked last, or first.
    fn part<'ctx>(
        self,
        user: InstructionValue<'ctx>,
        at: u32,
        last: bool,
        steps: u32,
    ) -> (InstructionValue<'ctx>, u32) {
        let inner = llvm::int_operand(user, at).and_then(|value| value.as_instruction_value()).filter(|_| steps > 0);
        let inner = inner.filter(|inner| llvm::uses(&llvm::result(*inner)).len() == 1);
        match inner.and_then(|inner| Some((inner, Self::of(inner)?))) {
            Some((inner, (join, first, then))) if join == self => {
                self.part(inner, if last { then } else { first }, last, steps - 1)
            }
            _ => (user, at),
        }
    }
}

/// Two questions that are asked one after the other: whether a number is at least another, and whether what it is more is below a
/// limit.
struct Pair<'ctx> {
    join: Join,
    /// What asks the first, and the second.
    first: (InstructionValue<'ctx>, u32),
    second: (InstructionValue<'ctx>, u32),
    /// The comparison of the second.
    compared: InstructionValue<'ctx>,
    number: IntValue<'ctx>,
    less: IntValue<'ctx>,
    limit: IntValue<'ctx>,
    /// Whether the limit itself is not below it.
    strict: bool,
}

impl<'ctx> Pair<'ctx> {
    fn of(from: InstructionValue<'ctx>) -> Option<Self> {
        let (join, first, then) = Join::of(from)?;
        let (first, second) = (join.part(from, first, true, MOST_STEPS), join.part(from, then, false, MOST_STEPS));
        let (compared, predicate, left, right) = comparison(second, join)?;
        let (difference, limit, strict) = match predicate {
            IntPredicate::ULT => (left, right, true),
            IntPredicate::ULE => (left, right, false),
            IntPredicate::UGT => (right, left, true),
            IntPredicate::UGE => (right, left, false),
            _ => return None,
        };
        let (number, less) = parts(difference)?;
        let (_, predicate, left, right) = comparison(first, join)?;
        is_at_least(predicate, left, right, number, less).then_some(Self {
            join,
            first,
            second,
            compared,
            number,
            less,
            limit,
            strict,
        })
    }

    /// Whether what comes round is never below the limit.
    fn comes_round_above(&self, ranges: &Ranges<'_, 'ctx>) -> bool {
        let facts = self.compared.get_parent().map(|block| ranges.facts(block)).unwrap_or_default();
        let range = |value: IntValue<'ctx>, facts: &Facts<'ctx>| Some(ranges.of(value, facts)).filter(|of| of.low >= 0);
        let bits = self.number.get_type().get_bit_width();
        let ends = range(self.less, &facts).zip(range(self.limit, &facts));
        ends.is_some_and(|(less, limit)| less.high + limit.high + i128::from(!self.strict) <= 1 << bits)
    }

    fn fold(&self, context: &'ctx Context) -> std::result::Result<(), BuilderError> {
        let builder = context.create_builder();
        builder.position_before(&self.compared);
        let difference = builder.build_int_sub(self.number, self.less, "")?;
        let holds = self.join == Join::Both;
        let predicate = if self.strict { IntPredicate::ULT } else { IntPredicate::ULE };
        let predicate = if holds { predicate } else { opposite(predicate) };
        let answer = builder.build_int_compare(predicate, difference, self.limit, "")?;
        let known = context.bool_type().const_int(u64::from(holds), false);
        assert!(self.second.0.set_operand(self.second.1, answer), "the user has that operand");
        assert!(self.first.0.set_operand(self.first.1, known), "the user has that operand");
        Ok(())
    }
}

/// Whether a value is a number wherever it is looked at.
fn is_number<'ctx>(function: FunctionValue<'ctx>, value: IntValue<'ctx>) -> bool {
    let Some(from) = value.as_instruction_value() else {
        return value.is_constant_int()
            || function.get_call_conventions() == llvm::PTX_KERNEL
                && function.get_param_iter().any(|param| param == BasicValueEnum::IntValue(value));
    };
    match from.get_opcode() {
        Op::Freeze => true,
        Op::Trunc | Op::ZExt | Op::And | Op::LShr if llvm::promises(from) == llvm::Promises::default() => {
            let is_shift = from.get_opcode() == Op::LShr;
            let is_known = |at| llvm::int_operand(from, at).is_none_or(|part| is_number(function, part));
            is_known(0)
                && is_known(1)
                && (!is_shift || llvm::int_operand(from, 1).is_some_and(|by| by.is_constant_int()))
        }
        _ => false,
    }
}

/// What is compared where a part of a condition says that the rest counts, and how then.
fn comparison<'ctx>(
    (user, at): (InstructionValue<'ctx>, u32),
    join: Join,
) -> Option<(InstructionValue<'ctx>, IntPredicate, IntValue<'ctx>, IntValue<'ctx>)> {
    let mut from = llvm::int_operand(user, at)?.as_instruction_value()?;
    let mut holds = join == Join::Both;
    if from.get_opcode() == Op::Xor && llvm::int_operand(from, 1)?.get_zero_extended_constant() == Some(1) {
        holds = !holds;
        from = llvm::int_operand(from, 0)?.as_instruction_value()?;
    }
    let predicate = from.get_icmp_predicate()?;
    Some((
        from,
        if holds { predicate } else { opposite(predicate) },
        llvm::int_operand(from, 0)?,
        llvm::int_operand(from, 1)?,
    ))
}

/// What a difference is of.
fn parts(difference: IntValue<'_>) -> Option<(IntValue<'_>, IntValue<'_>)> {
    let from = difference.as_instruction_value()?;
    let (first, second) = (llvm::int_operand(from, 0)?, llvm::int_operand(from, 1)?);
    match from.get_opcode() {
        _ if !matches!(first.get_type().get_bit_width(), 32 | 64) => None,
        Op::Sub => Some((first, second)),
        Op::Add => {
            let less = second.get_sign_extended_constant().filter(|by| *by < 0)?;
            Some((first, first.get_type().const_int(less.unsigned_abs(), false)))
        }
        _ => None,
    }
}

/// Whether a comparison says, without signs, that a number is not less than another.
fn is_at_least<'ctx>(
    predicate: IntPredicate,
    left: IntValue<'ctx>,
    right: IntValue<'ctx>,
    number: IntValue<'ctx>,
    less: IntValue<'ctx>,
) -> bool {
    use IntPredicate as P;
    let constant = |value: IntValue<'ctx>| value.get_zero_extended_constant();
    // One more than a constant.
    let is_next =
        |value| constant(value).and_then(|value| value.checked_add(1)).is_some_and(|n| constant(less) == Some(n));
    match predicate {
        P::UGE => left == number && right == less,
        P::ULE => left == less && right == number,
        P::UGT => left == number && is_next(right),
        P::ULT => right == number && is_next(left),
        P::NE => left == number && constant(right) == Some(0) && constant(less) == Some(1),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// A kernel that asks for a difference, after [`fold`].
    fn folded(convention: &str, asked: &str) -> String {
        let text = format!(
            "declare void @llvm.assume(i1)
            define {convention} void @f(i64 %x, i32 %r.short, i64 %n, i64 %any, ptr %to, i1 %other) {{
              %small = icmp sgt i64 %n, -1
              call void @llvm.assume(i1 %small)
              %r = zext i32 %r.short to i64
              {asked}
              br i1 %is, label %yes, label %no
            yes: store volatile i64 %d, ptr %to
              br label %no
            no: ret void
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        fold(&context, &module).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    const ASKED: &str = "%enough = icmp uge i64 %x, %r
        %d = sub nuw i64 %x, %r
        %below = icmp ult i64 %d, %n
        %is = select i1 %enough, i1 %below, i1 false";

    #[test]
    fn what_comes_round_is_not_below_a_limit() {
        let ir = folded("ptx_kernel", ASKED);
        assert!(ir.contains("select i1 true, i1 %2, i1 false") && ir.contains("%1 = sub i64 %x, %r"), "{ir}");
        // What a function is called with may mean nothing.
        assert!(!folded("", ASKED).contains("select i1 true"));
        let one = "%none = icmp eq i64 %x, 0
            %d = add i64 %x, -1
            %past = icmp uge i64 %d, %n
            %not = select i1 %none, i1 true, i1 %past
            %is = xor i1 %not, true";
        let ir = folded("ptx_kernel", one);
        assert!(ir.contains("select i1 false, i1 true, i1 %2") && ir.contains("icmp uge i64 %1, %n"), "{ir}");
        // Others are asked before and behind.
        let more = ASKED.replace(
            "%is = select i1 %enough",
            "%both = select i1 %other, i1 %enough, i1 false\n %is = select i1 %both",
        );
        assert!(folded("ptx_kernel", &more).contains("select i1 %other, i1 true"));
    }

    #[test]
    fn others_stay_as_they_are() {
        for (old, new) in [
            // Of this limit nothing is known.
            ("%d, %n", "%d, %any"),
            ("%x, %r\n        %d", "%x, %any\n        %d"),
            ("uge", "ugt"),
            ("sub nuw i64 %x, %r", "sub nuw i64 %r, %x"),
            ("select i1 %enough, i1 %below, i1 false", "select i1 %enough, i1 %below, i1 true"),
            ("select i1 %enough, i1 %below, i1 false", "select i1 %below, i1 %enough, i1 false"),
        ] {
            assert!(ASKED.contains(old), "{old}");
            let ir = folded("ptx_kernel", &ASKED.replace(old, new));
            assert!(!ir.contains("i1 true, i1 %"), "{new}: {ir}");
        }
    }
}
