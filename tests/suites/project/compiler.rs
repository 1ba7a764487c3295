//! Which compiler a build script finds.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use libtest_mimic::Trial;
use ptx_tests::test;

use crate::demo::{COMPILER, Demo, program};

pub fn trials() -> Vec<Trial> {
    vec![
        test("a build script compiles with the program that a variable names, if that fits", || {
            let package = Demo::new("named");
            let own = program().to_path_buf();
            let log = package.path().join("calls.txt");
            let program = |name: &str, change: &str| {
                let path = package.path().join(name);
                let script =
                    format!("#!/bin/sh\necho \"$@\" >>'{}'\n'{}' \"$@\" | {change}\n", log.display(), own.display());
                fs::write(&path, script).expect("our own folder");
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("our own file");
                path.into_os_string().into_string().expect("a temporary folder's name is UTF-8")
            };
            let fits = program("fits", "cat");
            package.cargo_with(&[(COMPILER, &*fits)], &["build"]).expect_success();
            let calls = fs::read_to_string(&log).expect("it was called");
            assert_eq!(calls.lines().collect::<Vec<_>>(), ["build-script --identity", "build-script"]);

            let old = program("old", "sed 's/^rustc: .*/rustc: 1.0.0/'");
            let run = package.cargo_with(&[(COMPILER, &*old)], &["build"]);
            assert!(!run.success && run.stderr.contains("it is for rustc 1.0.0"), "{}", run.stderr);
            let run = package.cargo_with(&[(COMPILER, "/nonexistent/program")], &["build"]);
            assert!(!run.success && run.stderr.contains("cannot run `/nonexistent/program"), "{}", run.stderr);
        }),
        test("in a clone a build script finds what cargo built there", || {
            let package = Demo::new("finder");
            let cache = package.path().join("cache");
            fs::create_dir(&cache).expect("our own folder");
            let own = ptx_project::cache::root().unwrap_or_else(|failure| panic!("{failure}"));
            for part in ["sysroot", "tools"] {
                symlink(own.join(part), cache.join(part)).expect("our own folder");
            }
            // Where the compiler would be built, there can be none.
            fs::write(cache.join("compiler"), "").expect("our own folder");
            let cache = cache.to_str().expect("a temporary folder's name is UTF-8");
            package.cargo_with(&[(COMPILER, ""), ("RUST_PTX_CACHE", cache)], &["build"]).expect_success();
        }),
        // Whatever serde, clap or LLVM's bindings it took would be compiled for every new package.
        test("what a build script depends on is small", || {
            let package = Demo::new("light");
            let tree = ["tree", "--edges=build", "--prefix=none", "--package=ptx-build"];
            let tree = package.cargo(&tree).expect_success().stdout;
            assert!(tree.contains("ptx-build ") && tree.lines().count() <= 6, "{tree}");
            let tree = package.cargo(&["tree", "--prefix=none"]).expect_success().stdout;
            for name in ["ptx-codegen", "ptx-project", "inkwell", "llvm-sys", "clap", "indicatif"] {
                assert!(!tree.lines().any(|line| line.split(' ').next() == Some(name)), "{name} is in:\n{tree}");
            }
        }),
    ]
}
