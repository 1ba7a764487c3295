//! Padding of texts, as `core::fmt::Formatter::pad` does it; without `core::fmt`, which ptxas takes long over.

use super::arena::Writer;

/// The position of a value in its field.
///
/// Four bytes: with one, LLVM makes the default by `max.u16` before a comparison, of which ptxas 13.0.88 makes the
/// smaller of the two for sm_90 at -O3 (**measured** on an H200; right at -O0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Align {
    /// Not given: numbers at the right, everything else at the left.
    Unknown,
    /// `<`
    Left,
    /// `^`
    Center,
    /// `>`
    Right,
}

/// The format of a placeholder, which follows its colon.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The character that pads the field.
    pub fill: char,
    /// The position of the value in the field.
    pub align: Align,
    /// `+`: with a sign, also if the number is positive.
    pub plus: bool,
    /// `0`: padded with zeros.
    pub zero: bool,
    /// The field's width in characters; 0 for none.
    pub width: usize,
    /// Digits after the point, or the most characters.
    pub precision: Option<usize>,
    /// Whether the precision is the value of an argument, so that it is not in the constant format.
    pub dynamic_precision: bool,
}

impl Layout {
    /// Writes `text`, which is not a number.
    #[inline(never)]
    pub fn text(&self, out: &mut Writer<'_>, text: &str) {
        let (len, chars) = measure(text, self.precision.unwrap_or(usize::MAX));
        // SAFETY: `len` is where a character begins, or the end.
        let text = unsafe { text.get_unchecked(..len) };
        let missing = self.width.saturating_sub(chars);
        let before = self.before(missing, Align::Left);
        self.fill(out, before);
        out.push(text);
        self.fill(out, missing - before);
    }

    /// How many of the `missing` characters go before the value.
    pub(super) fn before(&self, missing: usize, default: Align) -> usize {
        match if self.align == Align::Unknown { default } else { self.align } {
            Align::Center => missing / 2,
            Align::Right => missing,
            Align::Left | Align::Unknown => 0,
        }
    }

    /// Writes the fill character `count` times.
    pub(super) fn fill(&self, out: &mut Writer<'_>, count: usize) {
        if count > 0 {
            out.repeat(self.fill.encode_utf8(&mut [0; 4]), count);
        }
    }
}

/// Bytes and number of the first characters of `text`, at most `most`.
///
/// A plain loop: `core`'s counting, made for long texts, is 300 instructions, which ptxas compiles for every kernel.
fn measure(text: &str, most: usize) -> (usize, usize) {
    let mut chars = 0;
    for (index, &byte) in text.as_bytes().iter().enumerate() {
        // Every byte but those in the middle of a character.
        if byte & 0xc0 != 0x80 {
            if chars == most {
                return (index, chars);
            }
            chars += 1;
        }
    }
    (text.len(), chars)
}
