//! Device memory with the shape that a kernel's parameter asks for: a plane, a volume, a stride.

use std::fmt;

use ptx_abi::extents;

use crate::memory::{DeviceMemoryMut, DeviceWrite};

/// What stands beside the address: the extents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Plane { width: usize, height: usize },
    Volume { width: usize, height: usize, depth: usize },
    Strided { len: usize, stride: usize },
}

/// Why a shape cannot be passed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// The memory has too few elements.
    #[error("a shape of {shape} has {needed} elements, and the memory has {len}")]
    TooLarge {
        /// The shape, in words.
        shape: String,
        /// The elements that it has.
        needed: u64,
        /// Those of the memory.
        len: usize,
    },
    /// An extent has more bits than are passed.
    #[error("an extent of {extent} is over the limit of {limit} for a shape of {shape}")]
    Extent {
        /// The shape, in words.
        shape: String,
        /// The extent that is too large.
        extent: usize,
        /// The most that can be passed.
        limit: u64,
    },
    /// A stride is no power of two.
    #[error("a stride is a power of two, and {0} is none")]
    Stride(usize),
}

impl Shape {
    /// What the kernel gets. The shape must have been checked.
    pub(crate) fn word(self) -> u64 {
        let narrow = |extent: usize| u32::try_from(extent).unwrap_or(u32::MAX);
        match self {
            Self::Plane { width, height } => extents::pack_2d(narrow(width), narrow(height)),
            Self::Volume { width, height, depth } => extents::pack_3d(narrow(width), narrow(height), narrow(depth)),
            Self::Strided { len, stride } => extents::pack_strided(len as u64, stride.trailing_zeros()),
        }
    }

    /// Checks that memory of `len` elements has this shape, and that it can be passed.
    pub(crate) fn check(self, len: usize) -> Result<(), ShapeError> {
        let (sides, limit) = match self {
            Self::Plane { width, height } => ([width, height, 1], u64::from(u32::MAX)),
            Self::Volume { width, height, depth } => ([width, height, depth], extents::MAX_3D),
            Self::Strided { len, .. } => ([len, 1, 1], extents::MAX_STRIDED),
        };
        if let Some(&extent) = sides.iter().find(|side| **side as u64 > limit) {
            return Err(ShapeError::Extent { shape: self.to_string(), extent, limit });
        }
        if let Self::Strided { stride, .. } = self {
            if !stride.is_power_of_two() {
                return Err(ShapeError::Stride(stride));
            }
            if stride.trailing_zeros() > extents::MAX_STRIDE_LOG2 {
                let limit = 1 << extents::MAX_STRIDE_LOG2;
                return Err(ShapeError::Extent { shape: self.to_string(), extent: stride, limit });
            }
        }
        // No overflow: two sides of 32 bits, or three of 21.
        let needed = sides.iter().map(|side| *side as u64).product();
        if needed > len as u64 {
            return Err(ShapeError::TooLarge { shape: self.to_string(), needed, len });
        }
        Ok(())
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plane { width, height } => write!(f, "{width} by {height}"),
            Self::Volume { width, height, depth } => write!(f, "{width} by {height} by {depth}"),
            Self::Strided { len, stride } => write!(f, "{len} with a stride of {stride}"),
        }
    }
}

macro_rules! shaped {
    ($($(#[doc = $doc:literal])* $name:ident;)*) => {$(
        $(#[doc = $doc])*
        pub struct $name<'a, T> {
            memory: &'a mut dyn DeviceWrite<T>,
            shape: Shape,
        }

        impl<'a, T> $name<'a, T> {
            pub(crate) fn into_parts(self) -> (&'a mut dyn DeviceMemoryMut, Shape) {
                (self.memory, self.shape)
            }
        }

        impl<T> fmt::Debug for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.shape)
            }
        }
    )*};
}
shaped! {
    /// Memory as rows of a plane: the argument for `Disjoint2d<T>`, `RowsPerBlock<T>` and its kin, and
    /// `DisjointTiles<T, …>`. The launch checks that the memory has the elements.
    Plane;
    /// Memory as layers of rows: the argument for `Disjoint3d<T>`. The launch checks that the memory has the elements.
    Volume;
    /// Memory and a stride, a power of two up to 2^31: the argument for `DisjointStrided<T, N>`.
    Strided;
}

impl<'a, T> Plane<'a, T> {
    /// `height` rows of `width` elements, one after the other.
    pub fn new(memory: &'a mut dyn DeviceWrite<T>, width: usize, height: usize) -> Self {
        Self { memory, shape: Shape::Plane { width, height } }
    }
}

impl<'a, T> Volume<'a, T> {
    /// `depth` layers of `height` rows of `width` elements, one after the other.
    pub fn new(memory: &'a mut dyn DeviceWrite<T>, width: usize, height: usize, depth: usize) -> Self {
        Self { memory, shape: Shape::Volume { width, height, depth } }
    }
}

impl<'a, T> Strided<'a, T> {
    /// All elements, of which those of a thread are `stride` apart.
    pub fn new(memory: &'a mut dyn DeviceWrite<T>, stride: usize) -> Self {
        let shape = Shape::Strided { len: memory.len(), stride };
        Self { memory, shape }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_packed() {
        let plane = Shape::Plane { width: 7, height: 9 };
        assert_eq!(plane.check(63), Ok(()));
        assert_eq!(extents::unpack_2d(plane.word()), (7, 9));
        let volume = Shape::Volume { width: 2, height: 3, depth: 4 };
        assert_eq!(volume.check(24), Ok(()));
        assert_eq!(extents::unpack_3d(volume.word()), (2, 3, 4));
        let strided = Shape::Strided { len: 100, stride: 8 };
        assert_eq!(strided.check(100), Ok(()));
        assert_eq!(extents::unpack_strided(strided.word()), (100, 3));
    }

    #[test]
    fn what_does_not_fit_says_why() {
        let plane = |width, height| Shape::Plane { width, height }.check(63).unwrap_err().to_string();
        assert_eq!(plane(8, 8), "a shape of 8 by 8 has 64 elements, and the memory has 63");
        assert!(plane(1 << 32, 0).contains("over the limit of 4294967295"));
        assert!(plane(1 << 31, 1 << 31).contains("4611686018427387904 elements"));
        let volume = Shape::Volume { width: 1, height: 1 << 21, depth: 1 }.check(9).unwrap_err();
        assert!(matches!(volume, ShapeError::Extent { limit: 2_097_151, .. }));
        let strided = |stride| Shape::Strided { len: 9, stride }.check(9).unwrap_err();
        assert_eq!(strided(3), ShapeError::Stride(3));
        assert_eq!(strided(0), ShapeError::Stride(0));
        assert!(matches!(strided(1 << 32), ShapeError::Extent { .. }));
    }
}
