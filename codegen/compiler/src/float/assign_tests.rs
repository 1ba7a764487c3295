//! Modes of functions, from IR as rustc writes it.

use super::*;
use crate::llvm::{instructions, parse_ir, uses};
use crate::marks::modes_of;

const NOT_FUSED: &str = "call void @__ptx_float_modes(i32 1)";
const FLUSHED: &str = "call void @__ptx_float_modes(i32 12)";
const STRICT: Modes = Modes { fmad: false, ..Modes::DEFAULT };
const FTZ: Modes = Modes { ftz: true, ..Modes::DEFAULT };

/// Assigns the modes of a program, and calls `body` with what became of it.
fn assigned(program: &str, build: Modes, body: impl FnOnce(&Module<'_>)) {
    let context = Context::create();
    let text = format!("{program}\ndeclare void @__ptx_float_modes(i32)\n");
    let module = parse_ir(&context, text.as_bytes(), "m").unwrap();
    let nobody = || vec![];
    let interface =
        Interface { kernels: vec![], exports: vec![], imports: vec![], bare_kernels: nobody(), bare_exports: nobody() };
    assign(&context, &module, &interface, build).unwrap();
    module.verify().unwrap();
    body(&module);
}

fn modes(module: &Module<'_>, name: &str) -> Modes {
    let names = || llvm::functions(module).map(super::name).collect::<Vec<_>>();
    modes_of(module.get_function(name).unwrap_or_else(|| panic!("no {name} in {:?}", names())))
}

fn callees(module: &Module<'_>, name: &str) -> Vec<String> {
    let function = module.get_function(name).unwrap();
    instructions(function).filter_map(llvm::called_function).map(super::name).collect()
}

#[test]
fn a_callee_has_the_modes_of_each_caller() {
    let program = format!(
        "define float @plain(float %x) {{\n%r = call float @step(float %x)\nret float %r\n}}
         define float @strict(float %x) {{\n{NOT_FUSED}\n%r = call float @step(float %x)\nret float %r\n}}
         define internal float @step(float %x) {{\n%y = call float @leaf(float %x)\nret float %y\n}}
         define internal float @leaf(float %x) {{\n%y = fadd float %x, %x\nret float %y\n}}"
    );
    assigned(&program, Modes::DEFAULT, |module| {
        assert_eq!((modes(module, "plain"), callees(module, "plain")), (Modes::DEFAULT, vec!["step".into()]));
        assert_eq!((modes(module, "strict"), callees(module, "strict")), (STRICT, vec!["step.float_ds".into()]));
        assert_eq!((modes(module, "step"), callees(module, "step")), (Modes::DEFAULT, vec!["leaf".into()]));
        assert_eq!(callees(module, "step.float_ds"), ["leaf.float_ds"]);
        assert_eq!((modes(module, "leaf"), modes(module, "leaf.float_ds")), (Modes::DEFAULT, STRICT));
        assert_eq!(module.get_function("leaf.float_ds").unwrap().get_linkage(), Linkage::Internal);
        assert!(module.get_function(ptx_abi::float::MARKER).is_none());
    });
}

#[test]
fn what_is_named_within_adds_to_what_is_named_around() {
    let program = format!(
        "define float @outer(float %x) {{\n{NOT_FUSED}\n%r = call float @inner(float %x)\nret float %r\n}}
         define internal float @inner(float %x) noinline {{\n{FLUSHED}\n%y = fmul float %x, %x\nret float %y\n}}"
    );
    assigned(&program, Modes::DEFAULT, |module| {
        // Nobody else calls it, so it needs no copy.
        assert_eq!(modes(module, "inner"), Modes { fmad: false, ftz: true, ..Modes::DEFAULT });
        assert!(!module.print_to_string().to_string().contains("noinline"));
    });
    assigned(&program, Modes::FAST_MATH, |module| {
        assert_eq!(modes(module, "inner"), Modes { fmad: false, ..Modes::FAST_MATH });
    });
}

#[test]
fn recursion_stays_within_one_copy() {
    let program = format!(
        "define float @plain(float %x) {{\n%r = call float @even(float %x)\nret float %r\n}}
         define float @flushed(float %x) {{\n{FLUSHED}\n%r = call float @even(float %x)\nret float %r\n}}
         define internal float @even(float %x) {{\n%y = fadd float %x, 1.0\n%r = call float @odd(float %y)\nret float %r\n}}
         define internal float @odd(float %x) {{\n%r = call float @even(float %x)\nret float %r\n}}"
    );
    assigned(&program, Modes::DEFAULT, |module| {
        assert_eq!(callees(module, "odd.float_mzds"), ["even.float_mzds"]);
        assert_eq!(callees(module, "even.float_mzds"), ["odd.float_mzds"]);
        assert_eq!(callees(module, "odd"), ["even"]);
        assert_eq!(modes(module, "odd.float_mzds"), FTZ);
    });
}

#[test]
fn statics_are_not_copied() {
    let program = format!(
        "@0 = private global i32 0
         @COUNT = internal global i32 0
         define float @plain(float %x) {{\n%r = call float @step(float %x)\nret float %r\n}}
         define float @flushed(float %x) {{\n{FLUSHED}\n%r = call float @step(float %x)\nret float %r\n}}
         define internal float @step(float %x) {{\nstore i32 1, ptr @COUNT\nstore i32 1, ptr @0\n
         %y = fadd float %x, 1.0\nret float %y\n}}"
    );
    assigned(&program, Modes::DEFAULT, |module| {
        let globals: Vec<_> = llvm::globals(module).collect();
        assert_eq!(globals.len(), 2);
        for global in globals {
            assert_eq!(uses(&global).len(), 2, "both copies use it");
            assert!(matches!(global.get_linkage(), Linkage::Internal | Linkage::Private));
        }
    });
}

#[test]
fn pointers_have_the_builds_modes() {
    let program = format!(
        "@TABLE = internal constant [1 x ptr] [ptr @step]
         define float @flushed(float %x, ptr %to) {{\n{FLUSHED}\nstore ptr @step, ptr %to\n
         %f = load ptr, ptr @TABLE\n%s = call float %f(float %x)\n
         %r = call float @step(float %s)\nret float %r\n}}
         define internal float @step(float %x) alwaysinline {{\n%y = fadd float %x, 1.0\nret float %y\n}}"
    );
    assigned(&program, STRICT, |module| {
        assert_eq!(modes(module, "step"), STRICT);
        assert_eq!(callees(module, "flushed"), ["step.float_zds"]);
        let step = module.get_function("step").unwrap();
        assert_eq!(uses(&step).len(), 2, "the static, and what is stored");
        assert!(module.print_to_string().to_string().contains("store ptr @step,"));
        let always = Attribute::get_named_enum_kind_id("alwaysinline");
        assert!(step.get_enum_attribute(AttributeLoc::Function, always).is_none(), "LLVM would mix modes");
    });
}

#[test]
fn what_computes_nothing_is_not_copied() {
    let program = format!(
        "define float @flushed(float %x, ptr %p) {{\n{FLUSHED}\ncall void @fill(ptr %p, float %x)\n
         %y = fadd float %x, 1.0\nret float %y\n}}
         define void @plain(float %x, ptr %p) {{\ncall void @fill(ptr %p, float %x)\nret void\n}}
         define internal void @fill(ptr %p, float %x) {{\nstore float %x, ptr %p\nret void\n}}"
    );
    assigned(&program, Modes::DEFAULT, |module| {
        assert_eq!(llvm::functions(module).count(), 3);
        assert_eq!(modes(module, "flushed"), FTZ);
    });
}
