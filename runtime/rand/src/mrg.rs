//! MRG32k3a: two linear recurrences of third order, whose difference is the number.
//!
//! L'Ecuyer: "Good parameters and implementations for combined multiple recursive random number generators",
//! Operations Research 47 (1), 1999.

use core::f32::consts::TAU;

use crate::distribution::{polar, polar_f64};
use crate::generator::Generator;
use crate::state::{State, kept, state};

type Matrix = [[u32; 3]; 3];

/// A recurrence: x = (forward · x[forward_at] + (modulus - back) · x[0]) modulo `modulus`.
struct Recurrence {
    modulus: u32,
    forward: u32,
    forward_at: usize,
    back: u32,
}

const FIRST: Recurrence = Recurrence { modulus: 4_294_967_087, forward: 1_403_580, forward_at: 1, back: 810_728 };
const SECOND: Recurrence = Recurrence { modulus: 4_294_944_443, forward: 527_612, forward_at: 2, back: 1_370_589 };

/// A subsequence has 2 to the power of this many numbers.
const SUBSEQUENCE: usize = 76;

/// 1 / first modulus, as CURAND writes it: the largest number becomes 1. The paper's is 1 / (first modulus + 1).
const NORM: f64 = 2.328_306_549_837_829e-10;

/// What makes 32 bits of a number, as CURAND writes it.
const BITS_NORM: f64 = 1.000_000_048_662;

/// The matrices of 2^k steps of both, for each k.
static POWERS: [[Matrix; 2]; SUBSEQUENCE + 64] = powers();

const fn powers() -> [[Matrix; 2]; SUBSEQUENCE + 64] {
    let mut powers = [[FIRST.matrix(), SECOND.matrix()]; SUBSEQUENCE + 64];
    let mut k = 1;
    while k < powers.len() {
        let [first, second] = powers[k - 1];
        powers[k] = [square(first, FIRST.modulus), square(second, SECOND.modulus)];
        k += 1;
    }
    powers
}

const fn square(matrix: Matrix, modulus: u32) -> Matrix {
    let mut square = [[0; 3]; 3];
    let mut at = 0;
    while at < 9 {
        let (row, column) = (at / 3, at % 3);
        square[row][column] = dot(matrix[row], [matrix[0][column], matrix[1][column], matrix[2][column]], modulus);
        at += 1;
    }
    square
}

#[inline]
const fn dot(a: [u32; 3], b: [u32; 3], modulus: u32) -> u32 {
    let sum = a[0] as u64 * b[0] as u64 % modulus as u64
        + a[1] as u64 * b[1] as u64 % modulus as u64
        + a[2] as u64 * b[2] as u64 % modulus as u64;
    (sum % modulus as u64) as u32
}

impl Recurrence {
    const fn matrix(&self) -> Matrix {
        let mut last = [self.modulus - self.back, 0, 0];
        last[self.forward_at] = self.forward;
        [[0, 1, 0], [0, 0, 1], last]
    }

    /// The next element, which takes the oldest one's place in the row.
    #[inline]
    fn step(&self, state: &mut [u32; 3]) -> u32 {
        let sum = u64::from(self.forward) * u64::from(state[self.forward_at])
            + u64::from(self.back) * u64::from(self.modulus - state[0]);
        // 2^32 is `fold` modulo the modulus. The sum has at most 53 bits, and is below twice the modulus after two folds.
        let fold = u64::from(self.modulus.wrapping_neg());
        let folded = (sum >> 32) * fold + (sum & 0xffff_ffff);
        let folded = (folded >> 32) * fold + (folded & 0xffff_ffff);
        let modulus = u64::from(self.modulus);
        let next = if folded >= modulus { folded - modulus } else { folded } as u32;
        *state = [state[1], state[2], next];
        next
    }
}

state! {
    /// MRG32k3a, CURAND's `curandStateMRG32k3a_t`.
    ///
    /// Subsequences are 2^76 numbers apart. CURAND knows the first 2^51 of them, and here there are 2^64. Making and
    /// skipping cost 18 products for each bit that is set in subsequence, offset or distance.
    #[repr(C)]
    Mrg32k3a as "curandStateMRG32k3a", 48, { first: [u32; 3], second: [u32; 3] }
}

impl Mrg32k3a {
    /// From 1 to the first modulus.
    #[inline]
    fn number(&mut self) -> f64 {
        let first = FIRST.step(&mut self.first);
        let second = SECOND.step(&mut self.second);
        let difference = first.wrapping_sub(second);
        f64::from(if first <= second { difference.wrapping_add(FIRST.modulus) } else { difference })
    }

    /// Makes 2^from steps for each unit of `n`.
    fn jump(&mut self, mut n: u64, from: usize) {
        while n != 0 {
            let [first, second] = &POWERS[from + n.trailing_zeros() as usize];
            self.first = first.map(|row| dot(row, self.first, FIRST.modulus));
            self.second = second.map(|row| dot(row, self.second, SECOND.modulus));
            n &= n - 1;
        }
    }
}

impl State for Mrg32k3a {
    kept!();

    #[inline]
    fn pair(&mut self) -> [f32; 2] {
        let x = self.uniform();
        polar(x, self.uniform() * TAU)
    }

    #[inline]
    fn pair_f64(&mut self) -> [f64; 2] {
        let x = self.uniform_f64();
        polar_f64(x, self.uniform_f64() * 2.0)
    }
}

impl Generator for Mrg32k3a {
    #[inline]
    fn new(seed: u64, subsequence: u64, offset: u64) -> Self {
        // The paper's initial values; CURAND's way from a seed to others.
        let mut generator = Self::at([12345; 3], [12345; 3]);
        if seed != 0 {
            let [a, b] = [seed as u32 ^ 0x5555_5555, (seed >> 32) as u32 ^ 0xaaaa_aaaa];
            let times = |x: u32, modulus: u32| (u64::from(x) * 12345 % u64::from(modulus)) as u32;
            generator.first = [a, b, a].map(|x| times(x, FIRST.modulus));
            generator.second = [b, a, b].map(|x| times(x, SECOND.modulus));
        }
        generator.skip_subsequences(subsequence);
        generator.skip(offset);
        generator
    }

    #[inline]
    fn bits(&mut self) -> u32 {
        (self.number() * BITS_NORM) as u32
    }

    #[inline]
    fn skip(&mut self, n: u64) {
        self.jump(n, 0);
    }

    #[inline]
    fn skip_subsequences(&mut self, n: u64) {
        self.jump(n, SUBSEQUENCE);
    }

    #[inline]
    fn uniform(&mut self) -> f32 {
        self.uniform_f64() as f32
    }

    #[inline]
    fn uniform_f64(&mut self) -> f64 {
        self.number() * NORM
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first number of the paper's own initial values, and steps with ordinary remainders.
    #[test]
    fn the_step_is_the_papers() {
        let mut generator = Mrg32k3a::new(0, 0, 0);
        let first = generator.number() / f64::from(FIRST.modulus + 1);
        assert!((first - 0.127_011_122_046_577).abs() < 1e-15, "{first}");
        let next = |state: [u32; 3], recurrence: &Recurrence| dot(recurrence.matrix()[2], state, recurrence.modulus);
        for _ in 0..10_000 {
            let expected = [next(generator.first, &FIRST), next(generator.second, &SECOND)];
            _ = generator.bits();
            assert_eq!([generator.first[2], generator.second[2]], expected);
        }
    }

    #[test]
    fn the_largest_numbers() {
        for (recurrence, largest) in [(FIRST, FIRST.modulus - 1), (SECOND, SECOND.modulus - 1)] {
            for mut state in [[largest; 3], [0, largest, largest], [largest, 0, 0], [0; 3]] {
                let expected = dot(recurrence.matrix()[2], state, recurrence.modulus);
                assert_eq!(recurrence.step(&mut state), expected);
            }
        }
    }
}
