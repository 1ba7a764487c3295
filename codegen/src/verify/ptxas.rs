//! Has ptxas check and assemble PTX, and puts its messages into terms of kernels and Rust source lines.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use crate::abi::Table;
use crate::arch::Arch;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result, Span};
use crate::options::{DebugLevel, OptLevel};
use crate::report::Resources;
use crate::verify::parse_resources;

/// The assembler and how to call it.
#[derive(Clone, Debug)]
pub struct Assembler {
    /// The program.
    pub path: PathBuf,
    /// As in `13.0.88`.
    pub version: String,
}

/// What came of one PTX file.
#[derive(Debug)]
pub struct Assembled {
    /// Machine code.
    pub cubin: Vec<u8>,
    /// By kernel.
    pub resources: BTreeMap<String, Resources>,
}

/// One PTX file to assemble.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The text.
    pub ptx: &'a str,
    /// The arch.
    pub arch: Arch,
    /// Decides `-g` and `-lineinfo`.
    pub debug: DebugLevel,
    /// Decides `-O`.
    pub level: OptLevel,
    /// For messages.
    pub table: &'a Table,
    /// Whether another linker comes after: `-c`.
    pub relocatable: bool,
}

impl Assembler {
    /// The ptxas at `path`, which must run.
    pub fn at(path: &Path) -> Result<Self> {
        let mut this = Self { path: path.to_path_buf(), version: String::new() };
        let output = Command::new(path).arg("--version").output().map_err(|e| this.cannot_run(&e))?;
        let text = String::from_utf8_lossy(&output.stdout);
        // "Cuda compilation tools, release 13.0, V13.0.88"
        let version = text.split_whitespace().find_map(|word| word.strip_prefix('V').filter(|v| v.contains('.')));
        this.version = version.ok_or_else(|| this.cannot_run(&"it does not say which version of ptxas it is"))?.into();
        Ok(this)
    }

    /// Whether this ptxas generates code for the arch.
    pub fn knows(&self, arch: Arch) -> Result<bool> {
        let output = Command::new(&self.path).arg("--help").output().map_err(|e| self.cannot_run(&e))?;
        let help = String::from_utf8_lossy(&output.stdout);
        // `--gpu-name` lists its values in quotes.
        Ok(help.contains(&format!("'{arch}'")))
    }

    /// Assembles; messages are errors of ours.
    pub fn assemble(&self, job: Job<'_>) -> Result<Assembled> {
        let temp = tempfile::tempdir().map_err(|e| output_failed(&std::env::temp_dir(), &e))?;
        let (input, output) = (temp.path().join("kernels.ptx"), temp.path().join("kernels.cubin"));
        std::fs::write(&input, job.ptx).map_err(|e| output_failed(&input, &e))?;
        let mut command = Command::new(&self.path);
        command.arg(format!("-arch={}", job.arch)).arg("-v").arg(&input).arg("-o").arg(&output);
        let flags: &[&str] = match (job.debug, job.level) {
            (DebugLevel::None, _) => &[],
            (DebugLevel::Full, OptLevel::O0) => &["-g", "--dont-merge-basicblocks", "--return-at-end"],
            _ => &["-lineinfo"],
        };
        command.args(flags).args(job.relocatable.then_some("-c"));
        let run = command.output().map_err(|e| self.cannot_run(&e))?;
        let log = String::from_utf8_lossy(&run.stderr).into_owned() + &String::from_utf8_lossy(&run.stdout);
        if !run.status.success() {
            return Err(self.failure(&log, run.status, job).into());
        }
        let cubin = std::fs::read(&output).map_err(|e| {
            Diagnostic::error(Code::PtxasFailed, format!("{} wrote no cubin: {e}", self.path.display()))
                .note(log.clone())
        })?;
        Ok(Assembled { cubin, resources: parse_resources(&log) })
    }

    fn cannot_run(&self, error: &dyn std::fmt::Display) -> Diagnostic {
        Diagnostic::error(Code::PtxasMissing, format!("cannot run {}: {error}", self.path.display()))
            .help("give the path of a ptxas with `--ptxas=PATH`, or leave the option out to have it found")
            .help("`cargo ptx doctor` shows what was found, `cargo ptx setup` installs NVIDIA's tools")
    }

    fn failure(&self, log: &str, status: ExitStatus, job: Job<'_>) -> Diagnostic {
        if log.contains("'gpu-name'") {
            return Diagnostic::error(Code::PtxasFailed, format!("ptxas {} does not know {}", self.version, job.arch))
                .note(log.trim().to_string())
                .help("leave out this arch, or ask for PTX only (`--emit ptx --ptxas=off`), or use another ptxas");
        }
        // A ptxas that runs out of memory or is killed says nothing.
        let silent = format!("it ended without a message ({status})");
        let first =
            log.lines().find(|line| line.contains("error") || line.contains("fatal")).unwrap_or(silent.as_str());
        let reason = first.rsplit(" : ").next().unwrap_or(first).trim();
        let mut diagnostic =
            Diagnostic::error(Code::PtxasFailed, format!("ptxas rejected the PTX for {}: {reason}", job.arch));
        let place = ptx_line(first).map(|line| Place::of(job.ptx, line));
        if let Some(place) = place {
            let kernel = place.function.as_ref().and_then(|name| job.table.kernels.iter().find(|k| k.name == *name));
            let span = place.rust.or_else(|| kernel.map(|kernel| kernel.span.clone()));
            let function = place.function.map_or("no function".into(), |name| format!("`{name}`"));
            diagnostic = diagnostic
                .at(span, "the PTX came from here")
                .note(format!("PTX line {} in {function}: `{}`", place.line, place.text));
        }
        diagnostic.note(log.lines().filter(|line| !line.contains(" info ")).collect::<Vec<_>>().join("\n")).help(
            "this is a bug of rust-ptx unless the program has inline assembly: please report it with `--dump-dir`",
        )
    }
}

/// The warnings for kernels that spill.
pub fn spills<'a>(
    table: &'a Table,
    resources: &'a BTreeMap<String, Resources>,
    arch: Arch,
) -> impl Iterator<Item = Diagnostic> + 'a {
    let spilling = |name: &String| resources.get(name).filter(|r| r.spill_stores + r.spill_loads > 0);
    table.kernels.iter().filter_map(move |kernel| {
        let used = spilling(&kernel.name)?;
        let message = format!(
            "kernel `{}` spills registers on {arch}: {} bytes of stores, {} bytes of loads a thread",
            kernel.name, used.spill_stores, used.spill_loads
        );
        let warning = Diagnostic::warning(Code::Spill, message)
            .at(Some(kernel.span.clone()), format!("uses {} registers", used.registers))
            .note("spilled values live in local memory, which is much slower than registers")
            .help("loosen `launch_bounds` or `max_registers`, or keep fewer values alive at once");
        Some(warning)
    })
}

/// `file.ptx, line 12; error`
fn ptx_line(message: &str) -> Option<usize> {
    message.split(", line ").nth(1)?.split(';').next()?.trim().parse().ok()
}

/// Where in the PTX something is, and what it came from.
struct Place {
    line: usize,
    text: String,
    function: Option<String>,
    rust: Option<Span>,
}

impl Place {
    fn of(ptx: &str, line: usize) -> Self {
        let mut place = Self { line, text: String::new(), function: None, rust: None };
        let mut files: BTreeMap<&str, PathBuf> = BTreeMap::new();
        for text in ptx.lines() {
            if let Some((number, path)) = text.trim().strip_prefix(".file").and_then(|rest| rest.trim().split_once(' '))
            {
                files.insert(number, path.trim().trim_matches('"').into());
            }
        }
        for (index, text) in ptx.lines().enumerate().take(line) {
            let words: Vec<&str> = text.split_whitespace().collect();
            if let Some(at) = words.iter().position(|word| *word == ".entry" || *word == ".func") {
                place.function = words[at..]
                    .iter()
                    .find(|w| !w.starts_with('.'))
                    .map(|w| w.trim_end_matches("()").trim_end_matches('(').to_string());
                place.rust = None;
            } else if let [".loc", file, row, column, ..] = words[..] {
                place.rust = files.get(file).map(|file| Span {
                    file: file.clone(),
                    line: row.parse().unwrap_or(0),
                    column: column.trim_end_matches(',').parse().unwrap_or(0),
                });
            }
            if index + 1 == line {
                place.text = text.trim().to_string();
            }
        }
        place
    }
}

fn output_failed(path: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::error(Code::OutputFailed, format!("cannot write {}: {error}", path.display()))
        .help("free space or name another folder with TMPDIR")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ptx_line_leads_to_function_and_rust_line() {
        let ptx = ".visible .func (.param .b32 r) helper(\n)\n{\n}\n.visible .entry k(\n)\n{\n\t.loc\t1 7 3\n\tbad.u32 %r1;\n}\n\t.file\t1 \"/src/lib.rs\"\n";
        let place = Place::of(ptx, 9);
        assert_eq!(place.function.as_deref(), Some("k"));
        assert_eq!(place.text, "bad.u32 %r1;");
        assert_eq!(place.rust.unwrap().to_string(), "/src/lib.rs:7:3");
        assert_eq!(ptx_line("ptxas x.ptx, line 9; error   : Not a name of any known instruction: 'bad'"), Some(9));
    }
}
