//! `cargo test` on the CPU, and `cargo ptx test`: what is compiled and listed, and what it says where there is no GPU.

use libtest_mimic::Trial;
use ptx_tests::folders::root;
use ptx_tests::test;

use crate::demo::{Demo, Run, demo};

/// The crate with tests of every kind.
const TESTED: &str = "tests/kernels/tested/Cargo.toml";

/// The tests of a library that is `no_std` but for them, does not use `ptx`, and has a dependency for them alone.
const LIBRARY: &str = "#![cfg_attr(not(test), no_std)]
pub fn half(x: u32) -> u32 {
    x / 2
}

#[cfg(test)]
mod tests {
    #[test]
    fn halves() {
        assert_eq!(format!(\"{}\", super::half(libm::fabs(-8.0) as u32)), \"4\");
    }
}
";

fn on_tested(demo: &Demo, args: &[&str]) -> Run {
    let manifest = root().join(TESTED);
    let out = demo.path().join("tested");
    let mut all = vec!["test", "--arch", "sm_90", "--manifest-path", manifest.to_str().expect("cargo took it")];
    all.extend(["--out", out.to_str().expect("a temporary folder's name is UTF-8")]);
    all.extend(args);
    demo.ptx(&all)
}

pub fn trials() -> Vec<Trial> {
    vec![
        test("test compiles and lists", || {
            let demo = demo();
            let built = on_tested(&demo, &["--no-run"]).expect_success();
            assert!(built.stdout.contains("13 tests, none of them run (--no-run)"), "{}", built.stdout);
            let listed = on_tested(&demo, &["--", "--list"]).expect_success().stdout;
            assert!(listed.contains("tests::passes: test\n"), "{listed}");
            assert!(listed.contains("[should panic] tests::does_not_panic: test\n"), "{listed}");
            let listed = on_tested(&demo, &["panics_with", "--", "--list"]).expect_success().stdout;
            assert_eq!(listed.lines().count(), 2, "{listed}");
            let refused = on_tested(&demo, &["--", "--no-such"]);
            assert!(!refused.success && refused.stderr.contains("--no-such"), "{}", refused.stderr);
            // Where there is a GPU, this one passes.
            let ran = on_tested(&demo, &["passes", "--", "--exact"]);
            assert!(ran.success || ran.stderr.contains("13 tests of `ptx_tested` were compiled, and none was run"));
        }),
        test("cargo test runs a kernel on the CPU", || {
            let demo = demo();
            let ran = demo.cargo(&["test", "--lib"]).expect_success();
            assert!(ran.stdout.contains("test tests::saxpy_adds ... ok"), "{}", ran.stdout);
            demo.edit("lib.rs", |text| text.replace("x[i.get()]", "x[i.get() + 1]"));
            let ran = demo.cargo(&["test", "--lib"]);
            assert!(!ran.success && ran.stdout.contains("the len is 3 but the index is 3"), "{}", ran.stdout);
            let thread = "kernel `saxpy` panicked on the CPU, block [0,0,0], thread [2,0,0]";
            assert!(ran.stdout.contains(thread), "{}", ran.stdout);
        }),
        test("test takes a crate that knows nothing of ptx", || {
            let demo = demo();
            let folder = demo.path().join("half");
            std::fs::create_dir_all(folder.join("src")).expect("a fresh folder");
            let manifest =
                "[package]\nname = \"half\"\nedition = \"2021\"\n[dev-dependencies]\nlibm = \"0.2\"\n[workspace]\n";
            let path = folder.join("Cargo.toml");
            std::fs::write(&path, manifest).expect("a fresh folder");
            std::fs::write(folder.join("src/lib.rs"), LIBRARY).expect("a fresh folder");
            let path = path.to_str().expect("a temporary folder's name is UTF-8");
            let built = demo.ptx(&["test", "--no-run", "--release", "--manifest-path", path]).expect_success();
            assert!(built.stdout.contains("1 test, none of them run (--no-run)"), "{}", built.stdout);
        }),
    ]
}
