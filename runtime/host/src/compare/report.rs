//! What a comparison found: how many differ too much, and which one most.

use std::fmt;

use super::float::{Float, ulp_distance};
use super::tolerance::Tolerance;

/// Compares two results element by element.
///
/// If the lengths differ, [`Report::check`] fails.
#[must_use = "a report finds nothing wrong by itself: call `check`"]
pub fn compare<T: Float>(actual: &[T], expected: &[T], tolerance: &Tolerance) -> Report<T> {
    compare_by(actual, expected, tolerance.to_string(), |_| Some(tolerance.clone()))
}

/// Compares two results with a tolerance for each element, because CUDA's bounds often depend on the input. An element
/// without a tolerance may have any value. `allowed` describes the tolerance in the report.
///
/// ```
/// use ptx_host::compare::{compare_by, cuda};
///
/// let x = [0.5_f32, 20.0];
/// let (actual, expected) = ([0.938_469_8_f32, 0.167_024_66], [0.938_469_8, 0.167_024_45]);
/// // 9 ulp where |x| < 8, elsewhere an absolute error of 2.2e-6.
/// let bound = cuda::single("j0f").unwrap();
/// compare_by(&actual, &expected, bound.to_string(), |i| bound.tolerance(&[x[i].into()])).input("x", &x).check()?;
/// # Ok::<(), ptx_host::compare::Mismatch>(())
/// ```
#[must_use = "a report finds nothing wrong by itself: call `check`"]
pub fn compare_by<T: Float>(
    actual: &[T],
    expected: &[T],
    allowed: impl Into<String>,
    tolerance: impl Fn(usize) -> Option<Tolerance>,
) -> Report<T> {
    let mut report = Report {
        count: actual.len().min(expected.len()),
        failures: 0,
        max_ulps: 0,
        worst: None,
        allowed: allowed.into(),
        lengths: (actual.len(), expected.len()),
    };
    let mut rank = (false, 0);
    for (index, (&actual, &expected)) in actual.iter().zip(expected).enumerate() {
        let ulps = ulp_distance(actual, expected);
        let failed = tolerance(index).is_some_and(|tolerance| !tolerance.allows(actual, expected));
        report.failures += usize::from(failed);
        report.max_ulps = report.max_ulps.max(ulps);
        if report.worst.is_none() || (failed, ulps) > rank {
            rank = (failed, ulps);
            report.worst = Some(Worst { index, actual, expected, ulps, failed, inputs: Vec::new() });
        }
    }
    report
}

/// The outcome of a comparison of two results.
#[derive(Clone, Debug, PartialEq)]
pub struct Report<T> {
    count: usize,
    failures: usize,
    max_ulps: u64,
    worst: Option<Worst<T>>,
    allowed: String,
    lengths: (usize, usize),
}

/// The element that differs most; if any are outside the tolerance, the worst of those.
#[derive(Clone, Debug, PartialEq)]
pub struct Worst<T> {
    /// The element's index.
    pub index: usize,
    /// The computed value.
    pub actual: T,
    /// The expected value.
    pub expected: T,
    /// The distance between the two, as [`ulp_distance`] counts it.
    pub ulps: u64,
    /// Whether the element is outside the tolerance.
    pub failed: bool,
    inputs: Vec<String>,
}

/// The error for results that differ too much; it prints as the report does.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Mismatch(String);

impl<T: Float> Report<T> {
    /// Shows the worst element's input. Call it once for every argument of the function.
    #[must_use]
    pub fn input<I: Float>(mut self, name: &str, inputs: &[I]) -> Self {
        if let Some(worst) = &mut self.worst
            && let Some(input) = inputs.get(worst.index)
        {
            worst.inputs.push(format!("{name} = {input} ({})", input.hex()));
        }
        self
    }

    /// The number of elements that were compared.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// The number of elements outside the tolerance.
    #[must_use]
    pub fn failures(&self) -> usize {
        self.failures
    }

    /// The largest distance in units in the last place, whether allowed or not.
    #[must_use]
    pub fn max_ulps(&self) -> u64 {
        self.max_ulps
    }

    /// The element that differs most; `None` if there are no elements.
    #[must_use]
    pub fn worst(&self) -> Option<&Worst<T>> {
        self.worst.as_ref()
    }

    /// Whether all elements are inside the tolerance.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.failures == 0 && self.lengths.0 == self.lengths.1
    }

    /// Returns an error that prints as the report does if any element is outside the tolerance, or if the lengths
    /// differ.
    pub fn check(&self) -> Result<(), Mismatch> {
        if self.passes() { Ok(()) } else { Err(Mismatch(self.to_string())) }
    }
}

impl<T: Float> fmt::Display for Report<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, failures, allowed, .. } = self;
        if self.lengths.0 != self.lengths.1 {
            writeln!(f, "{} results, but {} expected ones", self.lengths.0, self.lengths.1)?;
        }
        if *failures == 0 {
            write!(f, "{count} compared, all within {allowed}")?;
        } else {
            write!(f, "{failures} of {count} are not within {allowed}")?;
        }
        let Some(Worst { index, actual, expected, ulps, inputs, .. }) = &self.worst else { return Ok(()) };
        if *ulps == 0 && self.failures == 0 {
            return Ok(());
        }
        write!(f, "; the worst is element {index}")?;
        if !inputs.is_empty() {
            write!(f, ", {}", inputs.join(", "))?;
        }
        write!(f, ":\n  got      {actual} ({})\n  expected {expected} ({})\n  ", actual.hex(), expected.hex())?;
        let (a, b) = (actual.to_f64(), expected.to_f64());
        if *ulps == u64::MAX {
            return write!(f, "only one is a number");
        }
        let difference = (a - b).abs();
        write!(f, "{ulps} ulp apart, a difference of {difference:.3e}")?;
        if b != 0.0 && difference.is_finite() {
            write!(f, " or {:.3e} of the expected number", difference / b.abs())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_failure_is_named() {
        let expected = [1.0_f32, 2.0, 3.0, f32::NAN];
        let actual = [1.0, 2.0 + 4.0 * f32::EPSILON, 3.0 + 2.0 * f32::EPSILON, f32::NAN];
        let report = compare(&actual, &expected, &Tolerance::ulps(1)).input("x", &[10.0_f64, 20.0, 30.0, 40.0]);
        assert_eq!((report.count(), report.failures(), report.max_ulps()), (4, 1, 2));
        assert_eq!(report.worst().unwrap().index, 1);
        assert_eq!(
            report.check().unwrap_err().to_string(),
            "1 of 4 are not within 1 ulp; the worst is element 1, x = 20 (0x4034000000000000):\n  \
             got      2.0000005 (0x40000002)\n  expected 2 (0x40000000)\n  \
             2 ulp apart, a difference of 4.768e-7 or 2.384e-7 of the expected number"
        );
    }

    #[test]
    fn a_failure_is_worse_than_what_is_allowed() {
        let tolerance = |i: usize| Some(if i == 0 { Tolerance::absolute(1.0) } else { Tolerance::same_value() });
        let report = compare_by(&[1.5_f64, 1.0, 9.0], &[1.0, 1.0_f64.next_up(), 9.0], "as told", tolerance);
        assert_eq!((report.failures(), report.worst().unwrap().index), (1, 1));
        assert!(report.max_ulps() > 1 << 50);
    }

    #[test]
    fn nan_for_a_number_fails_and_is_worst() {
        let report = compare(&[f64::NAN, 5.0], &[0.0, 1.0], &Tolerance::absolute(1e9));
        assert_eq!(report.worst().unwrap().index, 0);
        assert!(report.check().unwrap_err().to_string().ends_with("only one is a number"));
    }

    #[test]
    fn lengths_count_and_nothing_is_equal_to_nothing() {
        let text = compare(&[1.0_f32], &[1.0, 2.0], &Tolerance::ulps(0)).check().unwrap_err().to_string();
        assert_eq!(text, "1 results, but 2 expected ones\n1 compared, all within the same number");
        assert!(compare::<f32>(&[], &[], &Tolerance::same_bits()).passes());
        assert!(compare(&[1.0_f32], &[1.0], &Tolerance::same_bits()).check().is_ok());
    }
}
