//! What is built again, and what is not.

use libtest_mimic::Trial;
use ptx_tests::trial;

use crate::demo::demo;

pub fn trials() -> Vec<Trial> {
    let test = |name: &str, body: fn()| {
        trial(name, move || {
            body();
            None
        })
    };
    vec![
        test("a new project runs", || {
            let run = demo().cargo(&["run"]).expect_success();
            assert!(!run.stdout.trim().is_empty(), "it says nothing");
        }),
        test("a rebuild after no change does nothing", || {
            let demo = demo();
            demo.cargo(&["build"]).expect_success();
            let again = demo.cargo(&["build", "-v"]).expect_success();
            assert!(!again.compiled_for_the_device() && !again.compiled_for_the_host(), "{}", again.stderr);
        }),
        test("a change to the host program does no device work", || {
            let demo = demo();
            demo.cargo(&["build"]).expect_success();
            demo.edit("main.rs", |text| text + "\n// A change.\n");
            let again = demo.cargo(&["build", "-v"]).expect_success();
            assert!(!again.compiled_for_the_device() && again.compiled_for_the_host(), "{}", again.stderr);
        }),
        test("a change to a kernel compiles for the device again", || {
            let demo = demo();
            demo.cargo(&["build"]).expect_success();
            demo.edit("lib.rs", |text| text + KERNEL);
            let again = demo.cargo(&["build", "-v"]).expect_success();
            assert!(again.compiled_for_the_device() && again.compiled_for_the_host(), "{}", again.stderr);
        }),
        test("rustc's errors in a kernel are shown with their place", || {
            let demo = demo();
            demo.edit("lib.rs", |text| text + &KERNEL.replace("= 1;", "= \"one\";"));
            let run = demo.cargo(&["build"]);
            assert!(!run.success);
            for part in ["mismatched types", "src/lib.rs"] {
                assert!(run.stderr.contains(part), "`{part}` is not in:\n{}", run.stderr);
            }
            assert!(!run.stderr.contains("panicked at"), "{}", run.stderr);
        }),
        test("the linker's errors in a kernel are shown with their place", || {
            let demo = demo();
            demo.edit("lib.rs", |text| {
                text + "\nunsafe extern \"C\" {\n    safe fn nobody_has_this() -> u32;\n}\n"
                    + &KERNEL.replace("= 1;", "= nobody_has_this();")
            });
            let run = demo.cargo(&["build"]);
            assert!(!run.success);
            for part in ["nobody_has_this", "src/lib.rs:", "help"] {
                assert!(run.stderr.contains(part), "`{part}` is not in:\n{}", run.stderr);
            }
            assert!(!run.stderr.contains("panicked at"), "{}", run.stderr);
        }),
    ]
}

/// One more kernel.
const KERNEL: &str = "\n#[kernel]\npub fn one_more(mut out: DisjointSlice<u32>) {\n    \
    if let Some(out) = out.get_mut(thread::index_1d()) {\n        *out = 1;\n    }\n}\n";
