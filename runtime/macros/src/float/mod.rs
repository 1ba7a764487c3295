//! `#[ptx::float(..)]`: floating-point modes of a function, of all functions in an `impl` block or a module, of a
//! block.
//!
//! ```text
//! #[ptx::float(ftz = true)]                  #[cfg_attr(target_arch = "nvptx64", inline(never))]
//! fn f(a: f32) -> f32 { body }               fn f(a: f32) -> f32 {
//!                                                #[cfg(target_arch = "nvptx64")]
//!                                                __ptx_float_modes(MODES);
//!                                                body
//!                                            }
//! ```
//! rustc must not inline the function, or its body would get other modes; the compiler, which knows them, may.

mod blocks;
mod modes;

use proc_macro2::{Ident, Span, TokenStream};
use ptx_abi::float::MARKER;
use quote::{ToTokens, quote};
use syn::{Attribute, Block, Expr, ImplItem, Item, ItemFn, Signature, Stmt, TraitItem, parse_quote};

pub use self::blocks::expand as expand_blocks;
use self::modes::Modes;
pub use self::modes::is_float;
use crate::errors::Errors;

const STANDS: &str = "`#[ptx::float(..)]` stands before a function with a body, or before an `impl` block, a trait or a module \
    with such functions, or before a block within a function";

const ALONE: &str = "a block gets modes through the function that it stands in: give that `#[ptx::float()]`, which alone \
    changes no modes, if it has neither `#[ptx::kernel]` nor `#[ptx::device(export)]` nor modes of its own";

/// Said of functions that are compiled elsewhere.
pub const IMPORTED: &str =
    "imported functions have the modes with which they are compiled: give nvcc its options, as `--ftz=true`";

/// The expansion of `#[ptx::float(arguments)] item`. The item stays also where something is wrong: without it, every
/// use of it would be reported, too.
pub fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let modes = syn::parse2(arguments).unwrap_or_else(|error| {
        errors.combine(error);
        Modes::default()
    });
    let item = match syn::parse2::<Item>(item.clone()) {
        Ok(mut parsed) => {
            Float { private: modes.private(), bits: modes.bits(), errors: &mut errors }.top(modes, &mut parsed);
            parsed.into_token_stream()
        }
        // A block without a function whose attribute would have seen it.
        Err(_) if syn::parse2::<Expr>(item.clone()).is_ok() => return quote!({ ::core::compile_error!(#ALONE); #item }),
        Err(_) => {
            errors.combine(syn::Error::new(Span::call_site(), STANDS));
            item
        }
    };
    let errors = errors.finish().err().map(syn::Error::into_compile_error);
    quote!(#item #errors)
}

struct Float<'a> {
    /// Path of `ptx::__private`.
    private: TokenStream,
    /// The modes, if any is named.
    bits: Option<u32>,
    errors: &'a mut Errors,
}

impl Float<'_> {
    /// The item with the attribute.
    fn top(mut self, mut modes: Modes, item: &mut Item) {
        if let Some(attrs) = attributes(item)
            && let Some(more) = Modes::take(attrs, self.errors)
        {
            modes.merge(more, self.errors);
            (self.private, self.bits) = (modes.private(), modes.bits());
        }
        match item {
            Item::Fn(f) => self.function(&mut f.attrs, &f.sig, &mut f.block),
            Item::Impl(_) => self.inside(item),
            Item::Trait(t) if has_bodies(t) => self.inside(item),
            Item::Trait(t) => self.errors.add(&t.ident, &format!("{STANDS}: no function of this trait has a body")),
            Item::Mod(m) if m.content.is_some() => self.inside(item),
            Item::Mod(m) => self.errors.add(
                m,
                "modes cannot be given to a module in another file: put the attribute on its functions, or on a module \
                 with braces around them",
            ),
            Item::ForeignMod(block) => self.errors.add(&block.abi, IMPORTED),
            Item::Verbatim(tokens) if is_declaration(tokens) => self.errors.add(
                &*tokens,
                "this function has no body here: put `#[ptx::float(..)]` on the function in each `impl` block",
            ),
            other => self.errors.add(&*other, STANDS),
        }
    }

    /// The functions in an item, those with modes of their own left out.
    fn inside(&mut self, item: &mut Item) {
        match item {
            Item::Fn(f) => self.member(&mut f.attrs, &f.sig, &mut f.block),
            Item::Impl(i) => {
                for item in &mut i.items {
                    if let ImplItem::Fn(method) = item {
                        self.member(&mut method.attrs, &method.sig, &mut method.block);
                    }
                }
            }
            Item::Trait(t) => {
                for item in &mut t.items {
                    if let TraitItem::Fn(method) = item
                        && let Some(body) = &mut method.default
                    {
                        self.member(&mut method.attrs, &method.sig, body);
                    }
                }
            }
            Item::Mod(m) => {
                for item in m.content.iter_mut().flat_map(|(_, items)| items) {
                    if attributes(item).is_none_or(|attrs| !attrs.iter().any(is_float)) {
                        self.inside(item);
                    }
                }
            }
            _ => {}
        }
    }

    fn member(&mut self, attrs: &mut Vec<Attribute>, signature: &Signature, body: &mut Block) {
        if !attrs.iter().any(is_float) {
            self.function(attrs, signature, body);
        }
    }

    fn function(&mut self, attrs: &mut Vec<Attribute>, signature: &Signature, body: &mut Block) {
        if let Err(error) = expand_blocks(body, &self.private) {
            self.errors.combine(error);
        }
        let Some(bits) = self.bits else { return };
        if let Some(token) = &signature.constness {
            self.errors.add(
                token,
                "a `const fn` cannot have modes, because the compiler runs it, too: remove `const`, or move it out of what has \
                 the attribute; it then has the modes of the functions that call it",
            );
            return;
        }
        if let Some(token) = &signature.asyncness {
            self.errors.add(
                token,
                "an `async fn` cannot have modes, because it only makes a future: put the attribute on the functions that it \
                 calls",
            );
            return;
        }
        for attribute in attrs.iter_mut().filter(|attribute| attribute.path().is_ident("inline")) {
            let inline = &attribute.meta;
            *attribute = parse_quote!(#[cfg_attr(not(target_arch = "nvptx64"), #inline)]);
        }
        attrs.push(parse_quote!(#[cfg_attr(target_arch = "nvptx64", inline(never))]));
        body.stmts.insert(0, Stmt::Expr(Expr::Verbatim(marker(&self.private, bits)), Some(parse_quote!(;))));
    }
}

/// The call that says which modes a function has.
fn marker(private: &TokenStream, bits: u32) -> TokenStream {
    let name = Ident::new(MARKER, Span::call_site());
    quote! {
        #[cfg(target_arch = "nvptx64")]
        #private::#name(#bits)
    }
}

/// The marker that a function has, or will have when its `#[ptx::float(..)]` is expanded: the shim that calls it needs
/// the same modes, or the one could not be inlined into the other.
pub fn marker_of(function: &ItemFn, private: &TokenStream) -> Option<TokenStream> {
    if let Some(Stmt::Expr(Expr::Call(call), _)) = function.block.stmts.first()
        && let Expr::Path(path) = &*call.func
        && path.path.segments.last().is_some_and(|last| last.ident == MARKER)
    {
        return Some(quote!(#call;));
    }
    // What is wrong is said when the attribute itself is expanded.
    let modes = Modes::take(&mut function.attrs.clone(), &mut Errors::default())?;
    let marker = marker(private, modes.bits()?);
    Some(quote!(#marker;))
}

fn has_bodies(item: &syn::ItemTrait) -> bool {
    item.items.iter().any(|item| matches!(item, TraitItem::Fn(method) if method.default.is_some()))
}

fn is_declaration(tokens: &TokenStream) -> bool {
    syn::parse2::<syn::TraitItemFn>(tokens.clone()).is_ok()
}

/// The attributes of an item that modes can be given to.
fn attributes(item: &mut Item) -> Option<&mut Vec<Attribute>> {
    match item {
        Item::Fn(item) => Some(&mut item.attrs),
        Item::Impl(item) => Some(&mut item.attrs),
        Item::Trait(item) => Some(&mut item.attrs),
        Item::Mod(item) => Some(&mut item.attrs),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expansion(arguments: &str, item: &str) -> String {
        let tokens = expand(arguments.parse().unwrap(), item.parse().unwrap());
        syn::parse2::<syn::File>(tokens.clone()).unwrap_or_else(|error| panic!("{error}: {tokens}"));
        let text = tokens.to_string();
        assert!(!text.contains("compile_error"), "{text}");
        text
    }

    fn error(arguments: &str, item: &str) -> String {
        let text = expand(arguments.parse().unwrap(), item.parse().unwrap()).to_string();
        assert!(text.contains("compile_error"), "{text}");
        text
    }

    #[test]
    fn a_function_begins_with_its_modes() {
        let text = expansion("ftz = true", "#[inline] #[kernel] pub fn f(a: f32) -> f32 { a }");
        assert!(text.contains("# [cfg_attr (not (target_arch = \"nvptx64\") , inline)] # [kernel]"), "{text}");
        assert!(text.contains("# [cfg_attr (target_arch = \"nvptx64\" , inline (never))] pub fn f"), "{text}");
        assert!(
            text.contains(
                "{ # [cfg (target_arch = \"nvptx64\")] :: ptx :: __private :: __ptx_float_modes (12u32) ; a }"
            ),
            "{text}"
        );
        assert_eq!(expansion("", "fn f() {}"), "fn f () { }");
        assert!(expansion("ftz = true, crate = a", "fn f(&self) {}").contains("a :: __private :: __ptx"));
    }

    #[test]
    fn two_attributes_make_one_marker() {
        let text = expansion("ftz = true", "#[ptx::float(fmad = false)] fn f() {}");
        assert!(text.contains("(13u32)") && text.matches("__ptx_float_modes").count() == 1, "{text}");
        assert!(!text.contains("ptx :: float"), "{text}");
        assert!(error("ftz = true", "#[ptx::float(ftz = false)] fn f() {}").contains("contradictory"));
    }

    #[test]
    fn functions_in_an_item_keep_their_own_modes() {
        let text = expansion(
            "ftz = true",
            "mod m { fn a() {} #[ptx::float(ftz = false)] fn b() {} impl T for S { const X: u32 = 1; fn c(&self) {} }
             trait U { fn d(); fn e() {} } #[float(fmad = true)] mod n { fn f() {} } }",
        );
        assert_eq!(text.matches("(12u32)").count(), 3, "{text}");
        assert!(text.contains("# [ptx :: float (ftz = false)] fn b () { }"), "{text}");
        assert!(text.contains("# [float (fmad = true)] mod n { fn f () { } }"), "{text}");
    }

    #[test]
    fn what_cannot_have_modes() {
        for item in
            ["struct S;", "static X: u32 = 1;", "const X: u32 = 1;", "use a::b;", "enum E {}", "trait T { fn f(); }"]
        {
            assert!(error("ftz = true", item).contains("stands before a function with a body"), "{item}");
        }
        assert!(error("", "fn f(&self) -> f32;").contains("no body here"));
        assert!(error("", "{ 1 }").contains("alone changes no modes"));
        assert!(error("", "mod m;").contains("another file"));
        assert!(error("", "unsafe extern \"C\" { fn f(); }").contains("nvcc"));
        assert!(error("ftz = true", "impl S { const fn f() {} }").contains("`const fn`"));
        assert!(error("ftz = true", "async fn f() {}").contains("`async fn`"));
        assert!(error("ftz", "fn f() {}").contains("fn f () { }"), "the item stays");
    }
}
