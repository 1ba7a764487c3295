//! `image!()`: includes what the build script made.

use std::path::Path;

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::LitStr;

/// `include!` of the named crate's image, or of the package's own.
pub fn expand(arguments: TokenStream) -> syn::Result<TokenStream> {
    let (package, span) = if arguments.is_empty() {
        (std::env::var("CARGO_PKG_NAME").unwrap_or_default(), Span::call_site())
    } else {
        let name: LitStr = syn::parse2(arguments)?;
        (name.value(), name.span())
    };
    let name = package.replace('-', "_");
    let Ok(out_dir) = std::env::var("OUT_DIR") else {
        return Err(syn::Error::new(
            span,
            "this package has no build script, so there is no device code: add a build.rs with \
             `fn main() { ptx_build::build() }`, and ptx-build to [build-dependencies]",
        ));
    };
    let file = format!("{name}.image.rs");
    if !Path::new(&out_dir).join(&file).exists() {
        return Err(syn::Error::new(
            span,
            format!(
                "the build script made no device code for `{package}`: its build.rs must call `ptx_build::build()`, \
                 or `ptx_build::Builder::new().kernels(\"path/to/{package}\").build()` for another crate's kernels"
            ),
        ));
    }
    // SAFETY: the file calls `ptx::Image::new` with code and descriptions that ptx-build wrote together. The block stands
    // here and not in the file, so that crates with `#![forbid(unsafe_code)]` have images: rustc exempts what macros of
    // other crates write.
    Ok(quote!(unsafe { ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/", #file)) }))
}
