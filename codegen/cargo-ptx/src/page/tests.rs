//! The page as text; the suite `project` opens it in a browser.

use super::*;
use ptx_codegen::diagnostic::Span;
use ptx_codegen::report::Param;

fn report() -> Report {
    Report {
        name: "de<mo".into(),
        version: "0.1.0".into(),
        llvm: "22".into(),
        ptxas: Some("13.0".into()),
        debug: Default::default(),
        kernels: vec![Kernel {
            name: "k".into(),
            path: "demo::k".into(),
            span: Span { file: "src/lib.rs".into(), line: 2, column: 1 },
            params: vec![Param {
                name: "x".into(),
                rust_type: "&[f32]".into(),
                size: 16,
                align: 8,
                ptx: vec![".u64".into()],
            }],
            abi_hash: 1,
            resources: [("sm_90".to_string(), Resources { registers: 32, ..Resources::default() })].into(),
            float: ptx_abi::float::Modes::DEFAULT.into(),
        }],
        functions: vec![],
        tests: vec![],
        outputs: vec![],
        diagnostics: vec![],
        linking: Default::default(),
        linked: vec![],
    }
}

/// What the page has as JSON.
fn data(page: &str) -> serde_json::Value {
    let (_, rest) = page.split_once("id=\"data\">").expect("the page has data");
    serde_json::from_str(rest.split("</script>").next().expect("their end")).expect("JSON")
}

#[test]
fn the_page_has_every_line_beside_the_packages_source() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir(folder.path().join("src")).expect("our own folder");
    std::fs::write(folder.path().join("src/lib.rs"), "//! </script>\nfn k() {}\nfn f() {}\n").expect("our own folder");
    let root = folder.path().display().to_string();
    let ptx = format!(
        ".visible .entry k(\n)\n{{\n\t.loc\t1 2 1\n\t.loc\t2 51 9, function_name $L, inlined_at 1 2 1\n\tmov.u32 \t%r1, %tid.x;\n}}\n\
         .func  _RNvCs1_4core3fmt()\n{{\n\t.loc\t2 7 1\n\tret;\n}}\n.func  _RNvCs1234_4demo1f()\n{{\n\t.loc\t1 3 1\n\tret;\n}}\n\
         \t.file\t1 \"{root}/src/lib.rs\"\n\t.file\t2 \"/elsewhere/index.rs\"\n"
    );
    let sass = format!(
        "//--------------------- .text.k   ----\n\t//## File \"{root}/src/lib.rs\", line 2\n        /*0000*/  S2R R1, SR_TID.X ;\n"
    );
    let built = Built { arch: "sm_90".into(), ptx, sass: Some(sass) };
    let page = html(&report(), &[built], "release", folder.path());
    assert_eq!(page.matches("</script>").count(), 2, "the source must not end the script");
    assert!(page.contains("<h1>de&lt;mo</h1>") && !page.contains("{css}") && !page.contains("{js}"));
    assert!(
        !page.contains("http") || page.matches("http").count() == page.matches("http://www.w3.org/2000/svg").count()
    );
    let data = data(&page);
    assert_eq!(data["sources"][0]["path"], "src/lib.rs");
    let functions = data["functions"].as_array().expect("functions");
    let names: Vec<&str> = functions.iter().filter_map(|function| function["name"].as_str()).collect();
    assert_eq!(names, ["k", "demo::f"], "what is of `core` alone has no source here");
    let line = |code: &str, part: &str| {
        let lines = functions[0][code].as_array().expect("lines").iter();
        let found = lines.into_iter().find(|line| line[0].as_str().is_some_and(|text| text.contains(part)));
        found.expect("the line is there")[1].clone()
    };
    // What was inlined stands beside the line that uses it.
    assert_eq!(line("ptx", "mov.u32"), serde_json::json!([0, 2]));
    assert_eq!(line("sass", "S2R"), serde_json::json!([0, 2]));
    assert_eq!(functions[0]["mix"], serde_json::json!([{"kind": "moves", "count": 1}]));
    assert_eq!(functions[0]["occupancy"][7]["warps"], 64);
    assert_eq!(functions[0]["kernel"]["signature"], "k(x: &[f32])");
}

#[test]
fn without_kernels_there_is_a_page_as_well() {
    let page = html(&Report { kernels: vec![], ..report() }, &[], "dev", Path::new("/nowhere"));
    assert_eq!(data(&page)["functions"], serde_json::json!([]));
}
