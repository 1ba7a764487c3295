//! The floating-point instructions of every kernel in a PTX file.

use std::collections::BTreeMap;

/// How often each instruction stands in a kernel.
pub type Instructions = BTreeMap<String, usize>;

/// Kernels by name.
pub type Kernels = BTreeMap<String, Instructions>;

/// The floating-point instructions of every kernel, and of every function that is not inlined.
pub fn of_ptx(ptx: &str) -> Kernels {
    let mut kernels = Kernels::new();
    let mut current: Option<&mut Instructions> = None;
    for line in ptx.lines() {
        if let Some(name) = header(line) {
            current = Some(kernels.entry(name.to_string()).or_default());
        } else if let (Some(kernel), Some(instruction)) = (&mut current, instruction(line)) {
            *kernel.entry(instruction).or_default() += 1;
        }
    }
    kernels
}

/// The name in `.visible .entry NAME(` or `.func  (.param .b32 result) NAME(`.
pub fn header(line: &str) -> Option<&str> {
    let rest = match line.split_once(".entry ") {
        Some((_, rest)) => rest,
        None => {
            let rest = line.split_once(".func")?.1.trim_start();
            if rest.starts_with('(') { rest.split_once(')')?.1 } else { rest }
        }
    };
    rest.trim_start().split(['(', ' ', ';']).next()
}

/// What stands before the name of a function that is called.
const CALL: &str = "call ";

/// The kernel's instructions with those of the functions that it calls, in place of the calls.
pub fn with_callees(kernels: &Kernels, name: &str) -> Option<Instructions> {
    fn add(kernels: &Kernels, within: &mut Vec<String>, all: &mut Instructions) -> Option<()> {
        for (instruction, count) in kernels.get(within.last()?)? {
            match instruction.strip_prefix(CALL) {
                // Not what calls itself, again and again.
                Some(callee) if kernels.contains_key(callee) && !within.iter().any(|name| name == callee) => {
                    within.push(callee.to_string());
                    (0..*count).try_for_each(|_| add(kernels, within, all))?;
                    within.pop();
                }
                _ => *all.entry(instruction.clone()).or_default() += count,
            }
        }
        Some(())
    }
    let mut all = Instructions::new();
    add(kernels, &mut vec![name.to_string()], &mut all)?;
    Some(all)
}

/// Calls of one name: each compiler has its own.
pub fn without_names(instructions: &Instructions) -> Instructions {
    let mut all = Instructions::new();
    for (instruction, count) in instructions {
        let name = if instruction.starts_with(CALL) { CALL.trim_end() } else { instruction };
        *all.entry(name.to_string()).or_default() += count;
    }
    all
}

/// The name in `call.uni (result), NAME, (operands)`.
fn callee(text: &str) -> &str {
    let rest = text.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim_start());
    let rest =
        if rest.starts_with('(') { rest.split_once("),").map_or("", |(_, rest)| rest.trim_start()) } else { rest };
    rest.split([',', ';', ' ']).next().unwrap_or("")
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
        return (parts[0] == "call").then(|| format!("{CALL}{}", callee(text)));
    }
    if parts[0] == "setp" && parts.len() > 1 {
        parts.remove(1);
    }
    Some(parts.join("."))
}
