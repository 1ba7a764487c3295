//! The book's page of crates has a row for every crate that the kernels of `tests/kernels/crates` use, with its version.

use std::path::Path;

use super::tables::{BOOK, CRATE_KERNELS};
use super::tree::Tree;

#[path = "../../../tests/kernels/crates/src/list.rs"]
#[macro_use]
mod list;

macro_rules! rows {
    ($($group:ident $feature:literal { $($function:ident $name:literal $what:literal $note:literal;)* })*) => {
        /// Name, what runs, and what is to be said of it.
        const CRATES: &[(&str, &str, &str)] = &[$($(($name, $what, $note)),*),*];
    };
}
for_each_crate!(rows);

pub fn check(tree: &Tree) -> Vec<String> {
    let page = Path::new(BOOK).join("crates.md");
    let text = |path: &Path| tree.sources.iter().find(|source| source.path == path).map_or("", |source| &source.text);
    let rows = rows(text(Path::new("Cargo.lock")));
    let found: Vec<&str> = text(&page).lines().filter(|line| line.starts_with("| `")).collect();
    let lost = rows.iter().filter(|row| !found.contains(&row.as_str())).map(|row| format!("has no row\n{row}"));
    let unknown = found.iter().filter(|row| !rows.iter().any(|known| known == *row));
    let unknown = unknown.map(|row| format!("has a row that the list in {CRATE_KERNELS} lacks: {row}"));
    lost.chain(unknown).map(|what| format!("{} {what}", page.display())).collect()
}

/// The page's rows, by name.
fn rows(lock: &str) -> Vec<String> {
    let mut crates = CRATES.to_vec();
    crates.sort_unstable();
    let row = |(name, what, note): (&str, _, _)| format!("| `{name}` | {} | {what} | {note} |", version(lock, name));
    crates.into_iter().map(row).collect()
}

/// The version that the kernels' package has, which is in the lock file's list of its dependencies where there are several.
fn version<'a>(lock: &'a str, name: &str) -> &'a str {
    let packages = || lock.split("[[package]]\n").map(|package| package.split_once("version = \"").unwrap_or_default());
    let of = |name: &str| {
        let head = format!("name = \"{name}\"\n");
        packages().filter(move |(found, _)| *found == head).map(|(_, rest)| rest)
    };
    let kernels = of("ptx-crate-kernels").next().unwrap_or_default();
    let several = kernels.split_once(&format!("\n \"{name} ")).map(|(_, version)| version);
    several.or_else(|| of(name).next()).and_then(|rest| rest.split('"').next()).unwrap_or("none")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::tests::tree;

    const LOCK: &str = "[[package]]\nname = \"hex\"\nversion = \"0.4.3\"\n\n[[package]]\nname = \"aes\"\nversion = \"0.8.4\"\n\n\
                        [[package]]\nname = \"aes\"\nversion = \"0.9.0\"\n\n[[package]]\nname = \"ptx-crate-kernels\"\n\
                        version = \"0.1.0\"\ndependencies = [\n \"aes 0.9.0\",\n \"hex\",\n]\n";

    #[test]
    fn versions_are_those_of_the_kernels() {
        assert_eq!(["hex", "aes", "itoa"].map(|name| version(LOCK, name)), ["0.4.3", "0.9.0", "none"]);
    }

    #[test]
    fn rows_that_are_lost_and_rows_that_nobody_knows_are_found() {
        let page = |rows: &[String]| rows.join("\n");
        let findings = |text: &str| check(&tree(&[("Cargo.lock", LOCK), ("docs/src/crates.md", text)]));
        let rows = rows(LOCK);
        assert_eq!(findings(&page(&rows)), Vec::<String>::new());
        assert_eq!(findings(&page(&rows[1..])).len(), 1);
        assert_eq!(findings(&page(&rows).replacen("| `hex` | 0.4.3 |", "| `hex` | 0.4.2 |", 1)).len(), 2);
    }

    #[test]
    fn there_are_as_many_crates_as_promised() {
        let mut names: Vec<_> = CRATES.iter().map(|(name, ..)| name).collect();
        names.sort_unstable();
        names.dedup();
        assert!(names.len() >= 60 && names.len() == CRATES.len());
    }
}
