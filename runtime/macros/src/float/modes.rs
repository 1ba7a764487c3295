//! What stands in `#[ptx::float(...)]`.

use proc_macro2::{Span, TokenStream};
use ptx_abi::float::Overrides;
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Ident, LitBool, Meta, Path, Token};

use crate::errors::Errors;

/// The modes' names, in the order of [`Modes::named`].
const NAMES: [&str; 5] = ["fmad", "ftz", "prec_div", "prec_sqrt", "use_fast_math"];

const KNOWN: &str =
    "the modes are `fmad`, `ftz`, `prec_div`, `prec_sqrt` and `use_fast_math`, each `= true` or `= false`";

/// The modes that an attribute names, and where.
#[derive(Clone, Default)]
pub struct Modes {
    named: [Option<(bool, Span)>; 5],
    krate: Option<Path>,
}

impl Modes {
    /// Takes every `#[ptx::float(..)]` out of the attributes: what they say together, if there is one.
    pub fn take(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> Option<Self> {
        let mut taken: Option<Self> = None;
        for attribute in attrs.extract_if(.., |attribute| is_float(attribute)) {
            match of_attribute(&attribute) {
                Ok(modes) => taken.get_or_insert_default().merge(modes, errors),
                Err(error) => {
                    taken.get_or_insert_default();
                    errors.combine(error);
                }
            }
        }
        taken
    }

    /// What another attribute on the same item says, too.
    pub fn merge(&mut self, other: Self, errors: &mut Errors) {
        for ((own, new), name) in self.named.iter_mut().zip(other.named).zip(NAMES) {
            match (*own, new) {
                (None, _) => *own = new,
                (Some((own, _)), Some((new, span))) if own != new => errors.combine(syn::Error::new(
                    span,
                    format!(
                        "contradictory modes: another `#[ptx::float(..)]` here says `{name} = {own}`: leave out one of the two"
                    ),
                )),
                _ => {}
            }
        }
        if self.krate.is_none() {
            self.krate = other.krate;
        }
        if let Some(error) = self.contradiction() {
            errors.combine(error);
        }
    }

    /// The modes as the compiler gets them; nothing if none is named.
    pub fn bits(&self) -> Option<u32> {
        self.named.iter().any(Option::is_some).then(|| self.overrides().encode())
    }

    /// Path of `ptx::__private`.
    pub fn private(&self) -> TokenStream {
        match &self.krate {
            Some(path) => quote!(#path::__private),
            None => quote!(::ptx::__private),
        }
    }

    fn overrides(&self) -> Overrides {
        let [fmad, ftz, prec_div, prec_sqrt, use_fast_math] = self.named.map(|named| named.map(|(value, _)| value));
        Overrides { fmad, ftz, prec_div, prec_sqrt, use_fast_math }
    }

    fn contradiction(&self) -> Option<syn::Error> {
        let (name, value) = self.overrides().contradiction()?;
        let (_, span) = self.named[NAMES.iter().position(|known| *known == name)?]?;
        Some(syn::Error::new(
            span,
            format!(
                "contradictory modes: `use_fast_math = true` means `{name} = {value}`: leave out `use_fast_math`, or this"
            ),
        ))
    }

    fn option(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        if input.peek(Token![crate]) {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            self.krate = Some(input.parse()?);
            return Ok(());
        }
        let (name, span) = name(input)?;
        let Some(index) = NAMES.iter().position(|known| *known == name) else {
            return Err(syn::Error::new(span, unknown(&name)));
        };
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            let wrong =
                |at| syn::Error::new(at, format!("`{name}` is on or off: write `{name} = true` or `{name} = false`"));
            input.parse::<LitBool>().map_err(|error| wrong(error.span()))?.value
        } else if name == "use_fast_math" && (input.is_empty() || input.peek(Token![,])) {
            true
        } else {
            return Err(syn::Error::new(
                span,
                format!("`{name}` is on or off: write `{name} = true` or `{name} = false`"),
            ));
        };
        match self.named[index].replace((value, span)) {
            None => Ok(()),
            Some(_) => Err(syn::Error::new(span, format!("`{name}` is given twice"))),
        }
    }
}

impl Parse for Modes {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut this = Self::default();
        while !input.is_empty() {
            this.option(input)?;
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        this.contradiction().map_or(Ok(this), Err)
    }
}

/// Whether this is `#[ptx::float]`, under whatever path: macros see no more than names.
pub fn is_float(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|last| last.ident == "float")
}

/// Whether one of the attributes is `#[ptx::float(..)]` with something in it.
pub fn names_modes(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|a| is_float(a) && matches!(&a.meta, Meta::List(list) if !list.tokens.is_empty()))
}

fn of_attribute(attribute: &Attribute) -> syn::Result<Modes> {
    match &attribute.meta {
        Meta::Path(_) => Ok(Modes::default()),
        Meta::List(list) => list.parse_args(),
        Meta::NameValue(given) => Err(syn::Error::new_spanned(
            given,
            format!("modes stand in parentheses, as in `#[ptx::float(ftz = true)]`; {KNOWN}"),
        )),
    }
}

/// A mode's name; nvcc's spelling with hyphens is read too, to be answered with ours.
fn name(input: ParseStream<'_>) -> syn::Result<(String, Span)> {
    let first =
        Ident::parse_any(input).map_err(|error| syn::Error::new(error.span(), format!("expected a mode; {KNOWN}")))?;
    let mut name = first.to_string();
    while input.peek(Token![-]) {
        input.parse::<Token![-]>()?;
        name = format!("{name}-{}", Ident::parse_any(input)?);
    }
    Ok((name, first.span()))
}

fn unknown(name: &str) -> String {
    if name.starts_with("round") {
        return format!(
            "there is no mode `{name}`: results are rounded to nearest, and operations of `ptx::float` name another rounding, \
             as in `a.add_rz(b)`; {KNOWN}"
        );
    }
    let plain = name.replace('-', "_");
    let (distance, closest) =
        NAMES.map(|known| (distance(known, &plain), known)).into_iter().min().unwrap_or((usize::MAX, ""));
    let hint = match plain.trim_start_matches('f') {
        "fast_math" | "ast_math" | "fastmath" | "astmath" | "ast" => "; did you mean `use_fast_math`?".to_owned(),
        _ if distance <= 2 => format!("; did you mean `{closest}`?"),
        _ => String::new(),
    };
    format!("there is no mode `{name}`{hint}; {KNOWN}")
}

/// How many letters must be put in, taken out or changed to make one name of the other.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, a) in a.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in b.bytes().enumerate() {
            let changed = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        syn::parse_str::<Modes>(text).err().unwrap_or_else(|| panic!("no error for `{text}`")).to_string()
    }

    #[test]
    fn every_mode_is_read() {
        let modes: Modes =
            syn::parse_str("fmad = false, ftz = true, prec_div = true, prec_sqrt = false, crate = gpu,").unwrap();
        let expected = Overrides {
            fmad: Some(false),
            ftz: Some(true),
            prec_div: Some(true),
            prec_sqrt: Some(false),
            use_fast_math: None,
        };
        assert_eq!(modes.bits(), Some(expected.encode()));
        assert_eq!(modes.private().to_string(), "gpu :: __private");
        let fast = Overrides { use_fast_math: Some(true), ..Overrides::default() }.encode();
        assert_eq!(syn::parse_str::<Modes>("use_fast_math").unwrap().bits(), Some(fast));
        assert_eq!(syn::parse_str::<Modes>("use_fast_math = true").unwrap().bits(), Some(fast));
        assert_eq!(syn::parse_str::<Modes>("").unwrap().bits(), None);
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(error("fmda = true").contains("did you mean `fmad`?"));
        assert!(error("prec-div = true").contains("did you mean `prec_div`?"));
        assert!(error("fast_math = true").contains("did you mean `use_fast_math`?"));
        assert!(error("rounding = rz").contains("add_rz"));
        let unknown = error("x = true");
        assert!(unknown.contains("no mode `x`; the modes are") && !unknown.contains("did you mean"), "{unknown}");
        assert!(error("ftz = 1").contains("`ftz = true` or `ftz = false`"));
        assert!(error("ftz").contains("`ftz = true` or `ftz = false`"));
        assert!(error("ftz = true, ftz = true").contains("given twice"));
        assert!(error("use_fast_math, prec_div = true").contains("means `prec_div = false`"));
        assert!(error("42").contains("expected a mode"));
    }

    #[test]
    fn two_attributes_are_one() {
        let parse = |text: &str| syn::parse_str::<Modes>(text).unwrap();
        let merged = |one: &str, other: &str| {
            let (mut errors, mut modes) = (Errors::default(), parse(one));
            modes.merge(parse(other), &mut errors);
            (modes.bits(), errors.finish().map_err(|error| error.to_string()))
        };
        assert_eq!(merged("fmad = false", "ftz = true"), (parse("fmad = false, ftz = true").bits(), Ok(())));
        assert!(merged("fmad = false", "fmad = true").1.unwrap_err().contains("`fmad = false`"));
        assert!(merged("use_fast_math", "ftz = false").1.unwrap_err().contains("`ftz = true`"));
    }
}
