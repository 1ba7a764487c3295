//! A package that core's or alloc's tests are compiled in: a changed copy of their sources, with a feature a module.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::table::Table;

/// The files whose modules are compiled by group, and what begins their names there.
const ROOTS: [(&str, &str); 2] = [("lib.rs", ""), ("num/mod.rs", "num::")];

/// A package on disk.
pub struct Package {
    folder: PathBuf,
    /// `slice`, `num::i8`
    modules: BTreeSet<String>,
}

impl Package {
    /// Writes the package from Rust's `library` folder; an entry of the table that changes nothing is an error.
    pub fn write(table: &Table, library: &Path, folder: &Path) -> Result<Self> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        let tests = folder.join("src");
        let mut files = Vec::new();
        let sources = library.join(&table.package);
        copy(&sources.join("tests"), &tests, Path::new(""), &mut files)?;
        // Beside the tests, and named by them.
        if sources.join("testing").is_dir() {
            copy(&sources.join("testing"), &folder.join("testing"), Path::new(""), &mut Vec::new())?;
        }
        for change in &table.replace {
            let mut found = false;
            for file in files.iter().filter(|file| change.file.as_ref().is_none_or(|own| Path::new(own) == *file)) {
                let path = tests.join(file);
                let text = fs::read_to_string(&path)?;
                if text.contains(&change.from) {
                    found = true;
                    fs::write(&path, text.replace(&change.from, &change.to))?;
                }
            }
            ensure!(found, "the table replaces {:?}, which is not there", change.from);
        }
        for entry in &table.leave_out {
            edit(&tests.join(&entry.file), |text| {
                let text = entry.containing.iter().try_fold(text, |text, part| without_containing(&text, part))?;
                entry.items.iter().try_fold(text, |text, item| without(&text, item))
            })?;
        }
        let mut modules = BTreeSet::new();
        for (file, prefix) in ROOTS.into_iter().filter(|(file, _)| tests.join(file).is_file()) {
            edit(&tests.join(file), |text| Ok(gated(&text, prefix, &mut modules)))?;
        }
        let package = Self { folder: folder.to_path_buf(), modules };
        fs::write(package.manifest(), package.text(table)?)?;
        let unknown = table.groups.values().flatten().find(|module| !package.modules.contains(*module));
        ensure!(unknown.is_none(), "the table names a module that is not there: {unknown:?}");
        Ok(package)
    }

    /// Where its manifest is.
    pub fn manifest(&self) -> PathBuf {
        self.folder.join("Cargo.toml")
    }

    /// Names of groups with their features, at one level; those of which nothing is left are none.
    pub fn groups(&self, table: &Table, optimised: bool) -> Vec<(String, Vec<String>)> {
        let named: BTreeSet<&String> = table.groups.values().flatten().collect();
        let rest = self.modules.iter().filter(|module| !named.contains(*module) && *module != "num");
        let groups = table.groups.iter().map(|(name, modules)| (name.clone(), modules.iter().collect::<Vec<_>>()));
        let groups = groups.chain([(table.rest.clone(), rest.collect())]);
        let is_built = |module: &&String| !(optimised && table.not_optimised.contains(*module));
        let groups = groups.map(|(name, modules)| {
            (name, modules.into_iter().filter(is_built).map(|module| feature(module)).collect::<Vec<_>>())
        });
        groups.filter(|(_, features)| !features.is_empty()).collect()
    }

    fn text(&self, table: &Table) -> Result<String> {
        let mut text = format!(
            "# Written by `cargo xtask test core`.\n[package]\nname = {:?}\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
             [workspace]\n\n",
            table.package
        );
        let dependencies = toml::Table::from_iter([("dev-dependencies".into(), table.dependencies.clone().into())]);
        text += &toml::to_string(&dependencies)?;
        text += "\n[features]\n";
        for module in &self.modules {
            let needs = module.split_once("::").map_or(String::new(), |(outer, _)| format!("{outer:?}"));
            text += &format!("{} = [{needs}]\n", feature(module));
        }
        // Lints as in coretests' own manifest; the place of a panic is no debug information.
        Ok(text + "\n[lints.rust]\nunexpected_cfgs = { level = \"allow\" }\n\n[profile.dev]\ndebug = false\n")
    }
}

fn feature(module: &str) -> String {
    module.replace("::", "-")
}

fn copy(from: &Path, to: &Path, relative: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    fs::create_dir_all(to.join(relative))?;
    for entry in fs::read_dir(from.join(relative))? {
        let entry = entry?;
        let relative = relative.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(from, to, &relative, files)?;
        } else {
            fs::copy(entry.path(), to.join(&relative))?;
            if relative.extension().is_some_and(|extension| extension == "rs") {
                files.push(relative);
            }
        }
    }
    Ok(())
}

fn edit(path: &Path, change: impl FnOnce(String) -> Result<String>) -> Result<()> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    fs::write(path, change(text).with_context(|| path.display().to_string())?)?;
    Ok(())
}

/// The text with a `cfg` before an item that no build satisfies; its attributes stand before that.
fn without(text: &str, item: &str) -> Result<String> {
    let mut found = false;
    let lines = text.lines().map(|line| {
        let rest = line.trim_start().strip_prefix(item);
        if rest.is_none_or(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')) {
            return format!("{line}\n");
        }
        found = true;
        format!("#[cfg(any())]\n{line}\n")
    });
    let text = lines.collect();
    ensure!(found, "the table leaves out `{item}`, which is not there");
    Ok(text)
}

/// The text with such a `cfg` before every function of the file's own level that contains `part`.
fn without_containing(text: &str, part: &str) -> Result<String> {
    let lines: Vec<&str> = text.lines().collect();
    let (mut result, mut found, mut at) = (String::new(), false, 0);
    while at < lines.len() {
        // rustfmt puts the end of such a function at the line's beginning.
        let is_function = lines[at].starts_with("fn ") || lines[at].starts_with("pub fn ");
        let len = if is_function && !lines[at].ends_with('}') {
            lines[at..].iter().position(|line| line.starts_with('}')).map_or(1, |end| end + 1)
        } else {
            1
        };
        let item = &lines[at..at + len];
        if is_function && item.iter().any(|line| line.contains(part)) {
            found = true;
            result += "#[cfg(any())]\n";
        }
        result.extend(item.iter().flat_map(|line| [line, "\n"]));
        at += len;
    }
    ensure!(found, "the table leaves out what contains {part:?}, which is nowhere");
    Ok(result)
}

/// The text with every module that has no attributes below a feature.
fn gated(text: &str, prefix: &str, modules: &mut BTreeSet<String>) -> String {
    let mut has_attribute = false;
    let lines = text.lines().map(|line| {
        let name = line.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';')).filter(|_| !has_attribute);
        has_attribute = line.starts_with("#[");
        match name {
            Some(name) => {
                let module = format!("{prefix}{name}");
                let gate = format!("#[cfg(feature = {:?})]\n{line}\n", feature(&module));
                modules.insert(module);
                gate
            }
            None => format!("{line}\n"),
        }
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_taken_out_by_their_whole_names() {
        let text = "#[test]\nfn a() {}\n#[test]\nfn ab() {}\n";
        assert_eq!(without(text, "fn a").unwrap(), "#[test]\n#[cfg(any())]\nfn a() {}\n#[test]\nfn ab() {}\n");
        assert!(without(text, "fn b").unwrap_err().to_string().contains("fn b"));
    }

    #[test]
    fn functions_are_taken_out_by_what_they_contain() {
        let text = "use x::y;\n#[test]\nfn a() {\n    if y() {\n    }\n}\nfn b() {}\nmod c {\n    fn d() { y() }\n}\n";
        let expected = text.replace("fn a()", "#[cfg(any())]\nfn a()");
        assert_eq!(without_containing(text, "y()").unwrap(), expected);
        assert!(without_containing(text, "z()").unwrap_err().to_string().contains("z()"));
    }

    #[test]
    fn modules_get_features_unless_others_need_them() {
        let mut modules = BTreeSet::new();
        let text = gated("#[macro_use]\nmod int_macros;\n\nmod i8;\nmod tests {}\n", "num::", &mut modules);
        assert_eq!(text, "#[macro_use]\nmod int_macros;\n\n#[cfg(feature = \"num-i8\")]\nmod i8;\nmod tests {}\n");
        assert_eq!(modules, BTreeSet::from(["num::i8".to_string()]));
    }
}
