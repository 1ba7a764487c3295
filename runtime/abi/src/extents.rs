//! What the second word of a shaped slice holds: the extents of a plane or a volume, or a length with a stride.

/// Most elements in a dimension of a volume.
pub const MAX_3D: u64 = (1 << 21) - 1;

/// Most elements of a slice with a stride.
pub const MAX_STRIDED: u64 = (1 << 59) - 1;

/// Largest binary logarithm of a stride.
pub const MAX_STRIDE_LOG2: u32 = 31;

/// Width and height, 32 bits each.
#[inline(always)]
pub const fn pack_2d(width: u32, height: u32) -> u64 {
    width as u64 | (height as u64) << 32
}

/// Undoes [`pack_2d`].
#[inline(always)]
pub const fn unpack_2d(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

/// Width, height and depth, 21 bits each: at most [`MAX_3D`].
#[inline(always)]
pub const fn pack_3d(width: u32, height: u32, depth: u32) -> u64 {
    width as u64 & MAX_3D | (height as u64 & MAX_3D) << 21 | (depth as u64 & MAX_3D) << 42
}

/// Undoes [`pack_3d`].
#[inline(always)]
pub const fn unpack_3d(word: u64) -> (u32, u32, u32) {
    ((word & MAX_3D) as u32, (word >> 21 & MAX_3D) as u32, (word >> 42 & MAX_3D) as u32)
}

/// A length of at most [`MAX_STRIDED`], and the binary logarithm of a stride, at most [`MAX_STRIDE_LOG2`].
#[inline(always)]
pub const fn pack_strided(len: u64, stride_log2: u32) -> u64 {
    len & MAX_STRIDED | (stride_log2 as u64) << 59
}

/// Undoes [`pack_strided`].
#[inline(always)]
pub const fn unpack_strided(word: u64) -> (u64, u32) {
    (word & MAX_STRIDED, (word >> 59) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_out() {
        for (width, height) in [(0, 0), (7, 9), (u32::MAX, 1), (1, u32::MAX), (u32::MAX, u32::MAX)] {
            assert_eq!(unpack_2d(pack_2d(width, height)), (width, height));
        }
        let most = MAX_3D as u32;
        for (width, height, depth) in [(0, 0, 0), (7, 9, 11), (most, 1, 2), (1, most, 2), (1, 2, most)] {
            assert_eq!(unpack_3d(pack_3d(width, height, depth)), (width, height, depth));
        }
        for (len, stride) in [(0, 0), (1000, 9), (MAX_STRIDED, MAX_STRIDE_LOG2)] {
            assert_eq!(unpack_strided(pack_strided(len, stride)), (len, stride));
        }
    }
}
