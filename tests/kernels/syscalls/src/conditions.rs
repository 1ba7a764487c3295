//! A kernel that sets a condition of a graph.

use ptx::graph::Condition;
use ptx::prelude::*;

#[kernel]
pub fn sets_condition(mut condition: Condition<'_>, value: u32) {
    condition.set(value);
}
