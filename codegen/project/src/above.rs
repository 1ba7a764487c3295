//! Errors above rustc's: rustc shows what its linker says last, below a command line with every exported symbol.
//!
//! Where a person reads rustc's messages, on a terminal or in a log, the errors go to rustc's own standard error before rustc
//! has any, and rustc is left with one line. Where a program reads them, as an editor does, they stay in rustc's message.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

/// What rustc shows then.
const REMARK: &str = "the errors of the linker stand above this one";

/// Shows errors, above rustc's if it can be.
pub fn show(errors: &str) {
    let shown = rustcs().is_some_and(|mut stderr| write!(stderr, "{errors}").is_ok());
    // A closed standard error is no reason to fail.
    let _ = if shown { writeln!(std::io::stderr(), "{REMARK}") } else { write!(std::io::stderr(), "{errors}") };
}

/// The standard error of the rustc that runs this linker, if a person reads it.
fn rustcs() -> Option<File> {
    let rustc = Process::of(std::os::unix::process::parent_id())?;
    let cargo = rustc.parent.and_then(Process::of);
    if !is_read_by_a_person(&rustc, cargo.as_ref()) {
        return None;
    }
    // Without a `/proc` there was no process either.
    File::options().append(true).open(format!("/proc/{}/fd/2", rustc.id)).ok()
}

/// A running process.
#[derive(Debug, Default)]
struct Process {
    id: u32,
    parent: Option<u32>,
    /// With the program.
    args: Vec<String>,
}

impl Process {
    fn of(id: u32) -> Option<Self> {
        let line = fs::read(format!("/proc/{id}/cmdline")).ok()?;
        let args = line.split(|byte| *byte == 0).map(|arg| String::from_utf8_lossy(arg).into_owned()).collect();
        // `1234 (name) S 1200 …`; a name may have brackets.
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        Some(Self { id, parent, args })
    }

    fn is(&self, name: &str) -> bool {
        self.args.first().is_some_and(|program| Path::new(program).file_stem().is_some_and(|stem| stem == name))
    }

    fn has(&self, option: &str) -> bool {
        self.args.iter().any(|arg| arg.starts_with(option))
    }
}

/// cargo takes rustc's messages as JSON, and shows what is none.
fn is_read_by_a_person(rustc: &Process, cargo: Option<&Process>) -> bool {
    let by_cargo = || cargo.is_some_and(|cargo| cargo.is("cargo") && !cargo.has("--message-format"));
    rustc.is("rustc") && (!(rustc.has("--error-format") || rustc.has("--json")) || by_cargo())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(line: &str) -> Process {
        Process { args: line.split(' ').map(str::to_string).collect(), ..Process::default() }
    }

    #[test]
    fn programs_keep_their_json() {
        let (plain, json) = (process("/t/bin/rustc a.rs"), process("/t/bin/rustc --error-format=json a.rs"));
        for (rustc, cargo, expected) in [
            (&plain, None, true),
            (&plain, Some("make"), true),
            (&json, Some("/t/bin/cargo build"), true),
            (&json, Some("cargo +nightly build --message-format=json"), false),
            (&json, Some("cargo build --message-format short"), false),
            (&json, Some("/opt/builder/wrapper"), false),
            (&json, None, false),
            (&process("sh -c linker"), Some("cargo build"), false),
        ] {
            let cargo = cargo.map(process);
            assert_eq!(is_read_by_a_person(rustc, cargo.as_ref()), expected, "{rustc:?} {cargo:?}");
        }
    }

    #[test]
    fn a_process_is_known_by_its_line_and_its_parent() {
        let own = Process::of(std::process::id()).unwrap();
        assert_eq!(own.parent, Some(std::os::unix::process::parent_id()));
        assert!(own.args.first().is_some_and(|program| program.contains("ptx_project")), "{own:?}");
        assert!(rustcs().is_none(), "no rustc runs the test");
    }
}
