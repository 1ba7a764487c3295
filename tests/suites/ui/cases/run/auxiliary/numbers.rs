//! A part of `crates.rs`.
#![no_std]

/// Read by another crate.
pub static TABLE: [u32; 5] = [2, 7, 1, 8, 3];

/// 1 + 2 + … + n, not inlined: its body is here alone.
#[inline(never)]
pub fn triangle(n: u32) -> u32 {
    (1..=n).sum()
}

/// Compiled where it is used.
pub fn largest<T: Copy + Ord>(values: &[T]) -> T {
    let mut found = values[0];
    for value in values {
        found = found.max(*value);
    }
    found
}
