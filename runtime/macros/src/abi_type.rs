//! `#[derive(AbiType)]`: checks the `repr`, and that every field has a layout too.

mod bytes;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{
    Data, DataEnum, DeriveInput, Fields, GenericParam, LitInt, LitStr, Member, Type, TypeTraitObject, parenthesized,
    parse_quote, token,
};

use crate::errors::Errors;

/// The largest alignment that a parameter may have (PTX Writer's Guide to Interoperability 12.8, §2.3).
const MAX_ALIGN: u64 = 128;

/// The impls for `item`.
pub fn expand(item: TokenStream) -> syn::Result<TokenStream> {
    let input: DeriveInput = syn::parse2(item)?;
    let repr = Repr::of(&input)?;
    let cxx = CxxName::of(&input)?;
    let layout = match &input.data {
        Data::Struct(data) => record(&input, &repr, &cxx, quote!(Struct), &data.fields)?,
        Data::Union(data) => record(&input, &repr, &cxx, quote!(Union), &Fields::Named(data.fields.clone()))?,
        Data::Enum(data) => enumeration(&input, &repr, &cxx, data)?,
    };
    Ok(impls(input, &layout))
}

/// The impls for an `item` that was refused, so that rustc does not refuse each use of it, too.
pub fn placeholder(item: TokenStream) -> TokenStream {
    let Ok(input) = syn::parse2::<DeriveInput>(item) else { return TokenStream::new() };
    // No impl for what borrows is right: the traits ask for `'static`.
    if input.generics.lifetimes().next().is_some() {
        return TokenStream::new();
    }
    let layout = Layout {
        ty: quote!(::ptx::__private::Type::scalar::<Self>(::ptx::__private::Class::Unsigned)),
        cxx: quote!(::ptx::__private::cxx::Cxx::Builtin(::ptx::__private::cxx::Builtin::UnsignedInt)),
        definition: quote!(&::ptx::__private::cxx::Definition::OPAQUE),
        pointed: None,
    };
    impls(input, &layout)
}

/// The impl of `CxxType` alone, for a type that is only pointed to.
pub fn expand_name(item: TokenStream) -> syn::Result<TokenStream> {
    let mut input: DeriveInput = syn::parse2(item)?;
    let cxx = CxxName::of(&input)?;
    let keyword = match &input.data {
        Data::Struct(_) | Data::Enum(_) => quote!(Struct),
        Data::Union(_) => quote!(Union),
    };
    let named = cxx.tokens(&input, &keyword);
    let name = &input.ident;
    for parameter in input.generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(::ptx::__private::CxxType));
    }
    let (generics, arguments, where_clause) = input.generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #generics ::ptx::__private::CxxType for #name #arguments #where_clause {
            const CXX: ::ptx::__private::cxx::Cxx<'static> = #named;
        }
    })
}

/// The values of the traits' constants.
pub struct Layout {
    /// `AbiType::TYPE`
    pub ty: TokenStream,
    /// `CxxType::CXX`
    pub cxx: TokenStream,
    /// `CxxType::DEFINITION`
    pub definition: TokenStream,
    /// `CxxType::POINTED`, if it is not the default.
    pub pointed: Option<TokenStream>,
}

fn record(
    input: &DeriveInput,
    repr: &Repr,
    cxx: &CxxName,
    keyword: TokenStream,
    fields: &Fields,
) -> syn::Result<Layout> {
    if !repr.c && !repr.transparent {
        return Err(syn::Error::new(
            input.ident.span(),
            format!("the layout of `{}` is not fixed: put `#[repr(C)]` (or `#[repr(transparent)]`) on it", input.ident),
        ));
    }
    let real: Vec<_> = fields.members().zip(fields).filter(|(_, field)| !is_phantom(&field.ty)).collect();
    let mut errors = Errors::default();
    for lifetime in input.generics.lifetimes() {
        errors.add(
            lifetime,
            "a type that host and device share has no lifetime parameters, because it holds no references: make the \
            field a raw pointer, or pass the reference as a parameter of its own",
        );
    }
    real.iter().for_each(|(_, field)| refuse_dyn(&field.ty, &mut errors));
    errors.finish()?;
    // One trait, named in one way: then rustc reports a field's wrong type once.
    let checks = real.iter().map(|(_, field)| {
        let ty = &field.ty;
        quote_spanned!(ty.span()=> <#ty as ::ptx::__private::AbiType>::FIELD)
    });
    let checked = |value: TokenStream| quote!({ #(let () = #checks;)* #value });
    if let ([(_, only)], true) = (&real[..], repr.transparent) {
        // As its only field: that is what `transparent` promises.
        let only = &only.ty;
        return Ok(Layout {
            ty: checked(quote_spanned!(only.span()=> <#only as ::ptx::__private::AbiType>::TYPE)),
            cxx: quote_spanned!(only.span()=> <#only as ::ptx::__private::AbiType>::NAME),
            definition: quote_spanned!(only.span()=> <#only as ::ptx::__private::AbiType>::HELD),
            pointed: Some(quote!(<#only as ::ptx::__private::CxxType>::POINTED)),
        });
    }
    let named = cxx.tokens(input, &keyword);
    let entries = real.iter().map(|(member, field)| {
        let ty = &field.ty;
        let name = match member {
            Member::Named(ident) => ident.to_string().trim_start_matches("r#").to_owned(),
            Member::Unnamed(index) => format!("_{}", index.index),
        };
        let cxx = quote_spanned!(ty.span()=> <#ty as ::ptx::__private::AbiType>::NAME);
        let held = quote_spanned!(ty.span()=> <#ty as ::ptx::__private::AbiType>::HELD);
        quote!(::ptx::__private::cxx::Field {
            name: #name,
            cxx: #cxx,
            offset: ::core::mem::offset_of!(Self, #member) as u64,
            bits: ::core::option::Option::None,
            definition: #held,
        })
    });
    let packed = repr.packed;
    Ok(Layout {
        ty: checked(quote!(::ptx::__private::Type::aggregate::<Self>())),
        cxx: named,
        definition: definition(
            &quote!(::ptx::__private::cxx::Body::Record { fields: &[#(#entries),*], packed: #packed }),
        ),
        pointed: None,
    })
}

/// C++ gives an empty struct a size: its alignment.
pub fn definition(body: &TokenStream) -> TokenStream {
    quote!(&::ptx::__private::cxx::Definition {
        cxx: <Self as ::ptx::__private::CxxType>::CXX,
        size: if ::core::mem::size_of::<Self>() == 0 {
            ::core::mem::align_of::<Self>() as u64
        } else {
            ::core::mem::size_of::<Self>() as u64
        },
        align: ::core::mem::align_of::<Self>() as u64,
        body: #body,
    })
}

fn enumeration(input: &DeriveInput, repr: &Repr, cxx: &CxxName, data: &DataEnum) -> syn::Result<Layout> {
    let mut errors = Errors::default();
    for variant in data.variants.iter().filter(|v| !matches!(v.fields, Fields::Unit)) {
        errors.add(
            variant,
            "an enum whose variants have fields has no device layout: use a `#[repr(C)]` struct with a \
            tag and a union",
        );
    }
    errors.finish()?;
    let Some(integer) = &repr.integer else {
        return Err(syn::Error::new(
            input.ident.span(),
            format!("the size of `{}` is not fixed: put `#[repr(u32)]`, or another integer type, on it", input.ident),
        ));
    };
    let class = if integer.to_string().starts_with('i') { quote!(Signed) } else { quote!(Unsigned) };
    let builtin = builtin(&integer.to_string());
    let variants = data.variants.iter().map(|variant| {
        let ident = &variant.ident;
        let name = ident.to_string().trim_start_matches("r#").to_owned();
        quote!(::ptx::__private::cxx::Variant { name: #name, value: Self::#ident as #integer as i128 })
    });
    Ok(Layout {
        ty: quote!(::ptx::__private::Type::scalar::<Self>(::ptx::__private::Class::#class)),
        cxx: cxx.tokens(input, &quote!(Enum)),
        definition: definition(&quote!(::ptx::__private::cxx::Body::Enum {
            underlying: ::ptx::__private::cxx::Builtin::#builtin,
            variants: &[#(#variants),*],
        })),
        pointed: Some(quote!(<Self as ::ptx::__private::CxxType>::DEFINITION)),
    })
}

/// The variant of `Builtin` for one of Rust's types.
pub fn builtin(ty: &str) -> Ident {
    let name = match ty {
        "bool" => "Bool",
        "char" => "Char32",
        "u8" => "UnsignedChar",
        "u16" => "UnsignedShort",
        "u32" => "UnsignedInt",
        "i8" => "SignedChar",
        "i16" => "Short",
        "i32" => "Int",
        "i64" | "isize" => "Long",
        "i128" => "Int128",
        "u128" => "UnsignedInt128",
        _ => "UnsignedLong",
    };
    Ident::new(name, Span::call_site())
}

/// The impls of all traits that a type crossing the boundary has.
pub fn impls(mut input: DeriveInput, layout: &Layout) -> TokenStream {
    let name = &input.ident;
    for parameter in input.generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(::ptx::__private::AbiType));
    }
    let (generics, arguments, where_clause) = input.generics.split_for_impl();
    let zero = zero_bits(&input);
    let repr = Repr::of(&input).ok().filter(|_| cfg!(feature = "bytemuck"));
    let bytes = repr.map(|repr| bytes::impls(&input, repr.transparent, repr.integer.as_ref()));
    let Layout { ty, cxx, definition, pointed } = layout;
    let pointed = pointed
        .as_ref()
        .map(|pointed| quote!(const POINTED: &'static ::ptx::__private::cxx::Definition<'static> = #pointed;));
    quote! {
        #[automatically_derived]
        impl #generics ::ptx::__private::CxxType for #name #arguments #where_clause {
            const CXX: ::ptx::__private::cxx::Cxx<'static> = #cxx;
            const DEFINITION: &'static ::ptx::__private::cxx::Definition<'static> = #definition;
            #pointed
        }
        // SAFETY: `repr` fixes the layout, and every field is checked to have one.
        #[automatically_derived]
        unsafe impl #generics ::ptx::__private::AbiType for #name #arguments #where_clause {
            const TYPE: ::ptx::__private::Type = #ty;
            const HELD: &'static ::ptx::__private::cxx::Definition<'static> =
                <Self as ::ptx::__private::CxxType>::DEFINITION;
        }
        // SAFETY: passed as itself.
        #[automatically_derived]
        unsafe impl #generics ::ptx::__private::DeviceParam for #name #arguments #where_clause {
            type Raw = Self;
            const TYPE: ::ptx::__private::Type = <Self as ::ptx::__private::AbiType>::TYPE;
            const CXX: ::ptx::__private::cxx::Cxx<'static> = <Self as ::ptx::__private::CxxType>::CXX;
            const DEFINITION: &'static ::ptx::__private::cxx::Definition<'static> =
                <Self as ::ptx::__private::CxxType>::DEFINITION;
            #[inline(always)]
            unsafe fn from_raw(raw: Self) -> Self {
                raw
            }
            #[inline(always)]
            fn into_raw(self) -> Self {
                self
            }
        }
        // SAFETY: pushes the value, as `DeviceParam` says.
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
        #zero
        #bytes
    }
}

/// The impl by which memory of zeros may be a struct's or a union's: where zeros are a value of every field.
fn zero_bits(input: &DeriveInput) -> TokenStream {
    let types: Vec<&Type> = match &input.data {
        Data::Struct(data) => data.fields.iter().map(|field| &field.ty).collect(),
        Data::Union(data) => data.fields.named.iter().map(|field| &field.ty).collect(),
        Data::Enum(_) => return TokenStream::new(),
    };
    let name = &input.ident;
    let mut generics = input.generics.clone();
    let clause = generics.make_where_clause();
    for ty in types {
        // With a lifetime of its own, the condition may be false; without one that would be an error here. In an array,
        // because Rust's grammar has no condition on a plain type of functions.
        clause.predicates.push(parse_quote!(for<'__ptx> [#ty; 1]: ::ptx::__private::ValidAsZeroBits));
    }
    let (generics, arguments, clause) = generics.split_for_impl();
    quote! {
        // SAFETY: zeros are a value of every field, and nothing lies there but fields and padding.
        #[cfg(not(target_arch = "nvptx64"))]
        #[automatically_derived]
        unsafe impl #generics ::ptx::__private::ValidAsZeroBits for #name #arguments #clause {}
    }
}

/// The type's name in C++, from `#[ptx(name = "..", namespace = "..")]`.
pub struct CxxName {
    name: String,
    namespace: String,
}

impl CxxName {
    /// The type's own name, unless the attribute gives another.
    pub fn of(input: &DeriveInput) -> syn::Result<Self> {
        let mut this =
            Self { name: input.ident.to_string().trim_start_matches("r#").to_owned(), namespace: String::new() };
        for attribute in input.attrs.iter().filter(|a| a.path().is_ident("ptx")) {
            attribute.parse_nested_meta(|meta| {
                let value = |meta: &ParseNestedMeta<'_>| meta.value()?.parse::<LitStr>();
                if meta.path.is_ident("name") {
                    let literal = value(&meta)?;
                    check_identifier(&literal.value()).map_err(|message| syn::Error::new(literal.span(), message))?;
                    this.name = literal.value();
                } else if meta.path.is_ident("namespace") {
                    this.namespace = namespace(&value(&meta)?)?;
                } else {
                    return Err(meta.error("unknown option; known options: `name = \"…\"`, `namespace = \"a::b\"`"));
                }
                Ok(())
            })?;
        }
        Ok(this)
    }

    /// The expression for the type's `Cxx`.
    pub fn tokens(&self, input: &DeriveInput, keyword: &TokenStream) -> TokenStream {
        let Self { name, namespace } = self;
        let arguments = input.generics.params.iter().filter_map(|parameter| match parameter {
            GenericParam::Lifetime(_) => None,
            GenericParam::Type(ty) => {
                let ident = &ty.ident;
                Some(quote!(::ptx::__private::cxx::Argument::Type(&<#ident as ::ptx::__private::CxxType>::CXX)))
            }
            GenericParam::Const(parameter) => {
                let (ident, ty) = (&parameter.ident, &parameter.ty);
                let builtin = builtin(&ty.to_token_stream().to_string());
                Some(quote!(::ptx::__private::cxx::Argument::Value {
                    ty: ::ptx::__private::cxx::Builtin::#builtin,
                    value: #ident as i128,
                }))
            }
        });
        quote!(::ptx::__private::cxx::Cxx::Named(::ptx::__private::cxx::Name {
            keyword: ::ptx::__private::cxx::Keyword::#keyword,
            namespace: #namespace,
            name: #name,
            arguments: &[#(#arguments),*],
            header: "",
        }))
    }
}

/// A C++ namespace as in `a::b`.
pub fn namespace(literal: &LitStr) -> syn::Result<String> {
    let value = literal.value();
    for part in value.split("::") {
        check_identifier(part).map_err(|message| syn::Error::new(literal.span(), message))?;
    }
    Ok(value)
}

/// C++ identifiers that PTX can hold too.
fn check_identifier(name: &str) -> Result<(), String> {
    let good =
        name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') && name.starts_with(|c: char| !c.is_ascii_digit());
    if good { Ok(()) } else { Err(format!("`{name}` is not a name in C++: use ASCII letters, digits and `_`")) }
}

/// Refuses `dyn` anywhere in a type that crosses the boundary: host and device have different vtables (guide, chapter
/// 7).
pub fn refuse_dyn(ty: &Type, errors: &mut Errors) {
    struct Find<'e>(&'e mut Errors);
    impl<'a> Visit<'a> for Find<'_> {
        fn visit_type_trait_object(&mut self, object: &'a TypeTraitObject) {
            self.0.add(
                object,
                "a `dyn` cannot cross this boundary: its vtable holds addresses that only one side can call. Pass the \
                value's own type, or an enum that says which it is",
            );
        }
    }
    Find(errors).visit_type(ty);
}

/// Whether a type is `PhantomData`, by its name, because a macro knows no types. It has no bytes and no alignment, so
/// it changes no layout.
fn is_phantom(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|s| s.ident == "PhantomData"))
}

/// The contents of the `repr` attributes.
#[derive(Default)]
pub struct Repr {
    /// `repr(C)`
    pub c: bool,
    transparent: bool,
    integer: Option<Ident>,
    /// The `N` of `repr(packed(N))`; 0 if the type is not packed.
    pub packed: u64,
    /// The `N` of `repr(align(N))`; 0 if there is none.
    pub align: u64,
}

impl Repr {
    /// Reads the attributes of a type.
    pub fn of(input: &DeriveInput) -> syn::Result<Self> {
        let mut this = Self::default();
        for attribute in input.attrs.iter().filter(|a| a.path().is_ident("repr")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("C") {
                    this.c = true;
                } else if meta.path.is_ident("transparent") {
                    this.transparent = true;
                } else if meta.path.is_ident("align") || meta.path.is_ident("packed") {
                    let mut value = 1;
                    if meta.input.peek(token::Paren) {
                        let inner;
                        parenthesized!(inner in meta.input);
                        let number: LitInt = inner.parse()?;
                        value = number.base10_parse()?;
                        check_align(value, number.span())?;
                    }
                    if meta.path.is_ident("packed") {
                        this.packed = value;
                    } else {
                        this.align = value;
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
            "#[repr(C)] struct S;",
            "#[repr(C)] #[ptx(name = \"T\", namespace = \"a::b\")] struct S {}",
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
        assert!(error("#[repr(C)] #[ptx(nam = \"T\")] struct S;").contains("known options"));
        assert!(error("#[repr(C)] #[ptx(namespace = \"a::9\")] struct S;").contains("`9` is not a name in C++"));
        assert!(error("#[repr(C)] struct S { a: *const dyn Send }").contains("vtable"));
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
