//! Which demands on what a kernel is given a copy of it makes, by how much goes then: the weakest first.
//!
//! Lengths must be below 2^30. Other numbers may be as large, or must be below 2^15, or no smaller than what is taken
//! from them. Of the extents of a plane, the product is asked for in place of both, if no less goes by that: a plane of
//! 65,536 rows may be narrow. So may another number be multiplied by one of the extents, as the height of the layers
//! that lie below each other in the plane.

use crate::hash::QuickMap;
use crate::llvm::{FunctionValue, InstructionValue, IntValue};
use crate::loops::Graph;

use super::cases::{Cases, Given};
use super::casts;
use super::floats::Cast;
use super::numbers;
use super::plan::Plan;
use super::ranges::Ranges;
use super::small::{BITS_OF_A_FACTOR, BITS_OF_A_LENGTH, Half, Limits, Number};

/// Instructions of 64 bits that must go for a copy that has no checks of a slice that is as long as its view.
const FEWEST_GONE_WITH_CHECKS: usize = 8;

/// How many more must go where the test also asks how large extents are at least.
const FEWEST_MORE: usize = 6;

/// Cases that are looked at to see whether it is worth to look at all.
const FEW_CASES: usize = 3;

/// What is known of a kernel before its numbers are.
pub struct Demands<'a, 'ctx> {
    kernel: FunctionValue<'ctx>,
    graph: &'a Graph<'ctx>,
    numbers: Vec<Number<'ctx>>,
    same: QuickMap<IntValue<'ctx>, IntValue<'ctx>>,
    casts: Vec<(IntValue<'ctx>, Cast<'ctx>)>,
    frozen: Vec<InstructionValue<'ctx>>,
}

impl<'a, 'ctx> Demands<'a, 'ctx> {
    pub fn of(
        kernel: FunctionValue<'ctx>,
        graph: &'a Graph<'ctx>,
        casts: Vec<(IntValue<'ctx>, Cast<'ctx>)>,
        frozen: Vec<InstructionValue<'ctx>>,
    ) -> Self {
        let numbers = Number::of(kernel);
        let same = numbers.iter().flat_map(Number::told_by).collect();
        Self { kernel, graph, numbers, same, casts, frozen }
    }

    /// What each number by itself must be so that most goes, if enough does, and what the copy is then.
    pub fn of_each(&self) -> Option<(Limits<'ctx>, Plan<'ctx>)> {
        let has_factors = self.numbers.iter().any(|number| !number.is_length());
        let has_extents = self.numbers.iter().any(|number| number.most_less() > 0);
        let demands = [
            (BITS_OF_A_LENGTH, false, true),
            (BITS_OF_A_FACTOR, false, has_factors),
            (BITS_OF_A_FACTOR, true, has_extents),
        ];
        let mut best: Option<(Limits<'ctx>, Plan<'ctx>)> = None;
        for (bits_of_a_factor, some, _) in demands.into_iter().filter(|(_, _, counts)| *counts) {
            let limits = Limits::of(&self.numbers, bits_of_a_factor, some);
            let least_more = if some { FEWEST_MORE } else { 1 };
            let fewest = best.as_ref().map_or(0, |(_, known)| known.gone() + least_more);
            if let Some(plan) = self.plan(&limits, fewest.max(FEWEST_GONE_WITH_CHECKS)) {
                best = Some((limits, plan));
            }
        }
        best
    }

    /// The same with the product of a plane's extents in place of each, if no less goes then.
    pub fn of_products(&self, (limits, plan): (Limits<'ctx>, Plan<'ctx>)) -> (Limits<'ctx>, Plan<'ctx>) {
        let is_asked = |half| {
            let mut asked = limits.each.iter().filter(|limit| limit.number.half == Some(half));
            asked.next().filter(|limit| asked.next().is_none() && limit.bits == BITS_OF_A_FACTOR)
        };
        let (Some(width), Some(height)) = (is_asked(Half::Low), is_asked(Half::High)) else { return (limits, plan) };
        if width.number.param != height.number.param {
            return (limits, plan);
        }
        let (width, height) = (width.number, height.number);
        let others = self.numbers.iter().filter(|number| number.half.is_none() && !number.is_length());
        let others: Vec<_> = others.copied().collect();
        let with = |common: Number<'ctx>, other: Number<'ctx>, others: &[Number<'ctx>]| {
            let others = std::iter::once(other).chain(others.iter().copied());
            limits.with_products(others.map(|other| [common, other]).collect())
        };
        let mut demands = vec![with(width, height, &[])];
        if !others.is_empty() {
            demands.extend([with(width, height, &others), with(height, width, &others)]);
        }
        let found = demands.into_iter().find_map(|limits| {
            let plan = self.plan(&limits, plan.gone())?;
            Some((limits, plan))
        });
        found.unwrap_or((limits, plan))
    }

    /// What the copy is, if so much goes.
    fn plan(&self, limits: &Limits<'ctx>, fewest: usize) -> Option<Plan<'ctx>> {
        let given = limits.given();
        let plan = |some: Vec<Given<'ctx>>| {
            let given: Vec<_> = some.into_iter().map(|given| self.with_computed(given)).collect();
            let cases = Cases::of_function(self.graph, &given, &self.same);
            let plan = Plan::of(self.kernel, self.graph, &cases);
            (plan.gone() >= fewest).then(|| plan.sharing(self.kernel, self.graph, &cases))
        };
        // Of few cases more is known than of all, so if it is not enough of these, it is not of all.
        if given.len() > 1 {
            let some: [usize; FEW_CASES + 1] = [0, 1, given.len() / 2, given.len() - 1];
            plan(some.map(|at| given[at].clone()).to_vec())?;
        }
        plan(given)
    }

    /// With what follows for floats that become numbers, and for numbers that are frozen.
    fn with_computed(&self, mut given: Given<'ctx>) -> Given<'ctx> {
        if !self.casts.is_empty() {
            let narrow = casts::narrow(&self.casts, &Ranges::of_function(self.graph, &given, &self.same));
            given.extend(narrow);
        }
        if !self.frozen.is_empty() {
            let params: Vec<_> = self.numbers.iter().map(|number| number.param).collect();
            let cases = Cases::of_function(self.graph, std::slice::from_ref(&given), &self.same);
            let narrow = numbers::narrow_frozen(self.kernel, &self.frozen, &cases, &params);
            given.extend(narrow);
        }
        given
    }
}
