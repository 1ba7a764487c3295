//! Calls through C function pointers: the prototypes are nvcc's for the same C++ code.
#![no_std]
use ptx::prelude::*;
use ptx::vec::Float4;

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(C)]
pub struct Sample {
    pub id: i32,
    pub tag: [i8; 3],
}

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(C)]
pub struct Odd {
    pub bytes: [u8; 3],
}

pub type Many = extern "C" fn(u8, i16, bool, Sample, Float4, Odd, f32, u64) -> i8;

// CHECK: .visible .func  (.param .b32 func_retval0) _Z8indirectPFahsb6Sample6float43OddfmEPFS_S_EPFS1_S0_E(
// CHECK: .callprototype (.param .align 4 .b8 _[8]) _ (.param .align 4 .b8 _[8]);
// CHECK: .callprototype (.param .align 1 .b8 _[3]) _ (.param .align 16 .b8 _[16]);
// CHECK: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _, .param .b32 _, .param .align 4 .b8 _[8], .param .align 16 .b8 _[16], .param .align 1 .b8 _[3], .param .b32 _, .param .b64 _);
#[device(export = "C++")]
pub fn indirect(many: Many, sample: extern "C" fn(Sample) -> Sample, odd: extern "C" fn(Float4) -> Odd) -> i8 {
    let vector = Float4 { x: 1.0, y: 2.0, z: 3.0, w: 4.0 };
    let sample = sample(Sample { id: 1, tag: [1, 2, 3] });
    many(200, -3, true, sample, vector, odd(vector), 1.5, 7)
}
