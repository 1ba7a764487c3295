//! A place that can panic, as it stands in device code: the device hands over its number alone, and the host, which has the
//! code, finds the rest there.
//!
//! A place is a static of bytes, aligned to eight, each number with its lowest byte first:
//!
//! ```text
//! 0   MARK, by which it is found
//! 8   u64: its number, a hash of what follows
//! 16  u32: which word of the operands, from 1, is the address of a text; 0 if none is
//! 20  u32: line, from 1; 0 where the place is not known
//! 24  u32: column
//! 28  the file's name and NUL; 1 and a template (`panic`), if there is a message; NUL
//! ```

/// Begins every place. No UTF-8, and no instruction of a GPU.
pub const MARK: [u8; 8] = [0xF7, b'p', b'l', 0xF8, b'a', b'c', b'e', 0xF9];

/// Where the number is.
pub const NUMBER: usize = 8;

/// Where it says which word is a text.
pub const TEXT_WORD: usize = 16;

const LINE: usize = 20;
const COLUMN: usize = 24;
const FILE: usize = 28;

/// Stands before a template.
const HAS_MESSAGE: u8 = 1;

/// A place that can panic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// Its name, without NUL.
    pub file: &'a [u8],
    /// From 1; 0 where the place is not known.
    pub line: u32,
    /// From 1.
    pub column: u32,
    /// Which word of the operands, from 1, is the address of a text; 0 if none is.
    pub text_word: u32,
    /// The message's template, without NUL; none where the place is all.
    pub template: Option<&'a [u8]>,
}

impl<'a> Place<'a> {
    /// The place that begins there, and its number.
    pub fn read(bytes: &'a [u8]) -> Option<(u64, Self)> {
        let number = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        if !bytes.starts_with(&MARK) {
            return None;
        }
        let name = u64::from(number(NUMBER)?) | u64::from(number(NUMBER + 4)?) << 32;
        let rest = bytes.get(FILE..)?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        let (file, rest) = (&rest[..end], &rest[end + 1..]);
        let template = match rest.split_first()? {
            (&HAS_MESSAGE, rest) => Some(rest.split(|byte| *byte == 0).next()?),
            _ => None,
        };
        let (text_word, line, column) = (number(TEXT_WORD)?, number(LINE)?, number(COLUMN)?);
        Some((name, Self { file, line, column, text_word, template }))
    }

    /// How many bytes it is.
    pub fn size(&self) -> usize {
        FILE + self.file.len() + 1 + self.template.map_or(0, |template| 1 + template.len()) + 1
    }

    /// Its bytes, where `hash` makes its number of those behind it.
    #[cfg(any(feature = "decode", test))]
    pub fn bytes(&self, hash: impl Fn(&[u8]) -> u64) -> alloc::vec::Vec<u8> {
        let mut bytes = [&MARK[..], &[0; 8]].concat();
        bytes.extend([self.text_word, self.line, self.column].into_iter().flat_map(u32::to_le_bytes));
        bytes.extend(self.file);
        bytes.push(0);
        if let Some(template) = self.template {
            bytes.push(HAS_MESSAGE);
            bytes.extend(template);
        }
        bytes.push(0);
        let number = hash(&bytes[TEXT_WORD..]);
        bytes[NUMBER..TEXT_WORD].copy_from_slice(&number.to_le_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place<'_> =
        Place { file: b"src/lib.rs", line: 7, column: 300, text_word: 2, template: Some(b"of \xFFs") };

    #[test]
    fn what_is_written_is_read() {
        for place in [PLACE, Place { template: None, ..PLACE }, Place { file: b"", template: Some(b""), ..PLACE }] {
            let mut bytes = place.bytes(|hashed| hashed.len() as u64 | 1 << 63);
            let number = (bytes.len() - TEXT_WORD) as u64 | 1 << 63;
            assert_eq!(Place::read(&bytes), Some((number, place)));
            assert_eq!(place.size(), bytes.len());
            bytes.extend(b"what lies behind it");
            assert_eq!(Place::read(&bytes), Some((number, place)));
        }
    }

    #[test]
    fn the_device_finds_what_it_reads() {
        let bytes = PLACE.bytes(|_| 0x0102_0304_0506_0708);
        assert_eq!(bytes[NUMBER..NUMBER + 8], [8, 7, 6, 5, 4, 3, 2, 1]);
        assert_eq!(bytes[TEXT_WORD], 2);
    }

    #[test]
    fn what_is_cut_off_is_no_place() {
        let bytes = PLACE.bytes(|_| 0);
        let name_ends = FILE + PLACE.file.len() + 1;
        for len in 0..=name_ends {
            assert_eq!(Place::read(&bytes[..len]), None, "{len} bytes");
        }
        assert_eq!(Place::read(b"no mark"), None);
    }
}
