//! Strings: bytes, characters, numbers out of text and text out of numbers.
//@ revisions: o0 o3
//@[o0] debug: full
//@ run
//@ expect: 3175296 3321302 4370961 4376963 2822000 1433008379
#![no_std]
use ptx::prelude::*;

use core::fmt::Write;

struct Buffer {
    bytes: [u8; 32],
    len: usize,
}

impl Write for Buffer {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        for byte in text.bytes() {
            *self.bytes.get_mut(self.len).ok_or(core::fmt::Error)? = byte;
            self.len += 1;
        }
        Ok(())
    }
}

fn value(i: u32) -> u32 {
    let texts = ["12", "-7", "\u{e4}pfel", "0x1f", "", "4294967295"];
    let text = texts[i as usize % 6];
    let number = text.parse::<u32>().unwrap_or(5) / 3;
    let letters = text.chars().map(|c| c as u32).sum::<u32>();
    let mut buffer = Buffer { bytes: [0; 32], len: 0 };
    let written = write!(buffer, "<{:>5}|{:x}>", i * 37, letters).is_ok() as u32;
    let sum: u32 = buffer.bytes.iter().zip(1..).map(|(byte, at)| u32::from(*byte) * at).sum();
    number ^ (letters * 3 + text.len() as u32 + sum * 1000 + written)
}

#[kernel]
pub fn case(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = value(i.get() as u32);
    }
}
