//! `#[derive(AbiType)]`: checks the `repr`, and that every field has a layout too.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DataEnum, DeriveInput, Fields, LitInt, Type, parenthesized, parse_quote, token};

use crate::function::Errors;

/// The most that a parameter may have (PTX Writer's Guide to Interoperability 12.8, §2.3).
const MAX_ALIGN: u64 = 128;

/// The impls for `item`.
pub fn expand(item: TokenStream) -> syn::Result<TokenStream> {
    let input: DeriveInput = syn::parse2(item)?;
    let repr = Repr::of(&input)?;
    let ty = match &input.data {
        Data::Struct(data) => {
            let fields: Vec<_> = data.fields.iter().map(|f| &f.ty).collect();
            if let Fields::Unit = data.fields {
                return Err(empty(&input));
            }
            record(&input, &repr, &fields)?
        }
        Data::Union(data) => record(&input, &repr, &data.fields.named.iter().map(|f| &f.ty).collect::<Vec<_>>())?,
        Data::Enum(data) => enumeration(&input, &repr, data)?,
    };
    Ok(impls(input, &ty))
}

/// `TYPE` of a struct or union.
fn record(input: &DeriveInput, repr: &Repr, fields: &[&Type]) -> syn::Result<TokenStream> {
    if fields.is_empty() {
        return Err(empty(input));
    }
    if !repr.c && !repr.transparent {
        return Err(syn::Error::new(
            input.ident.span(),
            format!("the layout of `{}` is not fixed: put `#[repr(C)]` (or `#[repr(transparent)]`) on it", input.ident),
        ));
    }
    let checks = fields.iter().filter(|ty| !is_phantom(ty)).map(|ty| quote_spanned!(ty.span()=> field::<#ty>();));
    let real: Vec<_> = fields.iter().filter(|ty| !is_phantom(ty)).collect();
    let ty = match real[..] {
        // As its only field: that is what `transparent` promises.
        [only] if repr.transparent => quote!(<#only as ::ptx::__private::AbiType>::TYPE),
        _ => quote!(::ptx::__private::Type::aggregate::<Self>()),
    };
    Ok(quote!({
        const fn field<T: ::ptx::__private::AbiType>() {}
        #(#checks)*
        ::core::assert!(
            ::core::mem::size_of::<Self>() > 0,
            "a type of size 0 has no device layout: C++ gives it one byte"
        );
        #ty
    }))
}

/// `TYPE` of an enum.
fn enumeration(input: &DeriveInput, repr: &Repr, data: &DataEnum) -> syn::Result<TokenStream> {
    let mut errors = Errors::default();
    for variant in data.variants.iter().filter(|v| !matches!(v.fields, Fields::Unit)) {
        errors.add(
            variant,
            "an enum whose variants have fields has no device layout: use a `#[repr(C)]` struct with a \
            tag and a union",
        );
    }
    errors.finish()?;
    match &repr.integer {
        Some(integer) if integer.to_string().starts_with('i') => {
            Ok(quote!(::ptx::__private::Type::scalar::<Self>(::ptx::__private::Class::Signed)))
        }
        Some(_) => Ok(quote!(::ptx::__private::Type::scalar::<Self>(::ptx::__private::Class::Unsigned))),
        None => Err(syn::Error::new(
            input.ident.span(),
            format!("the size of `{}` is not fixed: put `#[repr(u32)]`, or another integer type, on it", input.ident),
        )),
    }
}

fn impls(mut input: DeriveInput, ty: &TokenStream) -> TokenStream {
    let name = &input.ident;
    for parameter in input.generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(::ptx::__private::AbiType));
    }
    let (generics, arguments, where_clause) = input.generics.split_for_impl();
    quote! {
        // SAFETY: `repr` fixes the layout, and every field is checked to have one.
        #[automatically_derived]
        unsafe impl #generics ::ptx::__private::AbiType for #name #arguments #where_clause {
            const TYPE: ::ptx::__private::Type = #ty;
        }
        // SAFETY: passed as itself.
        #[automatically_derived]
        unsafe impl #generics ::ptx::__private::KernelParam for #name #arguments #where_clause {
            type Raw = Self;
            const TYPE: ::ptx::__private::Type = <Self as ::ptx::__private::AbiType>::TYPE;
            #[inline(always)]
            unsafe fn from_raw(raw: Self) -> Self {
                raw
            }
        }
        // SAFETY: pushes the value, as `KernelParam` says.
        #[cfg(not(target_arch = "nvptx64"))]
        #[automatically_derived]
        unsafe impl #generics ::ptx::__private::HostParam for #name #arguments #where_clause {
            type Host<'__ptx> = Self;
            fn push<'__ptx>(host: Self, launch: &mut ::ptx::__private::Launch<'__ptx>) {
                launch.push_value(host);
            }
        }
        // SAFETY: the layout is the device's.
        #[cfg(not(target_arch = "nvptx64"))]
        #[automatically_derived]
        unsafe impl #generics ::ptx::__private::DeviceRepr for #name #arguments #where_clause {}
    }
}

fn empty(input: &DeriveInput) -> syn::Error {
    syn::Error::new(
        input.ident.span(),
        format!("`{}` has no fields, and so no device layout: C++ gives an empty struct one byte", input.ident),
    )
}

/// By name, for want of types: `PhantomData` has no bytes and no alignment, so it changes no layout.
fn is_phantom(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|s| s.ident == "PhantomData"))
}

#[derive(Default)]
struct Repr {
    c: bool,
    transparent: bool,
    integer: Option<Ident>,
}

impl Repr {
    fn of(input: &DeriveInput) -> syn::Result<Self> {
        let mut this = Self::default();
        for attribute in input.attrs.iter().filter(|a| a.path().is_ident("repr")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("C") {
                    this.c = true;
                } else if meta.path.is_ident("transparent") {
                    this.transparent = true;
                } else if meta.path.is_ident("align") || meta.path.is_ident("packed") {
                    if meta.input.peek(token::Paren) {
                        let inner;
                        parenthesized!(inner in meta.input);
                        let number: LitInt = inner.parse()?;
                        check_align(number.base10_parse()?, number.span())?;
                    }
                } else if let Some(ident) = meta.path.get_ident() {
                    match ident.to_string().as_str() {
                        "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" | "isize" => {
                            this.integer = Some(ident.clone());
                        }
                        other => {
                            return Err(meta.error(format!("a type with `repr({other})` has no device layout")));
                        }
                    }
                }
                Ok(())
            })?;
        }
        Ok(this)
    }
}

fn check_align(align: u64, span: Span) -> syn::Result<()> {
    if align > MAX_ALIGN {
        return Err(syn::Error::new(
            span,
            format!("an alignment of {align} is too much: a kernel's parameter may have at most {MAX_ALIGN}"),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(item: &str) -> String {
        expand(item.parse().unwrap()).err().unwrap_or_else(|| panic!("no error for {item}")).to_string()
    }

    #[test]
    fn layouts_that_are_fixed() {
        for item in [
            "#[repr(C)] struct S { a: f32, b: [u8; 3] }",
            "#[repr(C, align(128))] struct S(f32);",
            "#[repr(C, packed(2))] struct S<T, const N: usize> { a: [T; N] }",
            "#[repr(transparent)] struct S<T>(f32, PhantomData<T>);",
            "#[repr(C)] union U { a: f32, b: u32 }",
            "#[repr(i8)] enum E { A = -1, B }",
        ] {
            let tokens = expand(item.parse().unwrap()).unwrap_or_else(|e| panic!("{item}: {e}"));
            syn::parse2::<syn::File>(tokens).expect("the expansion is Rust");
        }
    }

    #[test]
    fn layouts_that_are_not() {
        assert!(error("struct S { a: f32 }").contains("`#[repr(C)]`"));
        assert!(error("#[repr(align(16))] struct S { a: f32 }").contains("not fixed"));
        assert!(error("#[repr(C, align(256))] struct S(f32);").contains("at most 128"));
        assert!(error("#[repr(C)] struct S;").contains("no fields"));
        assert!(error("#[repr(C)] struct S {}").contains("no fields"));
        assert!(error("union U { a: f32 }").contains("not fixed"));
        assert!(error("enum E { A }").contains("`#[repr(u32)]`"));
        assert!(error("#[repr(u8)] enum E { A(f32) }").contains("have fields"));
        assert!(error("#[repr(simd)] struct S(f32);").contains("repr(simd)"));
    }

    #[test]
    fn transparent_is_its_field() {
        let text = expand("#[repr(transparent)] struct S(f32);".parse().unwrap()).unwrap().to_string();
        assert!(text.contains("< f32 as :: ptx :: __private :: AbiType > :: TYPE"));
    }
}
