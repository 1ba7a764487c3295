//! Instances of generic kernels: `#[kernel(instantiate(f32, f64))] fn scale<T: Number>(..)`.
//!
//! ```text
//! // device
//! fn scale<T: Number>(a: T, x: DisjointSlice<T>) { body }
//! unsafe extern "C" fn shim(..) { scale::<f32>(..) }     // with an entry of the name `scale_f32`, and so for `f64`
//! // host
//! trait __ptx_instances_of_scale<T> { type P1<'l>; unsafe fn launch<'l>(a: T, x: Self::P1<'l>) -> Launch<'l>; }
//! impl __ptx_instances_of_scale<f32> for () { .. }       // and for `f64`
//! fn scale<'l, T>(a: T, x: <() as __ptx_instances_of_scale<T>>::P1<'l>) -> Launch<'l>
//! where (): __ptx_instances_of_scale<T> { .. }
//! ```
//! A macro knows no types, so the instances must be named where the kernel is written: the device's code is compiled
//! before, and apart from, the program that launches it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{ParseStream, Parser};
use syn::visit_mut::{VisitMut, visit_expr_mut, visit_generic_argument_mut, visit_path_arguments_mut, visit_type_mut};
use syn::{
    Expr, GenericArgument, GenericParam, Lifetime, PathArguments, Signature, Token, Type, TypePath, parenthesized,
    parse_quote,
};

use crate::errors::Errors;
use crate::function::{SLICES, allow, plain_name};
use crate::text;

/// One instance of a generic kernel.
pub struct Instance {
    /// What stands for each parameter, in order.
    values: Vec<Value>,
    /// The kernel's signature without its parameters.
    pub signature: Signature,
    /// The function's parameters.
    parameters: Vec<GenericParam>,
}

enum Value {
    Type(Type),
    Const(Expr),
}

impl Instance {
    /// The arguments as in `scale::<f32, { N }>`, without the function.
    pub fn turbofish(&self) -> TokenStream {
        let list = self.arguments();
        quote!(::<#(#list),*>)
    }

    /// Each argument as it stands between `<` and `>`.
    pub fn arguments(&self) -> Vec<TokenStream> {
        self.values.iter().map(Value::argument).collect()
    }

    /// As a user writes it: `f32, 4`.
    pub fn shown(&self) -> String {
        let list: Vec<_> = self.values.iter().map(Value::shown).collect();
        list.join(", ")
    }

    /// What its symbol has behind the kernel's name: `_f32_4`.
    pub fn suffix(&self) -> String {
        self.values.iter().map(|value| format!("_{}", symbol(&value.shown()))).collect()
    }

    /// Items that give the parameters' names their values, for expressions beside the function. Replaced in them, a number
    /// would be a literal with a cast, of which clippy complains.
    pub fn items(&self) -> TokenStream {
        let items = self.parameters.iter().zip(&self.values).map(|(parameter, value)| match (parameter, value) {
            (GenericParam::Const(parameter), Value::Const(value)) => {
                let (name, ty) = (&parameter.ident, &parameter.ty);
                quote!(const #name: #ty = #value;)
            }
            (parameter, value) => {
                let (name, value) = (name_of(parameter), value.argument());
                quote!(type #name = #value;)
            }
        });
        let allow = allow(&quote!(dead_code, non_upper_case_globals, non_camel_case_types, unused_braces));
        items.map(|item| quote!(#allow #item)).collect()
    }
}

impl Value {
    fn argument(&self) -> TokenStream {
        match self {
            Self::Type(ty) => ty.to_token_stream(),
            Self::Const(value @ (Expr::Lit(_) | Expr::Block(_))) => value.to_token_stream(),
            Self::Const(value) => quote!({ #value }),
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Type(ty) => text::of(ty),
            Self::Const(value) => text::of(value),
        }
    }
}

/// A part of a name in PTX: words and numbers are kept, and what is between them becomes `_`. `-4` is `m4`, and `crate`,
/// `self` and `super` say nothing.
fn symbol(shown: &str) -> String {
    let shown = shown.replace('-', " m");
    let words = shown.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let words: Vec<_> = words.filter(|word| !matches!(*word, "" | "crate" | "self" | "super")).collect();
    words.join("_")
}

/// The generic parameters of a function that are types or numbers.
pub fn parameters(signature: &Signature) -> Vec<&GenericParam> {
    signature.generics.params.iter().filter(|p| !matches!(p, GenericParam::Lifetime(_))).collect()
}

/// What `instantiate(..)` lists for a function with this signature, at `key`.
pub fn of(signature: &Signature, key: &Ident, given: TokenStream) -> syn::Result<Vec<Instance>> {
    let parameters = parameters(signature);
    if parameters.is_empty() {
        return Err(syn::Error::new(
            key.span(),
            "the kernel has no type and no const parameters to instantiate: remove `instantiate`",
        ));
    }
    let several = parameters.len() > 1;
    let one = |input: ParseStream<'_>| -> syn::Result<Vec<Value>> {
        if !several {
            return Ok(vec![value(parameters[0], input)?]);
        }
        if !input.peek(syn::token::Paren) {
            return Err(input.error(expected(&parameters)));
        }
        let inner;
        parenthesized!(inner in input);
        let mut values = Vec::new();
        for parameter in &parameters {
            if inner.is_empty() {
                return Err(inner.error(expected(&parameters)));
            }
            values.push(value(parameter, &inner)?);
            if !inner.is_empty() {
                inner.parse::<Token![,]>()?;
            }
        }
        if inner.is_empty() { Ok(values) } else { Err(inner.error(expected(&parameters))) }
    };
    let list = |input: ParseStream<'_>| {
        let mut list = Vec::new();
        while !input.is_empty() {
            list.push(one(input)?);
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(list)
    };
    let list = list.parse2(given)?;
    if list.is_empty() {
        return Err(syn::Error::new(key.span(), "say at least one instance, as in `instantiate(f32, f64)`"));
    }
    let instances: Vec<_> = list.into_iter().map(|values| instance(signature, values)).collect::<Result<_, _>>()?;
    check_symbols(&instances)?;
    Ok(instances)
}

/// What an instance of several parameters looks like.
fn expected(parameters: &[&GenericParam]) -> String {
    let names: Vec<_> = parameters.iter().map(|parameter| name_of(parameter).to_string()).collect();
    format!(
        "an instance has {} arguments, `({})`, as in `instantiate((f32, 4), (f64, 2))`",
        parameters.len(),
        names.join(", ")
    )
}

fn name_of(parameter: &GenericParam) -> &Ident {
    match parameter {
        GenericParam::Type(parameter) => &parameter.ident,
        GenericParam::Const(parameter) => &parameter.ident,
        GenericParam::Lifetime(parameter) => &parameter.lifetime.ident,
    }
}

fn value(parameter: &GenericParam, input: ParseStream<'_>) -> syn::Result<Value> {
    let (name, span) = (name_of(parameter), input.span());
    let wrong = |what: &str| syn::Error::new(span, format!("`{name}` is {what}"));
    Ok(match parameter {
        GenericParam::Const(_) => Value::Const(input.parse().map_err(|_| wrong("a number: write its value here"))?),
        _ => Value::Type(match input.parse().map_err(|_| wrong("a type: write the type's name here"))? {
            Type::Infer(_) => return Err(wrong("a type: write the type's name here")),
            Type::ImplTrait(_) => return Err(wrong("one type: `impl Trait` names none")),
            ty => ty,
        }),
    })
}

fn instance(signature: &Signature, values: Vec<Value>) -> syn::Result<Instance> {
    let mut replace = Replace::default();
    for (parameter, value) in parameters(signature).into_iter().zip(&values) {
        let name = name_of(parameter).clone();
        match value {
            Value::Type(ty) => replace.types.push((name, ty.clone())),
            Value::Const(value) => replace.consts.push((name, value.clone())),
        }
    }
    let mut own = signature.clone();
    own.generics.params = own.generics.params.into_iter().filter(|p| matches!(p, GenericParam::Lifetime(_))).collect();
    // Whether the arguments are what these ask is checked where the function is called.
    own.generics.where_clause = None;
    for input in &mut own.inputs {
        replace.visit_fn_arg_mut(input);
    }
    replace.errors.finish()?;
    let parameters = parameters(signature).into_iter().cloned().collect();
    Ok(Instance { values, signature: own, parameters })
}

/// No two instances have one symbol.
fn check_symbols(instances: &[Instance]) -> syn::Result<()> {
    let mut errors = Errors::default();
    for (index, instance) in instances.iter().enumerate() {
        let Some(first) = instances[..index].iter().find(|other| other.suffix() == instance.suffix()) else { continue };
        let (one, other) = (first.shown(), instance.shown());
        let at = instance.arguments().into_iter().collect::<TokenStream>();
        if one == other {
            errors.add(at, &format!("`{one}` is given twice: remove one"));
        } else {
            let message = format!(
                "`{one}` and `{other}` would be one symbol in the PTX, `…{}`: give one of them another name with `use … as`",
                instance.suffix()
            );
            errors.add(at, &message);
        }
    }
    errors.finish()
}

/// Replaces the names of parameters by what an instance has for them.
#[derive(Default)]
struct Replace {
    types: Vec<(Ident, Type)>,
    consts: Vec<(Ident, Expr)>,
    errors: Errors,
}

impl Replace {
    fn constant(&self, path: &syn::Path) -> Option<&Expr> {
        self.consts.iter().find(|(name, _)| path.is_ident(name)).map(|(_, value)| value)
    }
}

impl VisitMut for Replace {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::Path(TypePath { qself: None, path, .. }) = ty {
            if let Some((_, with)) = self.types.iter().find(|(name, _)| path.is_ident(name)) {
                *ty = with.clone();
                return;
            }
            let first = path.segments.first();
            if path.segments.len() > 1
                && let Some((name, _)) =
                    first.and_then(|first| self.types.iter().find(|(name, _)| first.ident == *name))
            {
                let rest: Vec<_> =
                    path.segments.iter().skip(1).map(|part| part.to_token_stream().to_string()).collect();
                let rest = rest.join("::");
                self.errors.add(&*ty, &format!("say whose `{rest}` it is: `<{name} as Trait>::{rest}`"));
                return;
            }
        }
        visit_type_mut(self, ty);
    }

    fn visit_generic_argument_mut(&mut self, argument: &mut GenericArgument) {
        // `N` in `PerThread<T, N>` could be a type, as far as syntax says.
        if let GenericArgument::Type(Type::Path(TypePath { qself: None, path, .. })) = argument
            && let Some(value) = self.constant(path)
        {
            *argument = GenericArgument::Const(braced(value));
            return;
        }
        visit_generic_argument_mut(self, argument);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::Path(path) = expr
            && path.qself.is_none()
            && let Some(value) = self.constant(&path.path)
        {
            *expr = braced(value);
            return;
        }
        visit_expr_mut(self, expr);
    }
}

/// As it may stand anywhere.
fn braced(value: &Expr) -> Expr {
    match value {
        Expr::Lit(_) | Expr::Block(_) => value.clone(),
        value => parse_quote!({ #value }),
    }
}

/// The type with `'static` for every lifetime, also where none is written. An associated type may leave none out, and a
/// macro sees only from the name that a type has one: of types that are no views of ours, `'_` must be written.
pub fn with_lifetimes(ty: &Type) -> Type {
    with_lifetime(ty, "'static")
}

/// The same with another lifetime; `'static` stays.
pub fn with_lifetime(ty: &Type, name: &str) -> Type {
    let mut ty = ty.clone();
    Lifetimes { name }.visit_type_mut(&mut ty);
    ty
}

struct Lifetimes<'a> {
    name: &'a str,
}

impl VisitMut for Lifetimes<'_> {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident != "static" {
            *lifetime = Lifetime::new(self.name, lifetime.span().resolved_at(Span::call_site()));
        }
    }

    fn visit_type_reference_mut(&mut self, reference: &mut syn::TypeReference) {
        let span = reference.and_token.span.resolved_at(Span::call_site());
        match &mut reference.lifetime {
            Some(lifetime) => self.visit_lifetime_mut(lifetime),
            none => *none = Some(Lifetime::new(self.name, span)),
        }
        self.visit_type_mut(&mut reference.elem);
    }

    fn visit_path_segment_mut(&mut self, segment: &mut syn::PathSegment) {
        visit_path_arguments_mut(self, &mut segment.arguments);
        let PathArguments::AngleBracketed(list) = &mut segment.arguments else { return };
        let has_one = matches!(list.args.first(), Some(GenericArgument::Lifetime(_)));
        // What `#[shared(dynamic)]` parameters are, too.
        if !has_one && SLICES.iter().chain(&["SharedTile"]).any(|name| segment.ident == name) {
            let lifetime = Lifetime::new(self.name, Span::call_site());
            list.args.insert(0, GenericArgument::Lifetime(lifetime));
        }
    }
}

/// The parameters as the trait and the launcher declare them: names alone, what they must be is the instances' business.
pub fn declared(signature: &Signature) -> Vec<TokenStream> {
    let declare = |parameter: &GenericParam| match parameter {
        GenericParam::Const(parameter) => {
            let (name, ty) = (&parameter.ident, &parameter.ty);
            quote!(const #name: #ty)
        }
        other => name_of(other).to_token_stream(),
    };
    parameters(signature).into_iter().map(declare).collect()
}

/// The parameters' names.
pub fn names(signature: &Signature) -> Vec<Ident> {
    parameters(signature).into_iter().map(|parameter| name_of(parameter).clone()).collect()
}

/// The trait whose implementations are the instances of this kernel.
pub fn trait_name(kernel: &Ident) -> Ident {
    Ident::new(&format!("__ptx_instances_of_{}", plain_name(kernel)), Span::call_site())
}

/// The same for launches by kernels.
pub fn child_trait_name(kernel: &Ident) -> Ident {
    Ident::new(&format!("__ptx_children_of_{}", plain_name(kernel)), Span::call_site())
}

/// What rustc says of a launch of another instance.
pub fn diagnostic(kernel: &Ident, names: &[Ident], instances: &[Instance]) -> TokenStream {
    let shown: Vec<_> = names.iter().map(|name| format!("{{{name}}}")).collect();
    let message = format!("kernel `{kernel}` has no instance `{kernel}::<{}>`", shown.join(", "));
    let known: Vec<_> = instances.iter().map(|instance| format!("`{kernel}::<{}>`", instance.shown())).collect();
    let note = format!("it has {}; `#[kernel(instantiate(..))]` says which the device gets", known.join(", "));
    quote! {
        #[diagnostic::on_unimplemented(message = #message, label = "the device has no such instance", note = #note)]
    }
}

/// Whether the host passes for a parameter of this type just a value of the type parameter, or an array of them: then
/// rustc finds the instance without being told. What crosses as another type, such as a pointer, is none.
pub fn is_passed_as_itself(ty: &Type, signature: &Signature, instances: &[Instance]) -> bool {
    if let Type::Array(array) = ty {
        return is_passed_as_itself(&array.elem, signature, instances);
    }
    let Type::Path(TypePath { qself: None, path, .. }) = ty else { return false };
    let position = parameters(signature)
        .iter()
        .position(|parameter| matches!(parameter, GenericParam::Type(_)) && path.is_ident(name_of(parameter)));
    position.is_some_and(|index| {
        let is_value = |value: &Value| !matches!(value, Value::Type(Type::Ptr(_) | Type::Reference(_)));
        instances.iter().all(|instance| is_value(&instance.values[index]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_text(signature: &str, given: &str) -> syn::Result<Vec<Instance>> {
        let key = Ident::new("instantiate", Span::call_site());
        of(&syn::parse_str(signature).unwrap(), &key, given.parse().unwrap())
    }

    fn error(signature: &str, given: &str) -> String {
        let error = of_text(signature, given).err().unwrap_or_else(|| panic!("no error for {given}"));
        error.into_iter().map(|e| e.to_string()).collect::<Vec<_>>().join("\n")
    }

    fn one(signature: &str, given: &str) -> Instance {
        of_text(signature, given).unwrap().remove(0)
    }

    #[test]
    fn symbols_are_readable() {
        for (given, suffix) in [
            ("f32", "_f32"),
            ("crate::ops::Add", "_ops_Add"),
            ("[Pair<f32>; 4]", "_Pair_f32_4"),
            ("*mut u8", "_mut_u8"),
        ] {
            assert_eq!(one("fn k<T>()", given).suffix(), suffix);
        }
        assert_eq!(one("fn k<const N: i32>()", "-4").suffix(), "_m4");
        assert_eq!(
            one("fn k<'a, T, const N: u8, const B: bool>()", "(f32, { 2 * WIDTH }, true)").suffix(),
            "_f32_2_WIDTH_true"
        );
    }

    #[test]
    fn arguments_stand_for_parameters() {
        let instance = one(
            "fn k<'a, T: Number, const N: usize>(a: T, b: &'a [Pair<T>; N], c: PerThread<T, N>, d: <T as Number>::Of)",
            "(f64, -1)",
        );
        let text = instance.signature.to_token_stream().to_string();
        assert_eq!(
            text,
            "fn k < 'a > (a : f64 , b : & 'a [Pair < f64 > ; { - 1 }] , c : PerThread < f64 , { - 1 } > , d : < f64 as Number > :: Of)"
        );
        assert_eq!(instance.turbofish().to_string(), ":: < f64 , { - 1 } >");
        let items = instance.items().to_string();
        assert!(items.contains("type T = f64 ;") && items.contains("const N : usize = - 1 ;"), "{items}");
        assert_eq!(instance.shown(), "f64, -1");
    }

    #[test]
    fn lifetimes_are_written_out() {
        for (given, expected) in [
            ("&[f32]", "& 'static [f32]"),
            ("DisjointSlice<f32>", "DisjointSlice < 'static , f32 >"),
            ("ptx::PerBlock<'_, f32, 4>", "ptx :: PerBlock < 'static , f32 , 4 >"),
            ("Pair<f32>", "Pair < f32 >"),
        ] {
            assert_eq!(with_lifetimes(&syn::parse_str(given).unwrap()).to_token_stream().to_string(), expected);
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(error("fn k(x: u8)", "f32").contains("no type and no const parameters"));
        assert!(error("fn k<'a>(x: &'a u8)", "f32").contains("no type and no const parameters"));
        assert!(error("fn k<T>()", "").contains("at least one"));
        assert!(error("fn k<T>()", "4").contains("`T` is a type"));
        assert!(error("fn k<T>()", "_").contains("`T` is a type"));
        assert!(error("fn k<T>()", "impl Copy").contains("`T` is one type"));
        assert!(error("fn k<const N: u8>()", "[u8]; 4").contains("expected `,`"));
        assert!(error("fn k<T, const N: u8>()", "f32, 4").contains("2 arguments, `(T, N)`"));
        assert!(error("fn k<T, const N: u8>()", "(f32)").contains("2 arguments"));
        assert!(error("fn k<T, const N: u8>()", "(f32, 4, 5)").contains("2 arguments"));
        assert!(error("fn k<T>()", "f32, f64, f32").contains("`f32` is given twice"));
        assert!(error("fn k<T>()", "a::Add, a_Add").contains("one symbol"));
        assert!(error("fn k<T: Number>(x: &[T::Of])", "f32").contains("`<T as Trait>::Of`"));
    }

    #[test]
    fn values_find_their_instance() {
        let signature: Signature = syn::parse_str("fn k<T, P>(a: T, b: P, c: &T)").unwrap();
        let key = Ident::new("instantiate", Span::call_site());
        let instances = of(&signature, &key, quote!((f32, *mut u8), (f64, u8))).unwrap();
        let is = |ty: &str| is_passed_as_itself(&syn::parse_str(ty).unwrap(), &signature, &instances);
        assert!(is("T") && is("[[T; 4]; 2]") && !is("P") && !is("[P; 4]") && !is("&T") && !is("u8"));
    }
}
