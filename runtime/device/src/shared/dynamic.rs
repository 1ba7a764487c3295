//! Shared memory as long as the launch says, in parts.

use core::marker::PhantomData;

use ptx_abi::DeviceParam;

use super::data::{SharedData, SharedValue};
use super::own::Own;
use super::parameter::DynamicParam;
use super::tile::SharedTile;
use crate::intrinsics::dynamic_shared;

/// Dynamic shared memory (CUDA's `extern __shared__`) in several parts, each a slice: `Slices<(f32, u32)>`, up to six. Of
/// one part, `SharedTile<[f32]>` does.
///
/// The host passes how many elements each part has; the launch gets the bytes that they take, with padding for alignment,
/// and is refused if the device has not so many: [`GridError::SharedMemory`](../../ptx/enum.GridError.html). Over 48 KiB
/// it tells the driver by itself (`CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`).
///
/// ```
/// use ptx::prelude::*;
/// use ptx::shared::{SharedTile, Slices};
///
/// /// Sorts every block's bytes by their last bit, whatever the block's size: even ones first.
/// #[kernel(dimensions = 1)]
/// pub fn split(x: &[u8], mut y: DisjointSlice<u8>, #[shared(dynamic)] mut tile: SharedTile<Slices<(u8, u32)>>) {
///     let i = thread::index_1d();
///     let value = x.get(i.get()).copied().unwrap_or(0);
///     let (mut values, mut evens) = tile.own();
///     values.set(value);
///     evens.set(u32::from(value % 2 == 0));
///     let tile = tile.publish();
///     let (values, evens) = tile.get();
///     let t = thread::thread_idx_x();
///     // Which element of the block comes to this thread's place.
///     let all: u32 = evens.iter().sum();
///     let (wanted, number) = if t < all { (1, t) } else { (0, t - all) };
///     let found = (0..values.len()).filter(|e| evens[*e] == wanted).nth(number as usize);
///     if let (Some(y), Some(found)) = (y.get_mut(i), found) {
///         *y = values[found];
///     }
/// }
///
/// # #[cfg(not(target_arch = "nvptx64"))]
/// fn run(module: &Module, x: &CudaSlice<u8>, y: &mut CudaSlice<u8>) -> ptx::Result<()> {
///     split(x, y, [128, 128]).launch(module, Grid::cover(x.len(), 128))
/// }
/// ```
#[derive(Debug)]
pub struct Slices<T>(PhantomData<T>);

/// The elements of [`Slices`]: a tuple of a type for each part.
///
/// # Safety
/// `bytes` must be what `place` and then `own` and `read` use.
pub unsafe trait SliceElements: 'static {
    /// How many elements each part has.
    type Lengths: DeviceParam + Copy;
    /// The parts' places and lengths.
    #[doc(hidden)]
    type Place: Copy;
    /// A thread's own elements of each part.
    type Own<'a>;
    /// All elements of each part.
    type Read<'a>;

    /// How many bytes the parts take.
    #[doc(hidden)]
    fn bytes(lengths: Self::Lengths) -> u64;
    /// The parts of the memory at `base`.
    ///
    /// # Safety
    /// There must be as many bytes as `bytes` says, aligned to 128.
    #[doc(hidden)]
    unsafe fn place(base: *mut u8, lengths: Self::Lengths) -> Self::Place;
    /// # Safety
    /// As for [`SharedData::own`].
    #[doc(hidden)]
    unsafe fn own<'a>(place: Self::Place) -> Self::Own<'a>;
    /// # Safety
    /// As for [`SharedData::read`].
    #[doc(hidden)]
    unsafe fn read<'a>(place: Self::Place) -> Self::Read<'a>;
}

/// The alignment of dynamic shared memory.
const ALIGN: usize = ptx_abi::DYNAMIC_SHARED_ALIGN as usize;

/// The first place from `offset` on with the alignment of `T`.
const fn aligned<T>(offset: u64) -> u64 {
    const { assert!(align_of::<T>() <= ALIGN, "elements of dynamic shared memory are aligned to at most 128 bytes") };
    offset.next_multiple_of(align_of::<T>() as u64)
}

/// The end of `len` elements that begin at `offset`; too large for any device if it is too large for a number.
const fn end<T>(offset: u64, len: u32) -> u64 {
    // A part may be padded by less than `ALIGN` before it, so this leaves room for every part's.
    let most = u64::MAX >> 1;
    let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
    if bytes > most - offset { most - 8 * ALIGN as u64 } else { offset + bytes }
}

// SAFETY: `Own` parts elements by rank.
unsafe impl<T: SharedValue> SharedData for [T] {
    type Place = *mut [T];
    type Own<'a> = Own<'a, T>;
    type Read<'a> = &'a [T];
    #[inline(always)]
    unsafe fn own<'a>(place: *mut [T]) -> Own<'a, T> {
        // SAFETY: the caller's promise.
        unsafe { Own::new(place.cast(), place.len()) }
    }
    #[inline(always)]
    unsafe fn read<'a>(place: *mut [T]) -> &'a [T] {
        // SAFETY: memory of the block's, in which nobody writes; any bits are a value.
        unsafe { &*place }
    }
}

// SAFETY: the module's documentation.
unsafe impl<T: SharedValue> DynamicParam for SharedTile<'_, [T]> {
    type Lengths = [u32; 1];
    fn bytes([len]: [u32; 1]) -> u64 {
        end::<T>(aligned::<T>(0), len)
    }
    #[inline(always)]
    unsafe fn make([len]: [u32; 1], barrier: u32) -> Self {
        let place = core::ptr::slice_from_raw_parts_mut(dynamic_shared().cast(), len as usize);
        // SAFETY: the caller's promise: the launch has these bytes, and all threads this length.
        unsafe { Self::new(place, barrier) }
    }
}

macro_rules! tuples {
    ($($count:literal: $($name:ident $at:tt),*;)*) => {$(
        // SAFETY: parts follow one another.
        unsafe impl<$($name: SharedValue),*> SliceElements for ($($name,)*) {
            type Lengths = [u32; $count];
            type Place = ($(*mut [$name],)*);
            type Own<'a> = ($(Own<'a, $name>,)*);
            type Read<'a> = ($(&'a [$name],)*);

            #[inline(always)]
            fn bytes(lengths: [u32; $count]) -> u64 {
                let mut offset = 0;
                $(offset = end::<$name>(aligned::<$name>(offset), lengths[$at]);)*
                offset
            }
            #[inline(always)]
            unsafe fn place(base: *mut u8, lengths: [u32; $count]) -> Self::Place {
                let mut next = 0;
                ($({
                    let offset = aligned::<$name>(next);
                    next = end::<$name>(offset, lengths[$at]);
                    // The last one's end is nobody's beginning.
                    _ = next;
                    // SAFETY: within the bytes that the caller promises.
                    let part = unsafe { base.add(offset as usize) };
                    core::ptr::slice_from_raw_parts_mut(part.cast(), lengths[$at] as usize)
                },)*)
            }
            #[inline(always)]
            unsafe fn own<'a>(place: Self::Place) -> Self::Own<'a> {
                // SAFETY: the caller's promise.
                unsafe { ($(<[$name]>::own(place.$at),)*) }
            }
            #[inline(always)]
            unsafe fn read<'a>(place: Self::Place) -> Self::Read<'a> {
                // SAFETY: the caller's promise.
                unsafe { ($(<[$name]>::read(place.$at),)*) }
            }
        }
    )*};
}
tuples! {
    2: A 0, B 1;
    3: A 0, B 1, C 2;
    4: A 0, B 1, C 2, D 3;
    5: A 0, B 1, C 2, D 3, E 4;
    6: A 0, B 1, C 2, D 3, E 4, F 5;
}

// SAFETY: `Own` parts each slice's elements by rank.
unsafe impl<P: SliceElements> SharedData for Slices<P> {
    type Place = P::Place;
    type Own<'a> = P::Own<'a>;
    type Read<'a> = P::Read<'a>;
    #[inline(always)]
    unsafe fn own<'a>(place: P::Place) -> P::Own<'a> {
        // SAFETY: the caller's promise.
        unsafe { P::own(place) }
    }
    #[inline(always)]
    unsafe fn read<'a>(place: P::Place) -> P::Read<'a> {
        // SAFETY: the caller's promise.
        unsafe { P::read(place) }
    }
}

// SAFETY: the module's documentation.
unsafe impl<P: SliceElements> DynamicParam for SharedTile<'_, Slices<P>> {
    type Lengths = P::Lengths;
    fn bytes(lengths: P::Lengths) -> u64 {
        P::bytes(lengths)
    }
    #[inline(always)]
    unsafe fn make(lengths: P::Lengths, barrier: u32) -> Self {
        // SAFETY: the caller's promise: the launch has these bytes, and all threads these lengths.
        unsafe { Self::new(P::place(dynamic_shared(), lengths), barrier) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_aligned_and_follow_one_another() {
        assert_eq!(<SharedTile<'_, [f64]> as DynamicParam>::bytes([3]), 24);
        assert_eq!(<(u8, f64, u16) as SliceElements>::bytes([3, 2, 5]), 8 + 16 + 10);
        assert_eq!(<(u8, f64) as SliceElements>::bytes([0, 0]), 0);
        let mut memory = [0_u64; 8];
        let base = (&raw mut memory).cast::<u8>();
        // SAFETY: 34 bytes.
        let (a, b, c) = unsafe { <(u8, f64, u16) as SliceElements>::place(base, [3, 2, 5]) };
        let offsets = [a.cast::<u8>(), b.cast(), c.cast()].map(|part| part.addr() - base.addr());
        assert_eq!((offsets, a.len(), b.len(), c.len()), ([0, 8, 24], 3, 2, 5));
    }

    #[test]
    fn what_no_device_has_stays_too_large() {
        type Large = [u64; 1 << 40];
        assert!(<(Large, Large, u64) as SliceElements>::bytes([u32::MAX; 3]) > u64::MAX / 4);
    }
}
