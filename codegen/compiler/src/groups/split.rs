//! Which kernels can be optimised apart.
//!
//! Two are together where both lead to the same function or static, unless that is a constant of which each can have a copy.
//! Neighbours that are apart are in one group nevertheless, because a group costs time, too. Where the next one begins,
//! their names alone say: a change to one kernel then changes no other group.

use std::collections::{HashMap, HashSet};

use crate::hash;
use crate::llvm::{self, AnyValue, FunctionValue, GlobalValue, Linkage, Module, Use};

/// Every so many kernels a group begins, on average.
const KERNELS_OF_A_GROUP: u64 = 8;

/// The names of all functions that are visible, in order.
pub fn entries(module: &Module<'_>) -> Vec<String> {
    let mut names: Vec<_> = defined(module).filter(|function| !is_local(function.get_linkage())).map(name_of).collect();
    names.sort();
    names
}

/// The same for each group.
pub fn groups(module: &Module<'_>) -> Vec<Vec<String>> {
    let mut bound = Bound::default();
    let copied = copied(module);
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
    let mut groups: Vec<Vec<String>> = Vec::new();
    for entries in apart {
        match groups.last_mut() {
            Some(group) if hash::stable(&entries[..1]) % KERNELS_OF_A_GROUP != 0 => group.extend(entries),
            _ => groups.push(entries),
        }
    }
    groups.iter_mut().for_each(|group| group.sort());
    groups
}

fn defined<'ctx>(module: &Module<'ctx>) -> impl Iterator<Item = FunctionValue<'ctx>> + use<'ctx> {
    llvm::functions(module).filter(|function| function.count_basic_blocks() > 0)
}

/// The constants of which each group can have a copy: nobody asks for their addresses, and they lead to nothing else.
fn copied<'ctx>(module: &Module<'ctx>) -> HashSet<GlobalValue<'ctx>> {
    let can_be = |global: &GlobalValue<'ctx>| {
        global.is_constant()
            && global.has_unnamed_addr()
            && is_local(global.get_linkage())
            && !global.is_externally_initialized()
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
        groups(&llvm::parse_ir(&context, text.as_bytes(), "module").unwrap())
    }

    /// A name with which a group begins.
    fn first(prefix: &str) -> String {
        (0..).map(|n| format!("{prefix}{n}")).find(|name| hash::stable([name]) % KERNELS_OF_A_GROUP == 0).unwrap()
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
    fn a_new_kernel_changes_one_group_at_most() {
        let text = |names: &[&str]| {
            names.iter().map(|name| format!("define ptx_kernel void @{name}() {{ ret void }}\n")).collect::<String>()
        };
        let [b, d] = ["b", "d"].map(first);
        let (b, d) = (b.as_str(), d.as_str());
        let before = groups_of(&text(&["a", b, "c", d, "e"]));
        assert_eq!(before, [vec!["a"], vec![b, "c"], vec![d, "e"]]);
        assert_eq!(groups_of(&text(&["a", b, "c", "ca", d, "e"]))[2], before[2]);
        let context = Context::create();
        let all = entries(&llvm::parse_ir(&context, text(&[d, "e", "a"]).as_bytes(), "module").unwrap());
        assert_eq!(all, ["a", d, "e"]);
    }
}
