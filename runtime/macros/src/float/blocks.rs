//! `#[ptx::float(..)] { … }` within a function: the block becomes a closure, because modes belong to functions.
//!
//! ```text
//! #[ptx::float(ftz = true)] { body }      { scope::<MODES, _>(|| Scoped({ body })) }
//! ```
//! rustc does not expand attributes on expressions. The attribute of the function around the block does it: it sees
//! them first.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Block, Expr, ExprBlock, ExprUnsafe, ImplItem, Item, Label, Lifetime, TraitItem};

use super::modes::{Modes, is_float, names_modes};
use crate::errors::Errors;

/// Gives the blocks in a function's body the modes that their attributes name.
pub fn expand(body: &mut Block, private: &TokenStream) -> syn::Result<()> {
    let mut blocks = Blocks { private, errors: Errors::default() };
    blocks.visit_block_mut(body);
    blocks.errors.finish()
}

struct Blocks<'a> {
    /// Path of `ptx::__private`.
    private: &'a TokenStream,
    errors: Errors,
}

impl VisitMut for Blocks<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let modes = match expr {
            Expr::Block(block) => Modes::take(&mut block.attrs, &mut self.errors),
            Expr::Unsafe(block) => Modes::take(&mut block.attrs, &mut self.errors),
            _ => None,
        };
        let bits = modes.and_then(|modes| modes.bits());
        // Before the blocks in it are no blocks any more.
        let stays = bits.map(|_| Leaving::check(expr));
        visit_mut::visit_expr_mut(self, expr);
        match (bits, stays) {
            (Some(bits), Some(Ok(()))) => self.scope(expr, bits),
            // It stays a block, so that rustc does not report it again.
            (_, Some(Err(error))) => self.errors.combine(error),
            _ => {}
        }
    }

    fn visit_attributes_mut(&mut self, attrs: &mut Vec<Attribute>) {
        for attribute in attrs.extract_if(.., |attribute| is_float(attribute)) {
            self.errors.add(
                attribute,
                "modes belong to functions, `impl` blocks, modules and blocks: put braces around what shall have them, and \
                 the attribute before the brace, as in `let x = #[ptx::float(ftz = true)] { a * b };`; where something follows \
                 the brace, parentheses too, as in `(#[ptx::float(ftz = true)] { a * b }).sqrt()`",
            );
        }
    }

    /// Items have attributes that rustc expands; the blocks in them are still ours.
    fn visit_item_mut(&mut self, item: &mut Item) {
        match item {
            Item::Fn(function) => self.visit_block_mut(&mut function.block),
            Item::Impl(item) => {
                for item in &mut item.items {
                    if let ImplItem::Fn(method) = item {
                        self.visit_block_mut(&mut method.block);
                    }
                }
            }
            Item::Trait(item) => {
                for item in &mut item.items {
                    if let TraitItem::Fn(method) = item
                        && let Some(body) = &mut method.default
                    {
                        self.visit_block_mut(body);
                    }
                }
            }
            Item::Mod(module) => {
                module.content.iter_mut().flat_map(|(_, items)| items).for_each(|item| self.visit_item_mut(item));
            }
            _ => {}
        }
    }
}

impl Blocks<'_> {
    fn scope(&self, expr: &mut Expr, bits: u32) {
        let private = self.private;
        let (attrs, body) = match expr {
            Expr::Block(block) => {
                // Braces of ours around the user's statements: rustc would call theirs unnecessary.
                let (label, statements) = (&block.label, &block.block.stmts);
                (&block.attrs, quote!(#label { #(#statements)* }))
            }
            Expr::Unsafe(block) => {
                let body = &block.block;
                (&block.attrs, quote!(unsafe #body))
            }
            _ => return,
        };
        *expr = Expr::Verbatim(quote!({ #(#attrs)* #private::scope::<#bits, _>(|| #private::Scoped(#body)) }));
    }
}

/// Finds what would leave a block that is a function.
#[derive(Default)]
struct Leaving {
    /// How many loops of the block stand around.
    loops: usize,
    /// Labels within the block.
    labels: Vec<Ident>,
    errors: Errors,
}

impl Leaving {
    fn check(block: &Expr) -> syn::Result<()> {
        let mut this = Self::default();
        this.visit_expr(block);
        this.errors.finish()
    }

    fn labelled(&mut self, label: Option<&Label>, inside: impl FnOnce(&mut Self)) {
        self.labels.extend(label.map(|label| label.name.ident.clone()));
        inside(self);
        if label.is_some() {
            self.labels.pop();
        }
    }

    fn looped(&mut self, label: Option<&Label>, inside: impl FnOnce(&mut Self)) {
        self.loops += 1;
        self.labelled(label, inside);
        self.loops -= 1;
    }

    fn jump(&mut self, keyword: &str, at: impl Spanned, label: Option<&Lifetime>) {
        let stays = match label {
            Some(label) => self.labels.contains(&label.ident),
            None => self.loops > 0,
        };
        if !stays {
            self.refuse(keyword, &at, "let the block's value say how to go on, and do it after the block");
        }
    }

    fn refuse(&mut self, what: &str, at: &impl Spanned, remedy: &str) {
        self.errors.combine(syn::Error::new(
            at.span(),
            format!(
                "`{what}` cannot leave a block that has floating-point modes, because it becomes a function of its own: {remedy}"
            ),
        ));
    }
}

impl<'ast> Visit<'ast> for Leaving {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Return(expr) => {
                self.refuse(
                    "return",
                    &expr.return_token,
                    "let the block's value say what to return, or put `#[ptx::float(..)]` on a function",
                );
            }
            Expr::Try(expr) => {
                self.refuse(
                    "?",
                    &expr.question_token,
                    "let the block's value be the `Result` or `Option`, and write `?` after the block",
                );
            }
            Expr::Await(expr) => self.refuse("await", &expr.await_token, "await before the block or after it"),
            Expr::Yield(expr) => self.refuse("yield", &expr.yield_token, "yield before the block or after it"),
            Expr::Break(expr) => self.jump("break", expr.break_token, expr.label.as_ref()),
            Expr::Continue(expr) => self.jump("continue", expr.continue_token, expr.label.as_ref()),
            Expr::Loop(expr) => return self.looped(expr.label.as_ref(), |this| this.visit_block(&expr.body)),
            Expr::While(expr) => {
                // What jumps in the condition jumps in this loop.
                return self.looped(expr.label.as_ref(), |this| {
                    this.visit_expr(&expr.cond);
                    this.visit_block(&expr.body);
                });
            }
            Expr::ForLoop(expr) => {
                self.visit_expr(&expr.expr);
                return self.looped(expr.label.as_ref(), |this| this.visit_block(&expr.body));
            }
            // They have modes, too, and are checked for themselves.
            Expr::Block(ExprBlock { attrs, .. }) | Expr::Unsafe(ExprUnsafe { attrs, .. }) if names_modes(attrs) => {
                return;
            }
            Expr::Block(expr) => {
                return self.labelled(expr.label.as_ref(), |this| this.visit_block(&expr.block));
            }
            // Functions of their own, which `return` and `?` leave.
            Expr::Closure(_) | Expr::Async(_) | Expr::TryBlock(_) => return,
            _ => {}
        }
        visit::visit_expr(self, expr);
    }

    fn visit_item(&mut self, _: &'ast Item) {}
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;

    use super::*;

    fn expansion(body: &str) -> Result<String, String> {
        let mut body: Block = syn::parse_str(body).unwrap();
        expand(&mut body, &quote!(p))
            .map_err(|errors| errors.into_iter().map(|error| error.to_string()).collect::<Vec<_>>().join("\n"))?;
        syn::parse2::<Block>(body.to_token_stream()).expect("the expansion is Rust");
        Ok(body.to_token_stream().to_string())
    }

    fn refused(body: &str, part: &str) {
        match expansion(body) {
            Ok(text) => panic!("no error: {text}"),
            Err(errors) => assert!(!errors.contains('\n') && errors.contains(part), "{body}: {errors}"),
        }
    }

    #[test]
    fn a_block_becomes_a_function() {
        let text = expansion("{ let x = #[ptx::float(ftz = true)] { a * b }; x }").unwrap();
        assert_eq!(text, "{ let x = { p :: scope :: < 12u32 , _ > (|| p :: Scoped ({ a * b })) } ; x }");
        let text = expansion("{ #[float(fmad = false)] unsafe { f() } g() }").unwrap();
        assert_eq!(text, "{ { p :: scope :: < 1u32 , _ > (|| p :: Scoped (unsafe { f () })) } g () }");
        let text = expansion("{ #[ptx::float()] { a } }").unwrap();
        assert_eq!(text, "{ { a } }");
        let nested = expansion("{ || #[ptx::float(ftz = true)] { #[ptx::float(ftz = false)] { a } } }").unwrap();
        assert!(nested.contains("< 12u32 ,") && nested.contains("< 4u32 ,"), "{nested}");
    }

    #[test]
    fn what_stays_in_the_block_may_jump() {
        for inside in [
            "loop { break 1 }",
            "'a: loop { loop { continue 'a } }",
            "while f() { continue; }",
            "for x in y { if x { break } }",
            "'b: { break 'b 1 }",
            "y.map(|x| { x?; return None }).sum()",
            "fn f() -> u32 { return 1 } f()",
        ] {
            expansion(&format!("{{ #[ptx::float(ftz = true)] {{ {inside} }} }}")).unwrap();
        }
        expansion("{ #[ptx::float(ftz = true)] 'a: { break 'a 1 } }").unwrap();
    }

    #[test]
    fn what_leaves_the_block_is_refused() {
        let inside = |text: &str, part: &str| {
            refused(&format!("{{ 'o: loop {{ #[ptx::float(ftz = true)] {{ {text} }} }} }}"), part)
        };
        inside("return;", "`return`");
        inside("f()?;", "`?`");
        inside("break;", "`break`");
        inside("continue;", "`continue`");
        inside("for x in y { break 'o }", "`break`");
        inside("for x in f()? { }", "`?`");
        inside("'i: loop {} continue 'i;", "`continue`");
        inside("#[ptx::float(ftz = false)] { return }", "`return`");
    }

    #[test]
    fn modes_stand_on_blocks() {
        for text in [
            "#[ptx::float()] let x = 1;",
            "f(#[ptx::float()] x);",
            "#[ptx::float()] { x }.sqrt()",
            "#[ptx::float()] loop {}",
        ] {
            refused(&format!("{{ {text} }}"), "put braces around");
        }
        refused("{ #[ptx::float(ftx = true)] { x } }", "did you mean `ftz`?");
        assert!(
            expansion("{ #[ptx::float(ftz = true)] fn f() { #[ptx::float(ftz = true)] { x } } }")
                .unwrap()
                .contains("p :: scope")
        );
    }
}
