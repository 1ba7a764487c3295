//! The lists of operations with a rounding, for the traits here and for tests that must leave none out.

/// Calls `$callback!` with every operation that `f32` and `f64` have.
///
/// A row is: method, operation, rounding (of `exact::Round`), operands after `self`, CUDA's names for `f32` and `f64`,
/// symbols.
#[doc(hidden)]
#[macro_export]
macro_rules! rounding_operations {
    ($callback:path) => {
        $callback! {
            add_rn, add, Nearest, [b], "__fadd_rn", "__dadd_rn", "__ptx_add.rn.f32", "__ptx_add.rn.f64";
            add_rz, add, Zero, [b], "__fadd_rz", "__dadd_rz", "__ptx_add.rz.f32", "__ptx_add.rz.f64";
            add_ru, add, Up, [b], "__fadd_ru", "__dadd_ru", "__ptx_add.rp.f32", "__ptx_add.rp.f64";
            add_rd, add, Down, [b], "__fadd_rd", "__dadd_rd", "__ptx_add.rm.f32", "__ptx_add.rm.f64";
            sub_rn, sub, Nearest, [b], "__fsub_rn", "__dsub_rn", "__ptx_sub.rn.f32", "__ptx_sub.rn.f64";
            sub_rz, sub, Zero, [b], "__fsub_rz", "__dsub_rz", "__ptx_sub.rz.f32", "__ptx_sub.rz.f64";
            sub_ru, sub, Up, [b], "__fsub_ru", "__dsub_ru", "__ptx_sub.rp.f32", "__ptx_sub.rp.f64";
            sub_rd, sub, Down, [b], "__fsub_rd", "__dsub_rd", "__ptx_sub.rm.f32", "__ptx_sub.rm.f64";
            mul_rn, mul, Nearest, [b], "__fmul_rn", "__dmul_rn", "__ptx_mul.rn.f32", "__ptx_mul.rn.f64";
            mul_rz, mul, Zero, [b], "__fmul_rz", "__dmul_rz", "__ptx_mul.rz.f32", "__ptx_mul.rz.f64";
            mul_ru, mul, Up, [b], "__fmul_ru", "__dmul_ru", "__ptx_mul.rp.f32", "__ptx_mul.rp.f64";
            mul_rd, mul, Down, [b], "__fmul_rd", "__dmul_rd", "__ptx_mul.rm.f32", "__ptx_mul.rm.f64";
            fma_rn, fma, Nearest, [b, c], "__fmaf_rn", "__fma_rn", "__ptx_fma.rn.f32", "__ptx_fma.rn.f64";
            fma_rz, fma, Zero, [b, c], "__fmaf_rz", "__fma_rz", "__ptx_fma.rz.f32", "__ptx_fma.rz.f64";
            fma_ru, fma, Up, [b, c], "__fmaf_ru", "__fma_ru", "__ptx_fma.rp.f32", "__ptx_fma.rp.f64";
            fma_rd, fma, Down, [b, c], "__fmaf_rd", "__fma_rd", "__ptx_fma.rm.f32", "__ptx_fma.rm.f64";
            rcp_rn, rcp, Nearest, [], "__frcp_rn", "__drcp_rn", "__ptx_rcp.rn.f32", "__ptx_rcp.rn.f64";
            rcp_rz, rcp, Zero, [], "__frcp_rz", "__drcp_rz", "__ptx_rcp.rz.f32", "__ptx_rcp.rz.f64";
            rcp_ru, rcp, Up, [], "__frcp_ru", "__drcp_ru", "__ptx_rcp.rp.f32", "__ptx_rcp.rp.f64";
            rcp_rd, rcp, Down, [], "__frcp_rd", "__drcp_rd", "__ptx_rcp.rm.f32", "__ptx_rcp.rm.f64";
            div_rn, div, Nearest, [b], "__fdiv_rn", "__ddiv_rn", "__ptx_div.rn.f32", "__ptx_div.rn.f64";
            div_rz, div, Zero, [b], "__fdiv_rz", "__ddiv_rz", "__ptx_div.rz.f32", "__ptx_div.rz.f64";
            div_ru, div, Up, [b], "__fdiv_ru", "__ddiv_ru", "__ptx_div.rp.f32", "__ptx_div.rp.f64";
            div_rd, div, Down, [b], "__fdiv_rd", "__ddiv_rd", "__ptx_div.rm.f32", "__ptx_div.rm.f64";
            sqrt_rn, sqrt, Nearest, [], "__fsqrt_rn", "__dsqrt_rn", "__ptx_sqrt.rn.f32", "__ptx_sqrt.rn.f64";
            sqrt_rz, sqrt, Zero, [], "__fsqrt_rz", "__dsqrt_rz", "__ptx_sqrt.rz.f32", "__ptx_sqrt.rz.f64";
            sqrt_ru, sqrt, Up, [], "__fsqrt_ru", "__dsqrt_ru", "__ptx_sqrt.rp.f32", "__ptx_sqrt.rp.f64";
            sqrt_rd, sqrt, Down, [], "__fsqrt_rd", "__dsqrt_rd", "__ptx_sqrt.rm.f32", "__ptx_sqrt.rm.f64";
        }
    };
}

/// Calls `$callback!` with every further form that only `f32` has.
///
/// A row is: method, operation, rounding, operands after `self`, form (of `exact::Form`), PTX, symbol.
#[doc(hidden)]
#[macro_export]
macro_rules! single_operations {
    ($callback:path) => {
        $callback! {
            add_rn_ftz, add, Nearest, [b], FLUSH, "add.rn.ftz.f32", "__ptx_add.rn.ftz.f32";
            add_rn_sat, add, Nearest, [b], SATURATE, "add.rn.sat.f32", "__ptx_add.rn.sat.f32";
            add_rn_ftz_sat, add, Nearest, [b], FLUSH_SATURATE, "add.rn.ftz.sat.f32", "__ptx_add.rn.ftz.sat.f32";
            add_rz_ftz, add, Zero, [b], FLUSH, "add.rz.ftz.f32", "__ptx_add.rz.ftz.f32";
            add_rz_sat, add, Zero, [b], SATURATE, "add.rz.sat.f32", "__ptx_add.rz.sat.f32";
            add_rz_ftz_sat, add, Zero, [b], FLUSH_SATURATE, "add.rz.ftz.sat.f32", "__ptx_add.rz.ftz.sat.f32";
            add_ru_ftz, add, Up, [b], FLUSH, "add.rp.ftz.f32", "__ptx_add.rp.ftz.f32";
            add_ru_sat, add, Up, [b], SATURATE, "add.rp.sat.f32", "__ptx_add.rp.sat.f32";
            add_ru_ftz_sat, add, Up, [b], FLUSH_SATURATE, "add.rp.ftz.sat.f32", "__ptx_add.rp.ftz.sat.f32";
            add_rd_ftz, add, Down, [b], FLUSH, "add.rm.ftz.f32", "__ptx_add.rm.ftz.f32";
            add_rd_sat, add, Down, [b], SATURATE, "add.rm.sat.f32", "__ptx_add.rm.sat.f32";
            add_rd_ftz_sat, add, Down, [b], FLUSH_SATURATE, "add.rm.ftz.sat.f32", "__ptx_add.rm.ftz.sat.f32";
            sub_rn_ftz, sub, Nearest, [b], FLUSH, "sub.rn.ftz.f32", "__ptx_sub.rn.ftz.f32";
            sub_rn_sat, sub, Nearest, [b], SATURATE, "sub.rn.sat.f32", "__ptx_sub.rn.sat.f32";
            sub_rn_ftz_sat, sub, Nearest, [b], FLUSH_SATURATE, "sub.rn.ftz.sat.f32", "__ptx_sub.rn.ftz.sat.f32";
            sub_rz_ftz, sub, Zero, [b], FLUSH, "sub.rz.ftz.f32", "__ptx_sub.rz.ftz.f32";
            sub_rz_sat, sub, Zero, [b], SATURATE, "sub.rz.sat.f32", "__ptx_sub.rz.sat.f32";
            sub_rz_ftz_sat, sub, Zero, [b], FLUSH_SATURATE, "sub.rz.ftz.sat.f32", "__ptx_sub.rz.ftz.sat.f32";
            sub_ru_ftz, sub, Up, [b], FLUSH, "sub.rp.ftz.f32", "__ptx_sub.rp.ftz.f32";
            sub_ru_sat, sub, Up, [b], SATURATE, "sub.rp.sat.f32", "__ptx_sub.rp.sat.f32";
            sub_ru_ftz_sat, sub, Up, [b], FLUSH_SATURATE, "sub.rp.ftz.sat.f32", "__ptx_sub.rp.ftz.sat.f32";
            sub_rd_ftz, sub, Down, [b], FLUSH, "sub.rm.ftz.f32", "__ptx_sub.rm.ftz.f32";
            sub_rd_sat, sub, Down, [b], SATURATE, "sub.rm.sat.f32", "__ptx_sub.rm.sat.f32";
            sub_rd_ftz_sat, sub, Down, [b], FLUSH_SATURATE, "sub.rm.ftz.sat.f32", "__ptx_sub.rm.ftz.sat.f32";
            mul_rn_ftz, mul, Nearest, [b], FLUSH, "mul.rn.ftz.f32", "__ptx_mul.rn.ftz.f32";
            mul_rn_sat, mul, Nearest, [b], SATURATE, "mul.rn.sat.f32", "__ptx_mul.rn.sat.f32";
            mul_rn_ftz_sat, mul, Nearest, [b], FLUSH_SATURATE, "mul.rn.ftz.sat.f32", "__ptx_mul.rn.ftz.sat.f32";
            mul_rz_ftz, mul, Zero, [b], FLUSH, "mul.rz.ftz.f32", "__ptx_mul.rz.ftz.f32";
            mul_rz_sat, mul, Zero, [b], SATURATE, "mul.rz.sat.f32", "__ptx_mul.rz.sat.f32";
            mul_rz_ftz_sat, mul, Zero, [b], FLUSH_SATURATE, "mul.rz.ftz.sat.f32", "__ptx_mul.rz.ftz.sat.f32";
            mul_ru_ftz, mul, Up, [b], FLUSH, "mul.rp.ftz.f32", "__ptx_mul.rp.ftz.f32";
            mul_ru_sat, mul, Up, [b], SATURATE, "mul.rp.sat.f32", "__ptx_mul.rp.sat.f32";
            mul_ru_ftz_sat, mul, Up, [b], FLUSH_SATURATE, "mul.rp.ftz.sat.f32", "__ptx_mul.rp.ftz.sat.f32";
            mul_rd_ftz, mul, Down, [b], FLUSH, "mul.rm.ftz.f32", "__ptx_mul.rm.ftz.f32";
            mul_rd_sat, mul, Down, [b], SATURATE, "mul.rm.sat.f32", "__ptx_mul.rm.sat.f32";
            mul_rd_ftz_sat, mul, Down, [b], FLUSH_SATURATE, "mul.rm.ftz.sat.f32", "__ptx_mul.rm.ftz.sat.f32";
            fma_rn_ftz, fma, Nearest, [b, c], FLUSH, "fma.rn.ftz.f32", "__ptx_fma.rn.ftz.f32";
            fma_rn_sat, fma, Nearest, [b, c], SATURATE, "fma.rn.sat.f32", "__ptx_fma.rn.sat.f32";
            fma_rn_ftz_sat, fma, Nearest, [b, c], FLUSH_SATURATE, "fma.rn.ftz.sat.f32", "__ptx_fma.rn.ftz.sat.f32";
            fma_rz_ftz, fma, Zero, [b, c], FLUSH, "fma.rz.ftz.f32", "__ptx_fma.rz.ftz.f32";
            fma_rz_sat, fma, Zero, [b, c], SATURATE, "fma.rz.sat.f32", "__ptx_fma.rz.sat.f32";
            fma_rz_ftz_sat, fma, Zero, [b, c], FLUSH_SATURATE, "fma.rz.ftz.sat.f32", "__ptx_fma.rz.ftz.sat.f32";
            fma_ru_ftz, fma, Up, [b, c], FLUSH, "fma.rp.ftz.f32", "__ptx_fma.rp.ftz.f32";
            fma_ru_sat, fma, Up, [b, c], SATURATE, "fma.rp.sat.f32", "__ptx_fma.rp.sat.f32";
            fma_ru_ftz_sat, fma, Up, [b, c], FLUSH_SATURATE, "fma.rp.ftz.sat.f32", "__ptx_fma.rp.ftz.sat.f32";
            fma_rd_ftz, fma, Down, [b, c], FLUSH, "fma.rm.ftz.f32", "__ptx_fma.rm.ftz.f32";
            fma_rd_sat, fma, Down, [b, c], SATURATE, "fma.rm.sat.f32", "__ptx_fma.rm.sat.f32";
            fma_rd_ftz_sat, fma, Down, [b, c], FLUSH_SATURATE, "fma.rm.ftz.sat.f32", "__ptx_fma.rm.ftz.sat.f32";
            rcp_rn_ftz, rcp, Nearest, [], FLUSH, "rcp.rn.ftz.f32", "__ptx_rcp.rn.ftz.f32";
            rcp_rz_ftz, rcp, Zero, [], FLUSH, "rcp.rz.ftz.f32", "__ptx_rcp.rz.ftz.f32";
            rcp_ru_ftz, rcp, Up, [], FLUSH, "rcp.rp.ftz.f32", "__ptx_rcp.rp.ftz.f32";
            rcp_rd_ftz, rcp, Down, [], FLUSH, "rcp.rm.ftz.f32", "__ptx_rcp.rm.ftz.f32";
            div_rn_ftz, div, Nearest, [b], FLUSH, "div.rn.ftz.f32", "__ptx_div.rn.ftz.f32";
            div_rz_ftz, div, Zero, [b], FLUSH, "div.rz.ftz.f32", "__ptx_div.rz.ftz.f32";
            div_ru_ftz, div, Up, [b], FLUSH, "div.rp.ftz.f32", "__ptx_div.rp.ftz.f32";
            div_rd_ftz, div, Down, [b], FLUSH, "div.rm.ftz.f32", "__ptx_div.rm.ftz.f32";
            sqrt_rn_ftz, sqrt, Nearest, [], FLUSH, "sqrt.rn.ftz.f32", "__ptx_sqrt.rn.ftz.f32";
            sqrt_rz_ftz, sqrt, Zero, [], FLUSH, "sqrt.rz.ftz.f32", "__ptx_sqrt.rz.ftz.f32";
            sqrt_ru_ftz, sqrt, Up, [], FLUSH, "sqrt.rp.ftz.f32", "__ptx_sqrt.rp.ftz.f32";
            sqrt_rd_ftz, sqrt, Down, [], FLUSH, "sqrt.rm.ftz.f32", "__ptx_sqrt.rm.ftz.f32";
        }
    };
}
