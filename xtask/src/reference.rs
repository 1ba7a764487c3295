//! MPFR, the reference of the tests of floating point: whether it can be built here.

use std::process::{Command, Stdio};

/// The programs that the build of GMP and MPFR needs.
const PROGRAMS: [&str; 3] = ["cc", "make", "m4"];

/// An error says why MPFR cannot be built. Installs m4 where that needs no password: it is what clean machines lack.
pub fn available() -> Result<(), String> {
    if !runs("m4") && is_root() && runs("apt-get") {
        println!("installing m4, which the build of GMP needs");
        // Where there is no network this fails, and what is missing is said below.
        let _ = Command::new("apt-get").args(["install", "--yes", "--quiet", "m4"]).status();
    }
    match PROGRAMS.into_iter().find(|program| !runs(program)) {
        None => Ok(()),
        Some(program) => Err(format!(
            "no MPFR to compare floating point with: its build needs {program}, which was not found; install it, as with \
             `apt-get install {program}`"
        )),
    }
}

/// `--features` for the packages named, as in `ptx-device-tests/mpfr`, or a note that they go without.
pub fn add_features(command: &mut Command, packages: &[&str]) -> Option<String> {
    match available() {
        Ok(()) => {
            for package in packages {
                command.args(["--features", &format!("{package}/mpfr")]);
            }
            None
        }
        Err(reason) => Some(reason),
    }
}

fn runs(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok()
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}
