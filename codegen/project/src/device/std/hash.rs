//! `std::hash`, with keys that are the same in every run.

pub use core::hash::*;

/// `std::hash::DefaultHasher`: SipHash 1-3 with keys of zero.
pub type DefaultHasher = SipHasher13;

/// `std::hash::RandomState`, without chance: a GPU has no source of it, and a test that fails is to fail again.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomState;

impl RandomState {
    /// The one there is.
    pub const fn new() -> Self {
        Self
    }
}

impl BuildHasher for RandomState {
    type Hasher = DefaultHasher;

    fn build_hasher(&self) -> DefaultHasher {
        DefaultHasher::new()
    }
}
