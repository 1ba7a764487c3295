//! `#[device(export)]` and `#[device(import)]`: functions that cross between Rust's device code and others'.
//!
//! ```text
//! #[device(export = "C++")]                  fn f(a: i32) -> S { body }
//! fn f(a: i32) -> S { body }                 unsafe extern "C" fn shim(result: *mut S, a: *const i32) { .. }
//!                                            #[used] static ENTRY: Entry = Entry { shim, .. };
//!
//! #[device(import = "C++")]                  unsafe fn g(a: i32) -> S {
//! unsafe extern "C" {                            unsafe extern "C" { fn shim(result: *mut S, a: *const i32); }
//!     fn g(a: i32) -> S;                         #[used] static ENTRY: Entry = Entry { shim, .. };
//! }                                              let mut result = ..; shim(&mut result, &a); result
//!                                            }
//! ```
//! The compiler writes the exported function around the first shim, and the body of the second, which makes the call.

use std::hash::{DefaultHasher, Hash, Hasher};

use proc_macro2::{Ident, Span, TokenStream};
use ptx_abi::Kind;
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Attribute, ForeignItem, ForeignItemFn, ItemForeignMod, LitStr, Path, Token, Type};

use crate::arguments::{Linkage, check_name};
use crate::descriptor::{self, Function};
use crate::errors::Errors;
use crate::float::{IMPORTED, expand_blocks, is_float};
use crate::function::{self, Param, Role};
use crate::template::{self, Instance};

/// The expansion of `#[device(arguments)] item`.
pub fn expand(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let arguments: Arguments = syn::parse2(arguments)?;
    let private = match &arguments.krate {
        Some(path) => quote!(#path::__private),
        None => quote!(::ptx::__private),
    };
    if arguments.is_import { import(&arguments, &private, item) } else { export(&arguments, &private, item) }
}

/// The arguments of `#[device(...)]`.
struct Arguments {
    is_import: bool,
    /// None if the block's own `extern "C++"` says it.
    language: Option<LitStr>,
    namespace: Option<LitStr>,
    name: Option<LitStr>,
    krate: Option<Path>,
}

const KNOWN: &str = "`export`, `export = \"C++\"`, `import` or `import = \"C++\"`, then `namespace = \"a::b\"`, and for \
    exports `name = \"…\"`";

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let wrong = |span| syn::Error::new(span, format!("expected {KNOWN}"));
        let first: Ident = input.parse().map_err(|e| wrong(e.span()))?;
        let is_import = first == "import";
        if !is_import && first != "export" {
            return Err(wrong(first.span()));
        }
        let mut this = Self { is_import, language: None, namespace: None, name: None, krate: None };
        if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            this.language = Some(input.parse()?);
        }
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            if input.peek(Token![crate]) {
                input.parse::<Token![crate]>()?;
                input.parse::<Token![=]>()?;
                this.krate = Some(input.parse()?);
                continue;
            }
            let key: Ident = input.parse().map_err(|e| wrong(e.span()))?;
            let place = match key.to_string().as_str() {
                "namespace" => &mut this.namespace,
                "name" if !is_import => &mut this.name,
                _ => return Err(wrong(key.span())),
            };
            input.parse::<Token![=]>()?;
            if place.replace(input.parse()?).is_some() {
                return Err(syn::Error::new(key.span(), format!("`{key}` is given twice")));
            }
        }
        Ok(this)
    }
}

impl Arguments {
    /// `extern "C++"` on the block says the same as `import = "C++"`.
    fn linkage(&self, block: Option<&LitStr>) -> syn::Result<Linkage> {
        let linkage = match self.language.as_ref().or(block) {
            Some(language) => Linkage::of_language(language)?,
            None => Linkage::default(),
        };
        match &self.namespace {
            Some(namespace) => linkage.in_namespace(namespace),
            None => Ok(linkage),
        }
    }
}

fn export(arguments: &Arguments, private: &TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let (mut function, is_read) = function::parse(item).map_err(|error| {
        syn::Error::new(error.span(), format!("`#[device(export)]` stands before a function with a body: {error}"))
    })?;
    function::check_marks(&function.attrs, "device")?;
    let linkage = arguments.linkage(None)?;
    let params = function::check(&function.sig, Role::Export)?;
    if is_read {
        expand_blocks(&mut function.block, private)?;
    }
    let result = function::result(&function.sig);
    let name = match &arguments.name {
        Some(name) => {
            check_name(&name.value()).map_err(|message| syn::Error::new(name.span(), message))?;
            name.value()
        }
        None => function::plain_name(&function.sig.ident),
    };
    let shim = Ident::new(ptx_abi::SHIM, Span::call_site());
    let entry = Function {
        private,
        kind: Kind::Export,
        mangling: linkage.mangling(),
        namespace: &linkage.namespace,
        name,
        template: None,
        ident: &function.sig.ident,
        bounds: None,
        params: &params,
        result,
        names: None,
    }
    .entry(&shim, TokenStream::new());
    let values = descriptor::values(private, &params);
    let name_in_rust = &function.sig.ident;
    let call = quote!(#name_in_rust(#(#values),*));
    let shim_function = descriptor::shim(private, &shim, &function, &params, &call, result, None);
    let (cfgs, check) = (function::cfgs(&function.attrs), no_slice(private, result));
    Ok(quote! {
        #function

        #(#cfgs)*
        #[cfg(target_arch = "nvptx64")]
        const _: () = {
            #check
            #shim_function
            #entry
        };
    })
}

/// A slice is two values, and a function returns one.
fn no_slice(private: &TokenStream, result: Option<&Type>) -> Option<TokenStream> {
    let ty = result?;
    Some(quote_spanned! {ty.span()=>
        const _: () = ::core::assert!(
            !::core::matches!(<#ty as #private::DeviceParam>::TYPE.class, #private::Class::Slice),
            "a device function cannot return a slice, which is two values: return a pointer"
        );
    })
}

fn import(arguments: &Arguments, private: &TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let block: ItemForeignMod = syn::parse2(item).map_err(|error| {
        syn::Error::new(error.span(), format!("`#[device(import)]` stands before an `unsafe extern` block: {error}"))
    })?;
    let mut errors = Errors::default();
    if block.unsafety.is_none() {
        errors.add(block.abi.extern_token, "extern blocks must be unsafe: nobody checks that C++ has these functions");
    }
    let attrs = block.items.iter().filter_map(|item| if let ForeignItem::Fn(f) = item { Some(&f.attrs) } else { None });
    for attribute in attrs.chain([&block.attrs]).flatten().filter(|a| is_float(a)) {
        errors.add(attribute, IMPORTED);
    }
    let linkage = arguments.linkage(block.abi.name.as_ref())?;
    let mut functions = TokenStream::new();
    for item in &block.items {
        match item {
            ForeignItem::Fn(function) => match import_one(&linkage, &block.attrs, private, function) {
                Ok(tokens) => functions.extend(tokens),
                Err(error) => errors.combine(error),
            },
            other => errors.add(other, "only functions can be imported"),
        }
    }
    errors.finish()?;
    Ok(functions)
}

fn import_one(
    block: &Linkage,
    block_attrs: &[Attribute],
    private: &TokenStream,
    item: &ForeignItemFn,
) -> syn::Result<TokenStream> {
    let options = ImportOptions::of(&item.attrs, block)?;
    let Instance { signature, names, arguments } = template::instantiate(&item.sig, options.instance)?;
    let params = function::check(&signature, Role::Import)?;
    let result = function::result(&signature);
    let ident = &signature.ident;
    let name = options.name.unwrap_or_else(|| function::plain_name(ident));
    let template = arguments.map(|list| list.iter().map(|argument| argument.tokens(private)).collect());
    let shim = Ident::new("__ptx_import", Span::call_site());
    let entry = Function {
        private,
        kind: Kind::Import,
        mangling: options.linkage.mangling(),
        namespace: &options.linkage.namespace,
        name: name.clone(),
        template,
        ident,
        bounds: None,
        params: &params,
        result,
        names: names.as_deref(),
    }
    .entry(&shim, TokenStream::new());
    let symbol = shim_symbol(block, &options.linkage, item);
    let check = no_slice(private, result);
    let pointers = descriptor::pointers(&params);
    let place = ident.span().resolved_at(Span::call_site());
    let values = params.iter().zip(&pointers).map(|(Param { name, ty, .. }, pointer)| {
        quote_spanned!(ty.span()=> let #pointer = <#ty as #private::DeviceParam>::into_raw(#name);)
    });
    let (shim_result, call) = match result {
        // With the declaration's place, which messages about an undefined function name.
        None => (None, quote_spanned!(place=> unsafe { #shim(#((&raw const #pointers).cast()),*) })),
        Some(ty) => (
            Some(quote!(__ptx_result: *mut (),)),
            quote_spanned! {place=>
                let mut __ptx_result = ::core::mem::MaybeUninit::<<#ty as #private::DeviceParam>::Raw>::uninit();
                // SAFETY: the caller promises what the imported function asks; the shim writes the result.
                unsafe {
                    #shim(__ptx_result.as_mut_ptr().cast(), #((&raw const #pointers).cast()),*);
                    <#ty as #private::DeviceParam>::from_raw(__ptx_result.assume_init())
                }
            },
        ),
    };
    // An attribute of the block, as `cfg` or `allow`, is one of each function.
    let block_attrs = block_attrs.iter().filter(|a| !a.path().is_ident("doc"));
    let kept = item.attrs.iter().filter(|a| !a.path().is_ident("ptx") && !a.path().is_ident("link_name"));
    let (vis, inputs, output) = (&item.vis, &signature.inputs, &signature.output);
    let generics = &signature.generics;
    let where_clause = &generics.where_clause;
    // Of a foreign function, `safe` says what the absence of `unsafe` says of others.
    let safety = match &item.sig.safety {
        syn::Safety::Safe(_) => None,
        _ => Some(quote!(unsafe)),
    };
    let allow = function::allow(&quote!(clippy::too_many_arguments, clippy::missing_safety_doc, unused_variables));
    let lints = function::allow(&quote!(improper_ctypes, unused_unsafe));
    let message = format!("`{name}` is CUDA device code: it only runs on the GPU");
    Ok(quote! {
        #(#block_attrs)*
        #(#kept)*
        #allow
        #[inline(always)]
        #vis #safety fn #ident #generics(#inputs) #output #where_clause {
            #[cfg(not(target_arch = "nvptx64"))]
            ::core::panic!(#message);
            #[cfg(target_arch = "nvptx64")]
            {
                #check
                #lints
                unsafe extern "C" {
                    #[link_name = #symbol]
                    fn #shim(#shim_result #(#pointers: *const ()),*);
                }
                #entry
                #(#values)*
                #call
            }
        }
    })
}

/// A symbol for the shim, which the compiler replaces. It differs for each import, and is the same in every build.
fn shim_symbol(block: &Linkage, own: &Linkage, item: &ForeignItemFn) -> String {
    let mut hasher = DefaultHasher::new();
    let span = item.sig.ident.span();
    let place = (span.file(), span.start().line, span.start().column);
    let package = (std::env::var("CARGO_PKG_NAME").ok(), std::env::var("CARGO_CRATE_NAME").ok());
    let names = (&block.namespace, &own.namespace, own.is_cxx);
    (place, package, names, item.to_token_stream().to_string()).hash(&mut hasher);
    format!("__ptx_import_{:016x}_{}", hasher.finish(), function::plain_name(&item.sig.ident))
}

/// What `#[ptx(..)]` and `#[link_name]` say about an imported function.
struct ImportOptions {
    linkage: Linkage,
    name: Option<String>,
    instance: Option<template::Arguments>,
}

impl ImportOptions {
    fn of(attrs: &[Attribute], block: &Linkage) -> syn::Result<Self> {
        let mut this = Self { linkage: block.clone(), name: None, instance: None };
        for attribute in attrs.iter().filter(|a| a.path().is_ident("link_name")) {
            let value = &attribute.meta.require_name_value()?.value;
            let literal: LitStr = syn::parse2(value.to_token_stream())?;
            check_name(&literal.value()).map_err(|message| syn::Error::new(literal.span(), message))?;
            // A symbol as it is, whatever the language.
            this.linkage = Linkage::default();
            this.name = Some(literal.value());
        }
        for attribute in attrs.iter().filter(|a| a.path().is_ident("ptx")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("name") {
                    let literal: LitStr = meta.value()?.parse()?;
                    check_name(&literal.value()).map_err(|message| syn::Error::new(literal.span(), message))?;
                    this.name = Some(literal.value());
                } else if meta.path.is_ident("namespace") {
                    this.linkage = this.linkage.clone().in_namespace(&meta.value()?.parse()?)?;
                } else if meta.path.is_ident("instantiate") {
                    let inner;
                    syn::parenthesized!(inner in meta.input);
                    this.instance = Some(inner.parse()?);
                } else {
                    return Err(meta.error(
                        "unknown option; known options: `name = \"…\"`, `namespace = \"a::b\"`, `instantiate(f32, 4)`",
                    ));
                }
                Ok(())
            })?;
        }
        Ok(this)
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::Literal;
    use ptx_abi::Mangling;
    use ptx_abi::pieces::Own;

    use super::*;

    fn expansion(arguments: &str, item: &str) -> String {
        let tokens = expand(arguments.parse().unwrap(), item.parse().unwrap()).unwrap();
        syn::parse2::<syn::File>(tokens.clone()).expect("the expansion is Rust");
        tokens.to_string()
    }

    fn error(arguments: &str, item: &str) -> String {
        let error = expand(arguments.parse().unwrap(), item.parse().unwrap()).unwrap_err();
        error.into_iter().map(|e| e.to_string()).collect::<Vec<_>>().join("\n")
    }

    /// As the expansion has what the macro says in a descriptor.
    fn own(
        kind: Kind,
        mangling: Mangling,
        namespace: &str,
        name: &str,
        params: &[(&str, &str)],
        result: Option<&str>,
    ) -> String {
        let params: Vec<_> = params.iter().map(|(name, ty)| ((*name).to_owned(), (*ty).to_owned())).collect();
        let own =
            Own { kind, mangling, namespace, name, has_template: false, has_bounds: false, params: &params, result };
        format!("own : {}", Literal::byte_string(&own.encoded().unwrap()))
    }

    #[test]
    fn an_export_keeps_the_function_and_gets_a_shim() {
        let text = expansion("export = \"C++\", namespace = \"a\"", "pub fn f(a: u8, s: &S) -> R { g(a) }");
        assert!(text.contains("pub fn f (a : u8 , s : & S) -> R { g (a) }"), "{text}");
        assert!(
            text.contains(&own(Kind::Export, Mangling::Cxx, "a", "f", &[("a", "u8"), ("s", "&S")], Some("R"))),
            "{text}"
        );
        assert!(text.contains("< R as :: ptx :: __private :: DeviceParam > :: write (f ("), "{text}");
        assert!(text.contains(", __ptx_result)"), "{text}");
        let named = expansion("export, name = \"g\"", "fn f() {}");
        assert!(named.contains(&own(Kind::Export, Mangling::C, "", "g", &[], None)), "{named}");
    }

    #[test]
    fn an_import_is_a_function_that_calls_its_shim() {
        let text = expansion(
            "import, namespace = \"n\"",
            "unsafe extern \"C++\" { pub fn f(a: u8) -> u16; safe fn g(); #[ptx(name = \"h\", namespace = \"m\")] fn i(); }",
        );
        assert!(text.contains("pub unsafe fn f (a : u8) -> u16"), "{text}");
        assert!(text.contains("fn g ()") && !text.contains("unsafe fn g"));
        let of_f: (&[_], _) = (&[("a", "u8")], Some("u16"));
        for (namespace, name, (params, result)) in [("n", "f", of_f), ("n", "g", (&[], None)), ("m", "h", (&[], None))]
        {
            assert!(text.contains(&own(Kind::Import, Mangling::Cxx, namespace, name, params, result)), "{text}");
        }
        let c = expansion("import", "unsafe extern \"C\" { #[link_name = \"_Z1fv\"] fn f(); }");
        assert!(c.contains(&own(Kind::Import, Mangling::C, "", "_Z1fv", &[], None)), "{c}");
    }

    #[test]
    fn an_instance_of_a_template() {
        let text = expansion(
            "import = \"C++\"",
            "unsafe extern \"C\" { #[ptx(name = \"tf\", instantiate(f32, 4))]
             fn tf_f32_4<T, const N: i32>(a: T, b: *mut T) -> T; }",
        );
        assert!(text.contains("unsafe fn tf_f32_4 (a : f32 , b : * mut f32) -> f32"), "{text}");
        assert!(text.contains("TemplateParameter < 0u32 >"), "{text}");
        assert!(text.contains("value : 4"), "{text}");
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(error("", "fn f() {}").contains("`export`"));
        assert!(error("exprot", "fn f() {}").contains("`export`"));
        assert!(error("export = \"D\"", "fn f() {}").contains("language `D`"));
        assert!(error("export, namespace = \"a\"", "fn f() {}").contains("no namespace"));
        assert!(error("export", "struct S;").contains("function with a body"));
        assert!(error("import", "fn f() {}").contains("`unsafe extern` block"));
        assert!(error("import", "extern \"C\" { fn f(); }").contains("must be unsafe"));
        assert!(error("import", "unsafe extern \"C\" { static X: u32; }").contains("only functions"));
        assert!(error("import", "unsafe extern \"C\" { fn f(a: u32, ...); }").contains("variadic"));
        assert!(error("import", "unsafe extern \"C\" { fn f<T>(a: T); }").contains("instantiate"));
        assert!(error("import", "unsafe extern \"C\" { #[ptx(nmae = \"x\")] fn f(); }").contains("known options"));
    }
}
