//! Philox4x32-10: a counter that ten rounds of multiplications mix.
//!
//! Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011.

use crate::distribution::{box_muller, box_muller_f64, uniform, uniform_f64, uniform_fine};
use crate::generator::Generator;
use crate::state::{State, kept, state};

/// The multipliers of the paper's table 2.
const MULTIPLIERS: [u32; 2] = [0xd251_1f53, 0xcd9e_8d57];

/// What is added to the key after every round: the golden ratio, and √3 - 1.
const WEYL: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];

state! {
    /// Philox4x32-10, CURAND's `curandStatePhilox4_32_10_t`.
    ///
    /// The seed is the key; a counter of 128 bits, for four numbers each, is the position, and subsequences are 2^66
    /// numbers apart. Making and skipping cost one block of four numbers, whatever the distance.
    #[repr(C, align(16))]
    Philox4x32 as "curandStatePhilox4_32_10", 64, { counter: [u32; 4], output: [u32; 4], key: [u32; 2], next: u32 }
}

impl Philox4x32 {
    /// The next four times 32 random bits.
    ///
    /// CUDA: `curand4`.
    #[must_use]
    #[inline]
    pub fn bits4(&mut self) -> [u32; 4] {
        let before = self.output;
        self.advance(1);
        let after = self.output;
        match self.next {
            0 => before,
            1 => [before[1], before[2], before[3], after[0]],
            2 => [before[2], before[3], after[0], after[1]],
            _ => [before[3], after[0], after[1], after[2]],
        }
    }

    /// Four uniform numbers.
    ///
    /// CUDA: `curand_uniform4`.
    #[must_use]
    #[inline]
    pub fn uniform4(&mut self) -> [f32; 4] {
        self.bits4().map(uniform)
    }

    /// Two uniform numbers with 53 random bits each.
    ///
    /// CUDA: `curand_uniform2_double`.
    #[must_use]
    #[inline]
    pub fn uniform2_f64(&mut self) -> [f64; 2] {
        let [a, b, c, d] = self.bits4();
        [uniform_fine(a, b), uniform_fine(c, d)]
    }

    /// Four independent numbers of the standard normal distribution.
    ///
    /// CUDA: `curand_normal4`.
    #[must_use]
    #[inline]
    pub fn normal4(&mut self) -> [f32; 4] {
        let [a, b, c, d] = self.bits4();
        let ([a, b], [c, d]) = (box_muller(a, b), box_muller(c, d));
        [a, b, c, d]
    }

    /// Goes on by blocks of four numbers.
    #[inline]
    fn advance(&mut self, blocks: u64) {
        let [a, b, c, d] = self.counter.map(u128::from);
        let counter = (a | b << 32 | c << 64 | d << 96).wrapping_add(blocks.into());
        self.counter = [counter, counter >> 32, counter >> 64, counter >> 96].map(|part| part as u32);
        self.output = mix(self.counter, self.key);
    }
}

/// The block of four numbers at `counter`.
#[inline]
fn mix([mut a, mut b, mut c, mut d]: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let products = [(a, MULTIPLIERS[0]), (c, MULTIPLIERS[1])].map(|(x, y)| u64::from(x) * u64::from(y));
        let [first, second] = products.map(|product| (product >> 32) as u32);
        [a, b, c, d] = [second ^ b ^ key[0], products[1] as u32, first ^ d ^ key[1], products[0] as u32];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    [a, b, c, d]
}

impl State for Philox4x32 {
    kept!();

    #[inline]
    fn pair(&mut self) -> [f32; 2] {
        let x = self.bits();
        box_muller(x, self.bits())
    }

    #[inline]
    fn pair_f64(&mut self) -> [f64; 2] {
        box_muller_f64(self.bits4())
    }
}

impl Generator for Philox4x32 {
    #[inline]
    fn new(seed: u64, subsequence: u64, offset: u64) -> Self {
        let subsequence = [subsequence as u32, (subsequence >> 32) as u32];
        let key = [seed as u32, (seed >> 32) as u32];
        let mut generator = Self::at([0, 0, subsequence[0], subsequence[1]], [0; 4], key, 0);
        generator.skip(offset);
        generator
    }

    #[inline]
    fn bits(&mut self) -> u32 {
        // Not an index: the state would have to be in memory.
        let [a, b, c, d] = self.output;
        let bits = match self.next {
            0 => a,
            1 => b,
            2 => c,
            _ => d,
        };
        self.next += 1;
        if self.next == 4 {
            self.advance(1);
            self.next = 0;
        }
        bits
    }

    #[inline]
    fn skip(&mut self, n: u64) {
        let next = self.next + (n & 3) as u32;
        self.advance(n / 4 + u64::from(next >> 2));
        self.next = next & 3;
    }

    #[inline]
    fn skip_subsequences(&mut self, n: u64) {
        let [a, b, c, d] = self.counter;
        let high = (u64::from(c) | u64::from(d) << 32).wrapping_add(n);
        self.counter = [a, b, high as u32, (high >> 32) as u32];
        self.output = mix(self.counter, self.key);
    }

    #[inline]
    fn uniform(&mut self) -> f32 {
        uniform(self.bits())
    }

    #[inline]
    fn uniform_f64(&mut self) -> f64 {
        uniform_f64(self.bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers of the authors' library Random123 for `philox4x32 10`.
    #[test]
    fn known_answers() {
        let pi = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344];
        for (counter, key, numbers) in [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (pi, [0xa409_3822, 0x299f_31d0], [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]),
        ] {
            assert_eq!(mix(counter, key), numbers, "{counter:x?}");
        }
    }

    #[test]
    fn the_counter_carries() {
        let mut last = Philox4x32::at([u32::MAX, u32::MAX, u32::MAX, 7], [0; 4], [1, 2], 3);
        _ = last.bits();
        assert_eq!((last.counter, last.next), ([0, 0, 0, 8], 0));
    }
}
