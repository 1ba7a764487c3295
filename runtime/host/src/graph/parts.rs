//! What a graph is made of: nodes, what each uses, and which come before which.

use cudarc::driver::sys::{CUgraph, CUgraphNode};
use smallvec::SmallVec;

use super::memory::Slot;
use crate::device::Device;
use crate::extras::Extras;
use crate::module::{Kernel, Module};

/// A step of a graph; that of a launch can be changed by `Graph::update`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    pub(super) graph: u64,
    /// Which of the graph's bodies it is in; 0 is the graph itself.
    pub(super) body: usize,
    pub(super) number: usize,
}

/// What all bodies of a graph have in common.
pub(super) struct Common<'m> {
    pub(super) device: Device,
    /// Compared only.
    pub(super) number: u64,
    pub(super) slots: Vec<Box<dyn Slot>>,
    /// Whether something depends on each condition.
    pub(super) conditions: Vec<bool>,
    pub(super) bodies: usize,
    pub(super) nodes: usize,
    pub(super) launches: Vec<(&'m Module, &'m Kernel)>,
}

/// The graph itself, or a body of a conditional node, which is a graph of its own.
pub(super) struct Body<'m> {
    pub(super) graph: CUgraph,
    pub(super) number: usize,
    pub(super) nodes: Vec<Added<'m>>,
}

/// What was added.
pub(super) struct Added<'m> {
    pub(super) node: CUgraphNode,
    pub(super) launch: Option<(&'m Module, &'m Kernel, Extras)>,
    pub(super) uses: Uses,
}

/// Something that steps wait for each other because of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Used {
    Memory(usize),
    Condition(usize),
}

/// What a step uses, of a launch in the order of its parameters, and whether it may write it.
pub(super) type Uses = SmallVec<[(Used, bool); 8]>;

impl Body<'_> {
    /// The nodes that a node with these uses must come after: of each memory and condition those that wrote it last or, if this one
    /// writes, all that have used it since.
    pub(super) fn before(&self, uses: &Uses) -> Vec<CUgraphNode> {
        let mut before = Vec::new();
        for (place, writes) in uses {
            for added in self.nodes.iter().rev() {
                let used = added.uses.iter().filter(|(known, _)| known == place);
                let (count, wrote) = used.fold((0, false), |(count, all), (_, wrote)| (count + 1, all | wrote));
                if count > 0 && (wrote || *writes) && !before.contains(&added.node) {
                    before.push(added.node);
                }
                if wrote {
                    // What came before it, it waits for.
                    break;
                }
            }
        }
        before
    }

    /// What its steps use, each once.
    pub(super) fn uses(&self) -> Uses {
        let mut all = Uses::new();
        self.nodes.iter().for_each(|added| merge(&mut all, &added.uses));
        all
    }
}

/// Adds what is used elsewhere.
pub(super) fn merge(all: &mut Uses, more: &Uses) {
    for (place, writes) in more {
        match all.iter_mut().find(|(known, _)| known == place) {
            Some((_, wrote)) => *wrote |= *writes,
            None => all.push((*place, *writes)),
        }
    }
}

impl<'m> Common<'m> {
    /// Notes what was added to a body.
    pub(super) fn added(&mut self, body: &mut Body<'m>, added: Added<'m>) -> Node {
        self.nodes += 1;
        self.launches.extend(added.launch.iter().map(|(module, kernel, _)| (*module, *kernel)));
        body.nodes.push(added);
        Node { graph: self.number, body: body.number, number: body.nodes.len() - 1 }
    }
}
