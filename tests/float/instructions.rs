//! The floating-point instructions of every kernel in a PTX file.

use std::collections::BTreeMap;

/// How often each instruction stands in a kernel.
pub type Instructions = BTreeMap<String, usize>;

/// Kernels by name.
pub type Kernels = BTreeMap<String, Instructions>;

/// The floating-point instructions of every kernel.
pub fn of_ptx(ptx: &str) -> Kernels {
    let mut kernels = Kernels::new();
    let mut current: Option<&mut Instructions> = None;
    for line in ptx.lines() {
        if let Some((_, rest)) = line.split_once(".entry ") {
            let name = rest.split(['(', ' ']).next().unwrap_or_default();
            current = Some(kernels.entry(name.to_string()).or_default());
        } else if line.starts_with(".func") || line.starts_with(".visible .func") || line.starts_with(".weak .func") {
            current = None;
        } else if let (Some(kernel), Some(instruction)) = (&mut current, instruction(line)) {
            *kernel.entry(instruction).or_default() += 1;
        }
    }
    kernels
}

/// What computes, compares, chooses or converts floating-point numbers, without operands.
///
/// What only moves bits is left out (`mov`, `ld`, `st`, `selp`): compilers choose freely there, and no mode is about it. The
/// relation of a comparison is left out, too: `a < b` and a jump are `!(a >= b)` and the other jump.
fn instruction(line: &str) -> Option<String> {
    let text = line.trim().trim_end_matches(';');
    // A guard, as in `@%p1 add.f32`.
    let text = if text.starts_with('@') { text.split_once(' ')?.1.trim() } else { text };
    let opcode = text.split_whitespace().next()?;
    let mut parts: Vec<&str> = opcode.split('.').collect();
    let moves = ["ld", "st", "mov", "selp", "bra", "ret", "shfl", "ldu", "slct"];
    let float = |part: &&str| matches!(*part, "f16" | "f16x2" | "bf16" | "bf16x2" | "f32" | "f64" | "f32x2");
    if moves.contains(&parts[0]) || parts[0].is_empty() || !parts.iter().any(float) {
        // A call that is left is a function that could not be inlined: it must not pass for nothing.
        return parts[0].starts_with("call").then(|| "call".to_string());
    }
    if parts[0] == "setp" && parts.len() > 1 {
        parts.remove(1);
    }
    Some(parts.join("."))
}
