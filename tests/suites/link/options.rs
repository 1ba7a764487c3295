//! Options of linking: load-time linking, nvcc's flags, and what the report says.

use libtest_mimic::Trial;
use ptx_codegen::Report;
use ptx_codegen::request::Linking;
use ptx_tests::Scratch;

use crate::cuda::test;
use crate::rust;

pub fn trials() -> Vec<Trial> {
    vec![
        test("what is left to load time is relocatable", |cuda| {
            let scratch = Scratch::default();
            for option in ["--link-at-load", "--allow-undefined"] {
                let args = ["--emit=cubin,fatbin", "--name=k", option];
                rust::link(&scratch, "sm_75,sm_90", &args).accepted();
                for arch in ["sm_75", "sm_90"] {
                    let symbols = cuda.symbols(&scratch.path().join(format!("out/k.{arch}.cubin")));
                    let undefined: Vec<_> = symbols.iter().filter(|symbol| symbol.contains(" U ")).collect();
                    assert_eq!(undefined.len(), 2, "{symbols:#?}");
                }
                let ptx = std::fs::read_to_string(scratch.output()).unwrap();
                assert!(ptx.contains(".extern .func") && ptx.contains("cpp_scale"), "{ptx}");
            }
            // Another link finishes it: that of CUDA C++ with our fatbin among its inputs.
            let source = cuda.twin(&scratch);
            let object = cuda.object(&scratch, &source, "twin.o", "sm_75,sm_90");
            let fatbin = scratch.path().join("out/k.fatbin");
            let linked = scratch.path().join("linked.cubin");
            let nvlink = ptx_project::tools::find().nvlink().expect("found before").path.clone();
            let run = std::process::Command::new(nvlink)
                .arg("-arch=sm_90")
                .args([&fatbin, &object])
                .arg("-o")
                .arg(&linked)
                .output()
                .expect("nvlink starts");
            assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
            cuda.has_both_sides(&linked);
        }),
        test("nvcc gets its flags and warns", |cuda| {
            let scratch = Scratch::default();
            cuda.twin(&scratch);
            let source = scratch.write(
                "flags.cu",
                "#ifndef WANTED\n#error WANTED is not set\n#endif\n#include \"twin.cu\"\n\
                 __device__ int f() { int unused; return 1; }\n",
            );
            let link = format!("--link={}", source.display());
            let linked = rust::link(&scratch, "sm_75,sm_80", &["--name=k", "--nvcc-flag=-DWANTED=1", &link]);
            linked.accepted();
            assert_eq!(linked.stderr.matches("warning[PTX0027]").count(), 1, "once for all archs: {}", linked.stderr);
            assert!(linked.stderr.contains("flags.cu:5") && linked.stderr.contains("unused"), "{}", linked.stderr);
        }),
        test("an object without code for the arch is a warning where nothing needs it", |cuda| {
            let scratch = Scratch::default();
            let other = scratch.write("other.cu", "extern \"C\" __device__ int nobody_needs_this() { return 1; }\n");
            let other = cuda.object(&scratch, &other, "other.o", "sm_90");
            let links = [cuda.twin(&scratch), other].map(|file| format!("--link={}", file.display()));
            let linked = rust::link(&scratch, "sm_75", &["--name=k", &links[0], &links[1]]);
            linked.accepted();
            for part in ["warning[PTX0028]", "sm_75", "other.o"] {
                assert!(linked.stderr.contains(part), "`{part}` is not in:\n{}", linked.stderr);
            }
        }),
        test("the report has the files and what linked kernels use", |cuda| {
            let scratch = Scratch::default();
            let source = cuda.twin(&scratch);
            let out = scratch.path().join("all");
            let (link, out_dir) = (format!("--link={}", source.display()), format!("--out-dir={}", out.display()));
            rust::link(&scratch, "sm_90", &["--name=k", &link, &out_dir]).accepted();
            let text = std::fs::read_to_string(out.join("report.json")).unwrap();
            let report: Report = serde_json::from_str(&text).unwrap();
            assert_eq!(report.linking, Linking::AtBuild);
            let names: Vec<_> = report.linked.iter().filter_map(|file| file.path.file_name()).collect();
            assert_eq!(names, ["twin.cu", "twin.cuh"], "{:?}", report.linked);
            assert!(report.linked.iter().all(|file| !file.has_changed()));
            std::fs::write(scratch.path().join("twin.cuh"), "#define MORE 8\n").unwrap();
            assert!(report.linked.iter().any(|file| file.has_changed()));
            assert!(report.outputs.iter().any(|output| output.path.ends_with("k.sm_90.cubin")), "{:?}", report.outputs);
        }),
    ]
}
