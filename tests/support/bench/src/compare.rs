//! Whether two results are equal, as far as they have to be.

use crate::data::Data;

/// How much results may differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Of a number, as a part of it or of the mean magnitude of all, whichever is larger.
    pub relative: f64,
    /// The share of numbers that may differ by more: where a rounding decides how often a loop runs.
    pub outliers: f64,
}

impl Tolerance {
    /// Every bit is the same.
    pub const EXACT: Self = Self { relative: 0.0, outliers: 0.0 };

    /// Compares; the error names the first number that differs.
    pub fn compare(self, left: &Data, right: &Data) -> Result<(), String> {
        if left.rust_type() != right.rust_type() || left.len() != right.len() {
            return Err("the results differ in type or length".into());
        }
        if left == right {
            return Ok(());
        }
        let pairs = || (0..left.len()).map(|index| (left.number(index), right.number(index)));
        if let Some(index) = pairs().position(|(left, right)| !left.is_finite() || !right.is_finite()) {
            return Err(format!("element {index} is not finite"));
        }
        let mean = pairs().map(|(_, right)| right.abs()).sum::<f64>() / left.len() as f64;
        let differs = |(left, right): &(f64, f64)| (left - right).abs() > self.relative * right.abs().max(mean);
        let count = pairs().filter(differs).count();
        if count as f64 <= self.outliers * left.len() as f64 && self != Self::EXACT {
            return Ok(());
        }
        let first = pairs().enumerate().find(|(_, pair)| differs(pair));
        Err(match first {
            Some((index, (left, right))) => {
                format!("{count} elements differ; the first is {index}: {left:e} against {right:e}")
            }
            // Wide integers that are one number as floats.
            None => "the results differ in some bits".into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(relative: f64, outliers: f64, rust: Vec<f32>, cuda: Vec<f32>) -> Result<(), String> {
        Tolerance { relative, outliers }.compare(&rust.into(), &cuda.into())
    }

    #[test]
    fn exact_results_have_the_same_bits() {
        let exact = |rust: Vec<u64>, cuda: Vec<u64>| Tolerance::EXACT.compare(&rust.into(), &cuda.into());
        assert!(exact(vec![1, 2], vec![1, 2]).is_ok());
        assert!(exact(vec![1, 2], vec![1, 3]).unwrap_err().contains("the first is 1: 2e0 against 3e0"));
        assert!(exact(vec![1], vec![1, 3]).is_err());
        let wide = u64::MAX - 1;
        assert!(exact(vec![wide], vec![wide + 1]).unwrap_err().contains("some bits"));
    }

    #[test]
    fn rounding_is_allowed_relative_to_the_number_or_the_mean() {
        assert!(compare(1e-3, 0.0, vec![1.0, 100.0], vec![1.0, 100.05]).is_ok());
        assert!(compare(1e-3, 0.0, vec![0.0, 100.0], vec![0.01, 100.0]).is_ok());
        assert!(compare(1e-3, 0.0, vec![0.0, 100.0], vec![0.2, 100.0]).is_err());
    }

    #[test]
    fn outliers_are_counted() {
        let mut rust = vec![1.0; 100];
        rust[7] = 9.0;
        assert!(compare(1e-3, 0.01, rust.clone(), vec![1.0; 100]).is_ok());
        rust[8] = 9.0;
        assert!(
            compare(1e-3, 0.01, rust, vec![1.0; 100]).unwrap_err().starts_with("2 elements differ; the first is 7")
        );
    }

    #[test]
    fn what_is_not_finite_is_an_error() {
        assert!(compare(1.0, 1.0, vec![f32::NAN, 1.0], vec![1.0, 1.0]).unwrap_err().contains("element 0"));
        assert!(compare(1.0, 1.0, vec![1.0, 1.0], vec![1.0, f32::INFINITY]).is_err());
    }
}
