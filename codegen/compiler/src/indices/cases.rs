//! Between which numbers an integer lies, in several cases of which one holds.
//!
//! A plane may be wide or high, but has not more than so many elements: then its rows have fewer than 2^k elements and
//! there are at most 2^(30 - k) of them, for some k. In each of these cases `y * width + x` has 32 bits, though either
//! number may have 30.
//!
//! **Why it is right.** One of the cases holds. So what is seen in each of them is so. Where branches lead that cannot
//! be taken in a case, as to a row that is not the first if there is but one, that case need not be looked at.

use std::cell::OnceCell;

use crate::hash::QuickMap;
use crate::llvm::{BasicBlock, InstructionValue, IntValue};
use crate::loops::Graph;

use super::ranges::{Facts, Interval, Ranges, are_possible};

/// What is taken for granted of some values.
pub type Given<'ctx> = QuickMap<IntValue<'ctx>, Interval>;

/// What is known of values in one place, in any case and in each one.
#[derive(Clone)]
pub struct CaseFacts<'ctx> {
    block: BasicBlock<'ctx>,
    /// The conditions that hold there beside what is known in the block, or do not.
    asked: Vec<(IntValue<'ctx>, bool)>,
    any: Facts<'ctx>,
    /// Found when it is looked at: mostly what is known in any case is enough.
    each: OnceCell<Vec<Facts<'ctx>>>,
}

/// The intervals of a function's values, in each case.
pub struct Cases<'a, 'ctx> {
    /// In any case.
    any: Ranges<'a, 'ctx>,
    /// In each one; nothing more where there are none.
    each: Vec<Ranges<'a, 'ctx>>,
}

impl<'a, 'ctx> Cases<'a, 'ctx> {
    /// Where something is taken for granted of some values: first what is known in any case, then what is in each one,
    /// if there are several.
    pub fn of_function(
        graph: &'a Graph<'ctx>,
        given: &'a [Given<'ctx>],
        same: &'a QuickMap<IntValue<'ctx>, IntValue<'ctx>>,
    ) -> Self {
        Self::of_blocks(graph, &graph.by_dominance(), given, same)
    }

    /// Those of some of its blocks, each behind the one that is on every way to it.
    pub fn of_blocks(
        graph: &'a Graph<'ctx>,
        blocks: &[BasicBlock<'ctx>],
        given: &'a [Given<'ctx>],
        same: &'a QuickMap<IntValue<'ctx>, IntValue<'ctx>>,
    ) -> Self {
        let ranges = |given| Ranges::of_blocks(graph, blocks, given, same);
        let (any, each) = given.split_first().expect("something is known in any case, if only nothing");
        Self { any: ranges(any), each: each.iter().map(ranges).collect() }
    }

    /// Whether something is so in any case, or in each one.
    pub fn all(&self, is_so: impl Fn(&Ranges<'a, 'ctx>) -> bool) -> bool {
        is_so(&self.any) || !self.each.is_empty() && self.each.iter().all(is_so)
    }

    /// What is known in a block.
    pub fn facts(&self, block: BasicBlock<'ctx>) -> CaseFacts<'ctx> {
        CaseFacts { block, asked: Vec::new(), any: self.any.facts(block), each: OnceCell::new() }
    }

    /// Adds what follows from a condition that holds, or does not.
    pub fn learn(&self, condition: IntValue<'ctx>, holds: bool, facts: &mut CaseFacts<'ctx>) {
        self.any.learn(condition, holds, &mut facts.any);
        facts.asked.push((condition, holds));
        facts.each.take();
    }

    /// Whether a comparison holds, if that is the same in all cases.
    pub fn decide(&self, comparison: InstructionValue<'ctx>, facts: &CaseFacts<'ctx>) -> Option<bool> {
        let decide = |(ranges, facts): (&Ranges<'a, 'ctx>, &Facts<'ctx>)| ranges.decide(comparison, facts);
        decide((&self.any, &facts.any)).or_else(|| {
            let mut decided = self.possible(facts).map(decide);
            let first = decided.next()??;
            decided.all(|holds| holds == Some(first)).then_some(first)
        })
    }

    /// Between which numbers a value lies in any case.
    pub fn any_of(&self, value: IntValue<'ctx>, facts: &CaseFacts<'ctx>) -> Interval {
        self.any.of(value, &facts.any)
    }

    /// The same in each case in which these facts may hold; in none, if there is but one.
    pub fn each_of(&self, value: IntValue<'ctx>, facts: &CaseFacts<'ctx>) -> Vec<Interval> {
        self.possible(facts).map(|(ranges, facts)| ranges.of(value, facts)).collect()
    }

    /// Between which numbers a value lies, where these facts hold.
    pub fn of(&self, value: IntValue<'ctx>, facts: &CaseFacts<'ctx>) -> Interval {
        self.unless_enough(self.any_of(value, facts), || self.each_of(value, facts).into_iter().reduce(Interval::join))
    }

    /// Between which numbers a value lies in a block.
    pub fn in_block(&self, value: IntValue<'ctx>, block: BasicBlock<'ctx>) -> Interval {
        let possible = || self.each.iter().filter(|ranges| ranges.may_reach(block));
        let each = || possible().map(|ranges| ranges.in_block(value, block)).reduce(Interval::join);
        self.unless_enough(self.any.in_block(value, block), each)
    }

    /// What is known in any case, if that says enough: that a value has 32 bits.
    fn unless_enough(&self, in_any: Interval, in_each: impl FnOnce() -> Option<Interval>) -> Interval {
        if self.each.is_empty() || in_any.is_narrow() { in_any } else { in_each().unwrap_or(in_any) }
    }

    /// The cases in which these facts may hold.
    fn possible<'b>(
        &'b self,
        facts: &'b CaseFacts<'ctx>,
    ) -> impl Iterator<Item = (&'b Ranges<'a, 'ctx>, &'b Facts<'ctx>)> {
        let known = facts.each.get_or_init(|| {
            let learned = |ranges: &Ranges<'a, 'ctx>| {
                let mut known = ranges.facts(facts.block);
                facts.asked.iter().for_each(|(condition, holds)| ranges.learn(*condition, *holds, &mut known));
                known
            };
            self.each.iter().map(learned).collect()
        });
        self.each.iter().zip(known).filter(|(_, facts)| are_possible(facts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::indices::products;
    use crate::llvm::{self, Context, InstructionOpcode, parse_ir};

    /// Between which numbers `%i` lies where it is returned, if `%width` has a small product with `%height`.
    fn range(condition: &str, index: &str) -> (i128, i128) {
        let text = format!(
            "define i64 @f(i64 %width, i64 %height, i64 %x, i64 %y) {{
              %x.in = icmp ult i64 %x, %width
              %y.in = icmp ult i64 %y, %height
              %in = and i1 %x.in, %y.in
              %not.first = icmp ne i64 %y, 0
              %is = and i1 %in, {condition}
              br i1 %is, label %inside, label %out
            inside: %row = mul i64 %y, %width
              {index}
              ret i64 %i
            out: ret i64 0
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        let param = |at| function.get_nth_param(at).unwrap().into_int_value();
        let case = |(width, height)| Given::from_iter([(param(0), width), (param(1), height)]);
        let any = (products::FACTOR, products::FACTOR);
        let given: Vec<_> = std::iter::once(any).chain(products::cases()).map(case).collect();
        let (graph, same) = (Graph::of(function), QuickMap::default());
        let cases = Cases::of_function(&graph, &given, &same);
        let end = llvm::instructions(function).find(|end| end.get_opcode() == InstructionOpcode::Return).unwrap();
        let (value, block) = (llvm::int_operand(end, 0).unwrap(), end.get_parent().unwrap());
        let (in_block, facts) = (cases.in_block(value, block), cases.facts(block));
        assert_eq!(in_block, cases.of(value, &facts), "{text}");
        (in_block.low, in_block.high)
    }

    #[test]
    fn an_index_has_32_bits_in_each_case() {
        let (low, high) = range("%in", "%i = add i64 %row, %x");
        assert!(low == 0 && (1 << 28..1 << 30).contains(&high), "{high}");
        let (low, high) = range("%in", "%far = mul i64 %height, %width\n %i = add i64 %far, %row");
        assert!(low == 1 && (1 << 29..1 << 31).contains(&high), "{high}");
        let (_, high) = range("%in", "%i = mul i64 %row, %width");
        assert!(high > 1 << 31, "{high}");
    }

    #[test]
    fn a_case_that_a_branch_excludes_is_not_looked_at() {
        // If there is one row, `y` is 0.
        let (low, _) = range("%not.first", "%i = add i64 %y, -1");
        assert_eq!(low, 0);
        assert_eq!(range("%in", "%i = add i64 %y, -1").0, -1);
    }
}
