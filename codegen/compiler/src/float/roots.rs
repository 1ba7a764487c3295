//! Takes no root of a number below 0 where nobody looks at it.
//!
//! ```text
//! before: %none = fcmp olt float %d, 0.0
//!         %root = call float @llvm.sqrt.f32(float %d)
//!         %t = fsub float %b, %root
//!         select i1 %none, float %other, float %t
//! after:          br i1 %none, label %rest, label %taken
//!         taken:  %root = call float @llvm.sqrt.f32(float %d)
//!         rest:   %known = phi float [ 1.0, %before ], [ %root, %taken ]
//! in a loop:      %root = call float @llvm.sqrt.f32(float (select i1 %none, float 1.0, float %d))
//! ```
//!
//! `if d < 0.0 { return None }`, and the root afterwards: LLVM takes a root for cheap, computes it in any case and
//! chooses. But a root of a negative number is a call for ptxas, as one of a subnormal number is, and the warp takes it
//! as soon as one of its rays misses the sphere. nvcc keeps the branch, which also saves the root where all rays do. In
//! a loop what comes later looks for one block.
//!
//! Sound: where the comparison holds, all that is computed of the root ends in choices that take something else; where it
//! does not, the root is of the same number.

use super::sink::is_intrinsic_of_numbers;
use crate::llvm::{
    self, BasicBlock, BasicValueEnum, BuilderError, Context, FloatPredicate, FloatValue, FunctionValue,
    InstructionOpcode as Op, InstructionValue, IntValue, Use,
};
use crate::loops::Graph;

/// How far what is computed of a root is followed.
const MOST_STEPS: u32 = 6;

/// Users of a value that are looked at.
const MOST_USERS: usize = 8;

/// Does so with all roots of one number of a function.
pub fn keep_positive<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<(), BuilderError> {
    let roots: Vec<_> = llvm::instructions(function).filter(|from| is_root(*from)).collect();
    let loops = if roots.is_empty() { Vec::new() } else { Graph::of(function).innermost() };
    for root in roots {
        let Some((radicand, block)) = llvm::float_operand(root, 0).zip(root.get_parent()) else { continue };
        let Some((comparison, holds)) = unneeded(root, radicand) else { continue };
        let builder = context.create_builder();
        builder.position_before(&root);
        let condition = llvm::result(llvm::build_copy(&builder, comparison, &[])).into_int_value();
        let one = radicand.get_type().const_float(1.0);
        if !loops.iter().any(|found| found.contains(block)) {
            take_where_needed(context, root, block, (condition, holds), one)?;
            continue;
        }
        let (then, other) = if holds { (one, radicand) } else { (radicand, one) };
        let chosen = builder.build_select(condition, then, other, "")?;
        assert!(root.set_operand(0, chosen), "a root has an operand");
    }
    Ok(())
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
        is_other
            || steps > 0
                && (llvm::is_pure(*user) || llvm::called_function(*user).is_some_and(is_intrinsic_of_numbers))
                && is_unneeded(*user, condition, holds, steps - 1)
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
    fn a_root_in_a_loop_is_one_of_1() {
        let ir = kept(&format!(
            "br label %loop
            loop: %s = phi float [ 0.0, %0 ], [ %x, %loop ]
              {ROOT} %none = fcmp olt float %d, 0.0\n %x = select i1 %none, float %s, float %t
              br i1 %c, label %loop, label %out
            out: ret float %x"
        ));
        let (before, _) = ir.split_once("call float @llvm.sqrt").unwrap();
        assert!(before.contains("select i1") && before.contains("float 1.000000e+00, float %d"), "{ir}");
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
