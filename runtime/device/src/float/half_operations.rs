//! The lists of operations and conversions of 16 bits, for the traits here and for tests that must leave none out.

/// Operations of `f16` and `bf16`: method, operation, form, operands after `self`, symbols for one and for two lanes.
#[doc(hidden)]
#[macro_export]
macro_rules! half_operations {
    ($callback:path) => {
        $callback! {
            add_rn, add, PLAIN, [b], "__ptx_add.rn.f16", "__ptx_add.rn.bf16", "__ptx_add.rn.f16x2", "__ptx_add.rn.bf16x2";
            sub_rn, sub, PLAIN, [b], "__ptx_sub.rn.f16", "__ptx_sub.rn.bf16", "__ptx_sub.rn.f16x2", "__ptx_sub.rn.bf16x2";
            mul_rn, mul, PLAIN, [b], "__ptx_mul.rn.f16", "__ptx_mul.rn.bf16", "__ptx_mul.rn.f16x2", "__ptx_mul.rn.bf16x2";
            fma_rn, fma, PLAIN, [b, c], "__ptx_fma.rn.f16", "__ptx_fma.rn.bf16", "__ptx_fma.rn.f16x2", "__ptx_fma.rn.bf16x2";
            fma_rn_relu, fma, RELU, [b, c], "__ptx_fma.rn.relu.f16", "__ptx_fma.rn.relu.bf16", "__ptx_fma.rn.relu.f16x2", "__ptx_fma.rn.relu.bf16x2";
            minimum, min, PLAIN, [b], "__ptx_min.f16", "__ptx_min.bf16", "__ptx_min.f16x2", "__ptx_min.bf16x2";
            maximum, max, PLAIN, [b], "__ptx_max.f16", "__ptx_max.bf16", "__ptx_max.f16x2", "__ptx_max.bf16x2";
            minimum_nan, min_nan, PLAIN, [b], "__ptx_min.NaN.f16", "__ptx_min.NaN.bf16", "__ptx_min.NaN.f16x2", "__ptx_min.NaN.bf16x2";
            maximum_nan, max_nan, PLAIN, [b], "__ptx_max.NaN.f16", "__ptx_max.NaN.bf16", "__ptx_max.NaN.f16x2", "__ptx_max.NaN.bf16x2";
            absolute, abs, PLAIN, [], "__ptx_abs.f16", "__ptx_abs.bf16", "__ptx_abs.f16x2", "__ptx_abs.bf16x2";
            negated, neg, PLAIN, [], "__ptx_neg.f16", "__ptx_neg.bf16", "__ptx_neg.f16x2", "__ptx_neg.bf16x2";
        }
    };
}

/// Further forms of `f16`: method, operation, form, operands after `self`, symbols for one lane and for two.
#[doc(hidden)]
#[macro_export]
macro_rules! half_forms {
    ($callback:path) => {
        $callback! {
            add_rn_ftz, add, FLUSH, [b], "__ptx_add.rn.ftz.f16", "__ptx_add.rn.ftz.f16x2";
            add_rn_sat, add, SATURATE, [b], "__ptx_add.rn.sat.f16", "__ptx_add.rn.sat.f16x2";
            add_rn_ftz_sat, add, FLUSH_SATURATE, [b], "__ptx_add.rn.ftz.sat.f16", "__ptx_add.rn.ftz.sat.f16x2";
            sub_rn_ftz, sub, FLUSH, [b], "__ptx_sub.rn.ftz.f16", "__ptx_sub.rn.ftz.f16x2";
            sub_rn_sat, sub, SATURATE, [b], "__ptx_sub.rn.sat.f16", "__ptx_sub.rn.sat.f16x2";
            sub_rn_ftz_sat, sub, FLUSH_SATURATE, [b], "__ptx_sub.rn.ftz.sat.f16", "__ptx_sub.rn.ftz.sat.f16x2";
            mul_rn_ftz, mul, FLUSH, [b], "__ptx_mul.rn.ftz.f16", "__ptx_mul.rn.ftz.f16x2";
            mul_rn_sat, mul, SATURATE, [b], "__ptx_mul.rn.sat.f16", "__ptx_mul.rn.sat.f16x2";
            mul_rn_ftz_sat, mul, FLUSH_SATURATE, [b], "__ptx_mul.rn.ftz.sat.f16", "__ptx_mul.rn.ftz.sat.f16x2";
            fma_rn_ftz, fma, FLUSH, [b, c], "__ptx_fma.rn.ftz.f16", "__ptx_fma.rn.ftz.f16x2";
            fma_rn_sat, fma, SATURATE, [b, c], "__ptx_fma.rn.sat.f16", "__ptx_fma.rn.sat.f16x2";
            fma_rn_ftz_sat, fma, FLUSH_SATURATE, [b, c], "__ptx_fma.rn.ftz.sat.f16", "__ptx_fma.rn.ftz.sat.f16x2";
            fma_rn_ftz_relu, fma, FLUSH_RELU, [b, c], "__ptx_fma.rn.ftz.relu.f16", "__ptx_fma.rn.ftz.relu.f16x2";
        }
    };
}

/// Conversions to 16 bits: method, result, rounding, symbols from `f32`, `f64`, `i32`, `u32`, `i64`, `u64`.
#[doc(hidden)]
#[macro_export]
macro_rules! to_half_conversions {
    ($callback:path) => {
        $callback! {
            to_f16_rn, f16, Nearest, "__ptx_cvt.rn.f16.f32", "__ptx_cvt.rn.f16.f64", "__ptx_cvt.rn.f16.s32", "__ptx_cvt.rn.f16.u32", "__ptx_cvt.rn.f16.s64", "__ptx_cvt.rn.f16.u64";
            to_f16_rz, f16, Zero, "__ptx_cvt.rz.f16.f32", "__ptx_cvt.rz.f16.f64", "__ptx_cvt.rz.f16.s32", "__ptx_cvt.rz.f16.u32", "__ptx_cvt.rz.f16.s64", "__ptx_cvt.rz.f16.u64";
            to_f16_ru, f16, Up, "__ptx_cvt.rp.f16.f32", "__ptx_cvt.rp.f16.f64", "__ptx_cvt.rp.f16.s32", "__ptx_cvt.rp.f16.u32", "__ptx_cvt.rp.f16.s64", "__ptx_cvt.rp.f16.u64";
            to_f16_rd, f16, Down, "__ptx_cvt.rm.f16.f32", "__ptx_cvt.rm.f16.f64", "__ptx_cvt.rm.f16.s32", "__ptx_cvt.rm.f16.u32", "__ptx_cvt.rm.f16.s64", "__ptx_cvt.rm.f16.u64";
            to_bf16_rn, bf16, Nearest, "__ptx_cvt.rn.bf16.f32", "__ptx_cvt.rn.bf16.f64", "__ptx_cvt.rn.bf16.s32", "__ptx_cvt.rn.bf16.u32", "__ptx_cvt.rn.bf16.s64", "__ptx_cvt.rn.bf16.u64";
            to_bf16_rz, bf16, Zero, "__ptx_cvt.rz.bf16.f32", "__ptx_cvt.rz.bf16.f64", "__ptx_cvt.rz.bf16.s32", "__ptx_cvt.rz.bf16.u32", "__ptx_cvt.rz.bf16.s64", "__ptx_cvt.rz.bf16.u64";
            to_bf16_ru, bf16, Up, "__ptx_cvt.rp.bf16.f32", "__ptx_cvt.rp.bf16.f64", "__ptx_cvt.rp.bf16.s32", "__ptx_cvt.rp.bf16.u32", "__ptx_cvt.rp.bf16.s64", "__ptx_cvt.rp.bf16.u64";
            to_bf16_rd, bf16, Down, "__ptx_cvt.rm.bf16.f32", "__ptx_cvt.rm.bf16.f64", "__ptx_cvt.rm.bf16.s32", "__ptx_cvt.rm.bf16.u32", "__ptx_cvt.rm.bf16.s64", "__ptx_cvt.rm.bf16.u64";
        }
    };
}

/// Conversions of `f16` to integers: method, result, rounding, symbol.
#[doc(hidden)]
#[macro_export]
macro_rules! half_to_integer_conversions {
    ($callback:path) => {
        $callback! {
            to_i32_rn, i32, Nearest, "__ptx_cvt.rni.s32.f16";
            to_i32_rz, i32, Zero, "__ptx_cvt.rzi.s32.f16";
            to_i32_ru, i32, Up, "__ptx_cvt.rpi.s32.f16";
            to_i32_rd, i32, Down, "__ptx_cvt.rmi.s32.f16";
            to_u32_rn, u32, Nearest, "__ptx_cvt.rni.u32.f16";
            to_u32_rz, u32, Zero, "__ptx_cvt.rzi.u32.f16";
            to_u32_ru, u32, Up, "__ptx_cvt.rpi.u32.f16";
            to_u32_rd, u32, Down, "__ptx_cvt.rmi.u32.f16";
            to_i64_rn, i64, Nearest, "__ptx_cvt.rni.s64.f16";
            to_i64_rz, i64, Zero, "__ptx_cvt.rzi.s64.f16";
            to_i64_ru, i64, Up, "__ptx_cvt.rpi.s64.f16";
            to_i64_rd, i64, Down, "__ptx_cvt.rmi.s64.f16";
            to_u64_rn, u64, Nearest, "__ptx_cvt.rni.u64.f16";
            to_u64_rz, u64, Zero, "__ptx_cvt.rzi.u64.f16";
            to_u64_ru, u64, Up, "__ptx_cvt.rpi.u64.f16";
            to_u64_rd, u64, Down, "__ptx_cvt.rmi.u64.f16";
        }
    };
}

/// Of `f16` to whole numbers: method, rounding, symbol.
#[doc(hidden)]
#[macro_export]
macro_rules! half_to_integral_conversions {
    ($callback:path) => {
        $callback! {
            to_integral_rn, Nearest, "__ptx_cvt.rni.f16.f16";
            to_integral_rz, Zero, "__ptx_cvt.rzi.f16.f16";
            to_integral_ru, Up, "__ptx_cvt.rpi.f16.f16";
            to_integral_rd, Down, "__ptx_cvt.rmi.f16.f16";
        }
    };
}

/// Further conversions of `f32` to 16 bits: method, result, rounding, form, symbol.
#[doc(hidden)]
#[macro_export]
macro_rules! to_half_forms {
    ($callback:path) => {
        $callback! {
            to_f16_rn_sat, f16, Nearest, SATURATE, "__ptx_cvt.rn.sat.f16.f32";
            to_f16_rz_sat, f16, Zero, SATURATE, "__ptx_cvt.rz.sat.f16.f32";
            to_f16_ru_sat, f16, Up, SATURATE, "__ptx_cvt.rp.sat.f16.f32";
            to_f16_rd_sat, f16, Down, SATURATE, "__ptx_cvt.rm.sat.f16.f32";
            to_f16_rn_relu, f16, Nearest, RELU, "__ptx_cvt.rn.relu.f16.f32";
            to_f16_rn_satfinite, f16, Nearest, FINITE, "__ptx_cvt.rn.satfinite.f16.f32";
            to_f16_rn_relu_satfinite, f16, Nearest, RELU_FINITE, "__ptx_cvt.rn.relu.satfinite.f16.f32";
            to_bf16_rn_relu, bf16, Nearest, RELU, "__ptx_cvt.rn.relu.bf16.f32";
            to_bf16_rn_satfinite, bf16, Nearest, FINITE, "__ptx_cvt.rn.satfinite.bf16.f32";
            to_bf16_rn_relu_satfinite, bf16, Nearest, RELU_FINITE, "__ptx_cvt.rn.relu.satfinite.bf16.f32";
            to_f16_rz_relu, f16, Zero, RELU, "__ptx_cvt.rz.relu.f16.f32";
            to_f16_rz_satfinite, f16, Zero, FINITE, "__ptx_cvt.rz.satfinite.f16.f32";
            to_f16_rz_relu_satfinite, f16, Zero, RELU_FINITE, "__ptx_cvt.rz.relu.satfinite.f16.f32";
            to_bf16_rz_relu, bf16, Zero, RELU, "__ptx_cvt.rz.relu.bf16.f32";
            to_bf16_rz_satfinite, bf16, Zero, FINITE, "__ptx_cvt.rz.satfinite.bf16.f32";
            to_bf16_rz_relu_satfinite, bf16, Zero, RELU_FINITE, "__ptx_cvt.rz.relu.satfinite.bf16.f32";
        }
    };
}

/// Conversions of two `f32` to a pair: function, rounding, form, symbols of `F16x2` and `Bf16x2`.
#[doc(hidden)]
#[macro_export]
macro_rules! to_packed_conversions {
    ($callback:path) => {
        $callback! {
            from_f32_rn, Nearest, PLAIN, "__ptx_cvt.rn.f16x2.f32", "__ptx_cvt.rn.bf16x2.f32";
            from_f32_rz, Zero, PLAIN, "__ptx_cvt.rz.f16x2.f32", "__ptx_cvt.rz.bf16x2.f32";
            from_f32_rn_relu, Nearest, RELU, "__ptx_cvt.rn.relu.f16x2.f32", "__ptx_cvt.rn.relu.bf16x2.f32";
            from_f32_rz_relu, Zero, RELU, "__ptx_cvt.rz.relu.f16x2.f32", "__ptx_cvt.rz.relu.bf16x2.f32";
            from_f32_rn_satfinite, Nearest, FINITE, "__ptx_cvt.rn.satfinite.f16x2.f32", "__ptx_cvt.rn.satfinite.bf16x2.f32";
            from_f32_rz_satfinite, Zero, FINITE, "__ptx_cvt.rz.satfinite.f16x2.f32", "__ptx_cvt.rz.satfinite.bf16x2.f32";
            from_f32_rn_relu_satfinite, Nearest, RELU_FINITE, "__ptx_cvt.rn.relu.satfinite.f16x2.f32", "__ptx_cvt.rn.relu.satfinite.bf16x2.f32";
            from_f32_rz_relu_satfinite, Zero, RELU_FINITE, "__ptx_cvt.rz.relu.satfinite.f16x2.f32", "__ptx_cvt.rz.relu.satfinite.bf16x2.f32";
        }
    };
}
