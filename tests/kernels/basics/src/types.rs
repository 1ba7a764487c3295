//! C's types in kernels: bit-fields, CUDA's vectors, 16-bit floats.

use ptx::ffi::{CChar, LongLong, ULongLong};
use ptx::prelude::*;
use ptx::vec::{Double2, Float4, Int4, LongLong2, UChar4, UShort3, int4};
use ptx::{bf16, f16};

/// Fields that share storage units with each other and with what is no bit-field.
#[ptx::bitfields]
#[derive(PartialEq)]
#[repr(C)]
pub struct Fields {
    #[bits(3)]
    pub a: u8,
    #[bits(9)]
    pub b: i16,
    pub c: u8,
    #[bits(17)]
    pub d: u32,
    #[bits(0)]
    _end: u64,
    #[bits(40)]
    pub e: LongLong,
    #[bits(5)]
    _unused: u32,
    #[bits(1)]
    pub f: bool,
    pub g: u16,
    #[bits(64)]
    pub h: ULongLong,
}

#[ptx::bitfields]
#[derive(PartialEq)]
#[repr(C)]
pub union FieldUnion {
    #[bits(11)]
    pub low: i32,
    pub halves: [u16; 2],
    #[bits(29)]
    pub high: u32,
}

/// Reads every field and writes every field.
#[inline]
pub fn turn(fields: Fields, union: FieldUnion) -> (Fields, FieldUnion) {
    let mut turned = fields;
    turned.set_a(fields.a().wrapping_add(fields.c()));
    turned.set_b(fields.b().wrapping_mul(3));
    turned.set_c(fields.d() as u8);
    turned.set_d(fields.d() ^ fields.b() as u32);
    turned.set_e(LongLong(fields.e().wrapping_sub(i64::from(fields.a()))));
    turned.set_f(!fields.f());
    turned.set_g(fields.g().rotate_left(3));
    turned.set_h(ULongLong(fields.h().rotate_right(9)));
    let other = FieldUnion::new().with_high(union.high().wrapping_add(union.low() as u32));
    (turned, other.with_low(union.low().wrapping_neg()))
}

#[kernel]
pub fn turn_fields(
    add: Fields,
    fields: &[Fields],
    unions: &[FieldUnion],
    mut out: DisjointSlice<Fields>,
    mut out_unions: DisjointSlice<FieldUnion>,
) {
    let i = thread::index_1d();
    if let (Some(out), Some(out_union)) = (out.get_mut(i), out_unions.get_mut(i)) {
        let (turned, union) = turn(fields[i.get()], unions[i.get()]);
        *out = turned.with_g(turned.g().wrapping_add(add.g()));
        *out_union = union;
    }
}

/// Arithmetic with exact results: fused or not makes no difference.
#[inline]
pub fn mix(a: Float4, b: Int4, c: UChar4) -> (Float4, Int4, Double2) {
    let bytes = int4(c.x.into(), c.y.into(), c[2].into(), c[3].into());
    let ints = (b << 2) - (bytes & 7) * int4(1, -1, 2, -2);
    (2.0 * a - 0.5, !ints ^ b, Double2::new(a.dot(a).into(), ints.y.into()))
}

#[kernel]
#[expect(clippy::too_many_arguments, reason = "one for each type")]
pub fn mix_vectors(
    scale: Float4,
    skew: UShort3,
    a: &[Float4],
    b: &[Int4],
    c: &[UChar4],
    mut out_a: DisjointSlice<Float4>,
    mut out_b: DisjointSlice<Int4>,
    mut out_c: DisjointSlice<Double2>,
    mut out_d: DisjointSlice<LongLong2>,
) {
    let i = thread::index_1d();
    let n = i.get();
    if let (Some(out_a), Some(out_b), Some(out_c), Some(out_d)) =
        (out_a.get_mut(i), out_b.get_mut(i), out_c.get_mut(i), out_d.get_mut(i))
    {
        let (x, y, z) = mix(a[n], b[n], c[n]);
        (*out_a, *out_b, *out_c) = (x * scale, y + i32::from(skew.z), z);
        *out_d = LongLong2::new(y.w.into(), skew.x.into());
    }
}

#[kernel]
pub fn halves(scale: f16, offset: bf16, letter: CChar, x: &[f16], mut out: DisjointSlice<bf16>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = bf16::from_f32(x[i.get()].to_f32() * scale.to_f32() + offset.to_f32() + f32::from(*letter));
    }
}
