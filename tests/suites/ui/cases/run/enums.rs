//! Enums with tags, niches and none: matches see the variant that was built.
//@ revisions: o0 o3
//@[o0] debug: full
//@ run
//@ expect: 31 10002 773 124 160001 772 213 490004
#![no_std]
use ptx::prelude::*;

#[derive(Clone, Copy)]
enum Shape {
    Circle(u16),
    Rect { w: u32, h: u8 },
    Empty,
}

#[inline(never)]
fn build(i: u32) -> Shape {
    match i % 3 {
        0 => Shape::Circle(i as u16 + 1),
        1 => Shape::Rect { w: 1000 * i, h: i as u8 },
        _ => Shape::Empty,
    }
}

#[inline(never)]
fn nested(i: u32) -> Option<Option<bool>> {
    [None, Some(None), Some(Some(false)), Some(Some(true))][i as usize % 4]
}

fn value(i: u32) -> u32 {
    let area = match build(i) {
        Shape::Circle(r) => u32::from(r) * 3,
        Shape::Rect { w, h } => w * u32::from(h),
        Shape::Empty => 77,
    };
    let flag = match nested(i) {
        None => 1,
        Some(None) => 2,
        Some(Some(false)) => 3,
        Some(Some(true)) => 4,
    };
    area * 10 + flag
}

#[kernel]
pub fn case(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = value(i.get() as u32);
    }
}
