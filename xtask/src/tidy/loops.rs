//! No file imports from a file that imports from it, straight or by others; nor does a package, tests included.
//!
//! What an arrow is, `arrows.rs` says. The few loops that Rust's own idiom wants stand in the table PARENTS: a parent
//! with its children. The rule `folders` is the stricter one: it takes all that is in a folder for one module.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use super::arrows::Arrows;
use super::tables::{PARENTS, TESTS_TAKE_FROM_ABOVE};
use super::tree::Tree;

/// A file whose children may take from it what they share, while it calls them; with the reason.
type Parent = (&'static str, &'static str);

/// How many loops are printed: where there are more, most go with these.
const SHOWN: usize = 20;

/// Loops of files, and exceptions that are none.
pub fn of_files(tree: &Tree) -> Vec<String> {
    of_files_but(tree, PARENTS)
}

fn of_files_but(tree: &Tree, parents: &[Parent]) -> Vec<String> {
    match tree.arrows() {
        Ok(arrows) => excepting(arrows, parents),
        Err(error) => vec![format!("{error:#}")],
    }
}

/// Loops of the entries of each folder: there `a.rs` and the folder `a` are one module, with all that is in it. Those
/// of single files are left to the other rule.
pub fn of_folders(tree: &Tree) -> Vec<String> {
    let arrows = match tree.arrows() {
        Ok(arrows) => without_parents(arrows, PARENTS),
        Err(error) => return vec![format!("{error:#}")],
    };
    let is_folder = |entry: &&Path| tree.sources.iter().any(|source| source.path.strip_prefix(entry).is_ok());
    let of = |arrows: &Arrows| {
        let found = rings(arrows).into_iter().filter(|ring| ring.iter().any(is_folder));
        found.map(|ring| show(arrows, &ring)).collect::<Vec<_>>()
    };
    shown(by_folder(&arrows).values().flat_map(of).collect())
}

fn shown(mut loops: Vec<String>) -> Vec<String> {
    let more = loops.len().saturating_sub(SHOWN);
    if more > 0 {
        loops.truncate(SHOWN);
        loops.push(format!("and {more} more"));
    }
    loops
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

/// Every loop that `rings` finds, in words.
fn loops(arrows: &Arrows) -> Vec<String> {
    shown(rings(arrows).iter().map(|ring| show(arrows, ring)).collect())
}

/// The shortest loop through each arrow that is in one, each once, short ones first.
fn rings(arrows: &Arrows) -> Vec<Vec<&Path>> {
    let graph = Graph::new(arrows);
    let mut found = BTreeSet::new();
    for (from, to) in arrows.keys() {
        let Some(back) = graph.way(to, from) else { continue };
        let mut ring = [vec![from.as_path()], back].concat();
        ring.pop();
        let least = ring.iter().enumerate().min_by_key(|(_, file)| **file).map_or(0, |(at, _)| at);
        ring.rotate_left(least);
        found.insert((ring.len(), ring));
    }
    found.into_iter().map(|(_, ring)| ring).collect()
}

/// `a.rs → b.rs (takes X) → a.rs (takes Y)`.
fn show(arrows: &Arrows, ring: &[&Path]) -> String {
    let next = ring.iter().cycle().skip(1);
    let steps = ring.iter().zip(next).map(|(from, to)| {
        let takes = &arrows[&(from.to_path_buf(), to.to_path_buf())];
        format!(" → {} (takes {})", to.display(), Vec::from_iter(takes.iter().map(String::as_str)).join(", "))
    });
    format!("{}{}", ring[0].display(), steps.collect::<String>())
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
    use crate::tidy::tree::tests::tree;

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
        assert_eq!(of_files_but(&tree, &[]), expected);
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
        assert!(of_files_but(&tree, &[]).is_empty());
        let expected =
            "c/src/a → c/src/b (takes Kind for a/mod.rs from b.rs) → c/src/a (takes thing for b.rs from a/deep.rs)";
        assert_eq!(of_folders(&tree), [expected]);
    }

    #[test]
    fn macros_and_functions_of_types_have_files() {
        let tree = crate_of(&[
            ("lib.rs", "macro_rules! all { () => { $crate::a::f() } } mod a; mod b; mod c;"),
            ("a.rs", "pub fn f() { all!() } pub struct A;"),
            ("b.rs", "use crate::a::A; impl A { pub fn new() {} } pub fn g() { crate::c::h() }"),
            ("c.rs", "use crate::a::A; pub fn h() { A::new() }"),
        ]);
        let expected = [
            "c/src/a.rs → c/src/lib.rs (takes all) → c/src/a.rs (takes f)",
            "c/src/b.rs → c/src/c.rs (takes h) → c/src/b.rs (takes A::new)",
        ];
        assert_eq!(of_files_but(&tree, &[]), expected);
    }

    #[test]
    fn the_shortest_loops_are_shown() {
        let few: Vec<String> = (0..SHOWN).map(|number| number.to_string()).collect();
        assert_eq!(shown(few.clone()), few);
        let many = shown((0..SHOWN + 3).map(|number| number.to_string()).collect());
        assert_eq!((many.len(), &*many[SHOWN]), (SHOWN + 1, "and 3 more"));
    }

    #[test]
    fn tests_make_no_loop() {
        let tree = crate_of(&[
            ("lib.rs", "mod a; pub struct Root; pub fn f() { a::f() }"),
            ("a.rs", "pub fn f() {} #[cfg(test)] mod tests { use crate::Root; }"),
        ]);
        assert!(of_files_but(&tree, &[]).is_empty());
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
