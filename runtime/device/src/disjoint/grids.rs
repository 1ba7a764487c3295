//! Planes and volumes with an element a thread, and planes in tiles.

use core::fmt;
use core::marker::PhantomData;

use ptx_abi::cxx::{Cxx, Definition};
use ptx_abi::{AbiType, Access, CxxType, DeviceParam, RawSliceMut, Type, extents};

use crate::index::{Index2d, Index3d};
use crate::intrinsics::{ctaid_x, ctaid_y, nctaid_x, nctaid_y, nctaid_z, ntid_x, ntid_y, ntid_z, tid_x, tid_y};

/// A plane of elements, row by row, that all threads of a launch hold, each reaching only the element at its own
/// position.
///
/// The host gives width and height with the memory, as [`Plane`](../ptx/struct.Plane.html):
///
/// ```
/// use ptx::prelude::*;
/// use ptx::Disjoint2d;
///
/// /// `to` is `from` with rows and columns exchanged.
/// #[kernel]
/// pub fn transpose(from: &[f32], mut to: Disjoint2d<f32>) {
///     let at = thread::index_2d();
///     let height = to.height();
///     if let Some(to) = to.get_mut(at) {
///         *to = from[at.x() * height + at.y()];
///     }
/// }
///
/// # #[cfg(not(target_arch = "nvptx64"))]
/// fn run(device: &Device, module: &Module) -> ptx::Result<Vec<f32>> {
///     let from = device.upload(&[1.0_f32; 600])?;
///     let mut to = device.zeroed::<f32>(600)?;
///     transpose(&from, ptx::Plane::new(&mut to, 20, 30)).launch(module, Grid::cover_2d((20, 30), (16, 16)))?;
///     device.download(&to)
/// }
/// ```
///
/// # Soundness
/// Column `x` of row `y` is that of the thread whose [`index_2d`](crate::thread::index_2d) it is, which no other thread
/// has. Width and height come with the memory: all threads have the same, so that two positions are never one element.
pub struct Disjoint2d<'a, T> {
    ptr: *mut T,
    width: u32,
    height: u32,
    elements: PhantomData<&'a mut [T]>,
}

impl<T> Disjoint2d<'_, T> {
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

    /// This thread's element; `None` for the threads past the right or lower edge.
    #[inline(always)]
    pub fn get_mut(&mut self, index: Index2d) -> Option<&mut T> {
        let (x, y) = index.get_u32();
        // One test, not two: a GPU would branch twice.
        if (x < self.width) & (y < self.height) {
            // SAFETY: in bounds, with a product below 2^64. No other thread has this position, and `&mut self` lets this
            // thread hold one element at a time.
            Some(unsafe { &mut *self.ptr.add(index.y() * self.width() + index.x()) })
        } else {
            None
        }
    }
}

/// A volume of elements, layer by layer and row by row, that all threads of a launch hold, each reaching only the
/// element at its own position.
///
/// The host gives the extents with the memory, as [`Volume`](../ptx/struct.Volume.html): at most 2^21 - 1 each.
///
/// # Soundness
/// As [`Disjoint2d`], by [`index_3d`](crate::thread::index_3d).
pub struct Disjoint3d<'a, T> {
    ptr: *mut T,
    width: u32,
    height: u32,
    depth: u32,
    elements: PhantomData<&'a mut [T]>,
}

impl<T> Disjoint3d<'_, T> {
    /// Elements in a row.
    #[inline(always)]
    pub fn width(&self) -> usize {
        self.width as usize
    }

    /// Rows in a layer.
    #[inline(always)]
    pub fn height(&self) -> usize {
        self.height as usize
    }

    /// Number of layers.
    #[inline(always)]
    pub fn depth(&self) -> usize {
        self.depth as usize
    }

    /// This thread's element; `None` for the threads past an edge.
    #[inline(always)]
    pub fn get_mut(&mut self, index: Index3d) -> Option<&mut T> {
        let (x, y, z) = index.get_u32();
        if (x < self.width) & (y < self.height) & (z < self.depth) {
            // SAFETY: in bounds, with products of 63 bits, and extents of 21. No other thread has this position, and
            // `&mut self` lets this thread hold one element at a time. LLVM sees that no address is null only where it is told
            // at once that nothing overflows.
            Some(unsafe {
                let row = index.z().unchecked_mul(self.height()).unchecked_add(index.y());
                &mut *self.ptr.add(row.unchecked_mul(self.width()).unchecked_add(index.x()))
            })
        } else {
            None
        }
    }
}

/// Which tile of a plane is a block's: [`InPlace`] or [`Transposed`].
pub trait TileOrder: sealed::Sealed + 'static {
    /// Column and row of this block's tile, among tiles.
    fn tile() -> (u32, u32);
}

mod sealed {
    pub trait Sealed {}
}

/// A block's tile is where the block is: in column `blockIdx.x` and row `blockIdx.y` of tiles.
#[derive(Debug)]
pub enum InPlace {}

/// A block's tile is in column `blockIdx.y` and row `blockIdx.x` of tiles: for a transposition, where it reads that of
/// its own place.
#[derive(Debug)]
pub enum Transposed {}

impl sealed::Sealed for InPlace {}
impl TileOrder for InPlace {
    #[inline(always)]
    fn tile() -> (u32, u32) {
        (ctaid_x(), ctaid_y())
    }
}

impl sealed::Sealed for Transposed {}
impl TileOrder for Transposed {
    #[inline(always)]
    fn tile() -> (u32, u32) {
        (ctaid_y(), ctaid_x())
    }
}

/// A plane in square tiles of `TILE` by `TILE` elements, one for each block of `TILE` by `ROWS` threads. A thread has an
/// element in every `ROWS`-th row of its tile.
///
/// The host passes a [`Plane`](../ptx/struct.Plane.html). The launch has a block for each tile, by
/// [`TileOrder`].
///
/// ```
/// use ptx::prelude::*;
/// use ptx::{DisjointTiles, Shared, Transposed};
///
/// #[ptx::shared]
/// static TILE: Shared<[f32; 32 * 33]>;
///
/// /// `to` is `from` with rows and columns exchanged; both are read and written row by row.
/// #[kernel(launch_bounds(256))]
/// pub fn transpose(from: &[f32], width: u32, height: u32, mut to: DisjointTiles<f32, 32, 8, Transposed>) {
///     let (tx, ty) = (thread::thread_idx_x(), thread::thread_idx_y());
///     let (x, y) = (thread::block_idx_x() * 32 + tx, thread::block_idx_y() * 32 + ty);
///     for k in 0..4 {
///         if x < width && y + 8 * k < height {
///             let value = from[(y + 8 * k) as usize * width as usize + x as usize];
///             // SAFETY: an element of its own for each thread and round; nobody reads before the barrier.
///             unsafe { TILE.write(((ty + 8 * k) * 33 + tx) as usize, value) };
///         }
///     }
///     sync_threads();
///     for k in 0..4 {
///         if let Some(to) = to.get_mut(k as usize) {
///             // SAFETY: the element of `from` at the transposed place exists, so it was written before the barrier.
///             *to = unsafe { TILE.read((tx * 33 + ty + 8 * k) as usize) };
///         }
///     }
/// }
/// ```
///
/// # Soundness
/// A kernel that takes one panics as it begins, and on the CPU in [`get_mut`](Self::get_mut), unless the block has exactly
/// `TILE` by `ROWS` threads, the launch has two dimensions, and its tiles fewer than 2^32 columns and rows: so the whole kernel is
/// compiled for such a launch. Then tiles and blocks pair off, whichever order the type names; in a tile, columns and
/// `threadIdx.x` do, and row `r` is that of `threadIdx.y == r % ROWS`.
pub struct DisjointTiles<'a, T, const TILE: usize, const ROWS: usize, O = InPlace> {
    ptr: *mut T,
    width: u32,
    height: u32,
    elements: PhantomData<(&'a mut [T], O)>,
}

impl<T, O: TileOrder, const TILE: usize, const ROWS: usize> DisjointTiles<'_, T, TILE, ROWS, O> {
    /// Elements in a row of the plane.
    #[inline(always)]
    pub fn width(&self) -> usize {
        self.width as usize
    }

    /// Rows of the plane.
    #[inline(always)]
    pub fn height(&self) -> usize {
        self.height as usize
    }

    /// Column and row of this thread's element number `k` in the plane, which may lie past its edges.
    ///
    /// # Panics
    /// If the block does not have `TILE` by `ROWS` threads, the launch has three dimensions, or its tiles have 2^32 columns
    /// or rows.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn position(&self, k: usize) -> (usize, usize) {
        Self::check_block();
        let (column, row) = O::tile();
        let x = column as usize * TILE + tid_x() as usize;
        let y = row as usize * TILE + tid_y() as usize;
        (x, y + k * ROWS)
    }

    /// This thread's element number `k`, in row `threadIdx.y + k * ROWS` and column `threadIdx.x` of its block's tile;
    /// `None` past the edges of the tile or the plane.
    ///
    /// # Panics
    /// As [`position`](Self::position).
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn get_mut(&mut self, k: usize) -> Option<&mut T> {
        if k >= TILE / ROWS {
            return None;
        }
        Self::check_block();
        let (column, row) = O::tile();
        // SAFETY: below `MOST * TILE`, which has 32 bits, since `tid_x() < TILE`, and `tid_y() + k * ROWS` is, too.
        let (x, y) = unsafe {
            let at = |tile: u32, inside: u32| tile.unchecked_mul(TILE as u32).unchecked_add(inside);
            (at(column, tid_x()), at(row, tid_y().unchecked_add((k * ROWS) as u32)))
        };
        if (x < self.width) & (y < self.height) {
            // SAFETY: in bounds, with a product below 2^64; no other thread has this place, as above.
            Some(unsafe { &mut *self.ptr.add(y as usize * self.width() + x as usize) })
        } else {
            None
        }
    }

    /// As many tiles beside or below each other that all positions have 32 bits, as the plane's extents do.
    const MOST: u32 = u32::MAX / TILE as u32;

    /// Panics unless the launch is as [`position`](Self::position) wants it.
    #[inline(always)]
    fn check_block() {
        const { assert!(TILE > 0 && ROWS > 0 && TILE.is_multiple_of(ROWS) && TILE * ROWS <= 1024) };
        let is_other = (ntid_x() ^ TILE as u32) | (ntid_y() ^ ROWS as u32) | ((ntid_z() | nctaid_z()) ^ 1) != 0;
        if is_other | (nctaid_x() > Self::MOST) | (nctaid_y() > Self::MOST) {
            wrong_launch();
        }
    }
}

#[cold]
#[inline(never)]
fn wrong_launch() -> ! {
    panic!(
        "DisjointTiles<T, TILE, ROWS> in a launch of other blocks: launch two dimensions, blocks of TILE by ROWS, and \
        fewer than 2^32 columns"
    )
}

/// A view that asks for the launch where a thread does, if at all.
#[inline(always)]
fn any_launch() {}

macro_rules! shaped {
    ($([$($generics:tt)*] $ty:ty, $name:literal, $access:ident, $unpack:ident, $pack:ident, $check:path: $($extent:ident),*;)*) => {$(
        impl<$($generics)*> fmt::Debug for $ty {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct($name).field("ptr", &self.ptr)$(.field(stringify!($extent), &self.$extent))*.finish()
            }
        }

        #[diagnostic::do_not_recommend]
        // SAFETY: pointer, then extents.
        unsafe impl<$($generics)*> DeviceParam for $ty
        where
            T: AbiType,
        {
            type Raw = RawSliceMut<T>;
            const TYPE: Type = Type::slice::<T>(Access::$access);
            const CXX: Cxx<'static> = <*mut T as CxxType>::CXX;
            const DEFINITION: &'static Definition<'static> = T::DEFINITION;
            #[inline(always)]
            unsafe fn from_raw(raw: Self::Raw) -> Self {
                // SAFETY: the host gave the launch this memory, whose address is not null.
                unsafe { core::hint::assert_unchecked(!raw.ptr.is_null()) };
                let ($($extent),*) = extents::$unpack(raw.len as u64);
                if cfg!(target_arch = "nvptx64") {
                    $check();
                }
                Self { ptr: raw.ptr, $($extent,)* elements: PhantomData }
            }
            #[inline(always)]
            fn into_raw(self) -> Self::Raw {
                RawSliceMut { ptr: self.ptr, len: extents::$pack($(self.$extent),*) as usize }
            }
        }
    )*};
}
shaped! {
    [T] Disjoint2d<'_, T>, "Disjoint2d", Plane, unpack_2d, pack_2d, any_launch: width, height;
    [T] Disjoint3d<'_, T>, "Disjoint3d", Volume, unpack_3d, pack_3d, any_launch: width, height, depth;
    [T, const TILE: usize, const ROWS: usize, O: TileOrder] DisjointTiles<'_, T, TILE, ROWS, O>, "DisjointTiles", Plane,
        unpack_2d, pack_2d, Self::check_block: width, height;
}
