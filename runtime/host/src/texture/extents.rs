//! How large an image is.

/// Extents as the driver has them: 0 where there is no such dimension; the depth is also the number of layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extents {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) depth: usize,
}

impl Extents {
    /// How many texels.
    pub(super) fn len(self) -> usize {
        self.width.saturating_mul(self.rows())
    }

    /// How many rows.
    pub(super) fn rows(self) -> usize {
        self.height.max(1).saturating_mul(self.depth.max(1))
    }

    /// In words.
    pub(super) fn text(self) -> String {
        let all = [self.width, self.height, self.depth];
        let there: Vec<String> = all.iter().filter(|extent| **extent > 0).map(ToString::to_string).collect();
        if there.is_empty() { "0".to_owned() } else { there.join(" × ") }
    }
}
