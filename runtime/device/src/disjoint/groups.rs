//! Parts and rows of a slice, each for a thread, a warp or a block.

use core::fmt;
use core::marker::PhantomData;

use ptx_abi::cxx::{Cxx, Definition};
use ptx_abi::{AbiType, Access, CxxType, DeviceParam, RawSliceMut, Type, extents};

use super::own::OwnElements;
use crate::index::{GridStride, block_number, number_of_blocks, rank_in_block, threads_of_block};

/// Threads that share a part of a slice: [`group::Thread`], [`group::Warp`] or [`group::Block`].
///
/// Groups have numbers below [`count`](Self::count), and a group's threads have ranks below [`size`](Self::size), in a
/// launch of any dimensions. No two threads have the same number and rank.
pub trait ThreadGroup: sealed::Sealed + 'static {
    /// The number of this thread's group.
    fn number() -> usize;
    /// Groups in the launch.
    fn count() -> usize;
    /// This thread's place in its group.
    fn rank() -> u32;
    /// Threads in this thread's group.
    fn size() -> u32;
}

mod sealed {
    pub trait Sealed {}
}

/// The groups of threads that a part of a slice can belong to.
pub mod group {
    /// Each thread by itself.
    #[derive(Debug)]
    pub enum Thread {}
    /// The 32 threads of a warp; the last one of a block may have fewer. They are those with consecutive numbers in the
    /// block.
    #[derive(Debug)]
    pub enum Warp {}
    /// The threads of a block.
    #[derive(Debug)]
    pub enum Block {}
}

const WARP: u32 = 32;

impl sealed::Sealed for group::Thread {}
impl ThreadGroup for group::Thread {
    #[inline(always)]
    fn number() -> usize {
        block_number() * threads_of_block() as usize + rank_in_block() as usize
    }
    #[inline(always)]
    fn count() -> usize {
        number_of_blocks() * threads_of_block() as usize
    }
    #[inline(always)]
    fn rank() -> u32 {
        0
    }
    #[inline(always)]
    fn size() -> u32 {
        1
    }
}

impl sealed::Sealed for group::Warp {}
impl ThreadGroup for group::Warp {
    #[inline(always)]
    fn number() -> usize {
        block_number() * threads_of_block().div_ceil(WARP) as usize + (rank_in_block() / WARP) as usize
    }
    #[inline(always)]
    fn count() -> usize {
        number_of_blocks() * threads_of_block().div_ceil(WARP) as usize
    }
    #[inline(always)]
    fn rank() -> u32 {
        rank_in_block() % WARP
    }
    #[inline(always)]
    fn size() -> u32 {
        (threads_of_block() - (rank_in_block() - Self::rank())).min(WARP)
    }
}

impl sealed::Sealed for group::Block {}
impl ThreadGroup for group::Block {
    #[inline(always)]
    fn number() -> usize {
        block_number()
    }
    #[inline(always)]
    fn count() -> usize {
        number_of_blocks()
    }
    #[inline(always)]
    fn rank() -> u32 {
        rank_in_block()
    }
    #[inline(always)]
    fn size() -> u32 {
        threads_of_block()
    }
}

/// A mutable slice in parts of `N` elements, each for one thread, warp or block: [`PerThread`], [`PerWarp`],
/// [`PerBlock`]. The last part may be shorter.
///
/// # Soundness
/// Part `p` is that of the group `p % g`, where `g` is the number of groups, and element `k` of a part is that of the
/// thread of rank `k % s` in the group, where `s` is the group's size. A position in any launch has one group and one
/// rank, so that no element has two threads, whatever the grid. Threads that diverge, or do not ask for their part,
/// change nothing for others. A thread cannot read what others of its group wrote.
pub struct DisjointParts<'a, T, G, const N: usize> {
    ptr: *mut T,
    len: usize,
    elements: PhantomData<(&'a mut [T], G)>,
}

/// `N` consecutive elements for each thread.
///
/// ```
/// use ptx::prelude::*;
/// use ptx::PerThread;
///
/// /// The square and the cube of every number.
/// #[kernel]
/// pub fn powers(x: &[u32], mut y: PerThread<u32, 2>) {
///     let i = thread::index_1d().get();
///     if let (Some([square, cube]), Some(x)) = (y.array(), x.get(i)) {
///         *square = x * x;
///         *cube = x * x * x;
///     }
/// }
/// ```
pub type PerThread<'a, T, const N: usize = 1> = DisjointParts<'a, T, group::Thread, N>;

/// `N` consecutive elements for each warp; by default one.
pub type PerWarp<'a, T, const N: usize = 1> = DisjointParts<'a, T, group::Warp, N>;

/// `N` consecutive elements for each block; by default one: the block's result, which its first thread writes.
///
/// ```
/// use ptx::atomic::{Atomic, Block, Ordering};
/// use ptx::prelude::*;
/// use ptx::PerBlock;
///
/// #[ptx::shared]
/// static SUM: ptx::Shared<Atomic<u32, Block>>;
///
/// /// The sum of every block's elements.
/// #[kernel]
/// pub fn sums(x: &[u32], mut sums: PerBlock<u32>) {
///     let i = thread::index_1d();
///     SUM.store(0, Ordering::Relaxed);
///     sync_threads();
///     SUM.fetch_add(x.get(i.get()).copied().unwrap_or(0), Ordering::Relaxed);
///     sync_threads();
///     // `None` for all threads but the first.
///     if let Some(sum) = sums.part().get_mut() {
///         *sum = SUM.load(Ordering::Relaxed);
///     }
/// }
/// ```
pub type PerBlock<'a, T, const N: usize = 1> = DisjointParts<'a, T, group::Block, N>;

impl<T, G: ThreadGroup, const N: usize> DisjointParts<'_, T, G, N> {
    /// Number of elements.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The first part of this thread's group: the part whose number is the group's. Past the end it is empty.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn part(&mut self) -> Part<'_, T, G> {
        let number = G::number();
        let (start, len) = self.extent(number);
        // SAFETY: the part of this slice that has the number of this thread's group.
        unsafe { Part::new(self.ptr, number, start, len) }
    }

    /// All parts of this thread's group, if there may be more parts than groups.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn parts(&mut self) -> PartsIter<'_, T, G> {
        PartsIter::new(self.ptr, self.len, N, self.len.div_ceil(N))
    }

    /// Where a part begins, and how long it is; empty past the end.
    #[inline(always)]
    fn extent(&self, number: usize) -> (usize, usize) {
        if number < self.len.div_ceil(N) {
            let start = number * N;
            (start, (self.len - start).min(N))
        } else {
            (0, 0)
        }
    }
}

impl<T, const N: usize> DisjointParts<'_, T, group::Thread, N> {
    /// This thread's part as an array; `None` past the end, and for a last part that is shorter.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn array(&mut self) -> Option<&mut [T; N]> {
        let number = group::Thread::number();
        if number < self.len / N {
            // SAFETY: in bounds, and no other thread has the part.
            Some(unsafe { &mut *self.ptr.add(number * N).cast() })
        } else {
            None
        }
    }
}

/// A mutable slice in rows whose length the host gives, each for one thread, warp or block: [`RowsPerThread`],
/// [`RowsPerWarp`], [`RowsPerBlock`].
///
/// # Soundness
/// As [`DisjointParts`], with a row for a part. The length of rows comes with the memory: it is the same in all threads.
pub struct DisjointRows<'a, T, G> {
    ptr: *mut T,
    width: u32,
    height: u32,
    elements: PhantomData<(&'a mut [T], G)>,
}

/// A row for each thread.
pub type RowsPerThread<'a, T> = DisjointRows<'a, T, group::Thread>;

/// A row for each warp.
pub type RowsPerWarp<'a, T> = DisjointRows<'a, T, group::Warp>;

/// A row for each block, whose threads share it.
///
/// ```
/// use ptx::prelude::*;
/// use ptx::RowsPerBlock;
///
/// /// Adds its row's number to every element of a row.
/// #[kernel]
/// pub fn add_numbers(x: &[f32], mut y: RowsPerBlock<f32>) {
///     for mut row in y.rows() {
///         let (number, start) = (row.number(), row.start());
///         for (column, y) in row.iter_mut() {
///             *y = x[start + column] + number as f32;
///         }
///     }
/// }
///
/// # #[cfg(not(target_arch = "nvptx64"))]
/// fn run(device: &Device, module: &Module) -> ptx::Result<()> {
///     let x = device.upload(&[1.0_f32; 1000])?;
///     let mut y = device.zeroed::<f32>(1000)?;
///     add_numbers(&x, ptx::Plane::new(&mut y, 100, 10)).launch(module, Grid::new(10, 64))
/// }
/// ```
pub type RowsPerBlock<'a, T> = DisjointRows<'a, T, group::Block>;

impl<T, G: ThreadGroup> DisjointRows<'_, T, G> {
    /// Elements in a row.
    #[inline(always)]
    pub fn width(&self) -> usize {
        self.width as usize
    }

    /// Number of rows.
    #[inline(always)]
    pub fn height(&self) -> usize {
        self.height as usize
    }

    /// The first row of this thread's group: the row whose number is the group's. Past the end it is empty.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn row(&mut self) -> Part<'_, T, G> {
        let number = G::number();
        let (start, len) = if number < self.height() { (number * self.width(), self.width()) } else { (0, 0) };
        // SAFETY: the row that has the number of this thread's group. Both factors have 32 bits, so nothing overflows.
        unsafe { Part::new(self.ptr, number, start, len) }
    }

    /// All rows of this thread's group, if there may be more rows than groups.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn rows(&mut self) -> PartsIter<'_, T, G> {
        let (width, height) = (self.width(), self.height());
        PartsIter::new(self.ptr, width * height, width, height)
    }
}

/// A part or a row: the elements of one group, of which this thread has its own.
pub struct Part<'p, T, G> {
    ptr: *mut T,
    number: usize,
    start: usize,
    len: usize,
    elements: PhantomData<(&'p mut [T], G)>,
}

impl<T, G: ThreadGroup> Part<'_, T, G> {
    /// Part `number`, with `len` elements from `start` on.
    ///
    /// # Safety
    /// They must be elements of this thread's group at `ptr`.
    #[inline(always)]
    unsafe fn new(ptr: *mut T, number: usize, start: usize, len: usize) -> Self {
        Self { ptr, number, start, len, elements: PhantomData }
    }

    /// The part's number, from 0.
    #[inline(always)]
    pub fn number(&self) -> usize {
        self.number
    }

    /// The index of its first element in the whole slice.
    #[inline(always)]
    pub fn start(&self) -> usize {
        self.start
    }

    /// Number of elements; 0 past the end of the slice.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// This thread's first element, whose index in the part is the thread's rank in the group; `None` if there is none.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn get_mut(&mut self) -> Option<&mut T> {
        let rank = G::rank() as usize;
        // SAFETY: in bounds, and this thread's: the rank is less than the group's size.
        if rank < self.len { Some(unsafe { &mut *self.ptr.add(self.start + rank) }) } else { None }
    }

    /// All elements that are this thread's, with their indices in the part: its rank in the group, then every one that is
    /// further by the group's size.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn iter_mut(&mut self) -> PartIter<'_, T> {
        let indices = GridStride::new(G::rank() as usize, self.len, G::size() as usize);
        // SAFETY: in bounds, and this thread's. `start` is at most the whole length.
        unsafe { OwnElements::new(self.ptr.add(self.start), indices) }
    }
}

impl<T> Part<'_, T, group::Block> {
    /// The address of the first element. Element `i` is that of the thread `i % threads` of the block.
    #[inline(always)]
    pub(crate) fn as_mut_ptr(&mut self) -> *mut T {
        // In bounds, or one past the end.
        self.ptr.wrapping_add(self.start)
    }
}

impl<T> Part<'_, T, group::Thread> {
    /// The elements as a slice: all of them are this thread's.
    #[inline(always)]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: in bounds, and no other thread has the part.
        unsafe { core::slice::from_raw_parts_mut(self.ptr.add(self.start), self.len) }
    }
}

/// The iterator of [`Part::iter_mut`].
pub type PartIter<'s, T> = OwnElements<'s, T>;

/// The iterator of [`DisjointParts::parts`] and [`DisjointRows::rows`].
pub struct PartsIter<'s, T, G> {
    ptr: *mut T,
    all: usize,
    width: usize,
    next: usize,
    count: usize,
    stride: usize,
    elements: PhantomData<(&'s mut [T], G)>,
}

impl<T, G: ThreadGroup> PartsIter<'_, T, G> {
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn new(ptr: *mut T, all: usize, width: usize, count: usize) -> Self {
        Self { ptr, all, width, next: G::number(), count, stride: G::count(), elements: PhantomData }
    }
}

impl<'s, T, G: ThreadGroup> Iterator for PartsIter<'s, T, G> {
    type Item = Part<'s, T, G>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.count {
            return None;
        }
        let start = self.next * self.width;
        // SAFETY: this thread's group's part, and none comes twice.
        let part = unsafe { Part::new(self.ptr, self.next, start, (self.all - start).min(self.width)) };
        self.next = self.next.saturating_add(self.stride);
        Some(part)
    }
}

macro_rules! debug {
    ($([$($generics:tt)*] $ty:ty, $name:literal: $($field:ident),*;)*) => {$(
        impl<$($generics)*> fmt::Debug for $ty {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct($name)$(.field(stringify!($field), &self.$field))*.finish_non_exhaustive()
            }
        }
    )*};
}
debug! {
    [T, G, const N: usize] DisjointParts<'_, T, G, N>, "DisjointParts": ptr, len;
    [T, G] DisjointRows<'_, T, G>, "DisjointRows": ptr, width, height;
    [T, G] Part<'_, T, G>, "Part": number, start, len;
    [T, G] PartsIter<'_, T, G>, "PartsIter": next, count;
}

#[diagnostic::do_not_recommend]
// SAFETY: pointer, then length.
unsafe impl<T: AbiType, G: ThreadGroup, const N: usize> DeviceParam for DisjointParts<'_, T, G, N> {
    type Raw = RawSliceMut<T>;
    const TYPE: Type = Type::slice::<T>(Access::Exclusive);
    const CXX: Cxx<'static> = <*mut T as CxxType>::CXX;
    const DEFINITION: &'static Definition<'static> = T::DEFINITION;
    #[inline(always)]
    unsafe fn from_raw(raw: Self::Raw) -> Self {
        const { assert!(N > 0, "a part has at least one element") };
        // SAFETY: the host gave the launch this memory, whose address is not null, and no memory is longer.
        unsafe {
            core::hint::assert_unchecked(!raw.ptr.is_null());
            core::hint::assert_unchecked(size_of::<T>() == 0 || raw.len <= isize::MAX as usize / size_of::<T>());
        }
        Self { ptr: raw.ptr, len: raw.len, elements: PhantomData }
    }
    #[inline(always)]
    fn into_raw(self) -> Self::Raw {
        RawSliceMut { ptr: self.ptr, len: self.len }
    }
}

#[diagnostic::do_not_recommend]
// SAFETY: pointer, then width and height.
unsafe impl<T: AbiType, G: ThreadGroup> DeviceParam for DisjointRows<'_, T, G> {
    type Raw = RawSliceMut<T>;
    const TYPE: Type = Type::slice::<T>(Access::Plane);
    const CXX: Cxx<'static> = <*mut T as CxxType>::CXX;
    const DEFINITION: &'static Definition<'static> = T::DEFINITION;
    #[inline(always)]
    unsafe fn from_raw(raw: Self::Raw) -> Self {
        // SAFETY: the host gave the launch this memory, whose address is not null.
        unsafe { core::hint::assert_unchecked(!raw.ptr.is_null()) };
        let (width, height) = extents::unpack_2d(raw.len as u64);
        Self { ptr: raw.ptr, width, height, elements: PhantomData }
    }
    #[inline(always)]
    fn into_raw(self) -> Self::Raw {
        RawSliceMut { ptr: self.ptr, len: extents::pack_2d(self.width, self.height) as usize }
    }
}
