//! Instances of C++ function templates: `fn f<T, const N: i32>(x: T)` with `T = f32`, `N = 4`.
//!
//! The real types make the layout. The mangled name of an instance needs the template's own signature, in which `T`
//! stands for itself; for it every `T` becomes the marker type `TemplateParameter<I>`.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::visit_mut::{VisitMut, visit_type_mut};
use syn::{Expr, FnArg, GenericArgument, GenericParam, ReturnType, Signature, Token, Type, parse_quote};

use crate::abi_type::builtin;
use crate::function;

/// The arguments of `instantiate(..)`.
pub struct Arguments(Vec<GenericArgument>, proc_macro2::Span);

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let span = input.span();
        Ok(Self(Punctuated::<GenericArgument, Token![,]>::parse_terminated(input)?.into_iter().collect(), span))
    }
}

/// One argument of an instance.
pub enum Argument {
    /// An argument that is a type.
    Type(Type),
    /// A number whose type is this variant of `Builtin`.
    Value(Ident, Expr),
}

impl Argument {
    /// The expression for a `cxx::Argument`.
    pub fn tokens(&self, private: &TokenStream) -> TokenStream {
        match self {
            Self::Type(ty) => quote!(#private::cxx::Argument::Type(&<#ty as #private::CxxType>::CXX)),
            Self::Value(builtin, value) => quote!(#private::cxx::Argument::Value {
                ty: #private::cxx::Builtin::#builtin,
                value: #value as i128,
            }),
        }
    }
}

/// A signature without parameters.
pub struct Instance {
    /// The signature with the real types.
    pub signature: Signature,
    /// The parameters' types and the result's with markers; none if the function is no template.
    pub names: Option<Vec<Type>>,
    /// The template's arguments; none if the function is no template.
    pub arguments: Option<Vec<Argument>>,
}

/// Puts `arguments` in the place of the signature's parameters.
pub fn instantiate(signature: &Signature, arguments: Option<Arguments>) -> syn::Result<Instance> {
    let Some(Arguments(given, span)) = arguments else {
        return Ok(Instance { signature: signature.clone(), names: None, arguments: None });
    };
    let generics: Vec<_> =
        signature.generics.params.iter().filter(|p| !matches!(p, GenericParam::Lifetime(_))).collect();
    if generics.len() != given.len() || generics.is_empty() {
        return Err(syn::Error::new(
            span,
            format!("the function has {} template parameters, and {} arguments are given", generics.len(), given.len()),
        ));
    }
    let (mut real, mut marked) = (Replace::default(), Replace::default());
    let mut list = Vec::new();
    for (index, (parameter, argument)) in generics.iter().zip(&given).enumerate() {
        match (parameter, argument) {
            (GenericParam::Type(parameter), GenericArgument::Type(ty)) => {
                let index = u32::try_from(index).unwrap_or(u32::MAX);
                real.0.push((parameter.ident.clone(), ty.clone()));
                marked.0.push((parameter.ident.clone(), parse_quote!(::ptx::__private::TemplateParameter<#index>)));
                list.push(Argument::Type(ty.clone()));
            }
            (GenericParam::Const(parameter), argument) => {
                let ty = parameter.ty.to_token_stream().to_string();
                let value: Expr = syn::parse2(argument.to_token_stream())?;
                list.push(Argument::Value(builtin(&ty), value));
            }
            (_, argument) => return Err(syn::Error::new_spanned(argument, "expected a type")),
        }
    }
    let mut instance = signature.clone();
    instance.generics.params =
        instance.generics.params.into_iter().filter(|p| matches!(p, GenericParam::Lifetime(_))).collect();
    let mut template = instance.clone();
    real.visit_signature_mut(&mut instance);
    marked.visit_signature_mut(&mut template);
    let params = template.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => Some((*typed.ty).clone()),
        FnArg::Receiver(_) => None,
    });
    let result = match &template.output {
        ReturnType::Type(_, ty) if function::result(&template).is_some() => Some((**ty).clone()),
        _ => None,
    };
    let names = params.chain(result).collect();
    Ok(Instance { signature: instance, names: Some(names), arguments: Some(list) })
}

/// Replaces names of types by types.
#[derive(Default)]
struct Replace(Vec<(Ident, Type)>);

impl VisitMut for Replace {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::Path(path) = ty
            && let Some((_, with)) = self.0.iter().find(|(name, _)| path.path.is_ident(name))
        {
            *ty = with.clone();
            return;
        }
        visit_type_mut(self, ty);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(signature: &str, arguments: &str) -> String {
        let arguments = syn::parse_str(arguments).unwrap();
        instantiate(&syn::parse_str(signature).unwrap(), Some(arguments)).err().expect("an error").to_string()
    }

    #[test]
    fn the_arguments_must_fit() {
        assert!(error("fn f<T>(x: T)", "f32, 4").contains("1 template parameters, and 2 arguments"));
        assert!(error("fn f(x: u8)", "f32").contains("0 template parameters"));
        assert!(error("fn f<T>(x: T)", "4").contains("expected a type"));
    }

    #[test]
    fn types_are_replaced_at_any_depth() {
        let arguments = syn::parse_str("u8, 7").unwrap();
        let signature = syn::parse_str("fn f<T, const N: u32>(x: *const *mut T, y: Pair<T>)").unwrap();
        let instance = instantiate(&signature, Some(arguments)).unwrap();
        let text = instance.signature.to_token_stream().to_string();
        assert_eq!(text, "fn f (x : * const * mut u8 , y : Pair < u8 >)");
        assert_eq!(instance.names.unwrap().len(), 2);
    }
}
