//! Finds the places that can panic in device code: `ptx_abi::place`.

use std::collections::HashMap;

use memchr::memmem;
use ptx_abi::place::{self, MARK, Place};

use crate::image::Code;

/// The bytes of the places of all code that was loaded, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Places(HashMap<u32, Vec<Box<[u8]>>>);

impl Places {
    /// Adds those of a code. In a cubin they stand as they are, in PTX as lists of numbers.
    pub fn add(&mut self, code: &Code<'_>) {
        match code {
            Code::Cubin(bytes) => self.add_all(bytes),
            Code::Ptx(text) => place::lists(text).for_each(|list| self.add_all(&list)),
        }
    }

    fn add_all(&mut self, bytes: &[u8]) {
        for start in memmem::find_iter(bytes, &MARK) {
            let bytes = &bytes[start..];
            let Some((number, place)) = Place::read(bytes) else { continue };
            let own = &bytes[..bytes.len().min(place.size())];
            let known = self.0.entry(number).or_default();
            if known.iter().all(|known| **known != *own) {
                known.push(own.into());
            }
        }
    }

    /// The places with this number: one, unless modules were linked, or loaded, that were compiled apart, and chance would
    /// have it.
    pub fn find(&self, number: u32) -> impl Iterator<Item = Place<'_>> {
        let places = self.0.get(&number).into_iter().flatten();
        places.filter_map(|bytes| Place::read(bytes).map(|(_, place)| place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place<'_> =
        Place { file: b"src/lib.rs", line: 7, column: 9, beside: 1, template: Some("größer".as_bytes()) };

    fn bytes(place: Place<'_>, number: u32) -> Vec<u8> {
        place.bytes(number)
    }

    fn found(places: &Places, number: u32) -> Vec<Place<'_>> {
        places.find(number).collect()
    }

    #[test]
    fn places_are_found_in_machine_code() {
        let other = Place { template: None, line: 8, ..PLACE };
        let cubin = [b"\x7fELF", &bytes(PLACE, 1)[..], &[0; 5], &bytes(other, 2), b"\xF7pl", &MARK].concat();
        let mut places = Places::default();
        places.add(&Code::Cubin(&cubin));
        assert_eq!([1, 2, 3].map(|number| found(&places, number)), [vec![PLACE], vec![other], vec![]]);
        assert_eq!(places.0.len(), 2);
        // No more is kept than a place is.
        assert_eq!((&*places.0[&1][0], &*places.0[&2][0]), (&*bytes(PLACE, 1), &*bytes(other, 2)));
        // The same code again, and another place that has the number.
        places.add(&Code::Cubin(&cubin));
        places.add(&Code::Cubin(&bytes(other, 1)));
        assert_eq!(found(&places, 1), [PLACE, other]);
    }

    #[test]
    fn places_are_found_in_ptx() {
        let list = |number: u32| {
            let mut bytes = bytes(PLACE, number);
            bytes.resize(bytes.len().next_multiple_of(8), 0);
            let words = bytes.as_chunks::<8>().0.iter().map(|eight| place::word(*eight));
            words.collect::<Vec<_>>().join(", ")
        };
        let text = format!(
            ".global .align 8 .b64 a[14] = {{{}, {}}};\n.global .align 8 .b64 b[7] = {{{}}};\n.global .b64 c = {};\n",
            list(1),
            list(2),
            list(3),
            place::word(MARK),
        );
        let mut places = Places::default();
        places.add(&Code::Ptx(&text));
        assert_eq!([1, 2, 3].map(|number| found(&places, number)), [[PLACE]; 3]);
        places.add(&Code::Ptx("no code"));
        places.add(&Code::Cubin(b""));
        assert_eq!(places.0.len(), 3);
    }
}
