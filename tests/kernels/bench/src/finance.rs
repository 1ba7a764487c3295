//! Option prices and Monte Carlo methods.

use core::f32::consts::TAU;

use ptx::prelude::*;

/// The standard normal distribution function by Abramowitz and Stegun, 26.2.17.
#[inline]
fn normal(x: f32) -> f32 {
    let k = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let polynomial =
        k * (0.319_381_53 + k * (-0.356_563_78 + k * (1.781_477_9 + k * (-1.821_255_9 + k * 1.330_274_4))));
    let tail = 0.398_942_3 * (-0.5 * x * x).exp() * polynomial;
    if x > 0.0 { 1.0 - tail } else { tail }
}

/// European options by Black and Scholes: the prices of calls and puts.
#[kernel]
pub fn black_scholes(
    spots: &[f32],
    strikes: &[f32],
    years: &[f32],
    rate: f32,
    volatility: f32,
    mut calls: DisjointSlice<f32>,
    mut puts: DisjointSlice<f32>,
) {
    let i = thread::index_1d();
    if let (Some(call), Some(put)) = (calls.get_mut(i), puts.get_mut(i)) {
        let (spot, strike, years) = (spots[i.get()], strikes[i.get()], years[i.get()]);
        let deviation = volatility * years.sqrt();
        let d1 = ((spot / strike).ln() + (rate + 0.5 * volatility * volatility) * years) / deviation;
        let d2 = d1 - deviation;
        let discounted = strike * (-rate * years).exp();
        *call = spot * normal(d1) - discounted * normal(d2);
        *put = discounted * (1.0 - normal(d2)) - spot * (1.0 - normal(d1));
    }
}

/// Marsaglia's generator of random numbers.
struct XorShift(u32);

impl XorShift {
    /// Different for each thread, and never 0.
    #[inline]
    fn of_thread(thread: usize) -> Self {
        Self((thread as u32).wrapping_mul(747_796_405).wrapping_add(2_891_336_453) | 1)
    }

    #[inline]
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    /// Above 0, and at most 1.
    #[inline]
    fn uniform(&mut self) -> f32 {
        ((self.next() >> 8) + 1) as f32 * (1.0 / 16_777_216.0)
    }
}

/// How many of each thread's random points are in a quarter of a circle.
#[kernel]
pub fn monte_carlo_pi(points: u32, mut inside: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(inside) = inside.get_mut(i) {
        let mut random = XorShift::of_thread(i.get());
        *inside =
            (0..points).map(|_| (random.uniform(), random.uniform())).filter(|(x, y)| x * x + y * y <= 1.0).count()
                as u32;
    }
}

/// An Asian call on one random path a thread, by the geometric Brownian motion of its price.
#[kernel]
pub fn monte_carlo_asian(steps: u32, strike: f32, drift: f32, volatility: f32, mut payoffs: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(payoff) = payoffs.get_mut(i) {
        let mut random = XorShift::of_thread(i.get());
        let (mut price, mut sum) = (100.0_f32, 0.0);
        for _ in 0..steps {
            // Box and Muller.
            let radius = (-2.0 * random.uniform().ln()).sqrt();
            let normal = radius * (TAU * random.uniform()).cos();
            price *= (drift + volatility * normal).exp();
            sum += price;
        }
        *payoff = (sum / steps as f32 - strike).max(0.0);
    }
}
