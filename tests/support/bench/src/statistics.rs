//! Medians and means of measurements.

/// The middle one of the values; the mean of two where their number is even. 0 of none.
pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// The value that a part of the values is not above, between two of them if need be. 0 of none.
pub fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let at = part * last as f64;
    let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    below + (above - below) * at.fract()
}

/// The geometric mean; none of no values.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().map(|value| value.ln()).sum();
    (!values.is_empty()).then(|| (sum / values.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_means() {
        assert_eq!((median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0, 2.0, 3.0]), median(&[])), (2.0, 2.5, 0.0));
        assert_eq!((quantile(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.25), quantile(&[7.0], 0.9)), (2.0, 7.0));
        let mean = geometric_mean(&[0.5, 2.0, 1.0]).unwrap();
        assert!((mean - 1.0).abs() < 1e-12 && geometric_mean(&[]).is_none());
    }
}
