//! `#[kernel(child)]`: the type beside a kernel by which other kernels launch it.
//!
//! ```text
//! #[kernel(child)]
//! fn k(n: u32, x: &[f32]) { body }
//! // beside what every kernel has
//! enum k {}
//! impl k {
//!     fn launch<'g, W: With>(stream: Stream<'g, W>, grid: ChildGrid, n: u32, x: &'g [f32]) -> Result<(), ChildError> {
//!         // device: the arguments go into a buffer of the device runtime, in the entry point's layout
//!         // host: they wait for their turn, with the body, where the CPU runs kernels
//!     }
//! }
//! ```
//! A function and a type of one name do not meet in Rust, and one `use` imports both. Not every kernel has the type, since
//! modules have such names, too.

use proc_macro2::{Literal, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Type, parse_quote_spanned};

use crate::function::{self, Param, Source};
use crate::instances::with_lifetime;
use crate::kernel::{Kernel, inner};
use crate::shared_params;

/// The lifetime of the grid that launches and its children.
const GRID: &str = "'__ptx_grid";

/// The type and its function, or nothing.
pub fn launcher(kernel: &Kernel<'_>) -> syn::Result<TokenStream> {
    let Some(child) = &kernel.arguments.child else { return Ok(TokenStream::new()) };
    if kernel.arguments.export.as_ref().is_some_and(|export| export.is_cxx) {
        let message = "a kernel that kernels launch has a plain name: remove `export`, or `child`";
        return Err(syn::Error::new(child.span(), message));
    }
    let Kernel { function, private, .. } = kernel;
    // Lifetimes of the kernel's own are not known where it is launched.
    let params: Vec<Param> = kernel.params.iter().map(of_grid).collect();
    let passed = shared_params::passed(private, &params);
    let (vis, name, safety) = (&function.vis, &function.sig.ident, &function.sig.safety);
    let (names, types): (Vec<_>, Vec<_>) = passed.iter().map(|param| (&param.name, &param.ty)).unzip();
    let crossed: Vec<_> = (0..passed.len()).map(|index| format_ident!("__ptx_{index}")).collect();
    let layouts: Vec<_> = passed
        .iter()
        .map(|Param { static_ty, .. }| quote_spanned!(static_ty.span()=> <#static_ty as #private::DeviceParam>::TYPE))
        .collect();
    let checks = passed.iter().zip(&layouts).map(|(Param { ty, .. }, layout)| {
        let span = ty.span().resolved_at(Span::call_site());
        quote_spanned! {span=>
            const {
                ::core::assert!(
                    #private::children::may_have::<__PtxWith>(&#layout),
                    "a child that runs beside its parent cannot have a `DisjointSlice` or another exclusive view, which its \
                    parent's threads have, too: launch it in `children.tail()`, give it an `AtomicSlice`, or see \
                    `Stream::assume_alone`"
                );
                ::core::assert!(
                    #private::children::has_a_place(&#layout),
                    "a child's parameter has an alignment of at most 16 bytes: pass a reference to it"
                );
            }
        }
    });
    // With the type's place, where the lifetime may be missing.
    let cross = passed.iter().zip(&crossed).map(|(Param { name, ty, .. }, crossed)| {
        let span = ty.span().resolved_at(Span::call_site());
        quote_spanned!(span=> let #crossed = __ptx_stream.cross(#name);)
    });
    let need = params.iter().filter(|param| param.source == Source::Dynamic).map(|Param { name, ty, .. }| {
        quote_spanned!(ty.span()=> .with_at_least(<#ty as #private::DynamicParam>::bytes(#name)))
    });
    let symbol = kernel.name();
    let entry = format!("{}{symbol}", ptx_abi::ENTRY_PREFIX);
    let read = (0..passed.len()).map(|index| {
        let index = Literal::usize_unsuffixed(index);
        quote!(__ptx_arguments.#index.read())
    });
    let values = shared_params::values(private, &params, read.collect());
    let barriers = shared_params::barriers(private, &params);
    // The launcher has the same function, whose lints are reported there.
    let (inner, quiet) = (inner(function), function::allow(&quote!(warnings)));
    let cfgs: Vec<_> = function::cfgs(&function.attrs).collect();
    let allow = function::allow(&quote!(non_camel_case_types, dead_code, missing_debug_implementations));
    let allow_in_launch = function::allow(&quote!(
        clippy::missing_safety_doc,
        clippy::too_many_arguments,
        clippy::allow_attributes,
        clippy::allow_attributes_without_reason,
        unreachable_code,
        unused_variables,
        unused_unsafe
    ));
    let of_type = format!("Launches [`{name}`]({name}()) from other kernels.");
    let of_launch = format!(
        "Launches [`{name}`]({name}()) on the device: CUDA's `{name}<<<blocks, threads, bytes, stream>>>(…)` in a kernel. See \
        `ptx::children`."
    );
    let grid = syn::Lifetime::new(GRID, Span::call_site());
    Ok(quote! {
        #(#cfgs)*
        #[doc = #of_type]
        #allow
        #vis enum #name {}

        #(#cfgs)*
        #allow
        impl #name {
            #[doc = #of_launch]
            ///
            /// # Errors
            /// What the device runtime says: the grid is impossible, or too many launches wait.
            #allow_in_launch
            #[inline]
            #[track_caller]
            #vis #safety fn launch<#grid, __PtxWith: #private::children::With>(
                __ptx_stream: #private::children::Stream<#grid, __PtxWith>,
                __ptx_grid: #private::children::ChildGrid,
                #(#names: #types),*
            ) -> ::core::result::Result<(), #private::children::ChildError> {
                const {
                    ::core::assert!(
                        #private::children::fit(&[#(#layouts),*]),
                        "a child's parameters have at most 4096 bytes"
                    );
                };
                #(#checks)*
                let __ptx_grid = __ptx_grid #(#need)*;
                #(#cross)*
                #[cfg(target_arch = "nvptx64")]
                {
                    unsafe extern "C" {
                        #[link_name = #entry]
                        fn __ptx_entry();
                    }
                    // SAFETY: the entry point's address, and its parameters in order, each of its own type.
                    unsafe {
                        let mut launching =
                            #private::children::Launching::begin(__ptx_entry as *const (), __ptx_stream, __ptx_grid)?;
                        #(launching.push(#crossed);)*
                        launching.launch()
                    }
                }
                #[cfg(not(target_arch = "nvptx64"))]
                {
                    #private::__on_cpu! {
                        #barriers
                        #quiet
                        #inner
                        let __ptx_arguments = (#(#crossed,)*);
                        #quiet
                        // SAFETY: the arguments are those of the kernel, and one who launches an unsafe one keeps its
                        // promise.
                        let __ptx_body = move || unsafe { #name(#(#values),*) };
                        // SAFETY: as above.
                        return unsafe {
                            #private::children::launch_on_cpu(#symbol, __ptx_stream, __ptx_grid, __ptx_body)
                        };
                    }
                    #private::children::launch_nowhere()
                }
            }
        }
    })
}

/// The parameter with the grid's lifetime for every other.
fn of_grid(param: &Param) -> Param {
    let ty: Type = with_lifetime(&param.ty, GRID);
    let ty: Type = parse_quote_spanned!(param.ty.span()=> #ty);
    Param { source: param.source, ..Param::new(param.name.clone(), ty) }
}
