//! Generic structures and functions, trait methods and trait objects.
//@ launch: generics<<<1, 32>>>(u32 3, slice f32 32)
//@ cuda-gdb-command: break generics.rs:{#generic}
//@ cuda-gdb-command: break generics.rs:{#method}
//@ cuda-gdb-command: run
//@ cuda-gdb-check: CUDA thread hit Breakpoint [...], generics::wrap<u32> (inner=3, count=1) at [...]/generics.rs:{#generic}
//@ cuda-gdb-command: backtrace
//@ cuda-gdb-check: #0  generics::wrap<u32> (inner=3, count=1) at [...]/generics.rs:{#generic}
//@ cuda-gdb-check: #1  [...] in generics::generics (n=3, out=...) at [...]/generics.rs:{#wraps}
//@ cuda-gdb-command: info args
//@ cuda-gdb-check: inner = 3
//@ cuda-gdb-check: count = 1
//@ cuda-gdb-names: inner count
//@ cuda-gdb-command: info locals
//@ cuda-gdb-check: wrapped = generics::Wrapper<u32> {inner: 3, count: 1}
//@ cuda-gdb-names: wrapped
//@ cuda-gdb-command: continue
//@ cuda-gdb-check: CUDA thread hit Breakpoint [...], generics::wrap<core::option::Option<f32>> (inner=..., count=2) at [...]/generics.rs:{#generic}
//@ cuda-gdb-command: info args
//@ cuda-gdb-check: inner = core::option::Option<f32> {{variant}: core::option::Option<f32>::Some, [...], Some: core::option::Option<f32>::Some (2.5)}
//@ cuda-gdb-check: count = 2
//@ cuda-gdb-command: continue
//@ cuda-gdb-check: CUDA thread hit Breakpoint [...], generics::{impl#0}::area (self=0x[...]) at [...]/generics.rs:{#method}
//@ cuda-gdb-command: backtrace
//@ cuda-gdb-check: #0  generics::{impl#0}::area (self=0x[...]) at [...]/generics.rs:{#method}
//@ cuda-gdb-check: #1  [...] in generics::generics (n=3, out=...) at [...]/generics.rs:{#calls}
//@ cuda-gdb-command: print *self
//@ cuda-gdb-check: [...] = generics::Circle {radius: 1.5}
//@ cuda-gdb-command: print self.radius
//@ cuda-gdb-check: [...] = 1.5
//@ cuda-gdb-command: print square
//@ cuda-gdb-check: [...] = 2.25
//@ cuda-gdb-command: delete
//@ cuda-gdb-command: break generics.rs:{#end}
//@ cuda-gdb-command: continue
//@ cuda-gdb-check: [...] generics::generics (n=3, out=...) at [...]/generics.rs:{#end}
//@ cuda-gdb-command: info locals
//@ cuda-gdb-names: area object circle matrix nested wrapped i
//@ cuda-gdb-unordered: area = 6.75
//@ cuda-gdb-command: print wrapped
//@ cuda-gdb-check: [...] = generics::Wrapper<u32> {inner: 3, count: 1}
//@ cuda-gdb-command: print nested.inner.Some.__0
//@ cuda-gdb-check: [...] = 2.5
//@ cuda-gdb-command: whatis wrapped
//@ cuda-gdb-check: type = generics::Wrapper<u32>
//@ cuda-gdb-command: whatis nested
//@ cuda-gdb-check: type = generics::Wrapper<core::option::Option<f32>>
//@ cuda-gdb-command: whatis matrix
//@ cuda-gdb-check: type = generics::Matrix<3>
//@ cuda-gdb-command: print matrix.cells[1]
//@ cuda-gdb-check: [...] = 2
//@ cuda-gdb-command: print object
//@ cuda-gdb-check: [...] = &dyn generics::Area {pointer: 0x[...], vtable: 0x[...]}
#![no_std]
use ptx::prelude::*;

#[derive(Clone, Copy)]
pub struct Wrapper<T> {
    inner: T,
    count: u8,
}

#[derive(Clone, Copy)]
pub struct Matrix<const N: usize> {
    cells: [f32; N],
}

trait Area {
    fn area(&self) -> f32;
}

struct Circle {
    radius: f32,
}

impl Area for Circle {
    fn area(&self) -> f32 {
        let square = self.radius * self.radius;
        square * 3.0 // #method
    }
}

#[inline(never)]
fn wrap<T: Copy>(inner: T, count: u8) -> Wrapper<T> {
    let wrapped = Wrapper { inner, count };
    wrapped
} // #generic

#[kernel]
pub fn generics(n: u32, mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let wrapped = wrap(n, 1); // #wraps
    let nested = wrap(Some(2.5_f32), 2);
    let matrix = Matrix { cells: [1.0, 2.0, 4.0] };
    let circle = Circle { radius: 1.5 };
    let object: &dyn Area = &circle;
    let area = object.area(); // #calls
    let count = wrapped.count + nested.count; // #end
    if let Some(out) = out.get_mut(i) {
        *out = area + count as f32 + wrapped.inner as f32 + matrix.cells[0] + nested.inner.unwrap_or(0.0);
    }
}
