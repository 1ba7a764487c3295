//! The arguments of `#[kernel(...)]`.

use std::mem;

use proc_macro2::TokenStream;
use ptx_abi::Mangling;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, LitInt, LitStr, Path, Token, parenthesized};

use crate::abi_type::namespace;

/// The options of `#[kernel]`.
#[derive(Default)]
pub struct Arguments {
    /// The name in the PTX: `name = "…"`.
    pub name: Option<LitStr>,
    /// The first argument of `launch_bounds(..)`: the most threads of a block.
    pub max_threads: Option<Expr>,
    /// The second argument of `launch_bounds(..)`: the fewest blocks on a multiprocessor.
    pub min_blocks: Option<Expr>,
    /// The third argument of `launch_bounds(..)`: the most blocks of a cluster.
    pub max_cluster: Option<Expr>,
    /// `cluster(x)`, `cluster(x, y)` or `cluster(x, y, z)`: the blocks of a cluster.
    pub cluster: Vec<Expr>,
    /// `cooperative`: all blocks run at once.
    pub cooperative: Option<Ident>,
    /// `child`: other kernels launch it.
    pub child: Option<Ident>,
    /// `instantiate(..)`: what the device gets of a generic kernel, and where that stands.
    pub instantiate: Option<(Ident, TokenStream)>,
    /// The most registers of a thread: `max_registers = N`.
    pub max_registers: Option<Expr>,
    /// The most dimensions of a launch: `dimensions = N`, 1 to 3.
    pub dimensions: Option<LitInt>,
    /// The path of the crate `ptx`: `crate = path`.
    pub krate: Option<Path>,
    /// `export = "C++"` and `namespace = "a::b"`
    pub export: Option<Linkage>,
}

/// How the other language knows a function.
#[derive(Clone, Default)]
pub struct Linkage {
    /// Mangled as C++ mangles, not as in C.
    pub is_cxx: bool,
    /// The C++ namespace, such as `a::b`, or empty.
    pub namespace: String,
}

impl Linkage {
    /// The same for a descriptor.
    pub fn mangling(&self) -> Mangling {
        if self.is_cxx { Mangling::Cxx } else { Mangling::C }
    }

    /// `"C"` or `"C++"`.
    pub fn of_language(language: &LitStr) -> syn::Result<Self> {
        match language.value().as_str() {
            "C" => Ok(Self::default()),
            "C++" => Ok(Self { is_cxx: true, ..Self::default() }),
            other => Err(syn::Error::new(
                language.span(),
                format!("no names are made for the language `{other}`: use \"C\" or \"C++\""),
            )),
        }
    }

    /// The same in a namespace, which only C++ has.
    pub fn in_namespace(self, literal: &LitStr) -> syn::Result<Self> {
        if !self.is_cxx {
            return Err(syn::Error::new(literal.span(), "a name in C has no namespace: use the language \"C++\""));
        }
        Ok(Self { namespace: namespace(literal)?, ..self })
    }
}

const KNOWN: &str = "known options: `name = \"…\"`, `export = \"C++\"`, `namespace = \"a::b\"`, \
    `launch_bounds(max_threads[, min_blocks[, max_cluster]])`, `max_registers = N`, `dimensions = N`, `cluster(x[, y[, z]])`, \
    `cooperative`, `child`, `instantiate(f32, f64)`";

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut this = Self::default();
        let (mut language, mut space) = (None, None);
        while !input.is_empty() {
            if input.peek(Token![crate]) {
                input.parse::<Token![crate]>()?;
                input.parse::<Token![=]>()?;
                this.krate = Some(input.parse()?);
            } else {
                this.option(input, &mut language, &mut space)?;
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        if let Some(language) = &language {
            this.export = Some(Linkage::of_language(language)?);
        }
        if let Some(space) = &space {
            this.export = Some(this.export.unwrap_or_default().in_namespace(space)?);
        }
        Ok(this)
    }
}

impl Arguments {
    /// The path of `ptx::__private`.
    pub fn private(&self) -> TokenStream {
        match &self.krate {
            Some(path) => quote!(#path::__private),
            None => quote!(::ptx::__private),
        }
    }

    /// Whether anything is asked of a launch.
    pub fn has_bounds(&self) -> bool {
        let Self { max_threads, min_blocks, max_cluster, cluster, cooperative, max_registers, dimensions, .. } = self;
        let exprs = [max_threads, min_blocks, max_cluster, max_registers];
        exprs.iter().any(|given| given.is_some())
            || !cluster.is_empty()
            || cooperative.is_some()
            || dimensions.is_some()
    }

    fn option(
        &mut self,
        input: ParseStream<'_>,
        language: &mut Option<LitStr>,
        space: &mut Option<LitStr>,
    ) -> syn::Result<()> {
        let key: Ident =
            input.parse().map_err(|e| syn::Error::new(e.span(), format!("expected an option; {KNOWN}")))?;
        let twice = match key.to_string().as_str() {
            "name" => {
                input.parse::<Token![=]>()?;
                let name: LitStr = input.parse()?;
                check_name(&name.value()).map_err(|message| syn::Error::new(name.span(), message))?;
                self.name.replace(name).is_some()
            }
            "launch_bounds" => {
                const EXPECTED: &str = "expected the most threads that a block will have, as in `launch_bounds(256)`";
                if !input.peek(syn::token::Paren) {
                    return Err(syn::Error::new(key.span(), EXPECTED));
                }
                let inner;
                parenthesized!(inner in input);
                if inner.is_empty() {
                    return Err(inner.error(EXPECTED));
                }
                let twice = self.max_threads.replace(inner.parse()?).is_some();
                if !inner.is_empty() {
                    inner.parse::<Token![,]>()?;
                }
                if !inner.is_empty() {
                    self.min_blocks = Some(inner.parse()?);
                }
                if !inner.is_empty() {
                    inner.parse::<Token![,]>()?;
                }
                if !inner.is_empty() {
                    self.max_cluster = Some(inner.parse()?);
                }
                if !inner.is_empty() {
                    inner.parse::<Token![,]>()?;
                }
                if !inner.is_empty() {
                    return Err(inner.error(
                        "`launch_bounds` takes at most three numbers: `(max_threads, min_blocks, max_cluster)`",
                    ));
                }
                twice
            }
            "cluster" => {
                const EXPECTED: &str = "expected the blocks of a cluster, as in `cluster(2)` or `cluster(2, 2, 1)`";
                if !input.peek(syn::token::Paren) {
                    return Err(syn::Error::new(key.span(), EXPECTED));
                }
                let inner;
                parenthesized!(inner in input);
                let given = Punctuated::<Expr, Token![,]>::parse_terminated(&inner)?;
                if !(1..=3).contains(&given.len()) {
                    return Err(syn::Error::new(key.span(), EXPECTED));
                }
                !mem::replace(&mut self.cluster, given.into_iter().collect()).is_empty()
            }
            "cooperative" => self.cooperative.replace(key.clone()).is_some(),
            "child" => self.child.replace(key.clone()).is_some(),
            // With `=` as without it.
            "instantiate" => {
                input.parse::<Option<Token![=]>>()?;
                if !input.peek(syn::token::Paren) {
                    return Err(syn::Error::new(
                        key.span(),
                        "say which instances the device gets, as in `instantiate(f32, f64)`",
                    ));
                }
                let inner;
                parenthesized!(inner in input);
                self.instantiate.replace((key.clone(), inner.parse()?)).is_some()
            }
            "export" => {
                input.parse::<Token![=]>()?;
                language.replace(input.parse()?).is_some()
            }
            "namespace" => {
                input.parse::<Token![=]>()?;
                space.replace(input.parse()?).is_some()
            }
            "max_registers" => {
                input.parse::<Token![=]>()?;
                self.max_registers.replace(input.parse()?).is_some()
            }
            "dimensions" => {
                input.parse::<Token![=]>()?;
                let dimensions: LitInt = input.parse()?;
                if !matches!(dimensions.base10_parse(), Ok(1..=3_u32)) {
                    return Err(syn::Error::new(dimensions.span(), "`dimensions`: a launch has 1 to 3 dimensions"));
                }
                self.dimensions.replace(dimensions).is_some()
            }
            other => return Err(syn::Error::new(key.span(), format!("unknown option `{other}`; {KNOWN}"))),
        };
        if twice { Err(syn::Error::new(key.span(), format!("`{key}` is given twice"))) } else { Ok(()) }
    }
}

/// PTX names: a letter and then letters, digits, `_` and `$`, or `_`, `$`, `%` and at least one of those (PTX ISA,
/// "Identifiers"). `%` is left to registers.
pub fn check_name(name: &str) -> Result<(), String> {
    let follows = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let mut chars = name.chars();
    let fine = match chars.next() {
        Some(c) if c.is_ascii_alphabetic() => chars.all(follows),
        Some('_' | '$') => !chars.as_str().is_empty() && chars.all(follows),
        _ => false,
    };
    if fine {
        Ok(())
    } else {
        Err(format!(
            "`{name}` cannot be a name in PTX: use ASCII letters, digits, `_` and `$`, and begin with a letter"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        syn::parse_str::<Arguments>(text).err().expect("an error").to_string()
    }

    #[test]
    fn every_option_is_read() {
        let all: Arguments = syn::parse_str(
            "name = \"a$1\", launch_bounds(BLOCK, 2, 8,), max_registers = 64, dimensions = 2, crate = ::gpu::ptx, \
             cluster(2, 1), cooperative, child, instantiate = (f32, f64)",
        )
        .unwrap();
        assert_eq!((all.cluster.len(), all.cooperative.is_some(), all.max_cluster.is_some()), (2, true, true));
        assert!(all.child.is_some());
        assert_eq!(all.instantiate.unwrap().1.to_string(), "f32 , f64");
        assert_eq!(all.name.unwrap().value(), "a$1");
        assert!(all.max_threads.is_some() && all.min_blocks.is_some() && all.max_registers.is_some());
        assert_eq!(all.dimensions.unwrap().to_string(), "2");
        assert_eq!(all.krate.unwrap().segments.len(), 2);
        let none: Arguments = syn::parse_str("").unwrap();
        assert!(none.name.is_none() && none.max_threads.is_none() && none.krate.is_none());
    }

    #[test]
    fn wrong_options_say_what_is_right() {
        assert!(error("export = \"D\"").contains("language `D`"));
        assert!(error("namespace = \"a\"").contains("no namespace"));
        assert!(error("export = \"C++\", namespace = \"a::\"").contains("is not a name in C++"));
        assert!(error("nmae = \"x\"").contains("unknown option `nmae`; known options: `name"));
        assert!(error("name = \"a b\"").contains("`a b` cannot be a name in PTX"));
        assert!(error("name = \"\"").contains("cannot be a name"));
        assert!(error("name = \"a\", name = \"b\"").contains("given twice"));
        assert!(error("launch_bounds()").contains("most threads"));
        assert!(error("launch_bounds").contains("most threads"));
        assert!(error("launch_bounds = 256").contains("as in `launch_bounds(256)`"));
        assert!(error("launch_bounds(1, 2, 3, 4)").contains("at most three"));
        assert!(error("cluster").contains("blocks of a cluster"));
        assert!(error("cluster()").contains("blocks of a cluster"));
        assert!(error("cluster(1, 2, 3, 4)").contains("blocks of a cluster"));
        assert!(error("cluster(2), cluster(2)").contains("given twice"));
        assert!(error("cooperative, cooperative").contains("given twice"));
        assert!(error("instantiate").contains("which instances"));
        assert!(error("instantiate(f32), instantiate(f64)").contains("given twice"));
        assert!(error("dimensions = 4").contains("1 to 3 dimensions"));
        assert!(error("dimensions = 0").contains("1 to 3 dimensions"));
        assert!(error("42").contains("expected an option"));
    }
}
