//! What floating-point operations and functions should give, by MPFR; and inputs to try them on.
//!
//! For tests alone. The reference is behind the feature `mpfr`, so that machines without m4, which the build of GMP needs,
//! build everything else.

#[cfg(feature = "mpfr")]
mod fast;
mod format;
#[cfg(feature = "mpfr")]
mod functions;
pub mod inputs;
#[cfg(feature = "mpfr")]
mod number;
mod operation;
pub mod parallel;
#[cfg(feature = "mpfr")]
mod rounding;
#[cfg(feature = "mpfr")]
mod special;

#[cfg(feature = "mpfr")]
pub use fast::{ACCURACY, FLOOR, Reference, fast};
pub use format::Format;
#[cfg(feature = "mpfr")]
pub use functions::{Function, function};
pub use operation::{Mode, Operation};
#[cfg(feature = "mpfr")]
pub use rounding::{flushed, flushing_operation, narrow, operation, round_integer, to_integer};
