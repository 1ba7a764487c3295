//! Gives a kernel a second copy, in which indices have 32 bits, for launches whose lengths and numbers are small.
//!
//! ```text
//! before: entry:  %row = mul i64 %y, %width
//!                 %at = add i64 %row, %x
//!                 br i1 (icmp ult i64 %at, %len), label %inside, label %panic
//!         inside: load float, ptr (getelementptr float, ptr %from, i64 %at)
//! after:          br i1 (%len < 2^30 and %width < 2^15), label %entry, label %wide
//!         entry:  %row = mul nsw i32 %y, (trunc %width)
//!                 %at = add nsw i32 %row, %x
//!                 br i1 (icmp ult i32 %at, (trunc %len)), label %inside, label %panic
//!         inside: load float, ptr (getelementptr float, ptr %from, i64 (sext %at))
//!         wide:   …                                                  ; the function as it was
//! ```
//!
//! A `usize` has 64 bits, for which a GPU has no arithmetic: an addition and a comparison are two instructions each, a
//! product four. CUDA C++ has `int` there. What a kernel is given is the same for all threads, so one test at its beginning
//! chooses for all of them, with a few instructions.
//!
//! **Why it is right.** `ranges.rs` computes between which numbers a value lies where it is used, if the test holds. Sums,
//! differences, products and shifts to the left of 32 bits are those of 64 but for the upper half, whatever the numbers. So
//! where a value lies between -2^31 and 2^31 - 1, extending the sign of its lower half gives the value itself; only such
//! uses are replaced: what memory is addressed with, and what panics tell. A comparison becomes one of 32 bits if both sides
//! are such values: extending the sign keeps their order, with a sign and without. What else is done to a value, division,
//! minimum or shift to the right, is done in 32 bits only if its operands are below 2^32 and not negative, or, with a sign,
//! between -2^31 and 2^31 - 1. A minimum without a sign may also be of two such numbers, whose order extending the sign keeps,
//! or of -1, the largest number in either width. What floats are turned into may have 32 bits for other reasons (`casts.rs`). If an operand of
//! `select` is looked at only where a condition holds, that counts as well: elsewhere its value is not used. A float is made
//! of the lower half, with its sign, where the number is not negative or had a sign: both are rounded from the same number.
//!
//! Sums and products that LLVM computes together with whether they overflow (`checked.rs`), as a loop that is split has them, do not
//! where both parts are small: what is asked goes, and the number is as any other. What was frozen counts as well where it is a
//! number anyway (`numbers.rs`), because no promise of the arithmetic that it is made of can be broken.
//!
//! Where a kernel looks at less than a number, as at the last row of `height` or at `(4..height - 4).contains(&y)`, the test may
//! also ask whether that number is so large, if more becomes small so: `y.min(height - 1)` is any `y` where there is no row.
//!
//! A view's extents come in one number, which is taken apart: two of 32 bits, or three of 21. The test looks at each, or at the
//! product of two (`products.rs`, `demands.rs`): then a value is looked at in several cases, one of which holds (`cases.rs`).
//!
//! Then checks go that others imply (`implied.rs`), which small numbers show.
//!
//! The test also asks where slices begin, if vectors may be loaded or stored then (`aligned.rs`). A kernel may have its copy for
//! this alone.
//!
//! Not where it has local variables. Where something convergent is in the kernel, as a barrier, only for vectors, if many are,
//! if the checks go of a slice that is as long as its view, which is tried in another module, or for what goes in a loop within
//! a loop, in which no threads meet, as a search for each element: the test is about parameters, so that all threads take the
//! same copy, but most such kernels gain little by their indices. And only where enough is gained, which counts twice in a
//! loop, and where checks go, too, half of that: each copy is code that ptxas compiles and a GPU's cache may hold.

mod aligned;
mod cases;
mod casts;
mod checked;
mod chosen;
mod compared;
mod copies;
mod counts;
mod demands;
mod facts;
mod floats;
mod halves;
mod implied;
mod intervals;
mod moves;
mod numbers;
mod parameters;
mod parts;
mod places;
mod plan;
mod positions;
mod products;
mod quotients;
#[cfg(test)]
mod random_tests;
mod ranges;
mod registers;
mod rewrite;
mod rounds;
mod small;
mod steps;
mod sums;
#[cfg(test)]
mod tests;
mod uniform;
mod words;

pub use casts::narrow_casts;
pub use copies::{RangesOfCopies, given_by_test};
pub use halves::halve;
pub use positions::bound;
pub use uniform::count_uniform;
pub use words::compare;

use aligned::Aligned;
use demands::Demands;
use implied::Gone;
use plan::Plan;
pub use ranges::{Facts, Interval, Ranges};
use rewrite::Rewrite;
use small::{are_small, known};

use crate::arch::Arch;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValue, Builder, BuilderError, Context, FunctionValue, InstructionOpcode, InstructionValue,
    IntValue, Module, TargetMachine,
};
use crate::loops::{Graph, is_convergent};

/// Instructions of a function that is copied.
const MOST_INSTRUCTIONS: usize = 600;

/// Instructions of 64 bits that must go for a copy.
const FEWEST_GONE: usize = 15;

/// The same in loops within loops in which no threads meet, where they do elsewhere in the kernel.
const FEWEST_GONE_APART: usize = 8;

/// What cleans up. Not LLVM's `instcombine`, which would compute in 64 bits again.
const CLEAN: &str = "instsimplify,early-cse,simplifycfg,adce";

/// What moves the indices behind the one branch that is left, where a slice that covers a view has no checks: before it all of
/// them held registers at once.
const SINK: &str = "sink";

/// What is made of a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wanted {
    /// A copy if it pays by the instructions of 64 bits that go.
    Worth,
    /// A copy, which has no checks of a slice that is as long as its view.
    WithoutChecks,
    /// None but one for what is aligned.
    Aligned,
}

/// What became of a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Made {
    /// A copy with indices of 32 bits.
    Copy,
    /// Nothing yet: a copy pays only if checks go, too.
    Undecided,
    /// No such copy.
    Nothing,
}

/// Copies the kernels that gain from it.
pub fn narrow<'ctx>(context: &'ctx Context, module: &Module<'ctx>, machine: &TargetMachine, arch: Arch) -> Result<()> {
    let mut copied = Vec::new();
    let is_kernel = |function: &FunctionValue<'ctx>| function.get_call_conventions() == llvm::PTX_KERNEL;
    // Functions that LLVM has for minima may be declared.
    for kernel in llvm::functions(module).filter(is_kernel).collect::<Vec<_>>() {
        let mut made = narrow_one(context, module, kernel, Wanted::Worth)?;
        if made == Made::Undecided {
            let loses = loses_checks(context, module, kernel, machine)?;
            let wanted = if loses { Wanted::WithoutChecks } else { Wanted::Aligned };
            made = narrow_one(context, module, kernel, wanted)?;
        }
        copied.extend((made == Made::Copy).then_some(kernel));
    }
    for kernel in copied {
        clean(kernel, machine, CLEAN)?;
        let gone = implied::remove(context, kernel)?;
        if gone != Gone::Nothing {
            clean(kernel, machine, CLEAN)?;
        }
        if gone == Gone::Covered {
            clean(kernel, machine, SINK)?;
        }
        registers::limit(context, kernel, arch);
    }
    Ok(())
}

/// Whether a copy of a kernel has no checks of a slice that is as long as its view; by trying it, in another module.
fn loses_checks<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    kernel: FunctionValue<'ctx>,
    machine: &TargetMachine,
) -> Result<bool> {
    let tried = llvm::copy_module(module);
    let Some(kernel) = tried.get_function(&kernel.get_name().to_string_lossy()) else { return Ok(false) };
    if narrow_one(context, &tried, kernel, Wanted::WithoutChecks)? != Made::Copy {
        return Ok(false);
    }
    clean(kernel, machine, CLEAN)?;
    Ok(implied::remove(context, kernel)? == Gone::Covered)
}

fn clean(kernel: FunctionValue<'_>, machine: &TargetMachine, passes: &str) -> Result<()> {
    llvm::run_passes_on_function(kernel, machine, passes).map_err(|error| {
        Diagnostic::error(Code::LlvmFailed, format!("LLVM's passes `{passes}` failed: {error}")).into()
    })
}

/// Has what a block only passes on, as one behind a loop may, be the value itself: whether there are such phis depends on which
/// passes another kernel of the module has asked for.
fn fold_passed_on(kernel: FunctionValue<'_>) {
    for block in kernel.get_basic_blocks() {
        for phi in llvm::phis(block).collect::<Vec<_>>() {
            if let [(value, _)] = llvm::incoming(phi)[..]
                && value != llvm::result(phi)
            {
                llvm::replace_uses(phi, value);
                phi.erase_from_basic_block();
            }
        }
    }
}

fn narrow_one<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    kernel: FunctionValue<'ctx>,
    wanted: Wanted,
) -> Result<Made> {
    write_narrow(context, module, kernel, wanted).map_err(|error| {
        Diagnostic::error(Code::LlvmFailed, format!("cannot narrow the indices of a kernel: {error}")).into()
    })
}

fn write_narrow<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    kernel: FunctionValue<'ctx>,
    wanted: Wanted,
) -> std::result::Result<Made, BuilderError> {
    fold_passed_on(kernel);
    let has_locals = || llvm::instructions(kernel).any(|from| from.get_opcode() == InstructionOpcode::Alloca);
    let count = llvm::instructions(kernel).take(aligned::MOST_INSTRUCTIONS + 1).count();
    if count > aligned::MOST_INSTRUCTIONS || has_locals() {
        return Ok(Made::Nothing);
    }
    let meeting: Vec<_> = llvm::instructions(kernel).filter(|from| is_convergent(*from)).collect();
    // Assembly may have names of its own, which cannot be there twice.
    if meeting.iter().any(|from| llvm::called_function(*from).is_none()) {
        return Ok(Made::Nothing);
    }
    let meets = !meeting.is_empty();
    chosen::freeze_conditions(context, kernel)?;
    parameters::freeze_once(context, kernel);
    let casts = casts::wide(kernel);
    let frozen = numbers::frozen(kernel);
    casts::ask_in_panics(context, &casts);
    let graph = Graph::of(kernel);
    let demands = Demands::of(kernel, &graph, casts, frozen);
    let best = if count <= MOST_INSTRUCTIONS && wanted != Wanted::Aligned { demands.of_each() } else { None };
    // Threads that wait for each other have time for numbers of 64 bits, and hardly for a test. But not where each goes
    // through a loop by itself, again and again.
    let is_little = |plan: &Plan<'_>| {
        if meets { plan.gone_apart() < FEWEST_GONE_APART } else { plan.gone() < FEWEST_GONE }
    };
    if wanted == Wanted::Worth && best.as_ref().is_some_and(|(_, plan)| is_little(plan)) {
        return Ok(Made::Undecided);
    }
    // What has been tried had no checks with the limits of each.
    let best = best.map(|best| if wanted == Wanted::Worth { demands.of_products(best) } else { best });
    let aligned = Aligned::of(kernel, &graph)
        .filter(|aligned| best.is_some() || if meets { aligned.pays_many() } else { aligned.pays(count) });
    if best.is_none() && aligned.is_none() {
        return Ok(Made::Nothing);
    }
    let Some(entry) = kernel.get_first_basic_block() else { return Ok(Made::Nothing) };
    let blocks = kernel.get_basic_blocks();
    let chooses = context.prepend_basic_block(entry, "");
    let builder = context.create_builder();
    builder.position_at_end(chooses);
    // Loops run longer than this takes, and may want the registers.
    if graph.innermost().is_empty() {
        hoist_positions(&builder, entry);
    }
    let wide = llvm::copy_blocks(context, kernel, &blocks);
    let mut fits = None;
    if let Some((limits, _)) = &best {
        fits = Some(are_small(context, &builder, kernel, limits)?);
    }
    if let Some(aligned) = aligned {
        aligned.promise();
        let is_aligned = aligned.test(context, &builder, kernel)?;
        fits = Some(match fits {
            Some(small) => builder.build_and(small, is_aligned, "")?,
            None => is_aligned,
        });
    }
    let fits = fits.expect("one of them asks for the copy");
    let end = builder.build_conditional_branch(fits, entry, wide[0])?;
    let Some((limits, plan)) = best else { return Ok(Made::Nothing) };
    Rewrite::new(context, module, &plan, end).write()?;
    let whole = limits.each.iter().filter(|limit| limit.number.half.is_none()).map(|limit| limit.number.param);
    let whole = whole.map(|param| (param, frozen_before(param, end)));
    steps::extend(context, &graph, whole, end)?;
    Ok(Made::Copy)
}

/// What a parameter is frozen to in the block that an instruction ends.
fn frozen_before<'ctx>(param: IntValue<'ctx>, end: InstructionValue<'ctx>) -> IntValue<'ctx> {
    let from = known(param).as_instruction_value();
    if from.is_some_and(|from| from.get_parent() == end.get_parent()) { known(param) } else { param }
}

/// Moves what both copies would begin with to where the builder stands: reading a thread's position, which takes as long as
/// what the test looks at. ptxas moves nothing across the test, so each copy would only begin to read it then. Not what is
/// computed of it: if the other copy had no register for that, ptxas would store it to local memory before the test.
fn hoist_positions<'ctx>(builder: &Builder<'ctx>, entry: BasicBlock<'ctx>) {
    for read in entry.get_instructions().filter(|from| llvm::is_position(*from)).collect::<Vec<_>>() {
        read.remove_from_basic_block();
        builder.insert_instruction(&read, None);
    }
}
