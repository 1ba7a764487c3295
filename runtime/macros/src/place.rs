//! `#[shared]` and `#[constant]`: statics in memory of their own.
//!
//! ```text
//! #[shared] static TILE: Shared<[f32; 256]>;
//! →  #[used] #[link_section = ".ptx.shared"] static TILE: Shared<[f32; 256]> = <Shared<[f32; 256]> as SharedStatic>::NEW;
//! #[constant] static TABLE: [u8; 4] = [1, 2, 3, 4];
//! →  #[link_section = ".ptx.constant"] static TABLE: [u8; 4] = [1, 2, 3, 4];
//! #[constant] static TABLE: Constant<[u8; 4]> = Constant::new([1, 2, 3, 4]);
//! →  #[used] #[link_section = ".ptx.constant.host"] static TABLE: Constant<[u8; 4]> = Constant::new([1, 2, 3, 4]).__at("my_crate::TABLE");
//! #[global] static COUNT: Global<u32> = Global::new(0);
//! →  #[used] #[link_section = ".ptx.global"] static COUNT: Global<u32> = Global::new(0).__at("my_crate::COUNT");
//! ```
//! The compiler moves what lies in these sections. `used`, because rustc's own optimiser must not take a static that it
//! sees written once for a local variable.

use proc_macro2::TokenStream;
use quote::quote_spanned;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Ident, Token, Type, Visibility};

/// `static NAME: Type;` or `static NAME: Type = value;`
struct Static {
    attrs: Vec<Attribute>,
    vis: Visibility,
    keyword: Token![static],
    name: Ident,
    ty: Type,
    value: Option<Expr>,
}

impl Parse for Static {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let (attrs, vis) = (input.call(Attribute::parse_outer)?, input.parse()?);
        let keyword = input.parse()?;
        if input.peek(Token![mut]) {
            return Err(input.error("not `static mut`: remove `mut`; shared and global memory are written through their types, and constant memory by the host"));
        }
        let name = input.parse()?;
        input.parse::<Token![:]>()?;
        let ty = input.parse()?;
        let value = input.parse::<Option<Token![=]>>()?.map(|_| input.parse()).transpose()?;
        input.parse::<Token![;]>()?;
        Ok(Self { attrs, vis, keyword, name, ty, value })
    }
}

fn parse(name: &str, arguments: TokenStream, item: TokenStream) -> syn::Result<Static> {
    if !arguments.is_empty() {
        return Err(syn::Error::new(arguments.span(), format!("`#[{name}]` takes no options")));
    }
    syn::parse2(item)
        .map_err(|error| syn::Error::new(error.span(), format!("`#[{name}]` stands before a static: {error}")))
}

/// The expansion of `#[shared] item`.
pub fn shared(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let Static { attrs, vis, keyword, name, ty, value } = parse("shared", arguments, item)?;
    if let Some(value) = value {
        let message = "shared memory has no value to begin with: end the static with `;` after its type, and write the \
                       first values in the kernel";
        return Err(syn::Error::new(value.span(), message));
    }
    let new = quote_spanned!(ty.span()=> <#ty as ::ptx::__private::SharedStatic>::NEW);
    // With the static's place, which is then the line that debug information has for it.
    Ok(quote_spanned! {keyword.span()=>
        #(#attrs)*
        #[cfg_attr(target_arch = "nvptx64", used)]
        #[cfg_attr(target_arch = "nvptx64", unsafe(link_section = ".ptx.shared"))]
        #vis #keyword #name: #ty = #new;
    })
}

/// The expansion of `#[constant] item`.
pub fn constant(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let Static { attrs, vis, keyword, name, ty, value } = parse("constant", arguments, item)?;
    let Some(value) = value else {
        return Err(syn::Error::new(name.span(), "a constant static has a value: `static NAME: Type = value;`"));
    };
    if is_named(&ty, "Constant") {
        return Ok(for_host(".ptx.constant.host", Static { attrs, vis, keyword, name, ty, value: None }, &value));
    }
    let check = quote_spanned!(ty.span()=> ::ptx::__private::may_be_constant::<#ty>());
    Ok(quote_spanned! {keyword.span()=>
        #(#attrs)*
        #[cfg_attr(target_arch = "nvptx64", unsafe(link_section = ".ptx.constant"))]
        #vis #keyword #name: #ty = {
            const _: () = #check;
            #value
        };
    })
}

/// The expansion of `#[global] item`.
pub fn global(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let mut item = parse("global", arguments, item)?;
    let Some(value) = item.value.take() else {
        let message = "a global static has a value: `static NAME: Global<Type> = Global::new(value);`";
        return Err(syn::Error::new(item.name.span(), message));
    };
    if !is_named(&item.ty, "Global") {
        let message = "a global static has the type `ptx::Global<T>`; what only kernels use is an ordinary static";
        return Err(syn::Error::new(item.ty.span(), message));
    }
    Ok(for_host(".ptx.global", item, &value))
}

/// A static that the host finds by its path.
fn for_host(section: &str, item: Static, value: &Expr) -> TokenStream {
    let Static { attrs, vis, keyword, name, ty, .. } = item;
    quote_spanned! {keyword.span()=>
        #(#attrs)*
        #[cfg_attr(target_arch = "nvptx64", used)]
        #[cfg_attr(target_arch = "nvptx64", unsafe(link_section = #section))]
        #vis #keyword #name: #ty = (#value).__at(::core::concat!(::core::module_path!(), "::", ::core::stringify!(#name)));
    }
}

/// Whether the type is a path that ends in `name<…>`.
fn is_named(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == name))
}
