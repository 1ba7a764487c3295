//! What is changed in the sources, as data.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use toml::Value;

/// `core.toml` or `alloc.toml`
#[derive(Debug)]
pub struct Table {
    /// The package's name, which is the folder's in Rust's `library`.
    pub package: String,
    /// The group of modules that none names.
    pub rest: String,
    /// Its dependencies, as a manifest has them.
    pub dependencies: toml::Table,
    /// Modules by group.
    pub groups: BTreeMap<String, Vec<String>>,
    /// Replaced text.
    pub replace: Vec<Replace>,
    /// Modules that are compiled at level 0 alone.
    pub not_optimised: Vec<String>,
    /// Items that are taken out.
    pub leave_out: Vec<LeaveOut>,
}

/// Text that is replaced.
#[derive(Debug)]
pub struct Replace {
    /// In this file, or in all.
    pub file: Option<String>,
    /// What is there.
    pub from: String,
    /// What comes in its place.
    pub to: String,
}

/// Items of one file.
#[derive(Debug)]
pub struct LeaveOut {
    /// Below the folder of the tests.
    pub file: String,
    /// As in `fn name` and `mod name`.
    pub items: Vec<String>,
    /// Of the file's own functions those that contain one of these, too.
    pub containing: Vec<String>,
}

impl Table {
    /// Reads it.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text).with_context(|| path.display().to_string())
    }

    fn parse(text: &str) -> Result<Self> {
        let table: toml::Table = text.parse()?;
        let list = |key: &str| table.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_string);
        let need = |value: &Value, key: &str| text(value, key).with_context(|| format!("`{key}` is missing: {value}"));
        for entry in list("replace").iter().chain(&list("leave-out")).chain(&list("not-optimised")) {
            ensure!(text(entry, "reason").is_some_and(|reason| !reason.is_empty()), "a reason is missing: {entry}");
        }
        let groups = table.get("groups").and_then(Value::as_table).context("`groups` is missing")?;
        let package = table.get("package").and_then(Value::as_str).context("`package` is missing")?;
        let rest = table.get("rest").and_then(Value::as_str).context("`rest` is missing")?;
        Ok(Self {
            package: package.to_string(),
            rest: rest.to_string(),
            dependencies: table.get("dependencies").and_then(Value::as_table).cloned().unwrap_or_default(),
            groups: groups.iter().map(|(name, modules)| (name.clone(), strings(modules))).collect(),
            replace: list("replace")
                .iter()
                .map(|entry| {
                    Ok(Replace { file: text(entry, "file"), from: need(entry, "from")?, to: need(entry, "to")? })
                })
                .collect::<Result<_>>()?,
            not_optimised: list("not-optimised").iter().flat_map(|entry| strings(&entry["modules"])).collect(),
            leave_out: list("leave-out")
                .iter()
                .map(|entry| {
                    let list = |key: &str| entry.get(key).map(strings).unwrap_or_default();
                    Ok(LeaveOut { file: need(entry, "file")?, items: list("items"), containing: list("containing") })
                })
                .collect::<Result<_>>()?,
        })
    }
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|item| item.as_str().map(str::to_string)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_a_reason() {
        let text = "package = 'p'\nrest = 'r'\n[groups]\na = ['b']\n[[replace]]\nfrom = 'x'\nto = 'y'\n";
        assert!(Table::parse(text).unwrap_err().to_string().contains("a reason is missing"));
        let table = Table::parse(&format!("{text}reason = 'z'\n")).unwrap();
        assert_eq!((table.groups["a"][0].as_str(), table.replace[0].to.as_str()), ("b", "y"));
    }
}
