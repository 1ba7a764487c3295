//! Compiles the kernels of floating point once for every set of modes, and their twins in CUDA C++ likewise.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use ptx_build::Builder;

#[path = "../../../kernels/float/src/list.rs"]
#[macro_use]
mod list;

/// A set of modes: its name, what it is for `Builder`, and nvcc's options for it.
type Variant = (&'static str, fn(Builder) -> Builder, &'static [&'static str]);

/// Of single precision.
const SINGLE: [Variant; 5] = [
    ("default", |builder| builder, &["-DACCURACY"]),
    ("ftz", |builder| builder.ftz(true), &["-ftz=true"]),
    ("fast", |builder| builder.use_fast_math(true), &["-use_fast_math"]),
    ("approximate", |builder| builder.prec_div(false).prec_sqrt(false), &["-prec-div=false", "-prec-sqrt=false"]),
    ("unfused", |builder| builder.fmad(false), &["-fmad=false"]),
];

/// Of double precision, which the other modes do not touch.
const DOUBLE: [Variant; 3] = [
    ("default", |builder| builder, &[]),
    ("fast", |builder| builder.use_fast_math(true), &["-use_fast_math"]),
    ("unfused", |builder| builder.fmad(false), &["-fmad=false"]),
];

/// One function: kernel, CUDA's name in double precision, arguments in C, how many.
type Row = (&'static str, &'static str, &'static str, usize);

macro_rules! rows {
    ($($kernel:ident $cuda:literal $arguments:literal |$($argument:ident),*| $body:expr;)*) => {
        /// All functions.
        const ROWS: &[Row] = &[
            $((stringify!($kernel), $cuda, $arguments, [$(stringify!($argument)),*].len())),*
        ];
    };
}
for_each_function!(rows);

/// An approximate function: kernel, CUDA's name, the exact one's in double precision, arguments in C, how many.
type Approximation = (&'static str, &'static str, &'static str, &'static str, usize);

macro_rules! approximations {
    ($($kernel:ident $cuda:literal $exact:literal $arguments:literal |$($argument:ident),*| $body:expr;)*) => {
        const APPROXIMATIONS: &[Approximation] = &[
            $((stringify!($kernel), $cuda, $exact, $arguments, [$(stringify!($argument)),*].len())),*
        ];
    };
}
for_each_approximation!(approximations);

/// Compiles all; the twins where there is an nvcc.
pub fn build(nvcc: Option<&Path>) {
    let kernels = |name: &str| Builder::new().kernels("../../kernels/float").profile("release").name(name);
    for (name, modes, _) in SINGLE {
        modes(kernels(&format!("float_single_{name}")).features(["functions"])).build();
    }
    for (name, modes, _) in DOUBLE {
        modes(kernels(&format!("float_double_{name}")).features(["double"])).build();
    }
    kernels("float_unfused").fmad(false).build();
    kernels("float_explicit").build();
    kernels("float_explicit_fast").use_fast_math(true).build();

    let out_dir = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let mut rows = String::from("&[");
    for (kernel, cuda, _, count) in ROWS {
        let _ = write!(rows, "({kernel:?}, {cuda:?}, {count}), ");
    }
    std::fs::write(out_dir.join("functions.rs"), rows + "]").expect("our own folder");
    let mut rows = String::from("&[");
    for (kernel, cuda, exact, _, count) in APPROXIMATIONS {
        let _ = write!(rows, "({kernel:?}, {cuda:?}, {exact:?}, {count}), ");
    }
    std::fs::write(out_dir.join("approximations.rs"), rows + "]").expect("our own folder");
    if let Some(nvcc) = nvcc {
        twins(nvcc, &out_dir);
    }
}

fn twins(nvcc: &Path, out_dir: &Path) {
    println!("cargo::rerun-if-changed=../../kernels/float/cuda");
    let (mut single, mut double) = (String::new(), String::new());
    for (kernel, cuda, arguments, count) in ROWS {
        let last = count - 1;
        // What judges a float must not be rounded to the nearest double first.
        let exact = if *cuda == "fma" { "fma_to_odd" } else { cuda };
        let _ = writeln!(single, "SINGLE({kernel}, {last}, {cuda}f({arguments}), {exact}({arguments}))");
        let _ = writeln!(double, "DOUBLE({kernel}, {last}, {cuda}({arguments}))");
    }
    for (kernel, cuda, exact, arguments, count) in APPROXIMATIONS {
        let last = count - 1;
        let _ = writeln!(single, "SINGLE({kernel}, {last}, {cuda}({arguments}), {exact}({arguments}))");
    }
    for (name, variants, rows) in [("single", &SINGLE[..], single), ("double", &DOUBLE[..], double)] {
        std::fs::write(out_dir.join(format!("{name}.inc")), rows).expect("our own folder");
        let mut cubins = String::from("&[");
        std::thread::scope(|scope| {
            for (variant, _, flags) in variants {
                scope.spawn(move || {
                    let mut command = Command::new(nvcc);
                    // A function of fewer arguments leaves the macros' other variables unused.
                    command.args(["-cubin", "-arch=sm_90", "-diag-suppress=550", "-I"]).arg(out_dir).args(*flags);
                    command.arg("-o").arg(out_dir.join(format!("{name}_{variant}.cubin")));
                    let run = command.arg(format!("../../kernels/float/cuda/{name}.cu")).output().expect("nvcc starts");
                    assert!(run.status.success(), "{command:?}: {}", String::from_utf8_lossy(&run.stderr));
                });
            }
        });
        for (variant, ..) in variants {
            let cubin = out_dir.join(format!("{name}_{variant}.cubin"));
            let _ = write!(cubins, "({variant:?}, include_bytes!({:?}) as &[u8]), ", cubin.display().to_string());
        }
        std::fs::write(out_dir.join(format!("{name}_cubins.rs")), cubins + "]").expect("our own folder");
    }
}
