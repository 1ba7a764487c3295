//! What stands in the parentheses of `println!`.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Expr, LitStr, Path, Token};

/// `path, sink, newline; "format", arguments…`, of which the macros in the crate `ptx` write what stands before the
/// semicolon.
pub struct Input {
    /// The crate `ptx`.
    pub krate: Path,
    /// The function that takes format and values.
    pub sink: Path,
    /// Whether a line ends here.
    pub newline: bool,
    /// As the user wrote it, for `format_args!`.
    pub tokens: TokenStream,
    /// The format, and the arguments.
    pub call: Option<Call>,
}

/// What is printed.
pub struct Call {
    /// The format string.
    pub format: LitStr,
    /// The arguments in order, those with names last.
    pub arguments: Vec<(Option<Ident>, Expr)>,
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let krate = input.parse()?;
        input.parse::<Token![,]>()?;
        let sink = input.parse()?;
        input.parse::<Token![,]>()?;
        let newline = input.parse::<syn::LitBool>()?.value;
        input.parse::<Token![;]>()?;
        let tokens: TokenStream = input.parse()?;
        let call = if tokens.is_empty() {
            Some(Call { format: LitStr::new("", proc_macro2::Span::call_site()), arguments: vec![] })
        } else {
            syn::parse2(tokens.clone()).ok()
        };
        Ok(Self { krate, sink, newline, tokens, call })
    }
}

impl Parse for Call {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let format = input.parse()?;
        let mut arguments: Vec<(Option<Ident>, Expr)> = Vec::new();
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let named = input.peek(Ident::peek_any) && input.peek2(Token![=]) && !input.peek2(Token![==]);
            let name = if named {
                let name = input.call(Ident::parse_any)?;
                input.parse::<Token![=]>()?;
                Some(name)
            } else {
                None
            };
            // rustc says what is wrong with these.
            let after_named = name.is_none() && arguments.last().is_some_and(|(name, _)| name.is_some());
            let twice = name.is_some() && arguments.iter().any(|(other, _)| *other == name);
            if after_named || twice {
                return Err(input.error("arguments in a wrong order"));
            }
            arguments.push((name, input.parse()?));
        }
        Ok(Self { format, arguments })
    }
}

/// Whether the format is a macro call, as `concat!(…)`, which `format_args!` expands and this macro cannot.
pub fn format_is_a_macro(tokens: &TokenStream) -> bool {
    let mut tokens = tokens.clone().into_iter();
    let Some(TokenTree::Ident(_)) = tokens.next() else { return false };
    tokens
        .find(|token| !matches!(token, TokenTree::Ident(_)) && token.to_string() != ":")
        .is_some_and(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '!'))
}

/// The arguments by rustc's own macro, which says what is wrong with them.
pub fn checked_by_rustc(tokens: &TokenStream) -> TokenStream {
    quote!({
        let _ = ::core::format_args!(#tokens);
    })
}
