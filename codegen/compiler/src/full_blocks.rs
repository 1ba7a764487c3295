//! Copies a kernel for blocks with as many threads as they may have.
//!
//! ```text
//! before: entry: %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
//!         loop:  …  br i1 (icmp eq i32 %threads, 512), label %two, label %several    ; in each of ten rounds with a barrier
//! after:  begin: br i1 (icmp eq i32 (call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()), 512), label %entry', label %entry
//!         loop': …  br i1 (icmp eq i32 512, 512), label %two', label %several'       ; LLVM folds it, and unrolls the loop
//!         loop:  …                                                                   ; as it was
//! ```
//!
//! `launch_bounds(512)` says how many threads a block has at most, and it is launched with as many, more often than not. So
//! nvcc's users write the number itself where they mean the block's size. Safe code cannot rely on it: what a block's threads do
//! together is counted by their number, and each step of a transform in shared memory asked again which part of it is whose.
//! LLVM asks such a question once, before the loop, but not where a loop has a barrier. In the copy nothing is asked, and the
//! loop is as short as without the question, so that it is unrolled.
//!
//! It takes code, and time of ptxas. So only where something is gained: where what a loop does, or how often it is run,
//! depends on the number and on nothing else but constants.
//!
//! **Why it is right.** A block with more threads than `.maxntid` is not launched, so where there are as many along x, there is
//! one along y and z, and all positions there are 0. The copy does what the kernel does, of these numbers. All threads of a block
//! take the same way, so that those that wait at a barrier are those that did. What a panic tells is told by operands of its
//! call, which are those of the copy, too.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::hash::QuickMap;
use crate::intrinsics::dimensions::{self, REGISTER};
use crate::llvm::{
    self, AttributeLoc, BasicBlock, BasicValue, BasicValueEnum, BuilderError, Context, FunctionValue,
    InstructionOpcode as Op, InstructionValue, IntPredicate, IntValue, Module,
};
use crate::loops::{Graph, Loop, integer};
use crate::settled;

/// Instructions of a kernel that is copied.
const MOST_INSTRUCTIONS: usize = 1500;

/// Rounds that LLVM unrolls for certain.
const MOST_ROUNDS: u64 = 8;

/// How deep what depends on the number of threads may be computed.
const MOST_STEPS: u32 = 8;

/// Copies all kernels that gain by it.
pub fn copy<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    for function in settled::open_and_fast(module).filter(|function| function.count_basic_blocks() > 1) {
        let Some(threads) = most_threads(function).filter(|threads| gains(function, *threads)) else { continue };
        copy_for(context, module, function, threads).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot copy a kernel for full blocks: {error}"))
        })?;
    }
    Ok(())
}

/// How many threads a kernel's blocks have at most, if its author says so.
fn most_threads(function: FunctionValue<'_>) -> Option<u64> {
    let bound = function.get_string_attribute(AttributeLoc::Function, "nvvm.maxntid")?;
    bound.get_string_value().to_str().ok()?.parse().ok().filter(|threads| *threads > 1)
}

/// Whether a kernel is better where the number of its block's threads is known.
fn gains(function: FunctionValue<'_>, threads: u64) -> bool {
    let mut size = 0;
    let mut reads = false;
    for instruction in llvm::instructions(function) {
        let register = register(instruction);
        // A block of such a grid is a square, or the like.
        if matches!(register.as_deref(), Some("ctaid.y" | "ctaid.z")) {
            return false;
        }
        reads |= register.is_some_and(|register| register.starts_with("ntid."));
        size += 1;
    }
    if !reads || size > MOST_INSTRUCTIONS {
        return false;
    }
    let mut known = Known::default();
    Graph::of(function).loops().iter().any(|found| known.decides(found) || known.counts(found, threads))
}

/// What depends on the number of a block's threads and on nothing else but constants.
#[derive(Default)]
struct Known<'ctx>(QuickMap<InstructionValue<'ctx>, bool>);

impl<'ctx> Known<'ctx> {
    /// Whether a number is so.
    fn is_so(&mut self, value: BasicValueEnum<'ctx>, steps: u32) -> bool {
        let Some(from) = value.as_instruction_value() else { return false };
        if let Some(known) = self.0.get(&from) {
            return *known;
        }
        let is_read = register(from).is_some_and(|register| register.starts_with("ntid."));
        let follows = |from| (llvm::is_pure(from) || llvm::is_division(from)) && from.get_opcode() != Op::Phi;
        let is_so = is_read
            || steps > 0 && follows(from) && {
                let operands: Vec<_> = llvm::value_operands(from).map(|(_, operand)| operand).collect();
                let varying = operands.iter().filter(|operand| !llvm::is_constant(*operand)).collect::<Vec<_>>();
                !varying.is_empty() && varying.iter().all(|operand| self.is_so(**operand, steps - 1))
            };
        self.0.insert(from, is_so);
        is_so
    }

    /// Whether it decides where a loop goes on.
    fn decides(&mut self, found: &Loop<'ctx>) -> bool {
        found.blocks.iter().filter_map(|block| block.get_terminator()).any(|jump| {
            llvm::block_operands(jump).len() > 1
                && llvm::value_operands(jump).next().is_some_and(|(_, condition)| self.is_so(condition, MOST_STEPS))
        })
    }

    /// Whether a loop steps by it to a constant, in few rounds.
    fn counts(&mut self, found: &Loop<'ctx>, threads: u64) -> bool {
        let jumps =
            found.blocks.iter().filter(|block| leaves(found, **block)).filter_map(|block| block.get_terminator());
        jumps.filter_map(|jump| integer(jump, 0)?.as_instruction_value()).any(|compared| {
            let end = integer(compared, 1).and_then(|end| end.get_zero_extended_constant());
            compared.get_opcode() == Op::ICmp
                && end.is_some_and(|end| end <= threads * MOST_ROUNDS)
                && integer(compared, 0).is_some_and(|number| self.steps(found, number))
        })
    }

    /// Whether a number is one that a loop counts by it, or that is something apart.
    fn steps(&mut self, found: &Loop<'ctx>, number: IntValue<'ctx>) -> bool {
        let mut at = number;
        for _ in 0..MOST_STEPS {
            if let Some((_, BasicValueEnum::IntValue(next))) = found.incoming(at) {
                let Some(sum) = next.as_instruction_value().filter(|sum| sum.get_opcode() == Op::Add) else {
                    return false;
                };
                return [(0, 1), (1, 0)].into_iter().any(|(phi, step)| {
                    integer(sum, phi) == Some(at)
                        && integer(sum, step).is_some_and(|step| self.is_so(step.into(), MOST_STEPS))
                });
            }
            let Some(from) = at.as_instruction_value() else { return false };
            let operands = [0, 1].map(|index| integer(from, index).filter(|part| !found.is_invariant((*part).into())));
            match (from.get_opcode(), operands) {
                (Op::Add | Op::Or | Op::ZExt, [Some(part), None] | [None, Some(part)]) => at = part,
                _ => return false,
            }
        }
        false
    }
}

/// Whether a loop may end at a block.
fn leaves<'ctx>(found: &Loop<'ctx>, block: BasicBlock<'ctx>) -> bool {
    let targets = block.get_terminator().map(llvm::block_operands).unwrap_or_default();
    targets.iter().any(|target| !found.contains(*target))
}

/// The special register that an instruction reads.
fn register(instruction: InstructionValue<'_>) -> Option<String> {
    if instruction.get_opcode() != Op::Call {
        return None;
    }
    let callee = llvm::called_function(instruction)?;
    Some(callee.get_name().to_str().ok()?.strip_prefix(REGISTER)?.to_owned())
}

fn copy_for<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    function: FunctionValue<'ctx>,
    threads: u64,
) -> std::result::Result<(), BuilderError> {
    let blocks = function.get_basic_blocks();
    let begin = context.prepend_basic_block(blocks[0], "");
    // What is on the stack is the same in both.
    let is_known = |from: &InstructionValue<'ctx>| {
        from.get_opcode() == Op::Alloca && llvm::value_operands(*from).all(|(_, size)| llvm::is_constant(&size))
    };
    let stack: Vec<_> = blocks[0].get_instructions().filter(is_known).collect();
    llvm::move_to_end(context, &stack, begin);
    let copies = llvm::copy_blocks(context, function, &blocks);
    let builder = context.create_builder();
    builder.position_at_end(begin);
    let read = dimensions::read(module, &builder, "ntid.x")?;
    let number = read.get_type();
    let is_full = builder.build_int_compare(IntPredicate::EQ, read, number.const_int(threads, false), "")?;
    builder.build_conditional_branch(is_full, copies[0], blocks[0])?;
    for instruction in copies.iter().flat_map(|block| block.get_instructions()) {
        let value = match register(instruction).as_deref() {
            Some("ntid.x") => threads,
            Some("ntid.y" | "ntid.z") => 1,
            Some("tid.y" | "tid.z") => 0,
            _ => continue,
        };
        llvm::replace_uses(instruction, number.const_int(value, false).into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// A kernel with a loop with a barrier, after [`copy`]: `condition` says which way a round takes, `step` how far it goes.
    fn copied(bounds: &str, condition: &str, step: &str, more: &str) -> String {
        let text = format!(
            "declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
            declare i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
            declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
            declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
            declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
            declare void @llvm.nvvm.barrier.cta.sync.all(i32) convergent
            declare void @panic(ptr, i32) noreturn
            declare void @use(ptr, i32)
            @place = constant i32 7
            define ptx_kernel void @f(i32 %n) {bounds} {{
            entry: %slot = alloca i32
              %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
              %row = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
              {more}
              br label %loop
            loop: %k = phi i32 [ 0, %entry ], [ %next, %met ]
              %takes = {condition}
              br i1 %takes, label %one, label %other
            one: call void @use(ptr %slot, i32 %row)
              br label %met
            other: call void @use(ptr %slot, i32 %threads)
              br label %met
            met: call void @llvm.nvvm.barrier.cta.sync.all(i32 1)
              %next = add i32 %k, {step}
              %goes = icmp ult i32 %next, 4096
              br i1 %goes, label %loop, label %last
            last: %fits = icmp ult i32 %n, 10
              br i1 %fits, label %end, label %fails
            fails: call void @panic(ptr @place, i32 %n)
              unreachable
            end: ret void
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        copy(&context, &module).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    /// How often a barrier stands in it.
    fn barriers(ir: &str) -> usize {
        ir.matches("call void @llvm.nvvm.barrier").count()
    }

    const BOUNDS: &str = "\"nvvm.maxntid\"=\"512\"";
    const DECIDED: &str = "icmp eq i32 %threads, 512";
    const BY_THREAD: &str = "icmp eq i32 %row, 512";

    #[test]
    fn a_kernel_whose_loop_asks_for_the_number_of_threads_is_copied() {
        let ir = copied(BOUNDS, DECIDED, "1", "");
        assert_eq!(barriers(&ir), 2, "{ir}");
        // One place on the stack, one question at the start; the panics tell the same.
        assert_eq!(ir.matches("alloca").count(), 1, "{ir}");
        assert_eq!(ir.matches("call void @panic(ptr @place, i32 %n)").count(), 2, "{ir}");
        let (begin, rest) = ir.split_once("\n\n").unwrap();
        assert!(begin.contains("alloca") && begin.contains("ntid.x") && begin.contains(", 512\n"), "{ir}");
        let (kept, copy) = rest.split_at(rest.rfind("icmp eq i32 512, 512").expect("the copy knows the number"));
        assert!(kept.contains("icmp eq i32 %threads, 512") && kept.contains("i32 %row)"), "{ir}");
        assert!(copy.contains("call void @use(ptr %slot, i32 0)") && copy.contains("i32 512)"), "{ir}");
    }

    #[test]
    fn so_is_one_whose_loop_has_few_rounds_then() {
        assert_eq!(barriers(&copied(BOUNDS, BY_THREAD, "%threads", "")), 2);
        let twice = "%both = mul i32 %threads, 2";
        assert_eq!(barriers(&copied(BOUNDS, BY_THREAD, "%both", twice)), 2);
        // More than eight.
        assert_eq!(barriers(&copied("\"nvvm.maxntid\"=\"256\"", BY_THREAD, "%threads", "")), 1);
    }

    #[test]
    fn others_stay_as_they_are() {
        let along_y = "%y = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()";
        for (bounds, condition, step, more) in [
            ("", DECIDED, "1", ""),
            ("optsize \"nvvm.maxntid\"=\"512\"", DECIDED, "1", ""),
            // It depends on something else, or not on the number.
            (BOUNDS, BY_THREAD, "1", ""),
            (BOUNDS, "icmp eq i32 %threads, %n", "1", ""),
            (BOUNDS, "icmp eq i32 %threads, %k", "1", ""),
            (BOUNDS, BY_THREAD, "%n", ""),
            // Blocks are in a plane.
            (BOUNDS, DECIDED, "1", along_y),
        ] {
            let ir = copied(bounds, condition, step, more);
            assert_eq!(barriers(&ir), 1, "{bounds}, {condition}, {step}: {ir}");
        }
    }

    #[test]
    fn a_question_outside_of_loops_is_asked_once_anyway() {
        let text = "declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
            define ptx_kernel void @f(ptr %to) \"nvvm.maxntid\"=\"512\" {
            entry: %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
              %is = icmp eq i32 %threads, 512
              br i1 %is, label %one, label %end
            one: store i32 1, ptr %to
              br label %end
            end: ret void
            }";
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        copy(&context, &module).unwrap();
        assert_eq!(module.get_function("f").unwrap().count_basic_blocks(), 3);
    }
}
