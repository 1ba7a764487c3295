//! Bit-fields: read by shifts, written without touching their neighbours, passed like any struct.
#![no_std]
use ptx::prelude::*;

#[ptx::bitfields]
#[repr(C)]
pub struct Pixel {
    #[bits(5)]
    pub red: u16,
    #[bits(6)]
    pub green: u16,
    #[bits(5)]
    pub blue: u16,
    #[bits(0)]
    _end: u32,
    pub depth: f32,
    #[bits(12)]
    pub delta: i64,
}

#[ptx::bitfields]
#[repr(C)]
pub union Word {
    pub all: u32,
    #[bits(9)]
    pub low: u32,
}

const _: () = assert!(size_of::<Pixel>() == 16 && align_of::<Pixel>() == 8 && size_of::<Word>() == 4);

// A field of two bytes is one load, a shift and a mask.
// CHECK-LABEL: .visible .entry green(
// CHECK: ld.global{{(.nc)?}}.{{[bu]16}}
// CHECK-NOT: ld.global
// CHECK: ret;
#[kernel]
pub fn green(pixels: &[Pixel; 1], out: *mut u16) {
    let green = pixels[0].green();
    // SAFETY: the caller's memory.
    unsafe { out.write(green) }
}

// CHECK-LABEL: .visible .entry paint(
// CHECK: .param .align 8 .b8 paint_param_0[16],
// CHECK: .param .align 4 .b8 paint_param_1[4],
#[kernel]
pub fn paint(pixel: Pixel, word: Word, mut out: DisjointSlice<Pixel>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = pixel.with_green(word.low() as u16).with_delta(-1).with_depth(2.0);
        out.set_red(out.blue());
    }
}
