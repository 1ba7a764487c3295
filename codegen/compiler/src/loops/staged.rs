//! The text of a function after a stage, for tests.

use crate::arch::Arch;
use crate::emit;
use crate::llvm::{AnyValue, Context, Module, TargetMachine, parse_ir};
use crate::request::OptLevel;

/// What a stage makes of the function `f` of a module.
pub fn after(text: &str, stage: impl FnOnce(&'static Context, &Module<'static>, &TargetMachine)) -> String {
    let context: &'static Context = Box::leak(Box::new(Context::create()));
    let module = parse_ir(context, text.as_bytes(), "module").unwrap_or_else(|error| panic!("{}: {text}", error.0));
    let arch = "sm_90".parse::<Arch>().unwrap();
    let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
    stage(context, &module, &machine);
    module.verify().unwrap();
    module.get_function("f").unwrap().print_to_string().to_string()
}
