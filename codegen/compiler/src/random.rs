//! How long tests make random functions: as long as each of them says, or as `ARBTEST_BUDGET_MS` does.

use std::time::Duration;

/// A test's own time, in milliseconds, unless somebody asks for more.
pub fn budget(own: u64) -> Duration {
    let asked = std::env::var("ARBTEST_BUDGET_MS").ok().and_then(|text| text.parse().ok());
    Duration::from_millis(asked.unwrap_or(own))
}
