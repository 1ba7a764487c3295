//! What packages for a registry need: their files lie in them, and what they depend on has a version.

use std::path::{Component, Path, PathBuf};

use toml::{Table, Value};

use super::tree::Tree;

/// A package that is published.
struct Package<'a> {
    folder: &'a Path,
    manifest: Table,
}

pub fn check(tree: &Tree) -> Vec<String> {
    let root = manifest(tree, Path::new("Cargo.toml")).unwrap_or_default();
    let mut findings = Vec::new();
    for package in packages(tree) {
        let file = package.folder.join("Cargo.toml");
        let unversioned = unversioned(&package.manifest, &root);
        findings.extend(unversioned.iter().map(|name| format!("{}: `{name}` has no version", file.display())));
        findings.extend(included_from_outside(&package, tree));
    }
    findings
}

fn packages(tree: &Tree) -> Vec<Package<'_>> {
    let manifests = tree.sources.iter().filter(|source| source.path.ends_with("Cargo.toml"));
    let published = manifests.filter_map(|source| {
        let manifest: Table = source.text.parse().ok()?;
        let is_published = manifest.get("package")?.get("publish") != Some(&Value::Boolean(false));
        is_published.then_some(Package { folder: source.path.parent()?, manifest })
    });
    published.collect()
}

fn manifest(tree: &Tree, path: &Path) -> Option<Table> {
    tree.sources.iter().find(|source| source.path == path)?.text.parse().ok()
}

/// Dependencies that have a path alone. cargo leaves such ones of tests out of the package.
fn unversioned(manifest: &Table, root: &Table) -> Vec<String> {
    let inherited = root.get("workspace").and_then(|workspace| workspace.get("dependencies"));
    let targets = manifest.get("target").and_then(Value::as_table).into_iter().flatten();
    let tables = std::iter::once(manifest).chain(targets.filter_map(|(_, table)| table.as_table()));
    let kinds = ["dependencies", "build-dependencies"];
    let all = tables.flat_map(|table| kinds.into_iter().filter_map(|kind| table.get(kind)?.as_table())).flatten();
    let has_path_alone = |(name, value): &(&String, &Value)| {
        let is_inherited = value.get("workspace").is_some();
        let value = if is_inherited { inherited.and_then(|all| all.get(name.as_str())) } else { Some(*value) };
        value.is_some_and(|value| value.get("path").is_some() && value.get("version").is_none())
    };
    all.filter(has_path_alone).map(|(name, _)| name.clone()).collect()
}

/// Files that the package's code includes, and that cargo does not put into it: it leaves out folders with a manifest of
/// their own, too.
fn included_from_outside(package: &Package<'_>, tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    let own = tree.sources.iter().filter(|source| source.path.starts_with(package.folder) && source.is("rs"));
    for source in own {
        let folder = source.path.parent().unwrap_or(Path::new(""));
        let tests = source.path.strip_prefix(package.folder).is_ok_and(|path| path.starts_with("tests"));
        for line in source.text.lines().filter(|line| !tests && !line.trim_start().starts_with("//")) {
            let names = ["include_str!(\"", "include_bytes!(\""].iter().filter_map(|name| line.split_once(name));
            for (_, rest) in names {
                let file = normal(&folder.join(rest.split('"').next().unwrap_or_default()));
                let inside = file.strip_prefix(package.folder).ok().and_then(Path::parent);
                let is_in_another = |inside: &Path| {
                    let folders = inside.ancestors().filter(|folder| *folder != Path::new(""));
                    folders.map(|folder| package.folder.join(folder).join("Cargo.toml")).any(|m| manifest_is(tree, &m))
                };
                if inside.is_none_or(is_in_another) {
                    let text = "is not in the package that includes it";
                    findings.push(format!("{}: `{}` {text}", source.path.display(), file.display()));
                }
            }
        }
    }
    findings
}

fn manifest_is(tree: &Tree, path: &Path) -> bool {
    tree.sources.iter().any(|source| source.path == path)
}

fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, part| {
        if part == Component::ParentDir {
            path.pop();
        } else {
            path.push(part);
        }
        path
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::tests::tree;

    #[test]
    fn what_a_registry_would_refuse_is_found() {
        let root = "[workspace.dependencies]\na = { path = \"a\", version = \"1\" }\nb = { path = \"b\" }\n";
        let of_a = "[package]\nname = \"a\"\n[dependencies]\nb.workspace = true\nlibm = \"1\"\n\
                    [target.x.build-dependencies]\nc = { path = \"../c\" }\n[dev-dependencies]\nd = { path = \"d\" }\n";
        let includes = "//! It.\n// include_str!(\"../../x\")\ninclude_str!(\"in.rs\")\ninclude_str!(\"../../out.rs\")\n\
                        include_bytes!(\"template/Cargo.toml\")\n";
        let files = [
            ("Cargo.toml", root),
            ("a/Cargo.toml", of_a),
            ("a/src/lib.rs", includes),
            ("a/src/template/Cargo.toml", "[package]\nname = \"{name}\"\npublish = false\n"),
            ("b/Cargo.toml", "[package]\nname = \"b\"\npublish = false\n[dependencies]\nc = { path = \"c\" }\n"),
        ];
        let expected = [
            "a/Cargo.toml: `b` has no version",
            "a/Cargo.toml: `c` has no version",
            "a/src/lib.rs: `out.rs` is not in the package that includes it",
            "a/src/lib.rs: `a/src/template/Cargo.toml` is not in the package that includes it",
        ];
        assert_eq!(check(&tree(&files)), expected);
    }
}
