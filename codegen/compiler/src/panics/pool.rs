//! One static for all places of a text, in numbers of 64 bits.
//!
//! ```text
//! before: .global .align 8 .b8 __rust_ptx_place_1c[30] = {247, 112, 108, …};
//!         .global .align 8 .b8 __rust_ptx_place_7a[42] = {247, 112, 108, …};
//!         mov.b64 %rd4, __rust_ptx_place_7a;
//! after:  .global .align 8 .b64 __rust_ptx_places[10] = {0xfa656361f86c70f7, …};
//!         mov.b64 %rd4, __rust_ptx_places+32;
//! ```
//!
//! ptxas has work with each static for each kernel, and with each number of a list: for the benchmark's 80 kernels, which have
//! 138 places, it executes 1.3 % fewer instructions. Where a text is cut or joined, each kernel still names its own places.

use std::borrow::Cow;
use std::collections::HashMap;

use ptx_abi::place::{self, MARK, STATIC};

use crate::ptx_text::{self, Kind};

/// How the name of what is renamed begins: a place's own, and what `groups` calls the constants of a part.
const BEGIN: &str = "__rust_ptx_";

/// The text with one static.
pub fn pool(ptx: &str) -> Cow<'_, str> {
    let mark = format!(" = {{{}, ", MARK.map(|byte| byte.to_string()).join(", "));
    if !ptx.contains(&mark) {
        return Cow::Borrowed(ptx);
    }
    let (mut bytes, mut offsets): (Vec<u8>, HashMap<&str, usize>) = (Vec::new(), HashMap::new());
    for line in ptx_text::lines(ptx) {
        if let Some((name, place)) = listed(&line, &mark) {
            offsets.insert(name, bytes.len());
            bytes.extend(place);
        }
    }
    let (mut text, mut is_written) = (String::with_capacity(ptx.len()), false);
    for line in ptx_text::lines(ptx) {
        if listed(&line, &mark).is_none() {
            text += &renamed(&ptx[line.range], &offsets);
        } else if !is_written {
            is_written = true;
            text += &list(&bytes);
        }
    }
    Cow::Owned(text)
}

/// The name of a place and its bytes, up to a multiple of eight.
fn listed<'a>(line: &ptx_text::Line<'a>, mark: &str) -> Option<(&'a str, Vec<u8>)> {
    if line.kind != Kind::Statement || !line.text.starts_with(".global ") {
        return None;
    }
    let at = line.text.find(mark)?;
    let (declared, values) = (&line.text[..at], &line.text[at + " = {".len()..]);
    let (name, size) = declared.rsplit(' ').next()?.strip_suffix(']')?.split_once('[')?;
    let mut bytes: Vec<u8> =
        values.split('}').next()?.split(',').map(|value| value.trim().parse().ok()).collect::<Option<_>>()?;
    // Zeros at the end are left out.
    bytes.resize(size.parse::<usize>().ok()?.next_multiple_of(8), 0);
    Some((name, bytes))
}

fn list(bytes: &[u8]) -> String {
    let (words, _) = bytes.as_chunks::<8>();
    let numbers: Vec<String> = words.iter().map(|word| place::word(*word)).collect();
    format!(".global .align 8 .b64 {STATIC}[{}] = {{{}}};\n", words.len(), numbers.join(", "))
}

/// The line with what its names are now.
fn renamed<'a>(line: &'a str, offsets: &HashMap<&str, usize>) -> Cow<'a, str> {
    if !line.contains(BEGIN) {
        return Cow::Borrowed(line);
    }
    let mut text = String::new();
    let mut end = 0;
    for word in ptx_text::words(line) {
        if let Some(offset) = offsets.get(word) {
            // The word is a part of the line.
            let start = word.as_ptr().addr() - line.as_ptr().addr();
            text += &format!("{}{STATIC}+{offset}", &line[end..start]);
            end = start + word.len();
        }
    }
    Cow::Owned(text + &line[end..])
}

#[cfg(test)]
mod tests {
    use ptx_abi::place::Place;

    use super::*;

    const PLACE: Place<'_> = Place { file: b"src/lib.rs", line: 7, column: 9, beside: 1, template: None };

    fn of_one(name: &str, bytes: &[u8]) -> String {
        let end = bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1;
        let list = bytes[..end].iter().map(u8::to_string).collect::<Vec<_>>().join(", ");
        format!(".global .align 8 .b8 {name}[{}] = {{{list}}};\n", bytes.len())
    }

    #[test]
    fn places_are_one_static() {
        let places = [(1, PLACE), (2, Place { template: Some(b"no \xFFu"), ..PLACE })];
        let [one, two] = places.map(|(number, place)| place.bytes(number));
        let code = "// .globl k\n.visible .entry k()\n{\n\tmov.b64 \t%rd1, __rust_ptx_constant4;\n\tret;\n}\n";
        let text = format!(
            ".version 7.8\n{}.global .align 1 .b8 other[2] = {{247, 112}};\n{}{code}",
            of_one("__rust_ptx_place_1", &one),
            of_one("__rust_ptx_constant4", &two),
        );
        let pooled = pool(&text);
        let lists: Vec<Vec<u8>> = place::lists(&pooled).collect();
        let [list] = &lists[..] else { panic!("{pooled}") };
        let second = one.len().next_multiple_of(8);
        let expected = [(0, places[0].0, places[0].1), (second, places[1].0, places[1].1)];
        assert_eq!(place::all(list).collect::<Vec<_>>(), expected);
        assert!(list[second..].starts_with(&two));
        let code = code.replace("__rust_ptx_constant4", &format!("__rust_ptx_places+{second}"));
        assert!(pooled.ends_with(&code), "{pooled}");
        assert_eq!(pooled.lines().count(), text.lines().count() - 1);
        assert_eq!(pool(&pooled), pooled);
    }

    #[test]
    fn a_text_without_places_stays() {
        assert!(matches!(pool(".global .b8 a[9] = {247, 112, 1};\n"), Cow::Borrowed(_)));
    }
}
