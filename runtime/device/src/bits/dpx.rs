//! Sums and extremes in one: CUDA's DPX functions on 32 bits, under CUDA's names without the underscores.
//!
//! From sm_90 on, ptxas makes one instruction of a sum and an extreme, or of two extremes; before, two.

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($($operand:ident),*) $ty:ident = $value:expr;)*) => {$(
        $(#[$doc])*
        #[doc = concat!("\n\nCUDA's `__", stringify!($name), "`.")]
        #[inline(always)]
        #[must_use]
        pub fn $name($($operand: $ty),*) -> $ty {
            $value
        }
    )*};
}

functions! {
    /// The larger of `a + b`, which wraps, and `c`.
    viaddmax_s32(a, b, c) i32 = a.wrapping_add(b).max(c);
    /// The larger of `a + b`, which wraps, and `c`.
    viaddmax_u32(a, b, c) u32 = a.wrapping_add(b).max(c);
    /// The largest of `a + b`, which wraps, `c` and 0.
    viaddmax_s32_relu(a, b, c) i32 = a.wrapping_add(b).max(c).max(0);
    /// The smaller of `a + b`, which wraps, and `c`.
    viaddmin_s32(a, b, c) i32 = a.wrapping_add(b).min(c);
    /// The smaller of `a + b`, which wraps, and `c`.
    viaddmin_u32(a, b, c) u32 = a.wrapping_add(b).min(c);
    /// The smaller of `a + b`, which wraps, and `c`, but at least 0.
    viaddmin_s32_relu(a, b, c) i32 = a.wrapping_add(b).min(c).max(0);
    /// The largest of three.
    vimax3_s32(a, b, c) i32 = a.max(b).max(c);
    /// The largest of three.
    vimax3_u32(a, b, c) u32 = a.max(b).max(c);
    /// The largest of three and 0.
    vimax3_s32_relu(a, b, c) i32 = a.max(b).max(c).max(0);
    /// The smallest of three.
    vimin3_s32(a, b, c) i32 = a.min(b).min(c);
    /// The smallest of three.
    vimin3_u32(a, b, c) u32 = a.min(b).min(c);
    /// The smallest of three, but at least 0.
    vimin3_s32_relu(a, b, c) i32 = a.min(b).min(c).max(0);
    /// The larger of two, but at least 0.
    vimax_s32_relu(a, b) i32 = a.max(b).max(0);
    /// The smaller of two, but at least 0.
    vimin_s32_relu(a, b) i32 = a.min(b).max(0);
}

macro_rules! which {
    ($($(#[$doc:meta])* $name:ident $ty:ident $compare:tt;)*) => {$(
        $(#[$doc])*
        #[doc = concat!("\n\nCUDA's `__", stringify!($name), "`.")]
        #[inline(always)]
        #[must_use]
        pub fn $name(a: $ty, b: $ty) -> ($ty, bool) {
            let is_first = a $compare b;
            (if is_first { a } else { b }, is_first)
        }
    )*};
}

which! {
    /// The larger of two, and whether that is `a`.
    vibmax_s32 i32 >=;
    /// The larger of two, and whether that is `a`.
    vibmax_u32 u32 >=;
    /// The smaller of two, and whether that is `a`.
    vibmin_s32 i32 <=;
    /// The smaller of two, and whether that is `a`.
    vibmin_u32 u32 <=;
}
