//! The descriptor of a kernel or device function, its place in the interface section, and the shim beside it.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{ItemFn, Type};

use crate::float::marker_of;
use crate::function::{Param, allow};
use crate::text;

/// What a descriptor is made from.
pub struct Function<'a> {
    /// The path of `ptx::__private`.
    pub private: &'a TokenStream,
    /// Whether it is for a launcher, whose signature names `HostParam`. Then nothing else is asked of a parameter:
    /// rustc reports a type that lacks several traits once for each.
    pub for_host: bool,
    /// `Kernel`, `Export` or `Import`.
    pub kind: &'a str,
    /// Mangled as C++ mangles, not as in C.
    pub is_cxx: bool,
    /// The C++ namespace, such as `a::b`, or empty.
    pub namespace: &'a str,
    /// The function's name in PTX or C++.
    pub name: &'a str,
    /// Template arguments, each a `cxx::Argument`.
    pub template: Option<Vec<TokenStream>>,
    /// The name in the source, for its place.
    pub ident: &'a Ident,
    /// The expression for a `LaunchBounds`.
    pub bounds: TokenStream,
    /// The parameters, in order.
    pub params: &'a [Param],
    /// The result, unless it is `()`.
    pub result: Option<&'a Type>,
    /// Types to take for the C++ names instead of the real ones, the result's last.
    pub names: Option<&'a [Type]>,
}

impl Function<'_> {
    /// `const __PTX_PARAMS` and `const __PTX_DESCRIPTOR`.
    pub fn constants(&self) -> TokenStream {
        let Self { private, namespace, name, bounds, params, ident, .. } = self;
        let (kind, mangling) =
            (format_ident!("{}", self.kind), format_ident!("{}", if self.is_cxx { "Cxx" } else { "C" }));
        let count = params.len();
        let entries = params.iter().enumerate().map(|(index, param)| {
            let name = param.name.to_string().trim_start_matches("r#").to_owned();
            self.param(&name, &param.ty, &param.static_ty, self.names.map(|names| &names[index]))
        });
        let result = match self.result {
            None => quote!(::core::option::Option::None),
            Some(ty) => {
                let param = self.param("", ty, ty, self.names.and_then(|names| names.last()));
                quote!(::core::option::Option::Some(#param))
            }
        };
        let template = match &self.template {
            None => quote!(::core::option::Option::None),
            Some(arguments) => quote!(::core::option::Option::Some(&[#(#arguments),*])),
        };
        // The name's place, not the attribute's. There `::core` would be none of edition 2015.
        let there = private.to_token_stream().into_iter().map(|mut token| {
            token.set_span(ident.span());
            token
        });
        let there: TokenStream = there.collect();
        let (file, line, column) = (
            quote_spanned!(ident.span()=> #there::core::file!()),
            quote_spanned!(ident.span()=> #there::core::line!()),
            quote_spanned!(ident.span()=> #there::core::column!()),
        );
        quote! {
            const __PTX_PARAMS: [#private::Param<'static>; #count] = [#(#entries),*];
            const __PTX_DESCRIPTOR: #private::Descriptor<'static> = #private::Descriptor {
                kind: #private::Kind::#kind,
                mangling: #private::Mangling::#mangling,
                namespace: #namespace,
                name: #name,
                template: #template,
                module_path: ::core::module_path!(),
                file: #file,
                line: #line,
                column: #column,
                bounds: #bounds,
                params: &__PTX_PARAMS,
                result: #result,
            };
        }
    }

    fn param(&self, name: &str, ty: &Type, static_ty: &Type, named: Option<&Type>) -> TokenStream {
        let private = self.private;
        let rust_type = text::of(ty);
        let span = ty.span();
        let constant = |of_device, of_host| {
            let (of, name) = if self.for_host { ("HostParam", of_host) } else { ("DeviceParam", of_device) };
            let (of, name) = (Ident::new(of, span), Ident::new(name, span));
            quote_spanned!(span=> <#static_ty as #private::#of>::#name)
        };
        let layout = constant("TYPE", "LAYOUT");
        let cxx = match named {
            None => constant("CXX", "NAME"),
            // A template parameter has a name and no layout.
            Some(named) => quote_spanned!(span=> <#named as #private::CxxType>::CXX),
        };
        let definition = constant("DEFINITION", "HELD");
        quote!(#private::Param {
            name: #name,
            rust_type: #rust_type,
            ty: #layout,
            cxx: #cxx,
            definition: #definition,
        })
    }
}

/// The shim that the compiler calls: a pointer to the result's place, if there is a result, and one to each parameter.
/// `call` is the call of the function with what these point to, an unsafe expression. `before` is unsafe code that runs
/// before it, of what has no result.
/// They are untyped: a wrong type would be reported again for each place that names it.
pub fn shim(
    private: &TokenStream,
    shim: &Ident,
    function: &ItemFn,
    params: &[Param],
    call: &TokenStream,
    result: Option<&Type>,
    before: Option<TokenStream>,
) -> TokenStream {
    let signature = &function.sig;
    let marker = marker_of(function, private);
    let (lifetimes, _, where_clause) = signature.generics.split_for_impl();
    let pointers = pointers(params);
    let (first, body) = match result {
        None => (None, quote!({ #before #call; })),
        Some(ty) => (
            Some(quote!(__ptx_result: *mut (),)),
            quote_spanned!(ty.span()=> {
                <#ty as #private::DeviceParam>::write(#call, __ptx_result)
            }),
        ),
    };
    let allow = allow(&quote!(improper_ctypes_definitions, unused_unsafe, clippy::too_many_arguments));
    quote! {
        #allow
        unsafe extern "C" fn #shim #lifetimes (#first #(#pointers: *const ()),*) #where_clause {
            #marker
            // SAFETY: the compiler calls this with one pointer for each parameter, as `Entry` asks.
            unsafe #body
        }
    }
}

/// The parameters as the function takes them, read from where the shim's pointers say.
pub fn values(private: &TokenStream, params: &[Param]) -> Vec<TokenStream> {
    let read = |(Param { ty, .. }, pointer): (&Param, Ident)| quote_spanned!(ty.span()=> <#ty as #private::DeviceParam>::read(#pointer));
    params.iter().zip(pointers(params)).map(read).collect()
}

/// The shim's parameters' names, each with its type's place, so that rustc reports a wrong type once and not again for
/// the pointer.
pub fn pointers(params: &[Param]) -> Vec<Ident> {
    params.iter().enumerate().map(|(i, param)| format_ident!("__ptx_{i}", span = param.ty.span())).collect()
}

/// The static that the compiler finds: `shim` is the function, `__PTX_DESCRIPTOR` describes it.
pub fn entry(private: &TokenStream, shim: &Ident) -> TokenStream {
    quote! {
        #[used]
        #[unsafe(link_section = ".ptx.interface")]
        static __PTX_ENTRY: #private::Entry<{ #private::encoded_len(&__PTX_DESCRIPTOR) }> =
            #private::Entry { shim: #shim as *const (), bytes: #private::encode(&__PTX_DESCRIPTOR) };
    }
}
