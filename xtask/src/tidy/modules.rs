//! The modules of a target as Rust's syntax has them: what each defines, imports and names. Tests are left out.
//!
//! Known limits: `include!` is not followed, names in attributes are not read, a method call says nothing of its file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree};

use super::paths;

/// The text of every file.
pub type Files<'a> = BTreeMap<&'a Path, &'a str>;

/// Modules of one target; the first is the crate's root.
#[derive(Default)]
pub struct Modules(pub Vec<Module>);

/// A module, in a file of its own or within one.
#[derive(Default)]
pub struct Module {
    pub file: PathBuf,
    pub parent: Option<usize>,
    /// Those declared in it, by name; several of one name where `cfg` chooses.
    pub children: Vec<(String, usize)>,
    pub items: Vec<Definition>,
    pub imports: Vec<Import>,
    /// Paths in its code, other than imports.
    pub names: BTreeSet<Name>,
    /// Functions of `impl Type`, with the path of the type as written.
    pub methods: Vec<(Vec<String>, String)>,
    /// Where the modules declared in it have their files.
    folder: PathBuf,
}

/// Which of Rust's name spaces an item is in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Space {
    Type,
    Value,
    Macro,
}

/// An item that a module defines.
pub struct Definition {
    pub name: String,
    pub space: Space,
}

/// One leaf of a `use`.
pub struct Import {
    pub path: Vec<String>,
    /// The name that it has here; none for `*`.
    pub alias: Option<String>,
}

/// A path as it stands in code.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    pub path: Vec<String>,
    pub is_macro: bool,
}

impl Modules {
    /// Reads the file `root` and all that its `mod` lead to.
    pub fn read(root: &Path, files: &Files<'_>) -> Result<Self> {
        let mut reader = Reader { files, modules: Vec::new(), current: 0, failure: None };
        let folder = root.parent().unwrap_or(Path::new("")).to_path_buf();
        reader.file(root, Module { file: root.to_path_buf(), folder, ..Module::default() })?;
        reader.failure.map_or(Ok(Self(reader.modules)), Err)
    }
}

struct Reader<'a> {
    files: &'a Files<'a>,
    modules: Vec<Module>,
    current: usize,
    failure: Option<anyhow::Error>,
}

impl Reader<'_> {
    fn file(&mut self, path: &Path, module: Module) -> Result<usize> {
        let text = self.files.get(path).with_context(|| format!("{} is not there", path.display()))?;
        let file = syn::parse_file(text).with_context(|| format!("{} is no Rust", path.display()))?;
        Ok(self.module(module, &file.items))
    }

    fn module(&mut self, module: Module, items: &[Item]) -> usize {
        let (index, outer) = (self.modules.len(), self.current);
        self.modules.push(module);
        self.current = index;
        for item in items.iter().filter(|item| !is_test(attributes(item))) {
            self.define(item);
            self.visit_item(item);
        }
        self.current = outer;
        index
    }

    fn define(&mut self, item: &Item) {
        let (name, space) = match item {
            Item::Const(item) => (&item.ident, Space::Value),
            Item::Enum(item) => (&item.ident, Space::Type),
            Item::Fn(item) => (&item.sig.ident, Space::Value),
            Item::Static(item) => (&item.ident, Space::Value),
            Item::Struct(item) => (&item.ident, Space::Type),
            Item::Trait(item) => (&item.ident, Space::Type),
            Item::Type(item) => (&item.ident, Space::Type),
            Item::Union(item) => (&item.ident, Space::Type),
            Item::Macro(item) if item.ident.is_some() => {
                let Some(name) = &item.ident else { return };
                let exported = item.attrs.iter().any(|attribute| attribute.path().is_ident("macro_export"));
                let home = if exported { 0 } else { self.current };
                self.modules[home].items.push(Definition { name: name.to_string(), space: Space::Macro });
                return;
            }
            Item::ForeignMod(block) => {
                let names = block.items.iter().filter_map(|item| match item {
                    syn::ForeignItem::Fn(function) => Some(function.sig.ident.to_string()),
                    syn::ForeignItem::Static(item) => Some(item.ident.to_string()),
                    _ => None,
                });
                let definitions = names.map(|name| Definition { name, space: Space::Value });
                self.modules[self.current].items.extend(definitions);
                return;
            }
            _ => return,
        };
        let definition = |space| Definition { name: name.to_string(), space };
        self.modules[self.current].items.push(definition(space));
        // Its name makes one, too.
        if matches!(item, Item::Struct(item) if !matches!(item.fields, syn::Fields::Named(_))) {
            self.modules[self.current].items.push(definition(Space::Value));
        }
    }

    fn child(&mut self, item: &syn::ItemMod) -> Result<usize> {
        let name = plain(&item.ident);
        let parent = &self.modules[self.current];
        let module = |file: PathBuf, folder| Module { file, folder, parent: Some(self.current), ..Module::default() };
        if let Some((_, items)) = &item.content {
            let module = module(parent.file.clone(), parent.folder.join(&name));
            return Ok(self.module(module, items));
        }
        let written = item.attrs.iter().find(|attribute| attribute.path().is_ident("path")).and_then(text_of);
        let file = match &written {
            Some(path) => paths::plain(&parent.file.parent().unwrap_or(Path::new("")).join(path)),
            None => {
                let (flat, nested) =
                    (parent.folder.join(format!("{name}.rs")), parent.folder.join(&name).join("mod.rs"));
                if self.files.contains_key(&*flat) { flat } else { nested }
            }
        };
        let is_root = written.is_some() || file.ends_with("mod.rs");
        let folder =
            if is_root { file.parent().unwrap_or(Path::new("")).to_path_buf() } else { file.with_extension("") };
        let module = module(file.clone(), folder);
        self.file(&file, module)
    }

    fn import(&mut self, path: &mut Vec<String>, tree: &UseTree) {
        let import = match tree {
            UseTree::Path(tree) => {
                path.push(plain(&tree.ident));
                self.import(path, &tree.tree);
                path.pop();
                return;
            }
            UseTree::Group(group) => return group.items.iter().for_each(|tree| self.import(path, tree)),
            UseTree::Glob(_) => Import { path: path.clone(), alias: None },
            // `use a::{self}` is `use a`.
            UseTree::Name(name) if name.ident == "self" => Import { path: path.clone(), alias: path.last().cloned() },
            UseTree::Name(name) => {
                let name = plain(&name.ident);
                Import { path: [&path[..], std::slice::from_ref(&name)].concat(), alias: Some(name) }
            }
            UseTree::Rename(rename) => {
                let (name, alias) = (plain(&rename.ident), plain(&rename.rename));
                let path = if name == "self" { path.clone() } else { [&path[..], &[name]].concat() };
                Import { path, alias: Some(alias) }
            }
        };
        self.modules[self.current].imports.push(import);
    }

    fn name(&mut self, path: Vec<String>, is_macro: bool) {
        self.modules[self.current].names.insert(Name { path, is_macro });
    }

    /// Paths in the tokens of a macro's call or definition.
    fn tokens(&mut self, tokens: proc_macro2::TokenStream) {
        use proc_macro2::TokenTree::{Group, Ident, Punct};
        let tokens: Vec<_> = tokens.into_iter().collect();
        let is = |at: usize, c: char| matches!(tokens.get(at), Some(Punct(found)) if found.as_char() == c);
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                Group(group) => self.tokens(group.stream()),
                Ident(first) if at == 0 || !is(at - 1, '.') => {
                    let mut path = vec![plain(first)];
                    while is(at + 1, ':') && is(at + 2, ':') {
                        let Some(Ident(next)) = tokens.get(at + 3) else { break };
                        path.push(plain(next));
                        at += 3;
                    }
                    self.name(path, is(at + 1, '!'));
                }
                _ => {}
            }
            at += 1;
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        match self.child(item) {
            Ok(child) => self.modules[self.current].children.push((plain(&item.ident), child)),
            Err(error) => self.failure = Some(error),
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        // `use ::a` is another crate's.
        if item.leading_colon.is_none() {
            self.import(&mut Vec::new(), &item.tree);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if let (None, syn::Type::Path(ty)) = (&item.trait_, &*item.self_ty) {
            let functions = item.items.iter().filter_map(|item| match item {
                syn::ImplItem::Fn(function) => Some((path_of(&ty.path), function.sig.ident.to_string())),
                _ => None,
            });
            self.modules[self.current].methods.extend(functions);
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.name(path_of(&item.path), true);
        self.tokens(item.tokens.clone());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            self.name(path_of(path), false);
        }
        visit::visit_path(self, path);
    }

    fn visit_attribute(&mut self, _: &'ast Attribute) {}

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}

fn path_of(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|segment| plain(&segment.ident)).collect()
}

/// Without the sign of a raw name.
fn plain(name: &proc_macro2::Ident) -> String {
    name.to_string().trim_start_matches("r#").into()
}

/// Its value, if it is `#[name = "text"]`.
fn text_of(attribute: &Attribute) -> Option<String> {
    match &attribute.meta.require_name_value().ok()?.value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

/// Whether the attributes say that only tests have it: `#[cfg(test)]`, `#[cfg(all(test, …))]`.
pub fn is_test(attributes: &[Attribute]) -> bool {
    let holds = |tokens: proc_macro2::TokenStream| {
        let text = tokens.to_string();
        text == "test" || text.starts_with("all") && !text.contains("not") && text.contains("test")
    };
    attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"))
        .any(|attribute| attribute.meta.require_list().is_ok_and(|list| holds(list.tokens.clone())))
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
