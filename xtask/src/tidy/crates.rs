//! The book's page of crates has a row for every crate that the kernels of `tests/kernels/crates` use, with its version.

use std::path::Path;

use super::tables::{BOOK, CRATE_KERNELS};
use super::tree::Tree;

/// Name, what runs, and what is to be said of it.
type Crate<'a> = (&'a str, &'a str, &'a str);

pub fn check(tree: &Tree) -> Vec<String> {
    let page = Path::new(BOOK).join("crates.md");
    let text = |path: &Path| tree.sources.iter().find(|source| source.path == path).map_or("", |source| &source.text);
    let rows = rows(&listed(text(&Path::new(CRATE_KERNELS).join("src/list.rs"))), text(Path::new("Cargo.lock")));
    if rows.is_empty() {
        return vec![format!("{CRATE_KERNELS}/src/list.rs lists no crates")];
    }
    let found: Vec<&str> = text(&page).lines().filter(|line| line.starts_with("| `")).collect();
    let lost = rows.iter().filter(|row| !found.contains(&row.as_str())).map(|row| format!("has no row\n{row}"));
    let unknown = found.iter().filter(|row| !rows.iter().any(|known| known == *row));
    let unknown = unknown.map(|row| format!("has a row that the list in {CRATE_KERNELS} lacks: {row}"));
    lost.chain(unknown).map(|what| format!("{} {what}", page.display())).collect()
}

/// The list's rows: a function, three texts in quotes, a semicolon at the end of the line. A group's name is one more
/// text before its first row.
fn listed(list: &str) -> Vec<Crate<'_>> {
    let rows = list.split_once("$callback! {").map_or("", |(_, rows)| rows).split("\";\n");
    let texts = rows.map(|row| row.split('"').skip(1).step_by(2).collect::<Vec<_>>());
    texts.filter_map(|texts| texts.last_chunk().map(|[name, what, note]| (*name, *what, *note))).collect()
}

/// The page's rows, by name.
fn rows(crates: &[Crate<'_>], lock: &str) -> Vec<String> {
    let mut crates = crates.to_vec();
    crates.sort_unstable();
    let row = |(name, what, note): Crate<'_>| format!("| `{name}` | {} | {what} | {note} |", version(lock, name));
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

    const LIST: &str = "$callback! {\n c \"c\" {\n aes \"aes\" \"blocks; both ways\" \"soft\";\n }\n e \"e\" {\n\
                        hex \"hex\" \"both ways\"\n \"\";\n }\n}";

    #[test]
    fn rows_that_are_lost_and_rows_that_nobody_knows_are_found() {
        let list = format!("{CRATE_KERNELS}/src/list.rs");
        let findings = |text: &str| check(&tree(&[("Cargo.lock", LOCK), (&list, LIST), ("docs/src/crates.md", text)]));
        let rows = ["| `aes` | 0.9.0 | blocks; both ways | soft |", "| `hex` | 0.4.3 | both ways |  |"];
        assert_eq!(findings(&rows.join("\n")), Vec::<String>::new());
        assert_eq!(findings(rows[1]).len(), 1);
        assert_eq!(findings(&rows.join("\n").replace("0.4.3", "0.4.2")).len(), 2);
        assert_eq!(check(&tree(&[])).len(), 1);
    }
}
