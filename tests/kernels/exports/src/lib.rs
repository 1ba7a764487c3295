//! Exported functions with every kind of type; `exports.cu` includes the header that is written of them.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![expect(unused_variables, reason = "a signature is all that most of these functions are")]
#![expect(missing_docs, reason = "the names say it")]
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::sync::atomic::AtomicU32;

use ptx::ffi::{CChar, Char16, LongLong, Restrict, ULongLong, Volatile};
use ptx::prelude::*;
use ptx::vec::{Char3, Double2, Double4_32a, Float2, Float4, LongLong2, UShort4};
use ptx::{TextureObject, bf16, f16};

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
    #[repr(C)] struct Empty {}
    #[repr(C)] struct Pair { x: f32, y: u32 }
    #[repr(C)] struct Nested { flag: bool, pairs: [[Pair; 2]; 3], wide: i128, letter: char }
    #[repr(C, align(32))] struct Aligned { values: [u8; 40] }
    #[repr(C, packed)] struct Packed { a: u8, b: f64, c: Pair }
    #[repr(C, packed(2))] struct HalfPacked { a: u8, b: f64, c: u16 }
    #[repr(C)] union Number { float: f64, integer: i32, bytes: [u8; 9] }
    #[repr(C)] struct Vectors { a: Float4, b: Char3, c: UShort4, d: Double4_32a, e: LongLong2 }
    #[repr(C)] struct Halves { a: f16, b: bf16, c: [f16; 3] }
    #[repr(C)] #[expect(non_snake_case, reason = "a member cannot have the record's name in C++")]
    struct Keywords { class: u8, template: u8, class_: u8, Keywords: u8, r#type: u8 }
    #[repr(C)] struct Node { next: *mut Node, mode: *const Mode, level: Level, opaque: *mut Opaque, link: *const Link }
    #[repr(C)] struct Link { back: *const Node }
    #[repr(C)] #[ptx(namespace = "geo::shapes")] struct Circle { center: Float2, style: Style }
    #[repr(C)] #[ptx(namespace = "geo", name = "style")] struct Style { flags: Flags, width: f16 }
    #[repr(C)] struct Callbacks { apply: extern "C" fn(Pair, *mut Node) -> f32, rows: *const [f32; 4] }
    #[repr(C)] struct Foreign { a: CChar, b: LongLong, c: ULongLong, d: Char16, texture: TextureObject }
}

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(C)]
pub struct Tuple(pub u8, pub [Aligned; 2]);

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(transparent)]
pub struct Meters(pub f64);

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(C)]
#[ptx(namespace = "geo")]
pub struct Array<T, const N: usize> {
    pub values: [T; N],
}

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(u8)]
pub enum Mode {
    Fast = 1,
    Slow = 200,
}

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(i64)]
#[ptx(namespace = "geo")]
pub enum Level {
    Low = i64::MIN,
    High = i64::MAX,
}

#[derive(ptx::CxxType)]
pub struct Opaque;

#[ptx::bitfields]
#[repr(C)]
pub struct Flags {
    #[bits(3)]
    pub kind: u32,
    #[bits(5)]
    pub shift: i8,
    #[bits(7)]
    _unused: u16,
    pub size: u16,
    #[bits(0)]
    _end: LongLong,
    #[bits(1)]
    pub on: bool,
    #[bits(40)]
    pub long: ULongLong,
}

#[ptx::bitfields]
#[repr(C)]
pub union FlagUnion {
    #[bits(9)]
    pub low: u32,
    pub pair: [u16; 3],
}

macro_rules! passed {
    ($($by_value:ident $by_pointer:ident $ty:ty;)*) => {$(
        #[device(export = "C++")]
        pub fn $by_value(value: $ty) -> $ty {
            value
        }

        #[device(export)]
        pub fn $by_pointer(to: *mut $ty, from: *const $ty) {}
    )*};
}

passed! {
    pass_empty point_to_empty Empty;
    pass_pair point_to_pair Pair;
    pass_nested point_to_nested Nested;
    pass_aligned point_to_aligned Aligned;
    pass_packed point_to_packed Packed;
    pass_half_packed point_to_half_packed HalfPacked;
    pass_number point_to_number Number;
    pass_vectors point_to_vectors Vectors;
    pass_halves point_to_halves Halves;
    pass_keywords point_to_keywords Keywords;
    pass_node point_to_node Node;
    pass_circle point_to_circle Circle;
    pass_callbacks point_to_callbacks Callbacks;
    pass_foreign point_to_foreign Foreign;
    pass_tuple point_to_tuple Tuple;
    pass_meters point_to_meters Meters;
    pass_array point_to_array Array<f32, 4>;
    pass_array_of_pairs point_to_array_of_pairs Array<Pair, 2>;
    pass_mode point_to_mode Mode;
    pass_level point_to_level Level;
    pass_flags point_to_flags Flags;
    pass_flag_union point_to_flag_union FlagUnion;
    pass_float4 point_to_float4 Float4;
    pass_double2 point_to_double2 Double2;
    pass_half point_to_half f16;
    pass_bfloat point_to_bfloat bf16;
    pass_char point_to_char CChar;
    pass_texture point_to_texture TextureObject;
    pass_wide point_to_wide u128;
    pass_bool point_to_bool bool;
}

#[device(export = "C++", namespace = "geo::lib")]
pub fn pointers(a: Restrict<*mut f32>, b: *mut Restrict<*mut f32>, c: *const Volatile<u32>, d: *mut AtomicU32) {}

#[device(export = "C++", namespace = "geo")]
pub fn more_pointers(a: *mut c_void, b: *const *mut i8, c: *mut Opaque, d: *const UnsafeCell<Circle>) -> *const Node {
    core::ptr::null()
}

#[device(export = "C++")]
pub fn references(a: &Pair, b: &mut Circle, c: &[Float4], d: &mut [Mode]) -> usize {
    c.len() + d.len()
}

#[device(export = "C++")]
pub fn function_pointer(f: extern "C" fn(f32, *const Pair) -> u8, new: Option<extern "C" fn()>) {}

#[device(export)]
pub fn nothing() {}

#[kernel]
pub fn kernel_c(pair: Pair, values: &[f32], level: &Level, out: DisjointSlice<Array<Pair, 2>>) {}

#[kernel(export = "C++", namespace = "geo")]
pub fn kernel_cxx(circle: Circle, flags: Flags, nodes: *const Node) {}

#[kernel]
pub fn kernel_array(values: [f32; 4]) {}
