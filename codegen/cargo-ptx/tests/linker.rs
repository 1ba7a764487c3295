//! `cargo-ptx` is rustc's linker when it is started as that, and otherwise itself.

use std::io::pipe;
use std::process::{Command, Output};

use ptx_project::linker::LINKER_VARIABLE;

const PROGRAM: &str = env!("CARGO_BIN_EXE_cargo-ptx");
const TARGET: [&str; 2] = ["--target", "nvptx64-nvidia-cuda"];

/// The program, as the linker.
fn linker() -> Command {
    let mut command = Command::new(PROGRAM);
    command.env(LINKER_VARIABLE, PROGRAM);
    command
}

fn text(Output { status, stdout, stderr }: Output) -> (Option<i32>, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn it_prints_for_rustc_and_ends_well() {
    let (code, stdout, stderr) = text(linker().arg("--version").output().unwrap());
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(stdout.contains(env!("CARGO_PKG_VERSION")) && !stdout.contains("test"), "{stdout}");
}

#[test]
fn a_mistake_has_its_message_on_standard_error() {
    let (code, stdout, stderr) = text(linker().arg("--no-such-option").output().unwrap());
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    assert!(stderr.contains("PTX0001") && stderr.contains("--no-such-option"), "{stderr}");
}

#[test]
fn damaged_bitcode_does_not_pass() {
    let folder = tempfile::tempdir().unwrap();
    let object = folder.path().join("a.bc");
    std::fs::write(&object, b"BC\xC0\xDE and no more").unwrap();
    let output = linker().args(TARGET).arg("--ptxas=off").arg(&object).arg("-o").arg(folder.path().join("k")).output();
    let (code, _, stderr) = text(output.unwrap());
    assert!(code == Some(1) && stderr.contains("a.bc"), "{code:?} {stderr}");
}

#[test]
fn a_closed_standard_error_is_no_signal() {
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let status = linker().arg("--no-such-option").stderr(writer).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

#[test]
fn it_becomes_rustc_for_cargo() {
    let mut command = linker();
    command.env("RUST_PTX_MANIFEST_DIR", "/").args(["rustc", "--no-such-option"]);
    let (code, _, stderr) = text(command.output().unwrap());
    assert!(code == Some(1) && stderr.contains("no-such-option") && !stderr.contains("PTX"), "{code:?} {stderr}");
}

#[test]
fn programs_that_inherit_the_variable_stay_themselves() {
    let itself = |variable: Option<&str>| {
        let mut command = linker();
        match variable {
            Some(value) => command.env(LINKER_VARIABLE, value),
            None => command.env_remove(LINKER_VARIABLE),
        };
        let (code, stdout, stderr) = text(command.args(["explain", "PTX0006"]).output().unwrap());
        assert_eq!(code, Some(0), "{stderr}");
        assert!(stdout.contains("PTX0006"), "{stdout}");
    };
    itself(None);
    itself(Some("1"));
    itself(Some("/another/build-script-build"));
}
