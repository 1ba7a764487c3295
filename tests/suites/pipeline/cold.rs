//! Large and cold code is in the PTX once, and small: kernels of collections and strings, `tests/kernels/collections`.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, OnceLock};

use libtest_mimic::Trial;
use ptx_tests::trial;

use crate::packages;

const FOLDER: &str = "tests/kernels/collections";

/// Parts of functions' names that were once copied into all that call them, and unrolled, with the most lines that each may
/// have: what prints floats had 9,614, what prints a list 6,170.
const CALLED: [(&str, usize); 4] = [
    ("6bignumNtB5_8Big32x4010mul_digits", 400),
    ("6dragon15format_shortest", 5000),
    ("8buildersNtB5_9DebugList5entry", 400),
    ("9Formatter19pad_formatted_parts", 1200),
];

/// Lines of all bodies; they were 61,422, and are 36,983. Of these a thousand name the places of panics that are handed over by
/// their numbers; ptxas makes nothing of them.
const MOST_LINES: usize = 37_500;

/// By name: the bodies of functions and kernels.
type Bodies = BTreeMap<String, String>;

pub fn trials() -> Vec<Trial> {
    let built: Arc<OnceLock<Bodies>> = Arc::default();
    let with = move |name: &str, check: fn(&Bodies)| {
        let built = built.clone();
        trial(name, move || {
            check(built.get_or_init(bodies));
            None
        })
    };
    vec![
        with("cold code: what formats is called, not copied", |bodies| {
            for (name, most) in CALLED {
                let mut found = bodies.iter().filter(|(function, _)| function.contains(name));
                let (Some((_, body)), None) = (found.next(), found.next()) else { panic!("not one function `{name}`") };
                let lines = body.lines().count();
                assert!(lines <= most, "`{name}` has {lines} lines, at most {most} were expected");
            }
            let lines: usize = bodies.values().map(|body| body.lines().count()).sum();
            assert!(lines <= MOST_LINES, "{lines} lines, at most {MOST_LINES} were expected");
        }),
        with("cold code: what calls shares the report of panics", |bodies| {
            let reporting = bodies.iter().filter(|(_, body)| body.contains("membar.sys"));
            for (name, body) in reporting {
                let calls = body.contains("call.uni");
                let is_report = name.starts_with("__rust_ptx_panic_") || name.starts_with("__ptx_rt_");
                assert!(is_report || !calls, "`{name}` has a report of its own, and calls other functions");
                let reports = body.matches("READY:").count();
                assert!(reports <= 1, "`{name}` has {reports} reports");
            }
        }),
    ]
}

fn bodies() -> Bodies {
    let ptx = packages::one(FOLDER, "sm_90").ptx("sm_90");
    let ptx = fs::read_to_string(ptx).expect("the build made it");
    let mut bodies = Bodies::new();
    let (mut name, mut body) = (String::new(), None);
    for line in ptx.lines() {
        match (&mut body, line) {
            (None, "{") => body = Some(String::new()),
            (None, line) if line.contains(".func ") || line.contains(".entry ") => {
                let after = line.rsplit([')', ' ']).find(|part| !part.is_empty()).unwrap_or_default();
                name = after.trim_end_matches('(').to_string();
            }
            (None, _) => {}
            (Some(_), "}") => {
                bodies.insert(std::mem::take(&mut name), body.take().unwrap_or_default());
            }
            (Some(text), line) => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    bodies
}
