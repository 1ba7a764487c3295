//! Lets a multiprocessor run two blocks where one register too many leaves it one.
//!
//! ```text
//! before: .visible .entry product(…)              after: .visible .entry product(…)
//!         .maxntid 1024                                  .maxntid 1024
//!         {                                              .maxnreg 32
//!                                                        {
//! ```
//!
//! A block's registers are given at once. Two blocks of 1,024 threads fit into 65,536 registers with 32 each; ptxas takes 36
//! for a product of tiles of 32 x 32, where that saves it some instructions, and half of the threads that could run do not. No
//! other step costs so much: from three blocks to two is a third.
//!
//! So a kernel whose bound says that no third block fits, but a second does (`launch_bounds(1024)` where 2,048 threads run), gets
//! no more registers than both can have (PTX ISA, "Performance-Tuning Directives: .maxnreg"), if its values nearly fit into so
//! many: estimated with each load just before its first use (`pressure.rs`).

use super::given::{OF_A_MULTIPROCESSOR, are_open, give, threads_at_once};
use super::pressure::{Order, most_live};
use crate::arch::Arch;
use crate::llvm::{self, AttributeLoc, Context, FunctionValue, Module};
use crate::loops::Graph;

/// By how many registers the values may pass the limit: ptxas computes some again where they are used, and keeps a few in local
/// memory. A product of tiles with an estimate of 37 spills two values that it needs behind its loop, and went from .78 of nvcc's
/// speed to .93 (H200).
const MOST_ABOVE: u64 = 8;

/// Limits such kernels of a module.
pub fn fit<'ctx>(context: &'ctx Context, module: &Module<'ctx>, arch: Arch) {
    for kernel in llvm::functions(module).filter(|function| function.get_call_conventions() == llvm::PTX_KERNEL) {
        let Some(limit) = most_threads(kernel).and_then(|threads| registers_of_two(arch, threads)) else { continue };
        if are_open(kernel) && needs(kernel) <= limit + MOST_ABOVE {
            give(context, kernel, limit);
        }
    }
}

/// The threads of a block, as far as the kernel's bounds say it.
fn most_threads(kernel: FunctionValue<'_>) -> Option<u64> {
    let bound = kernel.get_string_attribute(AttributeLoc::Function, "nvvm.maxntid")?;
    bound.get_string_value().to_str().ok()?.parse().ok()
}

/// The registers that a thread of each of two blocks can have; `None` if not two can run, or more.
fn registers_of_two(arch: Arch, threads: u64) -> Option<u64> {
    let at_once = threads_at_once(arch)?;
    (2 * threads <= at_once && 3 * threads > at_once).then(|| OF_A_MULTIPROCESSOR / (2 * threads) / 8 * 8)
}

/// How many registers its values take.
fn needs(kernel: FunctionValue<'_>) -> u64 {
    most_live(kernel, &Graph::of(kernel), Order::Loaded).into_values().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::parse_ir;

    /// The limit of a kernel that adds up so many loads and keeps so many.
    fn limit(added: usize, kept: usize, attributes: &str, arch: &str) -> Option<String> {
        let place = |at: usize| format!("%p{at} = getelementptr i8, ptr %p, i64 {}\n", 4 * at);
        let added_places: String = (0..added).map(place).collect();
        let loads: String = (0..added).map(|at| format!("%v{at} = load i32, ptr %p{at}\n")).collect();
        let sums: String = (0..added).map(|at| format!("%s{} = add i32 %v{at}, %s{at}\n", at + 1)).collect();
        let keeps: String = (0..kept).map(|at| format!("%k{at} = load volatile i32, ptr %p\n")).collect();
        let uses: String = (0..kept).map(|at| format!("store volatile i32 %k{at}, ptr %p\n")).collect();
        let text = format!(
            "declare void @llvm.nvvm.barrier.cta.sync.all(i32) convergent
            define ptx_kernel void @f(ptr %p, i1 %again) {attributes} {{
            entry: {keeps} {added_places} br label %loop
            loop: %s0 = phi i32 [ 0, %entry ], [ %s{added}, %loop ]
              {loads} {sums}
              call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
              br i1 %again, label %loop, label %end
            end: {uses} store volatile i32 %s{added}, ptr %p
              ret void
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "m").expect("the text is LLVM IR");
        fit(&context, &module, arch.parse().expect("an arch"));
        let kernel = module.get_function("f").expect("it is there");
        let attribute = kernel.get_string_attribute(AttributeLoc::Function, "nvvm.maxnreg")?;
        Some(attribute.get_string_value().to_string_lossy().into_owned())
    }

    #[test]
    fn two_blocks_fit() {
        // The places are constants behind a pointer, each load is added at once, and all before the barrier.
        for (threads, arch, expected) in [
            (1024, "sm_90", Some("32")),
            (1024, "sm_80", Some("32")),
            (768, "sm_90", Some("40")),
            (768, "sm_120", Some("40")),
            // A third block fits, or no second.
            (512, "sm_90", None),
            (1024, "sm_120", None),
            (1024, "sm_75", None),
        ] {
            let bound = format!("\"nvvm.maxntid\"=\"{threads}\"");
            assert_eq!(limit(60, 20, &bound, arch).as_deref(), expected, "{threads} on {arch}");
        }
    }

    #[test]
    fn other_kernels_have_what_ptxas_gives() {
        let bound = "\"nvvm.maxntid\"=\"1024\"";
        assert_eq!(limit(60, 20, "", "sm_90"), None, "no bound");
        assert_eq!(limit(60, 20, &format!("{bound} \"nvvm.minctasm\"=\"1\""), "sm_90"), None, "the user has said one");
        assert!(limit(4, 36, bound, "sm_90").is_some() && limit(4, 41, bound, "sm_90").is_none());
    }
}
