//! Kernels of one operation of `ptx::float` each. `operations.cu` has the same in CUDA C++, under the same names, and the
//! pipeline test compares the instructions.
#![no_std]
#![expect(clippy::missing_safety_doc, reason = "all the same: the pointer must be to a value")]

use ptx::float::*;
use ptx::prelude::*;

macro_rules! operations {
    ($($name:ident: $from:ty => $to:ty, |$($operand:ident),*| $value:expr;)*) => {$(
        #[expect(missing_docs, reason = "the name says it")]
        #[kernel]
        pub unsafe fn $name(out: *mut $to, $($operand: $from),*) {
            // SAFETY: the caller's promise.
            unsafe { *out = $value };
        }
    )*};
}

operations! {
    f32_add_rn: f32 => f32, |a, b| a.add_rn(b);
    f64_add_rn: f64 => f64, |a, b| a.add_rn(b);
    f32_add_rz: f32 => f32, |a, b| a.add_rz(b);
    f64_add_rz: f64 => f64, |a, b| a.add_rz(b);
    f32_add_ru: f32 => f32, |a, b| a.add_ru(b);
    f64_add_ru: f64 => f64, |a, b| a.add_ru(b);
    f32_add_rd: f32 => f32, |a, b| a.add_rd(b);
    f64_add_rd: f64 => f64, |a, b| a.add_rd(b);
    f32_sub_rn: f32 => f32, |a, b| a.sub_rn(b);
    f64_sub_rn: f64 => f64, |a, b| a.sub_rn(b);
    f32_sub_rz: f32 => f32, |a, b| a.sub_rz(b);
    f64_sub_rz: f64 => f64, |a, b| a.sub_rz(b);
    f32_sub_ru: f32 => f32, |a, b| a.sub_ru(b);
    f64_sub_ru: f64 => f64, |a, b| a.sub_ru(b);
    f32_sub_rd: f32 => f32, |a, b| a.sub_rd(b);
    f64_sub_rd: f64 => f64, |a, b| a.sub_rd(b);
    f32_mul_rn: f32 => f32, |a, b| a.mul_rn(b);
    f64_mul_rn: f64 => f64, |a, b| a.mul_rn(b);
    f32_mul_rz: f32 => f32, |a, b| a.mul_rz(b);
    f64_mul_rz: f64 => f64, |a, b| a.mul_rz(b);
    f32_mul_ru: f32 => f32, |a, b| a.mul_ru(b);
    f64_mul_ru: f64 => f64, |a, b| a.mul_ru(b);
    f32_mul_rd: f32 => f32, |a, b| a.mul_rd(b);
    f64_mul_rd: f64 => f64, |a, b| a.mul_rd(b);
    f32_fma_rn: f32 => f32, |a, b, c| a.fma_rn(b, c);
    f64_fma_rn: f64 => f64, |a, b, c| a.fma_rn(b, c);
    f32_fma_rz: f32 => f32, |a, b, c| a.fma_rz(b, c);
    f64_fma_rz: f64 => f64, |a, b, c| a.fma_rz(b, c);
    f32_fma_ru: f32 => f32, |a, b, c| a.fma_ru(b, c);
    f64_fma_ru: f64 => f64, |a, b, c| a.fma_ru(b, c);
    f32_fma_rd: f32 => f32, |a, b, c| a.fma_rd(b, c);
    f64_fma_rd: f64 => f64, |a, b, c| a.fma_rd(b, c);
    f32_rcp_rn: f32 => f32, |a| a.rcp_rn();
    f64_rcp_rn: f64 => f64, |a| a.rcp_rn();
    f32_rcp_rz: f32 => f32, |a| a.rcp_rz();
    f64_rcp_rz: f64 => f64, |a| a.rcp_rz();
    f32_rcp_ru: f32 => f32, |a| a.rcp_ru();
    f64_rcp_ru: f64 => f64, |a| a.rcp_ru();
    f32_rcp_rd: f32 => f32, |a| a.rcp_rd();
    f64_rcp_rd: f64 => f64, |a| a.rcp_rd();
    f32_div_rn: f32 => f32, |a, b| a.div_rn(b);
    f64_div_rn: f64 => f64, |a, b| a.div_rn(b);
    f32_div_rz: f32 => f32, |a, b| a.div_rz(b);
    f64_div_rz: f64 => f64, |a, b| a.div_rz(b);
    f32_div_ru: f32 => f32, |a, b| a.div_ru(b);
    f64_div_ru: f64 => f64, |a, b| a.div_ru(b);
    f32_div_rd: f32 => f32, |a, b| a.div_rd(b);
    f64_div_rd: f64 => f64, |a, b| a.div_rd(b);
    f32_sqrt_rn: f32 => f32, |a| a.sqrt_rn();
    f64_sqrt_rn: f64 => f64, |a| a.sqrt_rn();
    f32_sqrt_rz: f32 => f32, |a| a.sqrt_rz();
    f64_sqrt_rz: f64 => f64, |a| a.sqrt_rz();
    f32_sqrt_ru: f32 => f32, |a| a.sqrt_ru();
    f64_sqrt_ru: f64 => f64, |a| a.sqrt_ru();
    f32_sqrt_rd: f32 => f32, |a| a.sqrt_rd();
    f64_sqrt_rd: f64 => f64, |a| a.sqrt_rd();
    f32_to_i32_rn: f32 => i32, |a| a.to_i32_rn();
    i32_to_f32_rn: i32 => f32, |a| a.to_f32_rn();
    f32_to_i32_rz: f32 => i32, |a| a.to_i32_rz();
    i32_to_f32_rz: i32 => f32, |a| a.to_f32_rz();
    f32_to_i32_ru: f32 => i32, |a| a.to_i32_ru();
    i32_to_f32_ru: i32 => f32, |a| a.to_f32_ru();
    f32_to_i32_rd: f32 => i32, |a| a.to_i32_rd();
    i32_to_f32_rd: i32 => f32, |a| a.to_f32_rd();
    f32_to_u32_rn: f32 => u32, |a| a.to_u32_rn();
    u32_to_f32_rn: u32 => f32, |a| a.to_f32_rn();
    f32_to_u32_rz: f32 => u32, |a| a.to_u32_rz();
    u32_to_f32_rz: u32 => f32, |a| a.to_f32_rz();
    f32_to_u32_ru: f32 => u32, |a| a.to_u32_ru();
    u32_to_f32_ru: u32 => f32, |a| a.to_f32_ru();
    f32_to_u32_rd: f32 => u32, |a| a.to_u32_rd();
    u32_to_f32_rd: u32 => f32, |a| a.to_f32_rd();
    f32_to_i64_rn: f32 => i64, |a| a.to_i64_rn();
    i64_to_f32_rn: i64 => f32, |a| a.to_f32_rn();
    f32_to_i64_rz: f32 => i64, |a| a.to_i64_rz();
    i64_to_f32_rz: i64 => f32, |a| a.to_f32_rz();
    f32_to_i64_ru: f32 => i64, |a| a.to_i64_ru();
    i64_to_f32_ru: i64 => f32, |a| a.to_f32_ru();
    f32_to_i64_rd: f32 => i64, |a| a.to_i64_rd();
    i64_to_f32_rd: i64 => f32, |a| a.to_f32_rd();
    f32_to_u64_rn: f32 => u64, |a| a.to_u64_rn();
    u64_to_f32_rn: u64 => f32, |a| a.to_f32_rn();
    f32_to_u64_rz: f32 => u64, |a| a.to_u64_rz();
    u64_to_f32_rz: u64 => f32, |a| a.to_f32_rz();
    f32_to_u64_ru: f32 => u64, |a| a.to_u64_ru();
    u64_to_f32_ru: u64 => f32, |a| a.to_f32_ru();
    f32_to_u64_rd: f32 => u64, |a| a.to_u64_rd();
    u64_to_f32_rd: u64 => f32, |a| a.to_f32_rd();
    f32_to_integral_rn: f32 => f32, |a| a.to_integral_rn();
    f32_to_integral_rz: f32 => f32, |a| a.to_integral_rz();
    f32_to_integral_ru: f32 => f32, |a| a.to_integral_ru();
    f32_to_integral_rd: f32 => f32, |a| a.to_integral_rd();
    f64_to_i32_rn: f64 => i32, |a| a.to_i32_rn();
    i32_to_f64_rn: i32 => f64, |a| a.to_f64_rn();
    f64_to_i32_rz: f64 => i32, |a| a.to_i32_rz();
    f64_to_i32_ru: f64 => i32, |a| a.to_i32_ru();
    f64_to_i32_rd: f64 => i32, |a| a.to_i32_rd();
    f64_to_u32_rn: f64 => u32, |a| a.to_u32_rn();
    u32_to_f64_rn: u32 => f64, |a| a.to_f64_rn();
    f64_to_u32_rz: f64 => u32, |a| a.to_u32_rz();
    f64_to_u32_ru: f64 => u32, |a| a.to_u32_ru();
    f64_to_u32_rd: f64 => u32, |a| a.to_u32_rd();
    f64_to_i64_rn: f64 => i64, |a| a.to_i64_rn();
    i64_to_f64_rn: i64 => f64, |a| a.to_f64_rn();
    f64_to_i64_rz: f64 => i64, |a| a.to_i64_rz();
    i64_to_f64_rz: i64 => f64, |a| a.to_f64_rz();
    f64_to_i64_ru: f64 => i64, |a| a.to_i64_ru();
    i64_to_f64_ru: i64 => f64, |a| a.to_f64_ru();
    f64_to_i64_rd: f64 => i64, |a| a.to_i64_rd();
    i64_to_f64_rd: i64 => f64, |a| a.to_f64_rd();
    f64_to_u64_rn: f64 => u64, |a| a.to_u64_rn();
    u64_to_f64_rn: u64 => f64, |a| a.to_f64_rn();
    f64_to_u64_rz: f64 => u64, |a| a.to_u64_rz();
    u64_to_f64_rz: u64 => f64, |a| a.to_f64_rz();
    f64_to_u64_ru: f64 => u64, |a| a.to_u64_ru();
    u64_to_f64_ru: u64 => f64, |a| a.to_f64_ru();
    f64_to_u64_rd: f64 => u64, |a| a.to_u64_rd();
    u64_to_f64_rd: u64 => f64, |a| a.to_f64_rd();
    f64_to_integral_rn: f64 => f64, |a| a.to_integral_rn();
    f64_to_integral_rz: f64 => f64, |a| a.to_integral_rz();
    f64_to_integral_ru: f64 => f64, |a| a.to_integral_ru();
    f64_to_integral_rd: f64 => f64, |a| a.to_integral_rd();
    f64_to_f32_rn: f64 => f32, |a| a.to_f32_rn();
    f64_to_f32_rz: f64 => f32, |a| a.to_f32_rz();
    f64_to_f32_ru: f64 => f32, |a| a.to_f32_ru();
    f64_to_f32_rd: f64 => f32, |a| a.to_f32_rd();
    sin_approx: f32 => f32, |a| a.sin_approx();
    cos_approx: f32 => f32, |a| a.cos_approx();
    tan_approx: f32 => f32, |a| a.tan_approx();
    exp_approx: f32 => f32, |a| a.exp_approx();
    exp10_approx: f32 => f32, |a| a.exp10_approx();
    exp2_approx: f32 => f32, |a| a.exp2_approx();
    ln_approx: f32 => f32, |a| a.ln_approx();
    log2_approx: f32 => f32, |a| a.log2_approx();
    log10_approx: f32 => f32, |a| a.log10_approx();
    powf_approx: f32 => f32, |a, b| a.powf_approx(b);
    div_approx: f32 => f32, |a, b| a.div_approx(b);
    rsqrt_approx: f32 => f32, |a| a.rsqrt_approx();
    tanh_approx: f32 => f32, |a| a.tanh_approx();
    sin_cos_approx: f32 => [f32; 2], |a| a.sin_cos_approx().into();
    saturate: f32 => f32, |a| a.saturate();
    f64_rsqrt_approx: f64 => f64, |a| a.rsqrt_approx();
}
