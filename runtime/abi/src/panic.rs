//! What a kernel leaves behind when it panics, in memory that the host reads, also after the context is lost.
//!
//! The host keeps a [`Record`] a context in its own memory, mapped for the device, and writes its address into the
//! constant [`SYMBOL`] of every module that it loads. Until then that is the address of a record of the module's own that
//! nobody reads, [nobody's](NOBODY_WORDS).
//!
//! A thread that panics takes the record by one exchange: it puts the record's address into [`Record::free`] and gets what
//! was there. The first thread gets the address of [`Record::ready`], where the part begins that it alone writes. All
//! others get the record's own address, and what they write at the same distance from there lands in [`Record::lost`]. So
//! threads that panic need not know whether they are first until their report does.

use core::fmt;
use core::sync::atomic::{AtomicU32, AtomicU64};

/// The constant of device code that holds the record's address: `.weak .const .align 8 .u64`, so that code of several
/// crates can be linked into one module.
pub const SYMBOL: &str = "__ptx_panic";

/// The global of device code that is [nobody's record](NOBODY_WORDS), whose address [`SYMBOL`] is where no host wrote
/// another.
pub const NOBODY_SYMBOL: &str = "__ptx_panic_nobody";

/// The global of device code that is the [`Record`] where the first thread writes that took [nobody's](NOBODY_WORDS).
pub const NOBODY_FIRST_SYMBOL: &str = "__ptx_panic_nobody_first";

/// The global of device code that is a [`Record`] of its own: messages are put together there.
pub const DRAFT_SYMBOL: &str = "__ptx_panic_draft";

/// [`Record::ready`]: the place is written, and there is no message: panics keep their places alone.
pub const PLACE: u32 = 1;

/// [`Record::ready`]: all is written.
pub const MESSAGE: u32 = 2;

/// [`Record::ready`]: the place is written, and the parts of the message, which the host puts together: [`Parts`].
pub const PARTS: u32 = 3;

/// Bytes for a file's name and its NUL, which no source file's is longer than.
pub const FILE_LEN: usize = 3896;

/// Bytes for a message and its NUL.
pub const MESSAGE_LEN: usize = 4096;

/// Where the part of a [`Record`] begins that the first thread writes.
pub const OWN: usize = core::mem::offset_of!(Record, ready);

/// The bit that the address has which the first thread gets, and no other. What is in [`Record::ready`] has it, too, where
/// the [place](crate::place)'s number is written, and the operands of its message, if it has one: it is then the lower half
/// of that address, because the thread has that in a register.
pub const IS_OWN: usize = 8;

const _: () = assert!((PLACE | MESSAGE | PARTS) & IS_OWN as u32 == 0);

/// A panic. The thread that finds the address of `ready` in `free` writes; all others wait for the end of the launch, or
/// count themselves and leave. Two pages: `file` ends the first. The compiler writes the same by inline PTX.
///
/// A host whose context lives clears all but `others` and `nobody`, and writes `free` last.
#[repr(C, align(16))]
#[derive(Debug)]
pub struct Record {
    /// The device's address of `ready` while no thread has panicked, which the host writes; then that of the record.
    pub free: AtomicU64,
    /// How many threads found the record taken, of all kernels so far: only the device writes it.
    pub others: AtomicU32,
    /// 0; of [nobody's record](NOBODY_WORDS) 1.
    pub nobody: u32,
    /// What other threads than the first write for `detail`, `message_at` and `words`.
    pub lost: [u64; 2 + WORDS],
    /// 0, then [`PLACE`], [`MESSAGE`], [`PARTS`] or what has [`IS_OWN`].
    pub ready: AtomicU32,
    /// Line, from 1; 0 where the place is not known.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// Nobody's.
    pub unused: u32,
    /// With [`MESSAGE`] the bytes of `message`. With [`IS_OWN`] the place's number is the lower half, and the upper half the
    /// word that the place says to be beside it, in one store. Until then the device's own.
    pub detail: u64,
    /// The device's own.
    pub message_at: u64,
    /// With [`PARTS`] and [`IS_OWN`] the operands of the message in their order; each is one word, or two.
    pub words: [u64; WORDS],
    /// Where the thread is.
    pub position: Position,
    /// NUL-terminated.
    pub file: [u8; FILE_LEN],
    /// UTF-8; with [`PARTS`] and [`IS_OWN`], as [`Parts`] has it.
    pub message: [u8; MESSAGE_LEN],
}

const _: () = {
    use core::mem::offset_of;
    assert!(size_of::<Record>() == 8192);
    assert!(offset_of!(Record, free) == 0);
    assert!(offset_of!(Record, others) == 8);
    assert!(offset_of!(Record, nobody) == 12);
    assert!(offset_of!(Record, lost) == 16);
    assert!(offset_of!(Record, ready) == 88);
    assert!(offset_of!(Record, line) == 92);
    assert!(offset_of!(Record, detail) == 104);
    assert!(offset_of!(Record, words) == 120);
    assert!(offset_of!(Record, position) == 176);
    assert!(offset_of!(Record, file) == 200);
    assert!(offset_of!(Record, message) == 4096);
    // What others write is as far from the record as what the first writes is from `ready`, and ends before it.
    assert!(offset_of!(Record, detail) - OWN == offset_of!(Record, lost));
    assert!(offset_of!(Record, lost) + size_of::<[u64; 2 + WORDS]>() == OWN);
    assert!(OWN & IS_OWN != 0 && align_of::<Record>() > IS_OWN);
};

/// As much of a [`Record`] as other threads than the first write, in the device's memory, for modules to which no host
/// gave one: `nobody` is 1. The first thread gets the address of `ready` in [`NOBODY_FIRST_SYMBOL`].
pub const NOBODY_WORDS: usize = OWN.next_multiple_of(16) / 8;

/// `blockIdx` and `threadIdx`, axis by axis: both numbers of an axis that a kernel does not ask for are one store.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// `blockIdx.x`
    pub block_x: u32,
    /// `threadIdx.x`
    pub thread_x: u32,
    /// `blockIdx.y`
    pub block_y: u32,
    /// `threadIdx.y`
    pub thread_y: u32,
    /// `blockIdx.z`
    pub block_z: u32,
    /// `threadIdx.z`
    pub thread_z: u32,
}

impl Position {
    /// Of `blockIdx` and `threadIdx`, each x, y, z.
    pub const fn new(block: [u32; 3], thread: [u32; 3]) -> Self {
        let ([block_x, block_y, block_z], [thread_x, thread_y, thread_z]) = (block, thread);
        Self { block_x, thread_x, block_y, thread_y, block_z, thread_z }
    }

    /// `blockIdx`: x, y, z.
    pub const fn block(&self) -> [u32; 3] {
        [self.block_x, self.block_y, self.block_z]
    }

    /// `threadIdx`: x, y, z.
    pub const fn thread(&self) -> [u32; 3] {
        [self.thread_x, self.thread_y, self.thread_z]
    }
}

impl Record {
    /// No panic. Nobody can take it before `free` is written.
    pub const fn new() -> Self {
        Self {
            free: AtomicU64::new(0),
            others: AtomicU32::new(0),
            nobody: 0,
            lost: [0; 2 + WORDS],
            ready: AtomicU32::new(0),
            line: 0,
            column: 0,
            unused: 0,
            detail: 0,
            message_at: 0,
            words: [0; WORDS],
            position: Position::new([0; 3], [0; 3]),
            file: [0; FILE_LEN],
            message: [0; MESSAGE_LEN],
        }
    }
}

impl Default for Record {
    fn default() -> Self {
        Self::new()
    }
}

/// Begins an operand in a template, before its code; it is no byte of UTF-8.
pub const OPERAND: u8 = 0xFF;

/// Words of operands at most.
pub const WORDS: usize = 7;

/// Bytes of a template at most: one that says which word, from 1, is the address of a text (0: none), and after which its
/// length stands; UTF-8 with operands; and a NUL.
pub const TEMPLATE_LEN: usize = 2048;

/// Bytes of a text that an operand is.
pub const TEXT_LEN: usize = 2048;

/// [`Record::message`] where the host makes the message of [`Record::words`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    /// NUL-terminated, without the first byte; not with [`IS_OWN`].
    pub template: [u8; TEMPLATE_LEN],
    /// The text of an operand, as much of it as there is room for.
    pub text: [u8; TEXT_LEN],
}

const _: () = assert!(size_of::<Parts>() == MESSAGE_LEN);

/// What an operand of a message is, and so how `core::fmt` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// `u8` to `u64`, `usize`
    Unsigned,
    /// `i8` to `i64`, `isize`, as 64 bits
    Signed,
    /// `u128`; two words, the lower first
    Unsigned128,
    /// `i128`
    Signed128,
    /// `bool`
    Bool,
    /// `char` by `{}`
    Char,
    /// `char` by `{:?}`
    CharDebug,
    /// `f32` by `{}`
    Single,
    /// `f32` by `{:?}`
    SingleDebug,
    /// `f64` by `{}`
    Double,
    /// `f64` by `{:?}`
    DoubleDebug,
    /// `&str` by `{}`: address and length
    Text,
    /// `&str` by `{:?}`
    TextDebug,
    /// No operand, but the character that would end the template.
    Nul,
}

impl Operand {
    const ALL: [(Self, u8); 14] = [
        (Self::Unsigned, b'u'),
        (Self::Signed, b'i'),
        (Self::Unsigned128, b'U'),
        (Self::Signed128, b'I'),
        (Self::Bool, b'b'),
        (Self::Char, b'c'),
        (Self::CharDebug, b'C'),
        (Self::Single, b'f'),
        (Self::SingleDebug, b'F'),
        (Self::Double, b'd'),
        (Self::DoubleDebug, b'D'),
        (Self::Text, b's'),
        (Self::TextDebug, b'S'),
        (Self::Nul, b'0'),
    ];

    /// In a template.
    pub fn code(self) -> u8 {
        Self::ALL.iter().find(|(operand, _)| *operand == self).map_or(0, |(_, code)| *code)
    }

    /// The operand with this code.
    pub fn of(code: u8) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == code).map(|(operand, _)| *operand)
    }

    /// How many words it takes.
    pub fn words(self) -> usize {
        match self {
            Self::Nul => 0,
            Self::Unsigned128 | Self::Signed128 | Self::Text | Self::TextDebug => 2,
            _ => 1,
        }
    }

    /// Whether it is an address and a length.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::TextDebug)
    }

    /// What shows it, of these words, as `core::fmt` does.
    pub fn shown(self, words: [u64; 2], text: &str) -> impl fmt::Display {
        fmt::from_fn(move |f| self.show(words, text, f))
    }

    fn show(self, words: [u64; 2], text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [low, high] = words;
        let wide = u128::from(high) << 64 | u128::from(low);
        let single = f32::from_bits(low as u32);
        let double = f64::from_bits(low);
        let char = char::from_u32(low as u32).unwrap_or(char::REPLACEMENT_CHARACTER);
        match self {
            Self::Unsigned => write!(f, "{low}"),
            Self::Signed => write!(f, "{}", low.cast_signed()),
            Self::Unsigned128 => write!(f, "{wide}"),
            Self::Signed128 => write!(f, "{}", wide.cast_signed()),
            Self::Bool => write!(f, "{}", low != 0),
            Self::Char => write!(f, "{char}"),
            Self::CharDebug => write!(f, "{char:?}"),
            Self::Single => write!(f, "{single}"),
            Self::SingleDebug => write!(f, "{single:?}"),
            Self::Double => write!(f, "{double}"),
            Self::DoubleDebug => write!(f, "{double:?}"),
            Self::Text => write!(f, "{text}"),
            Self::TextDebug => write!(f, "{text:?}"),
            Self::Nul => write!(f, "\0"),
        }
    }
}

impl Parts {
    /// The message that its own template makes of the operands, put together as `core::fmt` would have.
    pub fn shown(&self, words: &[u64; WORDS]) -> impl fmt::Display {
        self.shown_by(&self.template, words)
    }

    /// The same by another template.
    pub fn shown_by(&self, template: &[u8], words: &[u64; WORDS]) -> impl fmt::Display {
        fmt::from_fn(move |f| self.show(template, words, f))
    }

    fn show(&self, template: &[u8], words: &[u64; WORDS], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = words.iter().copied();
        let mut template = template.split(|byte| *byte == 0).next().unwrap_or_default().split(|b| *b == OPERAND);
        show(template.next().unwrap_or_default(), f)?;
        for piece in template {
            let Some((code, text)) = piece.split_first() else { continue };
            if let Some(operand) = Operand::of(*code) {
                let mut taken = [0; 2];
                taken.iter_mut().zip(words.by_ref().take(operand.words())).for_each(|(slot, word)| *slot = word);
                let len = usize::try_from(taken[1]).unwrap_or(TEXT_LEN).min(TEXT_LEN);
                operand.show(taken, whole(&self.text[..len]), f)?;
            }
            show(text, f)?;
        }
        Ok(())
    }
}

fn show(text: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    text.utf8_chunks().try_for_each(|chunk| f.write_str(chunk.valid()))
}

/// Up to a character that was cut.
fn whole(text: &[u8]) -> &str {
    text.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::{String, ToString};

    use super::*;

    /// A message of this template, these words and this text.
    fn shown(template: &[u8], words: &[u64], text: &[u8]) -> String {
        let mut all = [0; WORDS];
        all[..words.len()].copy_from_slice(words);
        let mut parts = Parts { template: [0; TEMPLATE_LEN], text: [0; TEXT_LEN] };
        parts.template[..template.len()].copy_from_slice(template);
        parts.text[..text.len()].copy_from_slice(text);
        parts.shown(&all).to_string()
    }

    #[test]
    fn operands_are_shown_as_core_does() {
        for (code, words, expected) in [
            (b'u', [u64::MAX, 0], format!("{}", u64::MAX)),
            (b'i', [u64::MAX, 0], format!("{}", -1)),
            (b'U', [1, 2], format!("{}", 1_u128 | 2 << 64)),
            (b'I', [u64::MAX - 1, u64::MAX], format!("{}", -2_i128)),
            (b'b', [1, 0], format!("{:?}", true)),
            (b'c', [0xDF, 0], format!("{}", 'ß')),
            (b'C', [0x27, 0], format!("{:?}", '\'')),
            (b'f', [u64::from(1e20_f32.to_bits()), 0], format!("{}", 1e20_f32)),
            (b'F', [u64::from(1e20_f32.to_bits()), 0], format!("{:?}", 1e20_f32)),
            (b'd', [0.1_f64.to_bits(), 0], format!("{}", 0.1)),
            (b'D', [1_f64.to_bits(), 0], format!("{:?}", 1.0)),
        ] {
            let operand = Operand::of(code).unwrap();
            assert_eq!(operand.code(), code);
            assert_eq!(shown(&[b'<', OPERAND, code, b'>'], &words, b""), format!("<{expected}>"));
        }
    }

    #[test]
    fn texts_stand_where_they_belong() {
        let template = [b"of `\xFFs` (".as_slice(), b"\xFFu bytes)\xFF0"].concat();
        assert_eq!(shown(&template, &[0xABCD, 6, 7], "grüßen".as_bytes()), "of `grüß` (7 bytes)\0");
        // A text that is cut in a character, and one that is longer than its room.
        assert_eq!(shown(b"\xFFS", &[1, 3], "grüße".as_bytes()), "\"gr\"");
        assert_eq!(shown(b"\xFFs", &[1, u64::MAX], &[b'x'; TEXT_LEN]).len(), TEXT_LEN);
    }

    #[test]
    fn what_the_device_left_unfinished_is_shown_as_far_as_it_goes() {
        assert_eq!(shown(b"text \xFF", &[], b""), "text ");
        assert_eq!(shown(b"text \xFFz of no kind", &[], b""), "text  of no kind");
        assert_eq!(shown(b"", &[], b""), "");
    }
}
