//! Atomics with a scope: which threads an operation orders, beside how.
//!
//! [`Atomic<T, S>`] is `core::sync::atomic` with a [`Scope`] and more types. The orderings, and what they promise, are
//! [`Ordering`]'s; every operation becomes what the PTX Writer's Guide to Interoperability, chapter 4, says for it, so
//! that CUDA C++ code with `cuda::atomic_ref<T, scope>` on the same memory agrees. `core`'s own atomics work in
//! kernels, too, with the scope of the whole system.
//!
//! | type | CUDA C++ | PTX |
//! |---|---|---|
//! | [`Block`] | `cuda::thread_scope_block` | `.cta` |
//! | [`Cluster`], sm_90 and later | none | `.cluster` |
//! | [`Device`] | `cuda::thread_scope_device` | `.gpu` |
//! | [`System`] | `cuda::thread_scope_system` | `.sys` |
//!
//! Operations that pair up must have scopes that include each other's thread: an acquire in another block does not
//! synchronise with a release of block scope.
//!
//! | type | operations |
//! |---|---|
//! | `u8` … `u64`, `i8` … `i64`, `usize`, `isize` | all |
//! | `u128`, `i128` | all on sm_90 and later; only load and store before |
//! | `f32`, `f64` | load, store, swap, compare-exchange, add, sub |
//! | `bool` | load, store, swap, compare-exchange, and, or, xor |
//! | `*mut T`, `*const T` | load, store, swap, compare-exchange |
//! | `u32` as two `f16` or `bf16` | [`Atomic::fetch_add_f16x2`], [`Atomic::fetch_add_bf16x2`] (sm_90 and later) |
//!
//! ```
//! use ptx::atomic::{AtomicSlice, Device, Ordering};
//! use ptx::prelude::*;
//!
//! /// Counts bytes.
//! #[kernel]
//! pub fn histogram(data: &[u8], counts: AtomicSlice<u32, Device>) {
//!     if let Some(byte) = data.get(thread::index_1d().get()) {
//!         counts[usize::from(*byte)].fetch_add(1, Ordering::Relaxed);
//!     }
//! }
//! ```
//!
//! On the host the same types exist and work, on the host's own atomics; those on pairs of halves panic there.

#[cfg(not(target_arch = "nvptx64"))]
mod host;
mod order;
mod slice;
#[cfg(test)]
mod tests;
mod value;
mod word;

use core::cell::UnsafeCell;
use core::fmt;
use core::marker::PhantomData;
pub use core::sync::atomic::Ordering;

pub use self::order::{Block, Cluster, Device, Scope, System};
use self::order::{by_fence_order, by_load_order, by_order, by_store_order, merged};
pub use self::slice::AtomicSlice;
pub use self::value::{AtomicBits, AtomicInteger, AtomicNumber, AtomicValue};
use self::value::{Bits, BitsKind as Kind};
use self::word::{Word, op};

/// A value that threads change without a lock, in an order that those in scope `S` agree on.
///
/// It has the layout of `T`, so that memory which the host filled with `T`s can be seen as these.
#[repr(transparent)]
pub struct Atomic<T, S = System> {
    value: UnsafeCell<T>,
    scope: PhantomData<S>,
}

// SAFETY: all access is atomic.
unsafe impl<T: AtomicValue, S> Sync for Atomic<T, S> {}
// SAFETY: it is a plain value; a pointer in it is as much the receiver's business as with `AtomicPtr`.
unsafe impl<T: AtomicValue, S> Send for Atomic<T, S> {}

impl<T, S> Atomic<T, S> {
    /// An atomic with a value to begin with.
    pub const fn new(value: T) -> Self {
        Self { value: UnsafeCell::new(value), scope: PhantomData }
    }

    /// The address of the value.
    #[inline(always)]
    pub const fn as_ptr(&self) -> *mut T {
        self.value.get()
    }

    /// The value, which nobody else can reach.
    #[inline(always)]
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// Takes the value out of the atomic.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }

    /// The value at `value` as an atomic, for as long as it is borrowed.
    #[inline(always)]
    pub fn from_mut(value: &mut T) -> &Self {
        // SAFETY: the layouts are equal, and nobody else can reach the value.
        unsafe { &*core::ptr::from_mut(value).cast() }
    }

    /// The values in `values` as atomics, for as long as they are borrowed.
    #[inline(always)]
    pub fn from_mut_slice(values: &mut [T]) -> &[Self] {
        // SAFETY: the layouts are equal, and nobody else can reach the values.
        unsafe { &*(core::ptr::from_mut(values) as *const [Self]) }
    }

    /// The value at `ptr` as an atomic.
    ///
    /// # Safety
    /// `ptr` must point to an initialised value, aligned to its size, for all of `'a`. Whoever else touches it in that
    /// time does so with atomics, of a scope that holds every thread that does.
    #[inline(always)]
    pub unsafe fn from_ptr<'a>(ptr: *mut T) -> &'a Self {
        // SAFETY: the caller's promise.
        unsafe { &*ptr.cast() }
    }
}

/// The address as that of bits.
fn bits<T: Bits, S>(atomic: &Atomic<T, S>) -> *mut T::Word {
    atomic.as_ptr().cast()
}

/// One read-modify-write of the value's bits.
macro_rules! rmw {
    ($self:ident, $op:ident, $value:expr, $order:ident) => {{
        let value = $value.to_bits();
        // SAFETY: the value lives, is aligned, and is only accessed atomically.
        <T as Bits>::from_bits(by_order!($order, |O| unsafe {
            <<T as Bits>::Word as Word>::rmw::<op::$op, O, S>(bits($self), value)
        }))
    }};
}

impl<T: AtomicValue, S: Scope> Atomic<T, S> {
    /// The value: `ld.<order>.<scope>`.
    ///
    /// # Panics
    /// If `order` is `Release` or `AcqRel`.
    #[inline(always)]
    #[track_caller]
    pub fn load(&self, order: Ordering) -> T {
        // SAFETY: the value lives, is aligned, and is only accessed atomically.
        T::from_bits(by_load_order!(order, |O| unsafe { T::Word::load::<O, S>(bits(self)) }))
    }

    /// Puts a value there: `st.<order>.<scope>`.
    ///
    /// # Panics
    /// If `order` is `Acquire` or `AcqRel`.
    #[inline(always)]
    #[track_caller]
    pub fn store(&self, value: T, order: Ordering) {
        // SAFETY: the value lives, is aligned, and is only accessed atomically.
        by_store_order!(order, |O| unsafe { T::Word::store::<O, S>(bits(self), value.to_bits()) });
    }

    /// Puts a value there and takes the old one: `atom.<order>.<scope>.exch`.
    #[inline(always)]
    pub fn swap(&self, value: T, order: Ordering) -> T {
        rmw!(self, Xchg, value, order)
    }

    /// Puts `new` there if what is there is `current`, bit for bit: `atom.<order>.<scope>.cas`. The old value is in
    /// `Ok` if so, and else in `Err`.
    ///
    /// One instruction serves both outcomes, in the stronger of the two orders.
    ///
    /// # Panics
    /// If `failure` is `Release` or `AcqRel`.
    #[inline(always)]
    #[track_caller]
    pub fn compare_exchange(&self, current: T, new: T, success: Ordering, failure: Ordering) -> Result<T, T> {
        let order = merged(success, failure);
        let (expected, new) = (current.to_bits(), new.to_bits());
        // SAFETY: the value lives, is aligned, and is only accessed atomically.
        let old = by_order!(order, |O| unsafe { T::Word::cas::<O, S>(bits(self), expected, new) });
        if old == expected { Ok(T::from_bits(old)) } else { Err(T::from_bits(old)) }
    }

    /// The same: GPUs have no compare-exchange that fails without reason.
    ///
    /// # Panics
    /// If `failure` is `Release` or `AcqRel`.
    #[inline(always)]
    #[track_caller]
    pub fn compare_exchange_weak(&self, current: T, new: T, success: Ordering, failure: Ordering) -> Result<T, T> {
        self.compare_exchange(current, new, success, failure)
    }

    /// Puts `update(old)` there unless that is `None`; it may be called again and again while others come between.
    ///
    /// # Panics
    /// If `fetch_order` is `Release` or `AcqRel`.
    #[inline(always)]
    #[track_caller]
    pub fn fetch_update(
        &self,
        set_order: Ordering,
        fetch_order: Ordering,
        mut update: impl FnMut(T) -> Option<T>,
    ) -> Result<T, T> {
        let mut old = self.load(fetch_order);
        while let Some(new) = update(old) {
            match self.compare_exchange_weak(old, new, set_order, fetch_order) {
                done @ Ok(_) => return done,
                Err(found) => old = found,
            }
        }
        Err(old)
    }
}

/// Operations that differ with the kind of value: of unsigned integers, signed ones, floats.
macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident = $op:ident, $signed:ident, $float:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name(&self, value: T, order: Ordering) -> T {
            match T::KIND {
                Kind::Unsigned => rmw!(self, $op, value, order),
                Kind::Signed => rmw!(self, $signed, value, order),
                Kind::Float => rmw!(self, $float, value, order),
            }
        }
    )*};
}

/// The old value is returned; sums and differences of integers wrap.
impl<T: AtomicNumber, S: Scope> Atomic<T, S> {
    operations! {
        /// Adds: `atom.<order>.<scope>.add`. For `f32` in global memory, subnormals count as zero (PTX ISA, `atom`).
        fetch_add = Add, Add, FAdd;
        /// Subtracts: `atom.<order>.<scope>.add` of the negated value.
        fetch_sub = Sub, Sub, FSub;
    }
}

/// The old value is returned.
impl<T: AtomicBits, S: Scope> Atomic<T, S> {
    operations! {
        /// Keeps the bits that `value` has, too: `atom.<order>.<scope>.and`.
        fetch_and = And, And, And;
        /// Sets the bits that `value` has: `atom.<order>.<scope>.or`.
        fetch_or = Or, Or, Or;
        /// Flips the bits that `value` has: `atom.<order>.<scope>.xor`.
        fetch_xor = Xor, Xor, Xor;
    }
}

/// The old value is returned.
impl<T: AtomicInteger, S: Scope> Atomic<T, S> {
    operations! {
        /// Keeps the bits that are not in both: `atom.<order>.<scope>.cas` until nobody comes between.
        fetch_nand = Nand, Nand, Nand;
        /// Keeps the larger: `atom.<order>.<scope>.max`.
        fetch_max = UMax, Max, UMax;
        /// Keeps the smaller: `atom.<order>.<scope>.min`.
        fetch_min = UMin, Min, UMin;
        /// Adds one, or puts 0 where the old value is `value` or larger, compared without sign:
        /// `atom.<order>.<scope>.inc`, CUDA's `atomicInc`.
        fetch_inc_wrap = Inc, Inc, Inc;
        /// Takes one away, or puts `value` where the old value is 0 or larger than it, compared without sign:
        /// `atom.<order>.<scope>.dec`, CUDA's `atomicDec`.
        fetch_dec_wrap = Dec, Dec, Dec;
    }
}

/// The value as two halves, the first in the lower bits, as CUDA's `__half2` and `__nv_bfloat162`.
impl<S: Scope> Atomic<u32, S> {
    /// Adds two `f16` to two, each atomically, not both as one: `atom.<order>.<scope>.add.noftz.f16x2`.
    #[inline(always)]
    pub fn fetch_add_f16x2(&self, value: u32, order: Ordering) -> u32 {
        type T = u32;
        rmw!(self, AddF16x2, value, order)
    }

    /// Adds two `bf16` to two, each atomically, not both as one: `atom.<order>.<scope>.add.noftz.bf16x2`, on sm_90 and
    /// later.
    #[inline(always)]
    pub fn fetch_add_bf16x2(&self, value: u32, order: Ordering) -> u32 {
        type T = u32;
        rmw!(self, AddBf16x2, value, order)
    }
}

impl<T: Default, S> Default for Atomic<T, S> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T, S> From<T> for Atomic<T, S> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: AtomicValue + fmt::Debug, S: Scope> fmt::Debug for Atomic<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.load(Ordering::Relaxed).fmt(f)
    }
}

/// Orders what is before it against what is after it, for the threads in scope `S`: `fence.acq_rel.<scope>`, or
/// `fence.sc.<scope>` for `SeqCst`.
///
/// # Panics
/// If `order` is `Relaxed`.
#[inline(always)]
#[track_caller]
pub fn fence<S: Scope>(order: Ordering) {
    by_fence_order!(order, |O| word::fence::<O, S>());
}
