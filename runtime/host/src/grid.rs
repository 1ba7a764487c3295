//! How many threads a launch has, and what a device allows: checked before the driver sees it.

use std::fmt;

use ptx_device::Dim3;

/// Blocks in the grid, threads in a block, and dynamic shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// The number of blocks in each dimension.
    pub blocks: Dim3,
    /// The number of threads of a block in each dimension.
    pub threads: Dim3,
    /// The dynamic shared memory of each block, in bytes.
    pub shared_bytes: u32,
}

/// The largest launch that a device allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most blocks of a grid in each dimension.
    pub grid: Dim3,
    /// The most threads of a block in each dimension.
    pub block: Dim3,
    /// The most threads in a block, all dimensions together.
    pub threads_per_block: u32,
    /// The shared memory of a block that any kernel may use, in bytes.
    pub shared_bytes_per_block: u32,
    /// The shared memory of a block for launches that ask for more, in bytes.
    pub shared_bytes_per_block_optin: u32,
}

/// Why a grid does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GridError {
    /// An extent is 0.
    #[error("an extent of the {0} is 0: every extent must be at least 1")]
    Zero(&'static str),
    /// An extent is over the device's limit.
    #[error("the {what}'s {axis} extent is {extent}, and this device allows {limit}")]
    Extent {
        /// `grid` or `block`.
        what: &'static str,
        /// `x`, `y` or `z`.
        axis: char,
        /// The extent that was asked for.
        extent: u32,
        /// The device's limit.
        limit: u32,
    },
    /// A block has more threads than the device can hold.
    #[error("a block of {0} threads is over this device's limit of {1}", block.volume(), limit)]
    BlockThreads {
        /// The threads of the block in each dimension.
        block: Dim3,
        /// The most threads of a block on this device.
        limit: u32,
    },
    /// A block has more threads than this kernel can have.
    #[error(
        "a block of {0} threads is over this kernel's limit of {1}, which comes from its `launch_bounds` or from the \
         registers that it uses ({registers} a thread): launch smaller blocks, or give `launch_bounds({0})`",
        block.volume(), limit
    )]
    KernelThreads {
        /// The threads of the block in each dimension.
        block: Dim3,
        /// The most threads of a block of this kernel.
        limit: u32,
        /// The registers that each thread of the kernel uses.
        registers: u32,
    },
    /// A block has more threads than the kernel's `launch_bounds`.
    #[error(
        "a block of {0} threads is over the {limit} of this kernel's `launch_bounds`: launch smaller blocks, or give \
         `launch_bounds({0})`",
        block.volume()
    )]
    LaunchBounds {
        /// The threads of the block in each dimension.
        block: Dim3,
        /// The most threads of a block of this kernel.
        limit: u32,
    },
    /// The kernel was compiled for launches of fewer dimensions, by `#[kernel(dimensions = N)]`.
    #[error(
        "this kernel is compiled for launches of at most {0} dimension(s): launch with extents of 1 beyond, or change its \
         `dimensions`"
    )]
    Dimensions(u32),
    /// The kernel counts the threads of the first dimension in 32 bits, by `#[kernel(dimensions = N)]`.
    #[error("{0} threads in the first dimension, and this kernel's `dimensions` allow fewer than 2^32: launch fewer")]
    Threads(u64),
    /// The device is too old for what the launch asks for.
    #[error("{what} needs sm_90 or later, and this device is sm_{}{}", capability.0, capability.1)]
    Newer {
        /// What was asked for.
        what: &'static str,
        /// The device's compute capability.
        capability: (u32, u32),
    },
    /// The grid is not made of whole clusters.
    #[error("the grid's {axis} extent of {blocks} blocks is no multiple of the cluster's {cluster}")]
    ClusterParts {
        /// `x`, `y` or `z`.
        axis: char,
        /// The grid's extent in blocks.
        blocks: u32,
        /// The cluster's extent in blocks.
        cluster: u32,
    },
    /// The launch asks for other clusters than the kernel has by `#[kernel(cluster(..))]`.
    #[error(
        "the launch asks for clusters of {}, and this kernel's are of {}: leave out `.cluster(..)`",
        shown(cluster),
        shown(own)
    )]
    OtherCluster {
        /// What the launch asks for.
        cluster: Dim3,
        /// What the kernel was compiled for.
        own: Dim3,
    },
    /// A cluster has more blocks than the kernel's `launch_bounds` say.
    #[error(
        "clusters of {0} blocks are over the {limit} of this kernel's `launch_bounds`: launch smaller clusters, or give a \
         higher bound",
        cluster.volume()
    )]
    ClusterBound {
        /// The blocks of a cluster in each dimension.
        cluster: Dim3,
        /// The most blocks of a cluster of this kernel.
        limit: u32,
    },
    /// A cluster has more blocks than this kernel can have.
    #[error(
        "clusters of {0} blocks are over the limit of {limit} that this device has for this kernel with such blocks",
        cluster.volume()
    )]
    ClusterSize {
        /// The blocks of a cluster in each dimension.
        cluster: Dim3,
        /// The most blocks of a cluster of this kernel.
        limit: u32,
    },
    /// Not all blocks of a cooperative launch can run at once.
    #[error(
        "a cooperative launch of {blocks} blocks is over the {limit} that this device runs of this kernel at once: launch \
         fewer, whose threads do more each"
    )]
    Cooperative {
        /// The blocks of the grid.
        blocks: u64,
        /// How many blocks the device can run at once.
        limit: u64,
    },
    /// The priority is none of the device's.
    #[error("the priority {priority} is none of this device's, which go from {first}, the highest, to {last}")]
    Priority {
        /// What was asked for.
        priority: i32,
        /// The number of the highest priority.
        first: i32,
        /// The number of the lowest priority.
        last: i32,
    },
    /// The block needs more shared memory than there is.
    #[error(
        "{dynamic} bytes of dynamic shared memory beside the kernel's own {fixed} are over this device's limit of \
         {limit} a block"
    )]
    SharedMemory {
        /// The dynamic shared memory that was asked for, in bytes.
        dynamic: u32,
        /// The static shared memory of the kernel, in bytes.
        fixed: u32,
        /// The limit for both together, in bytes.
        limit: u32,
    },
}

impl Grid {
    /// A grid of `blocks` blocks of `threads` threads. Each is a number, a pair or a triple.
    pub fn new(blocks: impl Into<Dim3>, threads: impl Into<Dim3>) -> Self {
        Self { blocks: blocks.into(), threads: threads.into(), shared_bytes: 0 }
    }

    /// Enough blocks of `threads` threads for `n` items in one dimension. There is at least one block, so that a kernel
    /// for no items is launched and finds nothing to do.
    pub fn cover(n: usize, threads: u32) -> Self {
        Self::new(blocks_for(n, threads), threads)
    }

    /// Enough blocks of `threads` threads for `width` times `height` items.
    pub fn cover_2d((width, height): (usize, usize), threads: (u32, u32)) -> Self {
        Self::new((blocks_for(width, threads.0), blocks_for(height, threads.1)), threads)
    }

    /// The same grid with `bytes` bytes of dynamic shared memory for each block.
    pub fn shared_bytes(self, bytes: u32) -> Self {
        Self { shared_bytes: bytes, ..self }
    }

    /// Checks the grid against what `#[kernel(dimensions = N)]` promised the kernel; 0 stands for no promise.
    #[inline]
    pub(crate) fn check_dimensions(&self, dimensions: u32) -> Result<(), GridError> {
        let Self { blocks, threads, .. } = self;
        let (rows, layers) = (blocks.y.max(threads.y), blocks.z.max(threads.z));
        if (dimensions == 1 && rows > 1) || (matches!(dimensions, 1 | 2) && layers > 1) {
            return Err(GridError::Dimensions(dimensions));
        }
        let columns = u64::from(blocks.x) * u64::from(threads.x);
        if dimensions > 0 && columns > u64::from(u32::MAX) { Err(GridError::Threads(columns)) } else { Ok(()) }
    }

    /// Whether [`check`](Self::check) finds nothing, and a block has at most so many threads. Without a branch for each extent:
    /// every launch asks.
    #[inline]
    pub(crate) fn fits(&self, limits: &Limits, most: u32) -> bool {
        // One less, so that 0 is too large.
        let within = |extent: Dim3, limit: Dim3| {
            (extent.x.wrapping_sub(1) < limit.x)
                & (extent.y.wrapping_sub(1) < limit.y)
                & (extent.z.wrapping_sub(1) < limit.z)
        };
        let Dim3 { x, y, z } = self.threads;
        // What overflows has extents that are not within.
        let volume = u64::from(x).wrapping_mul(u64::from(y)).wrapping_mul(u64::from(z));
        within(self.blocks, limits.grid)
            & within(self.threads, limits.block)
            & (volume <= u64::from(limits.threads_per_block.min(most)))
    }

    /// Checks the grid against the device's limits.
    pub(crate) fn check(&self, limits: &Limits) -> Result<(), GridError> {
        for (what, extent, limit) in [("grid", self.blocks, limits.grid), ("block", self.threads, limits.block)] {
            for (axis, extent, limit) in [('x', extent.x, limit.x), ('y', extent.y, limit.y), ('z', extent.z, limit.z)]
            {
                if extent == 0 {
                    return Err(GridError::Zero(what));
                }
                if extent > limit {
                    return Err(GridError::Extent { what, axis, extent, limit });
                }
            }
        }
        if self.threads.volume() > u128::from(limits.threads_per_block) {
            return Err(GridError::BlockThreads { block: self.threads, limit: limits.threads_per_block });
        }
        Ok(())
    }
}

/// A number of blocks that is too large for a `u32` is too large for the device, and the check reports it.
fn blocks_for(n: usize, threads: u32) -> u32 {
    match threads {
        0 => 1,
        threads => u32::try_from(n.div_ceil(threads as usize).max(1)).unwrap_or(u32::MAX),
    }
}

/// As in `2x1x1`.
fn shown(Dim3 { x, y, z }: &Dim3) -> String {
    format!("{x}x{y}x{z}")
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { blocks, threads, shared_bytes } = self;
        write!(f, "{} blocks of {} threads", shown(blocks), shown(threads))?;
        if *shared_bytes > 0 {
            write!(f, " with {shared_bytes} bytes of dynamic shared memory")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        grid: Dim3::new(i32::MAX as u32, 65_535, 65_535),
        block: Dim3::new(1024, 1024, 64),
        threads_per_block: 1024,
        shared_bytes_per_block: 48 << 10,
        shared_bytes_per_block_optin: 99 << 10,
    };

    #[test]
    fn a_cover_covers() {
        assert_eq!(Grid::cover(1000, 256), Grid::new(4, 256));
        assert_eq!(Grid::cover(1024, 256), Grid::new(4, 256));
        assert_eq!(Grid::cover(0, 256), Grid::new(1, 256));
        assert_eq!(Grid::cover_2d((100, 7), (32, 8)), Grid::new((4, 1), (32, 8)));
    }

    #[test]
    fn what_fits_is_let_through() {
        for grid in [Grid::new(1, 1), Grid::new(i32::MAX as u32, 1024), Grid::new((1, 65_535, 65_535), (4, 4, 64))] {
            assert_eq!(grid.check(&LIMITS), Ok(()));
        }
    }

    /// Extents at every limit, and around it.
    #[test]
    fn the_quick_check_and_the_long_one_agree() {
        let extents = [0, 1, 2, 64, 65, 1024, 1025, 65_535, 65_536, i32::MAX as u32, u32::MAX];
        let mut fitting = 0;
        for x in extents {
            for y in extents {
                for z in extents {
                    for grid in [Grid::new((x, y, z), 1), Grid::new(1, (x, y, z)), Grid::new((z, y, x), (x, y, z))] {
                        for most in [1024, 64, 2048] {
                            let fits = grid.check(&LIMITS).is_ok() && grid.threads.volume() <= u128::from(most);
                            assert_eq!(grid.fits(&LIMITS, most), fits, "{grid} of at most {most}");
                            fitting += usize::from(fits);
                        }
                    }
                }
            }
        }
        assert!(fitting > 100, "{fitting}");
    }

    #[test]
    fn promised_dimensions_are_kept() {
        let of = |blocks: (u32, u32, u32), threads: (u32, u32, u32), dimensions| {
            Grid::new(blocks, threads).check_dimensions(dimensions)
        };
        assert_eq!(of((9, 9, 9), (4, 4, 4), 0), Ok(()));
        assert_eq!(of((9, 1, 1), (4, 1, 1), 1), Ok(()));
        assert_eq!(of((9, 2, 1), (4, 1, 1), 1), Err(GridError::Dimensions(1)));
        assert_eq!(of((9, 1, 1), (4, 2, 1), 1), Err(GridError::Dimensions(1)));
        assert_eq!(of((9, 1, 1), (4, 1, 2), 1), Err(GridError::Dimensions(1)));
        assert_eq!(of((9, 2, 1), (4, 2, 1), 2), Ok(()));
        assert_eq!(of((9, 2, 2), (4, 2, 1), 2), Err(GridError::Dimensions(2)));
        assert_eq!(of((9, 2, 2), (4, 2, 2), 3), Ok(()));
        assert_eq!(of((1 << 22, 1, 1), (1023, 1, 1), 1), Ok(()));
        for dimensions in 1..=3 {
            assert_eq!(of((1 << 22, 1, 1), (1024, 1, 1), dimensions), Err(GridError::Threads(1 << 32)));
        }
    }

    #[test]
    fn what_does_not_fit_says_why() {
        assert_eq!(Grid::new(0, 1).check(&LIMITS), Err(GridError::Zero("grid")));
        assert_eq!(Grid::new(1, (1, 0)).check(&LIMITS), Err(GridError::Zero("block")));
        assert_eq!(Grid::cover(100, 0).check(&LIMITS), Err(GridError::Zero("block")));
        let extent = |what, axis, extent, limit| Err(GridError::Extent { what, axis, extent, limit });
        assert_eq!(Grid::new((1, 65_536), 1).check(&LIMITS), extent("grid", 'y', 65_536, 65_535));
        assert_eq!(Grid::new((1, 1, 65_536), 1).check(&LIMITS), extent("grid", 'z', 65_536, 65_535));
        assert_eq!(Grid::cover(usize::MAX, 1).check(&LIMITS), extent("grid", 'x', u32::MAX, i32::MAX as u32));
        assert_eq!(Grid::new(1, 1025).check(&LIMITS), extent("block", 'x', 1025, 1024));
        assert_eq!(
            Grid::new(1, (32, 33)).check(&LIMITS),
            Err(GridError::BlockThreads { block: Dim3::new(32, 33, 1), limit: 1024 })
        );
    }
}
