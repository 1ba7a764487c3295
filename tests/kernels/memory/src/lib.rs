//! Statics that the host writes and reads, cache operators, copies in the background, and what else needs sm_80 or sm_90.
#![cfg_attr(target_arch = "nvptx64", no_std)]

pub mod clusters;
pub mod known;
pub mod split;

use ptx::atomic::{Atomic, Device, Ordering};
use ptx::prelude::*;
use ptx::vec::{Float4, UInt4};
use ptx::{Constant, Global, Shared};

/// What the host writes before a launch.
#[ptx::constant]
pub static WEIGHTS: Constant<[f32; 16]> = Constant::new([0.5; 16]);

/// What the host reads after it, and goes from launch to launch.
#[ptx::global]
pub static HISTOGRAM: Global<[u32; 16]> = Global::new([100; 16]);

/// A static of one kernel's own path, of a vector.
pub mod inner {
    use super::*;

    /// The last vector.
    #[ptx::global]
    pub static LAST: Global<Float4> = Global::new(Float4::new(1.0, 2.0, 3.0, 4.0));
}

/// What no kernel uses.
#[ptx::global]
pub static UNUSED: Global<u32> = Global::new(0);

/// Weighs, and counts by the lowest bits.
#[kernel]
pub fn weigh_and_count(values: &[u32], mut weighed: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let (Some(value), Some(weighed)) = (values.get(i.get()), weighed.get_mut(i)) {
        let bin = (*value % 16) as usize;
        *weighed = WEIGHTS[bin] * *value as f32;
        HISTOGRAM.atomics()[bin].fetch_add(1, Ordering::Relaxed);
    }
}

/// Doubles the vector; one thread.
#[kernel]
pub fn double_last() {
    // SAFETY: the one thread that runs.
    unsafe { *inner::LAST.as_ptr() = 2.0 * *inner::LAST.as_ptr() };
}

/// The sum of 256 values for each block, by copies in the background, two groups of them under way.
///
/// # Safety
/// Blocks have 64 threads, `values` four of them for each thread, and `sums` an element for each block.
#[kernel(launch_bounds(64))]
pub unsafe fn sum_copied(values: *const UInt4, sums: *mut u32) {
    let (t, block) = (thread::thread_idx_x() as usize, thread::block_idx_x() as usize);
    // SAFETY: each thread copies its own vector, and reads it after it waited; sums of threads are added atomically.
    unsafe {
        let own = COPIED.as_ptr().cast::<UInt4>().add(t);
        let first = COPIED.as_ptr().cast::<UInt4>().add(64 + t);
        ptx::memory::copy_async(own, values.add(64 * block + t));
        ptx::memory::copy_async_commit();
        ptx::memory::copy_async(first.cast::<u32>(), values.add(64 * block + t).cast::<u32>());
        ptx::memory::copy_async_commit();
        ptx::memory::copy_async_wait::<1>();
        let four = own.read();
        ptx::memory::copy_async_wait::<0>();
        let again = first.cast::<u32>().read();
        let sum = four.x + four.y + four.z + four.w + (again - four.x);
        Atomic::<u32, Device>::from_ptr(sums.add(block)).fetch_add(sum, Ordering::Relaxed);
    }
}

#[ptx::shared]
static COPIED: Shared<[UInt4; 128]>;

/// The value, by every kind of load; 0 if they differ.
unsafe fn by_all_loads<T: Copy + PartialEq>(from: *const T) -> Option<T> {
    use ptx::memory::{
        load_ca, load_cg, load_cs, load_cv, load_l1_evict_first, load_l1_evict_last, load_l1_no_allocate, load_l2_64,
        load_l2_128, load_l2_256, load_lu, load_nc,
    };
    // SAFETY: the caller's promise.
    let all = unsafe {
        [
            load_nc(from),
            load_ca(from),
            load_cg(from),
            load_cs(from),
            load_cv(from),
            load_l1_evict_first(from),
            load_l1_evict_last(from),
            load_l1_no_allocate(from),
            load_l2_64(from),
            load_l2_128(from),
            load_l2_256(from),
            load_lu(from),
        ]
    };
    all.iter().all(|one| *one == all[0]).then_some(all[0])
}

macro_rules! cached {
    ($($name:ident: $ty:ty;)*) => {$(
        /// A copy by every kind of load, and by the store of that number.
        ///
        /// # Safety
        /// Both have `n` elements.
        #[kernel]
        pub unsafe fn $name(from: *const $ty, to: *mut $ty, n: usize, store: u32) {
            use ptx::memory::{
                store_cg, store_cs, store_l1_evict_first, store_l1_evict_last, store_l1_no_allocate, store_wb, store_wt,
            };
            let i = thread::index_1d().get();
            if i >= n {
                return;
            }
            // SAFETY: in bounds, and each thread has its own element.
            unsafe {
                ptx::memory::prefetch_l2(from.add(i));
                let Some(value) = by_all_loads(from.add(i)) else { return };
                let to = to.add(i);
                match store {
                    0 => store_wb(to, value),
                    1 => store_cg(to, value),
                    2 => store_cs(to, value),
                    3 => store_wt(to, value),
                    4 => store_l1_evict_first(to, value),
                    5 => store_l1_evict_last(to, value),
                    _ => store_l1_no_allocate(to, value),
                }
            }
        }
    )*};
}

cached! {
    cached_u8: u8;
    cached_u16: u16;
    cached_f32: f32;
    cached_u64: u64;
    cached_float4: Float4;
}
