//! Operations and conversions of 16 bits, 8 bits and `tf32`, by their numbers. The host's results are computed with
//! integers by the same methods.

use ptx::float::{
    Bf16x2, F8E4M3, F8E5M2, F16x2, HalfArithmetic, HalfForms, TensorRounding, ToHalf, ToHalfForms, ToInteger,
    ToIntegral, Widen,
};
use ptx::prelude::*;
use ptx::{bf16, f16};
use ptx_device::{
    half_forms, half_operations, half_to_integer_conversions, half_to_integral_conversions, to_half_conversions,
    to_half_forms,
};

use crate::explicit::{Row, row};

macro_rules! arithmetic {
    ($($method:ident, $op:ident, $form:ident, [$($operand:ident),*], $f16:literal, $bf16:literal, $f16x2:literal,
       $bf16x2:literal;)*) => {
        apply!(HALF_OPERATIONS half f16 => u64: HalfArithmetic;
            $($method, $op, Nearest, $form, [$($operand),*], |result| result.to_bits().into();)*);
        apply!(BRAIN_OPERATIONS brain bf16 => u64: HalfArithmetic;
            $($method, $op, Nearest, $form, [$($operand),*], |result| result.to_bits().into();)*);
    };
}
half_operations!(arithmetic);

macro_rules! forms {
    ($($method:ident, $op:ident, $form:ident, [$($operand:ident),*], $one:literal, $two:literal;)*) => {
        apply!(HALF_FORMS half_form f16 => u64: HalfForms;
            $($method, $op, Nearest, $form, [$($operand),*], |result| result.to_bits().into();)*);
    };
}
half_forms!(forms);

/// Operations on two numbers in one register, by the numbers of the same ones of one number: the low lanes have the operands
/// as they are, the high ones the same in reverse.
macro_rules! pairs {
    ($function:ident $pair:ident $lane:ident; $($method:ident [$($operand:ident),*];)*) => {
        #[inline]
        pub fn $function(which: u32, [a, b, c]: [$lane; 3]) -> u64 {
            let pairs = [$pair::new(a, c), $pair::new(b, b), $pair::new(c, a)];
            let mut number = 0;
            $(
                if which == number {
                    let _next = 1;
                    $(
                        let ($operand, _next) = (pairs[_next], _next + 1);
                    )*
                    let result = $pair::$method(pairs[0] $(, $operand)*);
                    return u64::from(result.low().to_bits()) | u64::from(result.high().to_bits()) << 16;
                }
                number += 1;
            )*
            let _ = number;
            0
        }
    };
}

macro_rules! arithmetic_of_pairs {
    ($($method:ident, $op:ident, $form:ident, [$($operand:ident),*], $f16:literal, $bf16:literal, $f16x2:literal,
       $bf16x2:literal;)*) => {
        pairs!(half_pair F16x2 f16; $($method [$($operand),*];)*);
        pairs!(brain_pair Bf16x2 bf16; $($method [$($operand),*];)*);
    };
}
half_operations!(arithmetic_of_pairs);

macro_rules! forms_of_pairs {
    ($($method:ident, $op:ident, $form:ident, [$($operand:ident),*], $one:literal, $two:literal;)*) => {
        pairs!(half_form_pair F16x2 f16; $($method [$($operand),*];)*);
    };
}
half_forms!(forms_of_pairs);

macro_rules! to_half {
    ($($method:ident, $to:ident, $round:ident, $f32:literal, $f64:literal, $i32:literal, $u32:literal, $i64:literal,
       $u64:literal;)*) => {
        apply!(TO_HALF half_of_f32 f32 => u64: ToHalf;
            $($method, $to, $round, PLAIN, [], |result| result.to_bits().into();)*);
        apply!(F64_TO_HALF half_of_f64 f64 => u64: ToHalf;
            $($method, $to, $round, PLAIN, [], |result| result.to_bits().into();)*);
        apply!(I32_TO_HALF half_of_i32 i32 => u64: ToHalf;
            $($method, $to, $round, PLAIN, [], |result| result.to_bits().into();)*);
        apply!(U64_TO_HALF half_of_u64 u64 => u64: ToHalf;
            $($method, $to, $round, PLAIN, [], |result| result.to_bits().into();)*);
    };
}
to_half_conversions!(to_half);

macro_rules! to_half_form {
    ($($method:ident, $to:ident, $round:ident, $form:ident, $symbol:literal;)*) => {
        apply!(TO_HALF_FORMS half_form_of_f32 f32 => u64: ToHalfForms;
            $($method, $to, $round, $form, [], |result| result.to_bits().into();)*);
    };
}
to_half_forms!(to_half_form);

macro_rules! integers {
    ($($method:ident, $to:ident, $round:ident, $symbol:literal;)*) => {
        apply!(HALF_TO_INTEGER integer_of_half f16 => u64: ToInteger;
            $($method, $to, $round, PLAIN, [], |result| result as u64;)*);
    };
}
half_to_integer_conversions!(integers);

macro_rules! whole {
    ($($method:ident, $round:ident, $symbol:literal;)*) => {
        apply!(HALF_TO_INTEGRAL integral_half f16 => u64: ToIntegral;
            $($method, f16, $round, PLAIN, [], |result| result.to_bits().into();)*);
    };
}
half_to_integral_conversions!(whole);

apply!(WIDENED widened f16 => u64: Widen; widen, f32, Nearest, PLAIN, [], |result| result.to_bits().into(););
apply!(BRAIN_WIDENED widened_brain bf16 => u64: Widen; widen, f32, Nearest, PLAIN, [], |result| result.to_bits().into(););
apply!(TENSOR tensor f32 => u64: TensorRounding;
    to_tf32_rna, tf32, Away, PLAIN, [], |result| u64::from(result.to_bits() & !0x1fff);
    to_tf32_rn, tf32, Nearest, PLAIN, [], |result| u64::from(result.to_bits() & !0x1fff);
    to_tf32_rz, tf32, Zero, PLAIN, [], |result| u64::from(result.to_bits() & !0x1fff);
    to_tf32_rn_relu, tf32, Nearest, RELU, [], |result| u64::from(result.to_bits() & !0x1fff);
    to_tf32_rz_relu, tf32, Zero, RELU, [], |result| u64::from(result.to_bits() & !0x1fff);
);
apply!(E4M3 e4m3 f32 => u64: F8E4M3;
    from_f32, e4m3, Nearest, FINITE, [], |result| result.0.into();
    from_f32_relu, e4m3, Nearest, RELU_FINITE, [], |result| result.0.into();
);
apply!(E5M2 e5m2 f32 => u64: F8E5M2;
    from_f32, e5m2, Nearest, FINITE, [], |result| result.0.into();
    from_f32_relu, e5m2, Nearest, RELU_FINITE, [], |result| result.0.into();
);

macro_rules! kernels {
    ($($kernel:ident $function:ident [$input:ty; $count:literal];)*) => {$(
        #[kernel]
        pub fn $kernel(which: u32, operands: &[[$input; $count]], mut results: DisjointSlice<u64>) {
            let i = thread::index_1d();
            if let Some(result) = results.get_mut(i) {
                // A conversion looks at the first alone.
                let mut all = [operands[i.get()][0]; 3];
                all[..$count].copy_from_slice(&operands[i.get()]);
                *result = $function(which, all);
            }
        }
    )*};
}
kernels! {
    narrow_f16 half [f16; 3];
    narrow_bf16 brain [bf16; 3];
    narrow_f16_forms half_form [f16; 3];
    narrow_f16x2 half_pair [f16; 3];
    narrow_bf16x2 brain_pair [bf16; 3];
    narrow_f16x2_forms half_form_pair [f16; 3];
    narrow_from_f32 half_of_f32 [f32; 1];
    narrow_from_f64 half_of_f64 [f64; 1];
    narrow_from_i32 half_of_i32 [i32; 1];
    narrow_from_u64 half_of_u64 [u64; 1];
    narrow_from_f32_forms half_form_of_f32 [f32; 1];
    narrow_to_integer integer_of_half [f16; 1];
    narrow_to_integral integral_half [f16; 1];
    narrow_widen widened [f16; 1];
    narrow_widen_bf16 widened_brain [bf16; 1];
    narrow_tensor tensor [f32; 1];
    narrow_e4m3 e4m3 [f32; 1];
    narrow_e5m2 e5m2 [f32; 1];
}
