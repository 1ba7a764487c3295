//! The book's page "From CUDA C++" names what there is: every Rust name in its second column occurs in the sources.

use std::collections::BTreeSet;
use std::path::Path;

use super::tables::{BOOK, NOT_OURS, USERS_CRATES};
use super::tree::Tree;

/// The page's file.
const PAGE: &str = "from-cuda.md";

pub fn check(tree: &Tree) -> Vec<String> {
    let path = Path::new(BOOK).join(PAGE);
    let Some(page) = tree.sources.iter().find(|source| source.path == path) else {
        return vec![format!("there is no page {}", path.display())];
    };
    let of_users = |path: &Path| USERS_CRATES.iter().any(|folder| path.starts_with(folder));
    let sources = tree.sources.iter().filter(|s| s.path.extension().is_some_and(|e| e == "rs") && of_users(&s.path));
    let known: BTreeSet<&str> = sources.flat_map(|source| source.text.lines().flat_map(code)).collect();
    let unknown = |name: &&str| !known.contains(name) && !NOT_OURS.contains(name);
    let rows = page.text.lines().enumerate().filter(|(_, line)| line.starts_with("| "));
    rows.flat_map(|(number, line)| names(line).into_iter().filter(unknown).map(move |name| (number + 1, name)))
        .map(|(line, name)| format!("{}:{line} names `{name}`, which is not in the sources", path.display()))
        .collect()
}

/// The words of a line of code, without its comment.
fn code(line: &str) -> impl Iterator<Item = &str> {
    words(line.split("//").next().unwrap_or_default())
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| word.starts_with(|c: char| !c.is_numeric()))
}

/// The words in a row's last column that stand between backquotes, but for what only ends others, such as `_x`.
fn names(row: &str) -> Vec<&str> {
    // `|` in code is escaped in tables.
    let column = row.trim_end_matches([' ', '|']).rsplit(" | ").next().unwrap_or_default();
    column.split('`').skip(1).step_by(2).flat_map(words).filter(|word| !word.starts_with('_')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::tests::tree;

    #[test]
    fn names_are_those_of_the_last_column() {
        assert_eq!(names("| `__ldg(p)` | by itself; `memory::load_nc(4)`, `_x` |"), ["memory", "load_nc"]);
        assert!(names("|---|---|").is_empty());
    }

    #[test]
    fn what_is_not_in_the_sources_is_found() {
        let page =
            "# Page\n\n| CUDA C++ | Here |\n|---|---|\n| `a` | `memory::load_nc(p)` |\n| `b` | `memory::load_xy` |\n";
        let source = "pub mod memory; // load_xy\npub fn load_nc(p: u8) {}\n";
        let findings =
            |page: &str| check(&tree(&[("docs/src/from-cuda.md", page), ("runtime/device/src/lib.rs", source)]));
        assert_eq!(findings(page), ["docs/src/from-cuda.md:6 names `load_xy`, which is not in the sources"]);
        assert_eq!(findings(&page.replace("load_xy", "load_nc")), Vec::<String>::new());
        assert_eq!(check(&tree(&[])).len(), 1);
    }
}
