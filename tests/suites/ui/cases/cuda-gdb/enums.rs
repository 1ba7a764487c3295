//! Enums with a tag: the variant by name, and its data.
//@ launch: enums<<<1, 32>>>(f32 2, slice f32 32)
//@ cuda-gdb-command: run
//@ cuda-gdb-check: CUDA thread hit Breakpoint [...], enums::enums (scale=2, out=...) at [...]/enums.rs:{#break}
//@ cuda-gdb-command: info locals
//@ cuda-gdb-names: shapes signed nested good result nothing byte empty rect circle i
//@ cuda-gdb-command: print circle
//@ cuda-gdb-check: [...] = enums::Shape {{variant}: enums::Shape::Circle, Circle: enums::Shape::Circle (2), [...]}
//@ cuda-gdb-command: print circle.Circle.0
//@ cuda-gdb-check: [...] = 2
//@ cuda-gdb-command: print circle.Circle.__0
//@ cuda-gdb-check: [...] = 2
//@ cuda-gdb-command: print rect
//@ cuda-gdb-check: [...] = enums::Shape {{variant}: enums::Shape::Rect, [...], Rect: enums::Shape::Rect {w: 2, h: 3}, [...]}
//@ cuda-gdb-command: print rect.Rect.w
//@ cuda-gdb-check: [...] = 2
//@ cuda-gdb-command: print empty
//@ cuda-gdb-check: [...] = enums::Shape {{variant}: enums::Shape::Empty, [...]}
//@ cuda-gdb-command: print byte
//@ cuda-gdb-check: [...] = core::option::Option<u8> {{variant}: core::option::Option<u8>::Some, [...], Some: core::option::Option<u8>::Some (7)}
//@ cuda-gdb-command: print byte.Some.__0
//@ cuda-gdb-check: [...] = 7
//@ cuda-gdb-command: print nothing
//@ cuda-gdb-check: [...] = core::option::Option<u32> {{variant}: core::option::Option<u32>::None, [...]}
//@ cuda-gdb-command: print result
//@ cuda-gdb-check: [...] = core::result::Result<u32, i8> {{variant}: core::result::Result<u32, i8>::Err, [...], Err: core::result::Result<u32, i8>::Err (-3)}
//@ cuda-gdb-command: print result.Err.__0
//@ cuda-gdb-check: [...] = -3
//@ cuda-gdb-command: print good.Ok.__0
//@ cuda-gdb-check: [...] = 44
//@ cuda-gdb-command: print nested.Some.__0.Ok.__0
//@ cuda-gdb-check: [...] = 5
//@ cuda-gdb-command: print signed
//@ cuda-gdb-check: [...] = [enums::Signed {{variant}: enums::Signed::Minus, Minus: enums::Signed::Minus (300), [...]}, enums::Signed {{variant}: enums::Signed::Plus, [...], Plus: enums::Signed::Plus (9)}]
//@ cuda-gdb-command: print shapes[1].Rect.h
//@ cuda-gdb-check: [...] = 3
//@ cuda-gdb-command: break enums::area
//@ cuda-gdb-command: continue
//@ cuda-gdb-check: CUDA thread hit Breakpoint 2, enums::area (shape=0x[...]) at [...]/enums.rs:{#area}
//@ cuda-gdb-command: print *shape
//@ cuda-gdb-check: [...] = enums::Shape {{variant}: enums::Shape::Circle, Circle: enums::Shape::Circle (2), [...]}
//@ cuda-gdb-command: print shape.Circle.__0
//@ cuda-gdb-check: [...] = 2
//@ cuda-gdb-command: finish
//@ cuda-gdb-check: Value returned is [...] = 4
#![no_std]
use ptx::prelude::*;

#[derive(Clone, Copy)]
pub enum Shape {
    Circle(f32),
    Rect { w: f32, h: f32 },
    Empty,
}

#[derive(Clone, Copy)]
#[repr(i8)]
pub enum Signed {
    Minus(u16) = -1,
    Plus(u8) = 1,
}

#[inline(never)]
fn area(shape: &Shape) -> f32 {
    match shape { // #area
        Shape::Circle(r) => r * r,
        Shape::Rect { w, h } => w * h,
        Shape::Empty => 0.0,
    }
}

#[kernel]
pub fn enums(scale: f32, mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let circle = Shape::Circle(scale);
    let rect = Shape::Rect { w: scale, h: 3.0 };
    let empty = Shape::Empty;
    let byte: Option<u8> = Some(7);
    let nothing: Option<u32> = None;
    let result: Result<u32, i8> = Err(-3);
    let good: Result<u32, i8> = Ok(44);
    let nested: Option<Result<u32, i8>> = Some(Ok(5));
    let signed = [Signed::Minus(300), Signed::Plus(9)];
    let shapes = [circle, rect, empty];
    let count = shapes.len() + signed.len(); // #break
    let total = area(&circle) + area(&rect) + area(&empty) + count as f32;
    let extra = byte.is_some() as u8 + nothing.is_some() as u8 + result.is_ok() as u8 + good.is_ok() as u8;
    if let Some(out) = out.get_mut(i) {
        *out = total + extra as f32 + nested.is_some() as u8 as f32;
    }
}
