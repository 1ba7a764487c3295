//! `#[bitfields]`: a struct or union with C's bit-fields becomes opaque bytes with accessors.
//!
//! ```text
//! #[repr(C)]                        #[repr(C)]
//! struct S {                        struct S { align: [Carrier; 0], bytes: [u8; N] }
//!     #[bits(3)] a: u32,            impl S {
//!     b: u8,                            const __PTX_MEMBERS: [Member; 2] = [..]; const __PTX_LAYOUT: Layout<2> = layout(..);
//! }                                     fn a(&self) -> u32; fn set_a(&mut self, value: u32); fn with_a(self, value: u32) -> Self;
//!                                       fn b(&self) -> u8; ..
//!                                   }
//! ```
//! Sizes are unknown here, so `ptx_abi::bits::layout` computes N and every place as a constant.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Field, Fields, LitInt, Path, Token, Type};

use crate::abi_type::{self, CxxName, Layout, Repr};
use crate::errors::Errors;
use crate::function;

/// The traits that the expansion implements itself, so that a `derive` above or below it must not.
const OURS: [&str; 5] = ["Clone", "Copy", "Debug", "Default", "AbiType"];

/// The expansion of `#[bitfields] item`.
pub fn expand(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    if !arguments.is_empty() {
        return Err(syn::Error::new_spanned(
            arguments,
            "`#[bitfields]` takes no arguments: widths stand at the fields",
        ));
    }
    let input: DeriveInput = syn::parse2(item)?;
    let (is_union, fields) = fields(&input)?;
    let repr = Repr::of(&input)?;
    let cxx = CxxName::of(&input)?;
    let mut errors = Errors::default();
    check_type(&input, &repr, &mut errors);
    let mut members = Vec::new();
    for field in fields {
        match Member::of(field) {
            Ok(member) => members.push(member),
            Err(error) => errors.combine(error),
        }
    }
    errors.finish()?;
    if members.iter().all(|member| member.bits.is_none()) {
        return Err(syn::Error::new_spanned(
            &input.ident,
            "no field has `#[bits(..)]`: say `#[derive(Clone, Copy, ptx::AbiType)]` instead of `#[ptx::bitfields]`",
        ));
    }

    let keyword = if is_union { quote!(Union) } else { quote!(Struct) };
    let entries = members.iter().enumerate().map(|(index, member)| member.entry(index));
    let layout = Layout {
        ty: quote!(::ptx::__private::Type::aggregate::<Self>()),
        cxx: cxx.tokens(&input, &keyword),
        definition: abi_type::definition(
            &quote!(::ptx::__private::cxx::Body::Record { fields: &[#(#entries),*], packed: 0 }),
        ),
        pointed: None,
    };
    let align = repr.align.max(1) as usize;
    let storage = storage(&input, &members, is_union, align);
    let traits = traits(&input, &members);
    let bytes = cfg!(feature = "bytemuck").then(|| abi_type::bytes::of_bytes(&input.ident));
    let impls = abi_type::impls(input, &layout);
    Ok(quote!(#storage #traits #impls #bytes))
}

fn fields(input: &DeriveInput) -> syn::Result<(bool, Vec<&Field>)> {
    match &input.data {
        Data::Struct(data) if matches!(data.fields, Fields::Named(_)) => Ok((false, data.fields.iter().collect())),
        Data::Union(data) => Ok((true, data.fields.named.iter().collect())),
        _ => Err(syn::Error::new(
            input.ident.span(),
            "`#[bitfields]` stands before a struct with named fields, or a union",
        )),
    }
}

fn check_type(input: &DeriveInput, repr: &Repr, errors: &mut Errors) {
    let ident = &input.ident;
    if !repr.c {
        errors.add(ident, &format!("`{ident}` is to be laid out as in C++: put `#[repr(C)]` on it"));
    }
    if repr.packed != 0 {
        errors.add(
            ident,
            "a packed struct cannot have bit-fields: the guide (§1.3) has no rule for them. Remove `packed`",
        );
    }
    if !input.generics.params.is_empty() {
        errors.add(
            &input.generics,
            "a type with bit-fields cannot be generic: its layout is computed once. Write one type for each argument",
        );
    }
}

/// Attributes of the type that stay: not its `repr`, and not what the expansion does itself.
fn kept(attrs: &[Attribute]) -> Vec<Attribute> {
    let mut kept = Vec::new();
    for attribute in attrs {
        if attribute.path().is_ident("repr") || attribute.path().is_ident("ptx") {
            continue;
        }
        if attribute.path().is_ident("derive")
            && let Ok(paths) = attribute.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated)
        {
            let others =
                paths.iter().filter(|path| !path.segments.last().is_some_and(|s| OURS.iter().any(|o| s.ident == o)));
            kept.push(syn::parse_quote!(#[derive(#(#others),*)]));
            continue;
        }
        kept.push(attribute.clone());
    }
    kept
}

/// A member of the struct or union.
struct Member<'a> {
    field: &'a Field,
    name: &'a Ident,
    bits: Option<Bits>,
}

/// What `#[bits(..)]` and the type say about a bit-field.
struct Bits {
    width: usize,
    is_named: bool,
    integer: Integer,
}

/// An integer type of a bit-field.
#[derive(Clone, Copy)]
struct Integer {
    name: &'static str,
    /// The size in bytes.
    size: usize,
    is_signed: bool,
    /// The type inside, if this is a wrapper.
    inner: Option<&'static str>,
}

const fn integer(name: &'static str, size: usize, is_signed: bool, inner: Option<&'static str>) -> Integer {
    Integer { name, size, is_signed, inner }
}

// By name, for want of types.
const INTEGERS: [Integer; 14] = [
    integer("i8", 1, true, None),
    integer("u8", 1, false, None),
    integer("i16", 2, true, None),
    integer("u16", 2, false, None),
    integer("i32", 4, true, None),
    integer("u32", 4, false, None),
    integer("i64", 8, true, None),
    integer("u64", 8, false, None),
    integer("isize", 8, true, None),
    integer("usize", 8, false, None),
    integer("bool", 1, false, None),
    integer("CChar", 1, true, Some("i8")),
    integer("LongLong", 8, true, Some("i64")),
    integer("ULongLong", 8, false, Some("u64")),
];

impl<'a> Member<'a> {
    fn of(field: &'a Field) -> syn::Result<Self> {
        let name = field.ident.as_ref().expect("named fields have names");
        let mut widths = field.attrs.iter().filter(|attribute| attribute.path().is_ident("bits"));
        let Some(attribute) = widths.next() else { return Ok(Self { field, name, bits: None }) };
        if let Some(second) = widths.next() {
            return Err(syn::Error::new_spanned(second, "a bit-field has one width"));
        }
        let literal: LitInt = attribute
            .parse_args()
            .map_err(|error| syn::Error::new(error.span(), "expected the field's width in bits, as in `#[bits(3)]`"))?;
        let width: usize = literal.base10_parse()?;
        let is_named = !name.to_string().starts_with('_');
        let ty = &field.ty;
        let found = match ty {
            Type::Path(path) => path.path.segments.last().and_then(|s| INTEGERS.iter().find(|i| s.ident == i.name)),
            _ => None,
        };
        let Some(&integer) = found else {
            return Err(syn::Error::new_spanned(
                ty,
                "a bit-field has an integer type: i8 to i64, u8 to u64, `bool`, or `CChar`, `LongLong` or `ULongLong` of \
                `ptx::ffi`, written by that name",
            ));
        };
        if width == 0 && is_named {
            return Err(syn::Error::new(
                literal.span(),
                format!("a bit-field of length zero has no value: let its name begin with `_`, as in `_{name}`"),
            ));
        }
        if width > 8 * integer.size {
            return Err(syn::Error::new(
                literal.span(),
                format!("{width} bits are too many: `{}` has {}", integer.name, 8 * integer.size),
            ));
        }
        Ok(Self { field, name, bits: Some(Bits { width, is_named, integer }) })
    }

    /// Whether the member has accessors.
    fn is_visible(&self) -> bool {
        self.bits.as_ref().is_none_or(|bits| bits.is_named)
    }

    /// The expression for the member's `bits::Member`.
    fn layout(&self) -> TokenStream {
        let ty = &self.field.ty;
        match &self.bits {
            None => quote!(::ptx::__private::bits::Member::Plain {
                size: ::core::mem::size_of::<#ty>(),
                align: ::core::mem::align_of::<#ty>(),
            }),
            Some(Bits { width, is_named, .. }) => quote!(::ptx::__private::bits::Member::Bits {
                unit: ::core::mem::size_of::<#ty>(),
                width: #width,
                named: #is_named,
            }),
        }
    }

    /// The expression for the member's `cxx::Field`.
    fn entry(&self, index: usize) -> TokenStream {
        let ty = &self.field.ty;
        let name = if self.is_visible() { function::plain_name(self.name) } else { String::new() };
        let (bits, definition) = match &self.bits {
            None => (quote!(::core::option::Option::None), quote!(<#ty as ::ptx::__private::AbiType>::HELD)),
            Some(Bits { width, .. }) => (
                quote!(::core::option::Option::Some(::ptx::__private::cxx::Bits {
                    start: Self::__PTX_LAYOUT.places[#index].start as u8,
                    width: #width as u8,
                })),
                quote!(&::ptx::__private::cxx::Definition::OPAQUE),
            ),
        };
        quote!(::ptx::__private::cxx::Field {
            name: #name,
            cxx: <#ty as ::ptx::__private::CxxType>::CXX,
            offset: Self::__PTX_LAYOUT.places[#index].offset as u64,
            bits: #bits,
            definition: #definition,
        })
    }

    /// The accessors `a`, `set_a` and `with_a`.
    fn accessors(&self, index: usize) -> TokenStream {
        let Self { field, name, bits } = self;
        let (ty, vis) = (&field.ty, &field.vis);
        let plain = function::plain_name(name);
        let (set, with) =
            (format_ident!("set_{plain}", span = name.span()), format_ident!("with_{plain}", span = name.span()));
        let (read, write) = match bits {
            Some(bits) => bits.access(ty, index),
            None => (
                quote!({
                    // SAFETY: the layout has room for it here, so aligned; any bytes are a value.
                    unsafe { self.bytes.as_ptr().add(Self::__PTX_LAYOUT.places[#index].offset).cast::<#ty>().read() }
                }),
                quote!({
                    // SAFETY: as for reading.
                    unsafe {
                        self.bytes.as_mut_ptr().add(Self::__PTX_LAYOUT.places[#index].offset).cast::<#ty>().write(value);
                    }
                }),
            ),
        };
        let attrs = field.attrs.iter().filter(|attribute| !attribute.path().is_ident("bits"));
        let doc = (!field.attrs.iter().any(|a| a.path().is_ident("doc"))).then(|| {
            let text = format!("The member `{plain}`.");
            quote!(#[doc = #text])
        });
        let set_doc = format!(
            "Writes the member `{plain}`{}.",
            if bits.is_some() { ", keeping the value's lowest bits" } else { "" }
        );
        let with_doc = format!("The same with `{plain}` written, as [`Self::{set}`] does.");
        let allow = function::allow(&quote!(dead_code));
        quote_spanned! {name.span()=>
            #(#attrs)*
            #doc
            #allow
            #[inline(always)]
            #vis const fn #name(&self) -> #ty {
                #read
            }

            #[doc = #set_doc]
            #allow
            #[inline(always)]
            #vis const fn #set(&mut self, value: #ty) {
                #write
            }

            #[doc = #with_doc]
            #allow
            #[must_use]
            #[inline(always)]
            #vis const fn #with(mut self, value: #ty) -> Self {
                self.#set(value);
                self
            }
        }
    }
}

impl Bits {
    /// The expressions that read and write the member.
    fn access(&self, ty: &Type, index: usize) -> (TokenStream, TokenStream) {
        let Self { width, integer, .. } = self;
        let get = format_ident!("{}", if integer.is_signed { "get_signed" } else { "get" });
        let raw = quote!(::ptx::__private::bits::#get(&self.bytes, Self::__PTX_LAYOUT.places[#index], #width));
        let (value, bits) = match integer.inner {
            Some(inner) => {
                let inner = format_ident!("{inner}");
                (quote!(#ty(#raw as #inner)), quote!(value.0 as u64))
            }
            None if integer.name == "bool" => (quote!(#raw != 0), quote!(value as u64)),
            None => (quote!(#raw as #ty), quote!(value as u64)),
        };
        let write = quote! {
            ::ptx::__private::bits::set(&mut self.bytes, Self::__PTX_LAYOUT.places[#index], #width, #bits)
        };
        (value, write)
    }
}

/// The type itself and its accessors.
fn storage(input: &DeriveInput, members: &[Member<'_>], is_union: bool, align: usize) -> TokenStream {
    let DeriveInput { vis, ident, .. } = input;
    let attrs = kept(&input.attrs);
    let count = members.len();
    let layouts = members.iter().map(Member::layout);
    let checks = members.iter().filter(|member| member.bits.is_none()).map(|member| {
        let ty = &member.field.ty;
        quote_spanned!(ty.span()=> plain::<#ty>();)
    });
    let accessors = members.iter().enumerate().filter(|(_, m)| m.is_visible()).map(|(index, m)| m.accessors(index));
    let allow = function::allow(&quote!(dead_code));
    quote! {
        #(#attrs)*
        #[derive(::core::clone::Clone, ::core::marker::Copy)]
        #[repr(C)]
        #vis struct #ident {
            align: [<::ptx::__private::bits::Aligned<{ #ident::__PTX_LAYOUT.align }> as ::ptx::__private::bits::Carrier>::Type; 0],
            bytes: [u8; #ident::__PTX_LAYOUT.size],
        }

        impl #ident {
            const __PTX_LAYOUT: ::ptx::__private::bits::Layout<#count> = {
                const fn plain<T: ::ptx::Plain>() {
                    let () = <T as ::ptx::__private::AbiType>::FIELD;
                }
                #(#checks)*
                ::ptx::__private::bits::layout(&[#(#layouts),*], #is_union, #align)
            };

            /// With zero in every member.
            #allow
            #[inline(always)]
            #vis const fn new() -> Self {
                Self { align: [], bytes: [0; Self::__PTX_LAYOUT.size] }
            }

            #(#accessors)*
        }
    }
}

/// `Default`, `Debug` and what needs no layout.
fn traits(input: &DeriveInput, members: &[Member<'_>]) -> TokenStream {
    let ident = &input.ident;
    let names: Vec<_> = members.iter().filter(|member| member.is_visible()).map(|member| member.name).collect();
    let texts = names.iter().map(|name| function::plain_name(name));
    let title = ident.to_token_stream().to_string();
    quote! {
        #[automatically_derived]
        impl ::core::default::Default for #ident {
            #[inline(always)]
            fn default() -> Self {
                Self::new()
            }
        }

        #[automatically_derived]
        impl ::core::fmt::Debug for #ident {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.debug_struct(#title)#(.field(#texts, &self.#names()))*.finish()
            }
        }

        // SAFETY: bytes that are all members', or always there.
        #[automatically_derived]
        unsafe impl ::ptx::Plain for #ident {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(item: &str) -> String {
        let error = expand(TokenStream::new(), item.parse().unwrap()).err();
        error.unwrap_or_else(|| panic!("no error for {item}")).to_string()
    }

    #[test]
    fn the_expansion_is_rust() {
        for item in [
            "#[repr(C)] struct S { #[bits(3)] a: u32, #[bits(0)] _end: u32, pub b: [f32; 2] }",
            "#[repr(C, align(16))] #[derive(Debug, PartialEq)] pub struct S { #[bits(1)] r#type: bool }",
            "#[repr(C)] union U { #[bits(33)] a: LongLong, b: u8 }",
        ] {
            let tokens = expand(TokenStream::new(), item.parse().unwrap()).unwrap_or_else(|e| panic!("{item}: {e}"));
            syn::parse2::<syn::File>(tokens).expect("the expansion is Rust");
        }
    }

    #[test]
    fn derives_that_would_clash_are_left_out() {
        let item = "#[repr(C)] #[derive(Clone, Debug, PartialEq)] struct S { #[bits(1)] a: u8 }";
        let text = expand(TokenStream::new(), item.parse().unwrap()).unwrap().to_string();
        assert!(text.contains("derive (PartialEq)"), "{text}");
        assert!(!text.contains("repr (C , "));
    }

    #[test]
    fn mistakes() {
        assert!(error("#[repr(C)] struct S { #[bits(0)] a: u32 }").contains("as in `_a`"));
        assert!(error("#[repr(C)] struct S { #[bits(33)] a: u32 }").contains("`u32` has 32"));
        assert!(error("#[repr(C)] struct S { #[bits(2)] a: f32 }").contains("integer type"));
        assert!(error("#[repr(C)] struct S { #[bits] a: u32 }").contains("#[bits(3)]"));
        assert!(error("#[repr(C)] struct S { #[bits(1)] #[bits(2)] a: u32 }").contains("one width"));
        assert!(error("#[repr(C)] struct S<T> { #[bits(1)] a: u32, b: T }").contains("generic"));
        assert!(error("struct S { #[bits(1)] a: u32 }").contains("`#[repr(C)]`"));
        assert!(error("#[repr(C, packed)] struct S { #[bits(1)] a: u32 }").contains("packed"));
        assert!(error("#[repr(C)] struct S { a: u32 }").contains("AbiType"));
        assert!(error("#[repr(C)] struct S(u32);").contains("named fields"));
    }
}
