//! The mathematical library: the arithmetic of every function, by both compilers, under every set of modes of the device tests.

use std::fmt::Write as _;

use libtest_mimic::Trial;

use crate::compare::with_nvcc;
use crate::compile::{self, Crate};
use crate::shapes::{self, Shapes};

#[path = "../float_kernels/src/list.rs"]
#[macro_use]
mod list;

/// A function: kernel, CUDA's name in double precision, its arguments in C, the parameters, and the same in Rust.
type Function = (&'static str, &'static str, &'static str, &'static [&'static str], &'static str);

macro_rules! functions {
    ($($kernel:ident $cuda:literal $arguments:literal |$($x:ident),*| $body:expr;)*) => {
        const FUNCTIONS: &[Function] = &[
            $((stringify!($kernel), $cuda, $arguments, &[$(stringify!($x)),*], stringify!($body))),*
        ];
    };
}
for_each_function!(functions);

/// A precision: its type in Rust and in CUDA C++, what ends CUDA's names, and sets of modes with our options and nvcc's.
struct Precision {
    rust: &'static str,
    cuda: &'static str,
    suffix: &'static str,
    modes: &'static [(&'static str, &'static [&'static str], &'static [&'static str])],
}

const PRECISIONS: [Precision; 2] = [
    Precision {
        rust: "f32",
        cuda: "float",
        suffix: "f",
        modes: &[
            ("default", &[], &[]),
            ("ftz", &["--ftz=true"], &["-ftz=true"]),
            ("fast", &["--use-fast-math"], &["-use_fast_math"]),
            ("approximate", &["--prec-div=false", "--prec-sqrt=false"], &["-prec-div=false", "-prec-sqrt=false"]),
            ("unfused", &["--fmad=false"], &["-fmad=false"]),
        ],
    },
    Precision {
        rust: "f64",
        cuda: "double",
        suffix: "",
        modes: &[
            ("default", &[], &[]),
            ("fast", &["--use-fast-math"], &["-use_fast_math"]),
            ("unfused", &["--fmad=false"], &["-fmad=false"]),
        ],
    },
];

impl Precision {
    fn rust_source(&self) -> String {
        let mut text =
            format!("#![no_std]\nuse ptx::math::Math;\nuse ptx::prelude::*;\ntype Number = {};\n", self.rust);
        for (kernel, _, _, parameters, body) in FUNCTIONS {
            let parameters: String = parameters.iter().map(|x| format!(", {x}: Number")).collect();
            let _ = writeln!(
                text,
                "#[kernel]\npub unsafe fn {kernel}(out: *mut Number{parameters}) {{\n    unsafe {{ *out = {body}; }}\n}}"
            );
        }
        text
    }

    fn cuda_source(&self) -> String {
        let Self { cuda: ty, suffix, .. } = self;
        let header = concat!(env!("CARGO_MANIFEST_DIR"), "/float_kernels/cuda/judge.cuh");
        let mut text = format!("#include {header:?}\n");
        for (kernel, cuda, arguments, parameters, _) in FUNCTIONS {
            let parameters: String = parameters.iter().map(|x| format!(", {ty} {x}")).collect();
            let _ = writeln!(
                text,
                "extern \"C\" __global__ void {kernel}({ty} *out{parameters}) {{ *out = {cuda}{suffix}({arguments}); }}"
            );
        }
        text
    }

    /// Ours and nvcc's, for every set of modes.
    fn compile(&self) -> Result<Vec<[Shapes; 2]>, String> {
        let name = format!("library_{}", self.rust);
        let krate = Crate::new(&name, &self.rust_source())?;
        let cuda = self.cuda_source();
        let both = |(set, ours, nvcc): &(&str, &[&str], &[&str])| {
            let ours = shapes::of_ptx(&krate.link(set, ours)?);
            let nvcc = shapes::of_ptx(&compile::nvcc(&format!("{name}_{set}"), &cuda, nvcc)?);
            Ok([ours, nvcc])
        };
        self.modes.iter().map(both).collect()
    }
}
pub fn trials() -> Vec<Trial> {
    vec![with_nvcc("library scan", || {
        for p in &PRECISIONS {
            let c = p.compile().unwrap_or_else(|e| panic!("{e}"));
            for ((set, ..), [ours, nvcc]) in p.modes.iter().zip(&c) {
                for (kernel, ..) in FUNCTIONS {
                    let (a, b) = (&ours[*kernel], &nvcc[*kernel]);
                    if a != b {
                        println!(
                            "{} {set} {kernel}: ours {:?} nvcc {:?}",
                            p.rust,
                            a.difference(b).collect::<Vec<_>>(),
                            b.difference(a).collect::<Vec<_>>()
                        );
                    }
                }
            }
        }
    })]
}
