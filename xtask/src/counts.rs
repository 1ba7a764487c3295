//! How many tests passed, failed and were skipped, read from the summaries that the runners print.

use std::fmt;
use std::ops::AddAssign;

/// The sum over some tests.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tests that ran and held.
    pub passed: usize,
    /// Tests that ran and did not hold, and suites that died.
    pub failed: usize,
    /// Tests that did not run.
    pub skipped: usize,
    /// Why they did not.
    pub reasons: Vec<String>,
    /// Names of those that failed.
    pub failures: Vec<String>,
    /// Of what only a part ran, and how large a part.
    pub sampled: Vec<String>,
    /// What a runner wants to be read although nothing failed.
    pub remarks: Vec<String>,
}

impl Counts {
    /// One test that passed.
    pub fn pass() -> Self {
        Self { passed: 1, ..Self::default() }
    }

    /// One test that failed.
    pub fn fail() -> Self {
        Self { failed: 1, ..Self::default() }
    }

    /// One test that could not run.
    pub fn skip(reason: String) -> Self {
        Self { skipped: 1, reasons: vec![reason], ..Self::default() }
    }

    /// Sums the `test result:` lines of libtest, libtest-mimic and ui_test, and collects the reasons of skips: lines
    /// `test NAME ... ignored (REASON)` or `ignored, REASON`, and what our runners print as `skipped: REASON`,
    /// `sampled: PART` or `remark: TEXT`.
    ///
    /// A runner that ended badly although no summary counts a failure died before its end: that is a failure.
    pub fn from_output(text: &str, success: bool) -> Self {
        let mut counts = Self::default();
        let mut summaries = 0;
        for line in text.lines() {
            if let Some(summary) = line.strip_prefix("test result:") {
                summaries += 1;
                counts.passed += number_before(summary, "passed");
                counts.failed += number_before(summary, "failed");
                counts.skipped += number_before(summary, "ignored");
            } else if let Some(reason) = line.strip_prefix("skipped: ") {
                counts.reasons.push(reason.to_string());
            } else if let Some(part) = line.strip_prefix("sampled: ") {
                counts.sampled.push(part.to_string());
            } else if let Some(remark) = line.strip_prefix("remark: ") {
                counts.remarks.push(remark.to_string());
            } else if let Some(name) = line.strip_suffix(" ... FAILED") {
                counts.failures.push(name.trim_start_matches("test ").trim().to_string());
            } else if let Some((name, rest)) =
                line.strip_prefix("test ").and_then(|test| test.split_once(" ... ignored"))
            {
                let reason = rest.trim_start_matches([',', ' ']).trim_matches(['(', ')']);
                let reason = if reason.is_empty() { "marked #[ignore]" } else { reason };
                counts.reasons.push(format!("{}: {reason}", name.trim()));
            }
        }
        if counts.failed == 0 && (!success || summaries == 0) {
            counts.failed = 1;
        }
        counts
    }
}

/// 3 for `ok. 3 passed; ...` and `passed`; 0 where the word is not there.
fn number_before(summary: &str, word: &str) -> usize {
    let before = summary.find(&format!(" {word}")).map(|at| &summary[..at]);
    before.and_then(|before| before.split_whitespace().next_back()?.parse().ok()).unwrap_or(0)
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.reasons.extend(other.reasons);
        self.failures.extend(other.failures);
        self.sampled.extend(other.sampled);
        self.remarks.extend(other.remarks);
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_runners_summary_is_read() {
        let libtest =
            "test a ... ignored, no GPU\ntest result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n";
        let mimic = "test b ... ignored (no GPU)\ntest c d  ... FAILED\ntest result: FAILED. 3 passed; 2 failed; 1 ignored; 0 measured\n";
        let ui_test = "tests/a.rs (revision b) ... FAILED\nsampled: 1 of 2 cases, seed 1\nremark: mind this\ntest result: FAIL. 1 failed; 4 passed; 2 filtered out\n\n";
        let mut counts = Counts::from_output(libtest, true);
        assert_eq!((counts.passed, counts.failed, counts.skipped), (3, 0, 1));
        counts += Counts::from_output(mimic, false);
        counts += Counts::from_output(ui_test, false);
        assert_eq!(counts.to_string(), "10 passed, 3 failed, 2 skipped");
        assert_eq!(counts.reasons, ["a: no GPU", "b: no GPU"]);
        assert_eq!(counts.failures, ["c d", "tests/a.rs (revision b)"]);
        assert_eq!(counts.sampled, ["1 of 2 cases, seed 1"]);
        assert_eq!(counts.remarks, ["mind this"]);
    }

    #[test]
    fn a_runner_that_dies_counts_as_failed() {
        assert_eq!(Counts::from_output("test result: ok. 2 passed; 0 failed", false).failed, 1);
        assert_eq!(Counts::from_output("", true).failed, 1);
    }
}
