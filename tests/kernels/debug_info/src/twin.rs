//! The same as twin.cu, line by line: names, types, lines and places of variables are compared.
//! In CUDA C++ a line may be split or empty, so that the lines agree.
//! Compared, and looked at in cuda-gdb; nobody else runs them.
use ptx::Shared;
use ptx::prelude::*;

#[derive(Clone, Copy, AbiType)]
#[repr(C)]
pub struct Pair {
    pub a: i32,
    pub b: f32,
}

#[derive(Clone, Copy)]
#[repr(i32)]
pub enum Colour {
    Red = 1,
    Green = 5,
    Blue = 6,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub union Bits {
    pub i: i32,
    pub f: f32,
}

#[ptx::constant]
static TABLE: [i32; 4] = [1, 2, 3, 4];

#[ptx::shared]
static TILE: Shared<[i32; 32]>;

#[inline(never)]
fn add(i: i32, j: i32) -> i32 {
    let sum = i + j;
    sum
}

#[kernel]
pub unsafe fn scalars(out: *mut i32, n: i32, x: f32, d: f64, flag: bool, byte: u8, wide: i64, size: u64) {
    let i = thread::thread_idx_x() as i32;
    let y = x * 2.0;
    if i < n {
        let inner = add(i, n);
        unsafe { *out = inner + y as i32 + d as i32 + flag as i32 + byte as i32 + wide as i32 + size as i32 };
    }
}

#[kernel]
pub unsafe fn aggregates(out: *mut i32, p: Pair) {
    let local = p;
    let array = [1, 2, 3, 4];
    let colour = Colour::Blue;
    let pointer = &array[1];
    let bits = Bits { f: p.b };
    let pairs = [p, local];
    unsafe {
        *out = local.a
            + array[2]
            + colour as i32
            + *pointer
            + bits.i
            + pairs[1].a
            + Colour::Red as i32
            + Colour::Green as i32
    };
}

#[kernel]
pub unsafe fn widths(out: *mut u64, short_: i16, ushort_: u16, int_: u32, long_: i64) {
    let a = short_ as i8;
    let b = ushort_ as u32;
    let c = int_ as u64 + long_ as u64;
    let huge = c as u128 * 3;
    let signed_ = huge as i128 - 1;
    unsafe { *out = a as u64 + b as u64 + c + huge as u64 + signed_ as u64 };
}

#[kernel]
pub unsafe fn statics(out: *mut i32) {
    let i = thread::thread_idx_x() as usize;
    unsafe { TILE.write(i, i as i32) };
    sync_threads();
    unsafe { *out.add(i) = TILE.read(31 - i) + TABLE[i % 4] };
}
