//! cargo's own flags and verbs with `cargo ptx`, and where a wrong option is said to stand.

use std::fs;

use libtest_mimic::Trial;
use ptx_tests::test;

use crate::demo::{Demo, demo};

/// A library that asks for no other. Only the GPU has one of its functions, and Clippy has something to say of that.
pub const LIBRARY: &str = "#![no_std]

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

#[derive(Clone)]
pub struct Pair(pub u32, pub u32);

/// Text of its own.
#[cfg(target_arch = \"nvptx64\")]
#[unsafe(no_mangle)]
pub extern \"C\" fn only_there(x: u32) -> u32 {
    return x / 2;
}
";

pub fn trials() -> Vec<Trial> {
    vec![
        test("cargo's flags reach the device build's cargo", || {
            let package = Demo::plain("flagged", LIBRARY);
            let run = package.ptx(&["build", "--locked"]);
            for part in ["error[PTX0020]", "/flagged/Cargo.lock` would have to change", "`--locked` forbids it"] {
                assert!(!run.success && run.stderr.contains(part), "`{part}` is not in:\n{}", run.stderr);
            }
            package.cargo(&["generate-lockfile", "--offline"]).expect_success();
            let lock = || fs::read_to_string(package.path().join("Cargo.lock")).expect("it was made");
            let before = lock();
            let config = "profile.dev.package.flagged.opt-level=1";
            let flags = ["build", "--config", config, "--frozen", "-j1", "-v", "--keep-going", "--color=never"];
            let run = package.ptx(&flags).expect_success();
            assert!(run.stderr.contains("-C opt-level=1") && run.stderr.contains("Finished `dev`"), "{}", run.stderr);
            assert_eq!(before, lock());
            // What was there already is not said to be compiled; it used to be.
            let again = package.ptx(&["build", "--config", config, "--offline"]).expect_success();
            assert!(!again.stderr.contains("Compiling"), "{}", again.stderr);
            let run = package.ptx(&["build", "--offline", "--config", "no.such..key=1"]);
            assert!(!run.success && run.stderr.contains("no.such..key"), "{}", run.stderr);
        }),
        test("run takes cargo's options and ours in any order", || {
            let run =
                demo().ptx(&["run", "--offline", "-q", "--arch", "compute_86", "--keep-going", "an argument", "-r"]);
            let run = run.expect_success();
            assert!(run.stdout.contains("compiled for sm_86") && !run.stderr.contains("Compiling"), "{}", run.stdout);
            let run = demo().ptx(&["run", "--relase"]);
            assert!(!run.success && run.stderr.contains("'--release'"), "{}", run.stderr);
        }),
        test("a workspace's packages are compiled together, or some of them", || {
            let package = Demo::new("together");
            let member = package.path().join("member");
            fs::create_dir_all(member.join("src")).expect("our own folder");
            let manifest = package.path().join("Cargo.toml");
            let text = fs::read_to_string(&manifest).expect("the project has a manifest");
            let of_library = text.split("\n[dev-dependencies]").next().expect("its beginning");
            let of_member = of_library.replace("together", "member") + "\n[package.metadata.ptx]\narch = [\"sm_75\"]\n";
            fs::write(member.join("Cargo.toml"), of_member).expect("our own folder");
            fs::copy(package.path().join("src/lib.rs"), member.join("src/lib.rs")).expect("our own folder");
            fs::write(&manifest, text + "\n[workspace]\nmembers = [\"member\"]\n").expect("our own file");
            let run = package.ptx(&["build", "--workspace", "--out", "all"]).expect_success();
            for file in ["all/together/together.sm_75.ptx", "all/member/member.sm_75.ptx"] {
                assert!(run.stdout.contains(file) && package.path().join(file).is_file(), "{}", run.stdout);
            }
            let run = package.ptx(&["check", "--workspace", "--exclude", "together"]).expect_success();
            assert!(run.stderr.contains("Checking member") && !run.stderr.contains("together"), "{}", run.stderr);
            for file in ["src/lib.rs", "member/src/lib.rs"] {
                let text = fs::read_to_string(package.path().join(file)).expect("it has one");
                fs::write(package.path().join(file), text.replace("a * x[i.get()]", "1_u8")).expect("our own file");
            }
            let run = package.ptx(&["check", "--workspace", "--message-format", "short"]);
            for place in ["\nsrc/lib.rs:", "member/src/lib.rs:"] {
                assert!(!run.success && run.stderr.contains(place), "an editor wants both:\n{}", run.stderr);
            }
            let run = package.ptx(&["inspect", "ptx", "-p", "member", "-p", "together"]);
            assert!(!run.success && run.stderr.contains("this takes one package"), "{}", run.stderr);
            let run = package.ptx(&["build", "-p", "membre"]);
            assert!(!run.success && run.stderr.contains("did you mean `member`?"), "{}", run.stderr);
        }),
        test("clippy, doc and expand look at the code for the GPU", || {
            let package = Demo::plain("looked_at", LIBRARY);
            let ptx = |args: &[&str]| package.ptx(args);
            let run = ptx(&["clippy", "--message-format", "short"]).expect_success();
            assert!(run.stderr.contains("src/lib.rs:") && run.stderr.contains("unneeded `return`"), "{}", run.stderr);
            let run = ptx(&["clippy", "--", "-D", "warnings"]);
            assert!(!run.success && run.stderr.contains("error: unneeded `return`"), "{}", run.stderr);
            let page = ptx(&["doc", "--no-deps"]).expect_success().stdout;
            let text = fs::read_to_string(package.path().join(page.trim())).expect("the page that it names");
            assert!(text.contains("only_there") && text.contains("Text of its own"), "{page}");
            let code = ptx(&["expand"]).expect_success().stdout;
            assert!(code.contains("fn only_there") && code.contains("impl ::core::clone::Clone for Pair"), "{code}");
        }),
        test("clean removes what was compiled for the GPU, and nothing else", || {
            let demo = demo();
            let folder = demo.path().join("cleaned");
            fs::create_dir_all(folder.join("ptx/debug")).expect("our own folder");
            fs::write(folder.join("ptx/debug/library"), "device").expect("our own folder");
            fs::write(folder.join("program"), "host").expect("our own folder");
            let clean = ["clean", "--target-dir", "cleaned"];
            let run = demo.ptx(&[&clean[..], &["--dry-run"]].concat()).expect_success();
            assert!(run.stdout.contains("Would remove 1 files") && folder.join("ptx/debug/library").exists());
            let run = demo.ptx(&clean).expect_success();
            assert!(run.stdout.contains("Removed 1 files, 0.0 MB, in cleaned/ptx"), "{}", run.stdout);
            assert!(!folder.join("ptx").exists() && folder.join("program").exists());
        }),
        test("a wrong arch is said to stand in the manifest, in a variable, in the build script", || {
            let package = Demo::new("mistaken");
            let says = |run: crate::demo::Run, parts: &[&str]| {
                for part in parts {
                    assert!(!run.success && run.stderr.contains(part), "`{part}` is not in:\n{}", run.stderr);
                }
            };
            let asked = [("RUST_PTX_ARCH", "sm_80, sm_81")];
            says(package.ptx_with(&asked, &["build"]), &["`sm_81`", "variable RUST_PTX_ARCH", "did you mean `sm_80`?"]);
            says(package.cargo_with(&asked, &["build"]), &["`sm_81`", "variable RUST_PTX_ARCH"]);
            says(package.ptx(&["run", "--arch", "sm_81"]), &["`sm_81`", "`--arch` names it"]);
            let script = "fn main() {\n    ptx_build::Builder::new().arch(\"sm_81\").build();\n}\n";
            fs::write(package.path().join("build.rs"), script).expect("our own file");
            says(package.cargo(&["build"]), &["`sm_81`", "`Builder::arch` in the build script"]);
            let manifest = package.path().join("Cargo.toml");
            let text = fs::read_to_string(&manifest).expect("the project has a manifest");
            fs::write(&manifest, text.replace("sm_75", "sm_81")).expect("our own file");
            says(package.ptx(&["build"]), &["/Cargo.toml:", "arch = [\"sm_81\"]", "named here"]);
        }),
        test("a table that nobody reads is told of", || {
            let demo = demo();
            demo.with_manifest(
                |text| text + "\n[package.metadata.cuda]\narch = [\"sm_80\"]\n",
                || {
                    let run = demo.ptx(&["build"]).expect_success();
                    for part in
                        ["warning[PTX0001]: nothing reads `[package.metadata.cuda]`", "`[package.metadata.ptx]`"]
                    {
                        assert!(run.stderr.contains(part), "`{part}` is not in:\n{}", run.stderr);
                    }
                },
            );
        }),
        test("a manifest that we wrote is not named", || {
            let demo = demo();
            demo.with_manifest(
                |text| text.replace("[dependencies]", "[dependencies]\nlibm = \"=99.0.0\""),
                || {
                    let run = demo.ptx(&["build"]);
                    let own = demo.path().display().to_string();
                    assert!(!run.success && run.stderr.contains("libm") && run.stderr.contains(&own), "{}", run.stderr);
                    assert!(!run.stderr.contains("/manifests/"), "{}", run.stderr);
                },
            );
        }),
        test("setup says what it would download, and can be told not to", || {
            let demo = demo();
            let nowhere = demo.path().join("no-cache");
            let nowhere = nowhere.to_str().expect("a temporary folder's name is UTF-8");
            let alone = [("RUST_PTX_CACHE", nowhere), ("PIP_INDEX_URL", "https://me:secret@example.org/simple")];
            let run = demo.ptx_with(&alone, &["setup", "--dry-run"]).expect_success();
            let has_tools = run.stdout.contains("NVIDIA's tools are there");
            let parts = ["Would download", "110 MB", "nvidia-cuda-nvcc", "https://example.org/simple", "cuda/eula"];
            assert!(has_tools || parts.iter().all(|part| run.stdout.contains(part)), "{}", run.stdout);
            assert!(!run.stdout.contains("secret") && run.stdout.contains("Would build the device sysroot"));
            let run = demo.ptx_with(&alone, &["setup", "--dry-run", "--no-tools"]).expect_success();
            assert!(has_tools || run.stdout.contains("Would download nothing"), "{}", run.stdout);
        }),
    ]
}
