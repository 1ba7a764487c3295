//! Some lanes of a warp as a group; what it can do is in `coalesced.rs`.

use crate::warp::Members;

/// Only the groups here are groups within a warp.
pub trait Sealed {}

/// Some lanes of a warp: CUDA's `coalesced_group`. [`coalesced`](super::coalesced()) makes one, as do [`WarpGroup::partition`](super::WarpGroup::partition) and
/// [`WarpGroup::partition_by`](super::WarpGroup::partition_by).
///
/// Ranks follow the lanes. To find the lane of a rank takes many steps if the group is not the whole warp (PTX `fns`).
#[derive(Clone, Copy, Debug)]
pub struct Coalesced {
    members: Members,
}

impl Coalesced {
    /// The group of these lanes.
    #[inline(always)]
    #[must_use]
    pub const fn of(members: Members) -> Self {
        Self { members }
    }

    /// The lanes, the caller's among them.
    #[inline(always)]
    pub(super) const fn lanes(&self) -> Members {
        self.members
    }
}
