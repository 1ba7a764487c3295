//! NUL-terminated text in a buffer of fixed size: what a panic hands to the driver.

use core::fmt;

/// What stands at the end of text that did not fit.
const ELLIPSIS: &str = "…";

/// At most `N - 1` bytes of UTF-8 and a NUL.
#[derive(Clone, Debug)]
pub struct Text<const N: usize> {
    bytes: [u8; N],
    len: usize,
    full: bool,
}

impl<const N: usize> Text<N> {
    /// What fits before the ellipsis and the NUL.
    const ROOM: usize = {
        assert!(N > ELLIPSIS.len());
        N - 1 - ELLIPSIS.len()
    };

    /// No text.
    #[inline]
    pub const fn new() -> Self {
        Self { bytes: [0; N], len: 0, full: false }
    }

    /// Appends `text`. What does not fit is cut at a character and replaced by an ellipsis.
    pub fn push(&mut self, text: &str) {
        if self.full {
            return;
        }
        let room = Self::ROOM - self.len;
        if text.len() <= room {
            self.append(text.as_bytes(), text.len());
        } else {
            self.append(text.as_bytes(), text.floor_char_boundary(room));
            self.append(ELLIPSIS.as_bytes(), ELLIPSIS.len());
            self.full = true;
        }
    }

    /// Appends `number` in decimal.
    pub fn push_number(&mut self, mut number: usize) {
        let mut digits = [0_u8; 20];
        let mut count = 0;
        for digit in digits.iter_mut().rev() {
            *digit = b'0' + (number % 10) as u8;
            number /= 10;
            count += 1;
            if number == 0 {
                break;
            }
        }
        // SAFETY: `count` is at most the number of digits, which are ASCII.
        self.push(unsafe { str::from_utf8_unchecked(digits.get_unchecked(digits.len() - count..)) });
    }

    /// Appends the first `count` of `bytes`, as far as there is room.
    ///
    /// No bounds check here: a panic handler that can panic would be recursive, and then ptxas cannot tell how much
    /// stack a kernel needs.
    fn append(&mut self, bytes: &[u8], count: usize) {
        for byte in bytes.iter().take(count) {
            if let Some(slot) = self.bytes.get_mut(self.len)
                && self.len < N - 1
            {
                *slot = *byte;
                self.len += 1;
            }
        }
    }

    /// The text and its NUL.
    pub fn as_ptr(&self) -> *const u8 {
        self.bytes.as_ptr()
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        // SAFETY: `len` is less than `N`, and only whole characters were appended.
        unsafe { str::from_utf8_unchecked(self.bytes.get_unchecked(..self.len)) }
    }
}

impl<const N: usize> Default for Text<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> fmt::Write for Text<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use core::fmt::Write;
    use std::format;

    use super::*;

    #[test]
    fn numbers_are_decimal() {
        for number in [0, 7, 10, 4_294_967_296, usize::MAX] {
            let mut text = Text::<32>::new();
            text.push_number(number);
            assert_eq!(text.as_str(), format!("{number}"));
        }
    }

    #[test]
    fn every_length_is_cut_at_a_character_and_ends_in_nul() {
        let long = "äöü€𝄞abc".repeat(4);
        for (end, _) in long.char_indices() {
            let mut text = Text::<32>::new();
            write!(text, "{}", &long[..end]).unwrap();
            assert_eq!(text.bytes[text.len], 0);
            if end <= Text::<32>::ROOM {
                assert_eq!(text.as_str(), &long[..end]);
            } else {
                let kept = text.as_str().strip_suffix(ELLIPSIS).unwrap();
                assert!(long.starts_with(kept) && kept.len() > Text::<32>::ROOM - 4);
            }
        }
    }

    #[test]
    fn nothing_follows_the_ellipsis() {
        let mut text = Text::<8>::new();
        text.push("abcdefgh");
        text.push("x");
        assert_eq!(text.as_str(), "abcd…");
    }
}
