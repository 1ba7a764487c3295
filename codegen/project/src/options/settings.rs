//! The options of ours that come by `-C link-arg=`, by `[package.metadata.ptx]` and by a build script.

use std::path::{Path, PathBuf};

use clap::Args;
use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result};
use ptx_codegen::files::normalized;
use ptx_codegen::request::{DebugLevel, Emit};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::float::{self, FloatSettings};
use super::panics::PanicSettings;

/// The hidden option that hands all settings from a device build to the linker.
const ARGUMENT: &str = "settings";

/// The field of the files to link with.
const LINK: &str = "link";

/// The options of ours that come by `-C link-arg=` and by `[package.metadata.ptx]`. A field here is all that declares one.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Settings {
    /// GPU architectures, such as sm_80,sm_90a.
    #[arg(long = "arch", value_delimiter = ',')]
    pub arch: Vec<String>,
    /// What to write besides PTX.
    #[arg(long, value_enum, value_delimiter = ',')]
    pub emit: Vec<Emit>,
    /// Debug information in the output.
    #[arg(long, value_enum)]
    pub debug_level: Option<DebugLevel>,
    /// `auto`, `off` or a path.
    #[arg(long)]
    pub ptxas: Option<String>,
    /// The maths library: `auto`, `off` (the crate libm serves) or the path of a libdevice.10.bc.
    #[arg(long)]
    pub libdevice: Option<String>,
    /// A PTX ISA version instead of the lowest that suffices.
    #[arg(long)]
    pub ptx_version: Option<String>,
    /// CUDA C++, PTX, relocatable objects, archives or LTO-IR to link with; may be given several times.
    #[arg(long, value_name = "FILE")]
    pub link: Vec<PathBuf>,
    /// Leave undefined symbols to a linker at run time.
    #[arg(long, alias = "allow-undefined")]
    pub link_at_load: bool,
    /// An option for nvcc, where it compiles `.cu` files; may be given several times.
    #[arg(long = "nvcc-flag", value_name = "FLAG", allow_hyphen_values = true)]
    pub nvcc_flags: Vec<String>,
    /// Dependencies that only host code uses; read by the device build, not by the linker.
    #[arg(skip)]
    pub host_only: Vec<String>,
    /// Floating-point modes; in the manifest they stand among the rest.
    #[command(flatten)]
    #[serde(skip)]
    pub float: FloatSettings,
    /// What panics leave behind; likewise.
    #[command(flatten)]
    #[serde(skip)]
    pub panic: PanicSettings,
}

impl Settings {
    /// `self` where it says something, else `other`; files to link with are those of both.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let mut said = self.fields();
        for (name, value) in other.fields() {
            match &mut said[&name] {
                files if name == LINK => union(files, value),
                unsaid if is_unsaid(unsaid) => *unsaid = value,
                _ => {}
            }
        }
        let settings: Self = serde_json::from_value(said.into()).expect("the same fields");
        Self { float: self.float.or(other.float), panic: self.panic.or(other.panic), ..settings }
    }

    /// By name, without those that stand among the rest in the manifest.
    fn fields(&self) -> serde_json::Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields,
            other => unreachable!("settings are plain data with names: {other:?}"),
        }
    }

    /// The same with files to link with, libdevice among them, below `folder`, where they are relative.
    #[must_use]
    pub fn linking_below(mut self, folder: &Path) -> Self {
        if let Some(libdevice) = self.libdevice.as_mut().filter(|name| !["auto", "off"].contains(&name.as_str())) {
            *libdevice = normalized(&folder.join(&*libdevice)).to_string_lossy().into_owned();
        }
        self.link.iter_mut().for_each(|file| *file = normalized(&folder.join(&*file)));
        self
    }

    /// `[package.metadata.ptx]` of a manifest; empty where there is none. Paths in it are relative to the manifest.
    pub fn of_manifest(manifest: &Path) -> Result<Self> {
        let bad = |reason: String| {
            Diagnostic::error(Code::Usage, format!("`[package.metadata.ptx]` of {}: {reason}", manifest.display()))
        };
        let text = std::fs::read_to_string(manifest).map_err(|e| bad(e.to_string()))?;
        let table: toml::Table = toml::from_str(&text).map_err(|e| bad(e.to_string()))?;
        match table.get("package").and_then(|p| p.get("metadata")).and_then(|m| m.get("ptx")) {
            None => Ok(Self::default()),
            Some(value) => {
                let mut rest = value.clone();
                let reason = |error: toml::de::Error| bad(manifest_error(&error));
                let float: FloatSettings = take(&mut rest, &FloatSettings::NAMES).try_into().map_err(reason)?;
                // Before an option can win over one side.
                float.modes().map_err(|mut failure| {
                    let place = format!("`[package.metadata.ptx]` of {} names both", manifest.display());
                    failure.diagnostics = failure.diagnostics.into_iter().map(|d| d.note(place.clone())).collect();
                    failure
                })?;
                let panic = take(&mut rest, &PanicSettings::NAMES).try_into().map_err(reason)?;
                let settings = Self { float, panic, ..rest.try_into().map_err(reason)? };
                Ok(settings.linking_below(manifest.parent().unwrap_or(Path::new(""))))
            }
        }
    }

    /// All of them as one argument for the linker.
    pub fn to_link_arg(&self) -> String {
        let parts = (self, &self.float, &self.panic);
        format!("--{ARGUMENT}={}", serde_json::to_string(&parts).expect("settings are plain data"))
    }

    /// Reads the value of [`Self::to_link_arg`].
    pub fn of_link_arg(value: &str) -> Result<Self, String> {
        let (settings, float, panic): (Self, _, _) = serde_json::from_str(value).map_err(|error| error.to_string())?;
        Ok(Self { float, panic, ..settings })
    }
}

/// Whether a field has the value that it has where nobody says anything.
fn is_unsaid(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Array(list) => list.is_empty(),
        _ => false,
    }
}

/// Adds the files that are not in the list yet.
fn union(list: &mut Value, more: Value) {
    if let (Value::Array(list), Value::Array(more)) = (list, more) {
        for file in more {
            if !list.contains(&file) {
                list.push(file);
            }
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

/// What is wrong with a key of `[package.metadata.ptx]`, in the words of TOML.
fn manifest_error(error: &toml::de::Error) -> String {
    let message = (error.message().trim())
        .replace("invalid type: unit variant, expected string only", "expected a string")
        .replace("expected a sequence", "expected a list, as in `[\"…\"]`")
        .replace("expected a map", "expected a table, as in `{ … = \"…\" }`");
    if message.starts_with("unknown field") {
        // Those that `take` took are not known to serde here.
        let names = float::names(", `panic`, `panic-for`, ");
        return message.replacen("expected one of ", &format!("expected one of {names}"), 1);
    }
    // toml says the key in a second line.
    match error.to_string().trim_end().rsplit_once("\nin `") {
        Some((_, key)) => format!("`{key}: {message}"),
        None => message,
    }
}
