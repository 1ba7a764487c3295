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
pub const SETS: &[Set] = &[
    Set { name: "default", ours: &[], nvcc: &[], attribute: "" },
    Set { name: "fmad_off", ours: &["--fmad=false"], nvcc: &["-fmad=false"], attribute: "fmad = false" },
    Set { name: "ftz", ours: &["--ftz=true"], nvcc: &["-ftz=true"], attribute: "ftz = true" },
    Set {
        name: "prec_div_off",
        ours: &["--prec-div=false"],
        nvcc: &["-prec-div=false"],
        attribute: "prec_div = false",
    },
    Set {
        name: "prec_sqrt_off",
        ours: &["--prec-sqrt=false"],
        nvcc: &["-prec-sqrt=false"],
        attribute: "prec_sqrt = false",
    },
    Set { name: "fast_math", ours: &["--use-fast-math"], nvcc: &["-use_fast_math"], attribute: "use_fast_math" },
    Set {
        name: "everything_named",
        ours: &["--fmad=true", "--ftz=false", "--prec-div=true", "--prec-sqrt=true", "--use-fast-math=false"],
        nvcc: &["-fmad=true", "-ftz=false", "-prec-div=true", "-prec-sqrt=true"],
        attribute: "fmad = true, ftz = false, prec_div = true, prec_sqrt = true, use_fast_math = false",
    },
    Set {
        name: "ftz_fmad_off",
        ours: &["--ftz=true", "--fmad=false"],
        nvcc: &["-ftz=true", "-fmad=false"],
        attribute: "ftz = true, fmad = false",
    },
    Set {
        name: "ftz_prec_off",
        ours: &["--ftz=true", "--prec-div=false", "--prec-sqrt=false"],
        nvcc: &["-ftz=true", "-prec-div=false", "-prec-sqrt=false"],
        attribute: "ftz = true, prec_div = false, prec_sqrt = false",
    },
    Set {
        name: "all_off",
        ours: &["--fmad=false", "--prec-div=false", "--prec-sqrt=false"],
        nvcc: &["-fmad=false", "-prec-div=false", "-prec-sqrt=false"],
        attribute: "fmad = false, prec_div = false, prec_sqrt = false",
    },
];
