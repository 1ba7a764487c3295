//! `[package.metadata.ptx]` of a manifest: its options, and the place of what is wrong with them.

use std::path::{Path, PathBuf};

use ptx_codegen::arch::PtxVersion;
use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result, Span};
use toml::de::{DeTable, DeValue};

use super::float::FloatSettings;
use super::panics::PanicSettings;
use super::settings::Settings;
use super::{arch, suggest};

/// Tables of other names below `[package.metadata]` that are probably meant to be ours, if they have options of ours.
const ALIKE: [&str; 6] = ["cuda", "gpu", "nvptx", "nvidia", "device", "kernels"];

/// The same, whatever they have.
const OURS: [&str; 5] = ["rust-ptx", "ptx-build", "cargo-ptx", "ptx-linker", "ptx"];

/// A manifest's text.
struct Manifest<'a> {
    path: &'a Path,
    text: String,
}

impl Settings {
    /// `[package.metadata.ptx]` of a manifest; empty where there is none. Paths in it are relative to the manifest.
    pub fn of_manifest(manifest: &Path) -> Result<Self> {
        read(manifest)
    }
}

fn read(path: &Path) -> Result<Settings> {
    let manifest = Manifest::read(path)?;
    let table: toml::Table = toml::from_str(&manifest.text).map_err(|e| {
        let place = e.span().map(|span| manifest.span(span.start));
        manifest.bad(e.message()).at(place, "")
    })?;
    let Some(value) = table.get("package").and_then(|p| p.get("metadata")).and_then(|m| m.get("ptx")) else {
        return Ok(Settings::default());
    };
    if !value.is_table() {
        let place = DeTable::parse(&manifest.text).ok();
        let place = place.and_then(|root| Some(find(root.get_ref(), &["package", "metadata", "ptx"])?.0));
        let place = place.map(|start| manifest.span(start));
        return Err(manifest
            .bad("it is no table of options")
            .at(place, "")
            .help("as in `arch = [\"sm_80\"]` below it")
            .into());
    }
    let mut rest = value.clone();
    let wrong = |error: toml::de::Error| manifest.wrong_key(&error);
    let float: FloatSettings = take(&mut rest, &FloatSettings::NAMES).try_into().map_err(wrong)?;
    // Before an option can win over one side.
    float.modes().map_err(|mut failure| {
        let place = format!("`[package.metadata.ptx]` of {} names both", path.display());
        failure.diagnostics = failure.diagnostics.into_iter().map(|d| d.note(place.clone())).collect();
        failure
    })?;
    let panic: PanicSettings = take(&mut rest, &PanicSettings::NAMES).try_into().map_err(wrong)?;
    let mut settings = Settings { float, panic, ..rest.try_into().map_err(wrong)? };
    for (index, name) in settings.arch.iter_mut().enumerate() {
        *name = arch::canonical(name, |error| error.at(manifest.place("arch", Some(index)), "named here"))?;
    }
    if let Some(version) = &settings.ptx_version {
        version
            .parse::<PtxVersion>()
            .map_err(|reason| manifest.bad(&reason).at(manifest.place("ptx-version", None), ""))?;
    }
    Ok(settings.linking_below(path.parent().unwrap_or(Path::new(""))))
}

/// Warns of tables that somebody took for ours. Nobody reads them.
pub fn near_misses(path: &Path) -> Vec<Diagnostic> {
    let Ok(manifest) = Manifest::read(path) else { return vec![] };
    let Ok(root) = DeTable::parse(&manifest.text) else { return vec![] };
    let root = root.get_ref();
    let mut found: Vec<(String, usize)> = Vec::new();
    for (name, tables) in [
        ("ptx", &["ptx"][..]),
        ("package.ptx", &["package", "ptx"]),
        ("metadata.ptx", &["metadata", "ptx"]),
        ("workspace.metadata.ptx", &["workspace", "metadata", "ptx"]),
    ] {
        found.extend(find(root, tables).map(|(start, _)| (name.to_string(), start)));
    }
    let metadata = find(root, &["package", "metadata"]).and_then(|(_, value)| value.as_table());
    for (key, value) in metadata.into_iter().flat_map(|table| table.iter()) {
        let name: &str = key.get_ref();
        let plain = name.to_lowercase().replace('_', "-");
        let has_options =
            || value.get_ref().as_table().is_some_and(|table| table.keys().any(|k| is_option(k.get_ref())));
        let is_alike = || ALIKE.contains(&plain.as_str()) || suggest::nearest(&plain, &["ptx"]).is_some();
        if name != "ptx" && (OURS.contains(&plain.as_str()) || is_alike() && has_options()) {
            found.push((format!("package.metadata.{name}"), key.span().start));
        }
    }
    let warning = |(name, start): (String, usize)| {
        Diagnostic::warning(Code::Usage, format!("nothing reads `[{name}]`"))
            .at(Some(manifest.span(start)), "")
            .help("options of rust-ptx stand in `[package.metadata.ptx]` of the package that has the kernels")
    };
    found.into_iter().map(warning).collect()
}

/// Where the name of the table or key stands, and what it has.
fn find<'a, 'i>(table: &'a DeTable<'i>, path: &[&str]) -> Option<(usize, &'a DeValue<'i>)> {
    let (first, rest) = path.split_first()?;
    let (key, value) = table.iter().find(|(key, _)| key.get_ref() == first)?;
    if rest.is_empty() { Some((key.span().start, value.get_ref())) } else { find(value.get_ref().as_table()?, rest) }
}

fn is_option(name: &str) -> bool {
    Settings::names().iter().any(|known| *known == name.replace('_', "-"))
}

impl<'a> Manifest<'a> {
    fn read(path: &'a Path) -> Result<Self, Diagnostic> {
        let manifest = Self { path, text: String::new() };
        let text = std::fs::read_to_string(path).map_err(|e| manifest.bad(&e.to_string()))?;
        Ok(Self { text, ..manifest })
    }

    fn bad(&self, reason: &str) -> Diagnostic {
        Diagnostic::error(Code::Usage, format!("`[package.metadata.ptx]` of {}: {reason}", self.path.display()))
    }

    /// The line and the column of a byte.
    fn span(&self, start: usize) -> Span {
        let before = &self.text[..start.min(self.text.len())];
        let line = before.rsplit('\n').next().unwrap_or_default();
        let number = before.matches('\n').count() + 1;
        Span { file: PathBuf::from(self.path), line: number as u32, column: line.chars().count() as u32 + 1 }
    }

    /// Of a key of ours, as in `panic-for.sha2`, or of one of the values in its list.
    fn place(&self, key: &str, index: Option<usize>) -> Option<Span> {
        let root = DeTable::parse(&self.text).ok()?;
        let path: Vec<&str> = ["package", "metadata", "ptx"].into_iter().chain(key.split('.')).collect();
        let (mut start, value) = find(root.get_ref(), &path)?;
        if let Some(value) = index.and_then(|index| value.as_array()?.get(index)) {
            // Behind the quote.
            start = value.span().start + 1;
        }
        Some(self.span(start))
    }

    /// What is wrong with a key, in the words of TOML.
    fn wrong_key(&self, error: &toml::de::Error) -> Diagnostic {
        let message = (error.message().trim())
            .replace("invalid type: unit variant, expected string only", "expected a string")
            .replace("expected a sequence", "expected a list, as in `[\"…\"]`")
            .replace("expected a map", "expected a table, as in `{ … = \"…\" }`");
        if let Some(key) = message.strip_prefix("unknown field `").and_then(|rest| rest.split('`').next()) {
            let error = self.bad(&format!("there is no option `{key}`")).at(self.place(key, None), "");
            return match suggest::nearest(key, &Settings::names()) {
                Some(name) => error.help(format!("did you mean `{name}`?")),
                None => {
                    error.note(format!("the options are {}", Settings::names().map(|n| format!("`{n}`")).join(", ")))
                }
            };
        }
        // toml says the key in a second line.
        match error.to_string().trim_end().rsplit_once("\nin `") {
            Some((_, key)) => {
                let key = key.trim_end_matches('`');
                self.bad(&format!("`{key}`: {message}")).at(self.place(key, None), "")
            }
            None => self.bad(&message),
        }
    }
}

/// Moves some keys out of `[package.metadata.ptx]`: serde's flattening would let unknown ones pass.
fn take(metadata: &mut toml::Value, names: &[&str]) -> toml::Table {
    let mut taken = toml::Table::new();
    if let Some(table) = metadata.as_table_mut() {
        for name in names {
            for name in [name.to_string(), name.replace('-', "_")] {
                taken.extend(table.remove(&name).map(|value| (name, value)));
            }
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Cargo.toml");
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    #[test]
    fn a_wrong_value_has_its_line() {
        for (text, line, parts) in [
            (
                "[package.metadata.ptx]\nftz = true\narch = [\"sm_80\", \"sm_81\"]\n",
                ":3:19",
                &["`sm_81`", "did you mean"][..],
            ),
            ("[package.metadata.ptx]\narchs = [\"sm_80\"]\n", ":2:1", &["no option `archs`", "did you mean `arch`?"]),
            ("[package.metadata.ptx]\noptimise = 3\n", ":2:1", &["no option `optimise`", "`host-only`", "`fmad`"]),
            ("[package.metadata.ptx]\n\npanic = 3\n", ":3:1", &["`panic`: expected a string"]),
            ("[package.metadata.ptx]\ndef-load-cache = \"l1\"\n", ":2:1", &["`def-load-cache`", "`l1`", "`cg`"]),
            ("[package]\nmetadata.ptx.ptx-version = \"eight\"\n", ":2:14", &["not a PTX ISA version"]),
            ("[package.metadata.ptx]\nemit = [\n", "", &["Cargo.toml"]),
            ("[package.metadata]\nptx = \"sm_80\"\n", ":2:1", &["it is no table of options"]),
            ("[[package.metadata.ptx]]\nftz = true\n", ":1:20", &["it is no table of options"]),
            ("[package.metadata.ptx]\nmax-registers = 3\n", ":2:1", &["no option `max-registers`", "^^^^^^^^^^^^^"]),
        ] {
            let (_folder, path) = manifest(text);
            let error = read(&path).unwrap_err().to_string();
            for part in parts {
                assert!(error.contains(part), "`{part}` is not in:\n{error}");
            }
            assert!(error.contains(&format!("Cargo.toml{line}")), "{line} is not in:\n{error}");
        }
    }

    #[test]
    fn tables_that_nobody_reads_are_told_of() {
        for (text, expected) in [
            ("[package.metadata.cuda]\narch = [\"sm_80\"]\n", Some("`[package.metadata.cuda]`")),
            ("[package.metadata.cuda]\nversion = 13\n", None),
            ("[package.metadata.ptxx]\nemit = [\"cubin\"]\n", Some("`[package.metadata.ptxx]`")),
            ("[package.metadata.rpx]\nstyle = 13\n", None),
            ("[package.metadata.rust_ptx]\n", Some("`[package.metadata.rust_ptx]`")),
            ("[package.metadata.PTX]\n", Some("`[package.metadata.PTX]`")),
            ("[workspace.metadata.ptx]\nftz = true\n", Some("`[workspace.metadata.ptx]`")),
            ("[metadata.ptx]\n", Some("`[metadata.ptx]`")),
            ("[package.metadata.ptx]\nftz = true\n[package.metadata.docs.rs]\nall-features = true\n", None),
        ] {
            let (_folder, path) = manifest(text);
            let warnings = near_misses(&path);
            let text = warnings.iter().map(ToString::to_string).collect::<String>();
            match expected {
                Some(name) => assert!(text.contains(name) && text.contains("`[package.metadata.ptx]`"), "{text}"),
                None => assert_eq!(text, ""),
            }
        }
    }
}
