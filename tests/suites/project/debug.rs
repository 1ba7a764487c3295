//! `cargo ptx debug` on a new project: what it starts, and what it says.

use std::fs;
use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;
use ptx_tests::trial;

use crate::demo::demo;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("debug prints the command line", || {
            let demo = demo();
            // Any program will do: it is not started.
            let debugger = std::env::current_exe().expect("a running program has a path");
            let debugger = debugger.to_str().expect("cargo's target folder is UTF-8");
            let run = demo.ptx(&[
                "debug",
                "--cuda-gdb",
                debugger,
                "--print-command",
                "-e",
                "break lib.rs:9",
                "--",
                "--size",
                "two words",
            ]);
            let line = run.expect_success().stdout;
            let (before, program) = line.trim().split_once(" --args ").unwrap_or_else(|| panic!("{line}"));
            let (program, args) = program.split_once(' ').unwrap_or_else(|| panic!("{line}"));
            assert_eq!(args, "--size 'two words'");
            assert!(program.ends_with("/debug/demo") && Path::new(program).is_file(), "{line}");
            let start = format!("{debugger} -q -x ");
            let (script, commands) =
                before.strip_prefix(&start).and_then(|rest| rest.split_once(' ')).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(commands, "-ex 'break lib.rs:9'");
            let script = fs::read_to_string(script).expect("it was written");
            assert!(script.contains("set breakpoint pending on\nsource /"), "{script}");
            assert!(script.contains("set substitute-path \"/rustc/"), "{script}");
            None
        }),
        trial("debug starts gdb with printers and library sources", || {
            if Command::new("gdb").arg("--version").output().is_err() {
                return Some("gdb was not found".into());
            }
            let demo = demo();
            let commands = [
                "info pretty-printer global rust-ptx",
                "show breakpoint pending",
                "show substitute-path",
                "show args",
                "info line demo::main",
            ];
            let mut args = vec!["debug", "--cuda-gdb", "gdb", "--batch"];
            args.extend(commands.iter().flat_map(|command| ["-e", command]));
            args.extend(["--", "first", "second"]);
            let run = demo.ptx(&args).expect_success();
            let said = run.stdout;
            let parts =
                ["  rust-ptx", "regarding pending breakpoints is on.", "`/rustc/", "\"first second\".", "src/main.rs"];
            for part in parts {
                assert!(said.contains(part), "`{part}` is not in:\n{said}\n{}", run.stderr);
            }
            // What /rustc/HASH/library is read from has the library's sources.
            let mapped = said.lines().find_map(|line| line.split_once("/library' -> `")).expect("a rule").1;
            let folder = Path::new(mapped.trim_end_matches(['.', '\'']));
            for file in ["core/src/option.rs", "alloc/src/vec/mod.rs"] {
                assert!(folder.join(file).is_file(), "{} has no {file}", folder.display());
            }
            None
        }),
        trial("debug without a debugger", || {
            let run = demo().ptx(&["debug", "--cuda-gdb", "no-such-debugger"]);
            assert!(!run.success);
            for part in ["error[PTX0050]", "`no-such-debugger`, which --cuda-gdb names", "help: "] {
                assert!(run.stderr.contains(part), "`{part}` is not in:\n{}", run.stderr);
            }
            // It is looked for before anything is compiled.
            assert!(!run.stderr.contains("Compiling demo"), "{}", run.stderr);
            None
        }),
        trial("debug warns of poor debug information", || {
            let debugger = std::env::current_exe().expect("a running program has a path");
            let debugger = debugger.to_str().expect("cargo's target folder is UTF-8");
            let demo = demo();
            // As `--release` would leave it, which would compile the compiler for another profile.
            let line_tables = |text| text + "\n[package.metadata.ptx]\ndebug-level = \"line-tables\"\n";
            demo.with_manifest(line_tables, || {
                let run = demo.ptx(&["debug", "--cuda-gdb", debugger, "--print-command"]).expect_success();
                for part in ["warning[PTX0051]", "package `demo`", "leave `--release` away"] {
                    assert!(run.stderr.contains(part), "`{part}` is not in:\n{}", run.stderr);
                }
            });
            None
        }),
        trial("debug sets IDEs up without a build", || {
            let demo = demo();
            let run = demo.ptx(&["debug", "--setup"]).expect_success();
            let script = run.stdout.trim().to_string();
            assert!(script.ends_with("/ptx/debugger/setup.gdb") && Path::new(&script).is_file(), "{script}");
            assert!(!run.stderr.contains("Compiling demo"), "{}", run.stderr);
            // The example for VS Code names the same file.
            let example = include_str!("../../../examples/vscode/launch.json");
            let example: serde_json::Value = serde_json::from_str(example).expect("the example is JSON");
            let configuration = &example["configurations"][0];
            let commands = &configuration["initCommands"];
            assert_eq!(commands[0], "source ${workspaceFolder}/target/ptx/debugger/setup.gdb");
            let tasks: serde_json::Value =
                serde_json::from_str(include_str!("../../../examples/vscode/tasks.json")).expect("the example is JSON");
            assert_eq!(tasks["tasks"][0]["label"], configuration["preLaunchTask"]);
            None
        }),
    ]
}
