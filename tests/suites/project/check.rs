//! What an editor does: `cargo check`, which compiles nothing for the GPU, and `cargo ptx check`, which shows rustc's messages.

use std::fs;
use std::path::PathBuf;

use libtest_mimic::Trial;
use ptx_tests::test;

use crate::demo::Demo;

pub fn trials() -> Vec<Trial> {
    vec![
        test("a check compiles nothing for the GPU, and a build after it everything", || {
            let package = Demo::new("checked");
            // So that cargo runs the script once for both, where nothing has changed; it would compile it with other options.
            let manifest = package.path().join("Cargo.toml");
            let text = fs::read_to_string(&manifest).expect("the project has a manifest");
            fs::write(&manifest, text + "\n[profile.dev.build-override]\ndebug = true\n").expect("our own file");
            images(&package).iter().for_each(|image| fs::remove_file(image).expect("our own file"));
            // rustc would refuse it; a check of the host sees nothing wrong.
            package.edit("lib.rs", |text| {
                text + "\n#[cfg(target_arch = \"nvptx64\")]\ncompile_error!(\"for the device\");\n"
            });
            for args in [&["clippy"][..], &["check", "--all-targets"], &["--color=never", "c"]] {
                package.cargo(args).expect_success();
            }
            assert!(!has_code(&package));
            let run = package.cargo(&["build"]);
            assert!(!run.success && run.stderr.contains("for the device"), "{}", run.stderr);
            package.edit("lib.rs", |text| text.replace("compile_error!(\"for the device\");", "const _: () = ();"));
            package.cargo(&["check"]).expect_success();
            package.cargo(&["run"]).expect_success();
            assert!(has_code(&package));
            // What a build made is good enough for a check, which then does nothing.
            let again = package.cargo(&["check", "-v"]).expect_success();
            assert!(!again.stderr.contains("build-script-build`"), "{}", again.stderr);
        }),
        test("the variable says whether it is a check", || {
            let package = Demo::new("decided");
            package.edit("lib.rs", |text| {
                text + "\n#[cfg(target_arch = \"nvptx64\")]\ncompile_error!(\"for the device\");\n"
            });
            package.cargo_with(&[("RUST_PTX_CHECK_ONLY", "1")], &["build"]).expect_success();
            let run = package.cargo_with(&[("RUST_PTX_CHECK_ONLY", "0")], &["check"]);
            assert!(!run.success && run.stderr.contains("for the device"), "{}", run.stderr);
        }),
        test("an editor gets rustc's messages of device code", || {
            let package = Demo::new("edited");
            package.ptx(&["check"]).expect_success();
            package.edit("lib.rs", |text| text.replace("*y += a * x[i.get()]", "*y += a * x[i.get()] + 1_u8"));
            let run = package.ptx(&["check", "--message-format", "json"]);
            assert!(!run.success);
            let messages = run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON, an object a line"));
            let messages: Vec<serde_json::Value> = messages.collect();
            let error = messages.iter().find(|message| message["message"]["level"] == "error");
            let error = error.unwrap_or_else(|| panic!("no error in:\n{}", run.stdout));
            assert_eq!(
                (&error["reason"], &error["message"]["code"]["code"]),
                (&"compiler-message".into(), &"E0277".into())
            );
            assert_eq!(error["message"]["spans"][0]["file_name"], "src/lib.rs");
            let run = package.ptx(&["check"]);
            assert!(
                !run.success && run.stderr.contains("src/lib.rs:") && run.stderr.contains("E0277"),
                "{}",
                run.stderr
            );
            // A build script's messages, too, as cargo was asked for them.
            let run = package.cargo(&["build", "--message-format", "short"]);
            let line = run.stderr.lines().find(|line| line.contains("src/lib.rs:")).unwrap_or_default();
            assert!(!run.success && line.contains(": error[E0277]: cannot add"), "{}", run.stderr);
            assert!(run.stderr.contains("error[PTX0020]: ") && !run.stderr.contains("-->"), "{}", run.stderr);
        }),
    ]
}

/// What `ptx::image!()` may include: cargo has a folder for each way in which it compiles the script. A run of this test
/// before left some, too, where the package had the same name.
fn images(package: &Demo) -> Vec<PathBuf> {
    let folders = fs::read_dir(package.target_dir().join("debug/build")).into_iter().flatten().flatten();
    let images = folders.map(|folder| folder.path().join("out").join(format!("{}.image.rs", package.name())));
    images.filter(|image| image.is_file()).collect()
}

/// Whether one of them has kernels.
fn has_code(package: &Demo) -> bool {
    let text = |image: &PathBuf| fs::read_to_string(image).expect("our own file");
    let texts: Vec<String> = images(package).iter().map(text).collect();
    assert!(!texts.is_empty(), "there is nothing for the macro");
    texts.iter().any(|text| text.contains("\"saxpy\""))
}
