//! PTX of every atomic operation, ordering, scope, width and address space against the interoperability guide's mapping
//! (chapter 4), against nvcc's for `cuda::atomic_ref`, and through ptxas.

mod cases;
mod ours;
mod ptx;
mod theirs;

use std::process::Command;

use libtest_mimic::Trial;
use ptx_codegen::tools::{Tools, known_archs};
use ptx_tests::trial;

use self::cases::{Case, Instruction, Op, Order, Space, Type};

/// GPUs and levels of optimisation for which ptxas is asked.
const BUILDS: [(&str, u32); 4] = [("sm_75", 75), ("sm_80", 80), ("sm_90", 90), ("sm_120", 120)];

/// A test for every GPU and level, and one against nvcc.
pub fn trials() -> Vec<Trial> {
    let mut trials =
        vec![trial("atomics: as nvcc's cuda::atomic_ref", as_nvcc), trial("atomics: on the stack", on_the_stack)];
    for (arch, sm) in BUILDS {
        for level in ["-O0", "-O3"] {
            trials.push(trial(format!("atomics: the guide's mapping for {arch} at {level}"), move || {
                guide(arch, sm, level)
            }));
        }
    }
    trials
}

/// The kernels' instructions, in the order of the cases.
fn by_case(text: &str, count: usize) -> Vec<Vec<Instruction>> {
    let mut found = vec![None; count];
    for (name, instructions) in ptx::kernels(text) {
        let index: usize = name[1..].parse().expect("kernels are numbered");
        found[index] = Some(instructions);
    }
    found.into_iter().map(|kernel| kernel.expect("every case has its kernel")).collect()
}

fn text(instructions: &[Instruction]) -> String {
    instructions.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Fails with the first few of many differences.
#[track_caller]
fn none(differences: &[String]) {
    let few: Vec<_> = differences.iter().take(20).cloned().collect();
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), few.join("\n"));
}

fn guide(arch: &str, sm: u32, level: &str) -> Option<String> {
    let cases = cases::all(sm);
    assert!(cases.len() > 3000, "{}", cases.len());
    let text_of_all = ours::compile(&cases, arch, level);
    let mut differences = Vec::new();
    for (case, found) in cases.iter().zip(by_case(&text_of_all, cases.len())) {
        // Address spaces are only looked for where there is optimisation.
        let known = Case { space: if level == "-O0" { Space::Generic } else { case.space }, ..*case };
        let expected = known.expected();
        if found != expected {
            differences.push(format!("{case:?}: {}, not {}", text(&found), text(&expected)));
        }
    }
    none(&differences);
    accepted_by_ptxas(arch, &text_of_all)
}

fn accepted_by_ptxas(arch: &str, ptx: &str) -> Option<String> {
    let tools = Tools::find();
    let Some(ptxas) = tools.ptxas() else { return Some("ptxas was not found; the PTX is as the guide has it".into()) };
    if !known_archs(ptxas).is_ok_and(|known| known.iter().any(|name| name == arch)) {
        return Some("this ptxas does not know the arch; the PTX is as the guide has it".into());
    }
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let input = scratch.path().join("cases.ptx");
    std::fs::write(&input, ptx).expect("a fresh file");
    let mut command = Command::new(&ptxas.path);
    command.args(["--gpu-name", arch, "-O0", "--output-file"]).arg(scratch.path().join("cases.cubin")).arg(&input);
    let output = command.output().expect("ptxas starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    None
}

/// A difference from nvcc that is accepted: what it turns the guide's instructions into.
struct Accepted {
    reason: &'static str,
    applies: fn(&Case) -> bool,
    theirs: fn(&Case, Vec<Instruction>) -> Vec<Instruction>,
}

fn as_nvcc() -> Option<String> {
    let cases: Vec<Case> = cases::all(90).into_iter().filter(theirs::has).collect();
    let Some(ptx) = theirs::compile(&cases) else { return Some("nvcc with libcu++ was not found".into()) };
    let mut differences = Vec::new();
    for (case, found) in cases.iter().zip(by_case(ptx, cases.len())) {
        let mut expected = case.expected();
        expected.iter_mut().for_each(|instruction| instruction.space.clear());
        if found != expected {
            differences.push(format!("{case:?}: {}, not {}", text(&found), text(&expected)));
        }
    }
    none(&differences);
    None
}

fn on_the_stack() -> Option<String> {
    None
}
