//! Reads the instructions of PTX's memory model out of every kernel.

use ptx_codegen::ptx_text;

use super::cases::Instruction;

const SEMS: [&str; 7] = ["relaxed", "acquire", "release", "acq_rel", "sc", "volatile", "mmio"];
const SCOPES: [&str; 4] = ["cta", "cluster", "gpu", "sys"];
const SPACES: [&str; 3] = ["global", "shared", "local"];

/// Kernels and their instructions: fences, atomics, and loads and stores with an order.
pub fn kernels(ptx: &str) -> Vec<(String, Vec<Instruction>)> {
    let kernels = ptx_text::definitions(ptx).filter(|definition| definition.function.is_kernel);
    kernels.map(|kernel| (kernel.function.name.to_string(), instructions(kernel.body))).collect()
}

fn instructions(body: &str) -> Vec<Instruction> {
    body.split(['\n', ';', '{', '}']).filter_map(|statement| instruction(statement.trim())).collect()
}

fn instruction(statement: &str) -> Option<Instruction> {
    let statement = if statement.starts_with('@') { statement.split_once(' ')?.1 } else { statement };
    let mnemonic = statement.split_whitespace().next()?;
    let mut parts = mnemonic.split('.');
    let kind = parts.next()?;
    if !["ld", "st", "atom", "red", "fence", "membar"].contains(&kind) {
        return None;
    }
    let mut found = Instruction {
        kind: kind.into(),
        sem: String::new(),
        scope: String::new(),
        space: String::new(),
        what: String::new(),
    };
    let mut what = Vec::new();
    for part in parts {
        match part {
            sem if SEMS.contains(&sem) => found.sem = sem.into(),
            scope if SCOPES.contains(&scope) => found.scope = scope.into(),
            space if SPACES.contains(&space) => found.space = space.into(),
            other => what.push(other),
        }
    }
    found.what = what.join(".");
    let weak = matches!(kind, "ld" | "st") && found.sem.is_empty();
    (!weak).then_some(found)
}
