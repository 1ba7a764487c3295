//! No file imports from a file that imports from it, straight or by others; nor does a package, tests included.
//!
//! What an arrow is, `arrows.rs` says. The few loops that Rust's own idiom wants stand in the table PARENTS: a parent with
//! its children. `folders` is the stricter rule of the two: where it finds nothing, `loops` finds nothing either.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::Tree;
use super::arrows::{self, Arrows};
use super::modules::{Files, Modules};
use super::tables::{NO_LOOPS_IN, PARENTS, TESTS_TAKE_FROM_ABOVE};
use crate::shell;

/// A file whose children may take from it what they share, while it calls them; with the reason.
type Parent = (&'static str, &'static str);

/// What cargo knows of the workspace that matters here.
pub struct Workspace {
    /// The first file of every library, program, test and build script.
    pub roots: BTreeSet<PathBuf>,
    /// Which package names which, also for tests and build scripts alone.
    pub packages: Arrows,
}

impl Workspace {
    /// Asks cargo.
    pub fn read() -> Result<Self> {
        let text = shell::output(shell::cargo().args(["metadata", "--no-deps", "--offline", "--format-version=1"]))?;
        let metadata: serde_json::Value = serde_json::from_str(&text)?;
        let here = std::env::current_dir()?;
        let relative = |path: &serde_json::Value| {
            let path = path.as_str().map(Path::new)?;
            path.strip_prefix(&here).ok().map(Path::to_path_buf)
        };
        let list = |value: &serde_json::Value| value.as_array().cloned().unwrap_or_default();
        let mut workspace = Self { roots: BTreeSet::new(), packages: Arrows::new() };
        for package in list(&metadata["packages"]) {
            let targets = list(&package["targets"]);
            let roots = targets.iter().filter_map(|target| relative(&target["src_path"]));
            workspace.roots.extend(roots.filter(|root| NO_LOOPS_IN.iter().any(|folder| root.starts_with(folder))));
            let name = package["name"].as_str().context("a package without a name")?;
            for dependency in list(&package["dependencies"]) {
                if let (Some(path), Some(other)) = (relative(&dependency["path"]), dependency["name"].as_str()) {
                    let kind = dependency["kind"].as_str().map_or_else(String::new, |kind| format!("{kind}-"));
                    let what = format!("{} as a {kind}dependency", path.display());
                    workspace.packages.entry((name.into(), other.into())).or_default().insert(what);
                }
            }
        }
        Ok(workspace)
    }

    /// Every arrow between files.
    pub fn arrows(&self, files: &Files<'_>) -> Result<Arrows> {
        let mut arrows = Arrows::new();
        let ours = |root: &&PathBuf| files.contains_key(root.as_path());
        for root in self.roots.iter().filter(ours) {
            arrows::add(&Modules::read(root, files)?, &mut arrows);
        }
        Ok(arrows)
    }
}

/// Loops of files, and exceptions that are none.
pub fn of_files(tree: &Tree) -> Vec<String> {
    match tree.arrows() {
        Ok(arrows) => excepting(arrows, PARENTS),
        Err(error) => vec![format!("{error:#}")],
    }
}

/// Loops of the entries of each folder: there `a.rs` and the folder `a` are one module, with all that is in it.
pub fn of_folders(tree: &Tree) -> Vec<String> {
    match tree.arrows() {
        Ok(arrows) => {
            by_folder(&without_parents(arrows, PARENTS)).iter().flat_map(|(_, arrows)| loops(arrows)).collect()
        }
        Err(error) => vec![format!("{error:#}")],
    }
}

/// Loops of packages.
pub fn of_packages(tree: &Tree) -> Vec<String> {
    let mut packages = tree.workspace.packages.clone();
    let mut findings = Vec::new();
    for (from, to, _) in TESTS_TAKE_FROM_ABOVE {
        let arrow = (PathBuf::from(from), PathBuf::from(to));
        let dependency = packages.remove(&arrow);
        if dependency.is_none_or(|kinds| !kinds.iter().any(|kind| kind.contains("dev-"))) {
            findings.push(format!("no test of {from} takes from {to}: take the exception out"));
        }
    }
    findings.extend(loops(&packages));
    findings
}

fn without_parents(arrows: &Arrows, parents: &[Parent]) -> Arrows {
    let excepted = |(from, to): &(PathBuf, PathBuf)| {
        parents.iter().any(|(parent, _)| to == Path::new(parent) && is_child(from, to))
    };
    arrows.iter().filter(|(arrow, _)| !excepted(arrow)).map(|(arrow, what)| (arrow.clone(), what.clone())).collect()
}

fn excepting(arrows: &Arrows, parents: &[Parent]) -> Vec<String> {
    let mut findings = loops(&without_parents(arrows, parents));
    for (index, (parent, _)) in parents.iter().enumerate() {
        let others = [&parents[..index], &parents[index + 1..]].concat();
        let arrows = without_parents(arrows, &others);
        let graph = Graph::new(&arrows);
        let makes_loop = |(from, to): &(PathBuf, PathBuf)| {
            to == Path::new(parent) && is_child(from, to) && graph.way(to, from).is_some()
        };
        if !arrows.keys().any(makes_loop) {
            findings.push(format!("{parent} makes no loop with its children: take the exception out"));
        }
    }
    findings
}

/// Whether `file` is in the folder of modules below `parent`.
fn is_child(file: &Path, parent: &Path) -> bool {
    let heads_folder = ["mod.rs", "lib.rs", "main.rs"].iter().any(|name| parent.ends_with(name));
    let folder = if heads_folder { parent.parent().map(Path::to_path_buf) } else { Some(parent.with_extension("")) };
    folder.is_some_and(|folder| file.starts_with(folder))
}

/// The arrows between the entries of each folder.
fn by_folder(arrows: &Arrows) -> BTreeMap<PathBuf, Arrows> {
    let mut folders: BTreeMap<PathBuf, Arrows> = BTreeMap::new();
    for ((from, to), what) in arrows {
        let common: PathBuf = from.iter().zip(to).take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
        let entry = |file: &Path| {
            let name = file.strip_prefix(&common).ok()?.iter().next()?;
            Some(common.join(name).with_extension(""))
        };
        let (Some(from_entry), Some(to_entry)) = (entry(from), entry(to)) else { continue };
        if from_entry != to_entry {
            let inside = |file: &Path| file.strip_prefix(&common).unwrap_or(file).display().to_string();
            let names = Vec::from_iter(what.iter().map(String::as_str)).join(", ");
            let what = format!("{names} for {} from {}", inside(from), inside(to));
            let folder = folders.entry(common.clone()).or_default();
            folder.entry((from_entry, to_entry)).or_default().insert(what);
        }
    }
    folders
}

/// The shortest loop through each arrow that is in one, each once: `a.rs → b.rs (takes X) → a.rs (takes Y)`.
fn loops(arrows: &Arrows) -> Vec<String> {
    let graph = Graph::new(arrows);
    let mut found = BTreeSet::new();
    for (from, to) in arrows.keys() {
        let Some(back) = graph.way(to, from) else { continue };
        let mut loop_of = [vec![from.as_path()], back].concat();
        loop_of.pop();
        let least = loop_of.iter().enumerate().min_by_key(|(_, file)| **file).map_or(0, |(at, _)| at);
        loop_of.rotate_left(least);
        found.insert((loop_of.len(), loop_of));
    }
    let show = |files: &[&Path]| {
        let next = files.iter().cycle().skip(1);
        let steps = files.iter().zip(next).map(|(from, to)| {
            let takes = &arrows[&(from.to_path_buf(), to.to_path_buf())];
            format!(" → {} (takes {})", to.display(), Vec::from_iter(takes.iter().map(String::as_str)).join(", "))
        });
        format!("{}{}", files[0].display(), steps.collect::<String>())
    };
    found.iter().map(|(_, files)| show(files)).collect()
}

struct Graph<'a>(BTreeMap<&'a Path, Vec<&'a Path>>);

impl<'a> Graph<'a> {
    fn new(arrows: &'a Arrows) -> Self {
        let mut graph: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (from, to) in arrows.keys() {
            graph.entry(from.as_path()).or_default().push(to.as_path());
        }
        Self(graph)
    }

    /// The shortest way, both ends in it.
    fn way(&self, from: &'a Path, to: &Path) -> Option<Vec<&'a Path>> {
        let mut before = BTreeMap::from([(from, from)]);
        let mut queue = VecDeque::from([from]);
        while let Some(mut file) = queue.pop_front() {
            if file == to {
                let mut way = vec![file];
                while before[file] != file {
                    file = before[file];
                    way.insert(0, file);
                }
                return Some(way);
            }
            for &next in self.0.get(file).into_iter().flatten() {
                before.entry(next).or_insert_with(|| {
                    queue.push_back(next);
                    file
                });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::tree;

    const PARENT: &[Parent] = &[("c/src/a/mod.rs", "a test")];

    /// `lib.rs` and these files of the folder `c/src`.
    fn crate_of(files: &[(&str, &str)]) -> Tree {
        let paths: Vec<(String, &str)> = files.iter().map(|(file, text)| (format!("c/src/{file}"), *text)).collect();
        tree(&paths.iter().map(|(file, text)| (file.as_str(), *text)).collect::<Vec<_>>())
    }

    #[test]
    fn loops_of_files_are_named() {
        let tree = crate_of(&[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::{self, Two}; fn f() { b::two(); g!(crate::c::three()) } #[cfg(test)] mod tests;"),
            ("b.rs", "pub use self::inner::Two; mod inner { pub struct Two; } pub fn two() { super::c::three() }"),
            ("c.rs", "pub fn three() -> crate::a::Missing { } made! { struct Missing; }"),
        ]);
        let expected = [
            "c/src/a.rs → c/src/c.rs (takes three) → c/src/a.rs (takes Missing)",
            "c/src/a.rs → c/src/b.rs (takes Two, two) → c/src/c.rs (takes three) → c/src/a.rs (takes Missing)",
        ];
        assert_eq!(of_files(&tree), expected);
    }

    #[test]
    fn re_exports_are_looked_through_and_aliases_followed() {
        let tree = crate_of(&[
            ("lib.rs", "mod a; mod b; pub use a::thing; pub struct Root;"),
            ("a/mod.rs", "mod deep; pub use deep::*; use crate::b as other; fn f() { other::Kind::make() }"),
            ("a/deep.rs", "pub fn thing() {}"),
            ("b.rs", "pub enum Kind { A } fn g() { crate::thing() }"),
        ]);
        // `b` takes `thing` from a/deep.rs, not from those that pass it on.
        assert!(of_files(&tree).is_empty());
        let expected =
            "c/src/a → c/src/b (takes Kind for a/mod.rs from b.rs) → c/src/a (takes thing for b.rs from a/deep.rs)";
        assert_eq!(of_folders(&tree), [expected]);
    }

    #[test]
    fn tests_make_no_loop() {
        let tree = crate_of(&[
            ("lib.rs", "mod a; pub struct Root; pub fn f() { a::f() }"),
            ("a.rs", "pub fn f() {} #[cfg(test)] mod tests { use crate::Root; }"),
        ]);
        assert!(of_files(&tree).is_empty());
    }

    #[test]
    fn a_parent_may_be_excepted_while_it_needs_to() {
        let files = [
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "mod b; pub struct Shared; fn f() { b::g() }"),
            ("a/b.rs", "use super::Shared; pub fn g() {}"),
        ];
        let tree = crate_of(&files);
        let arrows = tree.arrows().expect("it is Rust");
        assert_eq!(excepting(arrows, &[]).len(), 1);
        assert!(excepting(arrows, PARENT).is_empty());
        let tree = crate_of(&[files[0], files[1], ("a/b.rs", "pub fn g() {}")]);
        let arrows = tree.arrows().expect("it is Rust");
        assert_eq!(
            excepting(arrows, PARENT),
            ["c/src/a/mod.rs makes no loop with its children: take the exception out"]
        );
    }

    #[test]
    fn packages_make_no_loop() {
        let mut tree = tree(&[]);
        assert_eq!(of_packages(&tree).len(), TESTS_TAKE_FROM_ABOVE.len());
        let dev = |from: &str, to: &str| ((from.into(), to.into()), BTreeSet::from(["x as a dev-dependency".into()]));
        tree.workspace.packages = TESTS_TAKE_FROM_ABOVE.iter().map(|(from, to, _)| dev(from, to)).collect();
        assert!(of_packages(&tree).is_empty());
        tree.workspace.packages.extend([dev("a", "b"), dev("b", "a")]);
        assert_eq!(of_packages(&tree), ["a → b (takes x as a dev-dependency) → a (takes x as a dev-dependency)"]);
    }
}
