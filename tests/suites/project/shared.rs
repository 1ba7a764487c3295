//! Packages that share one target folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use libtest_mimic::Trial;
use ptx_tests::folders::target_dir;
use ptx_tests::test;

use crate::demo::{Demo, demo};

pub fn trials() -> Vec<Trial> {
    vec![
        // The workspace's root stood in the flags for all crates, and cargo compiled all anew at every change of package.
        test("packages in one target folder leave each other's dependencies alone", || {
            let packages = [Demo::new("first"), Demo::new("second")];
            // Theirs alone: other tests run at the same time.
            let folder = target_dir().join("project/shared");
            let folder = folder.to_str().expect("the repository's path is UTF-8");
            let build = |package: &Demo, change: &str| {
                package.edit("lib.rs", |text| format!("{text}\n// {change}\n"));
                package.ptx(&["build", "--target-dir", folder]).expect_success();
                libraries(Path::new(folder))
            };
            build(&packages[0], "A change.");
            let before = build(&packages[1], "A change.");
            assert!(before.keys().any(|path| name(path).starts_with("libptx_device-")), "{before:?}");
            for package in &packages {
                let after = build(package, "Another change.");
                let anew: Vec<_> = before.iter().filter(|(path, time)| after.get(*path) != Some(time)).collect();
                assert!(anew.is_empty(), "compiled anew: {anew:?}");
            }
        }),
        test("a second package compiles only itself", || {
            demo().cargo(&["build"]).expect_success();
            let package = Demo::new("another");
            let target = package.path().join("target");
            let target = target.to_str().expect("a temporary folder's name is UTF-8");
            let built = package.cargo_with(&[("CARGO_TARGET_DIR", target)], &["build"]).expect_success();
            let compiled: Vec<_> =
                built.stderr.lines().filter_map(|line| line.trim().strip_prefix("Compiling ")).collect();
            assert!(matches!(compiled[..], [package] if package.starts_with("another ")), "{}", built.stderr);
            assert!(package.path().join("target/debug/another").is_file(), "{}", built.stderr);
        }),
        test("a new target folder begins with the crates that another's device build compiled", || {
            let package = Demo::new("shelved");
            package.cargo(&["generate-lockfile"]).expect_success();
            let compiled = |folder: &str| {
                let folder = package.path().join(folder);
                let folder = folder.to_str().expect("a temporary folder's name is UTF-8");
                let run = package.ptx(&["build", "-v", "--target-dir", folder]).expect_success();
                let lines = run.stderr.lines().filter_map(|line| line.trim().strip_prefix("Compiling "));
                lines.filter_map(|line| Some(line.split_once(' ')?.0.to_string())).collect::<Vec<_>>()
            };
            compiled("first");
            assert_eq!(compiled("second"), ["shelved"]);
        }),
        // cargo's resolver of old editions gives the device the features that the host's dependencies ask for, such as `std`.
        test("a package of an old edition compiles for the device", || {
            let package = Demo::new("aged");
            let manifest = package.path().join("Cargo.toml");
            let text = fs::read_to_string(&manifest).expect("the project has a manifest");
            fs::write(&manifest, text.replace("edition = \"2024\"", "edition = \"2018\"")).expect("our own file");
            package.cargo(&["build"]).expect_success();
            // The first one, in which `::core` is nothing: on the host it was not found.
            fs::write(&manifest, text.replace("edition = \"2024\"", "edition = \"2015\"")).expect("our own file");
            package.edit("lib.rs", |text| text.replace("use ptx::", "extern crate ptx;\n\nuse ptx::"));
            package.edit("main.rs", |text| {
                text.replace("use ptx::", "extern crate aged;\nextern crate ptx;\n\nuse ptx::")
            });
            package.cargo(&["build"]).expect_success();
        }),
    ]
}

/// What was compiled of the packages that others depend on, and when.
fn libraries(folder: &Path) -> BTreeMap<PathBuf, SystemTime> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(libraries(&path));
        } else if path.extension().is_some_and(|extension| extension == "rlib" || extension == "so") {
            let time = entry.metadata().and_then(|data| data.modified()).expect("a file has a time");
            found.insert(path, time);
        }
    }
    found
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
