//! Pretty printers: what the library's types and ours hold, in local, shared and heap memory, in several threads.
//@ launch: printed<<<1, 32>>>(slice f32 32, slice f32 32)
//@ cuda-gdb-printers: on
//@ cuda-gdb-command: run
//@ cuda-gdb-check: CUDA thread hit Breakpoint [...], printed::printed ([...]) at [...]/printed.rs:{#break}
//@ cuda-gdb-command: print message
//@ cuda-gdb-check: [...] = Move {x: 3, y: 0}
//@ cuda-gdb-command: print nested
//@ cuda-gdb-check: [...] = Nested(Some(Pair(9, 1)))
//@ cuda-gdb-command: print some
//@ cuda-gdb-check: [...] = Some(0x[...])
//@ cuda-gdb-command: print none
//@ cuda-gdb-check: [...] = None
//@ cuda-gdb-command: print vec
//@ cuda-gdb-check: [...] = Vec(len=3, cap=3) = {0, 1, 4}
//@ cuda-gdb-command: print string
//@ cuda-gdb-check: [...] = "héllo"
//@ cuda-gdb-command: print boxed
//@ cuda-gdb-check: [...] = Box<[u8]>(len=2) = {4, 5}
//@ cuda-gdb-command: print rc
//@ cuda-gdb-check: [...] = Rc {value: 1, strong: 2, weak: 0}
//@ cuda-gdb-command: print cell
//@ cuda-gdb-check: [...] = RefCell {value: 3, borrowed: mutable}
//@ cuda-gdb-command: print borrowed
//@ cuda-gdb-check: [...] = 3
//@ cuda-gdb-command: print range
//@ cuda-gdb-check: [...] = 1..3
//@ cuda-gdb-command: print rest
//@ cuda-gdb-check: [...] = Iter(len=3) = {1, 2, 3}
//@ cuda-gdb-command: print vector
//@ cuda-gdb-check: [...] = Float4(1, 1, 1, 1)
//@ cuda-gdb-command: print text
//@ cuda-gdb-check: [...] = "a text"
//@ cuda-gdb-command: print i
//@ cuda-gdb-check: [...] = 0
//@ cuda-gdb-command: print input
//@ cuda-gdb-check: [...] = &[f32](len=32) = {0, 1, 2, [...]
//@ cuda-gdb-command: print out
//@ cuda-gdb-check: [...] = DisjointSlice(len=32) = {0, 1, 2, [...]
//@ cuda-gdb-command: print printed::TILE
//@ cuda-gdb-check: [...]Float4(1, 1, 1, 1)[...]
//@ cuda-gdb-command: cuda thread 5
//@ cuda-gdb-check: [Switching focus [...]thread (5,0,0)[...]
//@ cuda-gdb-command: print message
//@ cuda-gdb-check: [...] = Move {x: 3, y: 5}
#![no_std]
extern crate alloc;

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use ptx::Shared;
use ptx::prelude::*;
use ptx::vec::Float4;

/// Variants of several forms.
#[derive(Clone, Copy)]
pub enum Message {
    Quit,
    Move { x: i32, y: i32 },
    Nested(Option<Inner>),
}

/// With data.
#[derive(Clone, Copy)]
pub enum Inner {
    Pair(u8, f32),
    Number(i16),
}

#[ptx::shared]
static TILE: Shared<[Float4; 4]>;

#[inline(never)]
fn sum(message: Message) -> f32 {
    match message {
        Message::Quit | Message::Nested(None) => 0.0,
        Message::Move { x, y } => (x + y) as f32,
        Message::Nested(Some(Inner::Pair(a, b))) => f32::from(a) + b,
        Message::Nested(Some(Inner::Number(n))) => f32::from(n),
    }
}

#[kernel]
pub fn printed(input: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let message = Message::Move { x: 3, y: i.get() as i32 };
    let nested = Message::Nested(Some(Inner::Pair(9, input[1])));
    let some = input.get(1);
    let none: Option<&f32> = input.get(1 << 40);
    let vec: Vec<u32> = (0..3).map(|n| n * n).collect();
    let string = String::from("héllo");
    let boxed: Box<[u8]> = Box::new([4, 5]);
    let rc = Rc::new(input[1]);
    let also = Rc::clone(&rc);
    let cell = RefCell::new(vec.len());
    let borrowed = cell.borrow_mut();
    let range = 1..vec.len();
    let mut rest = input[..4].iter();
    rest.next();
    let vector = Float4::splat(*some.unwrap_or(&0.0));
    let text = "a text";
    if i.get() == 0 {
        // SAFETY: one thread writes, before the barrier.
        unsafe { TILE.write(0, vector) };
    }
    sync_threads();
    let lengths = vec.len() + string.len() + boxed.len() + range.len() + rest.len() + text.len(); // #break
    let others = *rc + *also + *borrowed as f32 + vector.x + f32::from(u8::from(none.is_some()));
    if let Some(out) = out.get_mut(i) {
        *out = sum(message) + sum(nested) + sum(Message::Quit) + lengths as f32 + others;
    }
}
