//! Kernels that fail.

use ptx::prelude::*;

#[kernel]
pub fn panics(value: u32) {
    if value == 7 {
        panic!("the value is seven");
    }
}

#[kernel]
pub fn panics_with_text(value: u32) {
    assert!(value != 7, "the value is {value}, thread {}", thread::thread_idx_x());
}

#[kernel]
pub fn out_of_bounds(values: &[u32], index: usize, mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = values[index];
    }
}

#[kernel]
pub fn unwraps(value: u32, mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = value.checked_sub(10).unwrap();
    }
}

#[kernel]
pub fn divides(value: u32, mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = 100 / value;
    }
}

#[kernel]
pub fn votes_for_others(lane: u32, mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = ptx::warp::Members::new(ptx::warp::LaneMask::lane(lane)).ballot(true).len();
    }
}

/// # Safety
/// The kernel reads address 16, which nobody has.
#[kernel]
pub unsafe fn reads_nowhere(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        // SAFETY: it is not; that is the test.
        *out = unsafe { core::ptr::without_provenance::<u32>(16).read_volatile() };
    }
}

/// Panics at the first of `indices` that `values` does not have.
#[kernel]
pub fn gathers(indices: &[u32], values: &[u32], mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = indices.iter().fold(0, |sum, index| sum ^ values[*index as usize]);
    }
}
