//! A kernel's entry point: the shim and its descriptor for the device, the launcher for the host.

use proc_macro2::{Span, TokenStream};
use ptx_abi::{Kind, Mangling};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Ident, ItemFn, Signature, Type};

use crate::arguments::{Arguments, Linkage};
use crate::descriptor::{self, Function};
use crate::float::is_float;
use crate::function::{self, Param, Role};
use crate::instances::{self, Instance};
use crate::shared_params;

/// One entry point: a kernel, or an instance of a generic one.
pub struct Kernel<'a> {
    /// The function, with an instance's signature.
    pub function: ItemFn,
    /// As the function has them.
    pub params: Vec<Param>,
    /// As the host passes them.
    pub passed: Vec<Param>,
    /// The path of `ptx::__private`.
    pub private: TokenStream,
    /// What stands in `#[kernel(..)]`.
    pub arguments: &'a Arguments,
    instance: Option<&'a Instance>,
    /// What stands behind the function's name where it is called.
    pub turbofish: TokenStream,
}

impl<'a> Kernel<'a> {
    /// `signature` has the attributes of parameters, which `function` has no more.
    pub fn new(
        function: &ItemFn,
        signature: &Signature,
        arguments: &'a Arguments,
        instance: Option<&'a Instance>,
    ) -> syn::Result<Self> {
        let private = arguments.private();
        let mut params = function::check(instance.map_or(signature, |instance| &instance.signature), Role::Kernel)?;
        let mut function = function.clone();
        if let Some(instance) = instance {
            function.sig = instance.signature.clone();
            function::remove_sources(&mut function.sig);
            params.iter_mut().for_each(|param| param.static_ty = instances::with_lifetimes(&param.ty));
        }
        let passed = shared_params::passed(&private, &params);
        let turbofish = instance.map(Instance::turbofish).unwrap_or_default();
        Ok(Self { function, params, passed, private, arguments, instance, turbofish })
    }

    /// Its name, which is the symbol unless that is mangled.
    pub fn name(&self) -> String {
        let ident = &self.function.sig.ident;
        let name = self.arguments.name.as_ref().map_or_else(|| function::plain_name(ident), |name| name.value());
        name + &self.instance.map(Instance::suffix).unwrap_or_default()
    }

    /// What its descriptor is made from.
    fn described(&self) -> Function<'_> {
        let Self { function, passed: params, private, arguments, .. } = self;
        let export = arguments.export.as_ref();
        Function {
            private,
            kind: Kind::Kernel,
            mangling: export.map_or(Mangling::C, Linkage::mangling),
            namespace: export.map_or("", |export| &export.namespace),
            name: self.name(),
            template: None,
            ident: &function.sig.ident,
            bounds: self.bounds(),
            params,
            result: None,
            names: None,
        }
    }

    /// The expression for a `LaunchBounds`, if anything is asked for.
    fn bounds(&self) -> Option<TokenStream> {
        let Self { private, arguments, .. } = self;
        if !arguments.has_bounds() {
            return None;
        }
        let max_threads = self.bound(&arguments.max_threads, 1024, "`launch_bounds`: a block has 1 to 1024 threads");
        let min_blocks =
            self.bound(&arguments.min_blocks, 64, "`launch_bounds`: a multiprocessor holds 1 to 64 blocks");
        let max_cluster = self.bound(&arguments.max_cluster, 16, "`launch_bounds`: a cluster has 1 to 16 blocks");
        let max_registers =
            self.bound(&arguments.max_registers, 255, "`max_registers`: a thread has 1 to 255 registers");
        let dimensions = arguments.dimensions.as_ref().map_or_else(|| quote!(0), |given| quote!(#given));
        let is_cooperative = arguments.cooperative.is_some();
        let cluster = match &arguments.cluster[..] {
            [] => quote!([0; 3]),
            given => {
                let missing = vec![quote!(1); 3 - given.len()];
                let given = given
                    .iter()
                    .map(|extent| self.bound(&Some(extent.clone()), 16, "`cluster`: it has 1 to 16 blocks"));
                quote!([#(#given,)* #(#missing),*])
            }
        };
        let checks = arguments.cluster.last().map(|last| {
            // Not where it could not fail: clippy would say so at the user's line.
            let is_bounded = arguments.max_cluster.is_some().then(|| {
                quote_spanned! {last.span()=>
                    const _: () = ::core::assert!(
                        BOUNDS.cluster_blocks() <= BOUNDS.max_cluster,
                        "`cluster`: it has more blocks than `launch_bounds` says that a cluster has"
                    );
                }
            });
            quote_spanned! {last.span()=>
                const _: () = ::core::assert!(
                    BOUNDS.cluster_blocks() <= #private::LaunchBounds::MOST_CLUSTER,
                    "`cluster`: it has 1 to 16 blocks"
                );
                #is_bounded
            }
        });
        Some(quote!({
            const BOUNDS: #private::LaunchBounds = #private::LaunchBounds {
                max_threads: #max_threads,
                min_blocks: #min_blocks,
                max_registers: #max_registers,
                dimensions: #dimensions,
                cluster: #cluster,
                max_cluster: #max_cluster,
                is_cooperative: #is_cooperative,
            };
            #checks
            BOUNDS
        }))
    }

    /// A bound as a constant that is checked where it stands.
    fn bound(&self, given: &Option<Expr>, most: u32, message: &str) -> TokenStream {
        let Some(given) = given else { return quote!(0) };
        let items = self.instance.map(Instance::items);
        quote_spanned! {given.span()=> {
            const BOUND: u32 = {
                #items
                #given
            };
            const _: () = ::core::assert!(BOUND >= 1 && BOUND <= #most, #message);
            BOUND
        }}
    }

    /// The shim and its entry in the interface section.
    pub fn device(&self) -> TokenStream {
        let Self { function, params, passed, private, arguments, turbofish, .. } = self;
        let cfgs = function::cfgs(&function.attrs);
        let shim = Ident::new(ptx_abi::SHIM, Span::call_site());
        // In the shim: other kernels may call the function, too.
        let first = arguments.dimensions.as_ref().map(|given| quote!(#private::assume_dimensions::<#given>();));
        let values = shared_params::values(private, params, descriptor::values(private, passed));
        let name = &function.sig.ident;
        let call = quote!(#name #turbofish (#(#values),*));
        let shim_function = descriptor::shim(private, &shim, function, passed, &call, None, first);
        let barriers = shared_params::barriers(private, params);
        let checks = passed.iter().filter(|param| may_be_exclusive(&param.ty)).map(|Param { static_ty, .. }| {
            quote_spanned! {static_ty.span()=>
                ::core::assert!(
                    <#static_ty as #private::DeviceParam>::IN_KERNELS,
                    "every thread of the grid would have this exclusive reference: take a `DisjointSlice`"
                );
            }
        });
        let entry = self.described().entry(&shim, checks.collect());
        quote! {
            #(#cfgs)*
            #[cfg(target_arch = "nvptx64")]
            const _: () = {
                #barriers
                #shim_function
                #entry
            };
        }
    }

    /// The body for the CPU, as `launch_on_cpu` calls it.
    fn body(&self) -> TokenStream {
        let Self { function, params, passed, private, turbofish, .. } = self;
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
                    unsafe { #name #turbofish (#(#values),*) }
                }
                // SAFETY: the body of the launch's kernel.
                unsafe { __ptx_launch.set_body(__ptx_body) };
            }
        }
    }

    /// The host's parameters, with their types' places, so that rustc reports a wrong type once and not again for the
    /// parameter.
    pub fn host_names(&self) -> Vec<Ident> {
        self.passed.iter().map(|param| placed(&param.name, param.ty.span())).collect()
    }

    /// What makes the launch of the host's parameters. `inner` is the function that the CPU calls.
    pub fn launch(&self, inner: &TokenStream) -> TokenStream {
        let Self { passed, private, .. } = self;
        let descriptor = self.described().constants();
        let demands = shared_params::demands(private, &self.params);
        let pushes = passed.iter().zip(self.host_names()).map(|(Param { static_ty, .. }, name)| {
            // Our variable's name must not be looked up where a `macro_rules` of the user's got the type from.
            let span = static_ty.span().resolved_at(Span::call_site());
            quote_spanned!(span=> <#static_ty as #private::HostParam>::push(#name, &mut __ptx_launch);)
        });
        let body = self.body();
        let allow = function::allow(&quote!(unused_mut));
        quote! {
            const __PTX_KERNEL: #private::Descriptor<'static> = {
                #descriptor
                __PTX_DESCRIPTOR
            };
            // SAFETY: one push for each parameter of the descriptor, in order, by its own type.
            #allow
            let mut __ptx_launch = unsafe { #private::Launch::new(&__PTX_KERNEL) };
            #demands
            #(#pushes)*
            // In a block: a parameter may have the function's name.
            {
                #inner
                #body
            }
            __ptx_launch
        }
    }

    /// The launcher. The body is kept inside it, called by the CPU alone, so that it is checked and so that what it
    /// uses is not called unused.
    pub fn host(&self) -> TokenStream {
        let Self { function, passed: params, private, .. } = self;
        let ItemFn { vis, sig, .. } = function;
        let (name, safety) = (&sig.ident, &sig.safety);
        let lifetimes = sig.generics.params.iter();
        let where_clause = &sig.generics.where_clause;
        let names = self.host_names();
        let hosts = params
            .iter()
            .map(|Param { ty, .. }| quote_spanned!(ty.span()=> <#ty as #private::HostParam>::Host<'__ptx>));
        let outer_attrs = outer_attrs(function);
        let launch = self.launch(&inner(function));
        // Where it is inlined, the launch is made in the place where it is used: it is large.
        let inline =
            if function.attrs.iter().any(|a| a.path().is_ident("inline")) { quote!() } else { quote!(#[inline]) };
        quote! {
            #[cfg(not(target_arch = "nvptx64"))]
            #(#outer_attrs)*
            #inline
            #vis #safety fn #name<'__ptx, #(#lifetimes),*>(#(#names: #hosts),*) -> #private::Launch<'__ptx>
            #where_clause
            {
                #launch
            }
        }
    }
}

/// Whether a parameter of the type as written may turn out to be an exclusive reference.
fn may_be_exclusive(ty: &Type) -> bool {
    match ty {
        Type::Reference(reference) => reference.mutability.is_some(),
        Type::Ptr(_) | Type::Array(_) => false,
        _ => true,
    }
}

/// The attributes of the launcher, which does no arithmetic: modes are the function's that it contains.
pub fn outer_attrs(function: &ItemFn) -> impl Iterator<Item = &Attribute> {
    function.attrs.iter().filter(|a| !is_float(a))
}

/// The function as the host has it, for the CPU.
pub fn inner(function: &ItemFn) -> TokenStream {
    let allow = function::allow(&quote!(dead_code, unused_mut));
    let attrs = function.attrs.iter().filter(|a| !a.path().is_ident("doc") && !a.path().is_ident("cfg"));
    let inner = ItemFn { attrs: Vec::new(), vis: syn::Visibility::Inherited, ..function.clone() };
    quote! {
        #allow
        #(#attrs)*
        #inner
    }
}

/// The same name with another place in the source.
fn placed(name: &Ident, place: Span) -> Ident {
    let mut name = name.clone();
    name.set_span(place.resolved_at(name.span()));
    name
}
