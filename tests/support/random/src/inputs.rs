//! The inputs of every thread: edges of the integers and floats, and numbers that look random.

use crate::choices::Random;

/// Words that each thread gets.
pub const WORDS: usize = 4;

/// Threads of a block of programs in Rust.
pub const BLOCK: usize = 64;

/// Threads that run each program in Rust.
pub const THREADS: usize = 2 * BLOCK;

/// Numbers at which something ends, for one width or another, or as a float.
const EDGES: [u64; 20] = [
    0,
    1,
    u64::MAX,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0x3ff0_0000_0000_0000,
    0x3f80_0000_3f80_0000,
    0x7f80_0000_ff80_0000,
    0x0000_0001_8000_0001,
    0xffff_0000_ffff_0000,
    0x0101_0101_0101_0101,
];

/// What so many threads get.
pub fn inputs(threads: usize) -> Vec<[u64; WORDS]> {
    let mut random = Random::of_item(0, 0);
    let mut word = |_: usize| {
        let number = random.number();
        match random.number() % 8 {
            0..4 => number,
            4..6 => EDGES[number as usize % EDGES.len()],
            6 => number >> (number & 63),
            _ => EDGES[number as usize % EDGES.len()].wrapping_add(number >> 62).wrapping_sub(1),
        }
    };
    (0..threads).map(|_| std::array::from_fn(&mut word)).collect()
}
