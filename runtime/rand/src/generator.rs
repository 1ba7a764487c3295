//! What every generator can do, under one trait.

#[cfg(target_arch = "nvptx64")]
use ptx_device::math::Math as _;

use crate::poisson::poisson;
use crate::state::{LOG_NORMAL, NORMAL, State, take};

/// A generator with CURAND's sequence and distributions.
///
/// The trait is sealed: [`Philox4x32`](crate::Philox4x32), [`Xorwow`](crate::Xorwow) and
/// [`Mrg32k3a`](crate::Mrg32k3a) implement it.
pub trait Generator: State {
    /// The generator for `seed`, at the beginning of `subsequence`, `offset` numbers further on.
    ///
    /// CUDA: `curand_init`. Equal arguments give equal numbers.
    #[must_use]
    fn new(seed: u64, subsequence: u64, offset: u64) -> Self;

    /// The next 32 random bits.
    ///
    /// CUDA: `curand`.
    #[must_use]
    fn bits(&mut self) -> u32;

    /// Leaves out `n` numbers, as if [`bits`](Generator::bits) had been called that often.
    ///
    /// CUDA: `skipahead`.
    fn skip(&mut self, n: u64);

    /// Leaves out `n` subsequences.
    ///
    /// CUDA: `skipahead_sequence`; for MRG32k3a `skipahead_subsequence`.
    fn skip_subsequences(&mut self, n: u64);

    /// A number from 0, excluded, to 1, included, with 32 random bits.
    ///
    /// CUDA: `curand_uniform`.
    #[must_use]
    fn uniform(&mut self) -> f32;

    /// A number from 0, excluded, to 1, included: with 53 random bits from XORWOW, and 32 from the others, as CURAND's.
    ///
    /// CUDA: `curand_uniform_double`.
    #[must_use]
    fn uniform_f64(&mut self) -> f64;

    /// Two independent numbers of the standard normal distribution, by the method of Box and Muller.
    ///
    /// CUDA: `curand_normal2`.
    #[must_use]
    #[inline]
    fn normal2(&mut self) -> [f32; 2] {
        self.pair()
    }

    /// The same in double precision.
    ///
    /// CUDA: `curand_normal2_double`.
    #[must_use]
    #[inline]
    fn normal2_f64(&mut self) -> [f64; 2] {
        self.pair_f64()
    }

    /// A number of the standard normal distribution. Every second call takes the number that the one before has kept.
    ///
    /// CUDA: `curand_normal`.
    #[must_use]
    #[inline]
    fn normal(&mut self) -> f32 {
        take!(self.kept, NORMAL, self.pair())
    }

    /// The same in double precision.
    ///
    /// CUDA: `curand_normal_double`.
    #[must_use]
    #[inline]
    fn normal_f64(&mut self) -> f64 {
        take!(self.kept_f64, NORMAL, self.pair_f64())
    }

    /// Two independent numbers whose logarithms are normal with this mean and standard deviation.
    ///
    /// CUDA: `curand_log_normal2`.
    #[must_use]
    #[inline]
    fn log_normal2(&mut self, mean: f32, deviation: f32) -> [f32; 2] {
        self.pair().map(|number| (mean + deviation * number).exp())
    }

    /// The same in double precision.
    ///
    /// CUDA: `curand_log_normal2_double`.
    #[must_use]
    #[inline]
    fn log_normal2_f64(&mut self, mean: f64, deviation: f64) -> [f64; 2] {
        self.pair_f64().map(|number| (mean + deviation * number).exp())
    }

    /// A number whose logarithm is normal with this mean and standard deviation. Every second call takes the number that
    /// the one before has kept, with the mean and deviation that the one before was given.
    ///
    /// CUDA: `curand_log_normal`.
    #[must_use]
    #[inline]
    fn log_normal(&mut self, mean: f32, deviation: f32) -> f32 {
        take!(self.kept, LOG_NORMAL, self.log_normal2(mean, deviation))
    }

    /// The same in double precision.
    ///
    /// CUDA: `curand_log_normal_double`.
    #[must_use]
    #[inline]
    fn log_normal_f64(&mut self, mean: f64, deviation: f64) -> f64 {
        take!(self.kept_f64, LOG_NORMAL, self.log_normal2_f64(mean, deviation))
    }

    /// A number of the Poisson distribution of mean `lambda`; 0 where `lambda` is not positive, or not a number.
    ///
    /// Below 64 by Knuth's product of uniform numbers, above 4000 a rounded normal number, between them by rejection
    /// from an approximation of the incomplete gamma function, as CURAND does it.
    ///
    /// CUDA: `curand_poisson`.
    #[must_use]
    #[inline]
    fn poisson(&mut self, lambda: f64) -> u32 {
        if lambda > 4000.0 {
            return (lambda.sqrt() * self.normal_f64() + lambda + 0.5) as u32;
        }
        poisson(lambda, || self.uniform())
    }
}
