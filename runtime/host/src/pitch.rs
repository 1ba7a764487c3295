//! How rows and layers of rows lie in memory, and whether a box of elements lies there.

use ptx_device::Dim3;

/// How elements lie in memory: how far rows are apart, how many rows a layer has, and where the first element is.
///
/// ```
/// # use ptx_host::Pitch;
/// let plane = Pitch::rows(640); // rows of 640 elements, whatever is in use of them
/// let window = plane.at(100 * 640 + 20); // from column 20 of row 100 on
/// let volume = Pitch::rows(640).layers(480); // layers of 480 such rows
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pitch {
    pub(crate) start: usize,
    pub(crate) row: usize,
    pub(crate) rows: Option<usize>,
}

/// Why a copy of a box is not possible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BoxError {
    /// A row goes into the next one.
    #[error("rows of {width} elements are wider than the pitch of {pitch}")]
    Row {
        /// Elements of a row.
        width: u32,
        /// Elements from row to row.
        pitch: usize,
    },
    /// A layer goes into the next one.
    #[error("layers of {height} rows are higher than the {rows} of a layer in memory")]
    Layer {
        /// Rows of a layer.
        height: u32,
        /// Rows from layer to layer.
        rows: usize,
    },
    /// There are layers, and nothing says how far they are apart.
    #[error("the box has {0} layers, and nothing says how many rows a layer has: `Pitch::layers`")]
    NoLayers(u32),
    /// The memory has too few elements.
    #[error("the last element is number {needed}, and the memory has {len}")]
    TooLarge {
        /// The number of the last element, from 1.
        needed: u64,
        /// The elements of the memory.
        len: usize,
    },
}

impl Pitch {
    /// Rows so many elements apart: CUDA's pitch, which it counts in bytes.
    pub fn rows(elements: usize) -> Self {
        Self { start: 0, row: elements, rows: None }
    }

    /// Layers so many rows apart.
    pub fn layers(self, rows: usize) -> Self {
        Self { rows: Some(rows), ..self }
    }

    /// The same from another first element on.
    pub fn at(self, start: usize) -> Self {
        Self { start, ..self }
    }

    /// Checks that a box lies in memory of `len` elements.
    pub(crate) fn check(self, extent: Dim3, len: usize) -> Result<(), BoxError> {
        let Dim3 { x: width, y: height, z: depth } = extent;
        if (height > 1 || depth > 1) && width as usize > self.row {
            return Err(BoxError::Row { width, pitch: self.row });
        }
        let rows = match self.rows {
            Some(rows) if depth > 1 && height as usize > rows => return Err(BoxError::Layer { height, rows }),
            Some(rows) => rows,
            None if depth > 1 => return Err(BoxError::NoLayers(depth)),
            None => 0,
        };
        // No overflow: extents of 32 bits, pitches of 64.
        let last_row = u128::from(depth - 1) * rows as u128 + u128::from(height - 1);
        let needed = last_row.saturating_mul(self.row as u128).saturating_add(self.start as u128 + u128::from(width));
        if needed > len as u128 {
            return Err(BoxError::TooLarge { needed: u64::try_from(needed).unwrap_or(u64::MAX), len });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_lies_in_its_memory_or_it_is_said_why_not() {
        let check = |pitch: Pitch, extent: (u32, u32, u32), len| pitch.check(extent.into(), len);
        assert_eq!(check(Pitch::rows(10), (10, 3, 1), 30), Ok(()));
        assert_eq!(check(Pitch::rows(10), (4, 3, 1), 24), Ok(()), "the last row need not be filled");
        assert_eq!(check(Pitch::rows(10), (4, 3, 1), 23), Err(BoxError::TooLarge { needed: 24, len: 23 }));
        assert_eq!(check(Pitch::rows(10).at(1), (4, 3, 1), 24), Err(BoxError::TooLarge { needed: 25, len: 24 }));
        assert_eq!(check(Pitch::rows(3), (4, 2, 1), 99), Err(BoxError::Row { width: 4, pitch: 3 }));
        assert_eq!(check(Pitch::rows(0), (4, 1, 1), 4), Ok(()), "one row has no next");
        assert_eq!(check(Pitch::rows(4), (4, 2, 2), 99), Err(BoxError::NoLayers(2)));
        assert_eq!(check(Pitch::rows(4).layers(1), (4, 2, 2), 99), Err(BoxError::Layer { height: 2, rows: 1 }));
        assert_eq!(check(Pitch::rows(4).layers(3), (4, 2, 2), 20), Ok(()));
        assert_eq!(check(Pitch::rows(4).layers(3), (4, 2, 2), 19), Err(BoxError::TooLarge { needed: 20, len: 19 }));
        let huge =
            check(Pitch::rows(usize::MAX).layers(usize::MAX).at(usize::MAX), (1, u32::MAX, u32::MAX), usize::MAX);
        assert!(matches!(huge, Err(BoxError::TooLarge { .. })), "{huge:?}");
    }
}
