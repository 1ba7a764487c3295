//! Two or four numbers in a word: CUDA's SIMD intrinsics, under CUDA's names without the underscores.
//!
//! A name's ending gives the lanes: `2` for two halves of 16 bits, `4` for four bytes. `s` and `u` before it say whether
//! the numbers have a sign, `ss` and `us` that the result is clamped to their range. What is not clamped wraps.
//!
//! Since Kepler GPUs do most of these in a few ordinary instructions (PTX ISA, "Video Instructions"). What has one of its
//! own uses it: sums of halves from sm_90 on (`add.u16x2`), and absolute differences of bytes (`vabsdiff4`). Minima and
//! maxima of halves do not, because ptxas 13.0 confuses those of 16 bits.

use super::permute_signs;

/// Whether code for the GPU may use what came with this arch.
#[inline(always)]
fn has(number: u32) -> bool {
    #[cfg(target_arch = "nvptx64")]
    return crate::arch() >= number;
    #[cfg(not(target_arch = "nvptx64"))]
    {
        _ = number;
        false
    }
}

/// Returns what an instruction of sm_90 for two halves gives.
macro_rules! one_instruction {
    (16, $symbol:literal, $a:ident, $b:ident) => {
        if super::has(900) {
            return instruction!($symbol, ($a: u32, $b: u32) -> u32, $a | $b);
        }
    };
    (8, $symbol:literal, $a:ident, $b:ident) => {};
}

/// For four bytes what an instruction gives, whose third operand is 0; otherwise, and on the host, the last argument.
macro_rules! of_bytes {
    (8, $symbol:literal, $a:ident, $b:ident, $otherwise:expr) => {{
        let c = 0_u32;
        instruction!($symbol, ($a: u32, $b: u32, c: u32) -> u32, c + $otherwise)
    }};
    (16, $symbol:literal, $a:ident, $b:ident, $otherwise:expr) => {
        $otherwise
    };
}

macro_rules! lanes {
    ($($module:ident: $high:literal, $one:literal, $signs:literal, $bits:tt;)*) => {$(
        mod $module {
            use super::permute_signs;

            /// The highest bit of each lane, and the lowest.
            pub const HIGH: u32 = $high;
            pub const ONE: u32 = $one;

            /// Each lane all ones or zeros, by its highest bit.
            #[inline(always)]
            pub fn mask(value: u32) -> u32 {
                permute_signs(value, 0, $signs)
            }

            /// Each lane 1 or 0, by its highest bit.
            #[inline(always)]
            pub fn bit(value: u32) -> u32 {
                (value & HIGH) >> ($bits - 1)
            }

            #[inline(always)]
            pub fn add(a: u32, b: u32) -> u32 {
                one_instruction!($bits, "__ptx_add.u16x2", a, b);
                (a & !HIGH).wrapping_add(b & !HIGH) ^ (a ^ b) & HIGH
            }

            #[inline(always)]
            pub fn sub(a: u32, b: u32) -> u32 {
                (a | HIGH).wrapping_sub(b & !HIGH) ^ (a ^ !b) & HIGH
            }

            /// The highest bits say where `a` is larger: what `a + !b` carries into and out of them.
            #[inline(always)]
            pub fn above(a: u32, b: u32) -> u32 {
                let into = (a & !HIGH).wrapping_add(!b & !HIGH);
                a & !b | (a | !b) & into
            }

            /// The same for numbers with a sign.
            #[inline(always)]
            pub fn above_signed(a: u32, b: u32) -> u32 {
                let into = (a & !HIGH).wrapping_add(!b & !HIGH);
                !a & b | (!a | b) & into
            }

            /// The highest bits say where the lanes differ.
            #[inline(always)]
            pub fn unequal(a: u32, b: u32) -> u32 {
                let differing = a ^ b;
                (differing & !HIGH).wrapping_add(!HIGH) | differing
            }

            /// The mean, rounded down.
            #[inline(always)]
            pub fn half_down(a: u32, b: u32) -> u32 {
                (a & b).wrapping_add(((a ^ b) & !ONE) >> 1)
            }

            /// The mean, rounded up.
            #[inline(always)]
            pub fn half_up(a: u32, b: u32) -> u32 {
                (a | b).wrapping_sub(((a ^ b) & !ONE) >> 1)
            }

            #[inline(always)]
            pub fn max_u(a: u32, b: u32) -> u32 {
                choose(mask(above(a, b)), a, b)
            }

            #[inline(always)]
            pub fn min_u(a: u32, b: u32) -> u32 {
                choose(mask(above(a, b)), b, a)
            }

            #[inline(always)]
            pub fn max_s(a: u32, b: u32) -> u32 {
                choose(mask(above_signed(a, b)), a, b)
            }

            #[inline(always)]
            pub fn min_s(a: u32, b: u32) -> u32 {
                choose(mask(above_signed(a, b)), b, a)
            }

            /// Of each lane the one or the other.
            #[inline(always)]
            pub fn choose(mask: u32, then: u32, otherwise: u32) -> u32 {
                then & mask | otherwise & !mask
            }

            /// The absolute difference of numbers without a sign.
            #[inline(always)]
            pub fn difference(a: u32, b: u32) -> u32 {
                of_bytes!($bits, "__ptx_vabsdiff4.u32.u32.u32", a, b, {
                    let larger = choose(mask(above(a, b)), a, b);
                    // Not smaller in any lane, so that nothing is borrowed.
                    larger.wrapping_sub(larger ^ a ^ b)
                })
            }

            /// The sum of these over the lanes.
            #[inline(always)]
            pub fn total_difference(a: u32, b: u32) -> u32 {
                of_bytes!($bits, "__ptx_vabsdiff4.u32.u32.u32.add", a, b, {
                    let each = difference(a, b);
                    (0..32 / $bits).fold(0, |sum, lane| sum + (each >> (lane * $bits) & (u32::MAX >> (32 - $bits))))
                })
            }

            /// Where `overflow` has its highest bits, the number that is furthest from zero on `a`'s side.
            #[inline(always)]
            pub fn clamped(result: u32, overflow: u32, a: u32) -> u32 {
                choose(mask(overflow), mask(a) ^ !HIGH, result)
            }
        }
    )*};
}
lanes! {
    halves: 0x8000_8000, 0x0001_0001, 0xbb99, 16;
    bytes: 0x8080_8080, 0x0101_0101, 0xba98, 8;
}

macro_rules! functions {
    ($lanes:ident, $($(#[$doc:meta])* $name:ident($($operand:ident),*) = $value:expr;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[must_use]
        pub fn $name($($operand: u32),*) -> u32 {
            use $lanes::*;
            $value
        }
    )*};
}

/// Each function for halves and for bytes.
macro_rules! both {
    ($($(#[$doc:meta])* $two:ident $four:ident $operands:tt = $value:expr;)*) => {
        functions! { halves, $($(#[$doc])* #[doc = concat!("CUDA's `__", stringify!($two), "`.")] $two $operands = $value;)* }
        functions! { bytes, $($(#[$doc])* #[doc = concat!("CUDA's `__", stringify!($four), "`.")] $four $operands = $value;)* }
    };
}

both! {
    /// The sum, wrapping.
    vadd2 vadd4(a, b) = add(a, b);
    /// The sum of numbers with a sign, clamped.
    vaddss2 vaddss4(a, b) = {
        let sum = add(a, b);
        clamped(sum, (a ^ sum) & (b ^ sum), a)
    };
    /// The sum of numbers without a sign, clamped.
    vaddus2 vaddus4(a, b) = {
        let sum = add(a, b);
        sum | mask(a & b | (a | b) & !sum)
    };
    /// The difference, wrapping.
    vsub2 vsub4(a, b) = sub(a, b);
    /// The difference of numbers with a sign, clamped.
    vsubss2 vsubss4(a, b) = {
        let difference = sub(a, b);
        clamped(difference, (a ^ b) & (a ^ difference), a)
    };
    /// The difference of numbers without a sign, 0 where it is negative.
    vsubus2 vsubus4(a, b) = sub(a, b) & !mask(above(b, a));
    /// The negative, wrapping.
    vneg2 vneg4(a) = sub(0, a);
    /// The negative, clamped.
    vnegss2 vnegss4(a) = {
        let negative = sub(0, a);
        negative.wrapping_sub(bit(negative & a))
    };
    /// The absolute value; that of the least number is itself.
    vabs2 vabs4(a) = (a ^ mask(a)).wrapping_add(mask(a) & ONE);
    /// The absolute value, clamped.
    vabsss2 vabsss4(a) = {
        let absolute = (a ^ mask(a)).wrapping_add(mask(a) & ONE);
        absolute.wrapping_sub(bit(absolute))
    };
    /// The absolute difference of numbers without a sign.
    vabsdiffu2 vabsdiffu4(a, b) = difference(a, b);
    /// The absolute difference of numbers with a sign, as a number without.
    vabsdiffs2 vabsdiffs4(a, b) = difference(a ^ HIGH, b ^ HIGH);
    /// The sum over the lanes of the absolute differences of numbers without a sign.
    vsadu2 vsadu4(a, b) = total_difference(a, b);
    /// The sum over the lanes of the absolute differences of numbers with a sign.
    vsads2 vsads4(a, b) = total_difference(a ^ HIGH, b ^ HIGH);
    /// The mean of numbers without a sign, rounded up.
    vavgu2 vavgu4(a, b) = half_up(a, b);
    /// The mean of numbers without a sign, rounded down.
    vhaddu2 vhaddu4(a, b) = half_down(a, b);
    /// The larger of numbers with a sign.
    vmaxs2 vmaxs4(a, b) = max_s(a, b);
    /// The larger of numbers without a sign.
    vmaxu2 vmaxu4(a, b) = max_u(a, b);
    /// The smaller of numbers with a sign.
    vmins2 vmins4(a, b) = min_s(a, b);
    /// The smaller of numbers without a sign.
    vminu2 vminu4(a, b) = min_u(a, b);
}

/// Comparisons: of each the form that gives all ones, and the one that gives 1.
macro_rules! comparisons {
    ($($(#[$doc:meta])* $mask2:ident $mask4:ident $bit2:ident $bit4:ident = |$a:ident, $b:ident| $value:expr;)*) => {
        both! {$(
            #[doc = "All ones where"]
            $(#[$doc])*
            #[doc = ", else zeros."]
            $mask2 $mask4($a, $b) = mask($value);
            #[doc = "1 where"]
            $(#[$doc])*
            #[doc = ", else 0."]
            $bit2 $bit4($a, $b) = bit($value);
        )*}
    };
}

comparisons! {
    /// the lanes are equal
    vcmpeq2 vcmpeq4 vseteq2 vseteq4 = |a, b| !unequal(a, b);
    /// the lanes differ
    vcmpne2 vcmpne4 vsetne2 vsetne4 = |a, b| unequal(a, b);
    /// `a` is larger, with a sign
    vcmpgts2 vcmpgts4 vsetgts2 vsetgts4 = |a, b| above_signed(a, b);
    /// `a` is larger, without a sign
    vcmpgtu2 vcmpgtu4 vsetgtu2 vsetgtu4 = |a, b| above(a, b);
    /// `a` is larger or equal, with a sign
    vcmpges2 vcmpges4 vsetges2 vsetges4 = |a, b| !above_signed(b, a);
    /// `a` is larger or equal, without a sign
    vcmpgeu2 vcmpgeu4 vsetgeu2 vsetgeu4 = |a, b| !above(b, a);
    /// `a` is smaller, with a sign
    vcmplts2 vcmplts4 vsetlts2 vsetlts4 = |a, b| above_signed(b, a);
    /// `a` is smaller, without a sign
    vcmpltu2 vcmpltu4 vsetltu2 vsetltu4 = |a, b| above(b, a);
    /// `a` is smaller or equal, with a sign
    vcmples2 vcmples4 vsetles2 vsetles4 = |a, b| !above_signed(a, b);
    /// `a` is smaller or equal, without a sign
    vcmpleu2 vcmpleu4 vsetleu2 vsetleu4 = |a, b| !above(a, b);
}
