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

/// A row for every GPU.
pub const fn row(registers: &'static str, pattern: &'static str) -> Row {
    since(registers, pattern, 0, (7, 0))
}

/// A row from an arch and a PTX ISA version on.
pub const fn since(registers: &'static str, pattern: &'static str, min_sm: u32, (major, minor): (u8, u8)) -> Row {
    Row { registers, pattern, min_sm, min_ptx: PtxVersion { major, minor } }
}
