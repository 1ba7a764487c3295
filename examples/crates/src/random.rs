//! Numbers that look random and are the same every time.

/// xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled").
pub struct Random(u64);

impl Random {
    /// `seed` must not be 0.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Less than `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }

    /// In -1 to 1.
    pub fn signed(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1_u32 << 23) as f32 - 1.0
    }
}
