//! The cases through our linker: LLVM IR in, PTX out.

use std::fmt::Write as _;
use std::fs;

use ptx_tests::{Linked, Scratch};

use super::cases::{Case, Op, Space, Type};

/// A module with a kernel `k<index>` for every case.
fn module(cases: &[Case]) -> String {
    let mut text = String::from(
        "target triple = \"nvptx64-nvidia-cuda\"\n@s = internal addrspace(3) global [16 x i8] undef, align 16\n",
    );
    for (index, case) in cases.iter().enumerate() {
        let _ = write!(text, "define ptx_kernel void @k{index}(ptr %in, ptr %out) {{\n{}ret void\n}}\n", body(case));
    }
    text
}

fn body(case: &Case) -> String {
    let bits = case.ty.bits();
    let ty = match case.ty {
        Type::Int(bits) => format!("i{bits}"),
        Type::Float(name, _) => name.to_string(),
    };
    let [_, scope, _] = case.scope.names();
    let scope = if scope.is_empty() { String::new() } else { format!("syncscope(\"{scope}\") ") };
    let [order, _] = case.order.names();
    let (before, pointer) = match case.space {
        // Nothing is known of an address that comes out of memory.
        Space::Generic => ("%p = load ptr, ptr %in\n", "ptr %p"),
        Space::Global => ("", "ptr %in"),
        Space::Shared => ("", "ptr addrspacecast (ptr addrspace(3) @s to ptr)"),
    };
    let align = bits / 8;
    let result = format!("store {ty} %r, ptr %out\n");
    let operand = format!("%v = load {ty}, ptr %out\n");
    let operation = match case.op {
        Op::Load => format!("%r = load atomic {ty}, {pointer} {scope}{order}, align {align}\n{result}"),
        Op::Store => format!("{operand}store atomic {ty} %v, {pointer} {scope}{order}, align {align}\n"),
        Op::CompareExchange(failure) => format!(
            "{operand}%x = cmpxchg {pointer}, {ty} %v, {ty} 1 {scope}{order} {}\n%r = extractvalue {{ {ty}, i1 }} %x, 0\n{result}",
            failure.names()[0]
        ),
        Op::Rmw(name) => format!("{operand}%r = atomicrmw {name} {pointer}, {ty} %v {scope}{order}\n{result}"),
    };
    format!("{before}{operation}")
}

/// The PTX for the cases.
pub fn compile(cases: &[Case], arch: &str, level: &str) -> String {
    compile_ir(&module(cases), cases.len(), arch, level)
}

/// The PTX of a module with `count` kernels `k0`, `k1`, ….
pub fn compile_ir(module: &str, count: usize, arch: &str, level: &str) -> String {
    let scratch = Scratch::default();
    let input = scratch.write("cases.ll", module);
    let mut command = scratch.linker();
    for index in 0..count {
        command.arg("--export-symbol").arg(format!("k{index}"));
    }
    // 128-bit operations, of which IR without the crate `ptx` says nothing beforehand.
    command.args([&format!("--arch={arch}"), "--ptxas=off", level]).arg("--ptx-version=8.7").arg(&input);
    let linked = Linked::of(&mut command);
    linked.accepted();
    fs::read_to_string(scratch.output()).expect("just written")
}
