//! A part of `device_crate.rs`.
#![no_std]

pub struct Vector<const N: usize>(pub [f32; N]);

impl<const N: usize> Vector<N> {
    /// Compiled where it is used.
    pub fn dot(&self, other: &Self) -> f32 {
        self.0.iter().zip(&other.0).map(|(a, b)| a * b).sum()
    }
}

/// Compiled where it is used, for one type each.
pub fn cube<T: Copy + core::ops::Mul<Output = T>>(x: T) -> T {
    x * x * x
}

/// Its body is in this crate alone.
#[inline(never)]
pub fn called(x: f32) -> f32 {
    x * 0.5
}
