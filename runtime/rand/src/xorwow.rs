//! XORWOW: 160 bits that shift and xor, and a Weyl sequence.
//!
//! Marsaglia: "Xorshift RNGs", Journal of Statistical Software 8 (14), 2003, §3.1.

use crate::distribution::{box_muller, box_muller_f64, uniform, uniform_fine};
use crate::generator::Generator;
use crate::state::{State, kept, state};

/// The step of the Weyl sequence.
const WEYL: u32 = 362_437;

/// A subsequence has 2 to the power of this many numbers.
const SUBSEQUENCE: usize = 67;

/// The characteristic polynomial of a step on the 160 bits, x^160 + …, without its highest term; the lowest word first.
///
/// Found by the algorithm of Berlekamp and Massey. A test puts the step into it.
const CHARACTERISTIC: [u32; 5] = [0x0006_0001, 0x0861_0030, 0x0006_2121, 0x0f3c_0035, 0x0000_0f0e];

/// x^(2^k) modulo the characteristic polynomial, for each k.
///
/// A step is a matrix A, and A^n = r(A) where r is the remainder of x^n by A's characteristic polynomial (Cayley and
/// Hamilton). So n steps are a sum of at most 160 states that follow each other, with 20 bytes for each bit of n where
/// the matrix itself would have 3200 (Haramoto et al.: "Efficient jump ahead for F2-linear random number generators",
/// 2008).
static POWERS: [[u32; 5]; SUBSEQUENCE + 64] = powers();

const fn powers() -> [[u32; 5]; SUBSEQUENCE + 64] {
    let mut powers = [[2, 0, 0, 0, 0]; SUBSEQUENCE + 64];
    let mut k = 1;
    while k < powers.len() {
        powers[k] = square(powers[k - 1]);
        k += 1;
    }
    powers
}

/// A polynomial's square modulo the characteristic polynomial.
const fn square(polynomial: [u32; 5]) -> [u32; 5] {
    // The square of a sum of terms is the sum of their squares, modulo 2.
    let mut wide = [0_u32; 11];
    let mut bit = 0;
    while bit < 160 {
        wide[bit / 16] |= (polynomial[bit / 32] >> (bit % 32) & 1) << (2 * bit % 32);
        bit += 1;
    }
    let mut bit = 319;
    while bit >= 160 {
        if wide[bit / 32] >> (bit % 32) & 1 == 1 {
            // x^160 is the rest of the polynomial.
            let (word, shift) = ((bit - 160) / 32, (bit - 160) % 32);
            let mut i = 0;
            while i < 5 {
                let shifted = (CHARACTERISTIC[i] as u64) << shift;
                wide[word + i] ^= shifted as u32;
                wide[word + i + 1] ^= (shifted >> 32) as u32;
                i += 1;
            }
        }
        bit -= 1;
    }
    [wide[0], wide[1], wide[2], wide[3], wide[4]]
}

/// The shifts and xors of one number.
#[inline]
const fn step([a, b, c, d, e]: [u32; 5]) -> [u32; 5] {
    let t = a ^ (a >> 2);
    [b, c, d, e, (e ^ (e << 4)) ^ (t ^ (t << 1))]
}

state! {
    /// XORWOW, CURAND's `curandStateXORWOW_t` and default.
    ///
    /// Subsequences are 2^67 numbers apart. Making and skipping cost 160 steps for each bit that is set in subsequence,
    /// offset or distance: make a generator once, and keep its state between launches.
    #[repr(C)]
    Xorwow as "curandStateXORWOW", 48, { weyl: u32, shifted: [u32; 5] }
}

impl Xorwow {
    /// Makes 2^first steps for each unit of `n`.
    fn jump(&mut self, mut n: u64, first: usize) {
        while n != 0 {
            let mut sum = [0; 5];
            let mut state = self.shifted;
            for mut word in POWERS[first + n.trailing_zeros() as usize] {
                for _ in 0..32 {
                    let mask = (word & 1).wrapping_neg();
                    for (sum, state) in sum.iter_mut().zip(state) {
                        *sum ^= state & mask;
                    }
                    state = step(state);
                    word >>= 1;
                }
            }
            self.shifted = sum;
            n &= n - 1;
        }
    }
}

impl State for Xorwow {
    kept!();

    #[inline]
    fn pair(&mut self) -> [f32; 2] {
        let x = self.bits();
        box_muller(x, self.bits())
    }

    #[inline]
    fn pair_f64(&mut self) -> [f64; 2] {
        box_muller_f64(core::array::from_fn(|_| self.bits()))
    }
}

impl Generator for Xorwow {
    #[inline]
    fn new(seed: u64, subsequence: u64, offset: u64) -> Self {
        // CURAND's way from a seed to Marsaglia's initial values. The paper has none.
        let low = (seed as u32 ^ 0xaad2_6b49).wrapping_mul(1_099_087_573);
        let high = ((seed >> 32) as u32 ^ 0xf7dc_efdd).wrapping_mul(2_591_861_531);
        let shifted = [
            123_456_789_u32.wrapping_add(low),
            362_436_069 ^ low,
            521_288_629_u32.wrapping_add(high),
            88_675_123 ^ high,
            5_783_321_u32.wrapping_add(low),
        ];
        let mut generator = Self::at(6_615_241_u32.wrapping_add(high).wrapping_add(low), shifted);
        generator.skip_subsequences(subsequence);
        generator.skip(offset);
        generator
    }

    #[inline]
    fn bits(&mut self) -> u32 {
        self.shifted = step(self.shifted);
        self.weyl = self.weyl.wrapping_add(WEYL);
        self.shifted[4].wrapping_add(self.weyl)
    }

    #[inline]
    fn skip(&mut self, n: u64) {
        self.jump(n, 0);
        self.weyl = self.weyl.wrapping_add(WEYL.wrapping_mul(n as u32));
    }

    #[inline]
    fn skip_subsequences(&mut self, n: u64) {
        // The Weyl sequence has a period of 2^32, which divides the distance.
        self.jump(n, SUBSEQUENCE);
    }

    #[inline]
    fn uniform(&mut self) -> f32 {
        uniform(self.bits())
    }

    #[inline]
    fn uniform_f64(&mut self) -> f64 {
        let low = self.bits();
        uniform_fine(low, self.bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of the paper's own initial values.
    #[test]
    fn the_step_is_the_papers() {
        let mut generator = Xorwow::at(6_615_241, [123_456_789, 362_436_069, 521_288_629, 88_675_123, 5_783_321]);
        assert_eq!([generator.bits(), generator.bits()], [246_875_399, 3_690_007_200]);
    }

    #[test]
    fn the_step_is_a_root_of_its_characteristic_polynomial() {
        for bit in 0..160 {
            let mut state = [0; 5];
            state[bit / 32] = 1 << (bit % 32);
            let mut sum = [0; 5];
            for power in 0..=160 {
                if power == 160 || CHARACTERISTIC[power / 32] >> (power % 32) & 1 == 1 {
                    sum = core::array::from_fn(|i| sum[i] ^ state[i]);
                }
                state = step(state);
            }
            assert_eq!(sum, [0; 5], "bit {bit}");
        }
    }

    #[test]
    fn two_halves_of_a_subsequence_are_one() {
        let mut halves = Xorwow::new(3, 0, 0);
        for _ in 0..8 {
            halves.skip(1 << 63);
            halves.skip(1 << 63);
        }
        assert_eq!(halves.shifted, Xorwow::new(3, 1, 0).shifted);
    }
}
