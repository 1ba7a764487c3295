//! `cargo xtask tidy`: rules that the sources obey and that no other tool checks.
//!
//! The tables that they compare with are in `tables.rs`.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, ensure};

use self::tree::{Source, Tree};
use crate::counts::Counts;
use crate::messages;

mod arrows;
mod comments;
mod crates;
mod cuda;
mod environment;
mod floors;
mod loops;
mod modules;
mod pages;
pub mod paths;
mod published;
mod stages;
mod tables;
mod text;
mod tree;
mod workspace;

/// How a rule looks for what is wrong; it says where that is.
enum Check {
    /// In one file after the other; the file's name is put before what it says.
    Each(fn(&Source) -> Vec<String>),
    Whole(fn(&Tree) -> Vec<String>),
}

/// Its name on the command line, what it demands, and how it is checked.
struct Rule(&'static str, &'static str, Check);

const RULES: &[Rule] = &[
    Rule("header", "every Rust file begins with `//!` and what it is for", Check::Each(text::header)),
    Rule("length", "no Rust file is over 800 lines", Check::Each(text::length)),
    Rule("paths", "no path of one machine is written down", Check::Each(text::machine_paths)),
    Rule("unfinished", "nothing is left to be done later", Check::Each(text::unfinished)),
    Rule("llvm", "LLVM is used in the compiler's folder llvm alone", Check::Each(text::llvm_stays_in_its_folder)),
    Rule("allow", "lints are expected with a reason, not allowed", Check::Each(text::bare_allow)),
    Rule("licence", "every package names the licence", Check::Each(text::licence)),
    Rule("comments", "doc comments say something", Check::Each(comments::empty)),
    Rule("links", "relative links lead to a file and a heading of it", Check::Whole(pages::links)),
    Rule("summary", "every page of the book stands in its summary", Check::Whole(pages::summary)),
    Rule("quotes", "code that a page quotes from a file is in that file", Check::Each(pages::quotes)),
    Rule("width", "no line of prose is over 120 columns", Check::Each(pages::width)),
    Rule("readme", "the README has at most 110 lines", Check::Each(pages::short_readme)),
    Rule("codes", "every code of our messages comes from somewhere, and a test names it", Check::Whole(codes)),
    Rule("environment", "the environment is read in few files", Check::Whole(environment::check)),
    Rule("loops", "no imports of files make a loop", Check::Whole(loops::of_files)),
    Rule("folders", "no imports of a folder's entries make a loop", Check::Whole(loops::of_folders)),
    Rule("packages", "no dependencies make a loop, those of tests included", Check::Whole(loops::of_packages)),
    Rule(
        "published",
        "packages for a registry have their files, and versions of others",
        Check::Whole(published::check),
    ),
    Rule("floors", "the compiler's modules take nothing from floors above", Check::Whole(floors::check)),
    Rule("crates", "the book's page of crates is as their kernels' list and Cargo.lock", Check::Whole(crates::check)),
    Rule("cuda", "what the page \"From CUDA C++\" names is in the sources", Check::Whole(cuda::check)),
    Rule("stages", "the page of the architecture lists the stages as they are called", Check::Whole(stages::check)),
];

/// Checks the rules named, or every rule.
pub fn run(names: &[String]) -> Result<ExitCode> {
    let known: Vec<&str> = RULES.iter().map(|Rule(name, ..)| *name).collect();
    let unknown = names.iter().find(|name| !known.contains(&name.as_str()));
    ensure!(unknown.is_none(), "no rule {}; there are {}", unknown.map_or("", |name| name), known.join(", "));
    let counts = check(|name| names.is_empty() || names.iter().any(|wanted| wanted == name))?;
    println!("{counts}");
    Ok(if counts.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// One test a rule.
pub fn counts() -> Result<Counts> {
    check(|_| true)
}

fn check(wanted: impl Fn(&str) -> bool) -> Result<Counts> {
    println!("\n== tidy");
    let tree = Tree::read()?;
    let mut counts = Counts::default();
    for Rule(name, demand, check) in RULES.iter().filter(|rule| wanted(rule.0)) {
        let findings = check.findings(&tree);
        println!("  {name:12} {demand}: {}", if findings.is_empty() { "ok" } else { "FAILED" });
        findings.iter().for_each(|finding| println!("    {finding}"));
        counts += if findings.is_empty() { Counts::pass() } else { Counts::fail() };
    }
    Ok(counts)
}

impl Check {
    fn findings(&self, tree: &Tree) -> Vec<String> {
        match self {
            Self::Whole(check) => check(tree),
            Self::Each(check) => {
                let said = |source| check(source).into_iter().map(|what| (source, what)).collect::<Vec<_>>();
                let all = tree.sources.iter().flat_map(said);
                all.map(|(source, what)| format!("{}:{what}", source.path.display())).collect()
            }
        }
    }
}

fn codes(tree: &Tree) -> Vec<String> {
    let files = tree.sources.iter().map(|file| (file.path.as_path(), file.text.as_str()));
    match tree.sources.iter().find(|source| source.path == Path::new(tables::COMPILER).join("codes.rs")) {
        Some(codes) => messages::check(&codes.text, files),
        None => vec![format!("{}/codes.rs is not there", tables::COMPILER)],
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::tree::tests::tree;
    use super::*;

    #[test]
    fn every_rule_has_a_name_of_its_own() {
        let names: BTreeSet<&str> = RULES.iter().map(|Rule(name, ..)| *name).collect();
        assert_eq!(names.len(), RULES.len());
        assert!(run(&["no-such-rule".into()]).is_err());
    }

    #[test]
    fn codes_are_checked_where_they_are() {
        let file = format!("{}/codes.rs", tables::COMPILER);
        let faults = codes(&tree(&[(&file, "    Nothing = 9999, \"nothing\",\n")]));
        assert_eq!(faults, ["PTX9999 (Nothing) comes from nowhere, and no test names it"]);
        assert_eq!(codes(&tree(&[])).len(), 1);
    }
}
