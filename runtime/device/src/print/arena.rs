//! Memory for the texts of one `println!`, each NUL-terminated.

use core::cell::{Cell, UnsafeCell};
use core::fmt;
use core::mem::MaybeUninit;

/// The end of text that did not fit.
const ELLIPSIS: &str = "…";

/// The most bytes of all texts of one `println!` together, each with its NUL.
pub const ROOM: usize = 1024;

/// [`ROOM`] bytes on the stack, filled from the front.
///
/// It is used through a shared reference, because earlier texts stay in use while the next is written.
#[derive(Debug)]
pub struct Arena {
    /// Written up to `len`.
    bytes: UnsafeCell<[MaybeUninit<u8>; ROOM]>,
    len: Cell<usize>,
    /// Whether the text that is being written was cut.
    full: Cell<bool>,
}

impl Arena {
    /// An empty arena.
    #[inline(always)]
    pub const fn new() -> Self {
        Self {
            bytes: UnsafeCell::new([const { MaybeUninit::uninit() }; ROOM]),
            len: Cell::new(0),
            full: Cell::new(false),
        }
    }

    /// The text that `write` writes, NUL-terminated. It lives as long as the arena.
    #[inline]
    pub fn text(&self, write: impl FnOnce(&mut Writer<'_>)) -> *const u8 {
        let start = self.len.get();
        if start + ELLIPSIS.len() + 1 > ROOM {
            return c"…".as_ptr().cast();
        }
        self.full.set(false);
        write(&mut Writer { arena: self });
        // SAFETY: `push`, all that `write` can do, leaves space for an ellipsis and the NUL; `start` is at most `len`.
        unsafe {
            self.append("\0");
            self.bytes.get().cast::<u8>().add(start)
        }
    }

    /// Appends `text`. If it does not fit, it is cut at a character, and ends in an ellipsis.
    #[inline(never)]
    fn push(&self, text: &str) {
        if self.full.get() {
            return;
        }
        let room = ROOM - self.len.get() - ELLIPSIS.len() - 1;
        // SAFETY: at most `room` bytes; then at most the ellipsis, which leaves one for the NUL. `floor_char_boundary` gives
        // an index of a character in `text`.
        unsafe {
            if text.len() > room {
                self.full.set(true);
                self.append(text.get_unchecked(..text.floor_char_boundary(room)));
                self.append(ELLIPSIS);
            } else {
                self.append(text);
            }
        }
    }

    /// # Safety
    /// There must be room for `text`.
    unsafe fn append(&self, text: &str) {
        // SAFETY: the caller saw to the room; nobody holds a reference to the bytes, and `text` is none of them.
        unsafe {
            self.bytes.get().cast::<u8>().add(self.len.get()).copy_from_nonoverlapping(text.as_ptr(), text.len());
        }
        self.len.set(self.len.get() + text.len());
    }
}

impl Default for Arena {
    fn default() -> Self {
        Self::new()
    }
}

/// Writes one text of an [`Arena`].
#[derive(Debug)]
pub struct Writer<'a> {
    arena: &'a Arena,
}

impl Writer<'_> {
    /// Appends `text`, cut to what fits.
    #[inline]
    pub fn push(&mut self, text: &str) {
        self.arena.push(text);
    }

    /// Appends `text` `count` times.
    #[inline(never)]
    pub fn repeat(&mut self, text: &str, count: usize) {
        for _ in 0..count {
            if self.arena.full.get() {
                return;
            }
            self.push(text);
        }
    }
}

impl fmt::Write for Writer<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::ffi::CStr;
    use std::string::String;
    use std::vec::Vec;

    use super::*;

    fn read(text: *const u8) -> String {
        // SAFETY: texts of an arena that is still there.
        unsafe { CStr::from_ptr(text.cast()) }.to_str().unwrap().into()
    }

    #[test]
    fn texts_stay_when_others_follow() {
        let arena = Arena::new();
        let texts: Vec<_> = (0..30).map(|i| arena.text(|out| out.repeat("ä", i))).collect();
        for (i, text) in texts.into_iter().enumerate() {
            assert_eq!(read(text), "ä".repeat(i));
        }
    }

    #[test]
    fn every_length_is_cut_at_a_character() {
        for before in 0..10 {
            for len in (ROOM - 30) / 3..(ROOM + 30) / 3 {
                let arena = Arena::new();
                let first = arena.text(|out| out.repeat("x", before));
                let text = read(arena.text(|out| out.repeat("€", len)));
                let fits = (ROOM - 4 - before - 1) / 3;
                if len <= fits {
                    assert_eq!(text, "€".repeat(len));
                } else {
                    assert_eq!(text, "€".repeat(fits) + ELLIPSIS);
                }
                assert_eq!(read(first).len(), before);
            }
        }
    }

    #[test]
    fn a_full_arena_gives_ellipses() {
        let arena = Arena::new();
        arena.text(|out| out.repeat("x", 5000));
        for _ in 0..40 {
            assert_eq!(read(arena.text(|out| out.push("more"))), ELLIPSIS);
        }
    }
}
