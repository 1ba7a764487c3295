//! Makes the module small, then fast: what nothing reaches goes, then LLVM's pipeline for the level runs.

use std::collections::HashSet;

use crate::arch::Arch;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Failure, Result};
use crate::interface::Interface;
use crate::llvm::{self, AnyTypeEnum, AttributeLoc, Linkage, Module, TargetMachine};
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

/// Lists uses in the order of the code, so that what follows does not depend on whether the module was joined of groups.
pub fn order_uses(module: &Module<'_>) {
    llvm::sort_uses(module);
}

/// Removes what nothing uses any more.
pub fn drop_unused(module: &Module<'_>, machine: &TargetMachine) -> Result<()> {
    run(module, machine, "globaldce")
}

/// Inlines what LLVM would inline first, so that most kernels have nothing in common when its pipeline runs: rustc has
/// simplified each function before.
pub fn inline(module: &Module<'_>, machine: &TargetMachine) -> Result<()> {
    run(module, machine, "cgscc(inline),globaldce")
}

/// LLVM's default pipeline for the level.
///
/// That is for a program as rustc wrote it; [`run_again`] is for one that has been through it.
pub fn run_level(module: &Module<'_>, machine: &TargetMachine, level: OptLevel, arch: Arch) -> Result<()> {
    llvm::doing(Code::LlvmFailed, format!("cannot optimise for {arch}"));
    // Kernels' slots and shims stay at O0 for the debugger; unreachable code goes at every level.
    run(module, machine, &format!("default<{}>,globaldce", level.name()))
}

/// What of that pipeline finds more to do after stages that changed functions, almost in its order: calls that have become
/// direct are inlined, then each function's arithmetic, conditions, loops and memory are simplified, and LLVM unrolls. It
/// takes three fifths of the time.
///
/// What it leaves out finds nothing after the first run: what is known of arguments, statics and called functions; the
/// vectoriser of loops; and most of the repetitions of instruction combining, common subexpressions, and what branches tell,
/// which [`thread_jumps`] has looked for just before. Comparisons that others imply are looked for once equal values are one
/// value; before that, some would be found only in the next run.
pub fn run_again(module: &Module<'_>, machine: &TargetMachine, level: OptLevel, arch: Arch) -> Result<()> {
    llvm::doing(Code::LlvmFailed, format!("cannot optimise for {arch} again"));
    let nontrivial = if level == OptLevel::O3 { "nontrivial" } else { "no-nontrivial" };
    run(
        module,
        machine,
        &format!(
            "cgscc(inline),function<eager-inv>(sroa<modify-cfg>,early-cse,reassociate,\
             loop-mssa(loop-simplifycfg,loop-rotate,licm<allowspeculation>,simple-loop-unswitch<{nontrivial};trivial>),\
             {TIDY},{COMBINE},\
             loop(loop-idiom,indvars,loop-deletion,loop-unroll-full),\
             sroa<modify-cfg>,gvn,constraint-elimination,sccp,{COMBINE},adce,memcpyopt,dse,{JOIN},{LAST_JOIN})"
        ),
    )
}

/// The end of that: LLVM packs and unrolls. Apart, because branches have been joined across the ends of loops before.
pub fn unroll_again(module: &Module<'_>, machine: &TargetMachine, level: OptLevel, arch: Arch) -> Result<()> {
    llvm::doing(Code::LlvmFailed, format!("cannot unroll loops for {arch} again"));
    let pack = if has_pairs(module, arch) { "slp-vectorizer," } else { "" };
    let level = level.name();
    run(
        module,
        machine,
        &format!(
            "function<eager-inv>({pack}loop-unroll<{level}>,sroa<preserve-cfg>,{COMBINE},\
             loop-mssa(licm<allowspeculation>),div-rem-pairs,{SPECULATE}),globaldce"
        ),
    )
}

/// Whether there are instructions for pairs of what the module computes with: of floats of 16 bits, and of 32 since sm_100.
fn has_pairs(module: &Module<'_>, arch: Arch) -> bool {
    let is_half = |ty| matches!(ty, AnyTypeEnum::FloatType(ty) if ty.get_bit_width() == 16);
    arch.number() >= 100 || llvm::functions(module).flat_map(llvm::instructions).any(|i| is_half(i.get_type()))
}

/// LLVM ends the process where a second run would find more, unless it is told not to look.
const COMBINE: &str = "instcombine<no-verify-fixpoint>";

/// As LLVM simplifies branches before, between and after its passes over loops, and once they are over.
const TIDY: &str = "simplifycfg<switch-range-to-icmp>";
const JOIN: &str = "simplifycfg<switch-range-to-icmp;hoist-common-insts;sink-common-insts>";
const LAST_JOIN: &str = "simplifycfg<forward-switch-cond;switch-range-to-icmp;switch-to-lookup;no-keep-loops;\
                         hoist-common-insts;sink-common-insts>";
const SPECULATE: &str = "simplifycfg<switch-range-to-icmp;speculate-unpredictables>";

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit;
    use crate::llvm::Context;

    #[test]
    fn another_run_inlines_unrolls_and_removes() {
        let arch: Arch = "sm_90".parse().unwrap();
        let text = "
            @unused = internal constant i32 0
            define internal i32 @square(i32 %x) { %y = mul i32 %x, %x ret i32 %y }
            define ptx_kernel void @f(ptr %p, i32 %x) {
            entry:
              %called = select i1 true, ptr @square, ptr null
              br label %loop
            loop:
              %n = phi i32 [ 0, %entry ], [ %next, %loop ]
              %sum = phi i32 [ 0, %entry ], [ %more, %loop ]
              %y = call i32 %called(i32 %x)
              %more = add i32 %sum, %y
              %next = add i32 %n, 1
              %again = icmp ult i32 %next, 3
              br i1 %again, label %loop, label %end
            end:
              store i32 %more, ptr %p
              ret void
            }";
        for level in [OptLevel::O2, OptLevel::O3] {
            let context = Context::create();
            let module = llvm::parse_ir(&context, text.as_bytes(), "module").unwrap();
            llvm::set_target(&module);
            let machine = emit::machine(arch, arch.min_ptx(), level).unwrap();
            // The first finds which function is called.
            for _ in 0..2 {
                run_again(&module, &machine, level, arch).unwrap();
                unroll_again(&module, &machine, level, arch).unwrap();
            }
            let kernel = module.get_function("f").unwrap();
            assert_eq!((kernel.count_basic_blocks(), llvm::instructions(kernel).count()), (1, 4));
            assert_eq!((llvm::functions(&module).count(), llvm::globals(&module).count()), (1, 0));
        }
    }

    #[test]
    fn a_loop_over_bytes_takes_one_at_a_time() {
        let arch: Arch = "sm_90".parse().unwrap();
        let text = "
            declare i8 @llvm.umax.i8(i8, i8)
            define ptx_kernel void @f(ptr noalias %p, i64 %n, ptr noalias %to) {
            entry: br label %loop
            loop:
              %i = phi i64 [ 0, %entry ], [ %next, %loop ]
              %most = phi i8 [ 0, %entry ], [ %more, %loop ]
              %at = getelementptr inbounds i8, ptr %p, i64 %i
              %byte = load i8, ptr %at
              %more = call i8 @llvm.umax.i8(i8 %most, i8 %byte)
              %next = add nuw i64 %i, 1
              %again = icmp ult i64 %next, %n
              br i1 %again, label %loop, label %end
            end:
              store i8 %more, ptr %to
              ret void
            }";
        let context = Context::create();
        let module = llvm::parse_ir(&context, text.as_bytes(), "module").unwrap();
        llvm::set_target(&module);
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        run_level(&module, &machine, OptLevel::O3, arch).unwrap();
        let ir = module.print_to_string().to_string();
        assert!(ir.contains("load i8") && !ir.contains(" x i8>"), "{ir}");
    }

    #[test]
    fn pairs_are_packed_where_there_are_instructions_for_them() {
        let packed = |ty: &str, arch: &str| {
            let arch: Arch = arch.parse().unwrap();
            let text = format!(
                "define ptx_kernel void @f(ptr align 8 %p, ptr align 8 %q) {{
                   %p1 = getelementptr {ty}, ptr %p, i64 1
                   %q1 = getelementptr {ty}, ptr %q, i64 1
                   %a = load {ty}, ptr %p, align 8
                   %b = load {ty}, ptr %p1
                   %c = fmul {ty} %a, %a
                   %d = fmul {ty} %b, %b
                   store {ty} %c, ptr %q, align 8
                   store {ty} %d, ptr %q1
                   ret void
                 }}"
            );
            let context = Context::create();
            let module = llvm::parse_ir(&context, text.as_bytes(), "module").unwrap();
            llvm::set_target(&module);
            let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
            unroll_again(&module, &machine, OptLevel::O3, arch).unwrap();
            module.print_to_string().to_string().contains(&format!("fmul <2 x {ty}>"))
        };
        assert!(packed("half", "sm_90") && packed("bfloat", "sm_90"));
        assert!(!packed("float", "sm_90") && !packed("double", "sm_100"));
        let context = Context::create();
        assert!(has_pairs(&context.create_module("module"), "sm_100".parse().unwrap()));
    }
}
