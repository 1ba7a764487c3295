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
use syn::{ItemFn, Signature, Type, parse_quote_spanned};

use crate::function::{self, Param, Source};
use crate::generic;
use crate::instances::{self, Instance, with_lifetime};
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
    let passed = passed(kernel);
    let (names, types): (Vec<_>, Vec<_>) = passed.iter().map(|param| (&param.name, &param.ty)).unzip();
    let body = body(kernel, &inner(function));
    let (vis, safety) = (&function.vis, &function.sig.safety);
    let (grid, allow) = (grid(), allow_in_launch());
    let launch = quote! {
        #allow
        #[inline]
        #[track_caller]
        #vis #safety fn launch<#grid, __PtxWith: #private::children::With>(
            __ptx_stream: #private::children::Stream<#grid, __PtxWith>,
            __ptx_grid: #private::children::ChildGrid,
            #(#names: #types),*
        ) -> ::core::result::Result<(), #private::children::ChildError> {
            #body
        }
    };
    Ok(of_type(function, &launch))
}

/// The type of a generic kernel, whose function launches the instance that its type arguments name; or nothing.
/// `signature` has the attributes of parameters.
///
/// ```text
/// trait instances<T> { type P0<'g>; unsafe fn launch<'g, W: With>(stream: Stream<'g, W>, grid: ChildGrid, x: Self::P0<'g>) … }
/// impl instances<f32> for () { … }
/// impl k {
///     fn launch<'g, T>(stream: Stream<'g, impl With>, grid: ChildGrid, x: <() as instances<T>>::P0<'g>) … where (): instances<T>
/// }
/// ```
pub fn launchers(
    function: &ItemFn,
    signature: &Signature,
    kernels: &[Kernel<'_>],
    instances: &[Instance],
) -> TokenStream {
    let Some(first) = kernels.first().filter(|kernel| kernel.arguments.child.is_some()) else {
        return TokenStream::new();
    };
    let (ItemFn { vis, sig, .. }, private) = (function, &first.private);
    let (name, safety, own, grid) = (&sig.ident, &sig.safety, instances::child_trait_name(&sig.ident), grid());
    let (declared, generics) = (instances::declared(sig), instances::names(sig));
    let generic = generic::types(signature, &first.params);
    let itself: Vec<_> = generic.iter().map(|ty| instances::is_passed_as_itself(ty, sig, instances)).collect();
    let associated: Vec<_> = (0..generic.len()).map(|index| format_ident!("P{index}")).collect();
    let names: Vec<_> = first.passed.iter().map(|param| &param.name).collect();
    // What a parameter's type is for the instances that `of` has.
    let types = |of: &TokenStream| -> Vec<TokenStream> {
        let each = generic.iter().zip(&itself).zip(&associated);
        each.map(|((ty, itself), associated)| match itself {
            true => quote!(#ty),
            false => quote_spanned!(ty.span()=> #of::#associated<#grid>),
        })
        .collect()
    };
    let (of_self, of_launcher) = (types(&quote!(Self)), types(&quote!(<() as #own<#(#generics),*>>)));
    let allow = allow_in_launch();
    let implementations = kernels.iter().zip(instances).map(|(kernel, instance)| {
        let arguments = instance.arguments();
        let passed = passed(kernel);
        let of_instance: Vec<_> = passed.iter().map(|param| &param.ty).collect();
        let parameters = passed.iter().zip(&itself).zip(&associated).map(|((Param { ty, .. }, itself), associated)| {
            if *itself { quote!(#ty) } else { quote!(Self::#associated<#grid>) }
        });
        let body = body(kernel, &TokenStream::new());
        quote! {
            #[diagnostic::do_not_recommend]
            impl #own<#(#arguments),*> for () {
                #(type #associated<#grid> = #of_instance;)*
                #allow
                #[inline]
                #[track_caller]
                unsafe fn launch<#grid, __PtxWith: #private::children::With>(
                    __ptx_stream: #private::children::Stream<#grid, __PtxWith>,
                    __ptx_grid: #private::children::ChildGrid,
                    #(#names: #parameters),*
                ) -> ::core::result::Result<(), #private::children::ChildError> {
                    #body
                }
            }
        }
    });
    let missing = instances::diagnostic(name, &generics, instances);
    let of_cpu = inner(function);
    let (cfgs_of_trait, cfgs): (Vec<_>, Vec<_>) =
        (function::cfgs(&function.attrs).collect(), function::cfgs(&function.attrs).collect());
    let allow_in_trait = function::allow(&quote!(
        non_camel_case_types,
        unreachable_pub,
        dead_code,
        clippy::missing_safety_doc,
        clippy::missing_errors_doc,
        clippy::too_many_arguments,
        clippy::allow_attributes
    ));
    let launch = quote! {
        #allow
        #[inline]
        #[track_caller]
        #vis #safety fn launch<#grid, #(#declared),*>(
            __ptx_stream: #private::children::Stream<#grid, impl #private::children::With>,
            __ptx_grid: #private::children::ChildGrid,
            #(#names: #of_launcher),*
        ) -> ::core::result::Result<(), #private::children::ChildError>
        where
            (): #own<#(#generics),*>,
        {
            // SAFETY: the caller's promise, if the kernel asks for one.
            unsafe { <() as #own<#(#generics),*>>::launch(__ptx_stream, __ptx_grid, #(#names),*) }
        }
    };
    let of_type = of_type(function, &launch);
    quote! {
        #(#cfgs_of_trait)*
        #allow_in_trait
        #[doc(hidden)]
        #missing
        #vis trait #own<#(#declared),*> {
            #(type #associated<#grid>;)*
            #[track_caller]
            unsafe fn launch<#grid, __PtxWith: #private::children::With>(
                __ptx_stream: #private::children::Stream<#grid, __PtxWith>,
                __ptx_grid: #private::children::ChildGrid,
                #(#names: #of_self),*
            ) -> ::core::result::Result<(), #private::children::ChildError>;
        }

        #(#cfgs)*
        const _: () = {
            #[cfg(not(target_arch = "nvptx64"))]
            #of_cpu
            #(#implementations)*
        };

        #of_type
    }
}

/// The type that has the function.
fn of_type(function: &ItemFn, launch: &TokenStream) -> TokenStream {
    let (vis, name) = (&function.vis, &function.sig.ident);
    let cfgs: Vec<_> = function::cfgs(&function.attrs).collect();
    let allow = function::allow(&quote!(non_camel_case_types, dead_code, missing_debug_implementations));
    let of_type = format!("Launches [`{name}`]({name}()) from other kernels.");
    let of_launch = format!(
        "Launches [`{name}`]({name}()) on the device: CUDA's `{name}<<<blocks, threads, bytes, stream>>>(…)` in a kernel. See \
        `ptx::children`."
    );
    quote! {
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
            #launch
        }
    }
}

/// The parameters that the parent passes. Lifetimes of the kernel's own are not known where it is launched.
fn passed(kernel: &Kernel<'_>) -> Vec<Param> {
    shared_params::passed(&kernel.private, &kernel.params.iter().map(of_grid).collect::<Vec<_>>())
}

/// What the launcher does. `inner` is the function that the CPU calls.
fn body(kernel: &Kernel<'_>, inner: &TokenStream) -> TokenStream {
    let Kernel { function, private, turbofish, .. } = kernel;
    let params: Vec<Param> = kernel.params.iter().map(of_grid).collect();
    let passed = passed(kernel);
    let (name, crossed): (_, Vec<_>) =
        (&function.sig.ident, (0..passed.len()).map(|index| format_ident!("__ptx_{index}")).collect());
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
    let quiet = function::allow(&quote!(warnings));
    quote! {
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
                // SAFETY: the arguments are those of the kernel, and one who launches an unsafe one keeps its promise.
                let __ptx_body = move || unsafe { #name #turbofish (#(#values),*) };
                // SAFETY: as above.
                return unsafe {
                    #private::children::launch_on_cpu(#symbol, __ptx_stream, __ptx_grid, __ptx_body)
                };
            }
            #private::children::launch_nowhere()
        }
    }
}

fn allow_in_launch() -> TokenStream {
    function::allow(&quote!(
        clippy::missing_safety_doc,
        clippy::too_many_arguments,
        clippy::allow_attributes,
        clippy::allow_attributes_without_reason,
        unreachable_code,
        unused_variables,
        unused_unsafe
    ))
}

fn grid() -> syn::Lifetime {
    syn::Lifetime::new(GRID, Span::call_site())
}

/// The parameter with the grid's lifetime for every other.
fn of_grid(param: &Param) -> Param {
    let ty: Type = with_lifetime(&param.ty, GRID);
    let ty: Type = parse_quote_spanned!(param.ty.span()=> #ty);
    Param { source: param.source, ..Param::new(param.name.clone(), ty) }
}
