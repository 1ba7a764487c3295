//! Makes failing programs small: what is tried runs on a GPU, or on the CPU against a copy with a planted mistake.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ptx_random::choices::Choices;
use ptx_random::{rust, shrink};
use serde_json::Value;

use crate::{compile, pack};

/// What says whether a program fails.
#[derive(Clone, Debug)]
pub enum Judge {
    /// A program that runs a folder of packed programs on a GPU, `ptx-random-device` or a script that starts it elsewhere;
    /// and the level.
    Gpu(PathBuf, u32),
    /// A mistake: in the copy, the second text stands where the first one stood.
    Planted(&'static str, &'static str),
}

impl Judge {
    /// Which of the programs fail.
    pub fn fails(&self, programs: &[String], folder: &Path) -> Result<Vec<bool>, String> {
        match self {
            Self::Gpu(runner, level) => on_gpu(programs, runner, *level, &folder.join("candidates")),
            Self::Planted(from, to) => {
                let planted: Vec<String> = programs.iter().map(|program| program.replace(from, to)).collect();
                let right = compile::on_host(programs, folder, "right", 0)?;
                let wrong = compile::on_host(&planted, folder, "planted", 0)?;
                Ok(right.iter().zip(&wrong).map(|(right, wrong)| right != wrong).collect())
            }
        }
    }
}

fn on_gpu(programs: &[String], runner: &Path, level: u32, folder: &Path) -> Result<Vec<bool>, String> {
    pack::pack_these(programs, level, folder)?;
    let json = folder.join("random.jsonl");
    // It fails if something differs, which is what is wanted.
    let output = Command::new(runner).arg(folder).arg("--json").arg(&json).output();
    let output = output.map_err(|error| format!("{}: {error}", runner.display()))?;
    let record = fs::read_to_string(&json)
        .map_err(|error| format!("{}: {error}\n{}", json.display(), String::from_utf8_lossy(&output.stderr)))?;
    let record: Value = serde_json::from_str(&record).map_err(|error| format!("{}: {error}", json.display()))?;
    let mut fails = vec![false; programs.len()];
    for failure in record["failures"].as_array().into_iter().flatten() {
        let number = failure["number"].as_u64().and_then(|number| usize::try_from(number).ok());
        *number.and_then(|number| fails.get_mut(number)).ok_or("the record names a program that was not sent")? = true;
    }
    Ok(fails)
}

/// The smallest list of choices found whose program still fails.
pub fn smallest(start: &[u32], judge: &Judge, rounds: usize, folder: &Path) -> Result<Vec<u32>, String> {
    shrink::smallest(start, rounds, text, |lists| {
        let programs: Vec<String> = lists.iter().map(|list| text(list)).collect();
        let fails = judge.fails(&programs, folder)?;
        eprintln!("{} of {} smaller programs fail", fails.iter().filter(|fails| **fails).count(), fails.len());
        Ok(fails)
    })
}

/// The program of a list of choices.
pub fn text(list: &[u32]) -> String {
    rust::program(&mut Choices::again(list))
}

/// The choices of a seed's program.
pub fn choices(seed: u64, program: u64) -> Vec<u32> {
    let mut choices = Choices::of_item(seed, program);
    rust::program(&mut choices);
    choices.made().to_vec()
}
