//! Says which dependency brought a crate that needs `std`, and what to do about it.

use std::collections::{HashMap, VecDeque};
use std::path::Path;

use toml::{Table, Value};

use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Span};

use super::messages::CrateId;
use super::package::Package;

/// The message for one crate; `manifest` and `lock` are the device build's.
pub fn explain(found: &CrateId, package: &Package, manifest: &Path, lock: &str) -> Diagnostic {
    if found.manifest == manifest {
        let library = package.library().ok();
        let span = library.map(|file| Span { file: relative(&file, package), line: 1, column: 1 });
        return Diagnostic::error(Code::NeedsStd, format!("package `{}` needs `std`, which GPUs do not have", package.name))
            .at(span, "the crate begins here")
            .help("put `#![cfg_attr(target_arch = \"nvptx64\", no_std)]` at the top of the library, and `#[cfg(not(target_arch = \"nvptx64\"))]` on what only the host needs");
    }
    let chain = lock.parse::<Table>().ok().and_then(|lock| chain(&lock, &package.name, found)).unwrap_or_default();
    let direct = chain.get(1).map_or(found.package.as_str(), String::as_str);
    let key = dependency_key(&package.table, direct).unwrap_or_else(|| direct.to_string());
    let text = std::fs::read_to_string(&package.manifest).unwrap_or_default();
    let span = line_of(&text, &key).map(|line| Span { file: relative(&package.manifest, package), line, column: 0 });
    let mut diagnostic = Diagnostic::error(
        Code::NeedsStd,
        format!("crate `{}` {} needs `std`, which GPUs do not have", found.package, found.version),
    )
    .at(span, if chain.len() > 2 { "it comes by this dependency" } else { "it is this dependency" });
    if chain.len() > 2 {
        diagnostic = diagnostic.note(format!("it is reached by {}", chain.join(" → ")));
    }
    diagnostic
        .help(format!("if kernels use `{key}`: give it `default-features = false`, and see which of its features need `std`"))
        .help(format!(
            "if only the host uses `{key}`: move it to `[target.'cfg(not(target_arch = \"nvptx64\"))'.dependencies]`, or put \
             `host-only = [\"{key}\"]` into `[package.metadata.ptx]`"
        ))
}

/// As cargo and rustc show it.
fn relative(file: &Path, package: &Package) -> std::path::PathBuf {
    file.strip_prefix(package.root()).unwrap_or(file).to_path_buf()
}

/// Names of the packages on the shortest way from `root` to `goal` in a lock file, both included.
fn chain(lock: &Table, root: &str, goal: &CrateId) -> Option<Vec<String>> {
    let packages: Vec<&Value> = lock.get("package")?.as_array()?.iter().collect();
    let field = |index: usize, key: &str| packages[index].get(key).and_then(Value::as_str);
    let position = |name: &str, version: Option<&str>| {
        (0..packages.len())
            .find(|&i| field(i, "name") == Some(name) && version.is_none_or(|v| field(i, "version") == Some(v)))
    };
    let (start, goal) = (position(root, None)?, position(&goal.package, Some(&goal.version))?);
    let mut came_from = HashMap::from([(start, start)]);
    let mut queue = VecDeque::from([start]);
    while let Some(index) = queue.pop_front() {
        if index == goal {
            let mut names = vec![field(index, "name")?.to_string()];
            let mut at = index;
            while at != start {
                at = came_from[&at];
                names.push(field(at, "name")?.to_string());
            }
            names.reverse();
            return Some(names);
        }
        for item in packages[index].get("dependencies").and_then(Value::as_array).into_iter().flatten() {
            // `name`, `name version` or `name version (source)`.
            let mut words = item.as_str()?.split(' ');
            if let Some(next) = words.next().and_then(|name| position(name, words.next()))
                && !came_from.contains_key(&next)
            {
                came_from.insert(next, index);
                queue.push_back(next);
            }
        }
    }
    None
}

/// What the manifest calls the package: dependencies may be renamed.
fn dependency_key(table: &Table, package: &str) -> Option<String> {
    let targets = table
        .get("target")
        .and_then(Value::as_table)
        .into_iter()
        .flatten()
        .map(|(_, target)| target.get("dependencies"));
    let tables = std::iter::once(table.get("dependencies")).chain(targets).flatten().filter_map(Value::as_table);
    let mut entries = tables.flat_map(|table| table.iter());
    let renamed = |value: &Value| value.get("package").and_then(Value::as_str) == Some(package);
    entries
        .find(|(key, value)| renamed(value) || (key.as_str() == package && value.get("package").is_none()))
        .map(|(key, _)| key.clone())
}

/// The line, from 1, on which a manifest names a dependency.
fn line_of(manifest: &str, key: &str) -> Option<u32> {
    let mut in_dependencies = false;
    for (number, line) in (1..).zip(manifest.lines()) {
        let line = line.trim();
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            if section.ends_with(&format!("dependencies.{key}")) {
                return Some(number);
            }
            in_dependencies = section == "dependencies" || section.ends_with(".dependencies");
        } else if in_dependencies
            && let Some(rest) = line.trim_start_matches(['"', '\'']).strip_prefix(key)
            && rest.starts_with([' ', '=', '.', '"', '\''])
        {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "[package]\nname = \"app\"\n\n[dependencies]\nptx = \"1\"\nrandom = { package = \"rand\", version = \"0.9\" }\n\n[dependencies.glam]\nversion = \"1\"\n\n[target.'cfg(all())'.dependencies]\n\"quoted\" = \"1\"\n[build-dependencies]\ncc = \"1\"\n";
    const LOCK: &str = "version = 4\n[[package]]\nname = \"app\"\nversion = \"0.1.0\"\ndependencies = [\"ptx\", \"rand 0.9.1\"]\n[[package]]\nname = \"ptx\"\nversion = \"1.0.0\"\n[[package]]\nname = \"rand\"\nversion = \"0.9.1\"\ndependencies = [\"getrandom\"]\n[[package]]\nname = \"rand\"\nversion = \"0.8.0\"\n[[package]]\nname = \"getrandom\"\nversion = \"0.3.0\"\n";

    fn found(name: &str, version: &str) -> CrateId {
        CrateId {
            manifest: format!("/registry/{name}/Cargo.toml").into(),
            package: name.into(),
            version: version.into(),
        }
    }

    fn package() -> Package {
        let table: Table = MANIFEST.parse().unwrap();
        Package {
            manifest: "/nonexistent/Cargo.toml".into(),
            root_manifest: "/nonexistent/Cargo.toml".into(),
            root_table: table.clone(),
            table,
            name: "app".into(),
        }
    }

    #[test]
    fn dependencies_are_found_by_line() {
        for (key, line) in
            [("ptx", Some(5)), ("random", Some(6)), ("glam", Some(8)), ("quoted", Some(12)), ("cc", None), ("pt", None)]
        {
            assert_eq!(line_of(MANIFEST, key), line, "{key}");
        }
    }

    #[test]
    fn the_shortest_way_is_named() {
        let lock: Table = LOCK.parse().unwrap();
        assert_eq!(chain(&lock, "app", &found("getrandom", "0.3.0")).unwrap(), ["app", "rand", "getrandom"]);
        assert_eq!(chain(&lock, "app", &found("rand", "0.9.1")).unwrap(), ["app", "rand"]);
        assert_eq!(chain(&lock, "app", &found("rand", "0.8.0")), None);
        assert_eq!(chain(&lock, "app", &found("absent", "1.0.0")), None);
    }

    #[test]
    fn the_message_names_crate_dependency_and_remedy() {
        let text = explain(&found("getrandom", "0.3.0"), &package(), Path::new("/gen/Cargo.toml"), LOCK).to_string();
        for part in [
            "`getrandom` 0.3.0 needs `std`",
            "app → rand → getrandom",
            "`random`",
            "default-features = false",
            "host-only = [\"random\"]",
        ] {
            assert!(text.contains(part), "{part} in:\n{text}");
        }
        let own = CrateId { manifest: "/gen/Cargo.toml".into(), ..found("app", "0.1.0") };
        let text = explain(&own, &package(), Path::new("/gen/Cargo.toml"), LOCK).to_string();
        assert!(text.contains("package `app` needs `std`") && text.contains("no_std"), "{text}");
    }
}
