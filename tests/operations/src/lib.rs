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
}
