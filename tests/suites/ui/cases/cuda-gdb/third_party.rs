//! Functions of another crate: breakpoints by their path and by their file, and back into the kernel.
//@ aux-build: geometry.rs
//@ launch: third_party<<<1, 32>>>(f32 2, slice f32 32)
//@ cuda-gdb-command: break geometry::Vector::dot
//@ cuda-gdb-command: break geometry.rs:21
//@ cuda-gdb-command: run
//@ cuda-gdb-check: CUDA thread hit Breakpoint 2, geometry::scaled<f32> (vector=..., by=2) at [...]/geometry.rs:21
//@ cuda-gdb-command: backtrace
//@ cuda-gdb-check: #0  geometry::scaled<f32> (vector=..., by=2) at [...]/geometry.rs:21
//@ cuda-gdb-check: #1  [...] in third_party::third_party (by=2, out=...) at [...]/third_party.rs:{#scaled}
//@ cuda-gdb-command: info args
//@ cuda-gdb-check: vector = geometry::Vector {x: 1, y: 2}
//@ cuda-gdb-check: by = 2
//@ cuda-gdb-names: vector by
//@ cuda-gdb-command: info locals
//@ cuda-gdb-check: by = 2
//@ cuda-gdb-names: by
//@ cuda-gdb-command: continue
//@ cuda-gdb-check: CUDA thread hit Breakpoint 1, geometry::Vector::dot (self=..., other=...) at [...]/geometry.rs:13
//@ cuda-gdb-command: backtrace
//@ cuda-gdb-check: #0  geometry::Vector::dot (self=..., other=...) at [...]/geometry.rs:13
//@ cuda-gdb-check: #1  [...] in third_party::third_party (by=2, out=...) at [...]/third_party.rs:{#call}
//@ cuda-gdb-command: info args
//@ cuda-gdb-check: self = geometry::Vector {x: 1, y: 2}
//@ cuda-gdb-check: other = geometry::Vector {x: 2, y: 4}
//@ cuda-gdb-names: self other
//@ cuda-gdb-command: print other.y
//@ cuda-gdb-check: [...] = 4
//@ cuda-gdb-command: finish
//@ cuda-gdb-check: [...] in third_party::third_party (by=2, out=...) at [...]/third_party.rs:{#call}
//@ cuda-gdb-check: Value returned is [...] = 10
//@ cuda-gdb-command: next
//@ cuda-gdb-check: {#after}[...]
//@ cuda-gdb-command: info locals
//@ cuda-gdb-names: out product second first i
//@ cuda-gdb-unordered: product = 10
//@ cuda-gdb-unordered: second = geometry::Vector {x: 2, y: 4}
#![no_std]
use geometry::Vector;
use ptx::prelude::*;

#[kernel]
pub fn third_party(by: f32, mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let first = Vector { x: 1.0, y: 2.0 };
    let second = geometry::scaled(first, by); // #scaled
    let product = first.dot(second); // #call
    if let Some(out) = out.get_mut(i) { // #after
        *out = product;
    }
}
