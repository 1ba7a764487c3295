//! Barriers in shared memory that count arrivals and bytes: PTX `mbarrier`, CUDA's `cuda::barrier<thread_scope_block>`.
//!
//! A phase of an [`Mbarrier`] is over when as many threads have arrived as [`init`](Mbarrier::init) said, and all bytes
//! have come that were announced; the next phase begins by itself. To arrive and to wait are two steps, between which a
//! thread does something else. [`shared::SplitBarrier`](crate::shared::SplitBarrier) and
//! [`shared::SplitTile`](crate::shared::SplitTile) do this for all threads of a block and need no `unsafe`; what is here
//! is for producers and consumers, for copies in the background and for clusters.
//!
//! | CUDA C++ (`__mbarrier_…`, `cuda::ptx::mbarrier_…`) | here | PTX | from |
//! |---|---|---|---|
//! | `__mbarrier_t` | [`#[ptx::shared] static FULL: Shared<Mbarrier>`](Mbarrier) | `.shared .b64` | |
//! | `init` | [`Mbarrier::init`] | `mbarrier.init` | sm_80 |
//! | `inval` | [`Mbarrier::invalidate`] | `mbarrier.inval` | sm_80 |
//! | `arrive` | [`Mbarrier::arrive`] | `mbarrier.arrive` | sm_80 |
//! | `arrive(addr, count)` | [`Mbarrier::arrive_many`] | `mbarrier.arrive` | sm_90 |
//! | `arrive_no_complete` | [`Mbarrier::arrive_early`] | `mbarrier.arrive.noComplete` | sm_80 |
//! | `arrive_and_drop` | [`Mbarrier::leave`] | `mbarrier.arrive_drop` | sm_80 |
//! | `arrive_and_drop_no_complete` | [`Mbarrier::leave_early`] | `mbarrier.arrive_drop.noComplete` | sm_80 |
//! | `arrive_expect_tx` | [`Mbarrier::arrive_expecting`] | `mbarrier.arrive.expect_tx` | sm_90 |
//! | `expect_tx` | [`Mbarrier::expect`] | `mbarrier.expect_tx` | sm_90 |
//! | inline PTX | [`Mbarrier::complete`] | `mbarrier.complete_tx` | sm_90 |
//! | `test_wait` | [`Mbarrier::is_over`] | `mbarrier.test_wait` | sm_80 |
//! | `test_wait_parity` | [`Mbarrier::is_parity_over`] | `mbarrier.test_wait.parity` | sm_80 |
//! | `try_wait`, with a time | [`Mbarrier::try_wait`], [`Mbarrier::try_wait_within`] | `mbarrier.try_wait` | sm_90 |
//! | `try_wait_parity`, with a time | [`Mbarrier::try_wait_parity`], [`Mbarrier::try_wait_parity_within`] | `mbarrier.try_wait.parity` | sm_90 |
//! | `cuda::barrier::wait`, `wait_parity` | [`Mbarrier::wait`], [`Mbarrier::wait_parity`] | a loop of these | sm_80 |
//! | `token_pending_count` | [`Token::pending`] | `mbarrier.pending_count` | sm_80 |
//! | `cuda::ptx::fence_mbarrier_init` | [`fence_init`] | `fence.mbarrier_init.release.cluster` | sm_90 |
//! | `cp_async_mbarrier_arrive`, `_noinc` | [`Mbarrier::arrive_after_copies`], [`Mbarrier::arrive_after_copies_counted`] | `cp.async.mbarrier.arrive` | sm_80 |
//! | the barrier of another block | [`cluster::Remote<Mbarrier>`](crate::cluster::Remote) | `mbarrier.….shared::cluster` | sm_90 |
//! | `cuda::ptx::st_async`, `red_async` | [`Remote::store_async`](crate::cluster::Remote::store_async), [`add_async`](crate::cluster::Remote::add_async) and kin | `st.async`, `red.async` | sm_90 |
//!
//! The PTX ISA describes them in "Parallel Synchronization and Communication Instructions: mbarrier". To arrive has the
//! order `.release`, to wait `.acquire`, both for the block (`.cta`).

mod copies;
#[cfg(target_arch = "nvptx64")]
mod device;
#[cfg(not(target_arch = "nvptx64"))]
mod host;
mod remote;
mod stores;

use core::cell::UnsafeCell;
use core::fmt;

#[cfg(target_arch = "nvptx64")]
use self::device as raw;
#[cfg(not(target_arch = "nvptx64"))]
use self::host as raw;
use crate::statics::SharedAtomics;

/// A barrier in shared memory. It is declared as a static, one or an array:
///
/// ```
/// use ptx::mbarrier::Mbarrier;
/// use ptx::prelude::*;
///
/// #[ptx::shared]
/// static FULL: ptx::Shared<Mbarrier>;
/// #[ptx::shared]
/// static BOX: ptx::Shared<u32>;
///
/// /// Thread 0 gives a value to the others, which have time for something else before they wait for it.
/// #[kernel]
/// pub fn hand_on(x: &[u32], mut y: DisjointSlice<u32>) {
///     let t = thread::thread_idx_x();
///     // SAFETY: one thread makes it, before the block's barrier; one arrives, once, after it has written; the others read
///     // when its phase is over.
///     let value = unsafe {
///         if t == 0 {
///             FULL.init(1);
///         }
///         sync_threads();
///         if t == 0 {
///             BOX.as_ptr().write(x[0]);
///             FULL.arrive();
///         }
///         FULL.wait_parity(false);
///         BOX.as_ptr().read()
///     };
///     if let Some(y) = y.get_mut(thread::index_1d()) {
///         *y = value;
///     }
/// }
/// ```
///
/// What its methods say of safety holds for all of them together: between [`init`](Self::init), which one thread calls
/// before a barrier of the block, and [`invalidate`](Self::invalidate) or the end of the block, nothing else touches its
/// memory. A thread that panics with [`after-panic = "exit"`](crate::control::has_panicked) does not arrive: the loops of
/// [`wait`](Self::wait) and [`wait_parity`](Self::wait_parity) then end their threads, too.
#[repr(transparent)]
pub struct Mbarrier {
    state: UnsafeCell<u64>,
}

// SAFETY: its instructions are atomic, and nothing else reaches its memory.
unsafe impl Sync for Mbarrier {}
// SAFETY: as above; what a method needs to be sound is its caller's to promise, that it was made included.
unsafe impl SharedAtomics for Mbarrier {}

/// The state of a barrier before an arrival: which phase it was in, and what that lacked. CUDA's `__mbarrier_token_t`.
#[derive(Clone, Copy, Debug)]
pub struct Token(u64);

impl Token {
    /// How many arrivals the phase lacked before the one that gave this: CUDA's `__mbarrier_token_pending_count`, PTX
    /// `mbarrier.pending_count`, from sm_80.
    #[inline(always)]
    #[must_use]
    pub fn pending(self) -> u32 {
        raw::pending_count(self.0)
    }
}

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident($($operand:ident: $ty:ty),*) = $raw:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
        pub unsafe fn $name(&self $(, $operand: $ty)*) {
            // SAFETY: the caller's promise.
            unsafe { raw::$raw(self.as_ptr() $(, $operand)*) };
        }
    )*};
}

macro_rules! arrivals {
    ($($(#[$doc:meta])* $name:ident($($operand:ident: $ty:ty),*) = $raw:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
        pub unsafe fn $name(&self $(, $operand: $ty)*) -> Token {
            // SAFETY: the caller's promise.
            Token(unsafe { raw::$raw(self.as_ptr() $(, $operand)*) })
        }
    )*};
}

macro_rules! tests {
    ($($(#[$doc:meta])* $name:ident($($operand:ident: $ty:ty => $value:expr),*) = $raw:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[must_use]
        #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
        pub unsafe fn $name(&self $(, $operand: $ty)*) -> bool {
            // SAFETY: the caller's promise.
            unsafe { raw::$raw(self.as_ptr() $(, $value)*) }
        }
    )*};
}

impl Mbarrier {
    /// Its place in shared memory.
    #[inline(always)]
    pub const fn as_ptr(&self) -> *mut u64 {
        self.state.get()
    }

    operations! {
        /// Makes the barrier, with phases of `count` arrivals, 1 to 2^20 - 1: CUDA's `__mbarrier_init`, PTX
        /// `mbarrier.init.shared.b64`, from sm_80.
        ///
        /// # Safety
        /// It must not be one already, and others must use it only after a barrier that this thread comes to behind this.
        init(count: u32) = init;
        /// Ends the barrier, so that its memory can be something else: CUDA's `__mbarrier_inval`, PTX `mbarrier.inval`, from
        /// sm_80.
        ///
        /// # Safety
        /// It must be one, that nobody uses any more.
        invalidate() = inval;
        /// Announces bytes without arriving: the phase is over only when they have come. CUDA's
        /// `cuda::ptx::mbarrier_expect_tx`, PTX `mbarrier.expect_tx.relaxed.cta`, from sm_90.
        ///
        /// # Safety
        /// It must be a barrier, in a phase that some thread that arrives later keeps from ending; what it lacks stays below
        /// 2^20 bytes.
        expect(bytes: u32) = expect_tx;
        /// Says that bytes have come, as a copy in the background does: PTX `mbarrier.complete_tx.relaxed.cta`, from sm_90.
        /// CUDA C++ has inline PTX.
        ///
        /// # Safety
        /// It must be a barrier; what it lacks stays within 2^20 bytes above and below 0.
        complete(bytes: u32) = complete_tx;
    }

    arrivals! {
        /// Arrives: CUDA's `__mbarrier_arrive`, PTX `mbarrier.arrive.shared.b64`, from sm_80. What this thread did before is
        /// visible to those that see the phase end.
        ///
        /// # Safety
        /// It must be a barrier, whose phase lacks an arrival.
        arrive() = arrive;
        /// Arrives `count` times at once: CUDA's `cuda::ptx::mbarrier_arrive(addr, count)`, PTX
        /// `mbarrier.arrive.shared::cta.b64`, from sm_90.
        ///
        /// # Safety
        /// It must be a barrier, whose phase lacks `count` arrivals, at least 1.
        arrive_many(count: u32) = arrive_count;
        /// Arrives `count` times at once, where others are still missing: CUDA's `cuda::ptx::mbarrier_arrive_no_complete`, PTX
        /// `mbarrier.arrive.noComplete.shared.b64`, from sm_80.
        ///
        /// # Safety
        /// It must be a barrier, whose phase lacks more than `count` arrivals, and `count` be at least 1.
        arrive_early(count: u32) = arrive_no_complete;
        /// Arrives for the last time: the phases behind this one need one arrival less. CUDA's `__mbarrier_arrive_and_drop`,
        /// PTX `mbarrier.arrive_drop.shared.b64`, from sm_80.
        ///
        /// # Safety
        /// As for [`arrive`](Self::arrive).
        leave() = arrive_drop;
        /// The same for `count` arrivals, where others are still missing: PTX `mbarrier.arrive_drop.noComplete.shared.b64`,
        /// from sm_80.
        ///
        /// # Safety
        /// As for [`arrive_early`](Self::arrive_early).
        leave_early(count: u32) = arrive_drop_no_complete;
        /// Announces bytes, and arrives: CUDA's `cuda::ptx::mbarrier_arrive_expect_tx`, PTX
        /// `mbarrier.arrive.expect_tx.release.cta`, from sm_90.
        ///
        /// # Safety
        /// It must be a barrier, whose phase lacks an arrival; and what it lacks stays below 2^20 bytes.
        arrive_expecting(bytes: u32) = arrive_expect_tx;
    }

    tests! {
        /// Whether the phase is over that the token is of: CUDA's `__mbarrier_test_wait`, PTX `mbarrier.test_wait.shared.b64`,
        /// from sm_80.
        ///
        /// # Safety
        /// It must be a barrier; the token must be its own, of the phase that it is in or the one before.
        is_over(token: Token => token.0) = test_wait;
        /// Whether the phase of that parity is over, `false` for the first, third, …: CUDA's `__mbarrier_test_wait_parity`,
        /// PTX `mbarrier.test_wait.parity.shared.b64`, from sm_80.
        ///
        /// # Safety
        /// It must be a barrier, and what is asked for its phase or the one before.
        is_parity_over(odd: bool => odd.into()) = test_wait_parity;
        /// The same after waiting a while: CUDA's `cuda::ptx::mbarrier_try_wait`, PTX `mbarrier.try_wait.shared::cta.b64`, from
        /// sm_90.
        ///
        /// # Safety
        /// As for [`is_over`](Self::is_over).
        try_wait(token: Token => token.0) = try_wait;
        /// The same after waiting at most about so long: CUDA's `__mbarrier_try_wait`, PTX `mbarrier.try_wait.shared::cta.b64`,
        /// from sm_90.
        ///
        /// # Safety
        /// As for [`is_over`](Self::is_over).
        try_wait_within(token: Token => token.0, nanoseconds: u32 => nanoseconds) = try_wait_within;
        /// [`is_parity_over`](Self::is_parity_over) after waiting a while: CUDA's `cuda::ptx::mbarrier_try_wait_parity`, PTX
        /// `mbarrier.try_wait.parity.shared::cta.b64`, from sm_90.
        ///
        /// # Safety
        /// As for [`is_parity_over`](Self::is_parity_over).
        try_wait_parity(odd: bool => odd.into()) = try_wait_parity;
        /// The same after waiting at most about so long: CUDA's `__mbarrier_try_wait_parity`, from sm_90.
        ///
        /// # Safety
        /// As for [`is_parity_over`](Self::is_parity_over).
        try_wait_parity_within(odd: bool => odd.into(), nanoseconds: u32 => nanoseconds) = try_wait_parity_within;
        /// [`try_wait_parity`](Self::try_wait_parity) for arrivals from the whole cluster, of which it sees what they did
        /// before: PTX `mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64`, from sm_90.
        ///
        /// # Safety
        /// As for [`is_parity_over`](Self::is_parity_over).
        try_wait_parity_of_cluster(odd: bool => odd.into()) = try_wait_parity_cluster;
    }

    /// Waits until the phase is over that the token is of: CUDA's `cuda::barrier::wait`. PTX `mbarrier.try_wait` in a loop,
    /// before sm_90 `mbarrier.test_wait`.
    ///
    /// # Safety
    /// As for [`is_over`](Self::is_over).
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub unsafe fn wait(&self, token: Token) {
        // SAFETY: the caller's promise.
        unsafe { raw::wait(self.as_ptr(), token.0) };
    }

    /// Waits until the phase of that parity is over: CUDA's `cuda::barrier::wait_parity`. PTX `mbarrier.try_wait.parity` in a
    /// loop, before sm_90 `mbarrier.test_wait.parity`.
    ///
    /// # Safety
    /// As for [`is_parity_over`](Self::is_parity_over).
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub unsafe fn wait_parity(&self, odd: bool) {
        // SAFETY: the caller's promise.
        unsafe { raw::wait_parity(self.as_ptr(), odd.into()) };
    }

    /// [`wait_parity`](Self::wait_parity) for arrivals from the whole cluster, from sm_90.
    ///
    /// # Safety
    /// As for [`is_parity_over`](Self::is_parity_over).
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub unsafe fn wait_parity_of_cluster(&self, odd: bool) {
        // SAFETY: the caller's promise.
        unsafe { raw::wait_parity_cluster(self.as_ptr(), odd.into()) };
    }
}

/// Lets the cluster's other blocks see a barrier as made, once they have come to the cluster's barrier behind this: CUDA's
/// `cuda::ptx::fence_mbarrier_init`, PTX `fence.mbarrier_init.release.cluster`, from sm_90.
#[inline(always)]
pub fn fence_init() {
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: it touches no memory.
    unsafe {
        assembly!("__ptx_asm:v/90/8.0:::fence.mbarrier_init.release.cluster;"; ());
    }
}

impl fmt::Debug for Mbarrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mbarrier").finish_non_exhaustive()
    }
}
