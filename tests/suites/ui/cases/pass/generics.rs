//! Generics, traits and closures vanish into the kernel that uses them.
#![no_std]
use ptx::prelude::*;

trait Shape {
    fn area(&self) -> f32;
}

struct Square(f32);
struct Circle(f32);

impl Shape for Square {
    fn area(&self) -> f32 {
        self.0 * self.0
    }
}

impl Shape for Circle {
    fn area(&self) -> f32 {
        self.0 * self.0 * core::f32::consts::PI
    }
}

fn sum<S: Shape, const N: usize>(shapes: &[S; N]) -> f32 {
    shapes.iter().map(S::area).sum()
}

// CHECK-LABEL: .visible .entry areas(
// CHECK-NOT: call
// CHECK: ret;
#[kernel]
pub fn areas(side: f32, mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        let scale = |x: f32| x * side;
        *out = sum(&[Square(side), Square(2.0)]) + sum(&[Circle(scale(*out))]);
    }
}
