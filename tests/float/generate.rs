//! The table as a Rust crate and as a `.cu` file, a kernel for every row.

use std::fmt::Write as _;

use crate::table::{ROWS, Row, kind};

/// Operands, each with its type in Rust and in CUDA C++, and the result's types.
struct Shape {
    operands: Vec<(char, (&'static str, &'static str))>,
    result: (&'static str, &'static str),
}

impl Shape {
    fn of(row: &Row) -> Self {
        let (operands, result) = row.shape.split_once('>').expect("a shape has a result");
        let operands = ('a'..).zip(operands.chars().map(kind)).collect();
        Self { operands, result: kind(result.chars().next().expect("a shape has a result")) }
    }
}

/// The beginning of a crate.
pub const PREAMBLE: &str = "#![no_std]\nuse ptx::prelude::*;\n";

/// Kernels in Rust under these attributes, their names with this suffix.
pub fn rust(attribute: &str, suffix: &str) -> String {
    let mut text = String::new();
    for row in ROWS {
        let shape = Shape::of(row);
        let operands: String = shape.operands.iter().map(|(name, (ty, _))| format!(", {name}: {ty}")).collect();
        writeln!(
            text,
            "{attribute}\n#[kernel]\npub unsafe fn {}{suffix}(out: *mut {}{operands}) {{\n    unsafe {{ *out = {}; }}\n}}",
            row.name, shape.result.0, row.rust
        )
        .expect("a string takes everything");
    }
    text
}

/// Kernels in CUDA C++.
pub fn cuda() -> String {
    let mut text = String::new();
    for row in ROWS {
        let shape = Shape::of(row);
        let operands: Vec<_> = shape.operands.iter().map(|(name, (_, ty))| format!("{ty} {name}")).collect();
        let names: Vec<_> = shape.operands.iter().map(|(name, _)| name.to_string()).collect();
        let body = if row.cuda.contains("return") { row.cuda.to_string() } else { format!("return {};", row.cuda) };
        let (name, result) = (row.name, shape.result.1);
        let (operands, names) = (operands.join(", "), names.join(", "));
        writeln!(
            text,
            "static __device__ __forceinline__ {result} value_of_{name}({operands}) {{ {body} }}\n\
             extern \"C\" __global__ void {name}({result} *out, {operands}) {{ *out = value_of_{name}({names}); }}"
        )
        .expect("a string takes everything");
    }
    text
}
