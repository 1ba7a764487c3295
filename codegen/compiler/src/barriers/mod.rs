//! Gives a barrier the aligned form where all threads of a block come to it together.
//!
//! ```text
//! before: call void @llvm.nvvm.barrier.cta.sync.all(i32 0)              ; barrier.sync 0
//! after:  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)      ; bar.sync 0, as of `__syncthreads()`
//! ```
//!
//! At the form in which each thread arrives by itself, ptxas must expect the threads of a warp one by one: where a panic may
//! have been left behind, it writes all that follows twice, once for a whole warp and once for a broken one. The aligned form
//! is defined only if all threads of a warp run the same `barrier` (PTX ISA, "bar, barrier"), so it must be proven.
//!
//! The proof: threads part at a branch whose condition differs between them, and are together again where all ways from it
//! meet. If no barrier is on the ways between, every thread comes to the same barriers in the same order. Ways that end in a
//! panic do not count: the first thread that panics ends the grid, whoever waits for it, or it leaves, and from sm_70 on a
//! barrier counts the threads that have not ended, whichever form it has (CUDA C++ Programming Guide, "Independent Thread
//! Scheduling": `__syncthreads()` waits for "all non-exited threads in the block").
//!
//! Of two such barriers in a row the second says nothing, and is left out: two tiles that are published together have
//! one each.
//!
//! ```text
//! before: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 1)
//!         call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 2)
//! after:  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 1)
//! ```
//!
//! What came before the first is seen by all behind it, and nothing but arithmetic is between both. All threads of the
//! block come to both, or none does, so that no thread that waits elsewhere misses one at the second, whichever number it
//! has. Two blocks that follow each other are not looked at, nor is a barrier that threads reach one by one.

mod flow;
mod values;

use std::collections::HashSet;

use flow::Flow;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{self, BasicBlock, BuilderError, Context, FunctionValue, InstructionValue, Intrinsic, Module};
use crate::request::OptLevel;

/// The barrier at which each thread arrives by itself, and the one at which warps do.
const SINGLE: &str = "llvm.nvvm.barrier.cta.sync.all";
const ALIGNED: &str = "llvm.nvvm.barrier.cta.sync.aligned.all";

/// Aligns what can be, in kernels: who calls another function, and where, is not seen.
pub fn align<'ctx>(context: &'ctx Context, module: &Module<'ctx>, level: OptLevel) -> Result<()> {
    let Some(single) = module.get_function(SINGLE).filter(|_| level != OptLevel::O0) else { return Ok(()) };
    for kernel in llvm::functions(module).filter(|function| function.get_call_conventions() == llvm::PTX_KERNEL) {
        let calls = |instruction: &InstructionValue<'ctx>| llvm::called_function(*instruction) == Some(single);
        let barriers: Vec<InstructionValue<'ctx>> = llvm::instructions(kernel).filter(calls).collect();
        if !barriers.is_empty() {
            align_in(context, module, kernel, &barriers)
                .map_err(|error| Diagnostic::error(Code::LlvmFailed, format!("cannot align a barrier: {error}")))?;
        }
    }
    Ok(())
}

fn align_in<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    kernel: FunctionValue<'ctx>,
    barriers: &[InstructionValue<'ctx>],
) -> Result<(), BuilderError> {
    let flow = Flow::of(kernel);
    let parting = values::parting(kernel, &flow);
    let together = |block: &BasicBlock<'ctx>| !parting.iter().any(|branch| flow.is_between(*branch, *block));
    let blocks: HashSet<BasicBlock<'ctx>> =
        barriers.iter().filter_map(|barrier| barrier.get_parent()).filter(|block| flow.ends(*block)).collect();
    let aligned: HashSet<BasicBlock<'ctx>> = blocks.into_iter().filter(together).collect();
    let Some(form) = Intrinsic::find(ALIGNED).and_then(|form| form.get_declaration(module, &[])) else { return Ok(()) };
    let builder = context.create_builder();
    for barrier in barriers.iter().filter(|barrier| barrier.get_parent().is_some_and(|block| aligned.contains(&block)))
    {
        let Some(number) = barrier.get_operand(0).and_then(|number| number.value()) else { continue };
        if !comes_at_once_behind(*barrier, form) {
            builder.position_before(barrier);
            builder.build_call(form, &[number.into()], "")?;
        }
        barrier.erase_from_basic_block();
    }
    Ok(())
}

/// The branches at which threads of a block may part and both go on: their conditions may differ among these.
pub fn parting(kernel: FunctionValue<'_>) -> Vec<BasicBlock<'_>> {
    values::parting(kernel, &Flow::of(kernel))
}

/// Whether nothing but arithmetic is between an aligned barrier of the same block and this one.
fn comes_at_once_behind<'ctx>(barrier: InstructionValue<'ctx>, aligned: FunctionValue<'ctx>) -> bool {
    let before = std::iter::successors(barrier.get_previous_instruction(), |at| at.get_previous_instruction())
        .find(|instruction| !llvm::is_pure(*instruction));
    before.and_then(llvm::called_function) == Some(aligned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::parse_ir;

    /// Which barriers of a kernel are aligned, in their order.
    fn aligned(body: &str) -> Vec<bool> {
        let text = format!(
            "declare void @{SINGLE}(i32) convergent
            declare void @panic() noreturn
            declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
            declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
            define ptx_kernel void @k(i1 %same, i32 %n, ptr %data) {{
            entry:
              %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
              %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
              %own = icmp ult i32 %t, %n
              {body}
            }}"
        )
        .replace("BARRIER", &format!("call void @{SINGLE}(i32 0)"))
        .replace("SECOND", &format!("call void @{SINGLE}(i32 1)"));
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        align(&context, &module, OptLevel::O3).unwrap();
        module.verify().unwrap();
        let calls = llvm::instructions(module.get_function("k").unwrap()).filter_map(llvm::called_function);
        let names = calls.map(|callee| callee.get_name().to_string_lossy().into_owned());
        names.filter(|name| name.contains("barrier")).map(|name| name == ALIGNED).collect()
    }

    #[test]
    fn what_all_threads_reach_is_aligned() {
        for body in [
            // Threads that part meet again before it; a panic does not count.
            "br i1 %own, label %some, label %join
            some: store i32 %t, ptr %data
              br label %join
            join: BARRIER
              ret void",
            "br i1 %own, label %go, label %fail
            fail: call void @panic()
              unreachable
            go: BARRIER
              ret void",
            // All threads of a block take the same way: by a parameter, the block's number, the round of a loop.
            "br i1 %same, label %go, label %end
            go: BARRIER
              br label %end
            end: ret void",
            "%first = icmp eq i32 %b, 0
              br i1 %first, label %go, label %end
            go: BARRIER
              br label %end
            end: ret void",
            "br label %loop
            loop: %i = phi i32 [ 0, %entry ], [ %next, %back ]
              br i1 %own, label %some, label %back
            some: store i32 %i, ptr %data
              br label %back
            back: BARRIER
              %next = add i32 %i, 1
              %more = icmp ult i32 %next, %n
              br i1 %more, label %loop, label %end
            end: ret void",
        ] {
            assert_eq!(aligned(body), [true], "{body}");
        }
    }

    #[test]
    fn what_some_threads_may_miss_is_not() {
        for body in [
            "br i1 %own, label %go, label %end
            go: BARRIER
              br label %end
            end: ret void",
            // Threads that end early, and loops of different lengths.
            "br i1 %own, label %end, label %go
            go: BARRIER
              br label %end
            end: ret void",
            "br label %loop
            loop: %i = phi i32 [ %t, %entry ], [ %next, %loop ]
              BARRIER
              %next = add i32 %i, 1
              %more = icmp ult i32 %next, %n
              br i1 %more, label %loop, label %end
            end: ret void",
            // The condition depends on which way was taken, or on memory, or on what a frozen value is.
            "br i1 %own, label %some, label %join
            some: br label %join
            join: %way = phi i1 [ false, %entry ], [ true, %some ]
              br i1 %way, label %go, label %end
            go: BARRIER
              br label %end
            end: ret void",
            "%flag = load i1, ptr %data
              br i1 %flag, label %go, label %end
            go: BARRIER
              br label %end
            end: ret void",
            "%some = freeze i1 %same
              br i1 %some, label %go, label %end
            go: BARRIER
              br label %end
            end: ret void",
            // Nobody leaves: nothing says where threads meet.
            "br label %loop
            loop: BARRIER
              br label %loop",
        ] {
            assert_eq!(aligned(body), [false], "{body}");
        }
    }

    #[test]
    fn each_barrier_is_judged_by_itself() {
        let body = "BARRIER
              br i1 %own, label %some, label %join
            some: BARRIER
              br label %join
            join: BARRIER
              ret void";
        assert_eq!(aligned(body), [true, false, true]);
    }

    #[test]
    fn the_second_of_two_in_a_row_is_left_out() {
        for between in ["", "%far = mul i32 %t, %n"] {
            assert_eq!(aligned(&format!("BARRIER\n {between}\n SECOND\n BARRIER\n ret void")), [true], "{between}");
        }
    }

    #[test]
    fn the_second_stays_behind_an_access_a_call_and_where_threads_have_parted() {
        for between in [
            "store i32 %t, ptr %data",
            "%old = load i32, ptr %data",
            "%old = load volatile i32, ptr addrspace(3) null",
            "fence acquire",
            "%old = atomicrmw add ptr %data, i32 1 monotonic",
            "call void asm sideeffect \"nanosleep.u32 1;\", \"\"()",
            "br label %next
            next:",
        ] {
            assert_eq!(aligned(&format!("BARRIER\n {between}\n SECOND\n ret void")), [true, true], "{between}");
        }
        let apart = "br i1 %own, label %go, label %end
            go: BARRIER
              SECOND
              br label %end
            end: ret void";
        assert_eq!(aligned(apart), [false, false]);
    }

    #[test]
    fn other_functions_may_be_called_by_some_threads() {
        let context = Context::create();
        let text =
            format!("declare void @{SINGLE}(i32)\n define void @f() {{ call void @{SINGLE}(i32 0)\n ret void }}");
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        align(&context, &module, OptLevel::O3).unwrap();
        assert!(module.get_function(ALIGNED).is_none());
    }
}
