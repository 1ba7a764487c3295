//! 400 random signatures with fixed seeds: rust-ptx and nvcc agree on every one.

use std::process::ExitCode;
use std::sync::OnceLock;

use libtest_mimic::Trial;
use ptx_abi_tests::model::Case;
use ptx_abi_tests::{compare, compile, generate, shrink};
use ptx_tests::trial;

/// Seeds, how many cases of each, and the GPU: nvcc has one compiler for those before sm_100 and another for the others.
const SEEDS: [(u64, u32, &str); 2] = [(1, 200, "sm_90"), (2026, 200, "sm_120")];

fn main() -> ExitCode {
    ptx_tests::run(|| SEEDS.into_iter().flat_map(|(seed, count, arch)| trials(seed, count, arch)).collect())
}

/// A seed's cases, with what is wrong with each.
struct Batch {
    seed: u64,
    arch: &'static str,
    cases: Vec<Case>,
    judged: OnceLock<Vec<Vec<String>>>,
}

fn trials(seed: u64, count: u32, arch: &'static str) -> Vec<Trial> {
    let cases = (0..count).map(|index| generate::case(seed, index)).collect();
    let batch: &'static Batch = Box::leak(Box::new(Batch { seed, arch, cases, judged: OnceLock::new() }));
    let one = |index: usize| {
        trial(format!("signature {index} of seed {seed}"), move || {
            if !compile::has_nvcc() {
                return Some("nvcc was not found".into());
            }
            batch.check(index);
            None
        })
    };
    (0..count as usize).map(one).collect()
}

impl Batch {
    fn check(&self, index: usize) {
        let folder = compile::folder(&format!("test-{}", self.seed));
        let judged = self.judged.get_or_init(|| shrink::judge(&self.cases, &folder, self.arch));
        let (case, differences) = (&self.cases[index], &judged[index]);
        if differences.is_empty() {
            return;
        }
        let mut text = compare::describe(case, differences);
        // The first alone: each takes a while.
        if judged.iter().position(|differences| !differences.is_empty()) == Some(index) {
            let (smaller, differences) = shrink::smallest(case, differences.clone(), &folder.join("shrink"), self.arch);
            text += &format!("made small:\n{}", compare::describe(&smaller, &differences));
        }
        panic!("{text}");
    }
}
