//! What the functions work on, and what they make of it.

use alloc::string::String;
use alloc::vec::Vec;
use core::hash::{BuildHasher, Hash, Hasher};

/// Numbers that look random and are the same every time (SplitMix64).
pub struct Random(u64);

impl Random {
    /// Those of a seed.
    pub fn new(seed: u32) -> Self {
        Self(u64::from(seed) << 20)
    }

    /// The next number.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.word() % end as u64) as usize
    }

    /// A number from -1 to 1, with few digits.
    pub fn float(&mut self) -> f64 {
        self.below(1 << 20) as f64 / f64::from(1 << 19) - 1.0
    }

    /// As many bytes as asked.
    pub fn array<const N: usize>(&mut self) -> [u8; N] {
        core::array::from_fn(|_| self.word() as u8)
    }

    /// As many bytes as asked.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.word() as u8).collect()
    }

    /// Numbers below `end`.
    pub fn numbers(&mut self, len: usize, end: usize) -> Vec<u32> {
        (0..len).map(|_| self.below(end) as u32).collect()
    }

    /// So many words of a few letters with blanks between them, some in other scripts than ours.
    pub fn text(&mut self, words: usize) -> String {
        const WORDS: [&str; 16] = [
            "kernel",
            "warp",
            "a",
            "the",
            "Grid",
            "mühle",
            "Straße",
            "naïve",
            "e\u{301}tude",
            "日本",
            "語",
            "🦀",
            "x1",
            "warp-wide",
            "löwe",
            "4090",
        ];
        let mut text = String::new();
        for _ in 0..words {
            text.push_str(WORDS[self.below(WORDS.len())]);
            text.push(' ');
        }
        text
    }
}

/// What became of it: FNV-1a of everything that is put in.
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    /// Puts in what can be hashed.
    pub fn add(&mut self, value: impl Hash) {
        value.hash(self);
    }

    /// Puts in the bits of a float, where every NaN is the same.
    pub fn float(&mut self, value: f64) {
        self.add(if value.is_nan() { u64::MAX } else { value.to_bits() });
    }
}

impl Hasher for Digest {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// A hasher's key that is the same on both sides.
#[derive(Clone, Default)]
pub struct Fixed;

impl BuildHasher for Fixed {
    type Hasher = Digest;

    fn build_hasher(&self) -> Digest {
        Digest::default()
    }
}
