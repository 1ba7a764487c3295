//! Constants that panics refer to, of which nobody tells one from a copy.

use crate::llvm::{BasicValue, GlobalValue, Linkage, Module};

/// Adds one with this value.
pub fn add<'ctx>(module: &Module<'ctx>, name: &str, value: &dyn BasicValue<'ctx>, align: u32) -> GlobalValue<'ctx> {
    let value = value.as_basic_value_enum();
    let global = module.add_global(value.get_type(), None, name);
    global.set_initializer(&value);
    global.set_constant(true);
    global.set_linkage(Linkage::Private);
    global.set_unnamed_addr(true);
    global.set_alignment(align);
    global
}
