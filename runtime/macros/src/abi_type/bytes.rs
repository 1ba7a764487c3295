//! The impls of bytemuck's traits: conditions on the fields decide which of them hold.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Generics, Ident, Type, WherePredicate, parse_quote};

/// For a type whose fields were checked, and of which is known whether it is `transparent` and an enum's `integer`.
pub fn impls(input: &DeriveInput, transparent: bool, integer: Option<&Ident>) -> TokenStream {
    match &input.data {
        Data::Struct(data) => {
            let types: Vec<&Type> = data.fields.iter().map(|field| &field.ty).collect();
            [zeroable(input, &types), pod(input, &types, transparent)].into_iter().collect()
        }
        // Where its fields overlap, it may have padding.
        Data::Union(data) => zeroable(input, &data.fields.named.iter().map(|field| &field.ty).collect::<Vec<_>>()),
        Data::Enum(data) => {
            let (name, Some(integer)) = (&input.ident, integer) else { return TokenStream::new() };
            let variants = data.variants.iter().map(|variant| &variant.ident);
            quote! {
                // SAFETY: an integer.
                #[automatically_derived]
                unsafe impl ::ptx::__private::bytemuck::NoUninit for #name {}
                // SAFETY: the integers of the variants are checked.
                #[automatically_derived]
                unsafe impl ::ptx::__private::bytemuck::CheckedBitPattern for #name {
                    type Bits = #integer;
                    #[inline]
                    fn is_valid_bit_pattern(bits: &#integer) -> bool {
                        [#(Self::#variants as #integer),*].contains(bits)
                    }
                }
            }
        }
    }
}

fn zeroable(input: &DeriveInput, types: &[&Type]) -> TokenStream {
    let name = &input.ident;
    let generics = with(&input.generics, types.iter().map(|ty| of_field(ty, &quote!(Zeroable))));
    let (generics, arguments, clause) = generics.split_for_impl();
    quote! {
        // SAFETY: zeros are a value of every field, and nothing lies there but fields and padding.
        #[automatically_derived]
        unsafe impl #generics ::ptx::__private::bytemuck::Zeroable for #name #arguments #clause {}
    }
}

fn pod(input: &DeriveInput, types: &[&Type], transparent: bool) -> TokenStream {
    let name = &input.ident;
    let mut conditions: Vec<WherePredicate> = types.iter().map(|ty| of_field(ty, &quote!(Pod))).collect();
    if !transparent {
        if !input.generics.params.is_empty() {
            // Rust has no condition on the size of a type that has parameters.
            return TokenStream::new();
        }
        let padding = quote!(::core::mem::size_of::<#name>() #(- ::core::mem::size_of::<#types>())*);
        conditions.push(parse_quote!(
            for<'__ptx> ::ptx::__private::Padding<{ #padding }>: ::ptx::__private::NoPadding
        ));
    }
    let generics = with(&input.generics, conditions);
    let (generics, arguments, clause) = generics.split_for_impl();
    quote! {
        // SAFETY: any bytes are a value of every field, and there is no padding.
        #[automatically_derived]
        unsafe impl #generics ::ptx::__private::bytemuck::Pod for #name #arguments #clause {}
    }
}

fn with(generics: &Generics, conditions: impl IntoIterator<Item = WherePredicate>) -> Generics {
    let mut generics = generics.clone();
    generics.make_where_clause().predicates.extend(conditions);
    generics
}

/// A condition that may be false, as `zero_bits` has it.
fn of_field(ty: &Type, name: &TokenStream) -> WherePredicate {
    parse_quote!(for<'__ptx> [#ty; 1]: ::ptx::__private::bytemuck::#name)
}
