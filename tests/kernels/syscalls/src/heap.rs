//! Kernels that allocate; the CPU runs the same functions.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::cell::RefCell;

use ptx::prelude::*;

/// Growth, sorting, removal.
pub fn vectors(seed: u32) -> u32 {
    let mut list: Vec<u32> = (0..seed % 60).map(|i| i.wrapping_mul(seed) ^ 0x55).collect();
    list.extend_from_slice(&[1, 2, 3]);
    list.sort_unstable();
    list.retain(|x| x % 3 != 0);
    let mut queue: VecDeque<u32> = list.iter().copied().collect();
    queue.rotate_left(queue.len() / 2);
    let nested: Vec<Vec<u32>> = (0..5).map(|i| vec![i; i as usize]).collect();
    list.iter().chain(&queue).chain(nested.iter().flatten()).fold(7, |sum, x| sum.rotate_left(3) ^ x)
}

/// Text that grows, is formatted, split and joined.
pub fn strings(seed: u32) -> u32 {
    let mut text = String::from("seed ");
    text += &seed.to_string();
    text.push_str(&format!(", {:#x} and {:>8}", seed, seed / 7));
    let words: Vec<String> = text.split(' ').map(|word| word.to_uppercase()).collect();
    words.join("-").bytes().fold(1, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)))
}

/// A map that splits and merges its nodes.
pub fn maps(seed: u32) -> u32 {
    let mut map = BTreeMap::new();
    for i in 0..40_u32 {
        *map.entry(seed.wrapping_mul(i) % 29).or_insert(0_u32) += i;
    }
    map.remove(&(seed % 29));
    map.range(5..).fold(3, |sum, (key, value)| sum.wrapping_mul(17) ^ (key * 1000 + value))
}

trait Shape {
    fn area(&self) -> u32;
}
struct Square(u32);
struct Oblong(u32, u32);
impl Shape for Square {
    fn area(&self) -> u32 {
        self.0 * self.0
    }
}
impl Shape for Oblong {
    fn area(&self) -> u32 {
        self.0 * self.1
    }
}

/// Boxed trait objects, closures, shared ownership.
pub fn boxes(seed: u32) -> u32 {
    let shapes: Vec<Box<dyn Shape>> = (0..seed % 8)
        .map(|i| -> Box<dyn Shape> {
            if i % 2 == 0 { Box::new(Square(i)) } else { Box::new(Oblong(i, 3)) }
        })
        .collect();
    let double: Box<dyn Fn(u32) -> u32> = Box::new(move |x| x * 2 + seed % 5);
    let shared = Rc::new(RefCell::new(vec![seed]));
    let other = Rc::clone(&shared);
    other.borrow_mut().push(Rc::strong_count(&shared) as u32);
    let sum: u32 = shapes.iter().map(|shape| double(shape.area())).sum();
    sum ^ shared.borrow().iter().fold(0, |sum: u32, x| sum.wrapping_add(*x))
}

/// An alignment above `malloc`'s.
#[repr(align(128))]
struct Aligned([u32; 4]);

/// Alignment, reallocation of aligned blocks, zeroed memory; 0 where something is wrong.
pub fn layouts(seed: u32) -> u32 {
    let mut list = Vec::new();
    for i in 0..seed % 10 + 2 {
        list.push(Aligned([i, seed, i ^ seed, 1]));
        let address = list.as_ptr().addr();
        if !address.is_multiple_of(128) {
            return 0;
        }
    }
    let boxed = Box::new(Aligned([9; 4]));
    let zeros = vec![0_u64; 100];
    if !core::ptr::from_ref(&*boxed).addr().is_multiple_of(128) || zeros.iter().any(|&zero| zero != 0) {
        return 0;
    }
    list.iter().flat_map(|aligned| aligned.0).fold(boxed.0[0], |sum: u32, x| sum.wrapping_mul(5) ^ x) | 1
}

/// All of them.
pub fn everything(seed: u32) -> [u32; 5] {
    [vectors(seed), strings(seed), maps(seed), boxes(seed), layouts(seed)]
}

#[kernel]
pub fn run_everything(seeds: &[u32], mut out: DisjointSlice<[u32; 5]>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = everything(seeds[i.get()]);
    }
}

/// Allocates more than there is.
#[kernel]
pub fn exhausts(bytes: usize, mut out: DisjointSlice<u8>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = vec![7_u8; bytes][i.get()];
    }
}

/// 1 where the failure of an allocation is an error that the kernel handles.
#[kernel]
pub fn tries(bytes: usize, mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        let mut list: Vec<u8> = Vec::new();
        *out = list.try_reserve(bytes).is_err().into();
        // Memory that nothing sees need not be allocated, and then nothing fails.
        core::hint::black_box(&list);
    }
}

/// The capacity is more than an address can hold.
#[kernel]
pub fn overflows(capacity: usize, mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = Vec::<u64>::with_capacity(capacity).len() as u32;
    }
}

#[inline(never)]
fn refused(text: String) -> Result<(), String> {
    Err(text)
}

/// Macros of `core` with texts that are formatted.
#[kernel]
pub fn asserts(which: u32, value: u32) {
    let text = format!("value {value}");
    match which {
        0 => assert!(value == 0, "text {text} of {which}"),
        1 => assert_eq!(value, 0, "on the {}", "device"),
        2 => assert_ne!(value, 5),
        3 => unreachable!("the branch of {value}"),
        4 => refused(text).expect("a result"),
        _ => panic!("{text}"),
    }
}
