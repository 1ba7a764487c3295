//! `ptx::asm!`: inline PTX as a call of a function whose name has the text, which the compiler gives its body.
//!
//! Before: `asm!("add.s32 {0}, {1}, {2};", out(i32) sum, in(i32) a, in(i32) b)`. After, on the device: a call of
//! `fn __ptx_asm:v:=r:r,r:add.s32 $0, $1, $2;(a: i32, b: i32, sum: *mut i32)`. On the host it panics.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Expr, Ident, LitStr, Path, Token, Type, parenthesized};

use crate::print::parse::{Argument, Piece, parse};

/// What the names of all such functions begin with (`ptx_codegen::intrinsics::assembly`).
const BEGIN: &str = "__ptx_asm";

/// The options of Rust's own `asm!` that have a meaning in PTX.
const OPTIONS: [&str; 5] = ["pure", "nomem", "readonly", "preserves_flags", "nostack"];

struct Input {
    krate: Path,
    templates: Vec<LitStr>,
    operands: Vec<Operand>,
    options: Vec<Ident>,
}

struct Operand {
    name: Option<Ident>,
    ty: Type,
    /// What goes in.
    value: Option<Expr>,
    /// Where the result goes: `None` for `_`.
    place: Option<Option<Expr>>,
    span: Span,
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let krate = input.parse()?;
        input.parse::<Token![;]>()?;
        let mut parsed = Self { krate, templates: vec![], operands: vec![], options: vec![] };
        while !input.is_empty() {
            if input.peek(LitStr) && parsed.operands.is_empty() && parsed.options.is_empty() {
                parsed.templates.push(input.parse()?);
            } else if input.peek(Ident::peek_any) && input.fork().call(Ident::parse_any)? == "options" {
                input.call(Ident::parse_any)?;
                let content;
                parenthesized!(content in input);
                let options = Punctuated::<Ident, Token![,]>::parse_terminated_with(&content, Ident::parse_any)?;
                parsed.options.extend(options);
            } else if parsed.templates.is_empty() {
                return Err(input.error("the text comes first: a string literal, as `\"add.s32 {0}, {1}, {2};\"`"));
            } else {
                parsed.operands.push(input.parse()?);
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        if parsed.templates.is_empty() {
            return Err(syn::Error::new(Span::call_site(), "there is no text: a string literal, as `\"membar.gl;\"`"));
        }
        Ok(parsed)
    }
}

impl Parse for Operand {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let is_named = input.peek(Ident::peek_any) && input.peek2(Token![=]);
        let name = if is_named {
            let name = input.call(Ident::parse_any)?;
            input.parse::<Token![=]>()?;
            Some(name)
        } else {
            None
        };
        let direction = input.call(Ident::parse_any)?;
        let span = direction.span();
        let content;
        if direction != "in" && direction != "out" && direction != "inout" {
            return Err(syn::Error::new(
                span,
                "an operand is `in(TYPE) value`, `out(TYPE) place` or `inout(TYPE) place`",
            ));
        }
        parenthesized!(content in input);
        let ty = content.parse()?;
        let (mut value, mut place) = (None, None);
        if direction == "out" {
            place = Some(place_or_nothing(input)?);
        } else {
            value = Some(input.parse::<Expr>()?);
        }
        if direction == "inout" {
            place = Some(if input.parse::<Option<Token![=>]>>()?.is_some() {
                place_or_nothing(input)?
            } else {
                value.clone()
            });
        }
        Ok(Self { name, ty, value, place, span })
    }
}

/// An expression, or `_`.
fn place_or_nothing(input: ParseStream<'_>) -> syn::Result<Option<Expr>> {
    if input.parse::<Option<Token![_]>>()?.is_some() { Ok(None) } else { input.parse().map(Some) }
}

impl Operand {
    /// The class of registers for the type, as inline PTX names it.
    fn class(&self) -> syn::Result<char> {
        let name = match &self.ty {
            Type::Ptr(_) => return Ok('l'),
            Type::Path(path) => path.path.get_ident().map(ToString::to_string).unwrap_or_default(),
            _ => String::new(),
        };
        match name.as_str() {
            "i16" | "u16" => Ok('h'),
            "i32" | "u32" => Ok('r'),
            "i64" | "u64" | "isize" | "usize" => Ok('l'),
            "f32" => Ok('f'),
            "f64" => Ok('d'),
            _ => Err(syn::Error::new_spanned(
                &self.ty,
                "an operand's type is an integer of 16, 32 or 64 bits, `f32`, `f64` or a raw pointer, by its own name",
            )),
        }
    }
}

/// The macro's expansion.
pub fn expand(input: TokenStream) -> syn::Result<TokenStream> {
    let Input { krate, templates, operands, options } = syn::parse2(input)?;
    let has = |name: &str| options.iter().any(|option| option == name);
    for option in &options {
        if !OPTIONS.iter().any(|known| option == known) {
            return Err(syn::Error::new_spanned(option, format!("the options are `{}`", OPTIONS.join("`, `"))));
        }
        if option == "pure" && !(has("nomem") || has("readonly")) {
            return Err(syn::Error::new_spanned(option, "`pure` goes with `nomem` or with `readonly`"));
        }
        if option == "pure" && operands.iter().all(|operand| operand.place.is_none()) {
            return Err(syn::Error::new_spanned(option, "what is `pure` has a result: `out(TYPE) place`"));
        }
    }
    // Only what reads no memory either may be moved past writes.
    let kind = if has("pure") && has("nomem") { 'p' } else { 'v' };

    // LLVM numbers results first, then what goes in.
    let results: Vec<usize> = (0..operands.len()).filter(|at| operands[*at].place.is_some()).collect();
    let inputs: Vec<usize> = (0..operands.len()).filter(|at| operands[*at].value.is_some()).collect();
    let number = |at: usize| {
        let result = results.iter().position(|result| *result == at);
        result.unwrap_or_else(|| results.len() + inputs.iter().position(|input| *input == at).unwrap_or_default())
    };
    let classes = operands.iter().map(Operand::class).collect::<syn::Result<Vec<char>>>()?;
    let outputs: Vec<String> = results.iter().map(|at| format!("={}", classes[*at])).collect();
    let constraints: Vec<String> = inputs
        .iter()
        .map(|at| {
            results.iter().position(|result| result == at).map_or(classes[*at].to_string(), |tied| tied.to_string())
        })
        .collect();
    let text = text(&templates, &operands, number)?;
    let symbol = format!("{BEGIN}:{kind}:{}:{}:{text}", outputs.join(","), constraints.join(","));

    let here = Span::call_site();
    let input_names: Vec<Ident> = inputs.iter().map(|at| format_ident!("__ptx_in{at}", span = here)).collect();
    let result_names: Vec<Ident> = results.iter().map(|at| format_ident!("__ptx_out{at}", span = here)).collect();
    let values: Vec<_> = inputs.iter().map(|at| &operands[*at].value).collect();
    let input_types: Vec<_> = inputs.iter().map(|at| &operands[*at].ty).collect();
    let result_types: Vec<_> = results.iter().map(|at| &operands[*at].ty).collect();
    let assignments = results.iter().zip(&result_names).map(|(at, name)| match operands[*at].place.as_ref() {
        Some(Some(place)) => quote_spanned!(place.span()=> #place = #name;),
        _ => quote!(let _ = #name;),
    });
    let assignments: Vec<_> = assignments.collect();
    Ok(quote!({
        #[cfg(target_arch = "nvptx64")]
        {
            unsafe extern "C" {
                #[link_name = #symbol]
                fn __ptx_assembly(#(_: #input_types,)* #(_: *mut #result_types),*);
            }
            let (#(#input_names,)*): (#(#input_types,)*) = (#(#values,)*);
            #(let mut #result_names = ::core::mem::MaybeUninit::<#result_types>::uninit();)*
            __ptx_assembly(#(#input_names,)* #(#result_names.as_mut_ptr()),*);
            #(let #result_names = #result_names.assume_init();)*
            #(#assignments)*
        }
        #[cfg(not(target_arch = "nvptx64"))]
        {
            let _: (#(#input_types,)*) = (#(#values,)*);
            let (#(#result_names,)*) = #krate::__private::assembly_on_host::<(#(#result_types,)*)>();
            #(#assignments)*
        }
    }))
}

/// The text as LLVM takes it: `$0` for operands, and `$$` for a dollar sign.
fn text(templates: &[LitStr], operands: &[Operand], number: impl Fn(usize) -> usize) -> syn::Result<String> {
    let wrong = |message: String| syn::Error::new(templates[0].span(), message);
    let joined = templates.iter().map(LitStr::value).collect::<Vec<_>>().join("\n\t");
    let pieces = parse(&joined)
        .ok_or_else(|| wrong("braces hold an operand, as `{0}` or `{name}`; PTX's own are `{{` and `}}`".into()))?;
    let mut used = vec![false; operands.len()];
    let mut text = String::new();
    for piece in pieces {
        let placeholder = match piece {
            Piece::Text(piece) => {
                text += &piece.replace('$', "$$");
                continue;
            }
            Piece::Placeholder(placeholder) => placeholder,
        };
        let at = match &placeholder.argument {
            Argument::Index(index) => *index,
            Argument::Name(name) => {
                let named = operands.iter().position(|operand| operand.name.as_ref().is_some_and(|n| n == name));
                named.ok_or_else(|| wrong(format!("there is no operand `{name}`")))?
            }
        };
        if at >= operands.len() {
            return Err(wrong(format!("there is no operand {at}: there are {}", operands.len())));
        }
        if !placeholder.spec.letter.is_empty() {
            return Err(wrong("an operand in PTX has no modifiers".into()));
        }
        used[at] = true;
        text += &format!("${}", number(at));
    }
    match operands.iter().zip(used).find(|(_, used)| !used) {
        Some((unused, _)) => Err(syn::Error::new(unused.span, "the text does not name this operand")),
        None => Ok(text),
    }
}
