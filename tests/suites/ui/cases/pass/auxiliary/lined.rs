//! A part of `debug_crates.rs`.
//@ debug: full
#![no_std]

/// Its lines are told from those of the case.
#[inline(never)]
pub fn halved(x: f32) -> f32 {
    x * 0.5
}
