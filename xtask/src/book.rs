//! `cargo xtask book`: the book as mdBook builds it, and that the links between its pages lead somewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::shell;
use crate::tidy::paths;

/// The version of mdBook; it is built from crates.io once and kept in the user's cache.
const MDBOOK: &str = "0.5.4";

/// Builds the book into target/book and checks its links.
pub fn run() -> Result<()> {
    let (mdbook, out) = (mdbook()?, shell::target_dir()?.join("book"));
    if out.exists() {
        std::fs::remove_dir_all(&out)?;
    }
    shell::run(Command::new(mdbook).args(["build", "docs", "--dest-dir"]).arg(&out))?;
    let mut pages = BTreeMap::new();
    read(&out, &out, &mut pages)?;
    let lost = lost(&pages, |file| out.join(file).exists());
    ensure!(lost.is_empty(), "the book has links that lead nowhere:\n  {}", lost.join("\n  "));
    println!("the book is {}", out.join("index.html").display());
    Ok(())
}

/// mdBook, which is built first where it is not there: in the dev profile, because that is less than half of the work,
/// and a book of ours takes it less than a second.
fn mdbook() -> Result<PathBuf> {
    let cache = ptx_setup::cache::root()?;
    let root = cache.join(format!("mdbook-{MDBOOK}"));
    let program = root.join("bin/mdbook");
    if !program.exists() {
        println!("building mdBook {MDBOOK}, once");
        let mut install = shell::cargo();
        install.args(["install", "mdbook", "--version", MDBOOK, "--locked", "--no-default-features", "--debug"]);
        // Its objects are large and never needed again.
        let build = tempfile::tempdir()?;
        install.env_remove("CARGO_TARGET_DIR").arg("--root").arg(&root).arg("--target-dir").arg(build.path());
        shell::run(install.env("CARGO_PROFILE_DEV_DEBUG", "0"))?;
    }
    Ok(program)
}

/// The text of every page below `folder`, by its path from `root`.
fn read(root: &Path, folder: &Path, pages: &mut BTreeMap<PathBuf, String>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read(root, &path, pages)?;
        } else if path.extension().is_some_and(|extension| extension == "html") {
            let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            pages.insert(path.strip_prefix(root)?.to_path_buf(), text);
        }
    }
    Ok(())
}

/// Links to files that are not there and to anchors that their page has not.
fn lost(pages: &BTreeMap<PathBuf, String>, exists: impl Fn(&Path) -> bool) -> Vec<String> {
    let mut lost = BTreeSet::new();
    for (page, text) in pages {
        // What is shown for a path that does not exist, and the whole book on a page, have links relative to elsewhere.
        if ["404.html", "print.html", "toc.html"].iter().any(|name| page.ends_with(name)) {
            continue;
        }
        for target in values(text, "href") {
            if target.contains(':') {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() {
                page.clone()
            } else {
                paths::plain(&page.parent().unwrap_or(Path::new("")).join(file))
            };
            let has = |page: &String| values(page, "id").any(|id| id == anchor);
            if !exists(&path) || !anchor.is_empty() && pages.get(&path).is_some_and(|page| !has(page)) {
                lost.insert(format!("{}: {target}", page.display()));
            }
        }
    }
    lost.into_iter().collect()
}

fn values<'a>(text: &'a str, attribute: &str) -> impl Iterator<Item = &'a str> {
    let start = format!(" {attribute}=\"");
    let values: Vec<&str> = text.split(&*start).skip(1).filter_map(|rest| rest.split('"').next()).collect();
    values.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_lead_nowhere_are_found() {
        let index =
            "<a href=\"a/b.html#x\"></a><a href=\"a/b.html#y\"></a><a href=\"c.html\"></a><a href=\"https://d\"></a>";
        let page = "<h1 id=\"x\"><a href=\"../index.html\"></a><a href=\"#x\"></a><a href=\"#z\"></a></h1>";
        let pages = BTreeMap::from([("index.html".into(), index.into()), ("a/b.html".into(), page.into())]);
        let expected = ["a/b.html: #z", "index.html: a/b.html#y", "index.html: c.html"];
        assert_eq!(lost(&pages, |file| pages.contains_key(file)), expected);
    }
}
