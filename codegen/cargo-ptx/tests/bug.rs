//! What becomes of our own panics: a message with a code, an exit code of its own, and no noise where there is no bug.

use std::process::{Command, Output};

use ptx_project::bug;

/// Set where a test plays the program that panics.
const VARIABLE: &str = "RUST_PTX_TEST_PANIC";

/// Not a test of its own: the next one runs it.
#[test]
fn panics_if_asked() {
    if let Some(text) = std::env::var_os(VARIABLE) {
        let print = |diagnostic: &ptx_codegen::Diagnostic| eprintln!("{diagnostic}");
        let code = bug::catch(print, || match text.to_str() {
            Some(text @ "index") => [7, 8][text.len()],
            Some(text) => panic!("no such value: {text}"),
            None => 0,
        });
        std::process::exit(code.into());
    }
}

fn panicking(kind: &str, backtrace: &str) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "panics_if_asked", "--nocapture"]);
    command.env(VARIABLE, kind).env("RUST_BACKTRACE", backtrace).output().unwrap()
}

#[test]
fn a_panic_is_a_message_that_says_what_to_report() {
    for (kind, reason) in [("index", "index out of bounds: the len is 2"), ("oops", "no such value: oops")] {
        let output = panicking(kind, "0");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(101), "{text}");
        for part in [
            "error[PTX0043]: the compiler panicked",
            reason,
            "rust-ptx 0",
            "tests/bug.rs:",
            "please report it",
            "RUST_BACKTRACE=1",
        ] {
            assert!(text.contains(part), "`{part}` is not in:\n{text}");
        }
        assert!(!text.contains("panicked at"), "std's message is there, too:\n{text}");
    }
    let output = panicking("oops", "1");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("panics_if_asked") && !text.contains("RUST_BACKTRACE=1"), "{text}");
}

#[test]
fn a_closed_output_is_no_bug() {
    for args in [["ptx", "explain"], ["ptx", "doctor"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = Command::new(env!("CARGO_BIN_EXE_cargo-ptx")).args(args).stdout(writer).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!text.contains("panicked") && output.status.code() == Some(1), "{:?}: {text}", output.status);
    }
}
