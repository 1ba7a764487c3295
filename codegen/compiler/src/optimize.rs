//! Makes the module small, then fast: what nothing reaches goes, then LLVM's pipeline for the level runs.

use std::collections::HashSet;

use crate::arch::Arch;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Failure, Result};
use crate::interface::Interface;
use crate::llvm::{self, AttributeLoc, Linkage, Module, TargetMachine};
use crate::request::OptLevel;

/// Hides everything but kernels and exported functions, and removes what they do not reach.
pub fn internalize(module: &Module<'_>, interface: &Interface<'_>, machine: &TargetMachine) -> Result<()> {
    let described = interface.definitions().map(|function| function.symbol.clone());
    let bare = interface.bare_kernels.iter().chain(&interface.bare_exports);
    let bare = bare.map(|function| function.get_name().to_string_lossy().into_owned());
    let roots: HashSet<String> = described.chain(bare).collect();
    for function in llvm::functions(module).filter(|f| f.count_basic_blocks() > 0) {
        // The arch is the machine's to say; rustc compiled for its oldest.
        function.remove_string_attribute(AttributeLoc::Function, "target-cpu");
        function.remove_string_attribute(AttributeLoc::Function, "target-features");
        // LLVM inlines nothing that has this into what has not. Our `memcmp` asks to be inlined, and LLVM knows no loop
        // that it would make a call of `memcmp` from.
        let inline = llvm::Attribute::get_named_enum_kind_id("inlinehint");
        if function.get_enum_attribute(AttributeLoc::Function, inline).is_some() {
            function.remove_string_attribute(AttributeLoc::Function, "no-builtins");
        }
        if roots.contains(function.get_name().to_string_lossy().as_ref()) {
            function.set_linkage(Linkage::External);
            function.as_global_value().set_visibility(llvm::GlobalVisibility::Default);
        } else if function.get_linkage() != Linkage::Private {
            function.as_global_value().set_visibility(llvm::GlobalVisibility::Default);
            function.set_linkage(Linkage::Internal);
        }
    }
    for global in llvm::globals(module) {
        let linkage = global.get_linkage();
        if !global.is_declaration() && !matches!(linkage, Linkage::Appending | Linkage::Private) {
            global.set_visibility(llvm::GlobalVisibility::Default);
            global.set_linkage(Linkage::Internal);
        }
    }
    run(module, machine, "globaldce")
}

/// LLVM's default pipeline for the level.
pub fn run_level(module: &Module<'_>, machine: &TargetMachine, level: OptLevel, arch: Arch) -> Result<()> {
    llvm::doing(Code::LlvmFailed, format!("cannot optimise for {arch}"));
    // Kernels' slots and shims stay at O0 for the debugger; unreachable code goes at every level.
    run(module, machine, &format!("default<{}>,globaldce", level.name()))
}

/// Lets jumps go where they are known to end: `Option<&T>` is a pointer or null, and after a test for it LLVM tests for null
/// again. Where branches diverge, as on a GPU, LLVM threads no jumps, because a block that is run twice for one warp costs
/// more than the test. But safe Rust is made of such tests, and of the local arrays and address spaces that stay unknown
/// behind them. Convergent instructions are never copied, so that barriers stay what they are.
pub fn thread_jumps(module: &Module<'_>) -> Result<()> {
    let run = |passes: &str| llvm::run_passes_for_any(module, passes).map_err(|error| failed(passes, &error));
    run("function(jump-threading)")?;
    // LLVM lists the uses of the phis that it has made in an order that differs from run to run of the same program. Later
    // passes, the choice of a loop's variables above all, heed it, and the PTX would differ from build to build.
    llvm::sort_phi_uses(module);
    run("function(correlated-propagation,instcombine<no-verify-fixpoint>,simplifycfg)")
}

fn run(module: &Module<'_>, machine: &TargetMachine, pipeline: &str) -> Result<()> {
    llvm::run_passes(module, machine, pipeline).map_err(|error| failed(pipeline, &error))
}

fn failed(pipeline: &str, error: &str) -> Failure {
    Diagnostic::error(Code::LlvmFailed, format!("LLVM's passes `{pipeline}` failed: {error}")).into()
}
