//! `#[kernel]`: the function's two sides.
//!
//! ```text
//! #[kernel]                                  // device
//! fn k(a: f32, x: &[f32]) { body }           fn k(a: f32, x: &[f32]) { body }
//!                                            unsafe extern "C" fn shim(a: *const f32, x: *const RawSlice<f32>) { .. }
//!                                            #[used] static ENTRY: Entry<N> = Entry { shim, bytes: descriptor };
//!                                            // host
//!                                            fn k<'l>(a: f32, x: &'l dyn DeviceRead<f32>) -> Launch<'l> { .. }
//! ```
//! Both sides stand under `cfg(target_arch)`, so one expansion serves both compilations.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Ident, ItemFn};

use crate::arguments::Arguments;
use crate::descriptor::{self, Function};
use crate::float::{expand_blocks, is_float};
use crate::function::{self, Param, Role};
use crate::shared_params;

/// The expansion of `#[kernel(arguments)] item`.
pub fn expand(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let mut function: ItemFn = syn::parse2(item).map_err(|error| {
        syn::Error::new(error.span(), format!("`#[kernel]` stands before a function with a body: {error}"))
    })?;
    function::check_marks(&function.attrs, "kernel")?;
    let arguments: Arguments = syn::parse2(arguments)?;
    let params = function::check(&function.sig, Role::Kernel)?;
    function::remove_sources(&mut function.sig);
    expand_blocks(&mut function.block, &arguments.private())?;
    let kernel = Kernel::new(function, arguments, params);
    let (device, host) = (kernel.device(), kernel.host());
    Ok(quote!(#device #host))
}

struct Kernel {
    function: ItemFn,
    /// As the function has them.
    params: Vec<Param>,
    /// As the host passes them.
    passed: Vec<Param>,
    /// The path of `ptx::__private`.
    private: TokenStream,
    arguments: Arguments,
}

impl Kernel {
    fn new(function: ItemFn, arguments: Arguments, params: Vec<Param>) -> Self {
        let private = arguments.private();
        let passed = shared_params::passed(&private, &params);
        Self { function, params, passed, private, arguments }
    }

    /// Items `__PTX_PARAMS` and `__PTX_DESCRIPTOR`.
    fn descriptor(&self, for_host: bool) -> TokenStream {
        let Self { function, passed: params, private, arguments, .. } = self;
        let ident = &function.sig.ident;
        let name = arguments.name.as_ref().map_or_else(|| function::plain_name(ident), |name| name.value());
        let max_threads = bound(&arguments.max_threads, 1024, "`launch_bounds`: a block has 1 to 1024 threads");
        let min_blocks = bound(&arguments.min_blocks, 64, "`launch_bounds`: a multiprocessor holds 1 to 64 blocks");
        let max_registers = bound(&arguments.max_registers, 255, "`max_registers`: a thread has 1 to 255 registers");
        let dimensions = arguments.dimensions.as_ref().map_or_else(|| quote!(0), |given| quote!(#given));
        let bounds = quote!(#private::LaunchBounds {
            max_threads: #max_threads,
            min_blocks: #min_blocks,
            max_registers: #max_registers,
            dimensions: #dimensions,
        });
        let export = arguments.export.as_ref();
        Function {
            private,
            for_host,
            kind: "Kernel",
            is_cxx: export.is_some_and(|export| export.is_cxx),
            namespace: export.map_or("", |export| &export.namespace),
            name: &name,
            template: None,
            ident,
            bounds,
            params,
            result: None,
            names: None,
        }
        .constants()
    }

    /// The function as it is, its shim and its entry in the interface section.
    fn device(&self) -> TokenStream {
        let Self { function, params, passed, private, arguments } = self;
        let descriptor = self.descriptor(false);
        let cfgs = function::cfgs(&function.attrs);
        let shim = Ident::new(ptx_abi::SHIM, Span::call_site());
        // In the shim: other kernels may call the function, too.
        let first = arguments.dimensions.as_ref().map(|given| quote!(#private::assume_dimensions::<#given>();));
        let values = shared_params::values(private, params, descriptor::values(private, passed));
        let shim_function = descriptor::shim(private, &shim, function, passed, &values, None, first);
        let entry = descriptor::entry(private, &shim);
        let barriers = shared_params::barriers(private, params);
        let checks = passed.iter().map(|Param { static_ty, .. }| {
            quote_spanned! {static_ty.span()=>
                const _: () = ::core::assert!(
                    <#static_ty as #private::DeviceParam>::IN_KERNELS,
                    "every thread of the grid would have this exclusive reference: take a `DisjointSlice`"
                );
            }
        });
        quote! {
            #[cfg(target_arch = "nvptx64")]
            #function

            #(#cfgs)*
            #[cfg(target_arch = "nvptx64")]
            const _: () = {
                #(#checks)*
                #barriers
                #shim_function
                #descriptor
                #entry
            };
        }
    }

    /// The body for the CPU, as `launch_on_cpu` calls it.
    fn body(&self) -> TokenStream {
        let Self { function, params, passed, private, .. } = self;
        let name = &function.sig.ident;
        let (lifetimes, _, where_clause) = function.sig.generics.split_for_impl();
        let read = passed.iter().enumerate().map(|(index, Param { ty, .. })| {
            // Our variable's name must not be looked up where a `macro_rules` of the user's got the type from.
            let span = ty.span().resolved_at(Span::call_site());
            quote_spanned!(span=> <#ty as #private::DeviceParam>::read(__ptx_places[#index]))
        });
        let values = shared_params::values(private, params, read.collect());
        let barriers = shared_params::barriers(private, params);
        let allow = function::allow(&quote!(unused_unsafe, unused_variables));
        quote! {
            #private::__on_cpu! {
                #barriers
                #allow
                unsafe fn __ptx_body #lifetimes (__ptx_places: &[*const ()]) #where_clause {
                    // SAFETY: `launch_on_cpu` gives the places of the parameters, in order.
                    unsafe { #name(#(#values),*) }
                }
                // SAFETY: the body of the launch's kernel.
                unsafe { __ptx_launch.set_body(__ptx_body) };
            }
        }
    }

    /// The launcher. The body is kept inside it, called by the CPU alone, so that it is checked and so that what it
    /// uses is not called unused.
    fn host(&self) -> TokenStream {
        let Self { function, passed: params, private, .. } = self;
        let descriptor = self.descriptor(true);
        let demands = shared_params::demands(private, &self.params);
        let ItemFn { attrs, vis, sig, .. } = function;
        let (name, safety) = (&sig.ident, &sig.safety);
        let lifetimes = sig.generics.params.iter();
        let where_clause = &sig.generics.where_clause;
        // With their types' places, so that rustc reports a wrong type once and not again for the parameter.
        let names: Vec<_> = params.iter().map(|param| placed(&param.name, param.ty.span())).collect();
        let hosts = params
            .iter()
            .map(|Param { ty, .. }| quote_spanned!(ty.span()=> <#ty as #private::HostParam>::Host<'__ptx>));
        let pushes = params.iter().zip(&names).map(|(Param { static_ty, .. }, name)| {
            // Our variable's name must not be looked up where a `macro_rules` of the user's got the type from.
            let span = static_ty.span().resolved_at(Span::call_site());
            quote_spanned!(span=> <#static_ty as #private::HostParam>::push(#name, &mut __ptx_launch);)
        });
        let body = self.body();
        let allow_unused = function::allow(&quote!(dead_code, unused_mut));
        // The launcher does no arithmetic: modes are the function's that it contains.
        let outer_attrs = attrs.iter().filter(|a| !is_float(a));
        let inner_attrs = attrs.iter().filter(|a| !a.path().is_ident("doc") && !a.path().is_ident("cfg"));
        let inner = ItemFn { attrs: Vec::new(), vis: syn::Visibility::Inherited, ..function.clone() };
        quote! {
            #[cfg(not(target_arch = "nvptx64"))]
            #(#outer_attrs)*
            #vis #safety fn #name<'__ptx, #(#lifetimes),*>(#(#names: #hosts),*) -> #private::Launch<'__ptx>
            #where_clause
            {
                const __PTX_KERNEL: #private::Descriptor<'static> = {
                    #descriptor
                    __PTX_DESCRIPTOR
                };
                // SAFETY: one push for each parameter of the descriptor, in order, by its own type.
                #allow_unused
                let mut __ptx_launch = unsafe { #private::Launch::new(&__PTX_KERNEL) };
                #demands
                #(#pushes)*
                // In a block: a parameter may have the function's name.
                {
                    #allow_unused
                    #(#inner_attrs)*
                    #inner
                    #body
                }
                __ptx_launch
            }
        }
    }
}

/// The same name with another place in the source.
fn placed(name: &Ident, place: Span) -> Ident {
    let mut name = name.clone();
    name.set_span(place.resolved_at(name.span()));
    name
}

/// A bound as a constant that is checked where it stands.
fn bound(given: &Option<Expr>, most: u32, message: &str) -> TokenStream {
    match given {
        None => quote!(0),
        Some(given) => quote_spanned! {given.span()=> {
            const BOUND: u32 = #given;
            const _: () = ::core::assert!(BOUND >= 1 && BOUND <= #most, #message);
            BOUND
        }},
    }
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
        assert!(text.contains("< & 'static [f32] as :: ptx :: __private :: DeviceParam > :: TYPE"));
        assert!(text.contains("IN_KERNELS"));
    }

    #[test]
    fn only_the_shim_relies_on_the_launch() {
        let text = expansion("dimensions = 2", "fn k() {}");
        let assumed = "unsafe { :: ptx :: __private :: assume_dimensions :: < 2 > () ;";
        assert_eq!(text.matches("assume_dimensions").count(), 1, "{text}");
        assert!(text.contains(assumed) && text.find(assumed) > text.find("__ptx_shim"), "{text}");
        assert_eq!(text.matches("dimensions : 2").count(), 2);
        assert!(expansion("", "fn k() {}").contains("dimensions : 0"));
    }

    #[test]
    fn shared_parameters_are_made_by_the_shim() {
        let text = expansion("", "fn k(a: u32, #[shared] b: Tile<u8>, #[shared(dynamic)] c: Tile<u16>) {}");
        // The host passes the first, and the lengths of the last.
        assert_eq!(text.matches("const __PTX_PARAMS : [:: ptx :: __private :: Param < 'static > ; 2usize]").count(), 2);
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
