//! Rounding to the 19 bits that tensor cores read of an `f32`: `tf32`, with 10 bits of fraction.

#[cfg(not(target_arch = "nvptx64"))]
use super::exact::{self, Form, Round, TensorFloat};

/// What a NaN becomes as a number would: the GPU's own NaN.
#[cfg(not(target_arch = "nvptx64"))]
fn usual(nan: f32, number: impl Fn(f32) -> u32) -> u32 {
    number(nan)
}

/// A NaN whose bits stay, without the lower 13.
#[cfg(not(target_arch = "nvptx64"))]
fn cut(nan: f32, _: impl Fn(f32) -> u32) -> u32 {
    nan.to_bits() & !0x1fff
}

macro_rules! tensor {
    ($($(#[$doc:meta])* $method:ident $symbol:literal $round:ident $form:ident $nan:ident;)*) => {
        /// Rounding to `tf32`, as an `f32`. Tensor cores do not look at its lower 13 bits; on the host these are zero.
        pub trait TensorRounding: Copy + super::sealed::Sealed {
            $(
                $(#[$doc])*
                #[must_use]
                fn $method(self) -> f32;
            )*
        }

        impl TensorRounding for f32 {
            $(
                #[inline(always)]
                fn $method(self) -> f32 {
                    f32::from_bits(instruction!($symbol, (self: f32) -> u32, {
                        let number = |value| Form::$form.result(exact::convert::<_, TensorFloat>(value, Round::$round)).0;
                        if self.is_nan() { $nan(self, number) } else { number(self) }
                    }))
                }
            )*
        }
    };
}

tensor! {
    /// To nearest, ties away from zero: CUDA's `__float_to_tf32`. From sm_80.
    ///
    /// The bits of a NaN that tensor cores look at stay as they are: a NaN whose payload is only in the lower 13 bits
    /// is infinity to them (measured on an H200).
    to_tf32_rna "__ptx_cvt.rna.tf32.f32" Away PLAIN cut;
    /// As `to_tf32_rna`, but numbers beyond the largest become that number. From sm_80.
    to_tf32_rna_satfinite "__ptx_cvt.rna.satfinite.tf32.f32" Away FINITE usual;
    /// To nearest, ties to even. From sm_90.
    to_tf32_rn "__ptx_cvt.rn.tf32.f32" Nearest PLAIN usual;
    /// Towards zero. From sm_90.
    to_tf32_rz "__ptx_cvt.rz.tf32.f32" Zero PLAIN usual;
    /// To nearest, ties to even; a negative result is zero. From sm_90.
    to_tf32_rn_relu "__ptx_cvt.rn.relu.tf32.f32" Nearest RELU usual;
    /// Towards zero; a negative result is zero. From sm_90.
    to_tf32_rz_relu "__ptx_cvt.rz.relu.tf32.f32" Zero RELU usual;
}
