//! `#[shared]` parameters of a kernel: made by its shim of a block's shared memory, once in every thread. And `#[children]`
//! ones, which are made of nothing.
//!
//! ```text
//! #[kernel]
//! fn k(n: u32, #[shared] tile: SharedTile<[f32; 256]>, #[shared(dynamic)] more: SharedTile<[f32]>) { .. }
//! // device, and the same where the CPU runs the kernel:
//! unsafe extern "C" fn shim(n: *const u32, more: *const [u32; 1]) {
//!     const BARRIERS: [u32; 2] = barriers([1, 1]);
//!     k(read(n), make(&raw mut a shared static, BARRIERS[0]), make(read(more), BARRIERS[1]))
//! }
//! // host: no argument for `tile`, and for `more` the lengths of its parts
//! fn k(n: u32, more: [u32; 1]) -> Launch { .. }
//! ```
//! A macro knows no types, and a Rust function's number of parameters cannot depend on one. So an attribute says which
//! parameters the host does not pass, and a trait what is made for them.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::parse_quote_spanned;
use syn::spanned::Spanned;

use crate::function::{Param, Source, allow};

/// The parameters that the host passes, in their order: of one of dynamic memory, the lengths of its parts.
pub fn passed(private: &TokenStream, params: &[Param]) -> Vec<Param> {
    let pass = |param: &Param| match param.source {
        Source::Caller => Some(param.clone()),
        Source::Static | Source::Children => None,
        Source::Dynamic => {
            let ty = &param.static_ty;
            let lengths = parse_quote_spanned!(ty.span()=> <#ty as #private::DynamicParam>::Lengths);
            Some(Param::new(param.name.clone(), lengths))
        }
    };
    params.iter().filter_map(pass).collect()
}

/// The constant `__PTX_BARRIERS`, which has the first number of each object's barriers; nothing if there are none.
pub fn barriers(private: &TokenStream, params: &[Param]) -> TokenStream {
    let made: Vec<&Param> =
        params.iter().filter(|param| matches!(param.source, Source::Static | Source::Dynamic)).collect();
    let Some(last) = made.last() else { return TokenStream::new() };
    let needs = made.iter().map(|param| {
        let (ty, of) = (&param.static_ty, kind(private, param));
        quote_spanned!(ty.span()=> <#ty as #of>::BARRIERS)
    });
    let count = made.len();
    // With the place of the parameter that is one too many.
    let span = last.ty.span().resolved_at(Span::call_site());
    let first = quote_spanned!(span=> barriers);
    quote_spanned! {span=>
        const __PTX_BARRIERS: [u32; #count] = {
            use #private::barriers;
            #first([#(#needs),*])
        };
    }
}

/// The function's arguments: of `read`, those that the host passed, in order; the others are made here. They are unsafe.
pub fn values(private: &TokenStream, params: &[Param], read: Vec<TokenStream>) -> Vec<TokenStream> {
    let (mut read, mut object) = (read.into_iter(), 0_usize..);
    let value = |param: &Param| {
        let Param { name, ty, static_ty, .. } = param;
        let of = kind(private, param);
        let span = ty.span().resolved_at(Span::call_site());
        let mut number = || object.next().map(|object| quote!(const { __PTX_BARRIERS[#object] }));
        match param.source {
            Source::Caller => read.next(),
            Source::Children => Some(quote_spanned!(span=> <#ty as #private::children::ChildrenParam>::make())),
            Source::Static => {
                let (number, allow) = (number(), allow(&quote!(non_upper_case_globals)));
                Some(quote_spanned! {span=> {
                    #allow
                    #[cfg_attr(target_arch = "nvptx64", used)]
                    #[cfg_attr(target_arch = "nvptx64", unsafe(link_section = ".ptx.shared"))]
                    static #name: #private::Shared<<#static_ty as #of>::Storage> = #private::SharedStatic::NEW;
                    <#ty as #of>::make(#name.as_ptr(), #number)
                }})
            }
            Source::Dynamic => {
                let (number, lengths) = (number(), read.next());
                Some(quote_spanned!(span=> <#ty as #of>::make(#lengths, #number)))
            }
        }
    };
    params.iter().filter_map(value).collect()
}

/// What the launcher asks of the types, and of the launch.
pub fn demands(private: &TokenStream, params: &[Param]) -> TokenStream {
    let demand = |param: &Param| {
        let Param { name, static_ty: ty, .. } = param;
        let (of, span) = (kind(private, param), ty.span().resolved_at(Span::call_site()));
        let check = quote_spanned!(ty.span()=> <#ty as #of>::BARRIERS);
        match param.source {
            Source::Caller => TokenStream::new(),
            Source::Children => quote_spanned! {span=>
                const _: () = {
                    const fn is_children<T: #private::children::ChildrenParam>() {}
                    is_children::<#ty>();
                };
            },
            Source::Static => quote_spanned!(span=> const _: u32 = #check;),
            Source::Dynamic => quote_spanned!(span=> __ptx_launch.need_shared(<#ty as #of>::bytes(#name));),
        }
    };
    params.iter().map(demand).collect()
}

/// The trait of what is made for a parameter.
fn kind(private: &TokenStream, param: &Param) -> TokenStream {
    match param.source {
        Source::Dynamic => quote!(#private::DynamicParam),
        _ => quote!(#private::SharedParam),
    }
}
