//! Recursion that goes too deep, under compute-sanitizer's memcheck: not one access outside of a thread's stack, and the memory
//! around it as it was.

use std::process::ExitCode;

use ptx::prelude::*;
use ptx::{Error, Image};
use ptx_stack_kernels::SHAPES;
use serde_json::{Value, json};

use crate::record::{Test, skippable};
use crate::sanitizer::under;
use crate::stacks::{check, equal};

/// Panics leave the device as it is: memcheck would count a trap as an error, and one process does for all shapes.
static PROFILES: [(&str, Image); 2] =
    [("debug", ptx::image!("stack_exit_debug")), ("release", ptx::image!("stack_exit_release"))];

/// What a thread may have of stack, in bytes. Under the tool every access takes long.
const SIZES: [usize; 3] = [1024, 5000, 16 << 10];

/// Deeper than any of them: a turn keeps 32 bytes at least.
const TOO_DEEP: u32 = 1000;

/// Begins the names of this module's children.
const CHILD: &str = "sanitized stack";

pub fn tests() -> Vec<Test> {
    let sanitized = |(profile, (name, _)): (usize, &(&str, Image))| {
        skippable(&format!("stack: under compute-sanitizer, {name}"), move |_| {
            let said = under("memcheck", &["--child", &format!("{CHILD} {profile}")])?;
            judge(&said);
            Ok(())
        })
    };
    PROFILES.iter().enumerate().map(sanitized).collect()
}

/// What the tool and the program under it said.
fn judge(said: &str) {
    assert!(said.contains("ERROR SUMMARY: 0 errors"), "{said}");
    let found: Option<Vec<Value>> = said.lines().find_map(|line| serde_json::from_str(line).ok());
    let found = found.unwrap_or_else(|| panic!("the program under the tool printed no results:\n{said}"));
    let runs: Vec<_> = SIZES.iter().flat_map(|bytes| SHAPES.map(|(_, function)| (*bytes, function))).collect();
    assert_eq!(found.len(), runs.len(), "{said}");
    for (found, (bytes, function)) in found.iter().zip(runs) {
        check(found, function, bytes);
        assert_eq!(found["intact"], json!(true), "{found}");
    }
}

/// Goes too deep in every shape with every size, and prints what came of it; none if the name is another's.
pub fn child(name: &str) -> Option<ExitCode> {
    let profile: usize = name.strip_prefix(CHILD)?.trim().parse().ok()?;
    let result = overflows(&PROFILES.get(profile)?.1);
    println!("{}", result.map_or_else(|error| json!(error.to_string()), Value::Array));
    Some(ExitCode::SUCCESS)
}

fn overflows(image: &Image) -> ptx::Result<Vec<Value>> {
    let device = Device::first()?;
    device.set_heap_size(1 << 30)?;
    let module = device.load(image)?;
    let pattern: Vec<u32> = (0..1 << 18).map(|at: u32| at.wrapping_mul(0x9E37_79B9)).collect();
    let around = device.upload(&pattern)?;
    let mut found = Vec::new();
    for bytes in SIZES {
        device.set_stack_size(bytes)?;
        for shape in 0..SHAPES.len() as u32 {
            let shallow = equal(&device, &module, shape, 1)?;
            let size = device.stack_size()?;
            let deep = equal(&device, &module, shape, TOO_DEEP);
            let intact = device.download(&around)? == pattern;
            found.push(match deep {
                Err(Error::Panic(panic)) => json!({
                    "shallow": shallow, "intact": intact, "size": size,
                    "message": panic.message, "file": panic.file, "line": panic.line,
                }),
                other => json!({ "shallow": shallow, "intact": intact, "size": size, "other": format!("{other:?}") }),
            });
        }
    }
    Ok(found)
}
