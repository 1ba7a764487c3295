//! The barrier of one object, of a block or a part of one; and, in debug builds, whether all threads came to it from the same place.

use crate::intrinsics::{barrier_named, barrier_named_and, barrier_named_count, barrier_named_or, barrier_numbered};

/// A barrier of the block that one object of each thread has for itself: PTX `barrier.sync n`, CUDA's `__barrier_sync(n)`,
/// and `bar.sync n` where the compiler sees that all threads come together.
///
/// It is neither `Clone` nor `Send`.
#[derive(Debug)]
pub struct ObjectBarrier {
    number: u32,
    #[cfg(debug_assertions)]
    round: u32,
    stays_with_its_thread: core::marker::PhantomData<*const ()>,
}

impl ObjectBarrier {
    /// The barrier of that number, 1 to 15.
    ///
    /// # Safety
    /// Each thread of the block must call it at most once with this number, and nothing else may use that barrier.
    #[inline(always)]
    pub unsafe fn new(number: u32) -> Self {
        Self {
            number,
            #[cfg(debug_assertions)]
            round: 0,
            stays_with_its_thread: core::marker::PhantomData,
        }
    }

    /// Waits until all of the block's threads that have not ended wait here.
    ///
    /// # Panics
    /// In debug builds, if another thread waits at another place in the code.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn wait(&mut self) {
        #[cfg(debug_assertions)]
        {
            meet(self.number, self.round);
            self.round ^= 1;
        }
        #[cfg(not(debug_assertions))]
        meet(self.number, 0);
    }
}

/// A barrier of the block at which a part of it meets, `THREADS` threads, that one object of each of them has for itself:
/// PTX `barrier.sync n, THREADS`, CUDA's `__barrier_sync_count(n, THREADS)`.
///
/// It is neither `Clone` nor `Send`.
pub(crate) struct PartBarrier<const THREADS: u32> {
    number: u32,
    #[cfg(debug_assertions)]
    round: core::cell::Cell<u32>,
    stays_with_its_thread: core::marker::PhantomData<*const ()>,
}

impl<const THREADS: u32> PartBarrier<THREADS> {
    /// The barrier of that number, 1 to 15.
    ///
    /// # Safety
    /// `THREADS` threads of the block, which it has and which are whole warps, must call it at most once with this number,
    /// and nothing else may use that barrier.
    #[inline(always)]
    pub unsafe fn new(number: u32) -> Self {
        Self {
            number,
            #[cfg(debug_assertions)]
            round: core::cell::Cell::new(0),
            stays_with_its_thread: core::marker::PhantomData,
        }
    }

    /// Waits until all of the threads wait here.
    ///
    /// # Panics
    /// In debug builds, if another of them waits at another place in the code.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn wait(&self) {
        #[cfg(debug_assertions)]
        {
            let round = self.round.get();
            meet_by(self.number, round, || barrier_named(self.number, THREADS));
            self.round.set(round ^ 1);
        }
        #[cfg(not(debug_assertions))]
        barrier_named(self.number, THREADS);
    }

    /// Waits, and whether `condition` holds for all of the threads.
    ///
    /// # Panics
    /// As [`wait`](Self::wait).
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn all(&self, condition: bool) -> bool {
        #[cfg(debug_assertions)]
        self.wait();
        barrier_named_and(self.number, THREADS, condition)
    }

    /// Waits, and whether `condition` holds for any of the threads.
    ///
    /// # Panics
    /// As [`wait`](Self::wait).
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn any(&self, condition: bool) -> bool {
        #[cfg(debug_assertions)]
        self.wait();
        barrier_named_or(self.number, THREADS, condition)
    }

    /// Waits, and for how many of the threads `condition` holds.
    ///
    /// # Panics
    /// As [`wait`](Self::wait).
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn count(&self, condition: bool) -> u32 {
        #[cfg(debug_assertions)]
        self.wait();
        barrier_named_count(self.number, THREADS, condition)
    }
}

/// Waits at the barrier of that number.
///
/// In debug builds each thread first writes from where it comes, and afterwards reads what was written last: if threads
/// came from two places, those of one of them see the other. `round` is 0 and 1 by turns, for two words: a thread that goes
/// on writes the other one, and cannot write this one before all have read it, since they come to the barrier between.
#[cfg(debug_assertions)]
#[track_caller]
pub(crate) fn meet(number: u32, round: u32) {
    meet_by(number, round, || barrier_numbered(number));
}

/// The same by whichever instruction the threads wait.
#[cfg(debug_assertions)]
#[track_caller]
fn meet_by(number: u32, round: u32, wait: impl FnOnce()) {
    use core::panic::Location;

    use crate::atomic::Ordering;

    let here = Location::caller();
    let place = &PLACES[number as usize][round as usize];
    place.store((&raw const *here).expose_provenance() as u64, Ordering::Relaxed);
    wait();
    let there = place.load(Ordering::Relaxed) as usize;
    // SAFETY: this thread put the address of a `Location` there, and so did others; nothing else does.
    let there: &'static Location<'static> = unsafe { &*core::ptr::with_exposed_provenance(there) };
    // The compiler may have several copies of one place.
    if !core::ptr::eq(here, there) && here != there {
        differ(there);
    }
}

/// Waits at the barrier of that number.
#[cfg(not(debug_assertions))]
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub(crate) fn meet(number: u32, _round: u32) {
    barrier_numbered(number);
}

#[cfg(debug_assertions)]
#[cold]
#[inline(never)]
#[track_caller]
fn differ(there: &core::panic::Location<'_>) -> ! {
    panic!("threads of a block wait at different barriers: this one here, another at {there}");
}

/// For each of the block's barriers, from where threads came.
#[cfg(debug_assertions)]
#[cfg_attr(target_arch = "nvptx64", used)]
#[cfg_attr(target_arch = "nvptx64", unsafe(link_section = ".ptx.shared"))]
static PLACES: crate::Shared<[[crate::atomic::Atomic<u64, crate::atomic::Block>; 2]; 16]> =
    <crate::Shared<_> as crate::statics::SharedStatic>::NEW;
