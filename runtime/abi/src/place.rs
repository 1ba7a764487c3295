//! A place that can panic, as it stands in device code: the device hands over its number alone, and the host, which has the
//! code, finds the rest there.
//!
//! A place is bytes in a static that is aligned to eight, each number with its lowest byte first:
//!
//! ```text
//! 0   MARK, by which it is found
//! 8   u32: its number, a hash of the rest
//! 12  u32: which word of the operands, from 1, is handed over beside the number; 0 if none is
//! 16  u32: line, from 1; 0 where the place is not known
//! 20  u32: column
//! 24  the file's name and NUL; 1 and a template (`panic`), if there is a message; NUL
//! ```
//!
//! All places of a PTX text are one static, one behind the other at multiples of eight, because ptxas takes longer for many.

/// Begins every place. No UTF-8, and no instruction of a GPU.
pub const MARK: [u8; 8] = [0xF7, b'p', b'l', 0xF8, b'a', b'c', b'e', 0xFA];

/// The static of a PTX text that has all places. A function names each of its own, by how far it lies from the first.
pub const STATIC: &str = "__rust_ptx_places";

/// Where the number is.
const NUMBER: usize = 8;

const BESIDE: usize = 12;
const LINE: usize = 16;
const COLUMN: usize = 20;
const FILE: usize = 24;

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
    /// Which word of the operands, from 1, stands beside the number, of 32 bits; 0 if none does.
    pub beside: u32,
    /// The message's template, without NUL; none where the place is all.
    pub template: Option<&'a [u8]>,
}

impl<'a> Place<'a> {
    /// The place that begins there, and its number.
    pub fn read(bytes: &'a [u8]) -> Option<(u32, Self)> {
        let number = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        if !bytes.starts_with(&MARK) {
            return None;
        }
        let rest = bytes.get(FILE..)?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        let (file, rest) = (&rest[..end], &rest[end + 1..]);
        let template = match rest.split_first()? {
            (&HAS_MESSAGE, rest) => Some(rest.split(|byte| *byte == 0).next()?),
            _ => None,
        };
        let (beside, line, column) = (number(BESIDE)?, number(LINE)?, number(COLUMN)?);
        Some((number(NUMBER)?, Self { file, line, column, beside, template }))
    }

    /// How many bytes it is.
    pub fn size(&self) -> usize {
        FILE + self.file.len() + 1 + self.template.map_or(0, |template| 1 + template.len()) + 1
    }

    /// Its bytes, with this number.
    #[cfg(any(feature = "decode", test))]
    pub fn bytes(&self, number: u32) -> alloc::vec::Vec<u8> {
        let mut bytes = MARK.to_vec();
        bytes.extend([number, self.beside, self.line, self.column].into_iter().flat_map(u32::to_le_bytes));
        bytes.extend(self.file);
        bytes.push(0);
        if let Some(template) = self.template {
            bytes.push(HAS_MESSAGE);
            bytes.extend(template);
        }
        bytes.push(0);
        bytes
    }
}

/// What a PTX text has of places: the bytes of each static of them, which the compiler writes as numbers of 64 bits.
#[cfg(any(feature = "decode", test))]
pub fn lists(ptx: &str) -> impl Iterator<Item = alloc::vec::Vec<u8>> {
    let mark = word(MARK);
    let mut rest = ptx;
    core::iter::from_fn(move || {
        let (list, behind) = rest[rest.find(&mark)?..].split_once('}')?;
        rest = behind;
        let number = |word: &str| u64::from_str_radix(word.trim().strip_prefix("0x")?, 16).ok();
        Some(list.split(',').map_while(number).flat_map(u64::to_le_bytes).collect())
    })
}

/// Eight bytes as a list has them.
#[cfg(any(feature = "decode", test))]
pub fn word(bytes: [u8; 8]) -> alloc::string::String {
    alloc::format!("{:#x}", u64::from_le_bytes(bytes))
}

/// The places in a list: where each begins, its number, and what it says.
#[cfg(any(feature = "decode", test))]
pub fn all(list: &[u8]) -> impl Iterator<Item = (usize, u32, Place<'_>)> {
    (0..list.len()).step_by(8).filter_map(|start| {
        let (number, place) = Place::read(&list[start..])?;
        Some((start, number, place))
    })
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::*;

    const PLACE: Place<'_> =
        Place { file: b"src/lib.rs", line: 7, column: 300, beside: 2, template: Some(b"of \xFFs") };

    #[test]
    fn what_is_written_is_read() {
        for place in [PLACE, Place { template: None, ..PLACE }, Place { file: b"", template: Some(b""), ..PLACE }] {
            let mut bytes = place.bytes(1 << 31 | 7);
            assert_eq!(Place::read(&bytes), Some((1 << 31 | 7, place)));
            assert_eq!(place.size(), bytes.len());
            bytes.extend(b"what lies behind it");
            assert_eq!(Place::read(&bytes), Some((1 << 31 | 7, place)));
        }
    }

    #[test]
    fn what_is_cut_off_is_no_place() {
        let bytes = PLACE.bytes(0);
        let name_ends = FILE + PLACE.file.len() + 1;
        for len in 0..=name_ends {
            assert_eq!(Place::read(&bytes[..len]), None, "{len} bytes");
        }
        assert_eq!(Place::read(b"no mark"), None);
    }

    #[test]
    fn lists_of_a_text_are_read() {
        let other = Place { template: None, line: 8, ..PLACE };
        let list = |places: &[(u32, Place<'_>)]| {
            let bytes = places.iter().flat_map(|(number, place)| {
                let mut bytes = place.bytes(*number);
                bytes.resize(bytes.len().next_multiple_of(8), 0);
                bytes
            });
            let words: Vec<String> =
                bytes.collect::<Vec<u8>>().chunks(8).map(|eight| word(eight.try_into().unwrap())).collect();
            alloc::format!(".global .align 8 .b64 places[{}] = {{{}}};\n", words.len(), words.join(", "))
        };
        let text = list(&[(1, PLACE), (2, other)]) + "ret;\n" + &list(&[(3, PLACE)]) + &word(MARK);
        let lists: Vec<Vec<u8>> = lists(&text).collect();
        let read: Vec<Vec<(u32, Place<'_>)>> =
            lists.iter().map(|list| all(list).map(|(_, number, place)| (number, place)).collect()).collect();
        assert_eq!(read, [[(1, PLACE), (2, other)].to_vec(), [(3, PLACE)].to_vec()]);
    }
}
