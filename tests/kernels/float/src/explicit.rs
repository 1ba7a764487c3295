//! Operations and conversions with the rounding named, by their numbers in the lists that `ptx::float` is made of.

use ptx::float::{FlushingToInteger, Rounding, SingleRounding, ToFloat, ToInteger, ToIntegral, ToSingle};
use ptx::prelude::*;
use ptx_device::{
    rounding_operations, single_operations, to_float_conversions, to_integer_conversions,
    to_integer_flushing_conversions, to_integral_conversions, to_single_conversions,
};

/// An operation of one to three operands, or a conversion.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The method under test: `add_rn`.
    pub method: &'static str,
    /// The operation, or the type of a conversion's result.
    pub what: &'static str,
    /// `Nearest`, `Zero`, `Up` or `Down`.
    pub rounding: &'static str,
    /// `PLAIN`, `FLUSH`, `SATURATE` or `FLUSH_SATURATE`.
    pub form: &'static str,
}

pub(crate) const fn row(method: &'static str, what: &'static str, rounding: &'static str, form: &'static str) -> Row {
    Row { method, what, rounding, form }
}

/// Makes of a list the constant with its rows, and a function that applies the row of a number.
macro_rules! apply {
    ($rows:ident $function:ident $input:ty => $output:ty: $trait:ident;
        $($method:ident, $what:ident, $rounding:ident, $form:ident, [$($operand:ident),*], |$result:ident| $convert:expr;)*) => {
        pub const $rows: &[Row] = &[
            $(row(stringify!($method), stringify!($what), stringify!($rounding), stringify!($form))),*
        ];

        #[inline]
        pub fn $function(which: u32, operands: [$input; 3]) -> $output {
            let mut number = 0;
            $(
                if which == number {
                    let _next = 1;
                    $(
                        let ($operand, _next) = (operands[_next], _next + 1);
                    )*
                    let $result = $trait::$method(operands[0] $(, $operand)*);
                    return $convert;
                }
                number += 1;
            )*
            let _ = number;
            0
        }
    };
}

macro_rules! both {
    ($($method:ident, $op:ident, $round:ident, [$($operand:ident),*], $cuda32:literal, $cuda64:literal,
       $symbol32:literal, $symbol64:literal;)*) => {
        apply!(OPERATIONS single f32 => u32: Rounding;
            $($method, $op, $round, PLAIN, [$($operand),*], |result| result.to_bits();)*);
        apply!(DOUBLE_OPERATIONS double f64 => u64: Rounding;
            $($method, $op, $round, PLAIN, [$($operand),*], |result| result.to_bits();)*);
    };
}
rounding_operations!(both);

macro_rules! forms {
    ($($method:ident, $op:ident, $round:ident, [$($operand:ident),*], $form:ident, $ptx:literal, $symbol:literal;)*) => {
        apply!(FORMS form f32 => u32: SingleRounding;
            $($method, $op, $round, $form, [$($operand),*], |result| result.to_bits();)*);
    };
}
single_operations!(forms);

macro_rules! integers {
    ($($method:ident, $to:ident, $round:ident, $cuda32:literal, $cuda64:literal, $symbol32:literal, $symbol64:literal;)*) => {
        apply!(TO_INTEGER integer_of_single f32 => u64: ToInteger;
            $($method, $to, $round, PLAIN, [], |result| result as u64;)*);
        apply!(DOUBLE_TO_INTEGER integer_of_double f64 => u64: ToInteger;
            $($method, $to, $round, PLAIN, [], |result| result as u64;)*);
    };
}
to_integer_conversions!(integers);

macro_rules! flushing {
    ($($method:ident, $to:ident, $round:ident, $ptx:literal, $symbol:literal;)*) => {
        apply!(FLUSHING_TO_INTEGER flushed_integer f32 => u64: FlushingToInteger;
            $($method, $to, $round, FLUSH, [], |result| result as u64;)*);
    };
}
to_integer_flushing_conversions!(flushing);

macro_rules! floats {
    ($($method:ident, $to:ident, $round:ident, $ptx:literal, $i32:literal, $u32:literal, $i64:literal, $u64:literal;)*) => {
        apply!(TO_FLOAT float_of_i32 i32 => u64: ToFloat;
            $($method, $to, $round, PLAIN, [], |result| result.to_bits().into();)*);
        apply!(U32_TO_FLOAT float_of_u32 u32 => u64: ToFloat;
            $($method, $to, $round, PLAIN, [], |result| result.to_bits().into();)*);
        apply!(I64_TO_FLOAT float_of_i64 i64 => u64: ToFloat;
            $($method, $to, $round, PLAIN, [], |result| result.to_bits().into();)*);
        apply!(U64_TO_FLOAT float_of_u64 u64 => u64: ToFloat;
            $($method, $to, $round, PLAIN, [], |result| result.to_bits().into();)*);
    };
}
to_float_conversions!(floats);

macro_rules! narrowings {
    ($($method:ident, $round:ident, $form:ident, $ptx:literal, $symbol:literal;)*) => {
        apply!(TO_SINGLE single_of_double f64 => u64: ToSingle;
            $($method, f32, $round, $form, [], |result| result.to_bits().into();)*);
    };
}
to_single_conversions!(narrowings);

macro_rules! whole {
    ($($method:ident, $round:ident, $symbol32:literal, $symbol64:literal;)*) => {
        apply!(TO_INTEGRAL integral_single f32 => u64: ToIntegral;
            $($method, f32, $round, PLAIN, [], |result| result.to_bits().into();)*);
        apply!(DOUBLE_TO_INTEGRAL integral_double f64 => u64: ToIntegral;
            $($method, f64, $round, PLAIN, [], |result| result.to_bits();)*);
    };
}
to_integral_conversions!(whole);

macro_rules! operation_kernels {
    ($($kernel:ident $function:ident $input:ty => $output:ty;)*) => {$(
        #[kernel]
        pub fn $kernel(which: u32, operands: &[[$input; 3]], mut results: DisjointSlice<$output>) {
            let i = thread::index_1d();
            if let Some(result) = results.get_mut(i) {
                *result = $function(which, operands[i.get()]);
            }
        }
    )*};
}
operation_kernels! {
    operate_f32 single f32 => u32;
    operate_f64 double f64 => u64;
    operate_forms form f32 => u32;
}

macro_rules! conversion_kernels {
    ($($kernel:ident $function:ident $input:ty;)*) => {$(
        #[kernel]
        pub fn $kernel(which: u32, inputs: &[$input], mut results: DisjointSlice<u64>) {
            let i = thread::index_1d();
            if let Some(result) = results.get_mut(i) {
                *result = $function(which, [inputs[i.get()]; 3]);
            }
        }
    )*};
}
conversion_kernels! {
    convert_f32_to_integer integer_of_single f32;
    convert_f64_to_integer integer_of_double f64;
    convert_flushed_to_integer flushed_integer f32;
    convert_i32_to_float float_of_i32 i32;
    convert_u32_to_float float_of_u32 u32;
    convert_i64_to_float float_of_i64 i64;
    convert_u64_to_float float_of_u64 u64;
    convert_f64_to_f32 single_of_double f64;
    convert_f32_to_integral integral_single f32;
    convert_f64_to_integral integral_double f64;
}
