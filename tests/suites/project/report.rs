//! `cargo ptx report`: the page that it writes, as a file and in a browser.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::Trial;
use ptx_project::tools;
use ptx_tests::trial;
use serde_json::Value;

use crate::demo::demo;

/// A browser that shows a page without a screen, by its usual names.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a report is one page that needs nothing else", || {
            let demo = demo();
            let run = demo.ptx(&["report", "--release", "--out", "reported"]).expect_success();
            assert_eq!(run.stdout.trim(), "reported/report.html");
            let page = fs::read_to_string(demo.path().join("reported/report.html")).expect("it was written");
            for outside in ["src=", "href=", "@import", "url(", "fetch("] {
                assert!(!page.contains(outside), "`{outside}` is in the page");
            }
            let panic = "index out of bounds: the len is … but the index is …";
            let path = "\"path\":\"src/lib.rs\"";
            for part in ["<title>demo: kernels</title>", "*y += a * x[i.get()]", "fma.rn", path, panic] {
                assert!(page.contains(part), "`{part}` is not in the page");
            }
            // Its figures are those of a build without it.
            let before = demo.ptx(&["inspect", "resources", "--release", "--message-format=json"]).expect_success();
            let kernel: Value = serde_json::from_str(before.stdout.lines().next().unwrap_or_default()).expect("JSON");
            let used = &kernel["kernel"]["resources"]["sm_75"]["registers"];
            assert!(used.is_null() || page.contains(&format!("\"registers\":{used},")), "{used}");
            None
        }),
        trial("a browser shows the report, wide and narrow, and follows clicks", || {
            let Some(browser) = browser() else {
                return Some("no Chromium was found; Debian's package is `chromium`".into());
            };
            if tools::find().nvdisasm().is_none() {
                return Some("nvdisasm was not found".into());
            }
            let demo = demo();
            let report = ["report", "--release", "--arch", "sm_80,sm_90", "--out", "shown"];
            demo.ptx(&report).expect_success();
            let page = fs::read_to_string(demo.path().join("shown/report.html")).expect("it was written");
            let errors = "<script>window.errors = []; onerror = (error) => { errors.push(String(error)); };</script>";
            let page = page.replacen("<head>", &format!("<head>{errors}"), 1);
            let page = page.replacen("</body>", &format!("<script>{}</script></body>", include_str!("report.js")), 1);
            let file = demo.path().join("shown/driven.html");
            fs::write(&file, page).expect("our own folder");
            for (size, panes) in [("1400,900", 3), ("390,844", 1)] {
                check(&outcome(&browser, &file, size, demo.path()), size, panes);
            }
            None
        }),
    ]
}

fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let files = BROWSERS.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    files.into_iter().find(|file| file.is_file())
}

/// What the script found in a window of that size.
fn outcome(browser: &Path, page: &Path, size: &str, scratch: PathBuf) -> Value {
    let mut command = Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "--virtual-time-budget=5000"]);
    command.arg(format!("--window-size={size}"));
    command.arg(format!("--user-data-dir={}", scratch.join("browser").display()));
    let run = command.arg(format!("file://{}#kernel=saxpy&arch=sm_90", page.display())).output();
    let run = run.expect("the browser starts");
    let text = String::from_utf8_lossy(&run.stdout);
    let outcome = text.split_once("<pre id=\"outcome\">").and_then(|(_, rest)| rest.split("</pre>").next());
    let outcome =
        outcome.unwrap_or_else(|| panic!("the script did not end:\n{}", String::from_utf8_lossy(&run.stderr)));
    let outcome = outcome.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    serde_json::from_str(&outcome).expect("JSON")
}

fn check(outcome: &Value, size: &str, panes: u64) {
    let texts = |value: &Value| -> Vec<String> {
        let list = value.as_array().into_iter().flatten();
        list.map(|text| text.as_str().unwrap_or_default().to_string()).collect()
    };
    let has = |value: &Value, part: &str| texts(value).iter().any(|text| text.contains(part));
    assert_eq!(outcome["errors"], serde_json::json!([]), "{size}");
    assert!(
        outcome["address"].as_str().is_some_and(|text| text.contains("sm_90")),
        "the address names the arch: {outcome}"
    );
    // A line of the source, and all that became of it; and the way back.
    for (name, columns) in
        [("of_source", &outcome["of_source"]), ("of_sass", &outcome["of_sass"]), ("near", &outcome["near"])]
    {
        assert!(texts(&columns[0]) == ["*y += a * x[i.get()];"], "{name}: {columns}");
        assert!(has(&columns[1], "fma.rn.f32") && has(&columns[1], "st.global"), "{name}: {columns}");
        assert!(has(&columns[2], "FFMA") && has(&columns[2], "STG"), "{name}: {columns}");
        assert!(!has(&columns[1], "%ntid.y"), "{name}: {columns}");
    }
    assert!(outcome["shared"].as_str().is_some_and(|hash| hash.contains("at=0%3A")), "{outcome}");
    assert_eq!(outcome["again"], 0, "a second click takes it back");
    assert_eq!(outcome["found"], "2 lines", "one of the PTX, one of the machine code");
    assert_eq!(outcome["second"], serde_json::json!(["2 of 2", 1]));
    assert_ne!(outcome["backs"][0], outcome["backs"][1], "light and dark");
    let [wide, window] = [0, 1].map(|index| outcome["width"][index].as_u64().expect("a number"));
    assert!(wide <= window, "{size}: the page is wider than its window, {wide} pixels of {window}");
    assert_eq!(outcome["panes"], panes, "{size}");
    assert_eq!(outcome["dots"], 32, "a dot for each number of warps");
    assert!(outcome["kinds"].as_u64().is_some_and(|kinds| kinds > 4), "{outcome}");
    assert!(outcome["panics"].as_str().is_some_and(|text| text.contains("index out of bounds: the len is … but")));
    assert!(has(&outcome["of_panic"], "*y += "), "{outcome}");
    assert!(outcome["other"].as_str().is_some_and(|text| text.contains("sm_80")), "{outcome}");
}
