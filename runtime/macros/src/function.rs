//! The conditions that a function must meet to become a kernel or to cross to other device code.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{
    Attribute, Expr, FnArg, GenericParam, Ident, ItemFn, Lifetime, Meta, Pat, ReturnType, Signature, Stmt, Type,
};

use crate::abi_type::refuse_dyn;
use crate::errors::Errors;

/// A parameter of a kernel or a device function.
#[derive(Clone)]
pub struct Param {
    /// The parameter's name.
    pub name: Ident,
    /// Its type as written.
    pub ty: Type,
    /// Its type with every named lifetime made `'static`, for places that know no lifetimes.
    pub static_ty: Type,
    /// Who gives it a value.
    pub source: Source,
}

/// Who gives a parameter its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The caller: the host, or other device code.
    Caller,
    /// `#[shared]`: the kernel's shim, of a shared static.
    Static,
    /// `#[shared(dynamic)]`: the shim, of shared memory as long as the launch says.
    Dynamic,
    /// `#[children]`: the shim, of nothing.
    Children,
}

/// What a function is to become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// An `.entry`.
    Kernel,
    /// A `.func` that other device code calls.
    Export,
    /// A `.func` that other device code defines.
    Import,
}

impl Role {
    fn noun(self) -> &'static str {
        match self {
            Self::Kernel => "a kernel",
            Self::Export => "an exported device function",
            Self::Import => "an imported device function",
        }
    }
}

/// A function as a macro gets it, and whether its body was read.
///
/// Most bodies have nothing that concerns us, and reading one takes longer than all else that is done with it: a body
/// without the words that `attribute` and `float` look for is one verbatim statement.
pub fn parse(item: TokenStream) -> syn::Result<(ItemFn, bool)> {
    let mut tokens: Vec<_> = item.into_iter().collect();
    let body = tokens.last_mut().and_then(take_body);
    let mut function: ItemFn = syn::parse2(tokens.into_iter().collect())?;
    let is_read = body.is_none();
    function.block.stmts.extend(body.map(|body| Stmt::Expr(Expr::Verbatim(body), None)));
    Ok((function, is_read))
}

/// What a function's last token holds, and empties it, if that is a body in which nothing concerns us.
fn take_body(last: &mut TokenTree) -> Option<TokenStream> {
    let TokenTree::Group(group) = last else { return None };
    let body = group.stream();
    let text = body.to_string();
    if group.delimiter() != Delimiter::Brace || text.contains("Self") || text.contains("float") {
        return None;
    }
    let mut empty = Group::new(Delimiter::Brace, TokenStream::new());
    empty.set_span(group.span());
    *group = empty;
    Some(body)
}

/// The parameters of a function, or every reason why it cannot have that role.
pub fn check(signature: &Signature, role: Role) -> syn::Result<Vec<Param>> {
    let mut errors = Errors::default();
    let noun = role.noun();
    if let Some(token) = &signature.constness
        && role == Role::Kernel
    {
        errors.add(token, "a kernel cannot be `const`: remove `const`");
    }
    if let Some(token) = &signature.asyncness {
        errors.add(
            token,
            &match role {
                Role::Kernel => {
                    "a kernel cannot be `async`: launches are asynchronous already; remove `async`".to_owned()
                }
                _ => format!("{noun} cannot be `async`: its caller in C++ knows no futures; remove `async`"),
            },
        );
    }
    if let Some(abi) = &signature.abi {
        errors.add(abi, &format!("{noun}'s calling convention is set by the compiler: remove the `extern`"));
    }
    if let Some(variadic) = &signature.variadic {
        errors.add(
            variadic,
            &match role {
                Role::Import => {
                    "a variadic device function cannot be imported: PTX has no ABI for it; print with `ptx::println!`"
                        .to_owned()
                }
                _ => format!("{noun} has a fixed number of parameters: pass a slice instead"),
            },
        );
    }
    if role == Role::Kernel
        && let Some(ty) = result(signature)
    {
        errors.add(ty, "a kernel returns nothing: write results to a `DisjointSlice` parameter");
    }
    if let ReturnType::Type(_, ty) = &signature.output {
        check_type(ty, noun, &mut errors);
        // Of a kernel this is said above.
        if let Type::Never(_) = **ty
            && role != Role::Kernel
        {
            errors.add(ty, &format!("{noun} returns to its caller: return `()`, and panic or loop in the body"));
        }
    }
    for generic in &signature.generics.params {
        let (kind, one, family) = match generic {
            GenericParam::Lifetime(_) => continue,
            GenericParam::Type(_) => ("type", "one function a type", "a type"),
            GenericParam::Const(_) => ("const", "one function a number", "a number"),
        };
        let message = match role {
            Role::Kernel => format!(
                "a kernel with {kind} parameters says which of its instances the device gets, each an entry point of its own: \
                `#[kernel(instantiate({}))]`",
                if kind == "type" { "f32, f64" } else { "16, 32" }
            ),
            Role::Export => format!(
                "{noun} cannot have {kind} parameters: its symbol is one function. Export {one} that calls the generic one"
            ),
            Role::Import => format!(
                "an imported function with {kind} parameters is an instance of a template: say which with \
                `#[ptx(instantiate(..))]`, {family} for each parameter"
            ),
        };
        errors.add(generic, &message);
    }
    let mut params = Vec::new();
    for input in &signature.inputs {
        match input {
            FnArg::Receiver(receiver) => {
                errors.add(
                    receiver,
                    &format!("{noun} cannot have `self`: make it a free function, and pass the value as a parameter"),
                );
            }
            FnArg::Typed(typed) => {
                let source = source(&typed.attrs, role, &mut errors);
                check_type(&typed.ty, noun, &mut errors);
                match &*typed.pat {
                    Pat::Ident(pat) if pat.subpat.is_none() && pat.by_ref.is_none() => {
                        params.push(Param { source, ..Param::new(pat.ident.clone(), (*typed.ty).clone()) });
                    }
                    other => {
                        errors.add(other, &format!("{noun}'s parameter needs a plain name: take it apart in the body"))
                    }
                }
                if let Type::Array(_) = &*typed.ty
                    && role != Role::Kernel
                {
                    errors.add(
                        &typed.ty,
                        "C++ passes no array by value: put it into a `#[repr(C)]` struct, or pass a reference to it",
                    );
                }
            }
        }
    }
    let mut dynamic = params.iter().filter(|param| param.source == Source::Dynamic);
    if let (Some(_), Some(second)) = (dynamic.next(), dynamic.next()) {
        errors
            .add(&second.name, "a block has one dynamic shared memory: make this parameter a part of the other's type");
    }
    errors.finish().map(|()| params)
}

/// What a parameter's attributes say of it.
fn source(attrs: &[Attribute], role: Role, errors: &mut Errors) -> Source {
    let mut source = Source::Caller;
    for attribute in attrs {
        let is_children = is(attribute, "children");
        if !(is_children || is(attribute, "shared")) || role != Role::Kernel {
            let known = if role == Role::Kernel { " but `#[shared]` and `#[children]`" } else { "" };
            errors.add(attribute, &format!("{}'s parameters cannot have attributes{known}", role.noun()));
        } else if source != Source::Caller {
            errors.add(attribute, "a parameter has one of `#[shared]` and `#[children]`, once: remove the other");
        } else if is_children {
            source = Source::Children;
        } else {
            source = match &attribute.meta {
                Meta::Path(_) => Source::Static,
                Meta::List(list) if list.tokens.to_string() == "dynamic" => Source::Dynamic,
                other => {
                    errors.add(other, "it is `#[shared]`, or `#[shared(dynamic)]` if the launch says how much memory");
                    Source::Static
                }
            };
        }
    }
    source
}

/// `#[shared]` or `#[ptx::shared]`, by that name.
fn is(attribute: &Attribute, name: &str) -> bool {
    attribute.path().segments.last().is_some_and(|last| last.ident == name)
}

/// Removes what [`check`] has read: rustc knows no such attribute of a parameter.
pub fn remove_sources(signature: &mut Signature) {
    for input in &mut signature.inputs {
        if let FnArg::Typed(typed) = input {
            typed.attrs.clear();
        }
    }
}

/// Refuses a function that is marked a second time: it would exist twice.
pub fn check_marks(attrs: &[Attribute], own: &str) -> syn::Result<()> {
    let name = |attribute: &Attribute| {
        let path = attribute.path();
        let is_ours = path.segments.len() == 1 || path.segments.first().is_some_and(|first| first.ident == "ptx");
        path.segments.last().filter(|_| is_ours).map(|last| last.ident.to_string())
    };
    for attribute in attrs {
        match name(attribute).as_deref() {
            Some(again) if again == own => {
                return Err(syn::Error::new_spanned(attribute, format!("`#[{own}]` stands here twice: remove one")));
            }
            Some("kernel" | "device") => {
                let message = "a function is a kernel or a device function, not both: remove one of `#[kernel]` and \
                    `#[device]`; a kernel can call device functions, and be called as any function";
                return Err(syn::Error::new_spanned(attribute, message));
            }
            _ => {}
        }
    }
    Ok(())
}

fn check_type(ty: &Type, noun: &str, errors: &mut Errors) {
    if let Type::ImplTrait(_) = ty {
        errors.add(ty, &format!("{noun}'s signature needs concrete types: `impl Trait` is a type parameter"));
    }
    if let Type::Reference(reference) = ty
        && let Type::Path(path) = &*reference.elem
        && let Some(slice) = path.path.segments.last().filter(|last| SLICES.iter().any(|name| last.ident == name))
    {
        errors.add(ty, &format!("{noun} takes `{}` by value: it is a reference already; remove the `&`", slice.ident));
    }
    refuse_dyn(ty, errors);
}

/// Our views of memory that many threads write, by their names, because a macro knows no types.
pub const SLICES: [&str; 14] = [
    "DisjointSlice",
    "AtomicSlice",
    "Disjoint2d",
    "Disjoint3d",
    "DisjointParts",
    "DisjointRows",
    "DisjointStrided",
    "DisjointTiles",
    "PerBlock",
    "PerThread",
    "PerWarp",
    "RowsPerBlock",
    "RowsPerThread",
    "RowsPerWarp",
];

/// The result's type, unless it is `()`.
pub fn result(signature: &Signature) -> Option<&Type> {
    match &signature.output {
        ReturnType::Type(_, ty) if !matches!(&**ty, Type::Tuple(tuple) if tuple.elems.is_empty()) => Some(ty),
        _ => None,
    }
}

/// A name without Rust's `r#`.
pub fn plain_name(ident: &Ident) -> String {
    ident.to_string().trim_start_matches("r#").to_owned()
}

/// Lints that our code may set off, or not, by what the user wrote: `expect` would warn where it does not.
pub fn allow(lints: &TokenStream) -> TokenStream {
    quote!(#[allow(#lints)])
}

/// The attributes that decide whether the item exists.
pub fn cfgs(attrs: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attrs.iter().filter(|a| a.path().is_ident("cfg"))
}

impl Param {
    /// A parameter with this name and type.
    pub fn new(name: Ident, ty: Type) -> Self {
        let mut static_ty = ty.clone();
        MakeStatic.visit_type_mut(&mut static_ty);
        Self { name, ty, static_ty, source: Source::Caller }
    }
}

struct MakeStatic;

impl VisitMut for MakeStatic {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident != "_" {
            *lifetime = Lifetime::new("'static", lifetime.span());
        }
    }
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;

    use super::*;

    fn parse(text: &str) -> Signature {
        syn::parse_str::<ItemFn>(text).unwrap().sig
    }

    fn errors(text: &str) -> Vec<String> {
        match check(&parse(text), Role::Kernel) {
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
        one("fn k() -> ! { loop {} }", "returns nothing");
        one("fn k<T>(x: u32) {}", "`#[kernel(instantiate(f32, f64))]`");
        one("fn k<const N: usize>() {}", "`#[kernel(instantiate(16, 32))]`");
        one("fn k(&self) {}", "`self`");
        one("fn k(x: &mut DisjointSlice<f32>) {}", "takes `DisjointSlice` by value");
        one("fn k(x: &ptx::atomic::AtomicSlice<'_, u32>) {}", "takes `AtomicSlice` by value");
        one("fn k(x: &mut PerBlock<f32>) {}", "takes `PerBlock` by value");
        one("fn k((a, b): (u32, u32)) {}", "plain name");
        one("fn k(_: u32) {}", "plain name");
        one("fn k(x: impl Copy) {}", "`impl Trait`");
        one("fn k(#[cfg(x)] x: u32) {}", "attributes");
        assert_eq!(errors("async fn k<T>(self) -> T {}").len(), 4);
    }

    #[test]
    fn what_cannot_be_exported() {
        let one = |text: &str, part: &str| {
            let error = check(&parse(text), Role::Export).err().unwrap_or_else(|| panic!("no error for {text}"));
            let errors: Vec<_> = error.into_iter().map(|e| e.to_string()).collect();
            assert!(errors.len() == 1 && errors[0].contains(part), "{text}: {errors:?}");
        };
        one("async fn f() {}", "knows no futures");
        one("fn f<T>(x: u32) {}", "type parameters");
        one("fn f<const N: usize>() {}", "const parameters");
        one("unsafe fn f(x: u32, ...) {}", "fixed number");
        one("fn f() -> ! { loop {} }", "returns to its caller");
        one("fn f(x: [f32; 4]) {}", "no array by value");
        one("fn f(x: &dyn Send) {}", "vtable");
        one("fn f() -> impl Copy {}", "`impl Trait`");
        assert!(check(&parse("const fn f(x: &mut u32, y: f64) -> u8 { 0 }"), Role::Export).is_ok());
    }

    #[test]
    fn a_body_is_read_where_it_may_concern_us() {
        for (text, expected) in [
            ("fn k() {}", false),
            ("pub unsafe fn k<T>(x: &[T]) where T: Copy { let y = x[0]; { y } }", false),
            ("fn k() { let y = #[ptx::float(ftz = true)] { 1.0 }; }", true),
            ("fn k() { Self::go() }", true),
        ] {
            let tokens: TokenStream = text.parse().unwrap();
            let (function, is_read) = super::parse(tokens.clone()).unwrap();
            assert_eq!(is_read, expected, "{text}");
            assert_eq!(function.to_token_stream().to_string(), tokens.to_string());
        }
        assert!(super::parse("struct S {}".parse().unwrap()).is_err());
        assert!(super::parse("fn k();".parse().unwrap()).is_err());
    }

    #[test]
    fn a_function_is_marked_once() {
        let check = |text: &str, own: &str| check_marks(&syn::parse_str::<ItemFn>(text).unwrap().attrs, own);
        assert!(check("#[inline] #[other::kernel] fn k() {}", "kernel").is_ok());
        for (text, own, part) in [
            ("#[kernel(name = \"x\")] fn k() {}", "kernel", "`#[kernel]` stands here twice"),
            ("#[inline] #[ptx::kernel] fn k() {}", "kernel", "`#[kernel]` stands here twice"),
            ("#[device(export)] fn k() {}", "device", "`#[device]` stands here twice"),
            ("#[device(export)] fn k() {}", "kernel", "not both"),
            ("#[ptx::kernel] fn k() {}", "device", "not both"),
        ] {
            let error = check(text, own).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn what_can() {
        for text in ["fn k() {}", "fn k() -> () {}", "pub unsafe fn k<'a>(mut x: &'a [f32], y: *mut f32) {}"] {
            assert!(errors(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn named_lifetimes_become_static() {
        let params = check(&parse("fn k<'a>(x: &'a [f32], y: D<'_, f32>, z: &u8) {}"), Role::Kernel).unwrap();
        let types: Vec<String> = params.iter().map(|p| p.static_ty.to_token_stream().to_string()).collect();
        assert_eq!(types, ["& 'static [f32]", "D < '_ , f32 >", "& u8"]);
    }
}
