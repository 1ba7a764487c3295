//! Mutations of bytes and of text, each by a seed.

use std::ops::Range;

use fastrand::Rng;

/// What parsers of numbers and names stumble over.
const ODD: [&str; 14] = [
    "",
    "0",
    "-1",
    "4294967296",
    "99999999999999999999",
    "1e400",
    "\"",
    "[",
    "{",
    "\\",
    "\u{fffd}",
    "\u{202e}",
    "//",
    ".",
];

/// One to three mutations; `other` is what parts of are spliced in.
pub fn bytes(rng: &mut Rng, seed: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..rng.usize(1..=3) {
        if bytes.is_empty() {
            break;
        }
        byte_mutation(rng, &mut bytes, other);
    }
    bytes
}

/// Makes one bit another.
pub fn flip(rng: &mut Rng, bytes: &mut [u8]) {
    let at = rng.usize(0..bytes.len());
    bytes[at] ^= 1 << rng.u8(0..8);
}

fn byte_mutation(rng: &mut Rng, bytes: &mut Vec<u8>, other: &[u8]) {
    // Files are read in words: what does not keep to them is refused at the first look, mostly.
    let unit = if rng.u8(0..8) > 0 { 4 } else { 1 };
    let at = rng.usize(0..bytes.len()) / unit * unit;
    match rng.u8(0..12) {
        0..=4 => {
            for _ in 0..rng.usize(1..=8) {
                flip(rng, bytes);
            }
        }
        5 | 6 => {
            // Lengths and offsets among them.
            let any = rng.u32(..);
            let value = rng.choice([0, 1, 2, 0x7fff_ffff, u32::MAX, 0xffff, any, bytes.len() as u32]);
            let end = bytes.len().min(at + 4);
            bytes[at..end].copy_from_slice(&value.expect("there are some").to_le_bytes()[..end - at]);
        }
        7 => bytes.truncate(at),
        8 => {
            let part = bytes[part(rng, bytes.len(), unit)].to_vec();
            bytes.splice(at..at, part);
        }
        9 => drop(bytes.drain(part(rng, bytes.len(), unit))),
        10 => {
            let (from, at) = (part(rng, other.len(), unit), part(rng, bytes.len(), unit));
            bytes.splice(at, other[from].iter().copied());
        }
        _ => {
            // From here on the other file.
            bytes.truncate(at);
            bytes.extend(other.get(at..).unwrap_or(other));
        }
    }
}

/// A part in whole units, mostly a small one.
fn part(rng: &mut Rng, length: usize, unit: usize) -> Range<usize> {
    let start = rng.usize(0..length.max(1)) / unit * unit;
    let most = if rng.u8(0..4) == 0 { length - start } else { (length - start).min(64) };
    start..start + rng.usize(0..=most) / unit * unit
}

/// One to three mutations of tokens or bytes.
pub fn text(rng: &mut Rng, seed: &str, other: &str) -> Vec<u8> {
    let mut tokens = tokens(seed);
    let others = self::tokens(other);
    for _ in 0..rng.usize(1..=3) {
        // Words, mostly: text without a bracket is refused at the first look.
        let is_word = |token: &Vec<u8>| token.iter().all(u8::is_ascii_alphanumeric);
        let wanted = rng.u8(0..4) > 0;
        let places: Vec<usize> = (0..tokens.len()).filter(|at| !wanted || is_word(&tokens[*at])).collect();
        let Some(at) = rng.choice(&places).copied() else { break };
        let token = tokens[at].clone();
        match rng.u8(0..8) {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(at, token),
            2 => {
                let with = rng.choice(&places).copied().unwrap_or(at);
                tokens.swap(at, with);
            }
            3 => tokens[at] = rng.choice(ODD).expect("there are some").as_bytes().to_vec(),
            4 | 5 => tokens[at] = rng.choice(&places).map(|at| tokens[*at].clone()).unwrap_or_default(),
            6 => tokens[at] = rng.choice(&others).cloned().unwrap_or_default(),
            _ => tokens[at] = bytes(rng, &token, other.as_bytes()),
        }
    }
    tokens.concat()
}

/// Words, and everything else one by one.
fn tokens(text: &str) -> Vec<Vec<u8>> {
    let mut tokens: Vec<String> = Vec::new();
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    for c in text.chars() {
        match tokens.last_mut() {
            Some(last) if in_word(c) && last.ends_with(in_word) => last.push(c),
            _ => tokens.push(c.into()),
        }
    }
    tokens.into_iter().map(String::into_bytes).collect()
}
