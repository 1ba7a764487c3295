//! Takes no root of a number below 0 where nobody looks at it.
//!
//! ```text
//! before: %none = fcmp olt float %d, 0.0
//!         %root = call float @llvm.sqrt.f32(float %d)
//!         %t = fsub float %b, %root
//!         %x = select i1 %none, float %other, float %t
//! after:          br i1 %none, label %rest, label %taken
//!         taken:  %root = call float @llvm.sqrt.f32(float %d)
//!         rest:   %known = phi float [ 1.0, %before ], [ %root, %taken ]
//!                 …
//! in a loop:
//!         taken:  %root = call float @llvm.sqrt.f32(float %d)
//!                 %t = fsub float %b, %root
//!         rest:   %x = phi float [ %other, %before ], [ %t, %taken ]
//! ```
//!
//! `if d < 0.0 { return None }`, and the root afterwards: LLVM takes a root for cheap, computes it in any case and
//! chooses. But a root of a negative number is a call for ptxas, as one of a subnormal number is, and the warp takes it
//! as soon as one of its rays misses the sphere. nvcc keeps the branch, which also saves the root where all rays do: of 64
//! spheres most are missed by all. In a loop what is chosen by the root stands behind the branch with it. That is done late,
//! because what comes before looks for one block.
//!
//! Sound: where the comparison holds, all that is computed of the root ends in choices that take something else; where it
//! does not, the root is of the same number. What is moved only computes. Loads that a loop's round makes in any case may
//! be made before the branch, as long as nothing but computing stands between.

use super::sink::is_intrinsic_of_numbers;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result as Outcome};
use crate::llvm::{
    self, BasicBlock, BasicValueEnum, BuilderError, Context, FloatPredicate, FloatValue, FunctionValue,
    InstructionOpcode as Op, InstructionValue, IntValue, Module, Use,
};
use crate::loops::Graph;

/// How far what is computed of a root is followed.
const MOST_STEPS: u32 = 6;

/// Users of a value that are looked at.
const MOST_USERS: usize = 8;

/// Does so with the roots of a function that are not in its innermost loops.
pub fn keep_positive<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<(), BuilderError> {
    for (root, is_in_loop) in roots(function).into_iter().filter(|(_, is_in_loop)| !is_in_loop) {
        keep_one(context, root, is_in_loop)?;
    }
    Ok(())
}

/// Does so with the roots in innermost loops.
pub fn part<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Outcome<()> {
    for (root, is_in_loop) in llvm::functions(module).flat_map(roots).filter(|(_, is_in_loop)| *is_in_loop) {
        keep_one(context, root, is_in_loop).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot put a root behind a branch: {error}"))
        })?;
    }
    Ok(())
}

/// All roots, and which of them are in innermost loops.
fn roots<'ctx>(function: FunctionValue<'ctx>) -> Vec<(InstructionValue<'ctx>, bool)> {
    let roots: Vec<_> = llvm::instructions(function).filter(|from| is_root(*from)).collect();
    let loops = if roots.is_empty() { Vec::new() } else { Graph::of(function).innermost() };
    let is_in_loop = |root: InstructionValue<'ctx>| {
        root.get_parent().is_some_and(|block| loops.iter().any(|found| found.contains(block)))
    };
    roots.into_iter().map(|root| (root, is_in_loop(root))).collect()
}

/// Does so with one, if nobody looks at it where a comparison holds, or does not.
fn keep_one<'ctx>(context: &'ctx Context, root: InstructionValue<'ctx>, is_in_loop: bool) -> Result<(), BuilderError> {
    let Some((radicand, block)) = llvm::float_operand(root, 0).zip(root.get_parent()) else { return Ok(()) };
    let Some((comparison, holds)) = unneeded(root, radicand) else { return Ok(()) };
    let builder = context.create_builder();
    builder.position_before(&root);
    let mut condition = llvm::result(llvm::build_copy(&builder, comparison, &[])).into_int_value();
    if is_in_loop {
        condition = llvm::build_freeze(&builder, condition);
        return part_block(context, root, block, comparison, (condition, holds));
    }
    take_where_needed(context, root, block, (condition, holds), radicand.get_type().const_float(1.0))
}

/// Writes a root behind a branch, with what is chosen by it.
fn part_block<'ctx>(
    context: &'ctx Context,
    root: InstructionValue<'ctx>,
    block: BasicBlock<'ctx>,
    comparison: InstructionValue<'ctx>,
    (condition, holds): (IntValue<'ctx>, bool),
) -> Result<(), BuilderError> {
    let Some(end) = block.get_terminator() else { return Ok(()) };
    let taken = context.insert_basic_block_after(block, "");
    let rest = context.insert_basic_block_after(taken, "");
    for next in llvm::block_operands(end) {
        llvm::replace_predecessor(next, block, rest, |value| value);
    }
    let behind: Vec<_> = block.get_instructions().skip_while(|from| *from != root).skip(1).collect();
    let parts = Behind::of(root, &behind, comparison, holds);
    // Behind the branch, it is known what the comparison says.
    let compared = llvm::result(comparison);
    let told = compared.into_int_value().get_type().const_int(u64::from(!holds), false);
    for from in &parts.moved {
        for (index, _) in llvm::value_operands(*from).filter(|(_, operand)| *operand == compared).collect::<Vec<_>>() {
            assert!(from.set_operand(index, told), "it has that operand");
        }
    }
    // What does not wait for the root stays before the branch.
    llvm::move_to_end(context, &parts.late, rest);
    llvm::move_to_end(context, &parts.moved, taken);
    let builder = context.create_builder();
    builder.position_at_end(taken);
    builder.build_unconditional_branch(rest)?;
    builder.position_at_end(block);
    let (then, other) = if holds { (rest, taken) } else { (taken, rest) };
    builder.build_conditional_branch(condition, then, other)?;
    let first = parts.late[0];
    for (from, otherwise) in parts.moved.iter().zip(&parts.otherwise) {
        let result = llvm::result(*from);
        let users = users(result);
        let is_outside = |user: &InstructionValue<'ctx>| user.get_parent() != Some(taken);
        if !users.iter().any(is_outside) {
            continue;
        }
        builder.position_before(&first);
        let known = builder.build_phi(result.get_type(), "")?;
        for user in users.into_iter().filter(is_outside) {
            for (index, _) in llvm::value_operands(user).filter(|(_, operand)| *operand == result).collect::<Vec<_>>() {
                assert!(user.set_operand(index, known.as_basic_value()), "it has that operand");
            }
        }
        let otherwise = otherwise.unwrap_or_else(|| result.get_type().const_zero());
        known.add_incoming(&[(&otherwise, block), (&result, taken)]);
    }
    Ok(())
}

/// What stands behind a root in its block.
struct Behind<'ctx> {
    /// The root, and what is not needed where it is not, or is known there; in its order.
    moved: Vec<InstructionValue<'ctx>>,
    /// What these are where the root is not needed, if anyone looks at it there.
    otherwise: Vec<Option<BasicValueEnum<'ctx>>>,
    /// What else waits for the root, or must not be run before what is before it; the block's end at last.
    late: Vec<InstructionValue<'ctx>>,
}

impl<'ctx> Behind<'ctx> {
    fn of(
        root: InstructionValue<'ctx>,
        behind: &[InstructionValue<'ctx>],
        comparison: InstructionValue<'ctx>,
        holds: bool,
    ) -> Self {
        let mut parts = Self { moved: vec![root], otherwise: vec![None], late: Vec::new() };
        // Whether nothing but computing stood before.
        let mut is_quiet = true;
        for from in behind.iter().copied() {
            let uses = |all: &[InstructionValue<'ctx>]| {
                llvm::value_operands(from)
                    .any(|(_, operand)| llvm::instruction_of(operand).is_some_and(|operand| all.contains(&operand)))
            };
            let computes = computes(from);
            let (waits, is_late) = (uses(&parts.moved), uses(&parts.late));
            if waits
                && !is_late
                && computes
                && let Some(otherwise) = parts.unless_needed(from, comparison, holds)
            {
                parts.moved.push(from);
                parts.otherwise.push(otherwise);
                continue;
            }
            let may_wait = waits || is_late || from.is_terminator() || is_root(from);
            let is_early = !may_wait && (computes || is_quiet && llvm::is_plain_load(from));
            if !is_early {
                is_quiet &= computes || llvm::is_plain_load(from);
                parts.late.push(from);
            }
        }
        parts
    }

    /// What something is where the root is not needed: nothing that anyone looks at, or what is chosen then.
    fn unless_needed(
        &self,
        from: InstructionValue<'ctx>,
        comparison: InstructionValue<'ctx>,
        holds: bool,
    ) -> Option<Option<BasicValueEnum<'ctx>>> {
        if is_unneeded(from, comparison, holds, MOST_STEPS) {
            return Some(None);
        }
        if let Some(told) = decided(llvm::result(from), comparison, holds, MOST_STEPS) {
            let truth = llvm::result(from).into_int_value().get_type().const_int(u64::from(told), false);
            return Some(Some(truth.into()));
        }
        let operand = |index| from.get_operand(index).and_then(|operand| operand.value());
        let first = operand(0).filter(|_| from.get_opcode() == Op::Select)?;
        let chosen = operand(if decided(first, comparison, holds, MOST_STEPS)? { 1 } else { 2 })?;
        let known = llvm::instruction_of(chosen).and_then(|from| self.moved.iter().position(|other| *other == from));
        match known {
            Some(at) => self.otherwise[at].map(Some),
            None => Some(Some(chosen)),
        }
    }
}

/// Whether an instruction only computes.
fn computes(from: InstructionValue<'_>) -> bool {
    llvm::is_pure(from) || llvm::called_function(from).is_some_and(is_intrinsic_of_numbers)
}

/// Writes a root behind a branch: where a condition holds, or where it does not, nobody looks at it.
fn take_where_needed<'ctx>(
    context: &'ctx Context,
    root: InstructionValue<'ctx>,
    block: BasicBlock<'ctx>,
    (condition, holds): (IntValue<'ctx>, bool),
    // Some number: where one means nothing, ptxas takes the root in any case.
    one: FloatValue<'ctx>,
) -> Result<(), BuilderError> {
    let behind: Vec<_> = block.get_instructions().skip_while(|from| *from != root).skip(1).collect();
    let Some((&first, &end)) = behind.first().zip(behind.last()) else { return Ok(()) };
    let taken = context.insert_basic_block_after(block, "");
    let rest = context.insert_basic_block_after(taken, "");
    for next in llvm::block_operands(end) {
        llvm::replace_predecessor(next, block, rest, |value| value);
    }
    llvm::move_to_end(context, &behind, rest);
    let builder = context.create_builder();
    builder.position_before(&first);
    let known = builder.build_phi(llvm::result(root).get_type(), "")?;
    llvm::replace_uses(root, known.as_basic_value());
    known.add_incoming(&[(&one, block), (&llvm::result(root), taken)]);
    llvm::move_to_end(context, &[root], taken);
    builder.position_at_end(taken);
    builder.build_unconditional_branch(rest)?;
    builder.position_at_end(block);
    let (then, other) = if holds { (rest, taken) } else { (taken, rest) };
    builder.build_conditional_branch(condition, then, other)?;
    Ok(())
}

fn is_root(from: InstructionValue<'_>) -> bool {
    from.get_opcode() == Op::Call
        && llvm::called_function(from)
            .is_some_and(|callee| matches!(callee.get_name().to_bytes(), b"llvm.sqrt.f32" | b"llvm.sqrt.f64"))
        && !llvm::float_flags(from).approximate
}

/// A comparison of a radicand, and whether the root is not needed where it holds, or where it does not: numbers below 0 are
/// there.
fn unneeded<'ctx>(root: InstructionValue<'ctx>, radicand: FloatValue<'ctx>) -> Option<(InstructionValue<'ctx>, bool)> {
    use FloatPredicate::{OGE, OGT, OLE, OLT, UGE, UGT, ULE, ULT};
    users(radicand.into()).into_iter().find_map(|comparison| {
        let holds = match comparison.get_fcmp_predicate()? {
            OLT | OLE | ULT | ULE => true,
            OGE | OGT | UGE | UGT => false,
            _ => return None,
        };
        let (left, right) = (llvm::float_operand(comparison, 0)?, llvm::float_operand(comparison, 1)?);
        let is_limit = left == radicand && right.get_constant().is_some_and(|(limit, _)| limit >= 0.0);
        (is_limit && is_unneeded(root, comparison, holds, MOST_STEPS)).then_some((comparison, holds))
    })
}

/// Whether nothing looks at a value where a condition holds, or does not.
fn is_unneeded<'ctx>(
    value: InstructionValue<'ctx>,
    condition: InstructionValue<'ctx>,
    holds: bool,
    steps: u32,
) -> bool {
    let (all, result) = (users(llvm::result(value)), llvm::result(value));
    let is_ignored = |user: &InstructionValue<'ctx>| {
        let operand = |index| user.get_operand(index).and_then(|operand| operand.value());
        let told = |index| operand(index).and_then(|operand| decided(operand, condition, holds, MOST_STEPS));
        let is_other = match user.get_opcode() {
            Op::Select => told(0).is_some_and(|first| operand(if first { 1 } else { 2 }) != Some(result)),
            Op::And => [0, 1].into_iter().any(|index| operand(index) != Some(result) && told(index) == Some(false)),
            Op::Or => [0, 1].into_iter().any(|index| operand(index) != Some(result) && told(index) == Some(true)),
            _ => false,
        };
        is_other || steps > 0 && computes(*user) && is_unneeded(*user, condition, holds, steps - 1)
    };
    !all.is_empty() && all.len() <= MOST_USERS && all.iter().all(is_ignored)
}

/// What a truth is where a condition holds, or does not, if that decides it: `d >= 0.0 && t > 1e-3` is false where the first
/// part is.
fn decided<'ctx>(
    value: BasicValueEnum<'ctx>,
    condition: InstructionValue<'ctx>,
    holds: bool,
    steps: u32,
) -> Option<bool> {
    if value == llvm::result(condition) {
        return Some(holds);
    }
    let BasicValueEnum::IntValue(number) = value else { return None };
    if number.get_type().get_bit_width() != 1 {
        return None;
    }
    if let Some(constant) = number.get_zero_extended_constant() {
        return Some(constant != 0);
    }
    let from = llvm::instruction_of(value).filter(|_| steps > 0)?;
    let told = |index| decided(from.get_operand(index)?.value()?, condition, holds, steps - 1);
    match from.get_opcode() {
        Op::And | Op::Or => {
            let ends = from.get_opcode() == Op::Or;
            match (told(0), told(1)) {
                (Some(one), _) | (_, Some(one)) if one == ends => Some(ends),
                (Some(_), Some(_)) => Some(!ends),
                _ => None,
            }
        }
        Op::Xor => told(0).zip(told(1)).map(|(one, other)| one != other),
        Op::Select => match told(0) {
            Some(true) => told(1),
            Some(false) => told(2),
            None => told(1).filter(|one| told(2) == Some(*one)),
        },
        _ => None,
    }
}

fn users(value: BasicValueEnum<'_>) -> Vec<InstructionValue<'_>> {
    let of = |user| match user {
        Use::Instruction(user) => Some(user),
        Use::Global(_) => None,
    };
    llvm::uses(&value).into_iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    fn kept(body: &str) -> String {
        let text = format!(
            "declare float @llvm.sqrt.f32(float)
            declare float @llvm.minimumnum.f32(float, float)
            define float @f(float %d, float %b, float %other, i1 %c, ptr %to) {{ {body} }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        keep_positive(&context, function).unwrap();
        module.verify().unwrap();
        function.print_to_string().to_string()
    }

    const ROOT: &str = "%root = call float @llvm.sqrt.f32(float %d)\n %t = fsub float %b, %root\n";

    #[test]
    fn a_root_that_is_not_looked_at_is_not_taken() {
        for (condition, choice, is_first) in [
            ("olt float %d, 0.0", "float %other, float %t", false),
            ("oge float %d, 0.0", "float %t, float %other", true),
            ("ule float %d, 2.0", "float %other, float %t", false),
        ] {
            let ir = kept(&format!("{ROOT} %none = fcmp {condition}\n %x = select i1 %none, {choice}\n ret float %x"));
            let blocks: Vec<_> = ir.split("\n\n").collect();
            let [before, taken, rest] = blocks[..] else { panic!("{ir}") };
            let name = taken.split(':').next().unwrap();
            let (then, other) = before.split_once("label").unwrap().1.split_once("label").unwrap();
            assert!(
                before.contains("fcmp") && if is_first { then } else { other }.contains(&format!("%{name}")),
                "{ir}"
            );
            assert!(taken.contains("call float @llvm.sqrt") && rest.contains("phi float [ 1.000000e+00, "), "{ir}");
        }
        let ir = kept(&format!(
            "%none = fcmp olt float %d, 0.0\n {ROOT} %far = fcmp ogt float %t, 1.0
            %least = call float @llvm.minimumnum.f32(float %t, float %other)
            %y = select i1 %far, float %least, float %other
            %x = select i1 %none, float %other, float %y
            br i1 %c, label %one, label %two
            one: ret float %x
            two: %z = phi float [ %x, %0 ]\n ret float %z"
        ));
        assert!(ir.contains("phi float [ 1.000000e+00, ") && ir.matches("br i1").count() == 2, "{ir}");
    }

    #[test]
    fn what_a_loop_chooses_by_a_root_stands_behind_the_branch() {
        let text = format!(
            "declare float @llvm.sqrt.f32(float)
            define float @f(ptr %p, float %b, float %limit, i1 %c) {{
            br label %loop
            loop: %s = phi float [ 0.0, %0 ], [ %x, %loop ]
              %d = phi float [ %b, %0 ], [ %far, %loop ]
              {ROOT} %none = fcmp olt float %d, 0.0
              %is = fcmp ogt float %t, %limit
              %some = xor i1 %none, true
              %hit = and i1 %some, %is
              %near = load float, ptr %p
              %far = fadd float %near, %d
              %x = select i1 %hit, float %t, float %s
              br i1 %c, label %loop, label %out
            out: ret float %x
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        keep_positive(&context, function).unwrap();
        assert!(!function.print_to_string().to_string().contains("freeze"));
        part(&context, &module).unwrap();
        module.verify().unwrap();
        let ir = function.print_to_string().to_string();
        let blocks: Vec<_> = ir.split("\n\n").collect();
        let [_, head, taken, rest, _] = blocks[..] else { panic!("{ir}") };
        assert!(head.contains("load float") && head.contains("fadd") && head.contains("freeze i1"), "{ir}");
        let behind = ["call float @llvm.sqrt", "fsub", "fcmp ogt", "and i1", "select"];
        assert!(behind.iter().all(|part| taken.contains(part)), "{ir}");
        assert!(rest.contains(", %loop ], [ %x, %") && rest.matches("phi").count() == 1, "{ir}");
    }

    #[test]
    fn a_choice_by_what_follows_from_the_comparison_counts() {
        // `if d < 0.0 { return None }`, then `if t > 1.0 { Some(t) }`, then the least of all.
        for condition in [
            "%some = fcmp uge float %d, 0.0\n %both = select i1 %some, i1 %far, i1 false",
            "%some = fcmp oge float %d, 0.0\n %both = and i1 %far, %some",
            "%none = fcmp olt float %d, 0.0\n %some = xor i1 %none, true\n %both = and i1 %some, %far",
        ] {
            let ir = kept(&format!(
                "{ROOT} %far = fcmp ogt float %t, 1.0\n {condition}
                %less = fcmp olt float %t, %other
                %new = select i1 %c, i1 true, i1 %less
                %is = select i1 %both, i1 %new, i1 false
                %x = select i1 %is, float %t, float %other
                ret float %x"
            ));
            assert!(ir.contains("phi float [ 1.000000e+00, "), "{ir}");
        }
        let either = "%some = fcmp uge float %d, 0.0\n %both = or i1 %some, %far";
        let ir = kept(&format!(
            "{ROOT} %far = fcmp ogt float %t, 1.0\n {either}\n %x = select i1 %both, float %t, float %other\n ret float %x"
        ));
        assert!(!ir.contains("phi"), "{ir}");
    }

    #[test]
    fn others_stay_as_they_are() {
        for body in [
            // Taken where it is below 0; compared with another number; looked at besides; chosen by something else.
            "%none = fcmp olt float %d, 0.0\n %x = select i1 %none, float %t, float %other\n ret float %x",
            "%none = fcmp olt float %b, 0.0\n %x = select i1 %none, float %other, float %t\n ret float %x",
            "%none = fcmp olt float %d, -1.0\n %x = select i1 %none, float %other, float %t\n ret float %x",
            "%none = fcmp olt float %d, %b\n %x = select i1 %none, float %other, float %t\n ret float %x",
            "%none = fcmp olt float %d, 0.0\n %x = select i1 %none, float %other, float %t\n store float %t, ptr %to
             ret float %x",
            "%none = fcmp olt float %d, 0.0\n %x = select i1 %c, float %other, float %t\n ret float %x",
            "%none = fcmp olt float %d, 0.0\n %x = select i1 %none, float %t, float %t\n ret float %x",
        ] {
            let ir = kept(&format!("{ROOT} {body}"));
            assert!(ir.contains("llvm.sqrt.f32(float %d)") && !ir.contains("br i1"), "{ir}");
        }
    }
}
