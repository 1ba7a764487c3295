//! `cargo ptx debug` on a new project: what it starts, and what it says.

use std::fs;
use std::os::unix::fs::PermissionsExt;
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
        trial("sanitize runs the program under compute-sanitizer, and hands on what it found", || {
            let demo = demo();
            let toolkit = demo.path().join("toolkit");
            let folder = toolkit.join("compute-sanitizer");
            fs::create_dir_all(&folder).expect("our own folder");
            let program = folder.join("compute-sanitizer");
            fs::write(&program, "#!/bin/sh\necho \"flags: $*\"\nexit 7\n").expect("our own folder");
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("our own file");
            let home = toolkit.to_str().expect("a temporary folder's name is UTF-8");
            let args =
                ["sanitize", "--tool", "racecheck", "--flag=--racecheck-report=all", "--", "--size", "two words"];
            let run = demo.ptx_with(&[("CUDA_HOME", home)], &args);
            let said = "flags: --tool racecheck --error-exitcode 1 --racecheck-report=all /";
            assert!(run.stdout.contains(said) && run.stdout.contains("/debug/demo --size two words"), "{}", run.stdout);
            assert!(!run.success, "what was found is an error");
            let run = demo.ptx(&["sanitize", "--compute-sanitizer", "no-such-program"]);
            for part in ["`no-such-program`, which --compute-sanitizer names", "cuda-sanitizer-13-0"] {
                assert!(!run.success && run.stderr.contains(part), "`{part}` is not in:\n{}", run.stderr);
            }
            None
        }),
        trial("profile runs the program under ncu, and prints what its tables say by source line", || {
            let demo = demo();
            let ncu = demo.path().join("ncu");
            fs::write(&ncu, NCU).expect("our own folder");
            fs::set_permissions(&ncu, fs::Permissions::from_mode(0o755)).expect("our own file");
            let program = ncu.to_str().expect("a temporary folder's name is UTF-8");
            let profile = |args: &[&str]| {
                let first = ["profile", "--ncu", program, "--profile", "dev", "--arch", "sm_80"];
                demo.ptx(&[&first[..], args].concat())
            };
            let run = profile(&["--kernel", "saxpy", "--flag=--set=full", "--", "--size", "two words"]);
            let run = run.expect_success();
            let flags = "--launch-skip 0 --launch-count 10 --kernel-name saxpy --set=full /";
            assert!(
                run.stdout.contains(flags) && run.stdout.contains("/debug/demo --size two words"),
                "{}",
                run.stdout
            );
            for part in [
                "saxpy, grid (4, 1, 1), block (256, 1, 1)\n  2.5 us, memory 91 % of its peak\n",
                "\n 75.0 %  src/lib.rs:12          *y += a * x[i.get()];\n",
                "= waits for global or local memory 100 %\n",
                "\n 25.0 %  core/src/num/mod.rs:7\n",
            ] {
                assert!(run.stdout.contains(part), "`{part}` is not in:\n{}", run.stdout);
            }
            let report = demo.ptx(&["inspect", "ptx"]).expect_success();
            assert!(!report.stdout.is_empty() && !run.stderr.contains("warning"), "{}", run.stderr);
            let run = profile(&["--", "ERR_NVGPUCTRPERM"]);
            assert!(
                !run.success && run.stderr.contains("may not read the GPU's performance counters"),
                "{}",
                run.stderr
            );
            let run = demo.ptx(&["profile", "--ncu", "no-such-program"]);
            for part in ["error[PTX0022]", "`no-such-program`, which --ncu names", "Nsight Compute"] {
                assert!(!run.success && run.stderr.contains(part), "`{part}` is not in:\n{}", run.stderr);
            }
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

/// Writes what ncu would, in its format: a report and a log, and tables of the report.
const NCU: &str = r##"#!/bin/sh
case "$*" in
*"--page source"*) cat <<'END'
"File Path","src/lib.rs"
"Function Name","saxpy"
"Line No","Source","Address","Source","Warp Stall Sampling (All Samples)","# Samples","Instructions Executed","Thread Instructions Executed","stall_long_sb"
"12","        *y += a * x[i.get()];","","","75","75","10","320","75"
"","","0x7f0000000100","LDG.E R2, [R2]","75","75","10","320","75"
"File Path","/rustc/0123/library/core/src/num/mod.rs"
"Function Name","saxpy"
"Line No","Source","Address","Source","Warp Stall Sampling (All Samples)","# Samples"
"7","","","","25","25"
END
;;
*"--page details"*) cat <<'END'
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"
"0","12","demo","127.0.0.1","saxpy","1","7","(256, 1, 1)","(4, 1, 1)","0","8.0","GPU Speed Of Light Throughput","Memory Throughput","%","91.20"
"0","12","demo","127.0.0.1","saxpy","1","7","(256, 1, 1)","(4, 1, 1)","0","8.0","GPU Speed Of Light Throughput","Duration","nsecond","2,500"
END
;;
*ERR_NVGPUCTRPERM*) echo "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission" >"$5"; exit 1 ;;
*) [ "$1 $2 $4" = "--force-overwrite --export --log-file" ] && : >"$3" && : >"$5"; echo "flags: $*" ;;
esac
"##;
