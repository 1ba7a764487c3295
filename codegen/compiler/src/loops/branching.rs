//! Has loops unrolled whose rounds load and branch.
//!
//! ```text
//! before: loop: %p = phi ptr [ %spheres, %before ], [ %next, %rest ]
//!               %x = load float, ptr %p
//!               br i1 (fcmp ogt float %d, 0.0), label %hit, label %rest
//!         rest: %next = getelementptr i8, ptr %p, i64 16
//!               br i1 (icmp eq ptr %next, %behind), label %end, label %loop
//! after:  rest: br i1 …, label %end, label %loop, !llvm.loop !{…, !"llvm.loop.unroll.count", i32 4}
//! ```
//!
//! LLVM unrolls by the size of a body, up to 18 instructions for four rounds, because ptxas unrolls what is left. But that
//! does so only where a round has no branch. Of such a loop, each round moved an address of 64 bits, compared it with the
//! end, and waited for its own loads; nvcc unrolls it by four, or by two if it is long.
//!
//! A root behind a comparison is a branch in the end, too (`float/roots.rs`).
//!
//! Only where LLVM can count the rounds, because the only end is where a counter or an address meets another one, and only
//! what a user has said nothing about.

use crate::llvm::{
    self, BasicBlock, BasicValueEnum, Context, InstructionOpcode as Op, InstructionValue, Module, Unroll, Use,
};
use crate::settled;

use super::branches::is_quiet;
use super::natural::{Graph, Loop};

/// Instructions of a body of which four stand in the loop, and of one of which two do.
const MOST_OF_FOUR: usize = 48;
const MOST_OF_TWO: usize = 90;

/// Instructions of a function whose loops are unrolled: of a larger one, no copy with narrow indices is made, which is worth
/// more.
const MOST_OF_A_FUNCTION: usize = 600;

/// Blocks of a body.
const MOST_BLOCKS: usize = 8;

/// Marks loops for unrolling.
pub fn repeat(context: &Context, module: &Module<'_>) {
    for function in settled::open_and_fast(module).filter(|function| function.count_basic_blocks() > 1) {
        let mut room = MOST_OF_A_FUNCTION.saturating_sub(llvm::instructions(function).count());
        for found in Graph::of(function).innermost() {
            let jumps = found.jumps_back();
            if llvm::has_loop_mark(context, &jumps) {
                continue;
            }
            let Some((times, size)) = times(&found) else { continue };
            // The rounds that are left over are a loop of their own.
            if let Some(left) = room.checked_sub(times as usize * size) {
                room = left;
                llvm::set_unroll(context, &jumps, Unroll::By(times));
            }
        }
    }
}

/// How often a loop's body is to stand in it, and its instructions.
fn times(found: &Loop<'_>) -> Option<(u32, usize)> {
    let instructions = || found.blocks.iter().flat_map(|block| block.get_instructions());
    let branches = match found.blocks.len() {
        1 => instructions().any(|from| is_root_behind_comparison(found, from)),
        many => many <= MOST_BLOCKS && found.blocks.iter().any(|block| decides(found, *block)),
    };
    let ends = found.blocks.iter().filter(|block| {
        let targets = block.get_terminator().map(llvm::block_operands).unwrap_or_default();
        targets.iter().any(|to| !found.contains(*to))
    });
    if !branches || ends.count() != 1 || !instructions().all(is_quiet) || !instructions().any(llvm::is_plain_load) {
        return None;
    }
    let is_counted = found.jumps_back().first().is_some_and(|jump| found.latches.len() == 1 && meets(found, *jump));
    let size = instructions().filter(|from| !matches!(from.get_opcode(), Op::Phi | Op::GetElementPtr)).count();
    match size {
        _ if !is_counted => None,
        ..=MOST_OF_FOUR => Some((4, size)),
        _ if size <= MOST_OF_TWO => Some((2, size)),
        _ => None,
    }
}

/// Whether a block within a round goes one way or another; what a stage before has answered, LLVM takes away.
fn decides<'ctx>(found: &Loop<'ctx>, block: BasicBlock<'ctx>) -> bool {
    let jump = block.get_terminator().filter(|_| !found.latches.contains(&block));
    jump.is_some_and(|jump| {
        jump.get_num_operands() > 1 && llvm::int_operand(jump, 0).is_none_or(|asked| !asked.is_const())
    })
}

/// Whether an instruction takes a root of a number that the loop compares, too.
fn is_root_behind_comparison<'ctx>(found: &Loop<'ctx>, from: InstructionValue<'ctx>) -> bool {
    let is_root =
        llvm::called_function(from).is_some_and(|callee| callee.get_name().to_bytes().starts_with(b"llvm.sqrt.f"));
    let compares = |user: Use<'ctx>| match user {
        Use::Instruction(user) => user.get_opcode() == Op::FCmp && user.get_parent() == Some(found.head),
        Use::Global(_) => false,
    };
    let number = || llvm::float_operand(from, 0).filter(|number| !number.is_const());
    is_root
        && !llvm::float_flags(from).approximate
        && number().is_some_and(|number| llvm::uses(&number).into_iter().any(compares))
}

/// Whether a loop ends where what grows by a constant in each round meets what is the same in all of them.
fn meets<'ctx>(found: &Loop<'ctx>, jump: InstructionValue<'ctx>) -> bool {
    let Some(compared) = llvm::int_operand(jump, 0).and_then(|condition| condition.as_instruction()) else {
        return false;
    };
    let operand = |index| compared.get_operand(index).and_then(|operand| operand.value());
    let grows = |value: BasicValueEnum<'ctx>| {
        let Some(next) = llvm::instruction_of(value) else { return false };
        // What is compared may be a round behind.
        let behind = Some(next).filter(|from| from.get_opcode() == Op::Phi).and_then(|_| found.incoming_of(value));
        let (value, next) = match behind.and_then(|(_, after)| Some((after, llvm::instruction_of(after)?))) {
            Some(after) => after,
            None => (value, next),
        };
        let first = next.get_operand(0).and_then(|operand| operand.value());
        let is_constant = match next.get_opcode() {
            Op::Add => llvm::int_operand(next, 1).is_some_and(|step| step.is_const()),
            Op::GetElementPtr => llvm::constant_offset(next).is_some(),
            _ => false,
        };
        is_constant && first.and_then(|phi| found.incoming_of(phi)).is_some_and(|(_, after)| after == value)
    };
    compared.get_opcode() == Op::ICmp
        && operand(0).zip(operand(1)).is_some_and(|(one, other)| {
            grows(one) && found.is_invariant(other) || grows(other) && found.is_invariant(one)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::parse_ir;

    /// By how much a loop is to be unrolled that does more where `is` holds, and ends by `ends`.
    fn asked(more: &str, ends: &str, target: &str) -> Option<u32> {
        let text = format!(
            "define void @f(ptr %from, ptr %behind, i64 %n, float %least, i1 %any, ptr %to) {{
            entry: br label %loop
            loop: %p = phi ptr [ %from, %entry ], [ %next, %rest ]
              %sum = phi float [ 0.0, %entry ], [ %new, %rest ]
              %x = load float, ptr %p
              %is = fcmp ogt float %x, %least
              br i1 %is, label %hit, label {target}
            hit: %y = fmul float %x, %x
              {more}
              br label %rest
            rest: %new = phi float [ %sum, %loop ], [ %y, %hit ]
              %next = getelementptr i8, ptr %p, i64 16
              %ends = {ends}
              br i1 %ends, label %end, label %loop
            end: ret void
            }}"
        );
        asked_of(&text)
    }

    fn asked_of(text: &str) -> Option<u32> {
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        repeat(&context, &module);
        module.verify().unwrap();
        let ir = module.print_to_string().to_string();
        let (_, count) = ir.split_once("unroll.count\", i32 ")?;
        count.split('}').next()?.parse().ok()
    }

    const MEETS: &str = "icmp eq ptr %next, %behind";

    #[test]
    fn rounds_that_load_and_branch_stand_side_by_side() {
        let many =
            |count: usize| -> String { (0..count).map(|at| format!("%a{at} = fadd float %y, {at}.0\n")).collect() };
        assert_eq!(asked("", MEETS, "%rest"), Some(4));
        assert_eq!(asked(&many(60), MEETS, "%rest"), Some(2));
        assert_eq!(asked(&many(90), MEETS, "%rest"), None);
    }

    #[test]
    fn what_is_answered_is_no_branch() {
        // LLVM unrolls such a loop by itself, and ptxas what is left.
        for (condition, count) in [("%any", Some(4)), ("true", None)] {
            let text = format!(
                "define float @f(ptr %from, ptr %behind, i1 %any) {{
                entry: br label %loop
                loop: %p = phi ptr [ %from, %entry ], [ %next, %rest ]
                  %sum = phi float [ 0.0, %entry ], [ %new, %rest ]
                  br i1 {condition}, label %hit, label %rest
                hit: %x = load float, ptr %p
                  %y = fadd float %x, %sum
                  br label %rest
                rest: %new = phi float [ %sum, %loop ], [ %y, %hit ]
                  %next = getelementptr i8, ptr %p, i64 16
                  %ends = icmp eq ptr %next, %behind
                  br i1 %ends, label %end, label %loop
                end: ret float %new
                }}"
            );
            assert_eq!(asked_of(&text), count, "{condition}");
        }
    }

    #[test]
    fn a_root_behind_a_comparison_is_a_branch() {
        for (compared, count) in [("%x", Some(4)), ("%sum", None)] {
            let text = format!(
                "declare float @llvm.sqrt.f32(float) memory(none)
                define float @f(ptr %from, ptr %behind) {{
                entry: br label %loop
                loop: %p = phi ptr [ %from, %entry ], [ %next, %loop ]
                  %sum = phi float [ 0.0, %entry ], [ %new, %loop ]
                  %x = load float, ptr %p
                  %none = fcmp olt float {compared}, 0.0
                  %root = call float @llvm.sqrt.f32(float %x)
                  %new = select i1 %none, float %sum, float %root
                  %next = getelementptr i8, ptr %p, i64 4
                  %ends = icmp eq ptr %next, %behind
                  br i1 %ends, label %end, label %loop
                end: ret float %new
                }}"
            );
            assert_eq!(asked_of(&text), count, "{compared}");
        }
    }

    #[test]
    fn other_loops_stay_as_they_are() {
        // What others see; what ends by something else, or somewhere else.
        for (more, ends, target) in [
            ("store float %y, ptr %to", MEETS, "%rest"),
            ("", "icmp eq ptr %next, %p", "%rest"),
            ("", "fcmp oeq float %x, %least", "%rest"),
            ("", "icmp eq i1 %any, %is", "%rest"),
        ] {
            assert_eq!(asked(more, ends, target), None, "{more} {ends} {target}");
        }
    }
}
