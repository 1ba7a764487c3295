//! The programs start outside cargo, which alone sets the library path: they know themselves where LLVM is.

use std::process::Command;

#[test]
fn both_find_llvm() {
    for program in [env!("CARGO_BIN_EXE_cargo-ptx"), env!("CARGO_BIN_EXE_ptx-linker")] {
        let output = Command::new(program).arg("--version").env_remove("LD_LIBRARY_PATH").output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !output.stdout.is_empty(), "{program}: {text}");
    }
}
