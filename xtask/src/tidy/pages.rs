//! Rules of the README and the book: links and their headings, quoted code, widths.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::paths::plain;
use super::tables::{BOOK, MAX_COLUMNS, MAX_README_LINES};
use super::tree::{Source, Tree};

/// Relative links lead to files that are there and to headings that they have; those of the book stay in the book,
/// because a page elsewhere is none of the built book.
pub fn links(tree: &Tree) -> Vec<String> {
    let pages = tree.sources.iter().filter(|source| source.is("md"));
    pages.flat_map(|page| targets(&page.text).into_iter().filter_map(|target| fault(tree, page, target))).collect()
}

fn fault(tree: &Tree, page: &Source, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let wrong = |what: &str| Some(format!("{}: link to `{target}`: {what}", page.path.display()));
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let folder = page.path.parent().unwrap_or(Path::new(""));
    let path = if file.is_empty() { page.path.clone() } else { plain(&folder.join(file)) };
    let found = tree.sources.iter().find(|source| source.path == path);
    if found.is_none() && !tree.sources.iter().any(|source| source.path.starts_with(&path)) {
        return wrong("no such file");
    }
    if page.path.starts_with(BOOK) && !path.starts_with(BOOK) {
        return wrong("the built book does not have what lies outside of it");
    }
    let missing = found.is_some_and(|found| !heading.is_empty() && !headings(&found.text).contains(heading));
    if missing { wrong("no such heading") } else { None }
}

/// Every page of the book stands in its summary.
pub fn summary(tree: &Tree) -> Vec<String> {
    let summary = Path::new(BOOK).join("SUMMARY.md");
    let Some(list) = tree.sources.iter().find(|source| source.path == summary) else {
        return vec![format!("{} is not there", summary.display())];
    };
    let listed: BTreeSet<PathBuf> = targets(&list.text).iter().map(|page| Path::new(BOOK).join(page)).collect();
    let pages = tree.sources.iter().filter(|page| page.is("md") && page.path.starts_with(BOOK));
    let lost = pages.filter(|page| page.path != summary && !listed.contains(&page.path));
    lost.map(|page| format!("{} is not in SUMMARY.md", page.path.display())).collect()
}

/// The targets of the links in a page.
fn targets(text: &str) -> Vec<&str> {
    let links = |line| prose_of(line).into_iter().flat_map(|prose: &str| prose.split("](").skip(1));
    // A link's text may be code, so that what comes after `](` may stand in another piece of prose than what is before.
    outside_code(text).flat_map(|(_, line)| links(line)).filter_map(|rest| rest.split(')').next()).collect()
}

/// The anchors that mdBook makes of headings, as GitHub does.
fn headings(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line) in outside_code(text) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let kept = title.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let anchor = kept.collect::<String>().to_lowercase().replace(' ', "-");
        let next = (1..).map(|number| format!("{anchor}-{number}"));
        anchors.extend([anchor.clone()].into_iter().chain(next).find(|anchor| !anchors.contains(anchor)));
    }
    anchors
}

/// A block below `<!-- from PATH -->` holds lines of that file, in their order; lines may be left out.
pub fn quotes(source: &Source) -> Vec<String> {
    if !source.is("md") {
        return vec![];
    }
    let mut findings = Vec::new();
    for quote in source.text.split("<!-- from ").skip(1) {
        let Some((path, rest)) = quote.split_once(" -->\n```") else {
            findings.push("`<!-- from PATH -->` stands right above a block of code".into());
            continue;
        };
        let Ok(text) = std::fs::read_to_string(path) else {
            findings.push(format!("cannot read `{path}`, which is quoted"));
            continue;
        };
        // Documentation tests are quoted without their comments' signs, a template with a package's name.
        let text = text.replace("{crate}", "demo");
        // The comment may be a module's, or an item's; a line that is none of these stays as it is.
        let mut lines = text
            .lines()
            .flat_map(|line| [line.trim_start_matches("//!").trim(), line.strip_prefix("/// ").unwrap_or(line).trim()]);
        let block = rest.split("\n```").next().unwrap_or_default();
        let lost =
            block.lines().skip(1).find(|quoted| !quoted.trim().is_empty() && !lines.any(|line| line == quoted.trim()));
        findings.extend(lost.map(|line| format!("`{path}` has not, or not there: {}", line.trim())));
    }
    findings
}

/// Lines of prose end at column 120, but for what cannot be broken: tables, code, and a long link.
pub fn width(source: &Source) -> Vec<String> {
    let ours = source.path.starts_with("docs") || source.path.parent() == Some(Path::new(""));
    if !ours || !source.is("md") {
        return vec![];
    }
    let columns = |text: &str| text.chars().count();
    // Without its longest word it would be too long as well.
    let wrong = |line: &str| {
        let longest = line.split_whitespace().map(columns).max().unwrap_or(0);
        columns(line) > MAX_COLUMNS && longest <= MAX_COLUMNS / 2 && !line.trim_start().starts_with('|')
    };
    let lines = outside_code(&source.text).filter(|(_, line)| wrong(line));
    lines.map(|(number, line)| format!("{number}: {} columns", columns(line))).collect()
}

pub fn short_readme(source: &Source) -> Vec<String> {
    let lines = source.text.lines().count();
    let good = source.path != Path::new("README.md") || lines <= MAX_README_LINES;
    if good { vec![] } else { vec![format!("{lines} lines")] }
}

/// Numbered lines outside of blocks of code.
pub fn outside_code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut inside = false;
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    lines.filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !inside && !fence
    })
}

/// The line without what stands between backticks.
fn prose_of(line: &str) -> Vec<&str> {
    line.split('`').step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::tests::{source, tree};

    #[test]
    fn links_are_followed_to_their_headings() {
        let readme = "# A title: `code`!\n## Same\n## Same\n[a](#a-title-code) [b](docs/src/a.md#b) [c](#same-1) [d](x.md)\n\
                      [`e`](docs) [f](#same-2) [g](https://example.org#x) `[h](h.md)`\n```\n[i](i.md)\n```\n";
        let page = "# B\n[a](b.md#c) [b](../../README.md) [c](#b)\n[`d`](#d)";
        let tree = tree(&[("README.md", readme), ("docs/src/a.md", page), ("docs/src/b.md", "# B")]);
        let expected = [
            "README.md: link to `x.md`: no such file",
            "README.md: link to `#same-2`: no such heading",
            "docs/src/a.md: link to `b.md#c`: no such heading",
            "docs/src/a.md: link to `../../README.md`: the built book does not have what lies outside of it",
            "docs/src/a.md: link to `#d`: no such heading",
        ];
        assert_eq!(links(&tree), expected);
    }

    #[test]
    fn every_page_is_in_the_summary() {
        let pages = [("docs/src/SUMMARY.md", "- [A](a.md)"), ("docs/src/a.md", ""), ("docs/src/b/c.md", "")];
        assert_eq!(summary(&tree(&pages)), ["docs/src/b/c.md is not in SUMMARY.md"]);
        assert_eq!(summary(&tree(&[])), ["docs/src/SUMMARY.md is not there"]);
    }

    #[test]
    fn quotes_are_quoted() {
        let right = "<!-- from Cargo.toml -->\n```toml\n[package]\n\n[dependencies]\n```\nb";
        assert!(quotes(&source("a.md", right)).is_empty());
        let wrong = "<!-- from Cargo.toml -->\n```toml\n[package]\nnot there\n```\n";
        assert_eq!(quotes(&source("README.md", wrong)).len(), 1);
    }

    #[test]
    fn long_lines_and_pages_are_found() {
        let long = "word ".repeat(25);
        let link = format!("a [link](https://example.org/{})", "x".repeat(120));
        let page = format!("{long}\n| {long} |\n{link}\n```\n{long}\n```\n");
        assert_eq!(width(&source("docs/src/a.md", &page)), ["1: 125 columns"]);
        assert!(width(&source("ui-tests/a.md", &page)).is_empty());
        assert_eq!(short_readme(&source("README.md", &"a\n".repeat(111))), ["111 lines"]);
        assert!(short_readme(&source("README.md", &"a\n".repeat(110))).is_empty());
    }
}
