//! Which kernels can be optimised apart.
//!
//! Two are together where both lead to the same function or static, unless it is one of which each can have a copy.
//! Neighbours that are apart are in one group nevertheless, because a group costs time, too. Where the next one begins,
//! their names alone say, if there are not too many: a change to one kernel then changes no other group, and a new kernel few.

use std::collections::{HashMap, HashSet};

use crate::hash;
use crate::llvm::{self, AnyValue, FunctionValue, GlobalValue, Linkage, Module, Use};
use crate::ptx_text;

/// Every so many kernels a group begins, on average.
const KERNELS_OF_A_GROUP: u64 = 4;

/// After so many kernels the next group begins, whatever their names are.
const MOST_KERNELS: usize = 6;

/// Of which statics each group can have a copy; of no others than those that lead to no function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Statics {
    /// Constants whose addresses nobody asks for: the copies stay apart.
    Apart,
    /// All constants, and what is visible by its name: the copies become one again, and nothing depends on what is in them.
    /// Every group has all that is visible, because an `asm!` may name it.
    Joined,
}

/// The names of all functions and statics that are visible, in order.
pub fn entries(module: &Module<'_>) -> Vec<String> {
    let functions = defined(module).filter(|function| !is_local(function.get_linkage())).map(name_of);
    let mut names: Vec<_> = functions.chain(visible_statics(module).map(name_of_global)).collect();
    names.sort();
    names
}

/// The same for each group, then the names of statics that each is to have.
pub fn groups(module: &Module<'_>, statics: Statics) -> Vec<Vec<String>> {
    // Groups would call theirs alike.
    let has_nameless = llvm::globals(module).any(|global| global.get_name().is_empty());
    let mut groups = if has_nameless { vec![entries(module)] } else { grouped(apart(module, statics)) };
    if statics == Statics::Joined {
        groups.iter_mut().for_each(|group| group.extend(visible_statics(module).map(name_of_global)));
    }
    groups
}

/// The entries that are together.
fn apart(module: &Module<'_>, statics: Statics) -> Vec<Vec<String>> {
    let mut bound = Bound::default();
    let copied = copied(module, statics);
    for function in defined(module) {
        bound.add(&function, name_of(function), &copied);
    }
    for global in llvm::globals(module).filter(|global| !global.is_declaration() && !copied.contains(global)) {
        bound.add(&global, name_of_global(global), &copied);
    }
    let mut apart: Vec<Vec<String>> = Vec::new();
    let mut numbers = HashMap::new();
    for entry in entries(module) {
        let number = *numbers.entry(bound.root(&entry)).or_insert(apart.len());
        if number == apart.len() {
            apart.push(Vec::new());
        }
        apart[number].push(entry);
    }
    apart
}

/// Neighbours in one group; a group at least.
fn grouped(apart: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let mut groups: Vec<Vec<String>> = Vec::new();
    for entries in apart {
        match groups.last_mut() {
            Some(group) if group.len() < MOST_KERNELS && hash::stable(&entries[..1]) % KERNELS_OF_A_GROUP != 0 => {
                group.extend(entries);
            }
            _ => groups.push(entries),
        }
    }
    if groups.is_empty() {
        groups.push(Vec::new());
    }
    groups.iter_mut().for_each(|group| group.sort());
    groups
}

fn defined<'ctx>(module: &Module<'ctx>) -> impl Iterator<Item = FunctionValue<'ctx>> + use<'ctx> {
    llvm::functions(module).filter(|function| function.count_basic_blocks() > 0)
}

fn visible_statics<'ctx>(module: &Module<'ctx>) -> impl Iterator<Item = GlobalValue<'ctx>> + use<'ctx> {
    llvm::globals(module).filter(|global| {
        let linkage = global.get_linkage();
        !global.is_declaration() && !is_local(linkage) && linkage != Linkage::Appending
    })
}

/// What each group can have a copy of.
fn copied<'ctx>(module: &Module<'ctx>, statics: Statics) -> HashSet<GlobalValue<'ctx>> {
    let can_be = |global: &GlobalValue<'ctx>| match global.get_linkage() {
        Linkage::Appending => false,
        Linkage::Internal | Linkage::Private => {
            let is_apart = global.has_unnamed_addr() && !global.is_externally_initialized();
            global.is_constant() && (statics == Statics::Joined || is_apart)
        }
        _ => statics == Statics::Joined,
    };
    let (copied, other): (Vec<_>, Vec<_>) =
        llvm::globals(module).filter(|global| !global.is_declaration()).partition(can_be);
    let mut copied: HashSet<_> = copied.into_iter().collect();
    let functions = defined(module).flat_map(|function| llvm::uses(&function.as_global_value()));
    let mut pending: Vec<_> = functions.chain(other.iter().flat_map(llvm::uses)).collect();
    while let Some(user) = pending.pop() {
        if let Use::Global(global) = user
            && copied.remove(&global)
        {
            pending.extend(llvm::uses(&global));
        }
    }
    copied
}

/// The names, as PTX has them, of statics of which every part of the text can have a copy: constants whose addresses nobody
/// asks for, and what `of_host` names, which the host writes in each module that it loads.
pub fn copies(module: &Module<'_>, of_host: &[&str]) -> HashSet<String> {
    let is_copied = |global: &GlobalValue<'_>| {
        let is_constant = is_local(global.get_linkage()) && global.is_constant() && global.has_unnamed_addr();
        is_constant && !global.is_externally_initialized() || of_host.contains(&&*name_of_global(*global))
    };
    let (copied, other): (Vec<_>, Vec<_>) = llvm::globals(module).partition(is_copied);
    let mut names: HashSet<String> =
        copied.into_iter().map(|global| ptx_text::symbol(&name_of_global(global))).collect();
    // LLVM gives one of two that would be called alike another name.
    for name in other.into_iter().map(name_of_global).chain(llvm::functions(module).map(name_of)) {
        names.remove(&ptx_text::symbol(&name));
    }
    names
}

/// What is together: of each name another one, up to that of the whole.
#[derive(Default)]
struct Bound(HashMap<String, String>);

impl Bound {
    /// Binds a function or static to all that uses it.
    fn add<'ctx>(&mut self, value: &impl AnyValue<'ctx>, name: String, copied: &HashSet<GlobalValue<'ctx>>) {
        for user in llvm::uses(value) {
            let user = match user {
                Use::Instruction(user) => {
                    user.get_parent().and_then(|block| block.get_parent()).map(name_of).unwrap_or_default()
                }
                Use::Global(user) if copied.contains(&user) => continue,
                Use::Global(user) => name_of_global(user),
            };
            let (first, second) = (self.root(&name), self.root(&user));
            if first != second {
                self.0.insert(first, second);
            }
        }
    }

    fn root(&self, name: &str) -> String {
        let mut name = name;
        while let Some(above) = self.0.get(name) {
            name = above;
        }
        name.to_string()
    }
}

fn is_local(linkage: Linkage) -> bool {
    matches!(linkage, Linkage::Internal | Linkage::Private)
}

fn name_of(function: FunctionValue<'_>) -> String {
    function.get_name().to_string_lossy().into_owned()
}

fn name_of_global(global: GlobalValue<'_>) -> String {
    global.get_name().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::Context;

    fn groups_of(text: &str) -> Vec<Vec<String>> {
        let context = Context::create();
        groups(&llvm::parse_ir(&context, text.as_bytes(), "module").unwrap(), Statics::Apart)
    }

    /// A name with which a group begins, or none does.
    fn named(prefix: &str, begins: bool) -> String {
        let begins_group = |name: &String| hash::stable([name]) % KERNELS_OF_A_GROUP == 0;
        (0..).map(|n| format!("{prefix}{n}")).find(|name| begins_group(name) == begins).unwrap()
    }

    fn first(prefix: &str) -> String {
        named(prefix, true)
    }

    #[test]
    fn kernels_are_together_that_share_a_function_or_static() {
        let [a, b, c] = ["a", "b", "c"].map(first);
        let kernels = |of_a: &str, of_b: &str, of_c: &str| {
            format!(
                "define ptx_kernel void @{a}(ptr %p) {{ {of_a} ret void }}
                 define ptx_kernel void @{b}(ptr %p) {{ {of_b} ret void }}
                 define ptx_kernel void @{c}(ptr %p) {{ {of_c} ret void }}
                 declare void @outside(ptr)
                 define internal void @inner() noinline {{ ret void }}
                 define internal void @outer() noinline {{ call void @inner() ret void }}
                 @text = private unnamed_addr constant [2 x i8] c\"a\\00\"
                 @place = private unnamed_addr constant ptr @text
                 @named = internal constant i8 0
                 @table = private unnamed_addr constant ptr @inner
                 @tables = private unnamed_addr constant ptr @table
                 @tile = internal addrspace(3) global [4 x i8] poison"
            )
        };
        let apart = vec![vec![a.clone()], vec![b.clone()], vec![c.clone()]];
        let together = vec![vec![a.clone(), c.clone()], vec![b.clone()]];
        let text = "call void @outside(ptr @text) call void @outside(ptr @place)";
        assert_eq!(groups_of(&kernels(text, text, text)), apart);
        let call = "call void @inner()";
        for (of_a, of_c) in [
            (call, call),
            (call, "call void @outer()"),
            (call, "call void @outside(ptr @tables)"),
            ("call void @outside(ptr @table)", "call void @outside(ptr @tables)"),
            ("call void @outside(ptr @named)", "call void @outside(ptr @named)"),
            ("store i8 1, ptr addrspace(3) @tile", "store i8 1, ptr addrspace(3) @tile"),
            (text, &format!("store ptr @{a}, ptr %p")),
        ] {
            assert_eq!(groups_of(&kernels(of_a, "", of_c)), together, "{of_a} and {of_c}");
            assert_eq!(groups_of(&kernels(of_a, "", "")), apart, "{of_a}");
        }
    }

    #[test]
    fn visible_statics_are_copied_where_the_copies_become_one() {
        let [a, b] = ["a", "b"].map(first);
        let context = Context::create();
        let text = format!(
            "@named_by_asm = weak global i64 0
             @record = weak global i64 0
             @place = private constant i64 0
             declare void @outside(ptr)
             define ptx_kernel void @{a}() {{ store i64 1, ptr @record call void @outside(ptr @place) ret void }}
             define ptx_kernel void @{b}() {{ store i64 2, ptr @record call void @outside(ptr @place) ret void }}"
        );
        let module = llvm::parse_ir(&context, text.as_bytes(), "module").unwrap();
        let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        let (a, b) = (a.as_str(), b.as_str());
        let mut all = groups(&module, Statics::Apart);
        all.iter_mut().for_each(|group| group.sort());
        // Nothing refers to the first, and the host may.
        let mut expected = names(&[a, b, "record"]);
        expected.extend((all.len() == 1).then(|| "named_by_asm".to_string()));
        expected.sort();
        assert_eq!(all[0], expected);
        assert_eq!(all.concat().iter().filter(|name| *name == "named_by_asm").count(), 1);
        let joined = groups(&module, Statics::Joined);
        assert!(joined.iter().all(|group| group.ends_with(&names(&["named_by_asm", "record"]))), "{joined:?}");
        assert!(!joined.iter().any(|group| names(&[a, b]).iter().all(|name| group.contains(name))), "{joined:?}");
    }

    #[test]
    fn a_new_kernel_changes_one_group_at_most() {
        let text = |names: &[&String]| {
            names.iter().map(|name| format!("define ptx_kernel void @{name}() {{ ret void }}\n")).collect::<String>()
        };
        let [a, c, ca, e] = ["a", "c", "ca", "e"].map(|prefix| named(prefix, false));
        let [b, d] = ["b", "d"].map(first);
        let before = groups_of(&text(&[&a, &b, &c, &d, &e]));
        assert_eq!(before, [vec![a.clone()], vec![b.clone(), c.clone()], vec![d.clone(), e.clone()]]);
        assert_eq!(groups_of(&text(&[&a, &b, &c, &ca, &d, &e]))[2], before[2]);
        let context = Context::create();
        let all = entries(&llvm::parse_ir(&context, text(&[&d, &e, &a]).as_bytes(), "module").unwrap());
        assert_eq!(all, [a, d, e]);
    }
}
