//! Graphs that are made by hand: typed launches, copies and branches, whose order follows from the memory that they use, started
//! by one call.

mod body;
mod builder;
mod copy;
mod memory;
mod parts;
mod run;
mod steps;

pub use body::GraphBody;
pub use builder::GraphBuilder;
pub use memory::{GraphHostMemory, GraphMemory};
pub use parts::Node;
pub use run::Graph;
