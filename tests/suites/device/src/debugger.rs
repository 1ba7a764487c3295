//! Cases under cuda-gdb and compute-sanitizer, where those are; see `ptx_test_cases::debugger`.

use std::path::{Path, PathBuf};

use ptx_debugger_tests::{Prepared, Run, cases, is_there};
use serde_json::{Value, json};

use crate::record::{Test, skippable_recorded};

/// The program in the folder that the tools watch.
const PROGRAM: &str = "ptx-debugger-tests";

/// A test for every case in the folder.
pub fn tests(folder: &Path) -> Vec<Test> {
    match cases(folder) {
        Ok(cases) => cases.into_iter().map(|case| test(case, folder.join(PROGRAM))).collect(),
        Err(error) => vec![crate::record::test("cases for cuda-gdb", move |_| panic!("{error}"))],
    }
}

fn test(prepared: Prepared, program: PathBuf) -> Test {
    let tool = if prepared.case.sanitizer.is_some() { "compute-sanitizer" } else { "cuda-gdb" };
    skippable_recorded(&format!("{tool}: {}", prepared.name), move |_| {
        if !is_there(tool) {
            return Err(format!("{tool} was not found"));
        }
        let run =
            if prepared.case.sanitizer.is_some() { prepared.sanitize(&program) } else { prepared.debug(&program) };
        Ok(judge(run.unwrap_or_else(|error| panic!("{error}"))))
    })
}

fn judge(run: Run) -> Value {
    let wrong = run.failures.len();
    assert!(wrong == 0, "{wrong} of {} checks failed:\n{}\n{}", run.checks, run.failures.join("\n"), run.said);
    json!({ "checks": run.checks })
}
