//! Writes the manifest of the device build: the package's library and its device dependencies, nothing else.
//!
//! A package that holds kernels and the host program must not have its build script, its build-dependencies or its
//! other targets built for the device, and cargo has no option to leave them out. So the device build has a manifest
//! of its own, in its own folder. It is a pure function of the package's and the workspace's manifests:
//!
//! ```toml
//! # app/Cargo.toml                         # device manifest
//! [package]                                [package]
//! name = "app"                             name = "app"
//! version.workspace = true                 version = "1.2.0"
//! build = "build.rs"                       build = false
//! [dependencies]                           [dependencies]
//! ptx.workspace = true                     ptx = { path = "/ws/ptx" }
//! [build-dependencies]                     [lib]
//! ptx-build.workspace = true               path = "/ws/app/src/lib.rs"
//!                                          [workspace]
//! ```

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cargo_platform::{Cfg, CfgExpr, Platform};
use toml::{Table, Value};

use super::profile;
use ptx_codegen::files::normalized;

/// What the device manifest is made of.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The package's manifest.
    pub package: &'a Table,
    /// What relative paths in the package's manifest are relative to.
    pub dir: &'a Path,
    /// The workspace's manifest.
    pub root: &'a Table,
    /// What relative paths in the workspace's manifest are relative to.
    pub root_dir: &'a Path,
    /// The library's first file.
    pub library: &'a Path,
    /// Dependencies to leave out.
    pub host_only: &'a [String],
    /// The profile that tests are compiled with, if they are what is built.
    pub tests: Option<&'a str>,
}

/// A device manifest.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceManifest {
    /// What to write.
    pub table: Table,
    /// Dependencies of the package that the device build does not have.
    pub dropped: BTreeSet<String>,
}

/// A device manifest on disk.
#[derive(Clone, Debug)]
pub struct OnDisk {
    /// Where it was written.
    pub manifest: PathBuf,
    /// As in [`DeviceManifest`].
    pub dropped: BTreeSet<String>,
    /// Whether others of the workspace's crates are compiled for the device.
    pub shares_root: bool,
}

/// Fields of `[package]` that the library's code can see, or that decide how it is compiled.
const PACKAGE_FIELDS: [&str; 8] =
    ["version", "edition", "rust-version", "authors", "description", "homepage", "repository", "license"];

/// What `rustc --print cfg` says of the target: those that hold, by key. It has no other value of these keys.
const DEVICE_CFGS: [(&str, &str); 8] = [
    ("target_abi", ""),
    ("target_arch", "nvptx64"),
    ("target_endian", "little"),
    ("target_env", ""),
    ("target_family", ""),
    ("target_os", "cuda"),
    ("target_pointer_width", "64"),
    ("target_vendor", "nvidia"),
];

impl DeviceManifest {
    /// The manifest; an error says what is wrong with the package's.
    pub fn generate(source: &Source<'_>) -> Result<Self, String> {
        source.check_host_only()?;
        let mut table = Table::new();
        copy(source.package, &mut table, &["cargo-features"]);
        table.insert("package".into(), Value::Table(package(source)?));
        table.insert("lib".into(), Value::Table(library(source)?));

        let mut kept = BTreeSet::new();
        if let Some(dependencies) = source.dependencies(source.package, &mut kept)? {
            table.insert("dependencies".into(), Value::Table(dependencies));
        }
        let targets = source.targets(&mut kept)?;
        if !targets.is_empty() {
            table.insert("target".into(), Value::Table(targets));
        }
        let dropped: BTreeSet<String> = all_dependencies(source.package).filter(|name| !kept.contains(name)).collect();
        if let Some(features) = source.package.get("features").and_then(Value::as_table) {
            table.insert("features".into(), Value::Table(without(features, &dropped)));
        }
        if let Some(lints) = source.lints() {
            table.insert("lints".into(), Value::Table(Table::from_iter([("rust".into(), lints)])));
        }

        for key in ["patch", "replace"] {
            if let Some(value) = source.root.get(key) {
                let mut value = value.clone();
                rebase_paths(&mut value, source.root_dir);
                table.insert(key.into(), value);
            }
        }
        let mut profiles = profile::for_device(source.root);
        if let Some(name) = source.tests {
            profiles.insert("test".into(), Value::Table(profile::of_tests(&profiles, name)));
        }
        table.insert("profile".into(), Value::Table(profiles));
        let edition = table["package"].get("edition").and_then(Value::as_str);
        table.insert("workspace".into(), Value::Table(workspace(source, edition)));
        Ok(Self { table, dropped })
    }

    /// Whether crates besides the package's own lie below a folder. What one asks for itself there is there, too.
    pub fn has_crates_below(&self, folder: &Path) -> bool {
        fn is_below(value: &Value, folder: &Path) -> bool {
            let path = value.get("path").and_then(Value::as_str);
            path.is_some_and(|path| Path::new(path).starts_with(folder))
                || value.as_table().is_some_and(|table| table.values().any(|value| is_below(value, folder)))
        }
        let tables = ["dependencies", "target", "patch", "replace"];
        tables.iter().filter_map(|name| self.table.get(*name)).any(|table| is_below(table, folder))
    }
}

fn package(source: &Source<'_>) -> Result<Table, String> {
    let given = source.package.get("package").and_then(Value::as_table).ok_or("there is no `[package]`")?;
    let mut package = Table::new();
    copy(given, &mut package, &["name"]);
    for field in PACKAGE_FIELDS {
        let Some(value) = given.get(field) else { continue };
        let value = if is_inherited(value) { source.workspace(&["package", field])? } else { value };
        package.insert(field.into(), value.clone());
    }
    package.insert("build".into(), false.into());
    package.insert("publish".into(), false.into());
    Ok(package)
}

fn library(source: &Source<'_>) -> Result<Table, String> {
    let path = source.library.to_str().ok_or("the path of the library is not UTF-8")?;
    let mut lib = Table::from_iter([("path".to_string(), Value::from(path))]);
    if let Some(given) = source.package.get("lib").and_then(Value::as_table) {
        if given.get("proc-macro").and_then(Value::as_bool) == Some(true) {
            return Err("a procedural macro crate cannot hold kernels".into());
        }
        copy(given, &mut lib, &["name"]);
    }
    Ok(lib)
}

/// Its own, so that cargo looks for no other further up.
///
/// Never with cargo's first resolver, which old editions have by themselves: the device would get the features that the
/// host's dependencies ask for, such as `std`.
fn workspace(source: &Source<'_>, edition: Option<&str>) -> Table {
    let given = |table: &str| source.root.get(table)?.get("resolver")?.as_str().filter(|resolver| *resolver != "1");
    let by_edition = if edition.is_some_and(|edition| edition >= "2024") { "3" } else { "2" };
    let resolver = given("workspace").or(given("package")).unwrap_or(by_edition);
    Table::from_iter([("resolver".to_string(), Value::from(resolver))])
}

impl Source<'_> {
    /// A value below `[workspace]`.
    fn workspace(&self, keys: &[&str]) -> Result<&Value, String> {
        let mut value = self.root.get("workspace");
        for key in keys {
            value = value.and_then(|value| value.get(key));
        }
        value.ok_or_else(|| format!("`{}` is inherited, but the workspace does not have it", keys.join(".")))
    }

    /// A misspelt name would leave a dependency in the device build.
    fn check_host_only(&self) -> Result<(), String> {
        let known: BTreeSet<String> = all_dependencies(self.package).collect();
        let Some(stray) = self.host_only.iter().find(|name| !known.contains(*name)) else { return Ok(()) };
        let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
        let known = if known.is_empty() { "it has none".into() } else { format!("it has {}", known.join(", ")) };
        Err(format!("`host-only` names `{stray}`, which is no dependency of the package; {known}"))
    }

    /// `[dependencies]` of `table`, and with tests `[dev-dependencies]`, without those that only the host has; their names
    /// go to `kept`.
    fn dependencies(&self, table: &Table, kept: &mut BTreeSet<String>) -> Result<Option<Table>, String> {
        let kinds = ["dependencies", "dev-dependencies"];
        let kinds = kinds.iter().take(if self.tests.is_some() { 2 } else { 1 });
        let given: Vec<&Table> = kinds.filter_map(|kind| table.get(*kind).and_then(Value::as_table)).collect();
        if given.is_empty() {
            return Ok(None);
        }
        let mut dependencies = Table::new();
        for (name, value) in given.into_iter().flatten().filter(|(name, _)| !self.host_only.contains(name)) {
            kept.insert(name.clone());
            let dependency = self.dependency(name, value)?;
            match dependencies.get_mut(name) {
                // One that tests have, too: it gets their features.
                Some(known) => add_features(known, &dependency),
                None => drop(dependencies.insert(name.clone(), dependency)),
            }
        }
        Ok(Some(dependencies))
    }

    /// `[target.….dependencies]` of the targets that may be the device; of those cargo judges.
    fn targets(&self, kept: &mut BTreeSet<String>) -> Result<Table, String> {
        let mut targets = Table::new();
        for (target, value) in self.package.get("target").and_then(Value::as_table).into_iter().flatten() {
            if may_be_device(target)
                && let Some(table) = value.as_table()
                && let Some(dependencies) = self.dependencies(table, kept)?
            {
                let table = Table::from_iter([("dependencies".to_string(), Value::Table(dependencies))]);
                targets.insert(target.clone(), Value::Table(table));
            }
        }
        Ok(targets)
    }

    /// One dependency, with what it inherits and with absolute paths.
    fn dependency(&self, name: &str, value: &Value) -> Result<Value, String> {
        if !is_inherited(value) {
            let mut value = value.clone();
            rebase_path(&mut value, self.dir);
            return Ok(value);
        }
        let mut inherited = self.workspace(&["dependencies", name])?.clone();
        rebase_path(&mut inherited, self.root_dir);
        let mut result = match inherited {
            Value::Table(table) => table,
            version => Table::from_iter([("version".to_string(), version)]),
        };
        for (key, own) in value.as_table().into_iter().flatten() {
            match key.as_str() {
                "workspace" => {}
                "features" => {
                    let mut features = result.get("features").and_then(Value::as_array).cloned().unwrap_or_default();
                    features.extend(own.as_array().into_iter().flatten().cloned());
                    result.insert(key.clone(), Value::Array(features));
                }
                // A member may only turn them on again where the workspace turned them off.
                "default-features" | "default_features" => {
                    if own.as_bool() == Some(true) {
                        result.remove("default_features");
                        result.insert("default-features".into(), own.clone());
                    }
                }
                _ => {
                    result.insert(key.clone(), own.clone());
                }
            }
        }
        Ok(Value::Table(result))
    }

    /// rustc's lints: `check-cfg` and `allow` stand there too.
    fn lints(&self) -> Option<Value> {
        let own = self.package.get("lints")?;
        let lints = if is_inherited(own) { self.workspace(&["lints"]).ok()? } else { own };
        lints.get("rust").cloned()
    }
}

/// Gives a dependency the features that another entry for it asks for.
fn add_features(known: &mut Value, other: &Value) {
    let Some(more) = other.get("features").and_then(Value::as_array) else { return };
    if let Value::String(version) = known {
        *known = Value::Table(Table::from_iter([("version".to_string(), version.as_str().into())]));
    }
    let Some(table) = known.as_table_mut() else { return };
    let features = table.entry("features").or_insert_with(|| Value::Array(vec![]));
    if let Some(features) = features.as_array_mut() {
        features.extend(more.iter().cloned());
    }
}

/// `x.workspace = true`
fn is_inherited(value: &Value) -> bool {
    value.get("workspace").and_then(Value::as_bool) == Some(true)
}

fn copy(from: &Table, to: &mut Table, keys: &[&str]) {
    for key in keys {
        if let Some(value) = from.get(*key) {
            to.insert((*key).to_string(), value.clone());
        }
    }
}

/// Makes the dependency's `path` absolute.
fn rebase_path(dependency: &mut Value, dir: &Path) {
    if let Some(Value::String(path)) = dependency.get_mut("path") {
        // A path out of a TOML string is UTF-8, and so is the folder: it was read from one or comes from cargo.
        *path = normalized(&dir.join(&*path)).to_string_lossy().into_owned();
    }
}

/// The same in every table below `value`.
fn rebase_paths(value: &mut Value, dir: &Path) {
    rebase_path(value, dir);
    if let Some(table) = value.as_table_mut() {
        table.iter_mut().for_each(|(_, value)| rebase_paths(value, dir));
    }
}

/// Whether dependencies of `[target.'…']` can be the device's: false for other triples, and for a `cfg` that the target
/// decides. Leaving those out keeps the host's crates out of the device's lock file. What cannot be read is cargo's to
/// refuse.
fn may_be_device(target: &str) -> bool {
    match target.parse() {
        Ok(Platform::Name(name)) => name == ptx_codegen::request::TARGET,
        Ok(Platform::Cfg(cfg)) => holds(&cfg) != Some(false),
        Err(_) => true,
    }
}

/// Whether a `cfg` holds on the device; `None` where something else than the target decides, such as `--cfg`.
fn holds(cfg: &CfgExpr) -> Option<bool> {
    // One that decides, or else one that is not known, or else none.
    let among = |all: &[CfgExpr], decides: bool| {
        let found: Vec<_> = all.iter().map(holds).collect();
        if found.contains(&Some(decides)) {
            Some(decides)
        } else {
            found.iter().all(Option::is_some).then_some(!decides)
        }
    };
    match cfg {
        CfgExpr::Not(cfg) => holds(cfg).map(|holds| !holds),
        CfgExpr::All(all) => among(all, false),
        CfgExpr::Any(any) => among(any, true),
        CfgExpr::True => Some(true),
        CfgExpr::False => Some(false),
        CfgExpr::Value(Cfg::Name(name)) => matches!(name.as_str(), "unix" | "windows").then_some(false),
        CfgExpr::Value(Cfg::KeyPair(key, value)) => {
            let (_, known) = DEVICE_CFGS.iter().find(|(known, _)| *known == key.as_str())?;
            Some(value == known)
        }
    }
}

/// Every name that a feature could mean: dependencies of all kinds and targets.
fn all_dependencies(package: &Table) -> impl Iterator<Item = String> {
    let targets = package.get("target").and_then(Value::as_table).into_iter().flatten();
    let tables = std::iter::once(package).chain(targets.filter_map(|(_, value)| value.as_table()));
    tables.flat_map(|table| {
        ["dependencies", "build-dependencies", "dev-dependencies"]
            .into_iter()
            .filter_map(|kind| table.get(kind).and_then(Value::as_table))
            .flat_map(|dependencies| dependencies.keys().cloned())
    })
}

/// The features without what they say about dropped dependencies.
fn without(features: &Table, dropped: &BTreeSet<String>) -> Table {
    let is_kept = |item: &Value| {
        let Some(text) = item.as_str() else { return true };
        if let Some(name) = text.strip_prefix("dep:") {
            return !dropped.contains(name);
        }
        match text.split_once('/') {
            Some((name, _)) => !dropped.contains(name.trim_end_matches('?')),
            None => features.contains_key(text) || !dropped.contains(text),
        }
    };
    features
        .iter()
        .map(|(name, items)| {
            let items = items.as_array().into_iter().flatten().filter(|item| is_kept(item)).cloned().collect();
            (name.clone(), Value::Array(items))
        })
        .collect()
}

#[cfg(test)]
#[path = "manifest_tests.rs"]
mod tests;
