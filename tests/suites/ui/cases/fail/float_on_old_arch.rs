//! Roundings and formats that the GPU does not have: what it has is named, and `ptx::arch()` keeps the rest away.
//! One of them stands in a function that the kernel calls.
#![no_std]
use ptx::float::{F8E4M3, HalfArithmetic, TensorRounding, ToHalf};
use ptx::prelude::*;
use ptx::{bf16, f16};

#[inline]
fn above(x: f32) -> bf16 {
    x.to_bf16_ru() //~ ERROR: sm_80 has no instruction `cvt.rp.bf16.f32`
}

/// # Safety
/// All must point to values.
#[kernel]
pub unsafe fn run(x: f32, half: f16, brain: *mut bf16, eight: *mut F8E4M3, tensor: *mut f32) {
    // SAFETY: the caller's promise.
    unsafe {
        *brain = x.to_bf16_ru(); //~ ERROR: sm_80 has no instruction `cvt.rp.bf16.f32`
        *brain.add(1) = x.to_bf16_rz();
        *brain.add(3) = above(x + 1.0);
        *eight = F8E4M3::from_f32(x); //~ ERROR: sm_80 has no instruction `cvt.rn.satfinite.e4m3x2.f32`
        *tensor = x.to_tf32_rn(); //~ ERROR: sm_80 has no instruction `cvt.rn.tf32.f32`
        *tensor.add(1) = x.to_tf32_rna();
        *brain.add(2) = bf16::from_bits(half.to_bits()).tanh_approx(); //~ ERROR: sm_80 has no instruction `tanh.approx.bf16`
        if ptx::arch() >= 900 {
            *tensor.add(2) = x.to_tf32_rz();
        }
    }
}
