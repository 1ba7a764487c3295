//! Loops of safe Rust: what LLVM's pipeline leaves in them on a GPU and would not elsewhere.
//!
//! The stages run between two rounds of LLVM's pipeline, because only the first one inlines, and only the second one makes
//! use of what they did.

mod addresses;
mod ahead;
mod apart;
mod arms;
mod arrays;
mod asked;
mod batches;
mod below;
mod best;
mod bisections;
mod bounds;
mod branches;
mod branching;
mod bytes;
mod checks;
mod chunks;
mod columns;
mod counters;
mod dear;
mod divided;
mod ends;
mod exits;
mod few;
mod first;
mod gathers;
mod guards;
mod idle;
mod inclusive;
#[cfg(test)]
pub mod interpreter;
mod lagging;
mod later;
mod left;
mod lifted;
mod limits;
mod marked;
mod meetings;
mod natural;
mod onward;
mod ordered;
mod past;
#[cfg(test)]
pub mod random_tests;
mod rest;
mod reunited;
mod rounds;
mod saturated;
mod searches;
mod shifted;
mod shorter;
mod simpler;
#[cfg(test)]
pub mod staged;
mod stays;
mod strided;
mod strides;
mod swapped;
mod turned;
mod waiting;
mod walks;
mod whole;
mod whole_warps;
mod widened;

use std::collections::HashSet;

use crate::llvm::{BasicBlock, Context, FunctionValue, Module};

pub use ahead::hasten;
pub use apart::take_in;
pub use arrays::{bound, that_index_arrays};
pub use asked::ask_once;
pub use batches::{Slice, batch, shared_slices};
pub use best::remember;
pub use bisections::bisect;
pub use bounds::overflowing;
pub use branches::{Branch, conditions, instruction, is_convergent};
pub use branching::repeat;
pub use bytes::pack;
pub use chunks::chunk;
pub use columns::recompute;
pub use counters::{most, shorten, unroll_on};
pub use dear::count_simply;
pub use divided::is_slow;
pub use ends::end_once;
pub use exits::leave;
pub use few::{foresee, spread};
pub use first::know_first;
pub use gathers::gather;
pub use idle::step_over;
pub use inclusive::end_inclusive;
pub use lagging::catch_up;
pub use later::{delay, resume};
pub use left::count_down;
pub use lifted::split;
pub use limits::{opposite, order as in_order};
pub use marked::is_marked;
pub use natural::{Graph, Growth, Loop, SimpleForm};
pub use onward::go_on;
pub use ordered::order;
pub use rest::follow;
pub use reunited::reunite;
pub use saturated::saturate;
pub use searches::keep;
pub use shifted::grow;
pub use shorter::trust_ends;
pub use strided::pass;
pub use strides::count;
pub use swapped::{alternate, is_barrier};
pub use turned::turn;
pub use waiting::run_together;
pub use walks::walk;
pub use whole::join;
pub use whole_warps::run_whole_warps;
pub use widened::{widen, widen_checked};

/// Marks loops for unrolling, and says in which functions other loops may have constant rounds once that is done.
pub fn unroll<'ctx>(context: &Context, module: &Module<'ctx>) -> HashSet<FunctionValue<'ctx>> {
    divided::unroll(context, module);
    arrays::unroll(context, module)
}

/// The heads of those of a function's loops whose rounds are few and known, at least where no other condition ends them.
pub fn counted<'ctx>(
    function: FunctionValue<'ctx>,
    loops: &[Loop<'ctx>],
    which: impl Fn(&Loop<'ctx>) -> bool,
) -> Vec<BasicBlock<'ctx>> {
    let mut walk = rounds::Walk::new(function, loops);
    loops.iter().filter(|found| which(found) && walk.of(found).is_some()).map(|found| found.head).collect()
}

/// Whether a function runs any of its blocks again.
pub fn has_loops(function: FunctionValue<'_>) -> bool {
    !Graph::of(function).innermost().is_empty()
}
