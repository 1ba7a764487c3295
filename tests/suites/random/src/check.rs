//! Checks that programs have one meaning: the CPU computes the same without and with optimisation.

use ptx_random::choices::Choices;
use ptx_random::rust;

use crate::compile;

/// Programs that are compiled together.
const BATCH: u64 = 50;

/// The programs that do not.
pub fn host(seed: u64, first: u64, programs: u64) -> Result<Vec<u64>, String> {
    let folder = compile::folder("check");
    let mut different = Vec::new();
    for first in (first..first + programs).step_by(BATCH as usize).map(|start| (start, first + programs)) {
        let numbers = first.0..(first.0 + BATCH).min(first.1);
        let texts: Vec<String> =
            numbers.clone().map(|number| rust::program(&mut Choices::of_item(seed, number))).collect();
        let level = |level| compile::on_host(&texts, &folder, &format!("s{seed}_{}_o{level}", first.0), level);
        let (plain, optimised) = (level(0)?, level(3)?);
        let wrong = numbers.zip(plain.iter().zip(&optimised)).filter(|(_, (plain, optimised))| plain != optimised);
        different.extend(wrong.map(|(number, _)| number));
    }
    Ok(different)
}
