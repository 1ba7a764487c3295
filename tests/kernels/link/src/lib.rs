//! The Rust side of `cuda/twin.cu`: kernels that call CUDA C++, functions that it calls, and the same for the CPU.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![expect(missing_docs, reason = "the names say it")]

use ptx::prelude::*;

/// Crosses in both directions: bytes, padding, and an alignment that rustc itself cannot pass.
#[derive(Clone, Copy, Debug, PartialEq, AbiType)]
#[repr(C, align(32))]
#[ptx(namespace = "twin")]
pub struct Mixed {
    pub small: i8,
    pub wide: f64,
    pub parts: [i16; 3],
    pub count: u32,
}

/// One step in Rust; CUDA C++ calls it.
#[device(export = "C++", namespace = "rusty")]
pub fn step(mixed: Mixed, by: i8) -> Mixed {
    Mixed {
        small: mixed.small.wrapping_add(by),
        wide: mixed.wide * 0.5 + f64::from(by),
        parts: mixed.parts.map(|part| part.wrapping_mul(3) ^ i16::from(by)),
        count: mixed.count.rotate_left(3),
    }
}

/// A scalar function with a C name, which CUDA C++ calls.
#[device(export)]
pub fn rust_twice(x: i32) -> i32 {
    x.wrapping_mul(2)
}

#[derive(Clone, Copy, Debug, PartialEq, AbiType)]
#[repr(C)]
#[ptx(namespace = "twin")]
pub struct Pair {
    pub wide: i16,
    pub small: u8,
}

/// A function of either language.
pub type Combine = extern "C" fn(i8, u16, Pair) -> i16;

/// Calls what CUDA C++ gives.
#[device(export = "C++", namespace = "rusty")]
pub fn apply(combine: Combine, a: i8, b: u16) -> i16 {
    combine(a, b, Pair { wide: -2, small: 255 })
}

/// What CUDA C++ is given to call.
pub extern "C" fn add(a: i8, b: u16, pair: Pair) -> i16 {
    i16::from(a).wrapping_mul(5).wrapping_add(b as i16).wrapping_add(pair.wide) ^ i16::from(pair.small)
}

#[device(import, namespace = "twin")]
unsafe extern "C++" {
    /// CUDA C++ that calls the function that it is given.
    safe fn apply_here(combine: Combine, a: i8, b: u16) -> i16;
    /// CUDA C++ that gives [`apply`] a function to call.
    safe fn through_pointer(a: i8, b: u16) -> i16;
    /// One step in CUDA C++.
    safe fn mix(mixed: Mixed, by: i8) -> Mixed;
    /// CUDA C++ that calls [`step`] so many times.
    safe fn through_rust(mixed: Mixed, times: i32) -> Mixed;
}

#[device(import)]
unsafe extern "C" {
    /// `a * b + rust_twice(a)`
    safe fn cpp_scale(a: i32, b: i32) -> i32;
}

/// What the twin computes, in Rust.
pub mod twin {
    use super::{Combine, Mixed, Pair, apply, rust_twice, step};

    pub fn mix(mixed: Mixed, by: i8) -> Mixed {
        let [a, b, c] = mixed.parts;
        Mixed {
            small: mixed.small ^ by,
            wide: mixed.wide + f64::from(mixed.small),
            parts: [c, a, b],
            count: mixed.count.wrapping_sub(7),
        }
    }

    pub fn through_rust(mut mixed: Mixed, times: i32) -> Mixed {
        for time in 0..times {
            mixed = step(mixed, time as i8);
        }
        mixed
    }

    pub fn apply_here(combine: Combine, a: i8, b: u16) -> i16 {
        combine(a, b, Pair { wide: 300, small: 200 })
    }

    extern "C" fn subtract(a: i8, b: u16, pair: Pair) -> i16 {
        (i32::from(a) * 3 - i32::from(b) - i32::from(pair.wide) + i32::from(pair.small)) as i16
    }

    pub fn through_pointer(a: i8, b: u16) -> i16 {
        apply(subtract, a, b)
    }

    pub fn cpp_scale(a: i32, b: i32) -> i32 {
        a.wrapping_mul(b).wrapping_add(rust_twice(a))
    }
}

#[kernel]
pub fn rust_calls_cuda(values: &[Mixed], by: i8, mut out: DisjointSlice<Mixed>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = mix(values[i.get()], by);
    }
}

#[kernel]
pub fn cuda_calls_rust(values: &[Mixed], times: i32, mut out: DisjointSlice<Mixed>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = through_rust(values[i.get()], times);
    }
}

/// Two function pointers: one of Rust's that CUDA C++ calls, one of CUDA C++'s that Rust calls.
#[kernel]
pub fn pointers(a: &[i32], mut out: DisjointSlice<[i16; 2]>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let (small, wide) = (a[i.get()] as i8, (a[i.get()] >> 8) as u16);
        *out = [apply_here(add, small, wide), through_pointer(small, wide)];
    }
}

#[kernel]
pub fn scalars(a: &[i32], b: i32, mut out: DisjointSlice<i32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = cpp_scale(a[i.get()], b);
    }
}
