//! The GPU's approximate functions, such as CUDA's `__sinf`: a few instructions each.
//!
//! These are the only explicit operations that follow a mode, as CUDA's do: where `ftz` holds, subnormal operands and
//! results are zeros. On the host std computes them, more accurately.

use core::f32::consts::{LN_2, LOG2_10, LOG2_E, LOG10_2};

#[cfg(not(target_arch = "nvptx64"))]
use super::exact::Form;

macro_rules! approx {
    ($($(#[$doc:meta])* $method:ident $symbol:literal |$value:ident $(, $operand:ident)*| $host:expr;)*) => {
        /// Approximations of single precision. Errors: CUDA C++ Programming Guide, "Intrinsic Functions".
        pub trait Approx: Copy + super::sealed::Sealed {
            $(
                $(#[$doc])*
                #[must_use]
                fn $method(self $(, $operand: Self)*) -> Self;
            )*

            /// CUDA's `__sincosf`.
            #[must_use]
            fn sin_cos_approx(self) -> (Self, Self);

            /// CUDA's `__tanf`: the sine divided by the cosine.
            #[must_use]
            fn tan_approx(self) -> Self;

            /// CUDA's `__expf`.
            #[must_use]
            fn exp_approx(self) -> Self;

            /// CUDA's `__exp10f`.
            #[must_use]
            fn exp10_approx(self) -> Self;

            /// CUDA's `__logf`.
            #[must_use]
            fn ln_approx(self) -> Self;

            /// CUDA's `__log10f`.
            #[must_use]
            fn log10_approx(self) -> Self;

            /// CUDA's `__powf`; NaN for a negative `self`.
            #[must_use]
            fn powf_approx(self, exponent: Self) -> Self;
        }

        impl Approx for f32 {
            $(
                #[inline(always)]
                fn $method(self $(, $operand: Self)*) -> Self {
                    instruction!($symbol, (self: f32 $(, $operand: f32)*) -> f32, {
                        let $value = self;
                        $host
                    })
                }
            )*

            #[inline(always)]
            fn sin_cos_approx(self) -> (Self, Self) {
                (self.sin_approx(), self.cos_approx())
            }

            #[inline(always)]
            fn tan_approx(self) -> Self {
                self.sin_approx().div_approx(self.cos_approx())
            }

            #[inline(always)]
            fn exp_approx(self) -> Self {
                (self * LOG2_E).exp2_approx()
            }

            #[inline(always)]
            fn exp10_approx(self) -> Self {
                (self * LOG2_10).exp2_approx()
            }

            #[inline(always)]
            fn ln_approx(self) -> Self {
                self.log2_approx() * LN_2
            }

            #[inline(always)]
            fn log10_approx(self) -> Self {
                self.log2_approx() * LOG10_2
            }

            #[inline(always)]
            fn powf_approx(self, exponent: Self) -> Self {
                (exponent * self.log2_approx()).exp2_approx()
            }
        }
    };
}

approx! {
    /// CUDA's `__sinf`.
    sin_approx "__ptx_sin.approx.mode.f32" |x| x.sin();
    /// CUDA's `__cosf`.
    cos_approx "__ptx_cos.approx.mode.f32" |x| x.cos();
    /// PTX `ex2.approx`, which is CUDA's `exp2f` too.
    exp2_approx "__ptx_ex2.approx.mode.f32" |x| x.exp2();
    /// CUDA's `__log2f`.
    log2_approx "__ptx_lg2.approx.mode.f32" |x| x.log2();
    /// CUDA's `__fdividef` (PTX `div.approx`): 0 if the magnitude of `divisor` is beyond 2^126.
    div_approx "__ptx_div.approx.mode.f32" |x, divisor| x / divisor;
    /// PTX `div.full`: within two units in the last place over the whole range.
    div_full "__ptx_div.full.mode.f32" |x, divisor| x / divisor;
    /// PTX `rcp.approx`: within one unit in the last place.
    rcp_approx "__ptx_rcp.approx.mode.f32" |x| x.recip();
    /// PTX `rsqrt.approx`, which is CUDA's `rsqrtf` too.
    rsqrt_approx "__ptx_rsqrt.approx.mode.f32" |x| x.sqrt().recip();
    /// PTX `sqrt.approx`.
    sqrt_approx "__ptx_sqrt.approx.mode.f32" |x| x.sqrt();
    /// CUDA's `__tanhf` (PTX `tanh.approx`), from sm_75. It keeps subnormal numbers in every mode.
    tanh_approx "__ptx_tanh.approx.f32" |x| x.tanh();
    /// CUDA's `__saturatef`: clamps to 0.0 to 1.0; NaN becomes 0.0.
    saturate "__ptx_cvt.mode.sat.f32.f32" |x| Form::SATURATE.result(x);
}

/// Approximations of double precision.
pub trait DoubleApprox: Copy + super::sealed::Sealed {
    /// PTX `rsqrt.approx.f64`, which is CUDA's `rsqrt` too.
    #[must_use]
    fn rsqrt_approx(self) -> Self;

    /// PTX `rsqrt.approx.ftz.f64`: computed from the upper 32 bits alone.
    #[must_use]
    fn rsqrt_approx_ftz(self) -> Self;

    /// PTX `rcp.approx.ftz.f64`: computed from the upper 32 bits alone.
    #[must_use]
    fn rcp_approx_ftz(self) -> Self;
}

impl DoubleApprox for f64 {
    #[inline(always)]
    fn rsqrt_approx(self) -> Self {
        instruction!("__ptx_rsqrt.approx.f64", (self: f64) -> f64, self.sqrt().recip())
    }

    #[inline(always)]
    fn rsqrt_approx_ftz(self) -> Self {
        instruction!("__ptx_rsqrt.approx.ftz.f64", (self: f64) -> f64, self.sqrt().recip())
    }

    #[inline(always)]
    fn rcp_approx_ftz(self) -> Self {
        instruction!("__ptx_rcp.approx.ftz.f64", (self: f64) -> f64, self.recip())
    }
}
