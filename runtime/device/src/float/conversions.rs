//! The lists of conversions with a rounding, for the traits here and for tests that must leave none out.

/// Conversions of `f32` and `f64` to integers: method, result, rounding, CUDA's names, symbols.
#[doc(hidden)]
#[macro_export]
macro_rules! to_integer_conversions {
    ($callback:path) => {
        $callback! {
            to_i32_rn, i32, Nearest, "__float2int_rn", "__double2int_rn", "__ptx_cvt.rni.s32.f32", "__ptx_cvt.rni.s32.f64";
            to_i32_rz, i32, Zero, "__float2int_rz", "__double2int_rz", "__ptx_cvt.rzi.s32.f32", "__ptx_cvt.rzi.s32.f64";
            to_i32_ru, i32, Up, "__float2int_ru", "__double2int_ru", "__ptx_cvt.rpi.s32.f32", "__ptx_cvt.rpi.s32.f64";
            to_i32_rd, i32, Down, "__float2int_rd", "__double2int_rd", "__ptx_cvt.rmi.s32.f32", "__ptx_cvt.rmi.s32.f64";
            to_u32_rn, u32, Nearest, "__float2uint_rn", "__double2uint_rn", "__ptx_cvt.rni.u32.f32", "__ptx_cvt.rni.u32.f64";
            to_u32_rz, u32, Zero, "__float2uint_rz", "__double2uint_rz", "__ptx_cvt.rzi.u32.f32", "__ptx_cvt.rzi.u32.f64";
            to_u32_ru, u32, Up, "__float2uint_ru", "__double2uint_ru", "__ptx_cvt.rpi.u32.f32", "__ptx_cvt.rpi.u32.f64";
            to_u32_rd, u32, Down, "__float2uint_rd", "__double2uint_rd", "__ptx_cvt.rmi.u32.f32", "__ptx_cvt.rmi.u32.f64";
            to_i64_rn, i64, Nearest, "__float2ll_rn", "__double2ll_rn", "__ptx_cvt.rni.s64.f32", "__ptx_cvt.rni.s64.f64";
            to_i64_rz, i64, Zero, "__float2ll_rz", "__double2ll_rz", "__ptx_cvt.rzi.s64.f32", "__ptx_cvt.rzi.s64.f64";
            to_i64_ru, i64, Up, "__float2ll_ru", "__double2ll_ru", "__ptx_cvt.rpi.s64.f32", "__ptx_cvt.rpi.s64.f64";
            to_i64_rd, i64, Down, "__float2ll_rd", "__double2ll_rd", "__ptx_cvt.rmi.s64.f32", "__ptx_cvt.rmi.s64.f64";
            to_u64_rn, u64, Nearest, "__float2ull_rn", "__double2ull_rn", "__ptx_cvt.rni.u64.f32", "__ptx_cvt.rni.u64.f64";
            to_u64_rz, u64, Zero, "__float2ull_rz", "__double2ull_rz", "__ptx_cvt.rzi.u64.f32", "__ptx_cvt.rzi.u64.f64";
            to_u64_ru, u64, Up, "__float2ull_ru", "__double2ull_ru", "__ptx_cvt.rpi.u64.f32", "__ptx_cvt.rpi.u64.f64";
            to_u64_rd, u64, Down, "__float2ull_rd", "__double2ull_rd", "__ptx_cvt.rmi.u64.f32", "__ptx_cvt.rmi.u64.f64";
        }
    };
}

/// Conversions of `f32` to integers that flush: method, result, rounding, PTX, symbol.
#[doc(hidden)]
#[macro_export]
macro_rules! to_integer_flushing_conversions {
    ($callback:path) => {
        $callback! {
            to_i32_rn_ftz, i32, Nearest, "cvt.rni.ftz.s32.f32", "__ptx_cvt.rni.ftz.s32.f32";
            to_i32_rz_ftz, i32, Zero, "cvt.rzi.ftz.s32.f32", "__ptx_cvt.rzi.ftz.s32.f32";
            to_i32_ru_ftz, i32, Up, "cvt.rpi.ftz.s32.f32", "__ptx_cvt.rpi.ftz.s32.f32";
            to_i32_rd_ftz, i32, Down, "cvt.rmi.ftz.s32.f32", "__ptx_cvt.rmi.ftz.s32.f32";
            to_u32_rn_ftz, u32, Nearest, "cvt.rni.ftz.u32.f32", "__ptx_cvt.rni.ftz.u32.f32";
            to_u32_rz_ftz, u32, Zero, "cvt.rzi.ftz.u32.f32", "__ptx_cvt.rzi.ftz.u32.f32";
            to_u32_ru_ftz, u32, Up, "cvt.rpi.ftz.u32.f32", "__ptx_cvt.rpi.ftz.u32.f32";
            to_u32_rd_ftz, u32, Down, "cvt.rmi.ftz.u32.f32", "__ptx_cvt.rmi.ftz.u32.f32";
            to_i64_rn_ftz, i64, Nearest, "cvt.rni.ftz.s64.f32", "__ptx_cvt.rni.ftz.s64.f32";
            to_i64_rz_ftz, i64, Zero, "cvt.rzi.ftz.s64.f32", "__ptx_cvt.rzi.ftz.s64.f32";
            to_i64_ru_ftz, i64, Up, "cvt.rpi.ftz.s64.f32", "__ptx_cvt.rpi.ftz.s64.f32";
            to_i64_rd_ftz, i64, Down, "cvt.rmi.ftz.s64.f32", "__ptx_cvt.rmi.ftz.s64.f32";
            to_u64_rn_ftz, u64, Nearest, "cvt.rni.ftz.u64.f32", "__ptx_cvt.rni.ftz.u64.f32";
            to_u64_rz_ftz, u64, Zero, "cvt.rzi.ftz.u64.f32", "__ptx_cvt.rzi.ftz.u64.f32";
            to_u64_ru_ftz, u64, Up, "cvt.rpi.ftz.u64.f32", "__ptx_cvt.rpi.ftz.u64.f32";
            to_u64_rd_ftz, u64, Down, "cvt.rmi.ftz.u64.f32", "__ptx_cvt.rmi.ftz.u64.f32";
        }
    };
}

/// Conversions of `i32`, `u32`, `i64`, `u64`: method, result, rounding, beginning of the PTX, symbols.
#[doc(hidden)]
#[macro_export]
macro_rules! to_float_conversions {
    ($callback:path) => {
        $callback! {
            to_f32_rn, f32, Nearest, "cvt.rn.f32", "__ptx_cvt.rn.f32.s32", "__ptx_cvt.rn.f32.u32", "__ptx_cvt.rn.f32.s64", "__ptx_cvt.rn.f32.u64";
            to_f32_rz, f32, Zero, "cvt.rz.f32", "__ptx_cvt.rz.f32.s32", "__ptx_cvt.rz.f32.u32", "__ptx_cvt.rz.f32.s64", "__ptx_cvt.rz.f32.u64";
            to_f32_ru, f32, Up, "cvt.rp.f32", "__ptx_cvt.rp.f32.s32", "__ptx_cvt.rp.f32.u32", "__ptx_cvt.rp.f32.s64", "__ptx_cvt.rp.f32.u64";
            to_f32_rd, f32, Down, "cvt.rm.f32", "__ptx_cvt.rm.f32.s32", "__ptx_cvt.rm.f32.u32", "__ptx_cvt.rm.f32.s64", "__ptx_cvt.rm.f32.u64";
            to_f64_rn, f64, Nearest, "cvt.rn.f64", "__ptx_cvt.rn.f64.s32", "__ptx_cvt.rn.f64.u32", "__ptx_cvt.rn.f64.s64", "__ptx_cvt.rn.f64.u64";
            to_f64_rz, f64, Zero, "cvt.rz.f64", "__ptx_cvt.rz.f64.s32", "__ptx_cvt.rz.f64.u32", "__ptx_cvt.rz.f64.s64", "__ptx_cvt.rz.f64.u64";
            to_f64_ru, f64, Up, "cvt.rp.f64", "__ptx_cvt.rp.f64.s32", "__ptx_cvt.rp.f64.u32", "__ptx_cvt.rp.f64.s64", "__ptx_cvt.rp.f64.u64";
            to_f64_rd, f64, Down, "cvt.rm.f64", "__ptx_cvt.rm.f64.s32", "__ptx_cvt.rm.f64.u32", "__ptx_cvt.rm.f64.s64", "__ptx_cvt.rm.f64.u64";
        }
    };
}

/// Conversions of `f64` to `f32`: method, rounding, form, PTX, symbol.
#[doc(hidden)]
#[macro_export]
macro_rules! to_single_conversions {
    ($callback:path) => {
        $callback! {
            to_f32_rn, Nearest, PLAIN, "cvt.rn.f32.f64", "__ptx_cvt.rn.f32.f64";
            to_f32_rz, Zero, PLAIN, "cvt.rz.f32.f64", "__ptx_cvt.rz.f32.f64";
            to_f32_ru, Up, PLAIN, "cvt.rp.f32.f64", "__ptx_cvt.rp.f32.f64";
            to_f32_rd, Down, PLAIN, "cvt.rm.f32.f64", "__ptx_cvt.rm.f32.f64";
            to_f32_rn_ftz, Nearest, FLUSH, "cvt.rn.ftz.f32.f64", "__ptx_cvt.rn.ftz.f32.f64";
            to_f32_rz_ftz, Zero, FLUSH, "cvt.rz.ftz.f32.f64", "__ptx_cvt.rz.ftz.f32.f64";
            to_f32_ru_ftz, Up, FLUSH, "cvt.rp.ftz.f32.f64", "__ptx_cvt.rp.ftz.f32.f64";
            to_f32_rd_ftz, Down, FLUSH, "cvt.rm.ftz.f32.f64", "__ptx_cvt.rm.ftz.f32.f64";
            to_f32_rn_sat, Nearest, SATURATE, "cvt.rn.sat.f32.f64", "__ptx_cvt.rn.sat.f32.f64";
            to_f32_rz_sat, Zero, SATURATE, "cvt.rz.sat.f32.f64", "__ptx_cvt.rz.sat.f32.f64";
            to_f32_ru_sat, Up, SATURATE, "cvt.rp.sat.f32.f64", "__ptx_cvt.rp.sat.f32.f64";
            to_f32_rd_sat, Down, SATURATE, "cvt.rm.sat.f32.f64", "__ptx_cvt.rm.sat.f32.f64";
            to_f32_rn_ftz_sat, Nearest, FLUSH_SATURATE, "cvt.rn.ftz.sat.f32.f64", "__ptx_cvt.rn.ftz.sat.f32.f64";
            to_f32_rz_ftz_sat, Zero, FLUSH_SATURATE, "cvt.rz.ftz.sat.f32.f64", "__ptx_cvt.rz.ftz.sat.f32.f64";
            to_f32_ru_ftz_sat, Up, FLUSH_SATURATE, "cvt.rp.ftz.sat.f32.f64", "__ptx_cvt.rp.ftz.sat.f32.f64";
            to_f32_rd_ftz_sat, Down, FLUSH_SATURATE, "cvt.rm.ftz.sat.f32.f64", "__ptx_cvt.rm.ftz.sat.f32.f64";
        }
    };
}

/// To whole numbers of the same type: method, rounding, symbols of `f32` and `f64`.
#[doc(hidden)]
#[macro_export]
macro_rules! to_integral_conversions {
    ($callback:path) => {
        $callback! {
            to_integral_rn, Nearest, "__ptx_cvt.rni.f32.f32", "__ptx_cvt.rni.f64.f64";
            to_integral_rz, Zero, "__ptx_cvt.rzi.f32.f32", "__ptx_cvt.rzi.f64.f64";
            to_integral_ru, Up, "__ptx_cvt.rpi.f32.f32", "__ptx_cvt.rpi.f64.f64";
            to_integral_rd, Down, "__ptx_cvt.rmi.f32.f32", "__ptx_cvt.rmi.f64.f64";
        }
    };
}
