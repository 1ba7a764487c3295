//! Runs a case (`ptx_test_cases::debugger`) under cuda-gdb or compute-sanitizer and says what of it is not so.

pub mod launch;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use ptx_test_cases::debugger::{Case, PRINTERS, failures};

/// Seconds after which a tool is stopped.
const LIMIT: &str = "120";

/// Before what each command of a case says.
const MARK: &str = "@@ command ";

/// The option of the program that makes it launch a case.
pub const LAUNCH: &str = "--launch";

/// A case beside its cubin.
#[derive(Debug)]
pub struct Prepared {
    /// The case's name.
    pub name: String,
    /// What its directives ask for: launch, breakpoints, commands, checks.
    pub case: Case,
    source: PathBuf,
    cubin: PathBuf,
}

/// How a run went.
#[derive(Debug, Default)]
pub struct Run {
    /// How many checks there were.
    pub checks: usize,
    /// What is not so.
    pub failures: Vec<String>,
    /// All that the tool said.
    pub said: String,
}

/// The cases in a folder, in order.
pub fn cases(folder: &Path) -> Result<Vec<Prepared>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut sources: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    sources.retain(|path| path.extension() == Some("rs".as_ref()));
    sources.sort();
    sources.into_iter().map(|source| Prepared::read(&source)).collect()
}

/// Whether a tool is on this machine.
pub fn is_there(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success())
}

impl Prepared {
    /// Reads a case.
    pub fn read(source: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(source).map_err(|error| format!("{}: {error}", source.display()))?;
        let case = Case::parse(&text).map_err(|fault| format!("{}: {fault}", source.display()))?;
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, case, cubin: source.with_extension("cubin"), source: source.to_owned() })
    }

    /// Runs the case in cuda-gdb, if it has commands for it.
    pub fn debug(&self, program: &Path) -> Result<Run, String> {
        let mut arguments: Vec<String> = vec!["-batch".into(), "-nx".into()];
        let settings = ["pagination off", "confirm off", "width 0", "breakpoint pending on", "style enabled off"];
        let breakpoints = self.case.breakpoints.iter().map(|line| format!("break {}.rs:{line}", self.name));
        let printers = format!("source {}", self.source.with_file_name(PRINTERS).display());
        let printers = self.case.printers.then_some(printers);
        let before = settings.iter().map(|setting| format!("set {setting}")).chain(printers).chain(breakpoints);
        let marked = self.case.commands.iter().enumerate().flat_map(|(n, command)| {
            // The mark begins a line, whatever was said last.
            [format!("echo \\n{MARK}{n}\\n"), command.text.clone()]
        });
        for command in before.chain(marked) {
            arguments.extend(["-ex".into(), command]);
        }
        arguments.push("--args".into());
        let said = self.run("cuda-gdb", arguments, program)?;
        let mut run = Run::default();
        for (n, command) in self.case.commands.iter().enumerate() {
            run.checks += command.checks.len();
            let wrong = failures(&command.checks, section(&said, n)).into_iter();
            run.failures.extend(wrong.map(|what| format!("`{}`: {what}", command.text)));
        }
        run.said = said;
        Ok(run)
    }

    /// Runs the case in compute-sanitizer, if it has checks for it.
    pub fn sanitize(&self, program: &Path) -> Result<Run, String> {
        let Some(sanitizer) = &self.case.sanitizer else { return Ok(Run::default()) };
        let said = self.run("compute-sanitizer", sanitizer.options.clone(), program)?;
        Ok(Run { checks: sanitizer.checks.len(), failures: failures(&sanitizer.checks, &said), said })
    }

    /// What the tool says while the program launches the case.
    fn run(&self, tool: &str, arguments: Vec<String>, program: &Path) -> Result<String, String> {
        let fault = |error: std::io::Error| format!("{tool}: {error}");
        // Both outputs in one pipe, in the order in which they are written.
        let (mut reader, writer) = std::io::pipe().map_err(fault)?;
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", LIMIT, tool]).args(arguments).arg(program).arg(LAUNCH);
        command.args([&self.source, &self.cubin]).stdin(std::process::Stdio::null());
        command.stdout(writer.try_clone().map_err(fault)?).stderr(writer);
        let mut child = command.spawn().map_err(fault)?;
        // The writers in it must be closed, or reading would not end.
        drop(command);
        let mut said = Vec::new();
        reader.read_to_end(&mut said).map_err(fault)?;
        child.wait().map_err(fault)?;
        Ok(String::from_utf8_lossy(&said).into_owned())
    }
}

/// What one command said.
fn section(said: &str, n: usize) -> &str {
    let Some((_, after)) = said.split_once(&format!("\n{MARK}{n}\n")) else { return "" };
    after.split_once(&format!("\n{MARK}")).map_or(after, |(section, _)| section)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_said_is_found() {
        let said = "begin\n\n@@ command 0\na\nb\n\n@@ command 1\nc\n";
        assert_eq!(section(said, 0), "a\nb\n");
        assert_eq!(section(said, 1), "c\n");
        assert_eq!(section(said, 2), "");
    }
}
