//! Generic functions, associated constants, default methods and trait objects.
//@ revisions: o0 o3
//@[o0] debug: full
//@ run
//@ expect: 406 10715 20438 30745 40478 50783
#![no_std]
use ptx::prelude::*;

trait Step {
    const SIZE: u32;
    fn step(&self, x: u32) -> u32;
    fn three(&self, x: u32) -> u32 {
        self.step(self.step(self.step(x))) + Self::SIZE
    }
}

struct Add(u32);
struct Shift;

impl Step for Add {
    const SIZE: u32 = 100;
    fn step(&self, x: u32) -> u32 {
        x + self.0
    }
}

impl Step for Shift {
    const SIZE: u32 = 10_000;
    fn step(&self, x: u32) -> u32 {
        x << 1
    }
    fn three(&self, x: u32) -> u32 {
        self.step(x) ^ Self::SIZE
    }
}

trait Named {
    fn id(&self) -> u32;
}

impl Named for Add {
    fn id(&self) -> u32 {
        self.0
    }
}

impl Named for Shift {
    fn id(&self) -> u32 {
        99
    }
}

#[inline(never)]
fn sum<S: Step>(step: &S, n: u32) -> u32 {
    (0..n).map(|x| step.three(x)).sum()
}

fn value(i: u32) -> u32 {
    let objects: [&dyn Named; 2] = [&Add(i), &Shift];
    sum(&Add(i), 4) + sum(&Shift, i) + 3 * objects[core::hint::black_box(i as usize % 2)].id()
}

#[kernel]
pub fn case(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = value(i.get() as u32);
    }
}
