//! Sequences: dynamic programming, search in text, prefix codes.

use ptx::prelude::*;

/// Length of the strings of [`common_subsequence`].
pub const LENGTH: usize = 32;

/// The length of the longest common subsequence, a pair of strings a thread.
#[kernel]
pub fn common_subsequence(a: &[[u8; LENGTH]], b: &[[u8; LENGTH]], mut lengths: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(length) = lengths.get_mut(i) {
        let mut row = [0_u8; LENGTH + 1];
        for x in a[i.get()] {
            let mut diagonal = 0;
            for (k, y) in b[i.get()].iter().enumerate() {
                let above = row[k + 1];
                row[k + 1] = if x == *y { diagonal + 1 } else { above.max(row[k]) };
                diagonal = above;
            }
        }
        *length = u32::from(row[LENGTH]);
    }
}

/// One diagonal of the table of edit distances between two strings, a row a thread.
///
/// `previous` and `before` are the diagonals that come one and two before it.
#[kernel]
pub fn edit_distance(
    a: &[u8],
    b: &[u8],
    diagonal: usize,
    previous: &[u32],
    before: &[u32],
    mut distances: DisjointSlice<u32>,
) {
    let row = thread::index_1d();
    if let Some(distance) = distances.get_mut(row) {
        let row = row.get();
        let Some(column) = diagonal.checked_sub(row) else { return };
        *distance = if row == 0 || column == 0 {
            diagonal as u32
        } else {
            let replaced = before[row - 1] + u32::from(a[row - 1] != b[column - 1]);
            replaced.min(previous[row - 1] + 1).min(previous[row] + 1)
        };
    }
}

/// Where a pattern begins in a text.
#[kernel]
pub fn string_search(text: &[u8], pattern: &[u8], mut found: DisjointSlice<u8>) {
    let i = thread::index_1d();
    if let Some(found) = found.get_mut(i) {
        *found = u8::from(text[i.get()..].starts_with(pattern));
    }
}

/// Symbols that each thread of [`prefix_decode`] decodes.
pub const SYMBOLS: usize = 32;

/// Decodes a prefix code whose words have at most eight bits. `table` has for each byte the symbol whose code begins it,
/// and above that the code's length; `offsets` says where in the stream each thread begins.
#[kernel]
pub fn prefix_decode(stream: &[u32], table: &[u16], offsets: &[u32], mut symbols: DisjointSlice<[u8; SYMBOLS]>) {
    let i = thread::index_1d();
    if let Some(symbols) = symbols.get_mut(i) {
        let mut position = offsets[i.get()] as usize;
        for symbol in symbols {
            let word = u64::from(stream[position / 32]) | u64::from(stream[position / 32 + 1]) << 32;
            let entry = table[(word >> (position % 32)) as usize & 0xff];
            *symbol = entry as u8;
            position += usize::from(entry >> 8);
        }
    }
}
