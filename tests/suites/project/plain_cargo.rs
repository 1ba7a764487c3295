//! What is done without us: kernels by cargo alone after `cargo ptx init --linker`, and packages for a registry.

use std::fs;

use libtest_mimic::Trial;
use ptx_tests::folders::root;
use ptx_tests::test;

use crate::command::LIBRARY;
use crate::demo::Demo;

/// What is published of this repository.
const PUBLISHED: [&str; 12] = [
    "ptx-abi",
    "ptx-build",
    "ptx-codegen",
    "ptx-device",
    "ptx-host",
    "ptx-macros",
    "ptx",
    "ptx-project",
    "ptx-rand",
    "ptx-setup",
    "ptx-test-runner",
    "cargo-ptx",
];

pub fn trials() -> Vec<Trial> {
    vec![
        test("one command has cargo alone compile kernels, and `cargo ptx` goes on working", || {
            let package = Demo::plain("alone", LIBRARY);
            package.ptx(&["init", "--linker", "--arch", "sm_80"]).expect_success();
            let file = package.path().join(".cargo/config.toml");
            let written = fs::read_to_string(&file).expect("it was written");
            let build = ["rustc", "--lib", "--crate-type", "cdylib", "--target", "nvptx64-nvidia-cuda"];
            let run = package.cargo(&build).expect_success();
            assert!(!run.stderr.contains("warning"), "{}", run.stderr);
            let ptx = package.target_dir().join("nvptx64-nvidia-cuda/debug/alone.ptx");
            let ptx = fs::read_to_string(&ptx).unwrap_or_else(|error| panic!("{}: {error}", ptx.display()));
            assert!(ptx.contains(".target sm_80") && ptx.contains("only_there("), "{ptx}");
            // `--sysroot` was there twice.
            package.ptx(&["build"]).expect_success();
            // A second time changes nothing, and a table of the user's own stays.
            package.ptx(&["init", "--linker", "--arch", "sm_80"]).expect_success();
            assert_eq!(fs::read_to_string(&file).expect("it is there"), written);
            assert!(written.starts_with("[build]") && written.contains("[target.nvptx64-nvidia-cuda]"), "{written}");
            let own = "[target.nvptx64-nvidia-cuda]\nlinker = \"mine\"\n";
            fs::write(&file, own).expect("our own file");
            let run = package.ptx(&["init", "--linker"]);
            assert!(
                !run.success && run.stderr.contains("already") && run.stderr.contains("rustflags"),
                "{}",
                run.stderr
            );
            assert_eq!(fs::read_to_string(&file).expect("it is there"), own);
        }),
        test("every published crate makes a package", || {
            let package = Demo::new("published");
            let manifest = root().join("Cargo.toml");
            let manifest = manifest.to_str().expect("the repository's path is UTF-8");
            let mut args = vec!["package", "--no-verify", "--allow-dirty", "--quiet", "--offline"];
            args.extend(["--manifest-path", manifest]);
            args.extend(PUBLISHED.iter().flat_map(|name| ["--package", name]));
            package.cargo(&args).expect_success();
            for name in PUBLISHED {
                let file = package.target_dir().join(format!("package/{name}-{}.crate", env!("CARGO_PKG_VERSION")));
                assert!(file.is_file(), "{} is not there", file.display());
            }
        }),
        test("a new project makes a package", || {
            let package = Demo::new("packed");
            // As long as the registry does not have them.
            let here =
                |name: &str, folder: &str| format!("{name}.path = {:?}\n", root().join(folder).display().to_string());
            let patch =
                format!("[patch.crates-io]\n{}{}", here("ptx", "runtime/ptx"), here("ptx-build", "runtime/build"));
            let file = package.path().join(".cargo/config.toml");
            let text = fs::read_to_string(&file).expect("the project has a configuration");
            fs::write(&file, text + &patch).expect("our own folder");
            // That the package compiles as well was tried by hand: it takes as long as a project's first build.
            package.cargo(&["package", "--no-verify", "--allow-dirty", "--quiet", "--offline"]).expect_success();
            assert!(package.target_dir().join("package/packed-0.1.0.crate").is_file());
        }),
    ]
}
