//! The sets of modes that are compared, as options of ours, as options of nvcc, and as the attribute's arguments.

/// A set of modes.
pub struct Set {
    /// In tests' names and in kernels'.
    pub name: &'static str,
    /// Options of our linker.
    pub ours: &'static [&'static str],
    /// nvcc's.
    pub nvcc: &'static [&'static str],
    /// What stands in `#[ptx::float(..)]`.
    pub attribute: &'static str,
}

/// Every mode on and off, and together with others that it bears on.
pub const SETS: &[Set] = &[Set { name: "default", ours: &[], nvcc: &[], attribute: "" }];
