//! Kernels that have had their rounds of the optimiser: LLVM's passes and ours leave them alone while others have one more.
//!
//! ```text
//! before: define ptx_kernel void @finished(…)
//! after:  define ptx_kernel void @finished(…) noinline optnone "ptx-settled"    ; until `open_all`
//! ```
//!
//! So it takes less time, and how often a kernel is optimised does not depend on the kernels beside it. A kernel has had its
//! rounds when one of them has left it as it was. What a function would
//! get from another round may depend on what it calls, so only kernels settle, which nothing calls, and only those that call
//! nothing that is unfinished. With `optnone` a function means what it meant, so this is sound whichever kernels settle.

use std::collections::HashSet;

use crate::hash::QuickMap;
use crate::llvm::{self, Attribute, AttributeLoc, Context, FunctionValue, Module, Use};

/// What we alone say of such a function.
const SETTLED: &str = "ptx-settled";

/// What LLVM heeds; the second is needed for the first.
const LEFT_ALONE: [&str; 2] = ["optnone", "noinline"];

/// What does not go with the first, or would have to stay when that is taken away.
const IN_THE_WAY: [&str; 5] = ["optnone", "noinline", "alwaysinline", "optsize", "minsize"];

/// What the open functions are like.
pub struct Shapes<'ctx>(QuickMap<FunctionValue<'ctx>, u64>);

impl<'ctx> Shapes<'ctx> {
    /// As they are now.
    pub fn of(context: &Context, module: &Module<'ctx>) -> Self {
        Self(open(module).map(|function| (function, llvm::shape(context, function))).collect())
    }

    /// The functions that are no longer as they were.
    pub fn changed(&self, context: &Context, module: &Module<'ctx>) -> HashSet<FunctionValue<'ctx>> {
        open(module).filter(|function| self.0.get(function) != Some(&llvm::shape(context, *function))).collect()
    }
}

/// Settles all kernels but the unfinished ones and those that call what is unfinished; says whether none of those is left.
/// What is unfinished may be gone by now.
pub fn settle<'ctx>(context: &Context, module: &Module<'ctx>, unfinished: HashSet<FunctionValue<'ctx>>) -> bool {
    if unfinished.is_empty() {
        return true;
    }
    // LLVM has removed what it has inlined since the set was made, and nobody knows into what.
    let functions: HashSet<_> = llvm::functions(module).collect();
    if !unfinished.is_subset(&functions) {
        return false;
    }
    let Some(unfinished) = with_callers(unfinished) else { return false };
    let finished = open(module).filter(|function| is_kernel(*function) && !unfinished.contains(function));
    for function in finished.filter(|function| !IN_THE_WAY.iter().any(|name| has(*function, name))) {
        for name in LEFT_ALONE {
            let attribute = context.create_enum_attribute(Attribute::get_named_enum_kind_id(name), 0);
            function.add_attribute(AttributeLoc::Function, attribute);
        }
        function.add_attribute(AttributeLoc::Function, context.create_string_attribute(SETTLED, ""));
    }
    false
}

/// The functions with bodies that are not settled.
pub fn open<'ctx>(module: &Module<'ctx>) -> impl Iterator<Item = FunctionValue<'ctx>> + use<'ctx> {
    llvm::functions(module).filter(|function| function.count_basic_blocks() > 0 && !is_settled(*function))
}

/// Those of them that are not to be small: loops of the others stay as they are.
pub fn open_and_fast<'ctx>(module: &Module<'ctx>) -> impl Iterator<Item = FunctionValue<'ctx>> + use<'ctx> {
    open(module).filter(|function| !has(*function, "optsize"))
}

/// Whether a function is settled.
pub fn is_settled(function: FunctionValue<'_>) -> bool {
    function.get_string_attribute(AttributeLoc::Function, SETTLED).is_some()
}

/// Makes all as it was.
pub fn open_all(module: &Module<'_>) {
    for function in llvm::functions(module).filter(|function| is_settled(*function)) {
        function.remove_string_attribute(AttributeLoc::Function, SETTLED);
        for name in LEFT_ALONE {
            function.remove_enum_attribute(AttributeLoc::Function, Attribute::get_named_enum_kind_id(name));
        }
    }
}

/// The functions and all that call them; none if one may be called from anywhere.
fn with_callers<'ctx>(functions: HashSet<FunctionValue<'ctx>>) -> Option<HashSet<FunctionValue<'ctx>>> {
    let mut pending: Vec<_> = functions.iter().copied().collect();
    let mut found = functions;
    while let Some(function) = pending.pop() {
        // A kernel's address may stand anywhere, and is never called.
        let users = if is_kernel(function) { Vec::new() } else { llvm::uses(&function.as_global_value()) };
        for user in users {
            let Use::Instruction(user) = user else { return None };
            let caller = user.get_parent()?.get_parent()?;
            if found.insert(caller) {
                pending.push(caller);
            }
        }
    }
    Some(found)
}

fn is_kernel(function: FunctionValue<'_>) -> bool {
    function.get_call_conventions() == llvm::PTX_KERNEL
}

fn has(function: FunctionValue<'_>, name: &str) -> bool {
    function.get_enum_attribute(AttributeLoc::Function, Attribute::get_named_enum_kind_id(name)).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is settled where that function is unfinished.
    fn settled(text: &str, unfinished: &str) -> Vec<String> {
        let context = Context::create();
        let module = llvm::parse_ir(&context, text.as_bytes(), "module").unwrap();
        let before = module.print_to_string().to_string();
        let unfinished = HashSet::from([module.get_function(unfinished).unwrap()]);
        assert!(!settle(&context, &module, unfinished));
        let mut names = Vec::new();
        for function in llvm::functions(&module).filter(|function| is_settled(*function)) {
            assert!(LEFT_ALONE.iter().all(|name| has(function, name)));
            names.push(function.get_name().to_string_lossy().into_owned());
        }
        assert_eq!(open(&module).count() + names.len(), llvm::functions(&module).count());
        module.verify().unwrap();
        open_all(&module);
        assert_eq!(module.print_to_string().to_string(), before, "all is as it was");
        names
    }

    const TEXT: &str = "
        define internal void @inner() { ret void }
        define internal void @outer() { call void @inner() ret void }
        define ptx_kernel void @calls() { call void @outer() ret void }
        define ptx_kernel void @alone() { ret void }
        define ptx_kernel void @never_inlined() noinline { ret void }
        define ptx_kernel void @small() minsize optsize { ret void }
        define void @exported() { ret void }";

    #[test]
    fn kernels_settle_that_call_nothing_unfinished() {
        assert_eq!(settled(TEXT, "alone"), ["calls"]);
        assert_eq!(settled(TEXT, "inner"), ["alone"]);
        assert_eq!(settled(TEXT, "exported"), ["calls", "alone"]);
    }

    #[test]
    fn nothing_settles_where_what_is_unfinished_has_been_inlined() {
        let context = Context::create();
        let module = llvm::parse_ir(&context, TEXT.as_bytes(), "module").unwrap();
        let unfinished = HashSet::from([module.get_function("inner").unwrap(), module.get_function("outer").unwrap()]);
        llvm::run_passes_for_any(&module, "cgscc(inline),globaldce").unwrap();
        assert!(module.get_function("inner").is_none());
        assert!(!settle(&context, &module, unfinished));
        assert!(!llvm::functions(&module).any(is_settled));
    }

    #[test]
    fn nothing_settles_where_anything_may_call_what_is_unfinished() {
        let text = format!("{TEXT}\n@table = constant ptr @inner");
        assert_eq!(settled(&text, "inner"), [""; 0]);
        assert_eq!(settled(&text, "alone"), ["calls"]);
    }

    #[test]
    fn functions_change_that_are_new_or_have_another_shape() {
        let context = Context::create();
        let module = llvm::parse_ir(&context, TEXT.as_bytes(), "module").unwrap();
        let shapes = Shapes::of(&context, &module);
        assert!(shapes.changed(&context, &module).is_empty());
        let [inner, alone] = ["inner", "alone"].map(|name| module.get_function(name).unwrap());
        let builder = context.create_builder();
        let added = module.add_function("added", inner.get_type(), None);
        for function in [alone, added] {
            builder.position_at_end(context.append_basic_block(function, ""));
            builder.build_return(None).unwrap();
        }
        assert_eq!(shapes.changed(&context, &module), HashSet::from([alone, added]));
    }

    #[test]
    fn without_anything_unfinished_there_is_no_other_round() {
        let context = Context::create();
        let module = llvm::parse_ir(&context, TEXT.as_bytes(), "module").unwrap();
        assert!(settle(&context, &module, HashSet::new()));
        assert!(llvm::functions(&module).all(|function| !is_settled(function)));
    }

    #[test]
    fn llvm_leaves_alone_what_is_settled() {
        let context = Context::create();
        let text = "define ptx_kernel void @f(ptr %p) { %x = add i32 1, 2 store i32 %x, ptr %p ret void }\n\
                    define ptx_kernel void @g(ptr %p) { %x = add i32 1, 2 store i32 %x, ptr %p ret void }";
        let module = llvm::parse_ir(&context, text.as_bytes(), "module").unwrap();
        settle(&context, &module, HashSet::from([module.get_function("g").unwrap()]));
        llvm::run_passes_for_any(&module, "function(instcombine)").unwrap();
        let size = |name: &str| llvm::instructions(module.get_function(name).unwrap()).count();
        assert_eq!((size("f"), size("g")), (3, 2));
        open_all(&module);
        llvm::run_passes_for_any(&module, "function(instcombine)").unwrap();
        assert_eq!((size("f"), size("g")), (2, 2));
    }
}
