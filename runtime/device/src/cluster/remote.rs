//! The shared memory of the cluster's other blocks.

use core::fmt;
use core::marker::PhantomData;
#[cfg(target_arch = "nvptx64")]
use core::mem::MaybeUninit;

#[cfg(target_arch = "nvptx64")]
use crate::memory::{load, store, to_shared};

/// The place of a value in the shared memory of a block of the cluster: an address of PTX's space `.shared::cluster`, from
/// sm_90. [`remote`] makes one.
///
/// It is 4 bytes long, and needs no conversion to be used, unlike the pointers of [`map_shared_rank`].
pub struct Remote<T> {
    address: u32,
    value: PhantomData<*mut T>,
}

impl<T> Clone for Remote<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Remote<T> {}

/// The place in block `rank` of the cluster that `place` is in this block: PTX `mapa.shared::cluster.u32`, from sm_90. CUDA
/// C++ has [`map_shared_rank`] and inline PTX.
///
/// # Safety
/// `place` must be in this block's shared memory, and the cluster have more than `rank` blocks.
#[inline(always)]
#[must_use]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub unsafe fn remote<T>(place: *const T, rank: u32) -> Remote<T> {
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: it computes; the caller's promise makes it an address.
    unsafe {
        let mut address = MaybeUninit::<u32>::uninit();
        assembly!(
            "__ptx_asm:p/90/7.8:=r:r,r:mapa.shared::cluster.u32 $0, $1, $2;";
            (to_shared(place) as u32 => u32, rank => u32, address.as_mut_ptr() => *mut u32)
        );
        Remote { address: address.assume_init(), value: PhantomData }
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        _ = (place, rank);
        crate::cpu::only_on_the_gpu()
    }
}

impl<T> Remote<T> {
    /// The address in `.shared::cluster`, in bytes.
    #[inline(always)]
    pub const fn address(self) -> u32 {
        self.address
    }

    /// The place `index` values further.
    ///
    /// # Safety
    /// It must be in the same block's shared memory.
    #[inline(always)]
    #[must_use]
    pub const unsafe fn add(self, index: usize) -> Self {
        Self { address: self.address + (index * size_of::<T>()) as u32, value: PhantomData }
    }

    /// The rank of the block whose memory it is: PTX `getctarank.shared::cluster.u32`, from sm_90.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn block_rank(self) -> u32 {
        #[cfg(target_arch = "nvptx64")]
        // SAFETY: it computes.
        unsafe {
            let mut rank = MaybeUninit::<u32>::uninit();
            assembly!(
                "__ptx_asm:p/90/7.8:=r:r:getctarank.shared::cluster.u32 $0, $1;";
                (self.address => u32, rank.as_mut_ptr() => *mut u32)
            );
            rank.assume_init()
        }
        #[cfg(not(target_arch = "nvptx64"))]
        crate::cpu::only_on_the_gpu()
    }
}

impl<T: Copy> Remote<T> {
    /// The value, of 1, 2, 4, 8 or 16 bytes: PTX `ld.shared::cluster`, from sm_90.
    ///
    /// # Safety
    /// The block must have begun and not ended, which barriers of the cluster see to; the place must hold a value, aligned to
    /// its size, that nobody writes at the same time.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub unsafe fn load(self) -> T {
        #[cfg(target_arch = "nvptx64")]
        {
            let from = self.address;
            load!("v/90/7.8" "r", "ld.shared::cluster", from => u32)
        }
        #[cfg(not(target_arch = "nvptx64"))]
        crate::cpu::only_on_the_gpu()
    }

    /// Writes a value of 1, 2, 4, 8 or 16 bytes: PTX `st.shared::cluster`, from sm_90.
    ///
    /// # Safety
    /// The block must have begun and not ended, which barriers of the cluster see to; the place must be aligned to the value's
    /// size, and nobody read or write it at the same time.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub unsafe fn store(self, value: T) {
        #[cfg(target_arch = "nvptx64")]
        {
            let to = self.address;
            store!("v/90/7.8" "r", "st.shared::cluster", to => u32, value);
        }
        #[cfg(not(target_arch = "nvptx64"))]
        {
            _ = value;
            crate::cpu::only_on_the_gpu()
        }
    }
}

/// The generic pointer to the place in block `rank` of the cluster that `place` is in this block: CUDA's
/// `cluster_group::map_shared_rank`, PTX `mapa.u64`, from sm_90. Plain loads and stores go there, and atomics of the scope
/// [`Cluster`](crate::atomic::Cluster) or a wider one.
///
/// The pointer may be used from when the block has begun until it ends, which barriers of the cluster see to.
/// [`ClusterTile`](crate::shared::ClusterTile) does, without `unsafe`.
///
/// # Safety
/// `place` must be in this block's shared memory, and the cluster have more than `rank` blocks.
#[inline(always)]
#[must_use]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub unsafe fn map_shared_rank<T>(place: *mut T, rank: u32) -> *mut T {
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: it computes; the caller's promise makes it an address.
    unsafe {
        let mut mapped = MaybeUninit::<u64>::uninit();
        assembly!(
            "__ptx_asm:p/90/7.8:=l:l,r:mapa.u64 $0, $1, $2;";
            (place.cast() => *const u8, rank => u32, mapped.as_mut_ptr() => *mut u64)
        );
        core::ptr::with_exposed_provenance_mut(mapped.assume_init() as usize)
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        _ = (place, rank);
        crate::cpu::only_on_the_gpu()
    }
}

macro_rules! questions {
    ($($(#[$doc:meta])* $name:ident = $symbol:literal;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[must_use]
        #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
        fn $name(place: *const u8) -> u32 {
            #[cfg(target_arch = "nvptx64")]
            // SAFETY: it computes.
            unsafe {
                let mut answer = MaybeUninit::<u32>::uninit();
                assembly!($symbol; (place => *const u8, answer.as_mut_ptr() => *mut u32));
                answer.assume_init()
            }
            #[cfg(not(target_arch = "nvptx64"))]
            {
                _ = place;
                crate::cpu::only_on_the_gpu()
            }
        }
    )*};
}

questions! {
    /// `getctarank`
    rank_of = "__ptx_asm:p/90/7.8:=r:l:getctarank.u64 $0, $1;";
    /// `isspacep`
    is_cluster = "__ptx_asm:p/90/7.8:=r:l:{.reg .pred p; isspacep.shared::cluster p, $1; selp.b32 $0, 1, 0, p;}";
}

/// The rank in the cluster of the block whose shared memory it is: CUDA's `cluster_group::query_shared_rank`, PTX
/// `getctarank.u64`, from sm_90. Of a pointer to other memory the answer is any.
#[inline(always)]
#[must_use]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn query_shared_rank<T>(place: *const T) -> u32 {
    rank_of(place.cast())
}

/// Whether the address is in the shared memory of a block of the cluster: CUDA's `__isClusterShared`, PTX
/// `isspacep.shared::cluster`, from sm_90.
#[inline(always)]
#[must_use]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn is_cluster_shared<T>(place: *const T) -> bool {
    is_cluster(place.cast()) != 0
}

impl<T> fmt::Debug for Remote<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Remote").field(&self.address).finish()
    }
}
