//! Runs nvlink, and reads what it says that each kernel uses.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};

use super::{Step, lto};
use crate::limits::Limits;
use crate::ptxas::kernel_of_unknown_stack;
use crate::report::Resources;
use crate::request::{DebugLevel, OptLevel};

/// What nvlink made.
pub struct Linked {
    /// Machine code without undefined symbols.
    pub cubin: Vec<u8>,
    /// What it said.
    pub log: String,
    /// By kernel.
    pub resources: BTreeMap<String, Used>,
}

/// What a kernel uses once all that it calls is there. Spills and recursion are ptxas's and ours to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used(Resources);

impl Used {
    /// Puts these figures in the place of those that ptxas had for the Rust code alone.
    pub fn add_to(self, known: &mut Resources) {
        let Self(used) = self;
        *known = Resources {
            stack: used.stack.max(known.stack),
            stack_is_minimum: used.stack_is_minimum || known.recursion.is_some(),
            recursion: known.recursion,
            spill_stores: known.spill_stores,
            spill_loads: known.spill_loads,
            ..used
        };
    }
}

/// Why there is nothing linked.
pub enum Failed {
    /// What nvlink said.
    Said(String),
    /// It was ended, because it used more than what the files can ask for.
    Ended,
}

/// A link without LTO copies and relocates, which takes no time like this, and no GPU's code has as many bytes. nvlink 13.0 goes
/// on for ever with some damaged files.
const LIMITS: Limits = Limits { seconds: 30, bytes: 1 << 30 };

/// Links.
pub fn run(nvlink: &Path, step: &mut Step<'_>) -> Result<Linked, Failed> {
    let output = step.folder.path().join("linked.cubin");
    let mut run = start(nvlink, step, &output)?;
    // Objects do not show from outside that they hold LTO-IR.
    if !step.lto && text(&run).contains("LTO objects found") {
        step.lto = true;
        run = start(nvlink, step, &output)?;
    }
    let log = text(&run);
    if Limits::ended(run.status) {
        return Err(Failed::Ended);
    }
    if !run.status.success() {
        let silent = format!("nvlink ended without a message ({})", run.status);
        return Err(Failed::Said(if log.trim().is_empty() { silent } else { log }));
    }
    let cubin = std::fs::read(&output).map_err(|e| Failed::Said(format!("nvlink wrote no cubin: {e}")))?;
    Ok(Linked { cubin, resources: resources(&log), log })
}

fn start(nvlink: &Path, step: &Step<'_>, output: &Path) -> Result<Output, Failed> {
    let mut command = Command::new(nvlink);
    command.arg(format!("-arch={}", step.job.arch)).arg("-v");
    if (step.job.debug, step.job.level) == (DebugLevel::Full, OptLevel::O0) {
        command.arg("-g");
    }
    if step.lto {
        let nvvm = lto::nvvm(nvlink, step.folder.path()).map_err(Failed::Said)?;
        command.arg("-lto").arg(format!("-nvvmpath={}", nvvm.display()));
    } else {
        // A compiler takes as long as it takes.
        LIMITS.bind(&mut command);
    }
    command.args(&step.files).arg("-o").arg(output);
    step.folder.confine(&mut command);
    command.output().map_err(|e| Failed::Said(format!("cannot run {}: {e}", nvlink.display())))
}

fn text(run: &Output) -> String {
    String::from_utf8_lossy(&run.stderr).into_owned() + &String::from_utf8_lossy(&run.stdout)
}

/// Resources by kernel, of nvlink's `-v`.
fn resources(log: &str) -> BTreeMap<String, Used> {
    let mut kernels = BTreeMap::new();
    let mut current = None;
    // nvlink warns before it gives figures.
    let mut unknown_stacks = BTreeSet::new();
    for line in log.lines() {
        if let Some(rest) = line.split("Function properties for '").nth(1) {
            current = rest.split('\'').next();
        } else if let Some(kernel) = kernel_of_unknown_stack(line) {
            unknown_stacks.insert(kernel);
        } else if let Some((_, figures)) = line.split_once("used ")
            && let Some(kernel) = current.take()
        {
            let stack_is_minimum = unknown_stacks.contains(kernel);
            kernels.insert(kernel.to_string(), Used(Resources { stack_is_minimum, ..read(figures) }));
        }
    }
    kernels
}

/// `24 registers, used 0 barriers, 0 stack, 0 bytes smem, 360 bytes cmem[0], 0 bytes lmem`
fn read(figures: &str) -> Resources {
    let mut used = Resources::default();
    for figure in figures.split(',') {
        let figure = figure.trim().trim_start_matches("used ");
        let Some((number, unit)) = figure.split_once(' ') else { continue };
        let Ok(number) = number.parse() else { continue };
        match unit {
            "registers" => used.registers = number,
            "barriers" => used.barriers = number,
            "stack" => used.stack = number,
            "bytes smem" => used.shared = number,
            unit if unit.starts_with("bytes cmem") => *used.constant.get_or_insert(0) += number,
            _ => {}
        }
    }
    used
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_of_nvlink_13_is_read() {
        let log = "nvlink warning : Stack size for entry function 'k' cannot be statically determined\n\
                   nvlink info    : 0 bytes gmem\nnvlink info    : Function properties for 'k':\n\
                   nvlink info    : used 24 registers, used 1 barriers, 16 stack, 8 bytes smem, 360 bytes cmem[0], \
                   4 bytes cmem[2], 0 bytes lmem\n";
        let mut known = Resources { spill_stores: 8, registers: 12, ..Resources::default() };
        resources(log)["k"].add_to(&mut known);
        let expected = Resources {
            registers: 24,
            stack: 16,
            stack_is_minimum: true,
            recursion: None,
            spill_stores: 8,
            spill_loads: 0,
            shared: 8,
            constant: Some(364),
            barriers: 1,
            formatting: None,
        };
        assert_eq!(known, expected);
        assert!(resources("nvlink error : no\n").is_empty());
    }
}
