//! A build script that does something of its own before it compiles kernels.

use std::fs;

use libtest_mimic::Trial;
use ptx_tests::test;

use crate::demo::Demo;

/// It prints for cargo, and notes in a file that it ran.
const SCRIPT: &str = r#"
use std::fs::File;
use std::io::Write;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cfg=by_the_script");
    println!("cargo::rustc-check-cfg=cfg(by_the_script)");
    let mut runs = File::options().create(true).append(true).open("runs.txt").unwrap();
    writeln!(runs, "{:?}", std::env::args().collect::<Vec<_>>()).unwrap();
    ptx_build::build();
}
"#;

pub fn trials() -> Vec<Trial> {
    // It is also rustc's linker and cargo's wrapper, and there it used to do all of that again: cargo could not read what
    // the wrapper printed, "output of --print=file-names missing".
    vec![test("what a build script does before it compiles kernels is done once", || {
        let package = Demo::new("scripted");
        fs::write(package.path().join("build.rs"), SCRIPT).expect("our own file");
        package.edit("main.rs", |text| text + "\n#[cfg(not(by_the_script))]\ncompile_error!(\"no cfg\");\n");
        package.cargo(&["build"]).expect_success();
        let runs = fs::read_to_string(package.path().join("runs.txt")).expect("the script wrote it");
        assert_eq!(runs.lines().count(), 1, "it ran as:\n{runs}");
    })]
}
