//! Where a function may panic, and what it says then, as the constants of its PTX have it.
//!
//! ```text
//! .global .align 1 .b8 file[11] = {115, 114, 99, 47, 108, 105, 98, 46, 114, 115};
//! .global .align 8 .u64 location[3] = {generic(file), 10, 81604378636};                  // length; column, line
//! .global .align 8 .b64 __rust_ptx_places[118] = {0xfa656361f86c70f7, …};                // `ptx_abi::place`
//! mov.b64 %rd4, __rust_ptx_places+240;                                                  // one of them
//! ```

use std::collections::{BTreeSet, HashMap};

use ptx_abi::panic::OPERAND;
use ptx_abi::place::{self, Place, STATIC};
use serde::Serialize;

/// A place that may panic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Panic {
    /// As rustc names it: `src/lib.rs`.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
    /// With `…` for values; none where the device makes it.
    pub message: Option<String>,
}

/// The constants of a PTX file.
#[derive(Debug)]
pub struct Constants<'a> {
    by_name: HashMap<&'a str, Vec<&'a str>>,
    /// All places, one behind the other.
    places: Vec<u8>,
}

impl<'a> Constants<'a> {
    /// Those with values.
    pub fn of(ptx: &'a str) -> Self {
        let constants = ptx.lines().filter(|line| line.contains(".global ")).filter_map(|line| {
            let (declared, values) = line.split_once(" = {")?;
            let name = declared.rsplit(' ').next()?.split('[').next()?;
            let values = values.trim_end_matches(';').trim_end_matches('}');
            Some((name, values.split(',').map(str::trim).collect()))
        });
        Self { by_name: constants.collect(), places: place::lists(ptx).next().unwrap_or_default() }
    }

    /// Of a function with this text, in order of places.
    pub fn panics(&self, function: &str) -> Vec<Panic> {
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '+');
        let words: BTreeSet<&str> = function.split(|c| !is_of_name(c)).collect();
        let panics: BTreeSet<Panic> =
            words.into_iter().filter_map(|word| self.at_location(word).or_else(|| self.at_place(word))).collect();
        panics.into_iter().collect()
    }

    /// At the `core::panic::Location` of this name.
    fn at_location(&self, name: &str) -> Option<Panic> {
        let [file, len, place] = self.by_name.get(name)?[..] else { return None };
        let (len, place): (usize, u64) = (len.parse().ok()?, place.parse().ok()?);
        let bytes = self.bytes(target(file)?)?;
        let file = String::from_utf8(bytes.get(..len)?.to_vec()).ok()?;
        // It has the line before the column.
        let (line, column) = (place as u32, (place >> 32) as u32);
        (line > 0 && column > 0).then_some(Panic { file, line, column, message: None })
    }

    /// At the place so far behind the first.
    fn at_place(&self, word: &str) -> Option<Panic> {
        let (_, offset) = word.split_once('+').filter(|(name, _)| *name == STATIC)?;
        let (_, Place { file, line, column, template, .. }) = Place::read(self.places.get(offset.parse().ok()?..)?)?;
        let (file, message) = (String::from_utf8_lossy(file).into_owned(), template.map(shown));
        (line > 0).then_some(Panic { file, line, column, message })
    }

    fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        self.by_name.get(name)?.iter().map(|value| value.parse().ok()).collect()
    }
}

/// `name` of `generic(name)`.
fn target(value: &str) -> Option<&str> {
    value.strip_prefix("generic(")?.strip_suffix(')')
}

/// The compiler writes each operand as a byte that is none of UTF-8 and a letter for its kind.
fn shown(template: &[u8]) -> String {
    let mut text = Vec::new();
    let mut bytes = template.iter();
    while let Some(byte) = bytes.next() {
        if *byte == OPERAND {
            bytes.next();
            text.extend("…".as_bytes());
        } else {
            text.push(*byte);
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_names_its_places() {
        let known = Place { file: b"src/lib.rs", line: 12, column: 19, beside: 0, template: Some(b"is \xffu") };
        let mut places = known.bytes(7);
        places.resize(places.len().next_multiple_of(8), 0);
        let first = places.len();
        places.extend(Place { line: 13, ..known }.bytes(8));
        places.resize(places.len().next_multiple_of(8), 0);
        let words: Vec<String> = places.as_chunks::<8>().0.iter().map(|eight| place::word(*eight)).collect();
        let ptx = format!(
            ".global .align 1 .b8 f_$_0[11] = {{115, 114, 99, 47, 108, 105, 98, 46, 114, 115}};\n\
             .global .align 8 .u64 f_$_1[3] = {{generic(f_$_0), 10, 81604378636}};\n\
             .global .align 8 .b64 {STATIC}[{}] = {{{}}};\n\
             .global .align 8 .u64 vtable[3] = {{generic(drop), 8, 8}};\n",
            words.len(),
            words.join(", "),
        );
        let constants = Constants::of(&ptx);
        let place = Panic { file: "src/lib.rs".into(), line: 12, column: 19, message: None };
        let said = Panic { message: Some("is …".into()), ..place.clone() };
        assert_eq!(constants.panics("mov.b64 %rd1, f_$_1;\nmov.b64 %rd2, vtable;"), [place]);
        assert_eq!(constants.panics(&format!("mov.b64 \t%rd12, {STATIC}+0;\n")), std::slice::from_ref(&said));
        assert_eq!(constants.panics(&format!("mov.b64 %rd1, {STATIC}+{first};")), [Panic { line: 13, ..said }]);
        assert!(constants.panics("ret;").is_empty());
    }
}
