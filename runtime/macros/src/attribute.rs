//! `#[kernel]`: the function's two sides.
//!
//! ```text
//! #[kernel]                                  // device
//! fn k(a: f32, x: &[f32]) { body }           fn k(a: f32, x: &[f32]) { body }
//!                                            unsafe extern "C" fn shim(a: *const f32, x: *const RawSlice<f32>) { .. }
//!                                            #[used] static ENTRY: Entry = Entry { shim, .. };
//!                                            // host
//!                                            fn k<'l>(a: f32, x: &'l dyn DeviceRead<f32>) -> Launch<'l> { .. }
//! ```
//! Both sides stand under `cfg(target_arch)`, so one expansion serves both compilations. Where cargo-ptx says which one this
//! is, the other's side is left out: rustc would read it, with the body, only to throw it away.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ItemFn;

use crate::arguments::Arguments;
use crate::child;
use crate::float::expand_blocks;
use crate::function;
use crate::generic;
use crate::instances;
use crate::kernel::Kernel;

/// The expansion of `#[kernel(arguments)] item`.
pub fn expand(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let is_for_host = std::env::var_os(ptx_abi::DEVICE_ONLY_VARIABLE).is_none();
    expand_for(is_for_host, arguments, item)
}

/// The same, with the host's side or without.
fn expand_for(is_for_host: bool, arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let (mut function, is_read) = function::parse(item).map_err(|error| {
        syn::Error::new(error.span(), format!("`#[kernel]` stands before a function with a body: {error}"))
    })?;
    function::check_marks(&function.attrs, "kernel")?;
    let arguments: Arguments = syn::parse2(arguments)?;
    check_place(&function, is_read)?;
    // Before the attributes of parameters are gone.
    let signature = function.sig.clone();
    function::remove_sources(&mut function.sig);
    if is_read {
        expand_blocks(&mut function.block, &arguments.private())?;
    }
    let Some((key, given)) = &arguments.instantiate else {
        let kernel = Kernel::new(&function, &signature, &arguments, None)?;
        let (device, child) = (kernel.device(), child::launcher(&kernel)?);
        let host = is_for_host.then(|| kernel.host());
        return Ok(quote! {
            #[cfg(target_arch = "nvptx64")]
            #function
            #device
            #host
            #child
        });
    };
    generic::refuse(&arguments)?;
    let instances = instances::of(&signature, key, given.clone())?;
    let kernels = instances.iter().map(|instance| Kernel::new(&function, &signature, &arguments, Some(instance)));
    let kernels: Vec<_> = kernels.collect::<syn::Result<_>>()?;
    let device = kernels.iter().map(Kernel::device);
    let host = is_for_host.then(|| generic::host(&function, &signature, &kernels, &instances));
    let child = child::launchers(&function, &signature, &kernels, &instances);
    Ok(quote! {
        #[cfg(target_arch = "nvptx64")]
        #function
        #(#device)*
        #host
        #child
    })
}

/// A kernel is no method: an `impl` block cannot hold what stands beside the function, and has parameters of its own.
/// Whether there is one around it shows only where the function says so.
fn check_place(function: &ItemFn, is_read: bool) -> syn::Result<()> {
    let of_self = |tokens: TokenStream| find(tokens, "Self");
    let in_body = || if is_read { of_self(function.block.to_token_stream()) } else { None };
    match of_self(function.sig.to_token_stream()).or_else(in_body) {
        None => Ok(()),
        Some(place) => Err(syn::Error::new(
            place,
            "a kernel cannot stand in an `impl` block, where `Self` is: its entry point is one symbol, and `Self` may be \
            many types. Write a free function, generic if need be, as in `#[kernel(instantiate(f32, f64))]`, that calls the \
            method",
        )),
    }
}

/// The place of the first such word, but for what stands in braces after `impl`: items in a function may have their own.
fn find(tokens: TokenStream, word: &str) -> Option<Span> {
    let mut in_item = false;
    for token in tokens {
        match token {
            TokenTree::Ident(ident) if ident == word && !in_item => return Some(ident.span()),
            TokenTree::Ident(ident)
                if ["impl", "trait", "struct", "enum", "union"].iter().any(|item| ident == item) =>
            {
                in_item = true;
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => in_item = false,
            TokenTree::Group(group) => {
                if !in_item && let Some(found) = find(group.stream(), word) {
                    return Some(found);
                }
                in_item &= group.delimiter() != Delimiter::Brace;
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expansion(arguments: &str, item: &str) -> String {
        let tokens = expand(arguments.parse().unwrap(), item.parse().unwrap()).unwrap();
        syn::parse2::<syn::File>(tokens.clone()).expect("the expansion is Rust");
        tokens.to_string()
    }

    #[test]
    fn the_expansion_has_both_sides() {
        let text = expansion("launch_bounds(256, 2)", "pub unsafe fn k<'a>(a: f32, mut x: &'a [f32]) {}");
        assert!(text.contains("unsafe fn k < 'a > (a : f32 , mut x : & 'a [f32])"));
        assert!(text.contains("pub unsafe fn k < '__ptx , 'a >"));
        assert!(text.contains("\".ptx.interface\""));
        assert!(text.contains("< & 'static [f32] as :: ptx :: __private :: DeviceParam > :: ENCODED"));
        // A shared reference is known to be one.
        assert!(!expansion("", "fn k(x: &[f32], y: *mut u8) {}").contains("IN_KERNELS"));
        assert!(expansion("", "fn k(x: Alias) {}").contains("IN_KERNELS"));
        assert!(expansion("", "fn k(x: &mut f32) {}").contains("IN_KERNELS"));
    }

    #[test]
    fn a_device_build_reads_nothing_of_the_host() {
        for arguments in ["", "instantiate(f32, f64)"] {
            let item = if arguments.is_empty() { "fn k(a: f32) {}" } else { "fn k<T: AbiType>(a: T) {}" };
            let device = expand_for(false, arguments.parse().unwrap(), item.parse().unwrap()).unwrap().to_string();
            assert!(!device.contains("HostParam") && device.contains("__ptx_shim"), "{device}");
            let both = expansion(arguments, item);
            assert!(both.contains("HostParam") && both.starts_with(&device), "{both}");
        }
    }

    #[test]
    fn only_the_shim_relies_on_the_launch() {
        let text = expansion("dimensions = 2", "fn k() {}");
        let assumed = "unsafe { :: ptx :: __private :: assume_dimensions :: < 2 > () ;";
        assert_eq!(text.matches("assume_dimensions").count(), 1, "{text}");
        assert!(text.contains(assumed) && text.find(assumed) > text.find("__ptx_shim"), "{text}");
        assert_eq!(text.matches("dimensions : 2").count(), 2);
        assert_eq!(expansion("", "fn k() {}").matches("LaunchBounds :: NONE").count(), 1);
    }

    #[test]
    fn shared_parameters_are_made_by_the_shim() {
        let text = expansion("", "fn k(a: u32, #[shared] b: Tile<u8>, #[shared(dynamic)] c: Tile<u16>) {}");
        // The host passes the first, and the lengths of the last.
        assert_eq!(text.matches("const __PTX_PARAMS : [:: ptx :: __private :: Param < 'static > ; 2usize]").count(), 1);
        assert_eq!(text.matches(":: DeviceParam > :: ENCODED").count(), 2, "{text}");
        assert!(
            text.contains(
                "fn k < '__ptx , > (a : < u32 as :: ptx :: __private :: HostParam > :: Host < '__ptx > , c :"
            )
        );
        assert!(text.contains("static b : :: ptx :: __private :: Shared <") && !text.contains("# [shared"), "{text}");
        // Once for each side, and there for each object.
        assert_eq!(text.matches("const { __PTX_BARRIERS [1usize] }").count(), 2, "{text}");
        assert_eq!(text.matches("need_shared").count(), 1);
    }

    #[test]
    fn names_and_paths_can_be_chosen() {
        let text = expansion("name = \"other\", crate = gpu::ptx", "fn r#k(r#in: u32) {}");
        assert!(text.contains("name : \"other\"") && text.contains("name : \"in\""));
        assert!(text.contains(r"\x05\0other") && text.contains(r"\x02\0in\x03\0u32"), "{text}");
        assert!(text.contains("gpu :: ptx :: __private") && !text.contains(":: ptx :: __private :: ptx"));
        assert!(expansion("", "fn r#loop() {}").contains("name : \"loop\""));
    }

    #[test]
    fn kernels_can_have_cxx_names() {
        let text = expansion("export = \"C++\", namespace = \"a::b\"", "fn k() {}");
        assert!(text.contains("Mangling :: Cxx") && text.contains("namespace : \"a::b\""));
        assert!(expansion("export = \"C\"", "fn k() {}").contains("Mangling :: C ,"));
    }

    #[test]
    fn items_other_than_functions_are_refused() {
        let error = expand(
            TokenStream::new(),
            quote!(
                struct S;
            ),
        )
        .unwrap_err()
        .to_string();
        assert!(error.contains("`#[kernel]` stands before a function"), "{error}");
    }
}
