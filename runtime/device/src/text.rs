//! NUL-terminated text in a buffer of fixed size: a panic's message.

use core::fmt;
use core::mem::MaybeUninit;

/// The end of text that did not fit.
const ELLIPSIS: &str = "…";

/// The size of a [`Text`] in bytes, including its NUL.
pub const LEN: usize = ptx_abi::panic::MESSAGE_LEN;

/// The room before the ellipsis and the NUL, in bytes.
const ROOM: usize = LEN - 1 - ELLIPSIS.len();

/// At most `LEN - 1` bytes of UTF-8 and a NUL, in borrowed memory: every kernel that can panic would need more stack if
/// they were there.
///
/// One size and no type parameter: then `push` is one function, however many panics there are. No bounds check in here:
/// a panic handler that can panic would be recursive, and then ptxas cannot tell how much stack a kernel needs.
#[derive(Debug)]
pub struct Text<'a> {
    /// Written up to `len`, and a NUL there.
    bytes: &'a mut [MaybeUninit<u8>; LEN],
    len: usize,
    full: bool,
}

impl<'a> Text<'a> {
    /// An empty text.
    #[inline]
    pub const fn new(bytes: &'a mut [MaybeUninit<u8>; LEN]) -> Self {
        bytes[0] = MaybeUninit::new(0);
        Self { bytes, len: 0, full: false }
    }

    /// Appends `text`. If it does not fit, it is cut at a character, and ends in an ellipsis.
    #[cold]
    #[inline(never)]
    pub fn push(&mut self, text: &str) {
        if self.full {
            return;
        }
        let room = ROOM - self.len;
        let mut fits = text;
        if text.len() > room {
            self.full = true;
            // SAFETY: `floor_char_boundary` gives an index of a character in `text`.
            fits = unsafe { text.get_unchecked(..text.floor_char_boundary(room)) };
        }
        // SAFETY: at most `room` bytes; then at most the ellipsis, for which `ROOM` leaves space.
        unsafe {
            self.append(fits);
            if self.full {
                self.append(ELLIPSIS);
            }
        }
    }

    /// Appends `number` in decimal.
    #[cold]
    #[inline(never)]
    pub fn push_number(&mut self, mut number: usize) {
        let mut digits = [const { MaybeUninit::<u8>::uninit() }; 20];
        let mut count = 0;
        for digit in digits.iter_mut().rev() {
            digit.write(b'0' + (number % 10) as u8);
            number /= 10;
            count += 1;
            if number == 0 {
                break;
            }
        }
        // SAFETY: the last `count` were written just now, and digits are ASCII.
        self.push(unsafe {
            let first = digits.as_ptr().cast::<u8>().add(digits.len() - count);
            str::from_utf8_unchecked(core::slice::from_raw_parts(first, count))
        });
    }

    /// Appends `text` and a NUL, without checking for room.
    ///
    /// # Safety
    /// `len + text.len()` must be less than `LEN`.
    unsafe fn append(&mut self, text: &str) {
        // SAFETY: the caller saw to the room, and `text` cannot be a part of `self`, which is borrowed.
        unsafe {
            let end = self.bytes.as_mut_ptr().cast::<u8>().add(self.len);
            end.copy_from_nonoverlapping(text.as_ptr(), text.len());
            end.add(text.len()).write(0);
        }
        self.len += text.len();
    }

    /// The length of the text in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the text is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address of the text, which ends in a NUL.
    pub fn as_ptr(&self) -> *const u8 {
        self.bytes.as_ptr().cast()
    }

    /// The text without its NUL.
    pub fn as_str(&self) -> &str {
        // SAFETY: so many bytes were written, and only whole characters.
        unsafe { str::from_utf8_unchecked(core::slice::from_raw_parts(self.as_ptr(), self.len)) }
    }
}

impl fmt::Write for Text<'_> {
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
            let mut bytes = [MaybeUninit::uninit(); LEN];
            let mut text = Text::new(&mut bytes);
            text.push_number(number);
            assert_eq!(text.as_str(), format!("{number}"));
        }
    }

    #[test]
    fn every_length_is_cut_at_a_character_and_ends_in_nul() {
        let long = "äöü€𝄞abc".repeat(400);
        assert!(long.len() > LEN);
        for (end, _) in long.char_indices() {
            let mut bytes = [MaybeUninit::uninit(); LEN];
            let mut text = Text::new(&mut bytes);
            write!(text, "{}", &long[..end]).unwrap();
            // SAFETY: the NUL after the text is always written.
            assert_eq!(unsafe { text.as_ptr().add(text.len).read() }, 0);
            if end <= ROOM {
                assert_eq!(text.as_str(), &long[..end]);
            } else {
                let kept = text.as_str().strip_suffix(ELLIPSIS).unwrap();
                assert!(long.starts_with(kept) && kept.len() > ROOM - 4);
            }
        }
    }

    #[test]
    fn nothing_follows_the_ellipsis() {
        let mut bytes = [MaybeUninit::uninit(); LEN];
        let mut text = Text::new(&mut bytes);
        text.push(&"x".repeat(LEN));
        text.push("y");
        assert_eq!(text.as_str(), format!("{}…", "x".repeat(ROOM)));
        assert_eq!(text.as_str().len(), LEN - 1);
    }
}
