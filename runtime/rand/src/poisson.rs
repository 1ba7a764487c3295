//! Numbers of the Poisson distribution.

use ptx_device::float::Approx as _;
#[cfg(target_arch = "nvptx64")]
use ptx_device::math::Math as _;

/// A number for a mean of at most 4000, from uniform numbers.
pub fn poisson(lambda: f64, uniform: impl FnMut() -> f32) -> u32 {
    if lambda < 64.0 {
        return by_product(lambda as f32, uniform);
    }
    // A NaN would be rejected for ever.
    if lambda.is_nan() { 0 } else { by_rejection(lambda as f32, uniform) }
}

/// Knuth: The Art of Computer Programming, volume 2, §3.4.1, algorithm Q; from above, so that large means do not
/// underflow.
fn by_product(lambda: f32, mut uniform: impl FnMut() -> f32) -> u32 {
    let mut product = lambda.exp();
    let mut count = 0;
    loop {
        product *= uniform();
        if product > 1.0 {
            count += 1;
        } else {
            return count;
        }
    }
}

/// Rejection from a distribution whose function is a simple approximation of the incomplete gamma function.
fn by_rejection(lambda: f32, mut uniform: impl FnMut() -> f32) -> u32 {
    let gamma = IncompleteGamma::new(lambda);
    let log = ln(lambda);
    loop {
        let x = gamma.inverse(uniform()).floor();
        let height = (gamma.value(x + 1.0) - gamma.value(x)) * 1.3;
        let y = uniform() * height;
        let wanted = exp(-lambda + x * log - ln_factorial(x) as f32);
        if y < wanted && f64::from(height) >= 1e-20 {
            return x as u32;
        }
    }
}

/// Of slope and shift, as CURAND has them.
const COEFFICIENTS: [[f32; 3]; 2] =
    [[1.432_480_3, 0.124_009_795, 0.000_253_610_75], [0.210_967_35, 1.973_811_6, 0.942_017_3]];

/// CURAND's approximation of the regularised incomplete gamma function of `a` as a logistic function, squared.
struct IncompleteGamma {
    a: f32,
    slope: f32,
    shift: f32,
}

impl IncompleteGamma {
    fn new(a: f32) -> Self {
        let [[factor, offset, sum], [shift_factor, shift_offset, shift_sum]] = COEFFICIENTS;
        let slope = factor * (a - offset).rsqrt_approx() + sum;
        let shift = shift_factor * (a - shift_offset).rsqrt_approx() + shift_sum;
        Self { a, slope, shift }
    }

    fn value(&self, x: f32) -> f32 {
        let root = 1.0 + exp(self.slope * (self.a - x) - self.shift);
        (root * root).rcp_approx()
    }

    fn inverse(&self, y: f32) -> f32 {
        let t = self.shift + ln(y.rsqrt_approx() - 1.0);
        -t * self.slope.rcp_approx() + self.a
    }
}

// CURAND names instructions that take subnormal numbers for zeros. Here that makes no difference: arguments are none,
// and results that are so small are rejected.

/// CURAND multiplies in double precision.
fn exp(x: f32) -> f32 {
    if cfg!(target_arch = "nvptx64") {
        ((f64::from(x) * core::f64::consts::LOG2_E) as f32).exp2_approx()
    } else {
        x.exp()
    }
}

/// As above.
fn ln(x: f32) -> f32 {
    if cfg!(target_arch = "nvptx64") { (f64::from(x.log2_approx()) * core::f64::consts::LN_2) as f32 } else { x.ln() }
}

/// The logarithm of Γ(x + 1) for a whole number. By Stirling's series (Hart et al.: Computer Approximations, 1968,
/// approximation 5404), but for small numbers.
fn ln_factorial(x: f32) -> f64 {
    /// Of 0! to 8!, where CURAND's table ends.
    const SMALL: [f64; 8] = [
        0.0,
        0.0,
        core::f64::consts::LN_2,
        1.791_759_469_228_055,
        3.178_053_830_347_945_8,
        4.787_491_742_782_046,
        6.579_251_212_010_101,
        8.525_161_361_065_415,
    ];
    let next = (1.0 + x) as i32;
    if let Some(small) = SMALL.get((next - 1) as usize) {
        return *small;
    }
    let next = f64::from(next as f32);
    let inverse = 1.0 / next;
    let square = inverse * inverse;
    let mut series = -0.163_343_643_1e-2;
    series = series * square + 0.836_458_789_22e-3;
    series = series * square - 0.595_189_686_119_7e-3;
    series = series * square + 0.793_650_576_493_454e-3;
    series = series * square - 0.277_777_777_735_865e-2;
    series = series * square + 0.083_333_333_333_333_1;
    series = series * inverse + 0.918_938_533_204_672;
    let product = 0.5 * next.ln() * (next - 0.5);
    (product - next) + (product + series)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_of_factorials() {
        let mut sum = 0.0;
        for x in 1..200 {
            sum += f64::from(x).ln();
            let error = (ln_factorial(x as f32) - sum).abs();
            assert!(error < 1e-10 * sum.max(1.0), "{x}: {error}");
        }
        assert_eq!(ln_factorial(0.0), 0.0);
    }

    #[test]
    fn coefficients_are_rounded_as_in_c() {
        let digits = [
            ["1.43248035075540910", "0.12400979329415655", "0.00025361074907033"],
            ["0.21096734870196546", "1.97381164089999420", "0.94201734077887530"],
        ];
        assert_eq!(COEFFICIENTS, digits.map(|row| row.map(|text| text.parse::<f32>().unwrap())));
    }

    #[test]
    fn the_approximation_is_its_inverses() {
        for lambda in [64.0, 500.0, 4000.0] {
            let gamma = IncompleteGamma::new(lambda);
            for y in [0.001, 0.25, 0.5, 0.9, 0.999] {
                let back = gamma.value(gamma.inverse(y));
                assert!((back - y).abs() < 1e-3, "{lambda}, {y}: {back}");
            }
        }
    }
}
