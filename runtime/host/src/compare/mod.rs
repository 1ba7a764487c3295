//! Comparing floating-point results: how far apart two numbers are, how far they may be, and where they differ most.
//!
//! Results of a GPU and of a CPU rarely agree to the last bit, and need not: fused multiply-add, another order of the
//! additions and another library of functions each change it, and none of that is wrong (Floating Point and IEEE 754
//! 12.8, §4.4). So a comparison says what it allows, and shows the worst place:
//!
//! ```
//! use ptx_host::compare::{Tolerance, compare};
//!
//! let inputs = [0.5_f32, 1.0, 1.5];
//! let expected = inputs.map(f32::sin);
//! let actual = [expected[0], f32::from_bits(expected[1].to_bits() + 1), expected[2]];
//!
//! // Two units in the last place, as CUDA documents for `sinf`.
//! let report = compare(&actual, &expected, &Tolerance::ulps(2));
//! report.check()?;
//! assert_eq!(report.max_ulps(), 1);
//!
//! let strict = compare(&actual, &expected, &Tolerance::same_value()).input("x", &inputs);
//! let error = strict.check().unwrap_err().to_string();
//! assert!(error.contains("1 of 3") && error.contains("x = 1 (0x3f800000)"), "{error}");
//! # Ok::<(), ptx_host::compare::Mismatch>(())
//! ```
//!
//! What CUDA documents of each function is in [`cuda`]. Nothing here needs a GPU or NVIDIA's driver.

pub mod cuda;
mod exact;
mod float;
mod report;
mod tolerance;

pub use exact::{Exact, ulp_error};
pub use float::{Float, ulp_distance};
pub use report::{Mismatch, Report, Worst, compare, compare_by};
pub use tolerance::Tolerance;
