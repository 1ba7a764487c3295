//! Has LLVM unroll loops whose rounds it finds dear to count.
//!
//! ```text
//! before: loop: %k = phi i64 [ %first, %before ], [ %next, %loop ]      ; %first = usub.sat(i64 %x, i64 %radius)
//!               %next = add i64 %k, 1                                   ; %last = umin(i64 %x + %radius, i64 %width - 1)
//!               br i1 (icmp eq i64 %k, %last), label %end, label %loop
//! after:  before: %frozen = freeze i64 %first
//!                 %behind = freeze i64 (add i64 %last, 1)
//!         loop: %k = phi i64 [ %frozen, %before ], [ %next, %loop ]
//!               br i1 (icmp eq i64 %next, %behind), label %end, label %loop
//! ```
//!
//! LLVM counts the rounds of a short loop before it unrolls it, but not where that takes more than two instructions of 64 bits.
//! A window that is clamped into an image has too many: one more than a minimum, less a maximum, which LLVM makes of a
//! difference that ends at 0. So each pixel of a blur was a round of its own. What is frozen LLVM takes as it is; it removes
//! that when it is done.
//!
//! Sound: what is frozen is the same number, or, where that may be any number, one of them. Two numbers are equal where those
//! that are one more are, also where both wrap around.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result as Outcome};
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue, IntPredicate, IntValue, Module,
};
use crate::settled;

use super::natural::{Graph, Growth, Loop};

/// Instructions of a loop that LLVM may unroll.
const MOST_INSTRUCTIONS: usize = 40;

/// How deep the first number may be computed.
const MOST_STEPS: u32 = 4;

/// Freezes where such loops begin, right before LLVM unrolls them.
pub fn count_simply<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Outcome<()> {
    let functions = settled::open_and_fast(module).filter(|function| function.count_basic_blocks() > 1);
    for function in functions.filter(|function| llvm::instructions(*function).any(is_choice)) {
        freeze(context, function).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot count the rounds of a window: {error}"))
        })?;
    }
    Ok(())
}

fn freeze<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<(), BuilderError> {
    let graph = Graph::of(function);
    for found in graph.innermost() {
        let is_fit = found.blocks.len() == 1
            && found.head.get_instructions().count() <= MOST_INSTRUCTIONS
            && !llvm::has_loop_mark(context, &found.jumps_back());
        if let Some(window) = Window::of(&graph, &found).filter(|_| is_fit) {
            window.count_simply(context, found.head)?;
        }
    }
    Ok(())
}

/// A loop by 1 that ends at a number.
struct Window<'ctx> {
    before: BasicBlock<'ctx>,
    first: IntValue<'ctx>,
    /// The number of a round.
    counter: IntValue<'ctx>,
    compared: InstructionValue<'ctx>,
    /// Which operand of the comparison is the last number, if the round's own number is compared with it.
    last: Option<(u32, IntValue<'ctx>)>,
}

impl<'ctx> Window<'ctx> {
    /// Of a loop that LLVM finds dear to count.
    fn of(graph: &Graph<'ctx>, found: &Loop<'ctx>) -> Option<Self> {
        let mut outside = graph.before(found.head).filter(|block| !found.contains(*block));
        let before = outside.next().filter(|_| outside.next().is_none())?;
        let compared = llvm::int_operand(found.head.get_terminator()?, 0)?.as_instruction_value()?;
        let is_equal = matches!(compared.get_icmp_predicate()?, IntPredicate::EQ | IntPredicate::NE);
        let (left, right) = (llvm::int_operand(compared, 0)?, llvm::int_operand(compared, 1)?);
        let at = if found.is_invariant(right.into()) { 0 } else { 1 };
        let (counter, bound) = if at == 0 { (left, right) } else { (right, left) };
        let from = counter.as_instruction_value().filter(|_| found.is_invariant(bound.into()))?;
        let is_own = from.get_opcode() == Op::Phi;
        let phi = if is_own { counter } else { llvm::int_operand(from, 0)? };
        let Growth { first, next, step } = found.growth(phi)?;
        if step.get_sign_extended_constant() != Some(1) || !is_own && counter != next || first.is_const() {
            return None;
        }
        let last = (is_own && is_equal).then_some((1 - at, bound));
        let is_dear = is_chosen(first, MOST_STEPS) || last.is_some() && is_chosen(bound, MOST_STEPS);
        is_dear.then_some(Self { before, first, counter: phi, compared, last })
    }

    fn count_simply(&self, context: &'ctx Context, head: BasicBlock<'ctx>) -> Result<(), BuilderError> {
        let Some(end) = self.before.get_terminator() else { return Ok(()) };
        let builder = context.create_builder();
        builder.position_before(&end);
        if let Some((index, last)) = self.last {
            let behind = builder.build_int_add(last, last.get_type().const_int(1, false), "")?;
            let behind = llvm::build_freeze(&builder, behind);
            // It may stand before the sum.
            let place = head.get_terminator().expect("a block ends");
            builder.position_before(&place);
            // The sum of the last round may not fit, and then mean nothing where LLVM has promised that it does.
            let next = builder.build_int_add(self.counter, last.get_type().const_int(1, false), "")?;
            let sides = if index == 1 { (next, behind) } else { (behind, next) };
            let predicate = self.compared.get_icmp_predicate().expect("it compares");
            let ends = builder.build_int_compare(predicate, sides.0, sides.1, "")?;
            llvm::set_condition(place, ends);
            builder.position_before(&end);
        }
        let first = llvm::build_freeze(&builder, self.first);
        llvm::replace_predecessor(head, self.before, self.before, |value| {
            if value == BasicValueEnum::from(self.first) { first.into() } else { value }
        });
        Ok(())
    }
}

/// Whether a number is computed by way of a minimum or a maximum.
fn is_chosen(value: IntValue<'_>, steps: u32) -> bool {
    let Some(from) = llvm::instruction_of(value.into()).filter(|_| steps > 0) else { return false };
    let is_part = |(_, part): (u32, BasicValueEnum<'_>)| matches!(part, BasicValueEnum::IntValue(part) if is_chosen(part, steps - 1));
    match from.get_opcode() {
        Op::Call => is_choice(from),
        Op::Add | Op::Sub | Op::Mul | Op::ZExt | Op::SExt | Op::Trunc => llvm::value_operands(from).any(is_part),
        _ => false,
    }
}

fn is_choice(from: InstructionValue<'_>) -> bool {
    let Some(callee) = llvm::called_function(from) else { return false };
    let name = callee.get_name().to_bytes();
    let Some(name) = name.strip_prefix(b"llvm.") else { return false };
    ["umin.i", "umax.i", "smin.i", "smax.i", "usub.sat.i"].iter().any(|choice| name.starts_with(choice.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::Arch;
    use crate::llvm::{AnyValue, parse_ir};
    use crate::optimize;
    use crate::request::OptLevel;

    /// How many loads a loop over a window has when LLVM has unrolled it.
    fn loads(first: &str, is_frozen: bool) -> usize {
        let text = format!(
            "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
            target triple = \"nvptx64-nvidia-cuda\"
            declare i64 @llvm.umin.i64(i64, i64)
            declare i64 @llvm.umax.i64(i64, i64)
            declare i64 @llvm.usub.sat.i64(i64, i64)
            define float @f(ptr %row, i64 %x, i64 %radius, i64 %width) {{
            entry: %first = {first}
              %far = add i64 %x, %radius
              %width.1 = add i64 %width, -1
              %last = call i64 @llvm.umin.i64(i64 %width.1, i64 %far)
              %none = icmp ugt i64 %first, %last
              br i1 %none, label %end, label %before
            before: br label %loop
            loop: %k = phi i64 [ %first, %before ], [ %next, %loop ]
              %sum = phi float [ 0.0, %before ], [ %more, %loop ]
              %next = add i64 %k, 1
              %at = getelementptr float, ptr %row, i64 %k
              %value = load float, ptr %at
              %more = fadd float %sum, %value
              %ends = icmp eq i64 %k, %last
              br i1 %ends, label %end, label %loop
            end: %all = phi float [ 0.0, %entry ], [ %more, %loop ]
              ret float %all
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let arch = "sm_90".parse::<Arch>().unwrap();
        let machine = crate::emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        if is_frozen {
            count_simply(&context, &module).unwrap();
        }
        optimize::unroll_again(&module, &machine, OptLevel::O3, arch).unwrap();
        module.verify().unwrap();
        let ir = module.get_function("f").unwrap().print_to_string().to_string();
        ir.matches("load float").count()
    }

    #[test]
    fn a_window_that_begins_at_a_maximum_is_unrolled() {
        let clamped = "call i64 @llvm.usub.sat.i64(i64 %x, i64 %radius)";
        assert_eq!((loads(clamped, false), loads(clamped, true)), (1, 5));
        assert_eq!((loads("add i64 %x, %radius", false), loads("add i64 %x, %radius", true)), (1, 5));
        assert_eq!((loads("add i64 0, 0", false), loads("add i64 0, 0", true)), (5, 5));
    }
}
