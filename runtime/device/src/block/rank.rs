//! Where a digit of its key puts each value of a tile: the step of a radix sort.

use super::memory::{get, set};
use super::threads::{MOST_WARPS, Shape, WARP};
use crate::cooperative::Number;
use crate::shared::ObjectBarrier;
use crate::warp;

/// Bits of a digit.
pub(super) const DIGIT: u32 = 8;
/// Values of a digit.
const DIGITS: usize = 1 << DIGIT;

/// Counts of each digit's values in each warp, and sums.
#[repr(C, align(4))]
pub struct Counts<const THREADS: usize> {
    /// By warp, then digit: 256 for every 32 threads.
    of_warps: [[u16; DIGITS / WARP]; THREADS],
    /// For every 32 digits.
    sums: [u32; MOST_WARPS],
}

/// Ranks the values of `THREADS` threads.
///
/// For each of a thread's values in turn, the lanes of a warp with the same digit find each other by votes, and one of them
/// counts them: so a warp's values keep their order if they are warp-striped. After a barrier, each digit's thread adds
/// up the warps' counts, and the digits' totals are scanned. This is CUB's `BlockRadixRankMatch`.
pub(super) struct Ranks<const THREADS: usize> {
    counts: *mut Counts<THREADS>,
    thread: u32,
}

impl<const THREADS: usize> Ranks<THREADS> {
    const WARPS: usize = Shape::<THREADS>::WARPS;
    /// Digits that a thread adds up. With more threads than digits, some have none.
    const OF_THREAD: usize =
        if THREADS < DIGITS { DIGITS / THREADS + (!DIGITS.is_multiple_of(THREADS)) as usize } else { 1 };

    /// # Safety
    /// The memory must live, and be accessed by such objects alone. `thread` must be less than `THREADS`.
    #[inline(always)]
    pub unsafe fn new(counts: *mut Counts<THREADS>, thread: u32) -> Self {
        Self { counts, thread }
    }

    /// The rank of each value in the tile, by digits. It may be anything if not all threads come.
    ///
    /// It waits three times; the caller must wait once more before the next call.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn rank<const ITEMS: usize>(&self, barrier: &mut ObjectBarrier, digits: [u32; ITEMS]) -> [u32; ITEMS] {
        const { assert!(THREADS * ITEMS < 1 << 16, "a tile has fewer than 65,536 values") };
        let own_warp = self.thread as usize / WARP;
        let lane = self.thread % WARP as u32;
        for part in 0..DIGITS / WARP {
            // SAFETY: one of the warp's counts.
            unsafe { set(self.count(own_warp, part * WARP + lane as usize), 0) };
        }
        warp::sync_warp();
        let below = (1_u32 << lane) - 1;
        let mut ranks = [0_u32; ITEMS];
        for (rank, digit) in ranks.iter_mut().zip(digits) {
            let peers = peers(digit);
            // SAFETY: a digit of at most eight bits.
            let count = unsafe { self.count(own_warp, digit as usize % DIGITS) };
            // SAFETY: as above.
            let before = unsafe { get(count) };
            warp::sync_warp();
            if peers & below == 0 {
                // SAFETY: as above.
                unsafe { set(count, before + peers.count_ones() as u16) };
            }
            warp::sync_warp();
            *rank = u32::from(before) + (peers & below).count_ones();
        }
        barrier.wait();
        self.add_up(barrier);
        for (rank, digit) in ranks.iter_mut().zip(digits) {
            // SAFETY: a digit of at most eight bits.
            *rank += u32::from(unsafe { get(self.count(own_warp, digit as usize % DIGITS)) });
        }
        ranks
    }

    /// Makes each count the number of values before the warp's first with that digit.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    fn add_up(&self, barrier: &mut ObjectBarrier) {
        let first = self.thread as usize * Self::OF_THREAD;
        let digits = || (first..first + Self::OF_THREAD).filter(|digit| *digit < DIGITS);
        // SAFETY: a warp and a digit.
        let count = |warp, digit| u32::from(unsafe { get(self.count(warp, digit)) });
        // With one digit a thread there are registers for its counts; otherwise they are read again.
        let mut counts = [0_u32; MOST_WARPS];
        let mut total = 0;
        for digit in digits() {
            for (warp, kept) in counts.iter_mut().enumerate().take(Self::WARPS) {
                *kept = count(warp, digit);
                total += *kept;
            }
        }
        // The threads that have digits are the first; of the rest the total is 0.
        let (up_to_here, below) = total.sums_of_warp();
        let (warp, lane) = (self.thread as usize / WARP, self.thread as usize % WARP);
        if lane == WARP - 1 {
            // SAFETY: a warp of the block.
            unsafe { set(self.sum(warp), up_to_here) };
        }
        barrier.wait();
        let mut sum = below;
        // Warps that have digits.
        for other in 0..Self::WARPS.min(DIGITS / Self::OF_THREAD / WARP + 1) {
            if other < warp {
                // SAFETY: a warp of the block.
                sum += unsafe { get(self.sum(other)) };
            }
        }
        for digit in digits() {
            for (warp, kept) in counts.iter().enumerate().take(Self::WARPS) {
                let own = if Self::OF_THREAD == 1 { *kept } else { count(warp, digit) };
                // SAFETY: a warp and a digit.
                unsafe { set(self.count(warp, digit), sum as u16) };
                sum += own;
            }
        }
        barrier.wait();
    }

    /// Where the count of a warp's values with that digit lies.
    ///
    /// # Safety
    /// The block must have the warp, and `digit` be less than `DIGITS`.
    #[inline(always)]
    unsafe fn count(&self, warp: usize, digit: usize) -> *mut u16 {
        self.counts.cast::<u16>().wrapping_add(warp * DIGITS + digit)
    }

    /// Where the sum of a warp's digits lies.
    ///
    /// # Safety
    /// `warp` must be less than `MOST_WARPS`.
    #[inline(always)]
    unsafe fn sum(&self, warp: usize) -> *mut u32 {
        // SAFETY: within the counts.
        unsafe { (&raw mut (*self.counts).sums).cast::<u32>().add(warp) }
    }
}

/// The lanes of the warp whose digit is the caller's, by a vote on each bit.
#[inline(always)]
fn peers(digit: u32) -> u32 {
    let mut peers = u32::MAX;
    for bit in 0..DIGIT {
        let is_set = digit & 1 << bit != 0;
        let with = warp::ALL.ballot(is_set).bits();
        peers &= if is_set { with } else { !with };
    }
    peers
}
