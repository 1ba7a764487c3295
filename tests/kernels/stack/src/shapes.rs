//! The shapes. Each turn keeps numbers on the stack and uses them after the turns below it, so that no loop can stand for it.

use alloc::boxed::Box;
use core::fmt::{self, Write};
use core::hint::black_box;

/// Words that every shape keeps on the stack a turn, at least.
const WORDS: usize = 8;

/// Their names, and the function whose overflow each panics with: a part of its path.
pub const SHAPES: [(&str, &str); 9] = [
    ("itself", "::down"),
    ("two in turn", "shapes::o"),
    ("a pointer to itself", "by_pointer"),
    ("a trait object", "::step"),
    ("a closure", "closure"),
    ("a large leaf", "::above_leaf"),
    ("large frames", "::wide"),
    ("a list that is dropped", "Node"),
    ("a list that is printed", "fmt"),
];

/// Goes `depth` deep in the shape of that number.
pub fn run(shape: u32, depth: u32, seed: u32) -> u32 {
    match shape {
        0 => down(depth, seed),
        1 => odd(depth, seed),
        2 => by_pointer(depth, seed),
        3 => by_object(depth, seed),
        4 => by_closure(depth, seed),
        5 => above_leaf(depth, seed),
        6 => wide(depth, seed),
        7 => dropped(depth, seed),
        _ => printed(depth, seed),
    }
}

fn numbers<const N: usize>(depth: u32, seed: u32) -> [u32; N] {
    let mut numbers = [0; N];
    for (number, value) in numbers.iter_mut().zip(0..) {
        *number = seed.wrapping_add(value).wrapping_mul(depth | 1);
    }
    black_box(numbers)
}

fn sum<const N: usize>(numbers: &[u32; N], below: u32) -> u32 {
    numbers.iter().fold(below, |sum, number| sum.rotate_left(3) ^ number)
}

#[inline(never)]
fn down(depth: u32, seed: u32) -> u32 {
    let here = numbers::<WORDS>(depth, seed);
    let below = if depth == 0 { seed } else { down(depth - 1, seed.wrapping_add(1)) };
    sum(&here, below)
}

#[inline(never)]
fn odd(depth: u32, seed: u32) -> u32 {
    let here = numbers::<WORDS>(depth, seed);
    let below = if depth == 0 { seed } else { other(depth - 1, seed ^ 5) };
    sum(&here, below)
}

#[inline(never)]
fn other(depth: u32, seed: u32) -> u32 {
    let here = numbers::<{ 3 * WORDS }>(depth, seed);
    let below = if depth == 0 { seed } else { odd(depth - 1, seed.wrapping_mul(3)) };
    sum(&here, below)
}

type Turn = fn(u32, u32) -> u32;

fn by_pointer(depth: u32, seed: u32) -> u32 {
    fn a(depth: u32, seed: u32) -> u32 {
        let here = numbers::<WORDS>(depth, seed);
        let below = if depth == 0 { seed } else { turn(seed)(depth - 1, seed.wrapping_add(1)) };
        sum(&here, below)
    }
    fn b(depth: u32, seed: u32) -> u32 {
        let here = numbers::<{ 2 * WORDS }>(depth, !seed);
        let below = if depth == 0 { seed } else { turn(seed)(depth - 1, seed.wrapping_add(3)) };
        sum(&here, below)
    }
    fn turn(seed: u32) -> Turn {
        black_box([a as Turn, b][seed as usize % 2])
    }
    turn(seed)(depth, seed)
}

trait Step {
    fn step(&self, depth: u32, seed: u32) -> u32;
}

struct Plain;
struct Scaled(u32);

impl Step for Plain {
    fn step(&self, depth: u32, seed: u32) -> u32 {
        let here = numbers::<WORDS>(depth, seed);
        let next: &dyn Step = if seed.is_multiple_of(3) { &Self } else { &Scaled(seed) };
        let below = if depth == 0 { seed } else { black_box(next).step(depth - 1, seed.wrapping_add(1)) };
        sum(&here, below)
    }
}

impl Step for Scaled {
    fn step(&self, depth: u32, seed: u32) -> u32 {
        let here = numbers::<WORDS>(depth, seed.wrapping_mul(self.0));
        let next: &dyn Step = if seed.is_multiple_of(2) { &Plain } else { &Self(seed) };
        let below = if depth == 0 { seed } else { black_box(next).step(depth - 1, seed.wrapping_add(1)) };
        sum(&here, below)
    }
}

fn by_object(depth: u32, seed: u32) -> u32 {
    black_box(&Plain as &dyn Step).step(depth, seed)
}

/// A closure that gets itself.
struct Itself<'a>(&'a dyn Fn(&Itself<'_>, u32, u32) -> u32);

fn by_closure(depth: u32, seed: u32) -> u32 {
    let factor = seed | 1;
    let turn = |itself: &Itself<'_>, depth: u32, seed: u32| {
        let here = numbers::<WORDS>(depth, seed.wrapping_mul(factor));
        let below = if depth == 0 { seed } else { (itself.0)(itself, depth - 1, seed.wrapping_add(1)) };
        sum(&here, below)
    };
    let itself = Itself(&turn);
    (black_box(&itself).0)(&itself, depth, seed)
}

#[inline(never)]
fn above_leaf(depth: u32, seed: u32) -> u32 {
    let here = numbers::<WORDS>(depth, seed);
    let below = if depth == 0 { leaf(seed) } else { above_leaf(depth - 1, seed.wrapping_add(1)) };
    sum(&here, below)
}

#[inline(never)]
fn leaf(seed: u32) -> u32 {
    sum(&numbers::<700>(seed, seed), seed)
}

#[inline(never)]
fn wide(depth: u32, seed: u32) -> u32 {
    let here = numbers::<400>(depth, seed);
    let below = if depth == 0 { seed } else { wide(depth - 1, seed.wrapping_add(1)) };
    sum(&here, below)
}

/// A list; dropping it goes as deep as it is long.
#[derive(Debug)]
struct Node {
    value: u32,
    next: Option<Box<Node>>,
}

fn list(length: u32, seed: u32) -> Option<Box<Node>> {
    let mut list = None;
    for value in (0..length).map(|number| number ^ seed) {
        list = Some(Box::new(Node { value, next: list }));
    }
    list
}

/// A list goes deep in one thread of a block: the heap is slow where all take from it at once.
fn dropped(depth: u32, seed: u32) -> u32 {
    let list = black_box(list(if seed.is_multiple_of(32) { depth } else { 1 }, seed));
    let first = list.as_ref().map_or(seed, |node| node.value);
    drop(list);
    first
}

/// Counts and mixes what is written.
struct Digest(u32);

impl Write for Digest {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = text.bytes().fold(self.0, |digest, byte| digest.rotate_left(5) ^ u32::from(byte));
        Ok(())
    }
}

/// Panics with a list of this length.
pub fn show(length: u32) {
    let list = black_box(list(length, 1));
    assert!(list.is_none(), "{list:?}");
}

fn printed(depth: u32, seed: u32) -> u32 {
    let mut list = black_box(list(if seed.is_multiple_of(32) { depth } else { 1 }, seed));
    let mut digest = Digest(seed);
    // Writing into numbers cannot fail.
    _ = write!(digest, "{list:?}");
    // Taken apart in a loop, so that printing alone is deep.
    while let Some(node) = list {
        list = node.next;
    }
    digest.0
}
