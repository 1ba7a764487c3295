//! Statics in a block's shared memory.

use core::cell::UnsafeCell;
use core::fmt;
use core::mem::MaybeUninit;
use core::ops::Deref;

use ptx_abi::AbiType;

use crate::atomic::{Atomic, AtomicValue};

/// A static of which every block has its own copy, in fast memory that its threads share: CUDA's `__shared__`.
///
/// `#[ptx::shared]` declares one. Its contents are arbitrary when a block starts. All shared statics of a kernel
/// together take up at most 48 KiB, and a type may ask for an alignment of up to 1024. A kernel's parameter with
/// [`#[shared]`](crate::shared) needs no `unsafe`.
///
/// ```
/// use ptx::atomic::{Atomic, Block, Ordering};
/// use ptx::prelude::*;
///
/// #[ptx::shared]
/// static TILE: ptx::Shared<[f32; 256]>;
///
/// #[ptx::shared]
/// static COUNT: ptx::Shared<Atomic<u32, Block>>;
///
/// /// Reverses every 256 elements, and says how many of them are negative.
/// ///
/// /// # Safety
/// /// Blocks must have 256 threads, and `data` and `negative` an element for every thread and block.
/// #[kernel(launch_bounds(256))]
/// pub unsafe fn reverse(data: *mut f32, negative: *mut u32) {
///     let (t, block) = (thread::thread_idx_x() as usize, thread::block_idx_x() as usize);
///     // Atomics in shared memory need no `unsafe`, but a first value.
///     if t == 0 {
///         COUNT.store(0, Ordering::Relaxed);
///     }
///     // SAFETY: each thread writes its own element, and reads another's after the barrier.
///     unsafe {
///         let value = *data.add(256 * block + t);
///         TILE.write(t, value);
///         sync_threads();
///         *data.add(256 * block + t) = TILE.read(255 - t);
///         if value < 0.0 {
///             COUNT.fetch_add(1, Ordering::Relaxed);
///         }
///         sync_threads();
///         *negative.add(block) = COUNT.load(Ordering::Relaxed);
///     }
/// }
/// ```
///
/// On the host it is an ordinary static of zeros, so that crates compiled for both sides type-check.
#[repr(transparent)]
pub struct Shared<T> {
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: safe access is atomic; the rest is the business of those who write `unsafe`.
unsafe impl<T> Sync for Shared<T> {}

/// The initial value that `#[ptx::shared]` gives a static.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a shared static has the type `ptx::Shared<T>`, not `{Self}`",
    label = "write `ptx::Shared<{Self}>`"
)]
pub trait SharedStatic: Sized {
    /// No particular contents; zeros on the host.
    const NEW: Self;
}

impl<T> SharedStatic for Shared<T> {
    #[cfg(target_arch = "nvptx64")]
    const NEW: Self = Self { value: UnsafeCell::new(MaybeUninit::uninit()) };
    #[cfg(not(target_arch = "nvptx64"))]
    const NEW: Self = Self { value: UnsafeCell::new(MaybeUninit::zeroed()) };
}

impl<T> Shared<T> {
    /// The address of the static in this block's shared memory.
    #[inline(always)]
    pub const fn as_ptr(&self) -> *mut T {
        self.value.get().cast()
    }

    /// A reference to the value.
    ///
    /// # Safety
    /// It must have been written, by this thread or before a barrier that this thread waited at, and nobody may write
    /// while the reference lives.
    #[inline(always)]
    pub const unsafe fn assume_init_ref(&self) -> &T {
        // SAFETY: the caller's promise.
        unsafe { &*self.as_ptr() }
    }
}

impl<T: Copy, const N: usize> Shared<[T; N]> {
    /// Number of elements.
    #[inline(always)]
    pub const fn len(&self) -> usize {
        N
    }

    /// Whether there are no elements.
    #[inline(always)]
    pub const fn is_empty(&self) -> bool {
        N == 0
    }

    /// Reads the element at `index`.
    ///
    /// # Safety
    /// It must have been written, by this thread or before a barrier that this thread waited at, and nobody may write
    /// it at the same time.
    ///
    /// # Panics
    /// If there are not that many elements.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn read(&self, index: usize) -> T {
        assert!(index < N, "index past the end of a shared array");
        // SAFETY: in bounds; the rest is the caller's promise.
        unsafe { self.as_ptr().cast::<T>().add(index).read() }
    }

    /// Writes the element at `index`.
    ///
    /// # Safety
    /// Nobody else may read or write it at the same time.
    ///
    /// # Panics
    /// If there are not that many elements.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn write(&self, index: usize, value: T) {
        assert!(index < N, "index past the end of a shared array");
        // SAFETY: in bounds; the rest is the caller's promise.
        unsafe { self.as_ptr().cast::<T>().add(index).write(value) };
    }
}

impl<T, const N: usize, const M: usize> Shared<[[T; N]; M]> {
    /// The row at `row`, where it lies: `TILE.row(y).read(x)` reads one element.
    ///
    /// # Panics
    /// If there are not that many rows.
    #[inline(always)]
    #[track_caller]
    pub fn row(&self, row: usize) -> &Shared<[T; N]> {
        assert!(row < M, "row past the end of a shared array");
        // SAFETY: in bounds, and `Shared` is its value in a cell; who reads or writes it promises the rest.
        unsafe { &*self.as_ptr().cast::<Shared<[T; N]>>().add(row) }
    }
}

/// Types that can be used in shared memory without `unsafe`: atomics, and arrays of them.
///
/// # Safety
/// All access through a shared reference must be atomic, and every bit pattern must be a valid value.
pub unsafe trait SharedAtomics {}

// SAFETY: every access is atomic, and `AtomicValue`s are made of any bits: a `bool` by comparison with 0.
unsafe impl<T: AtomicValue, S> SharedAtomics for Atomic<T, S> {}
// SAFETY: as its elements.
unsafe impl<T: SharedAtomics, const N: usize> SharedAtomics for [T; N] {}

/// Atomics in shared memory need no `unsafe`. They hold an arbitrary value when a block starts: store a first one, and
/// wait at a barrier ([`sync_threads`](crate::sync_threads)) before other threads use it.
impl<T: SharedAtomics> Deref for Shared<T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: shared memory holds some bits, which the compiler assumes nothing of (it makes these statics
        // externally initialised), and any bits are a value of such a type.
        unsafe { self.assume_init_ref() }
    }
}

impl<T> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

/// The bound of `#[ptx::constant]` on a static's type: plain data that nobody can change.
#[doc(hidden)]
pub const fn may_be_constant<T: AbiType>() {}
