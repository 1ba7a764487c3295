//! Rules of single files that need no more than their text.

use super::tables::{COMPILER, MACHINE_FOLDERS, MAX_LINES};
use super::tree::Source;

pub fn header(source: &Source) -> Vec<String> {
    let good = !source.is("rs") || source.text.starts_with("//! ");
    if good { vec![] } else { vec!["the first line is not `//! …`".into()] }
}

pub fn length(source: &Source) -> Vec<String> {
    let lines = source.text.lines().count();
    if !source.is("rs") || lines <= MAX_LINES { vec![] } else { vec![format!("{lines} lines")] }
}

pub fn machine_paths(source: &Source) -> Vec<String> {
    let part_of_a_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '}' | ')' | '/' | '*');
    source.lines_where(|line| {
        MACHINE_FOLDERS.iter().any(|folder| {
            line.match_indices(&format!("/{folder}")).any(|(at, _)| !line[..at].ends_with(part_of_a_name))
        })
    })
}

pub fn unfinished(source: &Source) -> Vec<String> {
    let words = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("to", "do!("), concat!("unimple", "mented!(")];
    // Programs that panic in every way say so.
    let panics = source.text.contains("#![expect(clippy::todo, ");
    let counts = |word: &&str| !(panics && word.ends_with("!("));
    source.lines_where(|line| words.iter().filter(|word| counts(word)).any(|word| line.contains(word)))
}

pub fn llvm_stays_in_its_folder(source: &Source) -> Vec<String> {
    if !source.is("rs") || source.path.starts_with(format!("{COMPILER}/llvm")) {
        return vec![];
    }
    let names = [concat!("ink", "well::"), concat!("llvm", "_sys::"), concat!("use ink", "well")];
    source.lines_where(|line| !line.trim_start().starts_with("//") && names.iter().any(|name| line.contains(name)))
}

pub fn bare_allow(source: &Source) -> Vec<String> {
    let attributes = [concat!("#[al", "low("), concat!("#![al", "low(")];
    if !source.is("rs") {
        return vec![];
    }
    source.lines_where(|line| attributes.iter().any(|attribute| line.trim_start().starts_with(attribute)))
}

pub fn licence(source: &Source) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::tests::source;

    #[test]
    fn every_rule_finds_its_fault() {
        let path = format!("let a = \"/{}me/x\";", "home/");
        let later = format!("//! x\n// {}: later", concat!("TO", "DO"));
        let faults = [
            header(&source("a.rs", "fn main() {}")),
            length(&source("a.rs", &"//! x\n".repeat(801))),
            machine_paths(&source("a.md", &path)),
            unfinished(&source("a.rs", &later)),
            llvm_stays_in_its_folder(&source(
                &format!("{COMPILER}/emit.rs"),
                concat!("use ink", "well::module::Module;"),
            )),
            bare_allow(&source("a.rs", concat!("#[al", "low(dead_code)]"))),
            licence(&source("Cargo.toml", "[package]\nname = \"a\"\n")),
        ];
        assert!(faults.iter().all(|faults| faults.len() == 1), "{faults:?}");
    }

    #[test]
    fn what_is_right_passes() {
        let text = concat!("//! x\nuse ink", "well::x; // {sysroot}/root/a\n");
        let right = source(&format!("{COMPILER}/llvm/module.rs"), text);
        let rules = [header, length, machine_paths, unfinished, llvm_stays_in_its_folder, bare_allow, licence];
        assert!(rules.iter().all(|rule| rule(&right).is_empty()));
        assert!(machine_paths(&source("a.rs", "$SYSROOT/root/ and target/tmp/x")).is_empty());
    }
}
