//! The functions of floats that `std` adds and that also work in constants; [`ptx::math::Math`] has all others.

/// As `std` has them: methods of the type, which win over those of a trait.
macro_rules! constant_functions {
    ($($float:ident: $floor:ident $ceil:ident $round:ident $ties_even:ident $trunc:ident $fma:ident;)*) => { $(
        impl $float {
            #[doc = "The largest integer that is not larger."]
            #[rustc_allow_incoherent_impl]
            pub const fn floor(self) -> Self {
                core::intrinsics::$floor(self)
            }
            #[doc = "The smallest integer that is not smaller."]
            #[rustc_allow_incoherent_impl]
            pub const fn ceil(self) -> Self {
                core::intrinsics::$ceil(self)
            }
            #[doc = "The nearest integer; away from zero if there are two."]
            #[rustc_allow_incoherent_impl]
            pub const fn round(self) -> Self {
                core::intrinsics::$round(self)
            }
            #[doc = "The nearest integer; the even one if there are two."]
            #[rustc_allow_incoherent_impl]
            pub const fn round_ties_even(self) -> Self {
                core::intrinsics::$ties_even(self)
            }
            #[doc = "The integer towards zero."]
            #[rustc_allow_incoherent_impl]
            pub const fn trunc(self) -> Self {
                core::intrinsics::$trunc(self)
            }
            #[doc = "What `trunc` takes off."]
            #[rustc_allow_incoherent_impl]
            pub const fn fract(self) -> Self {
                self - core::intrinsics::$trunc(self)
            }
            #[doc = "`self * a + b`, rounded once."]
            #[rustc_allow_incoherent_impl]
            pub const fn mul_add(self, a: Self, b: Self) -> Self {
                core::intrinsics::$fma(self, a, b)
            }
        }
    )* };
}

constant_functions! {
    f32: floorf32 ceilf32 roundf32 round_ties_even_f32 truncf32 fmaf32;
    f64: floorf64 ceilf64 roundf64 round_ties_even_f64 truncf64 fmaf64;
}
