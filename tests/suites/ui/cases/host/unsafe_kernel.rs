//! An unsafe kernel is launched in an unsafe block.
use ptx::prelude::*;

/// # Safety
/// `count` must be even.
#[kernel]
pub unsafe fn pairs(count: u32) {
    let _ = count;
}

pub fn host() {
    let _ = pairs(2); //~ ERROR: unsafe
}
