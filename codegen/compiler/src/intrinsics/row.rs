//! A row of the table of instructions.

use crate::arch::PtxVersion;

/// Instructions that differ in modifiers alone.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Registers as inline PTX has them, the result first: `f=ff` takes two `f32` and gives one.
    pub registers: &'static str,
    /// As the PTX ISA writes syntax: one of every `{a|b}`, which may be nothing.
    pub pattern: &'static str,
    /// The lowest arch.
    pub min_sm: u32,
    /// The lowest PTX ISA version.
    pub min_ptx: PtxVersion,
}
