//! So many kernels that their machine code is several cubins, and statics that some of them share.
#![cfg_attr(target_arch = "nvptx64", no_std)]

use ptx::atomic::Ordering;
use ptx::hint::Unroll as _;
use ptx::prelude::*;
use ptx::{Constant, Global, Shared};

/// Counts launches of the first kernel and of the last.
#[ptx::global]
pub static COUNTS: Global<[u32; 2]> = Global::new([0; 2]);

/// What the host writes, and two other kernels read.
#[ptx::constant]
pub static FACTOR: Constant<u32> = Constant::new(1);

/// A tile of each block's own, whichever kernel it runs.
#[ptx::shared]
static TILE: Shared<[u32; 64]>;

/// What each kernel does, with another number.
pub fn mixed(mut x: u32, number: u32) -> u32 {
    for round in (0..96_u32).unroll_full() {
        x ^= x << 13;
        x = x.wrapping_mul(number * 2 + round * 4 + 1) ^ (x >> 17);
    }
    x
}

/// Counts itself and adds what the last kernel has counted; the name is the first.
#[kernel]
pub fn a_counts() {
    COUNTS.atomics()[0].fetch_add(1 + COUNTS.atomics()[1].load(Ordering::Relaxed), Ordering::Relaxed);
}

/// Counts itself; the name is the last.
#[kernel]
pub fn z_counts() {
    COUNTS.atomics()[1].fetch_add(10, Ordering::Relaxed);
}

/// Multiplies by what the host wrote.
#[kernel]
pub fn b_multiplies(values: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let (Some(value), Some(out)) = (values.get(i.get()), out.get_mut(i)) {
        *out = value.wrapping_mul(*FACTOR);
    }
}

/// Adds what the host wrote.
#[kernel]
pub fn y_adds(values: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let (Some(value), Some(out)) = (values.get(i.get()), out.get_mut(i)) {
        *out = value.wrapping_add(*FACTOR);
    }
}

macro_rules! kernels {
    // `d` is a `$`, for the macro within.
    ($d:tt $($name:ident = $number:literal,)*) => {
        $(
            /// Mixes an element, which there need not be, and exchanges it with the thread beside.
            ///
            /// # Safety
            /// Blocks have 64 threads.
            #[kernel(launch_bounds(64))]
            pub unsafe fn $name(values: &[u32], from: usize, mut out: DisjointSlice<u32>) {
                let (i, t) = (thread::index_1d(), thread::thread_idx_x() as usize);
                let value = mixed(values[from + i.get()], $number);
                // SAFETY: each thread writes its own element, and a barrier stands between writing and reading.
                unsafe { TILE.write(t, value) };
                sync_threads();
                if let Some(out) = out.get_mut(i) {
                    // SAFETY: as above.
                    *out = unsafe { TILE.read(t ^ 1) };
                }
            }
        )*

        /// Calls a macro with the kernels, each with its number.
        #[macro_export]
        macro_rules! for_each_kernel {
            ($d call:ident) => {
                $d call! { $($name = $number,)* }
            };
        }
    };
}

kernels! {
    $
    k00 = 0, k01 = 1, k02 = 2, k03 = 3, k04 = 4, k05 = 5, k06 = 6, k07 = 7,
    k08 = 8, k09 = 9, k10 = 10, k11 = 11, k12 = 12, k13 = 13, k14 = 14, k15 = 15,
    k16 = 16, k17 = 17, k18 = 18, k19 = 19, k20 = 20, k21 = 21, k22 = 22, k23 = 23,
}
