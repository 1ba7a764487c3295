//! Which file takes what from which: the names of a target's modules, followed to the files that define them.
//!
//! A re-export is looked through: who takes `crate::diagnostic::Result` takes from the file in which `type Result`
//! stands. The module that only passes it on is no part of that arrow, and so no part of a loop; it has an arrow of
//! its own to what it passes on. A name of another crate is taken from the module that passes it on, unless that is a
//! parent of the one that takes it. A name that a macro's call defines belongs to the file with the call. To name a
//! module is no arrow yet; to name something in it is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::modules::{Modules, Space};

/// `from` and `to`, with what is taken.
pub type Arrows = BTreeMap<(PathBuf, PathBuf), BTreeSet<String>>;

/// What a path leads to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Found {
    Module(usize),
    /// Something that the module defines.
    Item(usize, String, Space),
    /// A name in a module whose syntax does not show it: a macro makes it.
    Made(usize, String),
    /// A name that a module has from another crate.
    Passed(usize, String),
}

/// Imports that are being followed, by module and number.
type Seen = BTreeSet<(usize, usize)>;

/// Functions of a type that stand elsewhere than the type: type's module and name, function, file.
type Methods<'a> = BTreeSet<(usize, String, &'a str, &'a Path)>;

/// Adds the arrows of one target.
pub fn add(modules: &Modules, arrows: &mut Arrows) {
    let methods = methods(modules);
    for (index, module) in modules.0.iter().enumerate() {
        let mut arrow = |to: &Path, name: String| {
            if to != module.file {
                arrows.entry((module.file.clone(), to.to_path_buf())).or_default().insert(name);
            }
        };
        let imports = module.imports.iter().map(|import| (&import.path, None));
        let names = module.names.iter().map(|name| {
            (&name.path, Some(if name.is_macro { &[Space::Macro][..] } else { &[Space::Type, Space::Value] }))
        });
        for (path, spaces) in imports.chain(names) {
            let found = modules.follow(index, path, spaces, &mut Seen::new());
            // An import of both a module and its namesake: what is named in the code says which is meant.
            let is_module = spaces.is_none() && found.iter().any(|found| matches!(found, Found::Module(_)));
            for found in found.into_iter().filter(|found| !(is_module && matches!(found, Found::Item(..)))) {
                match &found {
                    Found::Module(_) => {}
                    Found::Passed(home, _) if modules.parents(index).any(|parent| parent == *home) => {}
                    Found::Item(home, name, _) | Found::Made(home, name) | Found::Passed(home, name) => {
                        arrow(&modules.0[*home].file, name.clone());
                    }
                }
                let Found::Item(home, ty, Space::Type) = found else { continue };
                for (.., function, file) in methods.iter().filter(|method| {
                    (method.0, &method.1) == (home, &ty) && path.last().is_some_and(|last| last == method.2)
                }) {
                    arrow(file, format!("{ty}::{function}"));
                }
            }
        }
    }
}

fn methods(modules: &Modules) -> Methods<'_> {
    let mut methods = Methods::new();
    for (index, module) in modules.0.iter().enumerate() {
        for (path, function) in &module.methods {
            for found in modules.follow(index, path, Some(&[Space::Type]), &mut Seen::new()) {
                if let Found::Item(home, name, _) = found {
                    methods.insert((home, name, function, &module.file));
                }
            }
        }
    }
    methods
}

impl Modules {
    /// What `path`, written in module `from`, leads to: nothing where it leads out of the crate.
    fn follow(&self, from: usize, path: &[String], spaces: Option<&[Space]>, seen: &mut Seen) -> BTreeSet<Found> {
        let none = BTreeSet::new();
        let Some((first, mut rest)) = path.split_first() else { return none };
        let inner = |rest: &[String]| if rest.is_empty() { spaces } else { Some(&[Space::Type][..]) };
        let mut places = match first.as_str() {
            "crate" => BTreeSet::from([Found::Module(0)]),
            "self" => BTreeSet::from([Found::Module(from)]),
            "super" => self.0[from].parent.map(Found::Module).into_iter().collect(),
            name => {
                let mut found = self.look_up(from, name, inner(rest), seen);
                if found.is_empty() && rest.is_empty() && spaces.is_none_or(|spaces| spaces.contains(&Space::Macro)) {
                    found = self.macro_above(from, name);
                }
                found
            }
        };
        while let Some((name, after)) = rest.split_first() {
            let modules: Vec<usize> =
                places.iter().filter_map(|place| if let Found::Module(m) = place { Some(*m) } else { None }).collect();
            // What comes after a type is the type's.
            if modules.is_empty() {
                return places.into_iter().filter(|place| !matches!(place, Found::Item(.., Space::Value))).collect();
            }
            places = modules.iter().flat_map(|&module| self.within(module, name, inner(after), seen)).collect();
            rest = after;
        }
        places
    }

    /// `module::name`.
    fn within(&self, module: usize, name: &str, spaces: Option<&[Space]>, seen: &mut Seen) -> BTreeSet<Found> {
        if name == "super" {
            return self.0[module].parent.map(Found::Module).into_iter().collect();
        }
        let found = self.look_up(module, name, spaces, seen);
        if !found.is_empty() || self.0[module].items.iter().any(|item| item.name == name) {
            return found;
        }
        let is_import = self.0[module].imports.iter().any(|import| import.alias.as_deref() == Some(name));
        let home = (module, name.to_string());
        BTreeSet::from([if is_import { Found::Passed(home.0, home.1) } else { Found::Made(home.0, home.1) }])
    }

    fn look_up(&self, index: usize, name: &str, spaces: Option<&[Space]>, seen: &mut Seen) -> BTreeSet<Found> {
        let module = &self.0[index];
        let fits = |space| spaces.is_none_or(|spaces| spaces.contains(&space));
        let children = module.children.iter().filter(|(child, _)| child == name && fits(Space::Type));
        let items = module.items.iter().filter(|item| item.name == name && fits(item.space));
        let mut found: BTreeSet<Found> = children
            .map(|(_, child)| Found::Module(*child))
            .chain(items.map(|item| Found::Item(index, item.name.clone(), item.space)))
            .collect();
        let imports = || module.imports.iter().enumerate();
        for (number, import) in imports().filter(|(_, import)| import.alias.as_deref() == Some(name)) {
            if seen.insert((index, number)) {
                found.extend(self.follow(index, &import.path, spaces, seen));
                seen.remove(&(index, number));
            }
        }
        if !found.is_empty() {
            return found;
        }
        for (number, import) in imports().filter(|(_, import)| import.alias.is_none()) {
            if !seen.insert((index, number)) {
                continue;
            }
            for place in self.follow(index, &import.path, Some(&[Space::Type]), seen) {
                if let Found::Module(inner) = place {
                    found.extend(self.look_up(inner, name, spaces, seen));
                }
            }
            seen.remove(&(index, number));
        }
        found
    }

    /// A `macro_rules` of a module around this one, whose name needs no path.
    fn macro_above(&self, from: usize, name: &str) -> BTreeSet<Found> {
        let defines =
            |index: &usize| self.0[*index].items.iter().any(|item| item.space == Space::Macro && item.name == name);
        let home = self.parents(from).find(defines);
        home.map(|index| Found::Item(index, name.into(), Space::Macro)).into_iter().collect()
    }

    /// The modules around this one, the nearest first.
    fn parents(&self, of: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.0[of].parent, |index| self.0[*index].parent)
    }
}
