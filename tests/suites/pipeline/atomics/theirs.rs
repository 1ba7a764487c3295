//! The cases through nvcc, as `cuda::atomic_ref`.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;
use std::sync::OnceLock;

use ptx_codegen::tools::Tools;

use super::cases::{Case, Op, Scope, Space, Type};

/// Whether `cuda::atomic_ref` has the case: no cluster scope, no counters that wrap, no `nand`; its 128-bit loads are
/// broken in CUDA 13.0 (they write to the address), and halves are not its business.
pub fn has(case: &Case) -> bool {
    let operation = match case.op {
        Op::Rmw(name) => !["nand", "uinc_wrap", "udec_wrap"].contains(&name),
        _ => true,
    };
    let ty = match case.ty {
        Type::Int(bits) => bits < 128,
        Type::Float(name, _) => ["float", "double"].contains(&name),
    };
    operation && ty && case.scope != Scope::Cluster && case.space == Space::Global
}

fn source(cases: &[Case]) -> String {
    let mut text = String::from("#include <cuda/atomic>\n#include <cstdint>\n");
    for (index, case) in cases.iter().enumerate() {
        let signed = matches!(case.op, Op::Rmw("max" | "min"));
        let ty = match case.ty {
            Type::Int(bits) => format!("{}int{bits}_t", if signed { "" } else { "u" }),
            Type::Float(name, _) => name.to_string(),
        };
        let order = format!("cuda::memory_order_{}", case.order.names()[1]);
        let operation = match case.op {
            Op::Load => format!("*out = a.load({order});"),
            Op::Store => format!("a.store(*out, {order});"),
            Op::CompareExchange(failure) => {
                format!(
                    "{ty} e = *out; a.compare_exchange_strong(e, 1, {order}, cuda::memory_order_{}); *out = e;",
                    failure.names()[1]
                )
            }
            Op::Rmw(name) => {
                let method = match name {
                    "xchg" => "exchange",
                    "add" | "fadd" => "fetch_add",
                    "sub" | "fsub" => "fetch_sub",
                    "and" => "fetch_and",
                    "or" => "fetch_or",
                    "xor" => "fetch_xor",
                    "max" | "umax" => "fetch_max",
                    "min" | "umin" => "fetch_min",
                    other => unreachable!("{other}"),
                };
                format!("*out = a.{method}(*out, {order});")
            }
        };
        let _ = writeln!(
            text,
            "extern \"C\" __global__ void k{index}({ty}* p, {ty}* out) {{ cuda::atomic_ref<{ty}, cuda::thread_scope_{}> a(*p); {operation} }}",
            case.scope.names()[2]
        );
    }
    text
}

/// nvcc's PTX for the cases; `None` without nvcc or libcu++.
pub fn compile(cases: &[Case]) -> Option<&'static str> {
    static PTX: OnceLock<Option<String>> = OnceLock::new();
    let compile = || {
        let tools = Tools::find();
        let nvcc = tools.nvcc()?;
        let scratch = tempfile::tempdir().expect("a temporary folder");
        let [input, output] = ["cases.cu", "cases.ptx"].map(|name| scratch.path().join(name));
        fs::write(&input, source(cases)).expect("a fresh file");
        let mut command = Command::new(&nvcc.path);
        command.args(["-ptx", "-arch=sm_90", "-std=c++17", "-o"]).arg(&output).arg(&input);
        let run = command.output().expect("nvcc starts");
        let stderr = String::from_utf8_lossy(&run.stderr);
        if stderr.contains("cuda/atomic: No such file") {
            return None;
        }
        assert!(run.status.success(), "{stderr}");
        Some(fs::read_to_string(&output).expect("just written"))
    };
    PTX.get_or_init(compile).as_deref()
}
