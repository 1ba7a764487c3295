//! What Rust has and C++ has not: enums with data, niches, slices, closures, generics.
use ptx::prelude::*;

/// An enum with a tag.
#[derive(Clone, Copy)]
pub enum Shape {
    Circle(f32),
    Rect { w: f32, h: f32 },
    Empty,
}

/// A generic structure.
#[derive(Clone, Copy)]
pub struct Wrapper<T> {
    pub inner: T,
    pub count: u8,
}

#[inline(never)]
fn area(shape: &Shape) -> f32 {
    match shape {
        Shape::Circle(r) => r * r,
        Shape::Rect { w, h } => w * h,
        Shape::Empty => 0.0,
    }
}

#[inline(never)]
fn apply<F: Fn(i32) -> i32>(f: F, x: i32) -> i32 {
    f(x)
}

#[inline(never)]
fn factorial(n: u32) -> u32 {
    if n < 2 { 1 } else { n * factorial(n - 1) }
}

#[kernel]
pub fn enums(scale: f32, input: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let circle = Shape::Circle(scale);
    let rect = Shape::Rect { w: scale, h: 3.0 };
    let empty = Shape::Empty;
    let some: Option<&f32> = input.get(i.get());
    let none: Option<&f32> = None;
    let byte: Option<u8> = Some(7);
    let flag: Option<bool> = if scale > 1.0 { Some(true) } else { None };
    let result: Result<u32, i8> = Err(-3);
    let total = area(&circle) + area(&rect) + area(&empty) + some.map_or(0.0, |x| *x) + none.map_or(0.0, |x| *x);
    let extra = byte.unwrap_or(0) as f32 + flag.is_some() as u8 as f32 + result.is_ok() as u8 as f32;
    if let Some(out) = out.get_mut(i) {
        *out = total + extra;
    }
}

#[kernel]
pub fn views(input: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let tail = &input[1..];
    let text = "hello";
    let letter = 'x';
    let tuple = (1_u8, 2.5_f32, letter);
    let wrapped = Wrapper { inner: tuple, count: 3 };
    let nested = Wrapper { inner: Some(4_i32), count: 5 };
    let array = [[1_u16, 2], [3, 4]];
    let unit = ();
    let wide = 1_u128 << 100;
    if let Some(out) = out.get_mut(i) {
        let _: () = unit;
        *out = tail[0] + text.len() as f32 + wrapped.inner.1 + nested.count as f32 + array[1][0] as f32 + wide as f32;
    }
}

#[kernel]
pub fn closures(offset: i32, mut out: DisjointSlice<i32>) {
    let i = thread::index_1d();
    let base = offset + 1;
    let by_reference = |x: i32| x + base;
    let by_value = move |x: i32| x * base;
    let first = apply(by_reference, 2);
    let second = apply(by_value, 3);
    let third = factorial(4);
    if let Some(out) = out.get_mut(i) {
        *out = first + second + third as i32;
    }
}
