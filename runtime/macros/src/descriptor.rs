//! The descriptor of a kernel or device function, its place in the interface section, and the shim beside it.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use ptx_abi::pieces::Own;
use ptx_abi::{Kind, Mangling};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{ItemFn, Type};

use crate::float::marker_of;
use crate::function::{self, Param, allow};
use crate::text;

/// What a descriptor is made from.
pub struct Function<'a> {
    /// The path of `ptx::__private`.
    pub private: &'a TokenStream,
    /// Kernel or device function.
    pub kind: Kind,
    /// How `name` becomes a symbol.
    pub mangling: Mangling,
    /// The C++ namespace, such as `a::b`, or empty.
    pub namespace: &'a str,
    /// The function's name in PTX or C++.
    pub name: String,
    /// Template arguments, each a `cxx::Argument`.
    pub template: Option<Vec<TokenStream>>,
    /// The name in the source, for its place.
    pub ident: &'a Ident,
    /// The expression for a `LaunchBounds`, if anything is asked for.
    pub bounds: Option<TokenStream>,
    /// The parameters, in order.
    pub params: &'a [Param],
    /// The result, unless it is `()`.
    pub result: Option<&'a Type>,
    /// Types to take for the C++ names instead of the real ones, the result's last.
    pub names: Option<&'a [Type]>,
}

impl Function<'_> {
    /// For a launcher: `const __PTX_PARAMS` and `const __PTX_DESCRIPTOR`. Its signature names `HostParam`, and nothing else
    /// is asked of a parameter: rustc reports a type that lacks several traits once for each.
    pub fn constants(&self) -> TokenStream {
        let Self { private, namespace, name, bounds, params, .. } = self;
        let (kind, mangling) =
            (format_ident!("{}", format!("{:?}", self.kind)), format_ident!("{}", format!("{:?}", self.mangling)));
        let count = params.len();
        let entries = params.iter().map(|param| {
            let name = function::plain_name(&param.name);
            let rust_type = text::of(&param.ty);
            let constant = |name| self.constant(&param.static_ty, "HostParam", name, param.ty.span());
            let (layout, cxx, definition) = (constant("LAYOUT"), constant("NAME"), constant("HELD"));
            quote!(#private::Param {
                name: #name,
                rust_type: #rust_type,
                ty: #layout,
                cxx: #cxx,
                definition: #definition,
            })
        });
        let bounds = bounds.clone().unwrap_or_else(|| quote!(#private::LaunchBounds::NONE));
        let [file, line, column] = self.place();
        quote! {
            const __PTX_PARAMS: [#private::Param<'static>; #count] = [#(#entries),*];
            const __PTX_DESCRIPTOR: #private::Descriptor<'static> = #private::Descriptor {
                kind: #private::Kind::#kind,
                mangling: #private::Mangling::#mangling,
                namespace: #namespace,
                name: #name,
                template: ::core::option::Option::None,
                module_path: ::core::module_path!(),
                file: #file,
                line: #line,
                column: #column,
                bounds: #bounds,
                params: &__PTX_PARAMS,
                result: ::core::option::Option::None,
            };
        }
    }

    /// For the device: the static that the compiler finds, whose function is `shim`. It holds literals and what traits have
    /// ready: rustc interprets next to nothing for it. `checks` are statements that a constant evaluates.
    pub fn entry(&self, shim: &Ident, checks: TokenStream) -> TokenStream {
        let Self { private, bounds, params, result, names, .. } = self;
        let texts: Vec<_> =
            params.iter().map(|param| (function::plain_name(&param.name), text::of(&param.ty))).collect();
        let result_text = result.map(text::of);
        let own = Own {
            kind: self.kind,
            mangling: self.mangling,
            namespace: self.namespace,
            name: &self.name,
            has_template: self.template.is_some(),
            has_bounds: bounds.is_some(),
            params: &texts,
            result: result_text.as_deref(),
        };
        let own = match own.encoded() {
            Some(bytes) => Literal::byte_string(&bytes).into_token_stream(),
            None => quote!(::core::compile_error!("a name, a type or a list in a signature is over 65,535 long")),
        };
        let template = self.template.as_ref().map(|arguments| {
            quote!(&{
                const __PTX_TEMPLATE: &[#private::cxx::Argument<'static>] = &[#(#arguments),*];
                #private::encode_arguments::<{ #private::arguments_len(__PTX_TEMPLATE) }>(__PTX_TEMPLATE)
            })
        });
        let bounds = bounds.as_ref().map(|bounds| quote!(&#private::encode_bounds(&#bounds)));
        let types = params.iter().map(|param| (&param.ty, &param.static_ty)).chain(result.map(|ty| (ty, ty)));
        let types = types
            .enumerate()
            .map(|(index, (ty, static_ty))| self.encoded(static_ty, names.map(|names| &names[index]), ty.span()));
        let parts = template.into_iter().chain(bounds).chain(types);
        let [file, line, column] = self.place();
        quote! {
            #[used]
            #[unsafe(link_section = ".ptx.interface")]
            static __PTX_ENTRY: #private::Entry = {
                #checks
                #private::Entry {
                    shim: #shim as *const (),
                    own: #own,
                    place: ::core::concat!(
                        ::core::module_path!(), "\0", #file, "\0", #line, "\0", #column, "\0"
                    ),
                    parts: &[#(#parts),*],
                }
            };
        }
    }

    /// `file!()`, `line!()` and `column!()` of the name, not the attribute. There `::core` would be none of edition 2015.
    fn place(&self) -> [TokenStream; 3] {
        let span = self.ident.span();
        let there = self.private.to_token_stream().into_iter().map(|mut token| {
            token.set_span(span);
            token
        });
        let there: TokenStream = there.collect();
        ["file", "line", "column"].map(|name| {
            let name = Ident::new(name, span);
            quote_spanned!(span=> #there::core::#name!())
        })
    }

    /// A parameter's type, or the result's, as [`Function::entry`] has it.
    fn encoded(&self, static_ty: &Type, named: Option<&Type>, span: Span) -> TokenStream {
        let private = self.private;
        let constant = |name| self.constant(static_ty, "DeviceParam", name, span);
        // A template parameter has a name and no layout.
        let Some(named) = named else { return constant("ENCODED") };
        let (layout, definition) = (constant("TYPE"), constant("DEFINITION"));
        let cxx = quote_spanned!(span=> <#named as #private::CxxType>::CXX);
        let arguments = quote!(&#layout, &#cxx, #definition);
        quote!(&#private::encode_type::<{ #private::type_len(#arguments) }>(#arguments))
    }

    fn constant(&self, ty: &Type, of: &str, name: &str, span: Span) -> TokenStream {
        let (private, of, name) = (self.private, Ident::new(of, span), Ident::new(name, span));
        quote_spanned!(span=> <#ty as #private::#of>::#name)
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
