//! Between which numbers an integer lies in a kernel that has two copies: in one of them more is known.
//!
//! What the test before them says of a product tells nothing of either factor by itself. So the copy behind it is
//! looked at in each of the cases that there are then (`products.rs`).

use crate::hash::{QuickMap, QuickSet};
use crate::llvm::{BasicBlock, FunctionValue, IntValue};
use crate::loops::Graph;

use super::cases::{Cases, Given};
use super::implied::narrow_copy;
use super::products;

/// What is taken for granted in the copies.
pub struct GivenByTest<'ctx> {
    everywhere: [Given<'ctx>; 1],
    /// In any case and in each one, and the blocks where one of these holds, with the one that asks.
    narrow: Vec<Given<'ctx>>,
    blocks: Vec<BasicBlock<'ctx>>,
}

/// What the test of a kernel says of its first copy; of another function nothing is known.
pub fn given_by_test<'ctx>(kernel: FunctionValue<'ctx>, graph: &Graph<'ctx>) -> GivenByTest<'ctx> {
    let everywhere = [Given::default()];
    let (Some(first), Some(copy)) = (kernel.get_first_basic_block(), narrow_copy(kernel)) else {
        return GivenByTest { everywhere, narrow: Vec::new(), blocks: Vec::new() };
    };
    let narrow = products::given(first);
    let is_of_copy = |block: &BasicBlock<'ctx>| *block == first || graph.is_reached_by_way_of(*block, copy);
    let blocks = graph.by_dominance().into_iter().filter(is_of_copy).collect();
    GivenByTest { everywhere, narrow, blocks }
}

impl<'ctx> GivenByTest<'ctx> {
    /// Between which numbers values lie by that.
    pub fn ranges<'a>(
        &'a self,
        graph: &'a Graph<'ctx>,
        same: &'a QuickMap<IntValue<'ctx>, IntValue<'ctx>>,
    ) -> RangesOfCopies<'a, 'ctx> {
        let everywhere = Cases::of_function(graph, &self.everywhere, same);
        let is_known = self.narrow.len() > 1;
        let narrow = is_known.then(|| Cases::of_blocks(graph, &self.blocks, &self.narrow, same));
        let copy = self.blocks.iter().skip(1).copied().collect();
        RangesOfCopies { everywhere, narrow, copy }
    }
}

/// The intervals of a function's values.
pub struct RangesOfCopies<'a, 'ctx> {
    everywhere: Cases<'a, 'ctx>,
    narrow: Option<Cases<'a, 'ctx>>,
    copy: QuickSet<BasicBlock<'ctx>>,
}

impl<'a, 'ctx> RangesOfCopies<'a, 'ctx> {
    /// Those that hold in a block.
    pub fn in_block(&self, block: BasicBlock<'ctx>) -> &Cases<'a, 'ctx> {
        self.narrow.as_ref().filter(|_| self.copy.contains(&block)).unwrap_or(&self.everywhere)
    }
}
