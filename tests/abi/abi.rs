//! 400 random signatures with fixed seeds: rust-ptx and nvcc agree on every one.

use std::process::ExitCode;
use std::sync::OnceLock;

use libtest_mimic::Trial;
use ptx_abi_tests::model::Case;
use ptx_abi_tests::{compare, compile, generate, shrink};
use ptx_tests::trial;

/// Seeds and how many cases of each.
const SEEDS: [(u64, u32); 2] = [(1, 200), (2026, 200)];

fn main() -> ExitCode {
    ptx_tests::run(|| SEEDS.into_iter().flat_map(|(seed, count)| trials(seed, count)).collect())
}

/// A seed's cases, with what is wrong with each.
struct Batch {
    seed: u64,
    cases: Vec<Case>,
    judged: OnceLock<Vec<Vec<String>>>,
}

fn trials(seed: u64, count: u32) -> Vec<Trial> {
    let cases = (0..count).map(|index| generate::case(seed, index)).collect();
    let batch: &'static Batch = Box::leak(Box::new(Batch { seed, cases, judged: OnceLock::new() }));
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
        let judged = self.judged.get_or_init(|| shrink::judge(&self.cases, &folder));
        let (case, differences) = (&self.cases[index], &judged[index]);
        if differences.is_empty() {
            return;
        }
        let mut text = compare::describe(case, differences);
        // The first alone: each takes a while.
        if judged.iter().position(|differences| !differences.is_empty()) == Some(index) {
            let (smaller, differences) = shrink::smallest(case, differences.clone(), &folder.join("shrink"));
            text += &format!("made small:\n{}", compare::describe(&smaller, &differences));
        }
        panic!("{text}");
    }
}
