//! What a launch takes for its extents: a grid, or a number of items for which the kernel's occupancy says the block.

use crate::error::Result;
use crate::grid::Grid;

/// What a launch takes for its extents: a [`Grid`] alone, or [`Items`]. A pair could be blocks and threads as well as columns and rows.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a `Grid`",
    label = "a launch takes a `Grid`",
    note = "`Grid::new(blocks, threads)` is CUDA's `<<<blocks, threads>>>`, each a number, a pair or a triple; \
            `Grid::cover(len, 256)` has a thread for each of `len` elements"
)]
pub trait LaunchGrid {
    /// What the driver is told; `threads` says how many threads a block of the kernel should have.
    fn grid(self, threads: &mut dyn FnMut() -> Result<u32>) -> Result<Grid>;
}

impl LaunchGrid for Grid {
    #[inline]
    fn grid(self, _: &mut dyn FnMut() -> Result<u32>) -> Result<Self> {
        Ok(self)
    }
}

/// Enough blocks for so many items, of as many threads as keep the device busiest: see [`Grid::items`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Items(usize);

impl LaunchGrid for Items {
    fn grid(self, threads: &mut dyn FnMut() -> Result<u32>) -> Result<Grid> {
        Ok(Grid::cover(self.0, threads()?))
    }
}

impl Grid {
    /// Enough blocks for `n` items in one dimension, of as many threads as keep the device busiest with this kernel: what
    /// `cuOccupancyMaxPotentialBlockSize` says, which depends on the registers and the shared memory that the kernel uses and
    /// on its `launch_bounds`. The device is asked once.
    pub fn items(n: usize) -> Items {
        Items(n)
    }
}
