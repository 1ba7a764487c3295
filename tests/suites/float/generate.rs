//! The table as a Rust crate and as a `.cu` file, a kernel for every row.

use std::fmt::Write as _;

use crate::row::{Row, kind};
use crate::table::rows;

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

/// Where `#[ptx::float(..)]` stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// On the kernel.
    Function,
    /// On the expression, as a block.
    Block,
}

/// Kernels in Rust with these modes, their names with this suffix.
pub fn rust(rows: impl Iterator<Item = &'static Row>, modes: &str, place: Place, suffix: &str) -> String {
    let attribute = if modes.is_empty() { String::new() } else { format!("#[ptx::float({modes})]") };
    let (function, block) = match place {
        Place::Function => (attribute.as_str(), ""),
        Place::Block => ("", attribute.as_str()),
    };
    let mut text = String::new();
    for row in rows {
        let shape = Shape::of(row);
        let operands: String = shape.operands.iter().map(|(name, (ty, _))| format!(", {name}: {ty}")).collect();
        let expression = if block.is_empty() { row.rust.to_string() } else { format!("{block} {{ {} }}", row.rust) };
        writeln!(
            text,
            "{function}\n#[kernel]\npub unsafe fn {}{suffix}(out: *mut {}{operands}) {{\n    unsafe {{ *out = {expression}; }}\n}}",
            row.name, shape.result.0
        )
        .expect("a string takes everything");
    }
    text
}

/// Kernels in CUDA C++.
pub fn cuda() -> String {
    let mut text = String::new();
    for row in rows() {
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
