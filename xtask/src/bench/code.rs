//! The code of the benchmark's kernels, in Rust and in CUDA C++: registers, stack, spills and instructions, without a GPU.
//! For Rust alone, [`super::guard`] compares it with a record.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use ptx_bench_table::rows;
use serde_json::Value;

use super::program::program;
use crate::shell;

/// Compiles all kernels for these archs, by both compilers, and reads what came out: by kernel, arch and language.
pub fn read(archs: &[String], folder: &Path) -> Result<Value> {
    let mut program = program();
    program.args(["code", "--arch", &archs.join(","), "--folder"]).arg(std::path::absolute(folder)?);
    serde_json::from_str(&shell::output(&mut program)?).context("the figures are no JSON")
}

/// The figures as text: Rust's beside nvcc's.
pub fn table(code: &Value, filters: &[String]) -> String {
    let mut text = format!(
        "{:20} {:7} {:>11} {:>11} {:>11} {:>13} {:>13} {:>11} {:>11}\n",
        "Rust / nvcc", "arch", "registers", "stack", "spills", "PTX", "SASS", "in loops", "LDL, STL"
    );
    for row in rows() {
        if !filters.is_empty() && !filters.iter().any(|part| row.name.contains(&**part)) {
            continue;
        }
        for (arch, both) in code["kernels"][row.name].as_object().into_iter().flatten() {
            let pair = |what: &str| format!("{} / {}", both["rust"][what], both["cuda"][what]);
            let _ = writeln!(
                text,
                "{:20} {arch:7} {:>11} {:>11} {:>11} {:>13} {:>13} {:>11} {:>11}",
                row.name,
                pair("registers"),
                pair("stack"),
                pair("spills"),
                pair("ptx"),
                pair("sass"),
                pair("loops"),
                pair("local"),
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_table_has_a_line_a_kernel_and_arch() {
        let side = |registers: u32| json!({ "registers": registers, "stack": 0, "spills": 0, "ptx": 9, "sass": 8, "loops": 0, "local": 0 });
        let both = json!({ "rust": side(50), "cuda": side(10) });
        let code = json!({ "kernels": { "copy": { "sm_80": both, "sm_90": both }, "saxpy": { "sm_90": both } } });
        let all = table(&code, &[]);
        assert_eq!((all.lines().count(), table(&code, &["sax".into()]).lines().count()), (4, 2));
        assert!(all.contains("50 / 10"), "{all}");
    }
}
