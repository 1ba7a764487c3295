//! Outputs that cannot be made: no ptxas, a ptxas that refuses, a full disk, two builds at once.

use std::fs;
use std::path::Path;

use libtest_mimic::Trial;
use ptx_project::tools;
use ptx_tests::{Linked, Scratch, test, trial};

use crate::ir;

pub fn trials() -> Vec<Trial> {
    vec![
        test("ptxas missing", || {
            let scratch = Scratch::default();
            let source = scratch.write("a.ll", ir::good("k"));
            let linked = Linked::of(scratch.linker().args(["--arch=sm_80", "--ptxas=/nonexistent/ptxas"]).arg(source));
            scratch.refused(&linked, &["PTX0012", "/nonexistent/ptxas"]);
        }),
        test("ptxas that is no ptxas", || {
            let scratch = Scratch::default();
            let source = scratch.write("a.ll", ir::good("k"));
            let fake = scratch.write_program("ptxas", "#!/bin/sh\necho 'no ptxas at all'\n");
            let linked =
                Linked::of(scratch.linker().arg("--arch=sm_80").arg(format!("--ptxas={}", fake.display())).arg(source));
            scratch.refused(&linked, &["ptxas"]);
        }),
        test("ptxas that refuses", || {
            let scratch = Scratch::default();
            let source = scratch.write("a.ll", ir::good("k"));
            let fake = scratch.write_program("ptxas", FAKE_PTXAS);
            let linked =
                Linked::of(scratch.linker().arg("--arch=sm_80").arg(format!("--ptxas={}", fake.display())).arg(source));
            scratch.refused(&linked, &["PTX0013", "syntax error near here", "`k`"]);
        }),
        test("ptxas that refuses several archs, the first one last", || {
            let scratch = Scratch::default();
            let source = scratch.write("a.ll", ir::good("k"));
            let slow = "case \"$*\" in *sm_75*) sleep 1 ;; esac\necho 'ptxas k.ptx, line 12";
            let fake = scratch.write_program("ptxas", &FAKE_PTXAS.replace("echo 'ptxas k.ptx, line 12", slow));
            let mut linker = scratch.linker();
            let linked = Linked::of(
                linker.arg("--arch=sm_90,sm_80,sm_75").arg(format!("--ptxas={}", fake.display())).arg(source),
            );
            scratch.refused(&linked, &["PTX0013", "ptxas rejected the PTX for sm_75"]);
            assert_eq!(linked.stderr.matches("PTX0013").count(), 1, "{}", linked.stderr);
        }),
        test("ptxas that is killed", || {
            let scratch = Scratch::default();
            let source = scratch.write("a.ll", ir::good("k"));
            let fake =
                scratch.write_program("ptxas", &FAKE_PTXAS.replace("exit 255", "kill -9 $$").replace("error", "info"));
            let linked =
                Linked::of(scratch.linker().arg("--arch=sm_80").arg(format!("--ptxas={}", fake.display())).arg(source));
            scratch.refused(&linked, &["PTX0013", "ended without a message (signal: 9"]);
        }),
        trial("ptxas that warns", || {
            if tools::find().ptxas().is_none() {
                return Some("ptxas was not found".into());
            }
            let scratch = Scratch::default();
            let source = scratch.write("a.ll", ir::inline_ptx(r#".pragma \22nounrol\22;"#));
            let linked = Linked::of(scratch.linker().args(["--arch=sm_80", "--ptxas=auto"]).arg(source));
            linked.accepted();
            for part in ["warning[PTX0044]", "Pragma 'nounrol' unsupported", "src/kernels.rs:42:9"] {
                assert!(linked.stderr.contains(part), "`{part}` is not in:\n{}", linked.stderr);
            }
            assert_eq!(linked.stderr.matches("PTX0044").count(), 1, "{}", linked.stderr);
            None
        }),
        trial("inline PTX that ptxas rejects, in every line of it", || {
            if tools::find().ptxas().is_none() {
                return Some("ptxas was not found".into());
            }
            let scratch = Scratch::default();
            let source = scratch.write("a.ll", ir::inline_ptx("frob;\\0Anop;\\0Afrob.u32 a;"));
            for (options, count) in [(&[][..], 1), (&["--debug-level=line-tables"], 1), (&["--ptx-version=7.0"], 1)] {
                let mut command = scratch.linker();
                let linked = Linked::of(command.args(["--arch=sm_80", "--ptxas=auto"]).args(options).arg(&source));
                scratch.refused(&linked, &["PTX0046", "src/kernels.rs:42:9", "in `k`: `frob;`"]);
                assert!(linked.stderr.matches("error[").count() >= count, "{}", linked.stderr);
            }
            None
        }),
        trial("unfinished inline PTX", || {
            if tools::find().ptxas().is_none() {
                return Some("ptxas was not found".into());
            }
            let help = "end every instruction with `;`";
            for (text, line) in [
                ("mov eax, 1", "in `k`: `mov eax, 1`"),
                ("nop;\\0Amov eax, 1 // no end\\0A// of it", "in `k`: `mov eax, 1 // no end`"),
                ("{ nop;", "in `k`: `{ nop;`"),
                ("nop; }", "`nop; }`"),
            ] {
                let scratch = Scratch::default();
                let source = scratch.write("a.ll", ir::inline_ptx(text));
                let mut command = scratch.linker();
                let linked = Linked::of(command.args(["--arch=sm_80", "--ptxas=auto"]).arg(&source));
                scratch.refused(&linked, &["PTX0046", "src/kernels.rs:42:9", line, help]);
            }
            None
        }),
        test("fatbinary that fails", || {
            let scratch = Scratch::default();
            let source = scratch.write("a.ll", ir::good("k"));
            // Writes what it is told to.
            let works = "while [ $# -gt 0 ]; do if [ \"$1\" = -o ]; then echo cubin > \"$2\"; fi; shift; done; exit 0";
            let ptxas = scratch.write_program("ptxas", &FAKE_PTXAS.replace("exit 255", works).replace("error", "info"));
            let script = "#!/bin/sh\necho 'fatbinary fatal   : no room' >&2\nexit 1\n";
            let fatbinary = scratch.write_program("fatbinary", script);
            for (fatbinary, wanted) in [(fatbinary, "no room"), ("/nonexistent/fatbinary".into(), "No such file")] {
                let mut command = scratch.linker();
                command
                    .args(["--arch=sm_80", "--emit=fatbin"])
                    .arg(format!("--ptxas={}", ptxas.display()))
                    .arg(&source);
                let linked = Linked::of(command.env("RUST_PTX_FATBINARY", fatbinary));
                scratch.refused(&linked, &["PTX0022", "fatbinary", wanted]);
            }
        }),
        test("cubin without ptxas", || {
            let scratch = Scratch::default();
            let source = scratch.write("a.ll", ir::good("k"));
            let linked = scratch.link([source.as_os_str(), "--emit=cubin".as_ref()]);
            assert!(linked.code == Some(1) && linked.stderr.contains("ptxas"), "{linked:?}");
            assert!(scratch.outputs().is_empty());
        }),
        trial("arch that ptxas does not know", || {
            let tools = tools::find();
            let Some(ptxas) = tools.ptxas() else { return Some("ptxas was not found".into()) };
            let archs = ptxas.archs().expect("ptxas lists its archs");
            if archs.iter().any(|arch| arch == "sm_70") {
                return Some("this ptxas knows every arch that LLVM does".into());
            }
            let scratch = Scratch::default();
            let source = scratch.write("a.ll", ir::good("k"));
            let ptxas = format!("--ptxas={}", ptxas.path.display());
            let checked = Linked::of(scratch.linker().args(["--arch=sm_70", &ptxas]).arg(&source));
            checked.accepted();
            assert!(checked.stderr.contains("sm_70 was not checked"), "{checked:?}");
            fs::remove_file(scratch.output()).unwrap();
            let assembled = Linked::of(scratch.linker().args(["--arch=sm_70", "--emit=cubin", &ptxas]).arg(&source));
            scratch.refused(&assembled, &["sm_70"]);
            None
        }),
        test("output below a file", || {
            let scratch = Scratch::default();
            scratch.write("a.ll", ir::good("k"));
            let file = scratch.write("file", "");
            let linked = to(&scratch, &file.join("k.ptx"));
            scratch.refused(&linked, &["k.ptx"]);
        }),
        test("output folder below a file", || {
            let scratch = Scratch::default();
            let source = scratch.write("a.ll", ir::good("k"));
            let folder = scratch.write("file", "").join("folder");
            let linked = scratch.link([source.as_os_str(), format!("--out-dir={}", folder.display()).as_ref()]);
            scratch.refused(&linked, &["folder"]);
        }),
        test("disk full", || {
            let scratch = Scratch::default();
            scratch.write("a.ll", ir::good("k"));
            let linked = to(&scratch, "/dev/full".as_ref());
            scratch.refused(&linked, &["PTX0015", "/dev/full", "No space left"]);
        }),
        test("failure keeps the earlier output", || {
            let scratch = Scratch::default();
            let source = scratch.write("a.ll", ir::good("k"));
            scratch.link([&source]).accepted();
            let before = fs::read(scratch.output()).unwrap();
            fs::write(&source, ir::undefined(false)).unwrap();
            assert_eq!(scratch.link([&source]).code, Some(1));
            assert_eq!(fs::read(scratch.output()).unwrap(), before);
            assert_eq!(scratch.outputs(), ["k.ptx"]);
        }),
        test("two builds at once", || {
            let scratch = Scratch::default();
            let source = scratch.write("a.ll", ir::good("k"));
            std::thread::scope(|scope| {
                let build = || (0..4).for_each(|_| scratch.link([&source]).accepted());
                (0..4).for_each(|_| drop(scope.spawn(build)));
            });
            assert_eq!(scratch.outputs(), ["k.ptx"]);
            let ptx = fs::read_to_string(scratch.output()).unwrap();
            assert!(ptx.contains(".entry k(") && ptx.trim_end().ends_with('}'), "{ptx}");
        }),
    ]
}

/// Links `a.ll` to that file.
fn to(scratch: &Scratch, output: &Path) -> Linked {
    Linked::of(scratch.linker_to(output).args(["--arch=sm_80", "--ptxas=off", "a.ll"]))
}

/// Says what ptxas says of its version and archs, and refuses line 12 of every PTX.
const FAKE_PTXAS: &str = r#"#!/bin/sh
case "$*" in
*--version*) echo 'Cuda compilation tools, release 13.0, V13.0.88'; exit 0 ;;
*--help*) echo "--gpu-name <name>  Allowed values for this option:  'sm_75','sm_80','sm_90'."; exit 0 ;;
esac
echo 'ptxas k.ptx, line 12; error   : syntax error near here' >&2
exit 255
"#;
