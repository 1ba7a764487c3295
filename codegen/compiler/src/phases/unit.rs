//! The phases that a module goes through by itself: the whole program, or a group of kernels on a core of its own.

use crate::abi::Table;
use crate::addresses;
use crate::arch::{Arch, Needs, PtxVersion};
use crate::barriers;
use crate::checks;
use crate::cold;
use crate::conditions;
use crate::copies;
use crate::diagnostic::Result;
use crate::differences;
use crate::divisions;
use crate::float;
use crate::indices;
use crate::intrinsics;
use crate::layers;
use crate::libdevice;
use crate::llvm::{Context, Module, TargetMachine};
use crate::loops;
use crate::memory;
use crate::multiples;
use crate::offsets;
use crate::optimize;
use crate::panics;
use crate::parities;
use crate::portions;
use crate::registers;
use crate::remainders;
use crate::request::{AfterPanic, Linking, OptLevel, Options};
use crate::settled::{self, Shapes};
use crate::stacks;
use crate::timings::time;
use crate::windows;

/// What modules are compiled for.
#[derive(Clone, Copy)]
pub struct Settings<'a> {
    /// What was asked for.
    pub options: &'a Options,
    /// What crosses the boundary.
    pub table: &'a Table,
    /// The GPU that the modules are specialised for.
    pub arch: Arch,
    /// The PTX ISA version that suffices, as far as is known.
    pub version: PtxVersion,
    /// Whether places in the source are known.
    pub has_lines: bool,
    /// What ends a thread that panics.
    pub after: AfterPanic,
}

/// A module on its way.
#[derive(Clone, Copy)]
pub struct Unit<'a, 'ctx> {
    /// Of the module.
    pub context: &'ctx Context,
    /// The whole program, or a group of kernels.
    pub module: &'a Module<'ctx>,
    /// For the arch and the version.
    pub machine: &'a TargetMachine,
    /// What it is compiled for.
    pub settings: Settings<'a>,
}

/// How often what LLVM does not do for GPUs is done: a loop whose rounds were counted is unrolled, split or batched after that.
const ROUNDS: usize = 2;

/// The same at most, where loops are unrolled: how many rounds one has may show only when another is gone.
const MOST_ROUNDS: usize = 3;

/// Optimise: LLVM's pipeline; where speed counts, what it does not do for GPUs and the pipeline again, which makes use of
/// that. Returns whether a group can go on apart, up to its PTX: messages and debug information are about the whole program, as
/// is what calls through pointers.
pub fn optimise(unit: &Unit<'_, '_>) -> Result<bool> {
    let Unit { context, module, machine, settings } = unit;
    let Settings { options, arch, has_lines, .. } = settings;
    let level = options.opt_level;
    time!(optimize::run_level(module, machine, level, *arch))?;
    // Here, because circles that are left by now will stay.
    time!(stacks::refuse_without_lines(module, *has_lines))?;
    if level.is_for_speed() {
        time!(loops::resume(context, module));
    }
    if level != OptLevel::O0 {
        time!(libdevice::fold(context, module, machine))?;
    }
    if !level.is_for_speed() {
        return Ok(false);
    }
    for_speed(unit)?;
    Ok(!has_lines && options.linking() == Linking::None && time!(stacks::are_by_name(module)))
}

/// What LLVM does not do for GPUs.
fn for_speed(unit: &Unit<'_, '_>) -> Result<()> {
    let Unit { context, module, machine, settings } = *unit;
    let Settings { options, table, arch, .. } = settings;
    let level = options.opt_level;
    time!(indices::bound(context, module))?;
    for round in 1..=MOST_ROUNDS {
        // In the first round, LLVM has been through all but once, and may find more in what stays.
        let shapes = (round > 1).then(|| Shapes::of(context, module));
        time!(memory::measure(module));
        time!(conditions::decide(context, module));
        time!(checks::drop_of_planes(context, module));
        time!(optimize::thread_jumps(module))?;
        time!(loops::ask_once(context, module, machine))?;
        time!(conditions::choose(context, module, machine))?;
        time!(loops::join(context, module))?;
        time!(loops::catch_up(context, module))?;
        time!(loops::end_inclusive(context, module))?;
        time!(loops::end_once(context, module))?;
        time!(loops::trust_ends(context, module));
        time!(loops::bisect(context, module))?;
        time!(remainders::fold(context, module))?;
        time!(multiples::fold(context, module, machine))?;
        time!(layers::fold(context, module))?;
        time!(divisions::compare(context, module))?;
        time!(divisions::narrow(context, module))?;
        time!(indices::narrow_casts(context, module))?;
        time!(portions::measure(context, module))?;
        if round == 1 {
            time!(memory::store_apart(context, module))?;
            time!(checks::ask_of_areas(context, module))?;
        }
        time!(loops::keep(context, module))?;
        time!(loops::remember(context, module))?;
        time!(loops::recompute(context, module, machine))?;
        time!(loops::grow(context, module, machine))?;
        let mut unfinished = time!(loops::unroll(context, module));
        let form = loops::SimpleForm::of(machine);
        let counted = time!(windows::count(context, module, &form))?;
        unfinished.extend(counted);
        time!(loops::go_on(context, module, &form))?;
        time!(loops::widen(context, module, &form))?;
        time!(loops::chunk(context, module, &form))?;
        time!(loops::step_over(context, module, &form))?;
        time!(loops::run_whole_warps(context, module, &form))?;
        time!(conditions::unite(context, module, &form))?;
        // What is left of a slice has one beginning now.
        time!(multiples::fold(context, module, machine))?;
        time!(loops::take_in(context, module, &form))?;
        time!(loops::count(context, module, &form))?;
        time!(loops::widen_checked(context, module, &form))?;
        time!(loops::pass(context, module, &form))?;
        time!(loops::split(context, module, &form))?;
        time!(loops::shorten(context, module, &form))?;
        time!(loops::batch(context, module, &form, table))?;
        time!(loops::gather(context, module, &form, table))?;
        time!(loops::pack(context, module, &form))?;
        time!(loops::foresee(context, module, &form))?;
        time!(loops::alternate(context, module, &form))?;
        // Here, because others would rather know that an index is below a bound.
        time!(indices::count_uniform(context, module, &form))?;
        time!(loops::repeat(context, module));
        if let Some(shapes) = shapes {
            let changed = unfinished.union(&shapes.changed(context, module)).copied().collect();
            if settled::settle(context, module, changed) {
                break;
            }
        }
        time!(optimize::run_again(module, machine, level, arch))?;
        time!(loops::join(context, module))?;
        time!(loops::count_simply(context, module))?;
        time!(loops::bound(context, module));
        time!(loops::run_together(context, module));
        time!(optimize::unroll_again(module, machine, level, arch))?;
        time!(libdevice::fold(context, module, machine))?;
        if round >= ROUNDS && settled::settle(context, module, unfinished) {
            break;
        }
    }
    settled::open_all(module);
    // LLVM may have unrolled a loop over neighbours at last.
    time!(remainders::fold(context, module))?;
    time!(checks::merge(context, module, machine))?;
    time!(indices::narrow(context, module, machine, arch))?;
    time!(indices::halve(context, module))?;
    time!(conditions::join(context, module, machine))?;
    time!(differences::fold(context, module))?;
    time!(parities::fold(context, module))?;
    time!(loops::order(context, module, machine))?;
    time!(divisions::share(context, module, machine))?;
    time!(loops::reunite(context, module, machine))?;
    time!(loops::know_first(context, module, machine))
}

/// Legalise: what the arch lacks is refused, because only now what is never reached has gone; then all that LLVM's optimiser
/// must not see, or would undo. Returns what the PTX needs beyond what was known.
pub fn legalise(unit: &Unit<'_, '_>) -> Result<Needs> {
    let Unit { context, module, machine, settings } = *unit;
    let Settings { options, table, arch, has_lines, after, .. } = settings;
    let level = options.opt_level;
    time!(intrinsics::check(module, machine, table, arch))?;
    time!(optimize::order_uses(module));
    time!(cold::keep_loops(context, module));
    time!(loops::unroll_on(context, module));
    time!(copies::widen(context, module, machine, level))?;
    time!(barriers::align(context, module, level))?;
    if level.is_for_speed() {
        time!(checks::load_early(context, module, table));
    }
    time!(checks::separate(context, module, arch))?;
    time!(memory::order(context, module, machine, table, arch, level))?;
    if level.is_for_speed() {
        time!(memory::load_apart(context, module))?;
        time!(memory::store_together(context, module));
        time!(conditions::part(context, module))?;
        time!(loops::spread(context, module, machine))?;
        time!(registers::raise(context, module, arch));
        time!(registers::fit(context, module, arch));
    }
    time!(float::lower(context, module, arch, level))?;
    if level.is_for_speed() {
        time!(divisions::divide_as_floats(context, module))?;
        time!(loops::follow(context, module, machine))?;
        time!(addresses::share(context, module));
        time!(addresses::lift(context, module));
        time!(addresses::follow_rows(context, module))?;
        time!(addresses::join(context, module))?;
        time!(offsets::share(context, module))?;
        time!(loops::walk(context, module, machine))?;
        time!(loops::leave(context, module, machine))?;
        time!(loops::turn(context, module))?;
        time!(float::part(context, module))?;
        time!(loops::hasten(context, module));
        time!(loops::saturate(context, module))?;
        time!(loops::count_down(context, module))?;
        time!(indices::compare(context, module))?;
        time!(checks::read_early(context, module))?;
        time!(checks::compute_ahead(context, module))?;
        time!(memory::compare_first(context, module))?;
    }
    // As late as this, because recursion may be gone by now, and what is left may need a higher version.
    let needs = time!(stacks::check(context, module, &options.panics, has_lines))?;
    time!(panics::lower(context, module, level, after))?;
    Ok(needs)
}
