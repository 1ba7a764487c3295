//! What a function must be like to become a kernel.

use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{FnArg, GenericParam, Ident, ItemFn, Lifetime, Pat, ReturnType, Type};

/// A parameter of a kernel.
pub struct Param {
    /// Its name.
    pub name: Ident,
    /// Its type as written.
    pub ty: Type,
    /// Its type with every named lifetime made `'static`, for places that know no lifetimes.
    pub static_ty: Type,
}

/// The parameters of `function`, or every reason why it cannot be a kernel.
pub fn check(function: &ItemFn) -> syn::Result<Vec<Param>> {
    let mut errors = Errors::default();
    let signature = &function.sig;
    if let Some(token) = &signature.constness {
        errors.add(token, "a kernel cannot be `const`: remove `const`");
    }
    if let Some(token) = &signature.asyncness {
        errors.add(token, "a kernel cannot be `async`: launches are asynchronous already; remove `async`");
    }
    if let Some(abi) = &signature.abi {
        errors.add(abi, "a kernel's calling convention is set by the compiler: remove the `extern`");
    }
    if let Some(variadic) = &signature.variadic {
        errors.add(variadic, "a kernel has a fixed number of parameters: pass a slice instead");
    }
    if let ReturnType::Type(_, ty) = &signature.output
        && !matches!(&**ty, Type::Tuple(tuple) if tuple.elems.is_empty())
    {
        errors.add(ty, "a kernel returns nothing: write results to a `DisjointSlice` parameter");
    }
    for generic in &signature.generics.params {
        match generic {
            GenericParam::Lifetime(_) => {}
            GenericParam::Type(ty) => {
                errors.add(
                    ty,
                    "a kernel cannot have type parameters: the device needs one entry point for each type. \
                    Write a generic function and one kernel a type that calls it",
                );
            }
            GenericParam::Const(c) => {
                errors.add(
                    c,
                    "a kernel cannot have const parameters: pass the number as a parameter, or write a \
                    generic function and one kernel a number that calls it",
                );
            }
        }
    }
    let mut params = Vec::new();
    for input in &signature.inputs {
        match input {
            FnArg::Receiver(receiver) => {
                errors.add(
                    receiver,
                    "a kernel cannot have `self`: make it a free function, and pass the value as a \
                    parameter",
                );
            }
            FnArg::Typed(typed) => {
                for attribute in &typed.attrs {
                    errors.add(attribute, "a kernel's parameters cannot have attributes");
                }
                if let Type::ImplTrait(_) = &*typed.ty {
                    errors
                        .add(&typed.ty, "a kernel's parameter needs a concrete type: `impl Trait` is a type parameter");
                }
                match &*typed.pat {
                    Pat::Ident(pat) if pat.subpat.is_none() && pat.by_ref.is_none() => {
                        let mut static_ty = (*typed.ty).clone();
                        MakeStatic.visit_type_mut(&mut static_ty);
                        params.push(Param { name: pat.ident.clone(), ty: (*typed.ty).clone(), static_ty });
                    }
                    other => errors.add(other, "a kernel's parameter needs a plain name: take it apart in the body"),
                }
            }
        }
    }
    errors.finish().map(|()| params)
}

struct MakeStatic;

impl VisitMut for MakeStatic {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident != "_" {
            *lifetime = Lifetime::new("'static", lifetime.span());
        }
    }
}

/// Collects errors, so that all of them are shown at once.
#[derive(Default)]
pub struct Errors(Option<syn::Error>);

impl Errors {
    /// One more.
    pub fn add(&mut self, at: impl Spanned + quote::ToTokens, message: &str) {
        let error = syn::Error::new_spanned(at, message);
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// All of them, if there are any.
    pub fn finish(self) -> syn::Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;

    use super::*;

    fn errors(text: &str) -> Vec<String> {
        match check(&syn::parse_str(text).unwrap()) {
            Ok(_) => Vec::new(),
            Err(error) => error.into_iter().map(|e| e.to_string()).collect(),
        }
    }

    fn one(text: &str, part: &str) {
        let errors = errors(text);
        assert!(errors.len() == 1 && errors[0].contains(part), "{text}: {errors:?}");
    }

    #[test]
    fn what_cannot_be_a_kernel() {
        one("const fn k() {}", "`const`");
        one("async fn k() {}", "`async`");
        one("extern \"C\" fn k() {}", "`extern`");
        one("unsafe fn k(x: u32, ...) {}", "fixed number");
        one("fn k() -> u32 { 0 }", "returns nothing");
        one("fn k<T>(x: u32) {}", "type parameters");
        one("fn k<const N: usize>() {}", "const parameters");
        one("fn k(&self) {}", "`self`");
        one("fn k((a, b): (u32, u32)) {}", "plain name");
        one("fn k(_: u32) {}", "plain name");
        one("fn k(x: impl Copy) {}", "`impl Trait`");
        one("fn k(#[cfg(x)] x: u32) {}", "attributes");
        assert_eq!(errors("async fn k<T>(self) -> T {}").len(), 4);
    }

    #[test]
    fn what_can() {
        for text in ["fn k() {}", "fn k() -> () {}", "pub unsafe fn k<'a>(mut x: &'a [f32], y: *mut f32) {}"] {
            assert!(errors(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn named_lifetimes_become_static() {
        let params = check(&syn::parse_str("fn k<'a>(x: &'a [f32], y: D<'_, f32>, z: &u8) {}").unwrap()).unwrap();
        let types: Vec<String> = params.iter().map(|p| p.static_ty.to_token_stream().to_string()).collect();
        assert_eq!(types, ["& 'static [f32]", "D < '_ , f32 >", "& u8"]);
    }
}
