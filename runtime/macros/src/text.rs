//! Types as a person writes them: `quote` would print `& [f32]` and `DisjointSlice < f32 >`.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;

/// The source text of a type.
pub fn of(ty: &impl ToTokens) -> String {
    let mut text = String::new();
    write(ty.to_token_stream(), &mut text);
    text
}

fn write(tokens: TokenStream, text: &mut String) {
    for token in tokens {
        let piece = match &token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{ ", " }"),
                    Delimiter::None => ("", ""),
                };
                let mut inner = open.to_owned();
                write(group.stream(), &mut inner);
                inner + close
            }
            other => other.to_string(),
        };
        if wants_space(text, &piece) {
            text.push(' ');
        }
        text.push_str(&piece);
    }
}

/// Between words, after what separates, and around `+`, `=` and `->`.
fn wants_space(before: &str, piece: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let (Some(last), Some(first)) = (before.chars().next_back(), piece.chars().next()) else { return false };
    if matches!(last, ',' | ';' | '+' | '=') || before.ends_with("->") {
        return first != '>';
    }
    match first {
        '+' | '=' => true,
        '-' => !matches!(last, '<' | '('),
        '\'' | '&' | '*' | '(' | '[' | '{' => word(last) && matches!(first, '\'' | '{' | '&' | '*' | '['),
        _ => word(last) && word(first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_printed_as_they_are_written() {
        for text in [
            "f32",
            "&[f32]",
            "&'a mut [[f32; 16]]",
            "DisjointSlice<'_, [u8; 32]>",
            "*const T",
            "*mut core::ffi::c_void",
            "(u32, &'static str)",
            "Option<Vec<u8>>",
            "&dyn Fn(u32) -> u32",
            "Box<dyn Trait + 'a>",
            "[u8; N + 1]",
            "<T as Trait>::Item",
            "::ptx::Dim3",
        ] {
            let tokens: TokenStream = text.parse().unwrap();
            assert_eq!(of(&tokens), text);
        }
    }
}
