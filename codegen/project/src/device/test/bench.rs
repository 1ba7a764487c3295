//! `#[bench]`: as without `--bench` on the CPU, every benchmark is a test that runs once.

pub use core::hint::black_box;

/// What a benchmark is given.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bencher {
    /// Bytes that an iteration is said to work on.
    pub bytes: u64,
}

impl Bencher {
    /// Runs the function once.
    pub fn iter<T>(&mut self, mut inner: impl FnMut() -> T) {
        black_box(inner());
    }
}
