//! Refuses strategies for crates that are not part of the build.

use std::path::{Path, PathBuf};

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::request::Panics;

/// Refuses names of crates that are none of the inputs'.
pub fn check(panics: &Panics, inputs: &[PathBuf], own: &str) -> Result<()> {
    let mut known: Vec<String> = inputs.iter().filter_map(|path| crate_of(path)).collect();
    known.push(own.replace('-', "_"));
    known.sort();
    known.dedup();
    let unknown = panics.crates.keys().filter(|name| !known.contains(name));
    let problems: Vec<Diagnostic> = unknown
        .map(|name| {
            Diagnostic::error(
                Code::PanicCrate,
                format!("`panic-for` names the crate `{name}`, which is not in this build"),
            )
            .note(format!("the crates are {}", known.iter().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ")))
            .help("name a crate as in Rust code, one that the kernels depend on, or leave it out")
        })
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
}

/// The crate of an rlib, `libsha2-0a1b….rlib`, or of an object, `kernels-0a1b….kernels.…-cgu.0.rcgu.o`; else the file's
/// stem. What an incremental build calls an object, `kernels.HASH.….rcgu.o`, has the crate's name in its stem alone.
fn crate_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    if name.ends_with(".rcgu.o") && name.contains("-cgu.") {
        return name.split('.').nth(1).map(str::to_string);
    }
    let name = match name.strip_suffix(".rlib") {
        Some(library) => library.strip_prefix("lib").unwrap_or(library),
        None => name.split('.').next()?,
    };
    Some(name.split('-').next()?.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::PanicStrategy;

    #[test]
    fn crates_are_known_by_their_files() {
        let inputs = ["a/libsha2-0123.rlib", "b/my_kernels-45.my_kernels.89-cgu.0.rcgu.o", "c/libcore-9.rlib", "d/k.o"];
        let incremental = ["e/glam-45.1cn0vc1d9l38fmyadp4bo1chl.0hx2c8q.rcgu.o"];
        let inputs: Vec<PathBuf> = inputs.iter().chain(&incremental).map(PathBuf::from).collect();
        let check = |names: &[&str]| {
            let crates = names.iter().map(|name| (name.to_string(), PanicStrategy::Trap)).collect();
            check(&Panics { crates, ..Panics::default() }, &inputs, "my-kernels")
        };
        check(&["sha2", "my_kernels", "core", "k"]).unwrap();
        let error = check(&["sha3"]).unwrap_err().to_string();
        assert!(error.contains("`sha3`") && error.contains("`core`, `glam`, `k`, `my_kernels`, `sha2`"), "{error}");
    }
}
