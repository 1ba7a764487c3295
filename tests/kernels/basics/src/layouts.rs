//! Aggregates by value: what the host passes arrives byte for byte.

use ptx::prelude::*;

/// For each alignment: a struct that has it, and a kernel that stores its parameter between two others.
macro_rules! aligned {
    ($($name:ident, $kernel:ident, $align:literal, $size:literal;)*) => {$(
        #[derive(Clone, Copy, PartialEq, Debug, AbiType)]
        #[repr(C, align($align))]
        pub struct $name {
            pub bytes: [u8; $size],
        }

        #[kernel]
        pub fn $kernel(before: u8, value: $name, after: u16, mut out: DisjointSlice<$name>, mut others: DisjointSlice<u32>) {
            let i = thread::index_1d();
            if let (Some(out), Some(others)) = (out.get_mut(i), others.get_mut(i)) {
                *out = value;
                *others = u32::from(before) << 16 | u32::from(after);
            }
        }
    )*};
}

aligned! {
    Align1, echo_align1, 1, 5;
    Align2, echo_align2, 2, 6;
    Align4, echo_align4, 4, 12;
    Align8, echo_align8, 8, 24;
    Align16, echo_align16, 16, 16;
    Align32, echo_align32, 32, 96;
    Align64, echo_align64, 64, 64;
    Align128, echo_align128, 128, 256;
}

#[derive(Clone, Copy, PartialEq, Debug, AbiType)]
#[repr(C)]
pub struct Inner {
    pub a: u8,
    pub b: f64,
    pub c: [i16; 3],
}

#[derive(Clone, Copy, PartialEq, Debug, AbiType)]
#[repr(C)]
pub struct Outer {
    pub flag: bool,
    pub rows: [[Inner; 2]; 2],
    pub wide: u128,
    pub tail: char,
}

#[kernel]
pub fn echo_outer(value: Outer, mut out: DisjointSlice<Outer>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = value;
    }
}

impl Outer {
    /// Something of every member.
    #[inline]
    pub fn sum(&self) -> f64 {
        let rows = self.rows.iter().flatten();
        let inner = rows.map(|i| f64::from(i.a) + i.b + i.c.iter().map(|c| f64::from(*c)).sum::<f64>()).sum::<f64>();
        inner + f64::from(u8::from(self.flag)) + (self.wide >> 100) as f64 + f64::from(self.tail as u32)
    }
}

#[kernel]
pub fn sum_outer(value: Outer, mut out: DisjointSlice<f64>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = value.sum();
    }
}

#[derive(Clone, Copy, AbiType)]
#[repr(C)]
pub union Number {
    pub float: f64,
    pub words: [u32; 2],
    pub bytes: [u8; 8],
}

#[kernel]
pub fn take_union(number: Number, mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        // SAFETY: every pattern of bits is a number and two words.
        *out = unsafe { number.words[i.get() % 2] ^ (number.float * 2.0).to_bits() as u32 };
    }
}

#[kernel]
pub fn take_array(table: [u32; 7], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = table[i.get() % 7];
    }
}

#[derive(Clone, Copy, AbiType)]
#[repr(C)]
pub struct Buffer {
    pub data: *mut u32,
    pub len: u32,
}

/// # Safety
/// `buffer.data` must point to `buffer.len` elements.
#[kernel]
pub unsafe fn fill_buffer(buffer: Buffer, value: u32) {
    let i = thread::index_1d().get();
    if i < buffer.len as usize {
        // SAFETY: the caller's promise.
        unsafe { *buffer.data.add(i) = value + i as u32 };
    }
}
