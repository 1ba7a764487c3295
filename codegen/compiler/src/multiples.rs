//! Asks whether a whole part of a slice is there without a division: `chunks_exact(n).nth(i)`.
//!
//! ```text
//! before: %whole = sub i64 %len, (urem i64 %len, %n)
//!         %first = mul nuw i64 %i, %n
//!         icmp uge i64 %first, %whole                          ; there is none
//!         icmp ult i64 (sub nuw i64 %whole, %first), %n         ; nor is one that is shorter
//!         icmp ult i64 (sub nuw (sub nuw i64 %whole, %first), %n), %n   ; nor is another one behind it
//!         icmp ugt i64 %n, %whole
//!         udiv i64 (sub nuw i64 %whole, %n), %n
//! after:  or i1 (icmp ult i64 %len, %n), (icmp ugt i64 %first, (sub i64 %len, %n))
//!         the same
//!         icmp ult i64 (sub (sub i64 %len, %first), %n), %n
//!         icmp ugt i64 %n, %len
//!         sub i64 (udiv i64 %len, %n), 1
//! ```
//!
//! The standard library first cuts off the elements that are no whole part, so that each thread divided to find its row. A
//! division of 64 bits is a call of about 100 instructions; by a constant it still is ten, one waiting for the other.
//!
//! **Why it is right.** `%n` is not 0, since something is divided by it. Let `q` be the quotient: `%whole` is `q × n`, and less
//! than `%n` exactly if `q` is 0, which is if `%len` is less than `%n`. Where it is not, a multiple of `%n` is at least `%whole`
//! exactly if it is more than `%len - n`, because `%whole` is, and `%whole - n` is not. What is left of `%whole` behind a
//! multiple is one too, and less than `%n` exactly if nothing is left; then less than `%n` is left of `%len`, and else as much
//! and more. `nuw` says that no product and no difference wraps around. A product that may is a multiple only where it does not,
//! so the answer must be looked at only there: where it is joined with whether it does, or behind a branch that tells.

use crate::checks;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicValue, BuilderError, Context, FunctionValue, InstructionOpcode as Op, InstructionValue, IntPredicate,
    IntValue, Module, TargetMachine, Use,
};
use crate::loops::Graph;

/// How many conditions may be joined.
const MOST_STEPS: u32 = 4;

/// Parts that follow each other.
const MOST_PARTS: u32 = 8;

/// Has what is asked twice, as whether a part begins there and whether it is long enough, be asked once.
const CLEAN: &str = "early-cse,simplifycfg";

/// Does so in every function.
pub fn fold<'ctx>(context: &'ctx Context, module: &Module<'ctx>, machine: &TargetMachine) -> Result<()> {
    for function in llvm::functions(module).filter(|function| function.count_basic_blocks() > 0) {
        let is_any_behind = fold_in(context, function).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot fold the multiples of a function: {error}"))
        })?;
        if is_any_behind {
            llvm::run_passes_on_function(function, machine, CLEAN).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("LLVM's passes `{CLEAN}` failed: {error}"))
            })?;
        }
    }
    Ok(())
}

/// Does so in one function; returns whether that asked what is behind a multiple.
fn fold_in<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> std::result::Result<bool, BuilderError> {
    let wholes: Vec<_> = llvm::instructions(function).filter_map(Whole::of).collect();
    if wholes.is_empty() {
        return Ok(false);
    }
    let graph = Graph::of(function);
    let mut is_any_behind = false;
    for whole in wholes {
        let mut parts = vec![whole.value];
        for _ in 0..MOST_PARTS {
            let mut rest = Vec::new();
            for (part, user) in parts.into_iter().flat_map(|part| users(part).into_iter().map(move |user| (part, user)))
            {
                is_any_behind |= whole.fold(context, &graph, user)?;
                if user.get_opcode() == Op::Sub && llvm::int_operand(user, 0) == Some(part) {
                    rest.push(llvm::result(user).into_int_value());
                }
            }
            parts = rest;
        }
    }
    Ok(is_any_behind)
}

fn users<'ctx>(value: IntValue<'ctx>) -> Vec<InstructionValue<'ctx>> {
    let from = value.as_instruction_value();
    let users = from.map(|from| llvm::uses(&from)).unwrap_or_default();
    let user = |user| match user {
        Use::Instruction(user) => Some(user),
        _ => None,
    };
    users.into_iter().filter_map(user).collect()
}

/// The largest multiple of a divisor that is not above a number.
struct Whole<'ctx> {
    value: IntValue<'ctx>,
    len: IntValue<'ctx>,
    divisor: IntValue<'ctx>,
}

impl<'ctx> Whole<'ctx> {
    fn of(from: InstructionValue<'ctx>) -> Option<Self> {
        if from.get_opcode() != Op::Sub {
            return None;
        }
        let len = llvm::int_operand(from, 0)?;
        let rest = llvm::int_operand(from, 1)?.as_instruction_value().filter(|rest| rest.get_opcode() == Op::URem)?;
        let divisor = llvm::int_operand(rest, 1).filter(|_| llvm::int_operand(rest, 0) == Some(len))?;
        Some(Self { value: llvm::result(from).into_int_value(), len, divisor })
    }

    /// Folds a user of the number, or of what is left of it; returns whether it asks what is behind a multiple.
    fn fold(
        &self,
        context: &'ctx Context,
        graph: &Graph<'ctx>,
        user: InstructionValue<'ctx>,
    ) -> std::result::Result<bool, BuilderError> {
        let mut is_behind = false;
        let builder = context.create_builder();
        builder.position_before(&user);
        let folded = match user.get_opcode() {
            Op::UDiv
                if llvm::int_operand(user, 1) == Some(self.divisor)
                    && self.is_less(llvm::int_operand(user, 0), self.divisor) =>
            {
                let quotient = builder.build_int_unsigned_div(self.len, self.divisor, "")?;
                builder.build_int_sub(quotient, quotient.get_type().const_int(1, false), "")?
            }
            Op::ICmp => match self.asked(graph, user) {
                Some(Asked::Empty { holds }) => {
                    let predicate = if holds { IntPredicate::ULT } else { IntPredicate::UGE };
                    builder.build_int_compare(predicate, self.len, self.divisor, "")?
                }
                Some(Asked::Behind { first, holds }) => {
                    is_behind = true;
                    let is_short = builder.build_int_compare(IntPredicate::ULT, self.len, self.divisor, "")?;
                    let last = builder.build_int_sub(self.len, self.divisor, "")?;
                    let is_past = builder.build_int_compare(IntPredicate::UGT, first, last, "")?;
                    let is_none = builder.build_or(is_short, is_past, "")?;
                    if holds { is_none } else { builder.build_not(is_none, "")? }
                }
                Some(Asked::Last { taken, holds }) => {
                    let mut left = self.len;
                    for part in taken {
                        left = builder.build_int_sub(left, part, "")?;
                    }
                    let predicate = if holds { IntPredicate::ULT } else { IntPredicate::UGE };
                    builder.build_int_compare(predicate, left, self.divisor, "")?
                }
                None => return Ok(false),
            },
            _ => return Ok(false),
        };
        llvm::replace_uses(user, folded.into());
        Ok(is_behind)
    }

    /// Whether a number is the whole less another, which is no more.
    fn is_less(&self, number: Option<IntValue<'ctx>>, by: IntValue<'ctx>) -> bool {
        self.left(number).is_some_and(|taken| taken == [by])
    }

    /// What is taken from the whole, one after the other, which has as much.
    fn left(&self, number: Option<IntValue<'ctx>>) -> Option<Vec<IntValue<'ctx>>> {
        let mut taken = Vec::new();
        let mut number = number?;
        while number != self.value && taken.len() < MOST_PARTS as usize {
            let from = number.as_instruction_value().filter(|from| from.get_opcode() == Op::Sub)?;
            taken.push(llvm::int_operand(from, 1).filter(|_| llvm::has_no_unsigned_wrap(from))?);
            number = llvm::int_operand(from, 0)?;
        }
        taken.reverse();
        (number == self.value).then_some(taken)
    }

    fn asked(&self, graph: &Graph<'ctx>, compared: InstructionValue<'ctx>) -> Option<Asked<'ctx>> {
        use IntPredicate::{UGE, UGT, ULE, ULT};
        let (left, right) = (llvm::int_operand(compared, 0)?, llvm::int_operand(compared, 1)?);
        // What is less than what, or else is not.
        let (low, high, holds) = match compared.get_icmp_predicate()? {
            ULT => (left, right, true),
            UGT => (right, left, true),
            UGE => (left, right, false),
            ULE => (right, left, false),
            _ => return None,
        };
        if low == self.value && high == self.divisor {
            return Some(Asked::Empty { holds });
        }
        if high == self.value && self.is_multiple(graph, low, compared) {
            return Some(Asked::Behind { first: low, holds: !holds });
        }
        let taken = self.left(Some(low)).filter(|_| high == self.divisor)?;
        if !taken.iter().all(|part| *part == self.divisor || self.is_multiple(graph, *part, compared)) {
            return None;
        }
        Some(match taken[..] {
            [first] if first != self.divisor => Asked::Behind { first, holds },
            _ => Asked::Last { taken, holds },
        })
    }

    /// Whether a number is a multiple of the divisor wherever a condition is looked at.
    fn is_multiple(&self, graph: &Graph<'ctx>, number: IntValue<'ctx>, condition: InstructionValue<'ctx>) -> bool {
        let Some(from) = number.as_instruction_value() else { return false };
        let is_product = |from| [llvm::int_operand(from, 0), llvm::int_operand(from, 1)].contains(&Some(self.divisor));
        match from.get_opcode() {
            Op::Mul => is_product(from) && llvm::has_no_unsigned_wrap(from),
            Op::ExtractValue => product_part(from, 0).is_some_and(|product| {
                is_product(product)
                    && (is_told(graph, condition, product)
                        || users(llvm::result(condition).into_int_value())
                            .into_iter()
                            .all(|user| is_joined(user, condition, product)))
            }),
            _ => false,
        }
    }
}

/// What a comparison asks.
enum Asked<'ctx> {
    /// Whether there is no whole part.
    Empty { holds: bool },
    /// Whether no whole part begins there.
    Behind { first: IntValue<'ctx>, holds: bool },
    /// Whether no whole part is left where these have been taken.
    Last { taken: Vec<IntValue<'ctx>>, holds: bool },
}

/// Whether a condition stands behind a branch that is left another way where a product overflows.
fn is_told<'ctx>(graph: &Graph<'ctx>, condition: InstructionValue<'ctx>, product: InstructionValue<'ctx>) -> bool {
    let shown = condition.get_parent().map(|block| checks::shown(graph, block)).unwrap_or_default();
    shown.into_iter().any(|(asked, holds)| !holds && holds_where_overflows(asked, product, MOST_STEPS))
}

/// Whether a condition is joined with one that holds where a product overflows, so that the outcome is the same then.
fn is_joined<'ctx>(
    user: InstructionValue<'ctx>,
    condition: InstructionValue<'ctx>,
    product: InstructionValue<'ctx>,
) -> bool {
    let other = match user.get_opcode() {
        Op::Select if is_true(llvm::int_operand(user, 1)) => {
            llvm::int_operand(user, 0).filter(|_| is(llvm::int_operand(user, 2), condition))
        }
        Op::Or => {
            [0, 1].into_iter().filter_map(|at| llvm::int_operand(user, at)).find(|value| !is(Some(*value), condition))
        }
        _ => None,
    };
    other.is_some_and(|other| holds_where_overflows(other, product, MOST_STEPS))
}

fn holds_where_overflows<'ctx>(value: IntValue<'ctx>, product: InstructionValue<'ctx>, steps: u32) -> bool {
    let Some(from) = value.as_instruction_value() else { return false };
    let any = |operands: [u32; 2]| {
        steps > 0
            && operands
                .into_iter()
                .filter_map(|at| llvm::int_operand(from, at))
                .any(|part| holds_where_overflows(part, product, steps - 1))
    };
    match from.get_opcode() {
        Op::ExtractValue => product_part(from, 1) == Some(product),
        Op::Or => any([0, 1]),
        Op::Select if is_true(llvm::int_operand(from, 1)) => any([0, 2]),
        _ => false,
    }
}

/// The multiplication of which a part is taken: the product, or whether it overflows.
fn product_part(from: InstructionValue<'_>, wanted: u32) -> Option<InstructionValue<'_>> {
    let (product, part) = llvm::part_of(from)?;
    let callee = llvm::called_function(product)?;
    (part == wanted && callee.get_name().to_bytes() == b"llvm.umul.with.overflow.i64").then_some(product)
}

fn is<'ctx>(value: Option<IntValue<'ctx>>, from: InstructionValue<'ctx>) -> bool {
    value.and_then(|value| value.as_instruction_value()) == Some(from)
}

fn is_true(value: Option<IntValue<'_>>) -> bool {
    value.and_then(|value| value.get_zero_extended_constant()) == Some(1)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::arch::Arch;
    use crate::emit;
    use crate::llvm::AnyValue;
    use crate::loops::interpreter::{Function, Value, agree};
    use crate::request::OptLevel;

    /// A function that stores which of these conditions hold, before and after, and behind LLVM's passes.
    fn folded(body: &str, conditions: &[&str]) -> [String; 3] {
        let stores: String = conditions
            .iter()
            .map(|condition| format!("%s{0} = zext i1 %{0} to i32\n store volatile i32 %s{0}, ptr %to\n", condition))
            .collect();
        let text = format!(
            "declare {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64, i64)
            define void @f(ptr %to, i64 noundef %len, i64 noundef %n, i64 noundef %i) {{
              %rest = urem i64 %len, %n
              %whole = sub i64 %len, %rest
              {body}
              {stores}
              ret void
            }}"
        );
        let context = Context::create();
        let module =
            llvm::parse_ir(&context, text.as_bytes(), "module").unwrap_or_else(|error| panic!("{}: {text}", error.0));
        let printed = || module.get_function("f").unwrap().print_to_string().to_string();
        let before = printed();
        fold_in(&context, module.get_function("f").unwrap()).unwrap();
        module.verify().unwrap();
        let after = printed();
        let arch = "sm_90".parse::<Arch>().unwrap();
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        llvm::run_passes(&module, &machine, "function(instcombine<no-verify-fixpoint>,early-cse)").unwrap();
        [before, after, printed()]
    }

    fn do_the_same(before: &str, after: &str) {
        let (old, new) = (Function::parse(before), Function::parse(after));
        let wide = [u64::MAX, u64::MAX - 1, 1 << 63, (1 << 63) + 3, 1 << 62];
        let numbers = || (0..8).chain(wide);
        for (len, n) in numbers().flat_map(|len| numbers().skip(1).map(move |n| (len, n))) {
            for i in numbers() {
                let number = |value| Value::Number(value, 64);
                let given = [("%len", number(len)), ("%n", number(n)), ("%i", number(i)), ("%to", Value::Address(64))];
                let given = HashMap::from(given);
                let (was, is) = (old.run_original(&given), new.run(&given));
                // What means nothing may become anything.
                let is_known = !was.iter().any(|event| matches!(event, crate::loops::interpreter::Event::Undefined(_)));
                assert!(!is_known || agree(&is, &was), "{given:?}: {is:?}, not {was:?}:\n{before}\n{after}");
            }
        }
    }

    #[test]
    fn a_row_is_found_without_a_division() {
        let product = "%first = mul nuw i64 %i, %n
            %behind = icmp uge i64 %first, %whole
            %before = icmp ult i64 %first, %whole
            %left = sub nuw i64 %whole, %first
            %short = icmp ult i64 %left, %n
            %none = select i1 %behind, i1 true, i1 %short";
        let [before, after, clean] = folded(product, &["none", "before"]);
        do_the_same(&before, &after);
        do_the_same(&before, &clean);
        assert!(!clean.contains("urem"), "{clean}");
        let checked = "%both = call { i64, i1 } @llvm.umul.with.overflow.i64(i64 %i, i64 %n)
            %first = extractvalue { i64, i1 } %both, 0
            %wraps = extractvalue { i64, i1 } %both, 1
            %past = icmp uge i64 %first, %whole
            %behind = select i1 %wraps, i1 true, i1 %past
            %left = sub nuw i64 %whole, %first
            %short = icmp ugt i64 %n, %left
            %none = select i1 %behind, i1 true, i1 %short";
        let [before, after, clean] = folded(checked, &["none"]);
        do_the_same(&before, &after);
        do_the_same(&before, &clean);
        assert!(!clean.contains("urem"), "{clean}");
    }

    #[test]
    fn parts_that_follow_one_are_found_without_a_division() {
        let known = |how: &str| {
            format!(
                "%both = call {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64 %i, i64 %n)
                %first = extractvalue {{ i64, i1 }} %both, 0
                %wraps = extractvalue {{ i64, i1 }} %both, 1
                %past = icmp uge i64 %first, %whole
                %behind = select i1 %wraps, i1 true, i1 %past
                {how}
                inside: %left = sub nuw i64 %whole, %first
                %short = icmp ult i64 %left, %n
                br i1 %short, label %out, label %one
                one: %more = sub nuw i64 %left, %n
                %none = icmp ugt i64 %n, %more
                br i1 %none, label %out, label %two
                two: %most = sub nuw i64 %more, %n
                %last = icmp uge i64 %most, %n
                br label %end
                out: br label %end
                end: %third = phi i1 [ %last, %two ], [ false, %out ]"
            )
        };
        let [before, after, clean] = folded(&known("br i1 %behind, label %out, label %inside"), &["third"]);
        do_the_same(&before, &after);
        do_the_same(&before, &clean);
        assert!(!clean.contains("urem"), "{clean}");
        // What has not told whether the product wraps around.
        let other = known("br i1 %past, label %out, label %inside");
        assert!(folded(&other, &["third"])[2].contains("urem"));
        // A part that is no multiple.
        let other = known("br i1 %behind, label %out, label %inside").replace("nuw i64 %left, %n", "nuw i64 %left, 3");
        assert!(folded(&other, &["third"])[2].contains("urem"));
    }

    #[test]
    fn parts_are_counted_by_one_division() {
        let [before, after, clean] = folded(
            "%none = icmp ugt i64 %n, %whole
            %some = icmp uge i64 %whole, %n
            %more = sub nuw i64 %whole, %n
            %count = udiv i64 %more, %n
            %many = icmp ult i64 %i, %count
            %known = select i1 %some, i1 %many, i1 false",
            &["none", "some", "known"],
        );
        do_the_same(&before, &after);
        do_the_same(&before, &clean);
        assert_eq!((clean.matches("urem").count(), clean.matches("udiv").count()), (0, 1), "{clean}");
    }

    #[test]
    fn others_stay_as_they_are() {
        for body in [
            // A product that may wrap around, a number that is none, another product.
            "%first = mul i64 %i, %n\n %none = icmp uge i64 %first, %whole",
            "%none = icmp uge i64 %i, %whole",
            "%first = mul nuw i64 %i, %len\n %none = icmp uge i64 %first, %whole",
            // What is looked at also where the product wraps around.
            "%both = call { i64, i1 } @llvm.umul.with.overflow.i64(i64 %i, i64 %n)
            %first = extractvalue { i64, i1 } %both, 0
            %none = icmp uge i64 %first, %whole",
            "%more = sub i64 %whole, %n\n %count = udiv i64 %more, %n\n %none = icmp ult i64 %i, %count",
            "%none = icmp sgt i64 %n, %whole",
        ] {
            let [_, _, clean] = folded(body, &["none"]);
            assert!(clean.contains("urem"), "{clean}");
        }
    }
}
