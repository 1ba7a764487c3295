//! `std::collections`, but for `HashMap` and `HashSet`.

pub use alloc_crate::collections::*;
