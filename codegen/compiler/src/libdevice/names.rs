//! The functions of the maths library as data: C's name, signature, and who computes it.
//!
//! libdevice has `__nv_sin` for C's `sin` and `__nv_sinf` for `sinf`, and so on throughout.

/// Single or double precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    /// `f32`
    Single,
    /// `f64`
    Double,
}

impl Width {
    /// The end of an LLVM intrinsic's name.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Single => "f32",
            Self::Double => "f64",
        }
    }
}

/// Who computes a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// libdevice's function of that name.
    Libdevice(&'static str),
    /// The same, and where single precision is to be fast (nvcc's `--use_fast_math`) its `__nv_fast_` twin.
    Twin(&'static str),
    /// An LLVM intrinsic that NVPTX has instructions for, or expands to a few, with an exact result.
    Llvm(&'static str),
    /// IR of ours around libdevice's function: see `adapters`.
    Ours,
}

/// A function of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// C's name in double precision.
    pub stem: &'static str,
    /// Parameters, a colon, the result: `x` is the float, `i` an `i32`, `l` an `i64`, `p` a pointer, `v` nothing.
    pub shape: &'static str,
    /// Who computes it.
    pub by: By,
}

impl Function {
    /// C's name.
    pub fn c_name(&self, width: Width) -> String {
        match (width, self.stem) {
            (Width::Double, stem) => stem.into(),
            (Width::Single, "lgamma_r") => "lgammaf_r".into(),
            (Width::Single, stem) => format!("{stem}f"),
        }
    }

    /// The letters of the parameters, and that of the result.
    pub fn parts(&self) -> (&'static str, char) {
        let (params, result) = self.shape.split_once(':').unwrap_or((self.shape, "v"));
        (params, result.chars().next().unwrap_or('v'))
    }
}

const fn same(stem: &'static str, shape: &'static str) -> Function {
    Function { stem, shape, by: By::Libdevice(stem) }
}

const fn twin(stem: &'static str, shape: &'static str) -> Function {
    Function { stem, shape, by: By::Twin(stem) }
}

const fn llvm(stem: &'static str, shape: &'static str, intrinsic: &'static str) -> Function {
    Function { stem, shape, by: By::Llvm(intrinsic) }
}

const fn ours(stem: &'static str, shape: &'static str) -> Function {
    Function { stem, shape, by: By::Ours }
}

/// Every function. The twins are those of `nvcc --use_fast_math` (CUDA C++ Programming Guide, "Intrinsic Functions", and
/// the names beside `__CUDA_USE_FAST_MATH` in nvcc's own bitcode).
pub const FUNCTIONS: &[Function] = &[
    twin("sin", "x:x"),
    twin("cos", "x:x"),
    twin("tan", "x:x"),
    twin("sincos", "xpp:v"),
    twin("exp", "x:x"),
    twin("exp10", "x:x"),
    twin("log", "x:x"),
    twin("log2", "x:x"),
    twin("log10", "x:x"),
    twin("pow", "xx:x"),
    twin("tanh", "x:x"),
    same("asin", "x:x"),
    same("acos", "x:x"),
    same("atan", "x:x"),
    same("atan2", "xx:x"),
    same("sinh", "x:x"),
    same("cosh", "x:x"),
    same("asinh", "x:x"),
    same("acosh", "x:x"),
    same("atanh", "x:x"),
    same("sinpi", "x:x"),
    same("cospi", "x:x"),
    same("sincospi", "xpp:v"),
    same("exp2", "x:x"),
    same("expm1", "x:x"),
    same("log1p", "x:x"),
    same("logb", "x:x"),
    same("ilogb", "x:i"),
    same("powi", "xi:x"),
    same("cbrt", "x:x"),
    same("rcbrt", "x:x"),
    same("rsqrt", "x:x"),
    same("hypot", "xx:x"),
    same("rhypot", "xx:x"),
    same("norm3d", "xxx:x"),
    same("rnorm3d", "xxx:x"),
    same("norm4d", "xxxx:x"),
    same("rnorm4d", "xxxx:x"),
    same("norm", "ip:x"),
    same("rnorm", "ip:x"),
    same("erf", "x:x"),
    same("erfc", "x:x"),
    same("erfcx", "x:x"),
    same("erfinv", "x:x"),
    same("erfcinv", "x:x"),
    same("normcdf", "x:x"),
    same("normcdfinv", "x:x"),
    same("tgamma", "x:x"),
    same("lgamma", "x:x"),
    ours("lgamma_r", "xp:x"),
    same("j0", "x:x"),
    same("j1", "x:x"),
    same("jn", "ix:x"),
    same("y0", "x:x"),
    same("y1", "x:x"),
    same("yn", "ix:x"),
    same("cyl_bessel_i0", "x:x"),
    same("cyl_bessel_i1", "x:x"),
    same("fdim", "xx:x"),
    same("fmod", "xx:x"),
    same("remainder", "xx:x"),
    same("remquo", "xxp:x"),
    same("frexp", "xp:x"),
    same("modf", "xp:x"),
    same("ldexp", "xi:x"),
    same("scalbn", "xi:x"),
    ours("scalbln", "xl:x"),
    same("nextafter", "xx:x"),
    same("llround", "x:l"),
    same("llrint", "x:l"),
    // C's `long` has 64 bits where CUDA's host is Linux.
    Function { stem: "lround", shape: "x:l", by: By::Libdevice("llround") },
    Function { stem: "lrint", shape: "x:l", by: By::Libdevice("llrint") },
    llvm("sqrt", "x:x", "llvm.sqrt"),
    llvm("fabs", "x:x", "llvm.fabs"),
    llvm("copysign", "xx:x", "llvm.copysign"),
    llvm("fma", "xxx:x", "llvm.fma"),
    llvm("fmin", "xx:x", "llvm.minnum"),
    llvm("fmax", "xx:x", "llvm.maxnum"),
    llvm("floor", "x:x", "llvm.floor"),
    llvm("ceil", "x:x", "llvm.ceil"),
    llvm("trunc", "x:x", "llvm.trunc"),
    llvm("rint", "x:x", "llvm.rint"),
    llvm("nearbyint", "x:x", "llvm.nearbyint"),
    llvm("round", "x:x", "llvm.round"),
    llvm("roundeven", "x:x", "llvm.roundeven"),
    // No name of C's: NVPTX has it for scalars only, and not for `bf16`.
    llvm("__canonicalize", "x:x", "llvm.canonicalize"),
];

/// The function of C's name, and its precision.
pub fn of_c(name: &str) -> Option<(&'static Function, Width)> {
    [Width::Double, Width::Single]
        .into_iter()
        .find_map(|width| Some((FUNCTIONS.iter().find(|function| function.c_name(width) == name)?, width)))
}

/// The function whose part of libdevice has this name without `__nv_`; libdevice's own and no others.
pub fn of_libdevice(name: &str) -> Option<(&'static Function, Width)> {
    of_c(name)
        .filter(|(function, _)| matches!(function.by, By::Libdevice(stem) | By::Twin(stem) if stem == function.stem))
}

/// LLVM's intrinsics that NVPTX cannot select or computes less well than libdevice, without the type at the end, and the
/// function that each is.
pub const INTRINSICS: &[(&str, &str)] = &[
    ("llvm.sin", "sin"),
    ("llvm.cos", "cos"),
    ("llvm.tan", "tan"),
    ("llvm.sincos", "sincos"),
    ("llvm.sincospi", "sincospi"),
    ("llvm.asin", "asin"),
    ("llvm.acos", "acos"),
    ("llvm.atan", "atan"),
    ("llvm.atan2", "atan2"),
    ("llvm.sinh", "sinh"),
    ("llvm.cosh", "cosh"),
    ("llvm.tanh", "tanh"),
    ("llvm.exp", "exp"),
    ("llvm.exp2", "exp2"),
    ("llvm.exp10", "exp10"),
    ("llvm.log", "log"),
    ("llvm.log2", "log2"),
    ("llvm.log10", "log10"),
    ("llvm.pow", "pow"),
    ("llvm.powi", "powi"),
    ("llvm.ldexp", "ldexp"),
    ("llvm.frexp", "frexp"),
    ("llvm.modf", "modf"),
    ("llvm.lround", "llround"),
    ("llvm.llround", "llround"),
    ("llvm.lrint", "llrint"),
    ("llvm.llrint", "llrint"),
    ("llvm.canonicalize", "__canonicalize"),
];

/// The function that an intrinsic is, by the intrinsic's whole name.
pub fn of_intrinsic(name: &str) -> Option<&'static Function> {
    let (_, stem) = INTRINSICS
        .iter()
        .find(|(intrinsic, _)| name.strip_prefix(intrinsic).is_some_and(|rest| rest.starts_with('.')))?;
    FUNCTIONS.iter().find(|function| function.stem == *stem)
}

/// The function that one of the crate `libm` is, by its path, such as `libm::math::sinf::sinf`.
///
/// Those that work on bits alone (`fminimum`, `fmaximum_num` and the like) have no counterpart in libdevice and stay; so
/// does what is generic or `libm`'s own (`libm::math::generic::…`, `k_sinf`).
pub fn of_libm(path: &str) -> Option<(&'static Function, Width)> {
    let path = path.strip_prefix("libm::")?;
    let path = path.strip_prefix("math::").unwrap_or(path);
    let name = match path.split("::").collect::<Vec<_>>()[..] {
        [name] => name,
        [module, name] if !["generic", "support", "arch"].contains(&module) => name,
        _ => return None,
    };
    of_c(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_find_their_functions() {
        let name = |found: Option<(&Function, Width)>| found.map(|(function, width)| (function.stem, width));
        assert_eq!(name(of_c("sinf")), Some(("sin", Width::Single)));
        assert_eq!(name(of_c("erf")), Some(("erf", Width::Double)));
        assert_eq!(name(of_c("modff")), Some(("modf", Width::Single)));
        assert_eq!(name(of_c("lgammaf_r")), Some(("lgamma_r", Width::Single)));
        assert_eq!(name(of_c("sinl")), None);
        assert_eq!(name(of_libdevice("lround")), None);
        assert_eq!(name(of_libm("libm::math::j0f::y0f")), Some(("y0", Width::Single)));
        assert_eq!(name(of_libm("libm::fma")), Some(("fma", Width::Double)));
        assert_eq!(name(of_libm("libm::math::generic::fma")), None);
        assert_eq!(name(of_libm("mylibm::math::fma")), None);
        assert_eq!(of_intrinsic("llvm.exp2.v4f16").map(|f| f.stem), Some("exp2"));
        assert_eq!(of_intrinsic("llvm.experimental.x").map(|f| f.stem), None);
    }

    #[test]
    fn every_intrinsic_is_llvms_and_every_function_stands_once() {
        for (intrinsic, stem) in INTRINSICS {
            assert!(crate::llvm::Intrinsic::find(intrinsic).is_some(), "{intrinsic}");
            assert!(FUNCTIONS.iter().any(|function| function.stem == *stem), "{stem}");
        }
        let mut stems: Vec<_> = FUNCTIONS.iter().map(|function| function.stem).collect();
        stems.sort_unstable();
        assert!(stems.windows(2).all(|pair| pair[0] != pair[1]), "{stems:?}");
    }
}
