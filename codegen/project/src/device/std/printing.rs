//! Where the text of `print!` and its kin goes.

use core::fmt::Arguments;

/// Bytes that one call prints; `ptx::print!` takes at most 1,024.
const PIECE: usize = 1000;

/// Prints a text of any length.
pub fn print(arguments: Arguments<'_>) {
    let text = alloc_crate::fmt::format(arguments);
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (piece, more) = rest.split_at(rest.floor_char_boundary(PIECE));
        ptx::print!("{piece}");
        rest = more;
    }
}
