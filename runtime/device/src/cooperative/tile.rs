//! Tiles: a warp in equal parts.

use ptx_abi::bits::Plain;

use super::some::Sealed;
use super::{Group, WarpGroup};
use crate::thread::{block_dim, lane_id, thread_idx};
use crate::warp::{
    LaneMask, Members, by_words, by_words_if, clamp, clamp_up, shfl_bfly, shfl_down_pair, shfl_idx, shfl_up_pair,
};

/// `N` neighbouring lanes of a warp, `N` being 1, 2, 4, 8, 16 or 32: CUDA's `thread_block_tile<N>`. [`tile`] makes one.
#[derive(Clone, Copy, Debug)]
pub struct Tile<const N: u32> {
    members: Members,
}

/// The caller's tile of `N` threads: CUDA's `tiled_partition<N>(this_thread_block())`. It costs an instruction or two, and
/// waits for nobody.
#[inline(always)]
#[must_use]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn tile<const N: u32>() -> Tile<N> {
    const { assert!(N.is_power_of_two() && N <= 32, "a tile has 1, 2, 4, 8, 16 or 32 threads") };
    // The caller's lane is among those that have its number but for the lowest bits.
    let first = if N == 32 { 0 } else { lane_id() & !(N - 1) };
    Tile { members: Members::of(LaneMask::from_bits(LaneMask::first(N).bits() << first)) }
}

impl<const N: u32> Sealed for Tile<N> {}

impl<const N: u32> Group for Tile<N> {
    #[inline(always)]
    fn size(&self) -> u32 {
        N
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn rank(&self) -> u32 {
        lane_id() & (N - 1)
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn sync(&self) {
        self.members.sync();
    }
}

impl<const N: u32> WarpGroup for Tile<N> {
    #[inline(always)]
    fn members(&self) -> Members {
        self.members
    }

    #[inline(always)]
    #[track_caller]
    fn shuffle<T: Plain + Copy>(&self, value: T, rank: u32) -> T {
        debug_assert!(rank < N, "a value is asked for of a thread past the end of its tile");
        by_words(value, |word| shfl_idx(self.bits(), word, rank, clamp(N)))
    }

    // The instruction takes the lowest five bits of `delta`, so what is further away is left out here.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn shuffle_up<T: Plain + Copy>(&self, value: T, delta: u32) -> Option<T> {
        by_words_if(value, |word| shfl_up_pair(self.bits(), word, delta, clamp_up(N))).filter(|_| delta < N)
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn shuffle_down<T: Plain + Copy>(&self, value: T, delta: u32) -> Option<T> {
        by_words_if(value, |word| shfl_down_pair(self.bits(), word, delta, clamp(N))).filter(|_| delta < N)
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn ranks(&self, lanes: LaneMask) -> LaneMask {
        let first = self.members.mask().lowest().unwrap_or(0);
        LaneMask::from_bits(lanes.bits() >> first)
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn reduce<T: Plain + Copy>(&self, value: T, mut combine: impl FnMut(T, T) -> T) -> T {
        let (mut sum, mut half) = (value, N / 2);
        while half > 0 {
            sum = combine(sum, self.shuffle_xor(sum, half));
            half /= 2;
        }
        sum
    }
}

impl<const N: u32> Tile<N> {
    const fn bits(&self) -> u32 {
        self.members.mask().bits()
    }

    /// The value of the member whose rank differs from the caller's in these bits: CUDA's `shfl_xor`, PTX
    /// `shfl.sync.bfly.b32`. Values have at most 64 bytes.
    ///
    /// # Panics
    /// In debug builds, if there is no such member.
    #[inline(always)]
    #[must_use]
    #[track_caller]
    pub fn shuffle_xor<T: Plain + Copy>(&self, value: T, ranks: u32) -> T {
        debug_assert!(ranks < N, "a value is asked for of a thread past the end of its tile");
        by_words(value, |word| shfl_bfly(self.bits(), word, ranks, clamp(N)))
    }

    /// The tile's number in the block: CUDA's `meta_group_rank()`.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn number(&self) -> u32 {
        let (thread, block) = (thread_idx(), block_dim());
        ((thread.z * block.y + thread.y) * block.x + thread.x) / N
    }

    /// How many tiles the block has, the last of them perhaps not full: CUDA's `meta_group_size()`.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn count(&self) -> u32 {
        let block = block_dim();
        (block.x * block.y * block.z).div_ceil(N)
    }

    /// The caller's part of the tile in tiles of `M`: CUDA's `tiled_partition<M>(tile)`.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn tile<const M: u32>(&self) -> Tile<M> {
        const { assert!(M <= N, "a part of a tile is not larger than the tile") };
        tile::<M>()
    }
}
