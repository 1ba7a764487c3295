//! `cargo xtask tidy`: rules that the sources obey and that no other tool checks.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::counts::Counts;
use crate::{messages, shell};

/// The most lines that a Rust file may have.
const MAX_LINES: usize = 800;

/// Folders of one machine; a path below one of them must not be written down.
const MACHINE_FOLDERS: [&str; 5] = ["home/", "root/", "tmp/", "work/", "Users/"];

/// A file of the repository.
struct Source {
    path: PathBuf,
    text: String,
}

/// A rule and the check of one file against it: what is wrong, with the line where there is one.
type Rule = (&'static str, fn(&Source) -> Vec<String>);

const RULES: &[Rule] = &[
    ("every Rust file begins with `//!` and what it is for", header),
    ("no Rust file is over 800 lines", length),
    ("no path of one machine is written down", machine_paths),
    ("nothing is left to be done later", unfinished),
    ("LLVM is used in codegen/src/llvm alone", llvm_stays_in_its_folder),
    ("lints are expected with a reason, not allowed", bare_allow),
    ("every package names the licence", licence),
    ("relative links lead somewhere", links),
    ("code that a page quotes from a file is in that file", quotes),
    ("every code of our messages comes from somewhere, and a test names it", codes),
];

/// Checks every rule.
pub fn run() -> Result<ExitCode> {
    let counts = counts()?;
    println!("{counts}");
    Ok(if counts.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// One test a rule.
pub fn counts() -> Result<Counts> {
    println!("\n== tidy");
    let sources = sources()?;
    let mut counts = Counts::default();
    for (rule, check) in RULES {
        let findings: Vec<String> = sources
            .iter()
            .flat_map(|source| check(source).into_iter().map(|what| format!("{}: {what}", source.path.display())))
            .collect();
        println!("  {rule}: {}", if findings.is_empty() { "ok" } else { "FAILED" });
        findings.iter().for_each(|finding| println!("    {finding}"));
        counts += if findings.is_empty() { Counts::pass() } else { Counts::fail() };
    }
    Ok(counts)
}

/// Every text file that git has or would take.
fn sources() -> Result<Vec<Source>> {
    let list = shell::output(Command::new("git").args(["ls-files", "--cached", "--others", "--exclude-standard"]))
        .context("tidy asks git for the list of files")?;
    let read = |path: &str| Some(Source { path: path.into(), text: std::fs::read_to_string(path).ok()? });
    Ok(list.lines().filter_map(read).collect())
}

impl Source {
    fn is(&self, extension: &str) -> bool {
        self.path.extension().is_some_and(|found| found == extension)
    }

    /// Line number and text of every line that `wrong` finds fault with.
    fn lines_where(&self, wrong: impl Fn(&str) -> bool) -> Vec<String> {
        let lines = self.text.lines().enumerate().filter(|(_, line)| wrong(line));
        lines.map(|(index, line)| format!("{}: {}", index + 1, line.trim())).collect()
    }
}

fn header(source: &Source) -> Vec<String> {
    let good = !source.is("rs") || source.text.starts_with("//! ");
    if good { vec![] } else { vec!["the first line is not `//! …`".into()] }
}

fn length(source: &Source) -> Vec<String> {
    let lines = source.text.lines().count();
    if !source.is("rs") || lines <= MAX_LINES { vec![] } else { vec![format!("{lines} lines")] }
}

fn machine_paths(source: &Source) -> Vec<String> {
    let part_of_a_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '}' | ')' | '/' | '*');
    source.lines_where(|line| {
        MACHINE_FOLDERS.iter().any(|folder| {
            line.match_indices(&format!("/{folder}")).any(|(at, _)| !line[..at].ends_with(part_of_a_name))
        })
    })
}

fn unfinished(source: &Source) -> Vec<String> {
    let words = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("to", "do!("), concat!("unimple", "mented!(")];
    // Programs that panic in every way say so.
    let panics = source.text.contains("#![expect(clippy::todo, ");
    let counts = |word: &&str| !(panics && word.ends_with("!("));
    source.lines_where(|line| words.iter().filter(|word| counts(word)).any(|word| line.contains(word)))
}

fn llvm_stays_in_its_folder(source: &Source) -> Vec<String> {
    if !source.is("rs") || source.path.starts_with("codegen/src/llvm") {
        return vec![];
    }
    let names = [concat!("ink", "well::"), concat!("llvm", "_sys::"), concat!("use ink", "well")];
    source.lines_where(|line| !line.trim_start().starts_with("//") && names.iter().any(|name| line.contains(name)))
}

fn bare_allow(source: &Source) -> Vec<String> {
    let attributes = [concat!("#[al", "low("), concat!("#![al", "low(")];
    if !source.is("rs") {
        return vec![];
    }
    source.lines_where(|line| attributes.iter().any(|attribute| line.trim_start().starts_with(attribute)))
}

fn licence(source: &Source) -> Vec<String> {
    if source.path.file_name().is_none_or(|name| name != "Cargo.toml") {
        return vec![];
    }
    let manifest: toml::Table = match toml::from_str(&source.text) {
        Ok(manifest) => manifest,
        // Templates hold placeholders.
        Err(_) => return vec![],
    };
    let named = manifest.get("package").is_none_or(|package| package.get("license").is_some());
    if named { vec![] } else { vec!["`[package]` has no `license`".into()] }
}

fn links(source: &Source) -> Vec<String> {
    if !source.is("md") {
        return vec![];
    }
    let folder = source.path.parent().unwrap_or(Path::new(""));
    let missing = |target: &&str| {
        let file = target.split('#').next().unwrap_or_default();
        let elsewhere = file.is_empty() || file.contains("://") || file.starts_with("mailto:");
        !elsewhere && !folder.join(file).exists()
    };
    let targets = source.text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(missing).map(|target| format!("link to `{target}`")).collect()
}

/// A block below `<!-- from PATH -->` holds lines of that file, in their order; lines may be left out.
fn quotes(source: &Source) -> Vec<String> {
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
        let mut lines = text.lines().map(|line| line.trim_start_matches("//!").trim());
        let block = rest.split("\n```").next().unwrap_or_default();
        let lost =
            block.lines().skip(1).find(|quoted| !quoted.trim().is_empty() && !lines.any(|line| line == quoted.trim()));
        findings.extend(lost.map(|line| format!("`{path}` has not, or not there: {}", line.trim())));
    }
    findings
}

fn codes(source: &Source) -> Vec<String> {
    if source.path != Path::new("codegen/src/codes.rs") {
        return vec![];
    }
    match sources() {
        Ok(all) => messages::check(&source.text, all.iter().map(|file| (file.path.as_path(), file.text.as_str()))),
        Err(error) => vec![error.to_string()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.into(), text: text.into() }
    }

    #[test]
    fn every_rule_finds_its_fault() {
        let path = format!("let a = \"/{}me/x\";", "home/");
        let later = format!("//! x\n// {}: later", concat!("TO", "DO"));
        let faults = [
            header(&source("a.rs", "fn main() {}")),
            length(&source("a.rs", &"//! x\n".repeat(801))),
            machine_paths(&source("a.md", &path)),
            unfinished(&source("a.rs", &later)),
            llvm_stays_in_its_folder(&source("codegen/src/emit.rs", concat!("use ink", "well::module::Module;"))),
            bare_allow(&source("a.rs", concat!("#[al", "low(dead_code)]"))),
            licence(&source("Cargo.toml", "[package]\nname = \"a\"\n")),
            links(&source("README.md", "[a](nowhere.md)")),
            quotes(&source("README.md", "<!-- from Cargo.toml -->\n```toml\n[package]\nnot there\n```\n")),
            codes(&source("codegen/src/codes.rs", "    Nothing = 9999, \"nothing\",\n")),
        ];
        assert_eq!(faults.len(), RULES.len());
        assert!(faults.iter().all(|faults| faults.len() == 1), "{faults:?}");
    }

    #[test]
    fn what_is_right_passes() {
        let right = source("codegen/src/llvm/module.rs", concat!("//! x\nuse ink", "well::x; // {sysroot}/root/a\n"));
        assert!(RULES.iter().all(|(_, check)| check(&right).is_empty()));
        assert!(links(&source("README.md", "[a](https://example.org) [b](#c)")).is_empty());
        assert!(
            quotes(&source("a.md", "<!-- from Cargo.toml -->\n```toml\n[package]\n\n[dependencies]\n```\nb"))
                .is_empty()
        );
        assert!(machine_paths(&source("a.rs", "$SYSROOT/root/ and target/tmp/x")).is_empty());
    }
}
