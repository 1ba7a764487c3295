//! The mathematical library: the arithmetic of every function, by both compilers, under every set of modes of the device tests.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::OnceLock;

use libtest_mimic::Trial;

use crate::compile::{self, Crate};
use crate::compiled::with_nvcc;
use crate::shapes::{self, Shapes};

#[path = "../../kernels/float/src/list.rs"]
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
        let header = concat!(env!("CARGO_MANIFEST_DIR"), "/../kernels/float/cuda/judge.cuh");
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

    /// Compiled once.
    fn compiled(&self) -> &'static [[Shapes; 2]] {
        static COMPILED: [OnceLock<Result<Vec<[Shapes; 2]>, String>>; 2] = [const { OnceLock::new() }; 2];
        let index = PRECISIONS.iter().position(|other| other.rust == self.rust).expect("it is one of them");
        COMPILED[index].get_or_init(|| self.compile()).as_ref().unwrap_or_else(|error| panic!("{error}"))
    }

    /// What only ours has and what only nvcc's has, by the sets of modes where they differ.
    fn differences(&self, kernel: &str) -> Vec<(&'static str, [Vec<String>; 2])> {
        let plain = |shape: &String| shape.replace(".ftz", "").replace(".rn.", ".");
        let differ = |((set, ..), [ours, nvcc]): (&(&'static str, _, _), &[Shapes; 2])| {
            let of = |all: &Shapes| {
                let found = all.get(kernel).unwrap_or_else(|| panic!("no kernel {kernel}"));
                found.iter().map(plain).collect::<BTreeSet<_>>()
            };
            let (ours, nvcc) = (of(ours), of(nvcc));
            let more = |these: &BTreeSet<String>, those: &BTreeSet<String>| -> Vec<String> {
                these.difference(those).cloned().collect()
            };
            (*set, [more(&ours, &nvcc), more(&nvcc, &ours)])
        };
        let all = self.modes.iter().zip(self.compiled()).map(differ);
        all.filter(|(_, [ours, nvcc])| !(ours.is_empty() && nvcc.is_empty())).collect()
    }
}

/// A difference that is right, in these kernels of one precision.
struct Known {
    precision: &'static str,
    kernels: &'static [&'static str],
    ours: &'static [&'static str],
    nvcc: &'static [&'static str],
    reason: &'static str,
}

impl Known {
    fn explains(&self, precision: &Precision, kernel: &str, [ours, nvcc]: &[Vec<String>; 2]) -> bool {
        self.precision == precision.rust && self.kernels.contains(&kernel) && ours == self.ours && nvcc == self.nvcc
    }
}

/// All that are known. Their results have nvcc's bits on a GPU, see docs/src/float/accuracy.md.
const KNOWN: &[Known] = &[
    Known {
        precision: "f32",
        kernels: &["k_sin", "k_cos", "k_j0", "k_j1", "k_y0", "k_y1", "k_jn", "k_yn"],
        ours: &["add.f32(0, fma)"],
        nvcc: &["add.f32(0, value)"],
        reason: "nvcc negates after paths have met, where a value is no operation's any more; ours before",
    },
    Known {
        precision: "f32",
        kernels: &["k_atan"],
        ours: &["fma.f32(3f6ee581, 3fd774eb, fma)"],
        nvcc: &["fma.f32(3f6ee581, 3fd774eb, value)"],
        reason: "the same of a negation",
    },
    Known {
        precision: "f32",
        kernels: &["k_atan2"],
        ours: &["fma.f32(3f6ee581, 3fd774eb, fma)", "fma.f32(3fd774eb, 3feee581, fma)"],
        nvcc: &["fma.f32(3f6ee581, 3fd774eb, value)", "fma.f32(3fd774eb, 3feee581, value)"],
        reason: "the same of a negation",
    },
    Known {
        precision: "f32",
        kernels: &["k_expm1", "k_cyl_bessel_i0", "k_cyl_bessel_i1"],
        ours: &[],
        nvcc: &["add.f32(3f800000, value)"],
        reason: "x - 1 where x is known to be 128 is the constant 127 here",
    },
    Known {
        precision: "f32",
        kernels: &["k_tgamma"],
        ours: &["add.f32(42400000, add)"],
        nvcc: &["fma.f32(fma, value, value)"],
        reason: "ours selects between paths that nvcc branches to, and each path's sum is there once",
    },
    Known {
        precision: "f32",
        kernels: &["k_lgamma"],
        ours: &["add.f32(0, fma)", "mul.f32(34000000, cvt)", "mul.f32(add, mul)"],
        nvcc: &["add.f32(0, value)", "mul.f32(add, value)"],
        reason: "a negation before paths meet, and a factor that nvcc multiplies after they met",
    },
    Known {
        precision: "f32",
        kernels: &["k_lgamma"],
        ours: &["add.f32(0, fma)", "mul.f32(34000000, cvt)"],
        nvcc: &["add.f32(0, value)"],
        reason: "the same with ftz",
    },
    Known {
        precision: "f32",
        kernels: &["k_pow"],
        ours: &["fma.f32(add, fma, 3f800000)"],
        nvcc: &["fma.f32(add, fma, value)"],
        reason: "nvcc takes the constant from a register that has two",
    },
    Known {
        precision: "f32",
        kernels: &["k_powi"],
        ours: &["mul.f32(3f800000, value)"],
        nvcc: &[],
        reason: "ours keeps the product by 1 that the loop of powers begins with, and which is exact",
    },
    Known {
        precision: "f32",
        kernels: &["k_fmod", "k_remainder", "k_remquo_remainder", "k_remquo_quotient"],
        ours: &["fma.f32(bits, mul, bits)", "fma.f32(fma, rcp, mul)"],
        nvcc: &["fma.f32(fma, rcp, fma)"],
        reason: "libdevice's fma(x, y, -0) is x * y here, and -x a change of bits",
    },
    Known {
        precision: "f64",
        kernels: &["k_tgamma"],
        ours: &["add.f64(3c46a4cb00b9e7b0, fma)"],
        nvcc: &["add.f64(0, fma)", "add.f64(3c46a4cb00b9e7b0, add)"],
        reason: "nvcc adds a zero, which ours leaves out",
    },
    Known {
        precision: "f64",
        kernels: &["k_tgamma"],
        ours: &[],
        nvcc: &["add.f64(0, add)"],
        reason: "the same without fmad",
    },
    Known {
        precision: "f64",
        kernels: &["k_jn", "k_yn"],
        ours: &["add.f64(4020000000000000, value)", "mul.f64(div, value)"],
        nvcc: &[],
        reason: "the recurrence's loop is unrolled by 8 here, and its counter, a whole number, steps by 8",
    },
];

/// A test for every function, and one for every difference.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for precision in &PRECISIONS {
        for (kernel, ..) in FUNCTIONS {
            trials.push(with_nvcc(format!("{kernel} of {} rounds what nvcc's does", precision.rust), move || {
                let found = precision.differences(kernel);
                let unexpected: Vec<_> = found
                    .iter()
                    .filter(|(_, difference)| !KNOWN.iter().any(|known| known.explains(precision, kernel, difference)))
                    .map(|(set, [ours, nvcc])| format!("  {set}: only ours has {ours:?}, only nvcc's {nvcc:?}"))
                    .collect();
                assert!(unexpected.is_empty(), "{}", unexpected.join("\n"));
            }));
        }
    }
    trials.extend(KNOWN.iter().enumerate().map(|(index, known)| {
        with_nvcc(format!("library's difference {index} is still there: {}", known.reason), move || {
            let precision = PRECISIONS.iter().find(|other| other.rust == known.precision).expect("a precision");
            for kernel in known.kernels {
                let found = precision.differences(kernel);
                let is_there = found.iter().any(|(_, difference)| known.explains(precision, kernel, difference));
                assert!(is_there, "{kernel} does not differ so any more: take it out of tests/suites/float/library.rs");
            }
        })
    }));
    trials
}
