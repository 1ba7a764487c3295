//! What can lie in a shared object: arrays in one and two dimensions, and several of them.

use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;

use ptx_abi::bits::Plain;

use super::own::{Own, Own2d, OwnOfWarp, Row};
use crate::atomic::{Atomic, AtomicValue, Scope};

/// A type that an element of a shared object may have: any bits are a value of it, because nothing makes every thread
/// write its elements; and it is [`Plain`], or atomic.
///
/// # Safety
/// Any bits must be a value, and several threads may have a `&Self` to the same place.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of a shared object",
    label = "not any bits are a value of this type",
    note = "numbers, vectors, arrays of these, `ptx::atomic::Atomic` and types with `#[ptx::bitfields]` can; \
            `unsafe impl ptx::Plain` says so of a type of your own"
)]
pub unsafe trait SharedValue: Sized + 'static {}

#[diagnostic::do_not_recommend]
// SAFETY: any bits are a value, and it has no cells, as `AbiType` is `Copy`.
unsafe impl<T: Plain> SharedValue for T {}
// SAFETY: every access through a shared reference is atomic, and `AtomicValue`s are made of any bits.
unsafe impl<T: AtomicValue, S: Scope> SharedValue for Atomic<T, S> {}

/// What a [`SharedTile`](super::SharedTile) holds, and whose its elements are: `[T; N]`, [`Array2d`], [`Transposed2d`],
/// [`WarpArray`], tuples of up to six of these; and in dynamic memory `[T]` and [`Slices`](super::Slices).
///
/// # Safety
/// [`own`](Self::own) must give each thread of a block elements that no other has, and [`read`](Self::read) must give
/// values whatever the bits are.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot lie in a shared object",
    label = "nothing says whose its elements are",
    note = "a shared object holds `[T; N]`, `Array2d<T, W, H>`, `Transposed2d<T, W, H>`, `WarpArray<T, N>`, or a tuple of these"
)]
pub unsafe trait SharedData: 'static {
    /// Where it lies.
    #[doc(hidden)]
    type Place: Copy;
    /// What a thread can do while the object is writable.
    type Own<'a>;
    /// What every thread sees while it is readable.
    type Read<'a>;

    /// This thread's elements.
    ///
    /// # Safety
    /// While the result lives, the object must be writable, and this thread must not have another.
    #[doc(hidden)]
    unsafe fn own<'a>(place: Self::Place) -> Self::Own<'a>;

    /// All elements.
    ///
    /// # Safety
    /// While the result lives, the object must be readable.
    #[doc(hidden)]
    unsafe fn read<'a>(place: Self::Place) -> Self::Read<'a>;
}

/// The parts that all static data have alike.
macro_rules! of_a_static {
    () => {
        type Place = *mut Self;
        type Read<'a> = &'a Self;
        #[inline(always)]
        unsafe fn read<'a>(place: *mut Self) -> &'a Self {
            // SAFETY: memory of the block's, in which nobody writes; any bits are a value.
            unsafe { &*place }
        }
    };
}

// SAFETY: `Own` parts elements by rank.
unsafe impl<T: SharedValue, const N: usize> SharedData for [T; N] {
    of_a_static!();
    type Own<'a> = Own<'a, T>;
    #[inline(always)]
    unsafe fn own<'a>(place: *mut Self) -> Own<'a, T> {
        // SAFETY: the caller's promise.
        unsafe { Own::new(place.cast(), N) }
    }
}

/// `H` rows of `W` elements. The element in row `r` and column `c` is that of the thread with `threadIdx.y` ≡ `r` by
/// `blockDim.y`, `threadIdx.x` ≡ `c` by `blockDim.x`, and `threadIdx.z` 0. It is indexed by row, then column.
///
/// `PAD` more elements after each row belong to nobody. With one of them, the elements of a column lie in different banks
/// if `W` is a multiple of 32, so that a warp reads a column as fast as a row (CUDA C++ Best Practices Guide, "Shared
/// Memory and Memory Banks").
#[repr(transparent)]
pub struct Array2d<T, const W: usize, const H: usize, const PAD: usize = 0>([Row<T, W, PAD>; H]);

/// The same with exchanged owners: the element in row `r` and column `c` is that of the thread with `threadIdx.x` ≡ `r` by
/// `blockDim.x` and `threadIdx.y` ≡ `c` by `blockDim.y`.
#[repr(transparent)]
pub struct Transposed2d<T, const W: usize, const H: usize, const PAD: usize = 0>([Row<T, W, PAD>; H]);

/// An element for each warp of a block, which the warp's first thread owns: element `w` is that of the threads `32 w` to
/// `32 w + 31`. 32 are enough for any block.
#[repr(transparent)]
pub struct WarpArray<T, const N: usize = 32>([T; N]);

macro_rules! two_dimensions {
    ($($name:ident $transposed:literal;)*) => {$(
        // SAFETY: `Own2d` parts elements by position.
        unsafe impl<T: SharedValue, const W: usize, const H: usize, const PAD: usize> SharedData
            for $name<T, W, H, PAD>
        {
            of_a_static!();
            type Own<'a> = Own2d<'a, T, W, H, PAD, $transposed>;
            #[inline(always)]
            unsafe fn own<'a>(place: *mut Self) -> Self::Own<'a> {
                // SAFETY: the caller's promise.
                unsafe { Own2d::new(place.cast()) }
            }
        }

        impl<T, const W: usize, const H: usize, const PAD: usize> Deref for $name<T, W, H, PAD> {
            type Target = [Row<T, W, PAD>; H];
            #[inline(always)]
            fn deref(&self) -> &[Row<T, W, PAD>; H] {
                &self.0
            }
        }

        impl<T: fmt::Debug, const W: usize, const H: usize, const PAD: usize> fmt::Debug for $name<T, W, H, PAD> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}
two_dimensions! { Array2d false; Transposed2d true; }

// SAFETY: warps and elements pair off.
unsafe impl<T: SharedValue, const N: usize> SharedData for WarpArray<T, N> {
    of_a_static!();
    type Own<'a> = OwnOfWarp<'a, T>;
    #[inline(always)]
    unsafe fn own<'a>(place: *mut Self) -> OwnOfWarp<'a, T> {
        // SAFETY: the caller's promise.
        unsafe { OwnOfWarp::new(place.cast(), N) }
    }
}

impl<T, const N: usize> Deref for WarpArray<T, N> {
    type Target = [T; N];
    #[inline(always)]
    fn deref(&self) -> &[T; N] {
        &self.0
    }
}

impl<T: fmt::Debug, const N: usize> fmt::Debug for WarpArray<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

macro_rules! tuples {
    ($($($name:ident $at:tt),*;)*) => {$(
        // SAFETY: each part is another place.
        unsafe impl<$($name: SharedData<Place = *mut $name>),*> SharedData for ($($name,)*) {
            of_a_static!();
            type Own<'a> = ($($name::Own<'a>,)*);
            #[inline(always)]
            unsafe fn own<'a>(place: *mut Self) -> Self::Own<'a> {
                // SAFETY: the caller's promise; a part is within the whole.
                unsafe { ($($name::own(&raw mut (*place).$at),)*) }
            }
        }
    )*};
}
tuples! {
    A 0;
    A 0, B 1;
    A 0, B 1, C 2;
    A 0, B 1, C 2, D 3;
    A 0, B 1, C 2, D 3, E 4;
    A 0, B 1, C 2, D 3, E 4, F 5;
}

/// Says that a type stays with its thread, and borrows a block's memory.
pub(super) type OfTheBlock<'b> = PhantomData<(&'b mut (), *const ())>;
