//! Floating-point modes with nvcc's names, meaning and defaults, and how `#[ptx::float]` hands them to the compiler.
//!
//! Floating Point and IEEE 754 12.8, §3.3, §3.4; CUDA Compiler Driver NVCC, "Options for Steering GPU Code Generation".

/// The function that a function with modes of its own calls first, with [`Overrides::encode`] as its only argument. The
/// compiler takes the call away.
pub const MARKER: &str = "__ptx_float_modes";

/// Which rules hold for floating-point arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Modes {
    /// A multiplication and an addition may become one fused multiply-add. Single, half and double precision.
    pub fmad: bool,
    /// Subnormal numbers are zero, as operands and as results. Single precision only.
    pub ftz: bool,
    /// Divisions and reciprocals are correctly rounded. Single precision only.
    pub prec_div: bool,
    /// Square roots are correctly rounded. Single precision only.
    pub prec_sqrt: bool,
    /// `sin`, `cos`, `tan`, `exp`, `log`, `powf` and kin are the fast approximations. Single precision only.
    pub fast_functions: bool,
}

impl Modes {
    /// nvcc's without options.
    pub const DEFAULT: Self = Self { fmad: true, ftz: false, prec_div: true, prec_sqrt: true, fast_functions: false };

    /// nvcc's with `--use_fast_math`.
    pub const FAST_MATH: Self = Self { fmad: true, ftz: true, prec_div: false, prec_sqrt: false, fast_functions: true };
}

impl Default for Modes {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The modes that someone named: the rest is as it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Overrides {
    /// See [`Modes::fmad`].
    pub fmad: Option<bool>,
    /// See [`Modes::ftz`].
    pub ftz: Option<bool>,
    /// See [`Modes::prec_div`].
    pub prec_div: Option<bool>,
    /// See [`Modes::prec_sqrt`].
    pub prec_sqrt: Option<bool>,
    /// `true` is [`Modes::FAST_MATH`]; `false` takes that back, all but `fmad`.
    pub use_fast_math: Option<bool>,
}

impl Overrides {
    /// Two bits a mode: whether it is named, and its value.
    #[must_use]
    pub const fn encode(self) -> u32 {
        const fn bits(value: Option<bool>) -> u32 {
            match value {
                None => 0,
                Some(false) => 0b01,
                Some(true) => 0b11,
            }
        }
        bits(self.fmad)
            | bits(self.ftz) << 2
            | bits(self.prec_div) << 4
            | bits(self.prec_sqrt) << 6
            | bits(self.use_fast_math) << 8
    }

    /// Nothing if the bits are not those of [`Overrides::encode`].
    #[must_use]
    pub const fn decode(bits: u32) -> Option<Self> {
        const fn value(bits: u32) -> Option<bool> {
            match bits & 0b11 {
                0b01 => Some(false),
                0b11 => Some(true),
                _ => None,
            }
        }
        let read = Self {
            fmad: value(bits),
            ftz: value(bits >> 2),
            prec_div: value(bits >> 4),
            prec_sqrt: value(bits >> 6),
            use_fast_math: value(bits >> 8),
        };
        if read.encode() == bits { Some(read) } else { None }
    }

    /// A mode that `use_fast_math = true` sets otherwise than it is named here: its name and its value there.
    #[must_use]
    pub const fn contradiction(self) -> Option<(&'static str, bool)> {
        if !matches!(self.use_fast_math, Some(true)) {
            return None;
        }
        match self {
            Self { fmad: Some(false), .. } => Some(("fmad", true)),
            Self { ftz: Some(false), .. } => Some(("ftz", true)),
            Self { prec_div: Some(true), .. } => Some(("prec_div", false)),
            Self { prec_sqrt: Some(true), .. } => Some(("prec_sqrt", false)),
            _ => None,
        }
    }

    /// `modes` with what is named here.
    #[must_use]
    pub fn apply(self, modes: Modes) -> Modes {
        let base = match self.use_fast_math {
            None => modes,
            Some(true) => Modes::FAST_MATH,
            Some(false) => Modes { fmad: modes.fmad, ..Modes::DEFAULT },
        };
        Modes {
            fmad: self.fmad.unwrap_or(base.fmad),
            ftz: self.ftz.unwrap_or(base.ftz),
            prec_div: self.prec_div.unwrap_or(base.prec_div),
            prec_sqrt: self.prec_sqrt.unwrap_or(base.prec_sqrt),
            fast_functions: base.fast_functions,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = Overrides> {
        (0..1 << 10).filter_map(Overrides::decode)
    }

    #[test]
    fn every_combination_survives_its_encoding() {
        assert_eq!(all().count(), 3_usize.pow(5));
        assert!(all().all(|modes| Overrides::decode(modes.encode()) == Some(modes)));
        assert_eq!(Overrides::decode(0b10), None);
        assert_eq!(Overrides::decode(1 << 10), None);
    }

    #[test]
    fn what_is_named_holds_unless_it_contradicts() {
        for modes in all().filter(|modes| modes.contradiction().is_none()) {
            let applied = modes.apply(Modes::DEFAULT);
            assert_eq!(modes.ftz.unwrap_or(applied.ftz), applied.ftz);
            assert_eq!(applied.fast_functions, modes.use_fast_math == Some(true));
        }
        let fast = Overrides { use_fast_math: Some(true), ..Overrides::default() };
        assert_eq!(fast.apply(Modes::DEFAULT), Modes::FAST_MATH);
        let off = Overrides { use_fast_math: Some(false), ..Overrides::default() };
        assert_eq!(off.apply(Modes::FAST_MATH), Modes::DEFAULT);
        assert_eq!(Overrides { ftz: Some(false), ..fast }.contradiction(), Some(("ftz", true)));
    }
}
