//! The host's side of a generic kernel: one launcher, and what each instance launches.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{FnArg, ItemFn, PatType, Signature, Type};

use crate::arguments::Arguments;
use crate::function;
use crate::function::{Param, Source};
use crate::instances::{self, Instance};
use crate::kernel::{Kernel, inner, outer_attrs};

/// Refuses what instances cannot have.
pub fn refuse(arguments: &Arguments) -> syn::Result<()> {
    let Some((key, _)) = arguments.instantiate.as_ref().filter(|_| arguments.export.is_some()) else { return Ok(()) };
    Err(syn::Error::new(
        key.span(),
        "the instances of a generic kernel have plain names, such as `scale_f32`: remove `export`, or export a kernel for \
        each type that calls the generic function",
    ))
}

/// The trait of the instances, its implementations, and the launcher. `signature` has the attributes of parameters.
pub fn host(function: &ItemFn, signature: &Signature, kernels: &[Kernel<'_>], instances: &[Instance]) -> TokenStream {
    let (Some(first), ItemFn { vis, sig, .. }) = (kernels.first(), function) else { return TokenStream::new() };
    let (name, safety, private) = (&sig.ident, &sig.safety, &first.private);
    let own = instances::trait_name(name);
    let (declared, names) = (instances::declared(sig), instances::names(sig));
    let params: Vec<_> = first.passed.iter().zip(types(signature, &first.params)).collect();
    let passed = |index: usize, ty: &Type, of: TokenStream| {
        if instances::is_passed_as_itself(ty, sig, instances) {
            quote!(#ty)
        } else {
            let associated = format_ident!("P{index}");
            quote_spanned!(ty.span()=> #of::#associated<'__ptx>)
        }
    };
    let of_self = params.iter().enumerate().map(|(index, (_, ty))| passed(index, ty, quote!(Self)));
    let of_launcher =
        params.iter().enumerate().map(|(index, (_, ty))| passed(index, ty, quote!(<() as #own<#(#names),*>>)));
    let (of_self, of_launcher): (Vec<_>, Vec<_>) = (of_self.collect(), of_launcher.collect());
    let host_names = first.host_names();
    let associated: Vec<_> = (0..params.len()).map(|index| format_ident!("P{index}")).collect();

    let missing = instances::diagnostic(name, &names, instances);
    let implementations = kernels.iter().zip(instances).map(|(kernel, instance)| {
        let arguments = instance.arguments();
        let types = kernel.passed.iter().map(|Param { static_ty, .. }| {
            quote_spanned!(static_ty.span()=> <#static_ty as #private::HostParam>::Host<'__ptx>)
        });
        let parameters =
            kernel.passed.iter().zip(&params).enumerate().map(|(index, (Param { ty, .. }, (_, generic)))| {
                if instances::is_passed_as_itself(generic, sig, instances) {
                    quote!(#ty)
                } else {
                    let associated = format_ident!("P{index}");
                    quote!(Self::#associated<'__ptx>)
                }
            });
        let launch = kernel.launch(&TokenStream::new());
        quote! {
            #[diagnostic::do_not_recommend]
            impl #own<#(#arguments),*> for () {
                #(type #associated<'__ptx> = #types;)*
                #[inline]
                unsafe fn launch<'__ptx>(#(#host_names: #parameters),*) -> #private::Launch<'__ptx> {
                    #launch
                }
            }
        }
    });
    let inner = inner(function);
    let (cfgs, cfgs_of_trait) = (function::cfgs(&function.attrs), function::cfgs(&function.attrs));
    let outer_attrs = outer_attrs(function);
    let allow = function::allow(&quote!(
        non_camel_case_types,
        unreachable_pub,
        clippy::missing_safety_doc,
        clippy::too_many_arguments,
        clippy::allow_attributes
    ));
    quote! {
        #(#cfgs_of_trait)*
        #[cfg(not(target_arch = "nvptx64"))]
        #allow
        #[doc(hidden)]
        #missing
        #vis trait #own<#(#declared),*> {
            #(type #associated<'__ptx>;)*
            unsafe fn launch<'__ptx>(#(#host_names: #of_self),*) -> #private::Launch<'__ptx>;
        }

        #(#cfgs)*
        #[cfg(not(target_arch = "nvptx64"))]
        const _: () = {
            #inner
            #(#implementations)*
        };

        #[cfg(not(target_arch = "nvptx64"))]
        #(#outer_attrs)*
        #[inline]
        #vis #safety fn #name<'__ptx, #(#declared),*>(#(#host_names: #of_launcher),*) -> #private::Launch<'__ptx>
        where
            (): #own<#(#names),*>,
        {
            // SAFETY: the caller's promise, if the kernel asks for one.
            unsafe { <() as #own<#(#names),*>>::launch(#(#host_names),*) }
        }
    }
}

/// The types of the parameters that the host passes, as the generic function has them.
pub fn types<'a>(signature: &'a Signature, params: &[Param]) -> Vec<&'a Type> {
    let types = signature.inputs.iter().zip(params).filter_map(|(input, param)| match input {
        FnArg::Typed(PatType { ty, .. }) if !matches!(param.source, Source::Static | Source::Children) => Some(&**ty),
        _ => None,
    });
    types.collect()
}
