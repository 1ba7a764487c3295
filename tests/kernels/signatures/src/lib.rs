//! Kernels whose signatures are compared with nvcc's; `signatures.cu` has each of them under the same name.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![expect(unused_variables, reason = "a signature is all that these kernels are")]
#![expect(missing_docs, reason = "the names say it")]
use ptx::ffi::{CChar, Char16, LongLong, Restrict, ULongLong, Volatile, WChar};
use ptx::prelude::*;
use ptx::vec::{Double3, Float4, Long4_32a, Short2, UChar4};
use ptx::{SurfaceObject, TextureObject, bf16, f16};

macro_rules! layouts {
    ($($(#[$attribute:meta])* $kind:ident $name:ident { $($field:ident: $ty:ty),* })*) => {$(
        #[derive(Clone, Copy, ptx::AbiType)]
        $(#[$attribute])*
        pub $kind $name {
            $(pub $field: $ty,)*
        }
    )*};
}

layouts! {
    #[repr(C)] struct Pair { a: u32, b: f32 }
    #[repr(C)] struct Nested { flag: bool, pair: Pair, value: f64 }
    #[repr(C)] struct Small { a: u8, b: u16 }
    #[repr(C)] struct WithArray { values: [f32; 5], count: u8 }
    #[repr(C)] struct Grid { rows: [[Pair; 2]; 3] }
    #[repr(C, align(16))] struct Aligned16 { a: f32 }
    #[repr(C, align(32))] struct Aligned32 { values: [u8; 40] }
    #[repr(C, align(64))] struct Aligned64 { a: u8 }
    #[repr(C, align(128))] struct Aligned128 { a: f64 }
    #[repr(C)] union Number { float: f64, integer: i32 }
    #[repr(C)] union OddUnion { bytes: [u8; 7], half: u16 }
    #[repr(C)] struct WithPointer { data: *mut f32, count: u32 }
    #[repr(C)] struct WithWide { a: u8, b: u128 }
    #[repr(C)] struct OneByte { a: u8 }
    #[repr(C)] struct ThreeBytes { a: [u8; 3] }
    #[repr(C)] struct Meters { value: f64 }
    #[repr(C)] struct Large { values: [f64; 256] }
}

#[kernel]
pub fn bytes(a: u8, b: i8, c: bool) {}

#[kernel]
pub fn halves(a: u16, b: i16) {}

#[kernel]
pub fn words(a: u32, b: i32, c: char) {}

#[kernel]
pub fn longs(a: u64, b: i64, c: usize, d: isize) {}

#[kernel]
pub fn floats(a: f32, b: f64) {}

#[kernel]
pub fn wide(a: u128, b: i128) {}

#[kernel]
pub fn mixed(a: u8, b: f64, c: u16, d: f32, e: u64) {}

/// # Safety
/// It does nothing.
#[kernel]
pub unsafe fn pointers(a: *const f32, b: *mut u8, c: *const Pair) {}

#[kernel]
pub fn references(a: &f32, b: &Pair) {}

#[kernel]
pub fn slices(a: &[f32], b: DisjointSlice<f64>) {}

#[kernel]
pub fn slices_of_structs(a: &[Pair], b: DisjointSlice<Aligned64>) {}

#[kernel]
pub fn pair(a: Pair) {}

#[kernel]
pub fn nested(a: Nested) {}

#[kernel]
pub fn small_then_large(a: Small, b: f64) {}

#[kernel]
pub fn with_array(a: WithArray) {}

#[kernel]
pub fn array_of_structs(a: Grid) {}

#[kernel]
pub fn aligned16(a: Aligned16, b: u8) {}

#[kernel]
pub fn aligned32(a: u8, b: Aligned32) {}

#[kernel]
pub fn aligned64(a: u8, b: Aligned64, c: u8) {}

#[kernel]
pub fn aligned128(a: u8, b: Aligned128) {}

#[kernel]
pub fn number(a: Number) {}

#[kernel]
pub fn odd_union(a: OddUnion) {}

#[kernel]
pub fn with_pointer(a: WithPointer) {}

#[kernel]
pub fn with_wide(a: WithWide) {}

#[kernel]
pub fn one_byte(a: OneByte, b: OneByte) {}

#[kernel]
pub fn three_bytes(a: ThreeBytes, b: u32) {}

#[kernel]
pub fn newtype(a: Meters) {}

#[kernel]
pub fn large(a: Large) {}

#[ptx::bitfields]
#[repr(C)]
pub struct Fields {
    #[bits(3)]
    pub a: u32,
    #[bits(40)]
    pub b: i64,
    #[bits(0)]
    _end: u16,
    pub c: u8,
}

#[kernel]
pub fn bitfields(a: Fields, b: u8) {}

#[kernel]
pub fn vectors(a: Float4, b: Double3, c: UChar4, d: Long4_32a, e: Short2) {}

#[kernel]
pub fn half_floats(a: f16, b: bf16) {}

#[kernel]
pub fn handles(a: TextureObject, b: SurfaceObject) {}

#[kernel]
pub fn c_integers(a: CChar, b: LongLong, c: ULongLong, d: WChar, e: Char16) {}

#[kernel]
pub fn c_pointers(a: Restrict<*mut f32>, b: *mut Volatile<u32>) {}
