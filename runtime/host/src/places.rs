//! Finds the places that can panic in device code: `ptx_abi::place`.

use std::borrow::Cow;
use std::collections::HashMap;

use memchr::memmem;
use ptx_abi::place::{MARK, Place};

use crate::image::Code;

/// The bytes of the places of all code that was loaded, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Places(HashMap<u64, Box<[u8]>>);

impl Places {
    /// Adds those of a code. In a cubin they stand as they are, in PTX as lists of numbers.
    pub fn add(&mut self, code: &Code<'_>) {
        match code {
            Code::Cubin(bytes) => {
                for start in memmem::find_iter(bytes, &MARK) {
                    self.add_one(Cow::Borrowed(&bytes[start..]));
                }
            }
            Code::Ptx(text) => {
                let mark = MARK.map(|byte| byte.to_string()).join(", ");
                for start in memmem::find_iter(text.as_bytes(), &mark) {
                    let list = text[start..].split('}').next().unwrap_or_default();
                    // What is no number ends it. Zeros at the end are left out.
                    let bytes = list.split(',').map_while(|number| number.trim().parse().ok());
                    self.add_one(Cow::Owned(bytes.chain([0; 2]).collect()));
                }
            }
        }
    }

    fn add_one(&mut self, bytes: Cow<'_, [u8]>) {
        let Some((number, place)) = Place::read(&bytes) else { return };
        // A place of the same number is the same.
        self.0.entry(number).or_insert_with(|| bytes[..bytes.len().min(place.size())].into());
    }

    /// The place with this number.
    pub fn find(&self, number: u64) -> Option<Place<'_>> {
        Some(Place::read(self.0.get(&number)?)?.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place<'_> =
        Place { file: b"src/lib.rs", line: 7, column: 9, text_word: 0, template: Some("größer".as_bytes()) };

    fn bytes(place: Place<'_>, number: u64) -> Vec<u8> {
        place.bytes(|_| number)
    }

    #[test]
    fn places_are_found_in_machine_code() {
        let other = Place { template: None, line: 8, ..PLACE };
        let cubin = [b"\x7fELF", &bytes(PLACE, 1)[..], &[0; 5], &bytes(other, 2), b"\xF7pl", &MARK].concat();
        let mut places = Places::default();
        places.add(&Code::Cubin(&cubin));
        assert_eq!((places.find(1), places.find(2), places.find(3)), (Some(PLACE), Some(other), None));
        assert_eq!(places.0.len(), 2);
        // No more is kept than a place is.
        assert_eq!((&*places.0[&1], &*places.0[&2]), (&*bytes(PLACE, 1), &*bytes(other, 2)));
    }

    #[test]
    fn places_are_found_in_ptx() {
        let list = |bytes: &[u8]| {
            let end = bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1;
            bytes[..end].iter().map(u8::to_string).collect::<Vec<_>>().join(", ")
        };
        let text = format!(
            ".global .align 8 .b8 a[60] = {{{}}};\n.global .align 8 .b8 b[60] = {{{}}};\n.global .b8 c[8] = {{{}, x}};\n",
            list(&bytes(PLACE, 1)),
            list(&bytes(Place { template: None, ..PLACE }, 2)),
            list(&MARK),
        );
        let mut places = Places::default();
        places.add(&Code::Ptx(&text));
        assert_eq!(places.find(1), Some(PLACE));
        assert_eq!(places.find(2), Some(Place { template: None, ..PLACE }));
        assert_eq!(places.0.len(), 2);
        places.add(&Code::Ptx("no code"));
        places.add(&Code::Cubin(b""));
        assert_eq!(places.0.len(), 2);
    }
}
