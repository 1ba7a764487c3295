//! The expansion of `println!`.
//!
//! `println!("{} is {:5.1}", name, x)` becomes
//! ```text
//! match (&(name), &(x),) { (a0, a1,) => {
//!     let arena = print::Arena::new();
//!     let l0 = print::Layout { … }; let p0 = (&print::Tag::new(class0, a0)).select().or(|out| write!(out, "{}", *a0));
//!     let l1 = …; let p1 = …;
//!     struct Values<A0, A1>(A0::Slot, A1::Slot);                 // repr(C): the valist
//!     impl Values { const FORMAT: &[u8; N] = &print::format(PIECES, &[A0::CONVERSION, A1::CONVERSION]); }
//!     fn send(…) { print::print(Values::FORMAT, &Values(p0.slot(…), p1.slot(…))) }
//!     send(&arena, (p0, p1), [&l0, &l1])
//! } }
//! ```
//! Types that print by printf themselves never call the closure with `write!`, so that it stays out of the program.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Path, parse_quote};

use super::class::{self, Class};
use super::input::{Call, Input, checked_by_rustc, format_is_a_macro};
use super::parse::{self, Argument, Count, Piece, Placeholder};

/// The most values that CUDA's printf takes (CUDA C++ Programming Guide, "Formatted Output").
const MAX_VALUES: usize = 32;

/// Of `path, sink, newline; "format", arguments…`.
pub fn expand(input: TokenStream) -> syn::Result<TokenStream> {
    let Input { krate, sink, newline, tokens, call } = syn::parse2(input)?;
    let Some(call) = call else {
        if format_is_a_macro(&tokens) {
            return Err(syn::Error::new_spanned(
                tokens.into_iter().next(),
                "the format string must be a string literal here: it is translated before macros in it are expanded",
            ));
        }
        return Ok(left_to_rustc(&tokens));
    };
    let Some(mut pieces) = parse::parse(&call.format.value()) else { return Ok(left_to_rustc(&tokens)) };
    if call.format.value().contains('\0') {
        return Err(syn::Error::new(call.format.span(), "the driver's printf ends at a NUL: print without `\\0`"));
    }
    if newline {
        match pieces.last_mut() {
            Some(Piece::Text(text)) => text.push('\n'),
            _ => pieces.push(Piece::Text("\n".into())),
        }
    }
    let Some(arguments) = Arguments::resolve(&call, &pieces) else { return Ok(left_to_rustc(&tokens)) };
    let values: usize = placeholders(&pieces).map(values_of).sum();
    if values > MAX_VALUES {
        return Err(syn::Error::new(
            call.format.span(),
            format!(
                "CUDA's printf takes {MAX_VALUES} values, widths that are arguments among them, and these are {values}: \
                 print less at once"
            ),
        ));
    }
    if pieces.is_empty() {
        return Ok(quote!({}));
    }
    Ok(Expansion { krate, sink, arguments, format_span: call.format.span() }.tokens(&pieces))
}

/// rustc says what is wrong. If it finds nothing, this macro knows less than rustc, and must not pass over that.
fn left_to_rustc(tokens: &TokenStream) -> TokenStream {
    let check = checked_by_rustc(tokens);
    quote!({
        #check
        const { ::core::panic!("`println!` of device code cannot translate this format string") }
    })
}

fn placeholders(pieces: &[Piece]) -> impl Iterator<Item = &Placeholder> {
    pieces.iter().filter_map(|piece| match piece {
        Piece::Text(_) => None,
        Piece::Placeholder(placeholder) => Some(placeholder),
    })
}

/// Values in the valist.
fn values_of(placeholder: &Placeholder) -> usize {
    1 + usize::from(matches!(placeholder.spec.width, Some(Count::Argument(_))))
}

/// The expressions that are evaluated, once each.
struct Arguments {
    expressions: Vec<Expr>,
    names: Vec<Option<String>>,
}

impl Arguments {
    /// Given ones and captured ones; none if one is missing or unused.
    fn resolve(call: &Call, pieces: &[Piece]) -> Option<Self> {
        let mut found = Self { expressions: vec![], names: vec![] };
        for (name, expression) in &call.arguments {
            found.names.push(name.as_ref().map(ToString::to_string));
            found.expressions.push(expression.clone());
        }
        let mut used = vec![false; found.names.len()];
        for placeholder in placeholders(pieces) {
            let counts = [&placeholder.spec.width, &placeholder.spec.precision];
            let counts = counts.into_iter().filter_map(|count| match count {
                Some(Count::Argument(argument)) => Some(argument),
                _ => None,
            });
            for argument in counts.chain([&placeholder.argument]) {
                match (found.index(argument), argument) {
                    (Some(index), _) => {
                        if let Some(used) = used.get_mut(index) {
                            *used = true;
                        }
                    }
                    (None, Argument::Name(name)) => {
                        found.expressions.push(captured(name, call.format.span())?);
                        found.names.push(Some(name.clone()));
                    }
                    (None, Argument::Index(_)) => return None,
                }
            }
        }
        used.iter().all(|&used| used).then_some(found)
    }

    fn index(&self, argument: &Argument) -> Option<usize> {
        match argument {
            Argument::Index(index) => Some(*index).filter(|&index| index < self.expressions.len()),
            Argument::Name(name) => self.names.iter().position(|other| other.as_ref() == Some(name)),
        }
    }

    /// The variable with a reference to it.
    fn variable(&self, argument: &Argument) -> Ident {
        variable(self.index(argument).expect("`resolve` found every argument"))
    }
}

fn variable(index: usize) -> Ident {
    Ident::new(&format!("argument{index}"), Span::mixed_site())
}

/// A variable of the user's, named in the format string.
fn captured(name: &str, span: Span) -> Option<Expr> {
    let mut ident: Ident = if name == "self" { Ident::new("self", span) } else { syn::parse_str(name).ok()? };
    ident.set_span(span);
    Some(parse_quote!(#ident))
}

struct Expansion {
    krate: Path,
    sink: Path,
    arguments: Arguments,
    format_span: Span,
}

impl Expansion {
    fn tokens(&self, pieces: &[Piece]) -> TokenStream {
        let krate = &self.krate;
        let print = quote!(#krate::__private::print);
        let sink = &self.sink;
        let expressions = self.arguments.expressions.iter().map(|expression| {
            let span = expression.span();
            quote_spanned!(span=> &(#expression))
        });
        let variables = (0..self.arguments.expressions.len()).map(variable);
        let translated: Vec<Translated<'_>> = placeholders(pieces).map(|p| Translated::new(p, self)).collect();

        let count = translated.len();
        let types: Vec<_> = (0..count).map(|i| format_ident!("A{i}")).collect();
        let printed: Vec<_> = (0..count).map(|i| Ident::new(&format!("printed{i}"), Span::mixed_site())).collect();
        let layouts: Vec<_> = (0..count).map(|i| Ident::new(&format!("layout{i}"), Span::mixed_site())).collect();
        let make = translated.iter().zip(&printed).zip(&layouts).map(|((t, printed), layout)| {
            let (value, layout_value) = (t.printed(&print, layout), t.layout(&print));
            quote!(let #layout = #layout_value; let #printed = #value;)
        });
        let mut number = 0;
        let piece_tokens = pieces.iter().map(|piece| match piece {
            Piece::Text(text) => quote!(#print::Piece::Text(#text)),
            Piece::Placeholder(_) => {
                number += 1;
                translated[number - 1].piece(&print)
            }
        });
        let piece_tokens: Vec<_> = piece_tokens.collect();
        let fields = translated.iter().zip(&types).map(|(t, ty)| {
            let star = t.has_star().then(|| quote!(<#ty as #print::Printed>::Star,));
            quote!(#star <#ty as #print::Printed>::Slot)
        });
        let slots =
            translated.iter().zip(&types).zip(printed.iter().zip(&layouts)).map(|((t, ty), (printed, layout))| {
                let prefix = &t.class.prefix;
                let star = t
                    .has_star()
                    .then(|| quote!(<<#ty as #print::Printed>::Star as #print::Star>::of(#layout.width, #prefix),));
                quote!(#star <#ty as #print::Printed>::slot(#printed, arena, #layout))
            });
        let len = format_len(pieces, &translated);
        let differ = types.iter().zip(printed.iter().zip(&layouts)).map(|(ty, (printed, layout))| {
            quote!(<#ty as #print::Printed>::DIFFERS && <#ty as #print::Printed>::differs(&#printed, #layout))
        });
        let changes = types
            .iter()
            .zip(printed.iter().zip(&layouts))
            .map(|(ty, (printed, layout))| quote!(<#ty as #print::Printed>::change(&#printed, #layout)));
        let conversions = quote!(&[#(<#types as #print::Printed>::CONVERSION),*]);
        // Nothing differs where there is nothing but text.
        let rewritten = (count > 0).then(|| {
            quote! {
                let rewritten;
                if #((#differ))||* {
                    rewritten = #print::rewritten::<#len>(PIECES, #conversions, &[#(#changes),*]);
                    format = &rewritten;
                }
            }
        });
        quote! {
            match (#(#expressions,)*) {
                (#(#variables,)*) => {
                    const PIECES: &[#print::Piece] = &[#(#piece_tokens),*];
                    #[repr(C)]
                    struct Values<#(#types: #print::Printed),*>(#(#fields),*);
                    impl<#(#types: #print::Printed),*> Values<#(#types),*> {
                        const FORMAT: &'static [u8; #len] = &#print::format::<#len>(PIECES, #conversions);
                    }
                    #[inline(always)]
                    fn send<#(#types: #print::Printed),*>(
                        arena: &#print::Arena,
                        (#(#printed,)*): (#(#types,)*),
                        [#(#layouts),*]: [&#print::Layout; #count],
                    ) {
                        let mut format = Values::<#(#types),*>::FORMAT;
                        #rewritten
                        let values = Values::<#(#types),*>(#(#slots),*);
                        // SAFETY: `Values` holds what the format, made of the same types, asks for.
                        unsafe { #sink(format, &values) };
                    }
                    let arena = #print::Arena::new();
                    #(#make)*
                    send(&arena, (#(#printed,)*), [#(&#layouts),*]);
                }
            }
        }
    }
}

/// A placeholder and what becomes of it.
struct Translated<'a> {
    placeholder: &'a Placeholder,
    class: Class,
    expansion: &'a Expansion,
    /// References to width and precision, where they are arguments.
    width: Option<Ident>,
    precision: Option<Ident>,
}

impl<'a> Translated<'a> {
    fn new(placeholder: &'a Placeholder, expansion: &'a Expansion) -> Self {
        let dynamic = |count: &Option<Count>| match count {
            Some(Count::Argument(argument)) => Some(expansion.arguments.variable(argument)),
            _ => None,
        };
        let (width, precision) = (dynamic(&placeholder.spec.width), dynamic(&placeholder.spec.precision));
        Self { placeholder, class: class::of(&placeholder.spec), expansion, width, precision }
    }

    fn has_star(&self) -> bool {
        self.width.is_some()
    }

    /// As `print::Piece`.
    fn piece(&self, print: &TokenStream) -> TokenStream {
        let spec = &self.placeholder.spec;
        let (left, zero, prefix) = (spec.align == Some('<'), self.class.zero, &self.class.prefix);
        // A sign before hexadecimal digits is part of the prefix.
        let plus = spec.plus && matches!(spec.letter.as_str(), "" | "?");
        let width = match &self.class.width {
            None => quote!(None),
            Some(Count::Literal(width)) => quote!(Fixed(#width)),
            Some(Count::Argument(_)) => quote!(Star),
        };
        let precision = match &spec.precision {
            Some(Count::Literal(precision)) => quote!(::core::option::Option::Some(#precision)),
            _ => quote!(::core::option::Option::None),
        };
        quote!(#print::Piece::Argument(#print::Spec {
            left: #left, zero: #zero, plus: #plus, prefix: #prefix, width: #print::Width::#width, precision: #precision,
        }))
    }

    /// As `print::Layout`.
    fn layout(&self, print: &TokenStream) -> TokenStream {
        let spec = &self.placeholder.spec;
        let (fill, plus, zero) = (spec.fill, spec.plus, spec.zero);
        let align = match spec.align {
            None => quote!(Unknown),
            Some('<') => quote!(Left),
            Some('^') => quote!(Center),
            Some(_) => quote!(Right),
        };
        let count = |count: &Option<Count>, variable: &Option<Ident>| match (count, variable) {
            (_, Some(variable)) => Some(self.usize_of(variable)),
            (Some(Count::Literal(count)), None) => Some(quote!(#count as usize)),
            _ => None,
        };
        let width = count(&spec.width, &self.width).unwrap_or(quote!(0));
        let precision = match count(&spec.precision, &self.precision) {
            Some(precision) => quote!(::core::option::Option::Some(#precision)),
            None => quote!(::core::option::Option::None),
        };
        let dynamic = self.precision.is_some();
        quote!(#print::Layout {
            fill: #fill, align: #print::Align::#align, plus: #plus, zero: #zero,
            width: #width, precision: #precision, dynamic_precision: #dynamic,
        })
    }

    /// The value of a width or precision, which must be a `usize`.
    fn usize_of(&self, variable: &Ident) -> TokenStream {
        let arguments = &self.expansion.arguments;
        let index = (0..arguments.expressions.len()).find(|&index| variable == &self::variable(index));
        let span = index.map_or(Span::mixed_site(), |index| arguments.expressions[index].span());
        // The user's place, this macro's names.
        let mut variable = variable.clone();
        variable.set_span(variable.span().located_at(span));
        quote!({ let count: &usize = #variable; *count })
    }

    /// As a `print::Printed`.
    fn printed(&self, print: &TokenStream, layout: &Ident) -> TokenStream {
        let class = &self.class.name;
        let argument = &self.placeholder.argument;
        let arguments = &self.expansion.arguments;
        let variable = arguments.variable(argument);
        let expression = &arguments.expressions[arguments.index(argument).expect("`resolve` found every argument")];
        // Where rustc points to if the type cannot be printed like that.
        let mut user = variable.clone();
        user.set_span(variable.span().located_at(expression.span()));
        let (text, counts) = self.format_text(layout);
        let mut literal = proc_macro2::Literal::string(&text);
        literal.set_span(Span::mixed_site().located_at(self.expansion.format_span));
        quote! {{
            use #print::{Select as _, SelectText as _};
            (&#print::Tag::new(::core::marker::PhantomData::<#print::#class>, #variable)).select().or(
                |out: &mut #print::Writer<'_>| {
                    // An implementation of `Display` that fails leaves what it wrote so far.
                    let _ = ::core::fmt::Write::write_fmt(out, ::core::format_args!(#literal, *#user #counts));
                },
            )
        }}
    }

    /// The placeholder as a format string of its own, and the arguments behind the value.
    fn format_text(&self, layout: &Ident) -> (String, TokenStream) {
        let spec = &self.placeholder.spec;
        let mut text = String::from("{:");
        if let Some(align) = spec.align {
            text.push(spec.fill);
            text.push(align);
        }
        for (flag, letter) in [(spec.plus, '+'), (spec.minus, '-'), (spec.alternate, '#'), (spec.zero, '0')] {
            text.extend(flag.then_some(letter));
        }
        let mut counts = quote!();
        let mut index = 0;
        let mut count = |count: &Option<Count>, value: TokenStream| match count {
            Some(Count::Argument(_)) => {
                index += 1;
                counts.extend(quote!(, #value));
                format!("{index}$")
            }
            Some(Count::Literal(count)) => count.to_string(),
            None => String::new(),
        };
        text += &count(&spec.width, quote!(#layout.width));
        if spec.precision.is_some() {
            text.push('.');
            text += &count(&spec.precision, quote!(#layout.precision.unwrap_or_default()));
        }
        text += &spec.letter;
        text.push('}');
        (text, counts)
    }
}

/// The most bytes that the format can have, its NUL among them.
fn format_len(pieces: &[Piece], translated: &[Translated<'_>]) -> usize {
    let text = pieces.iter().map(|piece| match piece {
        Piece::Text(text) => text.len() + text.matches('%').count(),
        Piece::Placeholder(_) => 0,
    });
    let numbers = translated.iter().map(|t| {
        let digits = |count: &Option<Count>| match count {
            None => 0,
            Some(Count::Literal(count)) => count.to_string().len(),
            Some(Count::Argument(_)) => 5,
        };
        let precision = t.placeholder.spec.precision.as_ref().map_or(0, |_| 1 + digits(&t.placeholder.spec.precision));
        // Percent, sign, `0` or `-`, and `llu`.
        t.class.prefix.len() + 6 + digits(&t.class.width) + precision
    });
    text.sum::<usize>() + numbers.sum::<usize>() + 1
}
