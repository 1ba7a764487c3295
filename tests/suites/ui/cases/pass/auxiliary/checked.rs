//! A dependency that panics.
#![no_std]

#[inline(never)]
pub fn third(values: &[u32]) -> u32 {
    values[3]
}

/// rustc inlines it into its callers.
#[inline]
pub fn fourth(values: &[u32]) -> u32 {
    values.get(4).copied().unwrap()
}

/// The same, by an index.
#[inline]
pub fn fifth(values: &[u32]) -> u32 {
    values[5]
}
