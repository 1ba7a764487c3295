//! Padding of texts, as `core::fmt::Formatter::pad` does it; without `core::fmt`, which ptxas takes long over.

use super::arena::Writer;

/// Where a value stands in its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Not said: numbers at the right, everything else at the left.
    Unknown,
    /// `<`
    Left,
    /// `^`
    Center,
    /// `>`
    Right,
}

/// What stands behind the colon of a placeholder, as values.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// What pads.
    pub fill: char,
    /// Where the value stands.
    pub align: Align,
    /// `+`
    pub plus: bool,
    /// `0`
    pub zero: bool,
    /// The field's width in characters; 0 for none.
    pub width: usize,
    /// Digits after the point, or the most characters.
    pub precision: Option<usize>,
    /// Whether the precision is an argument's value: then it does not stand in the constant format.
    pub dynamic_precision: bool,
}

impl Layout {
    /// Writes `text`, which is no number.
    pub fn text(&self, out: &mut Writer<'_>, mut text: &str) {
        if let Some(precision) = self.precision {
            if let Some((end, _)) = text.char_indices().nth(precision) {
                // SAFETY: `char_indices` gives indices of characters.
                text = unsafe { text.get_unchecked(..end) };
            }
        }
        if self.width == 0 {
            return out.push(text);
        }
        let align = if self.align == Align::Unknown { Align::Left } else { self.align };
        self.fill(out, self.width.saturating_sub(text.chars().count()), align, |out| out.push(text));
    }

    /// Writes what `write` writes and, around it, `missing` times the fill.
    pub(super) fn fill(&self, out: &mut Writer<'_>, missing: usize, align: Align, write: impl FnOnce(&mut Writer<'_>)) {
        let before = match align {
            Align::Left => 0,
            Align::Center => missing / 2,
            Align::Right | Align::Unknown => missing,
        };
        let mut bytes = [0; 4];
        let fill = &*self.fill.encode_utf8(&mut bytes);
        out.repeat(fill, before);
        write(out);
        out.repeat(fill, missing - before);
    }
}
