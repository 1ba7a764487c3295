//! The options of ours that come by `-C link-arg=`, by `[package.metadata.ptx]` and by a build script.

use std::path::{Path, PathBuf};

use clap::Args;
use ptx_codegen::files::normalized;
use ptx_codegen::request::{DebugLevel, Emit, LoadCache, StoreCache};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::float::FloatSettings;
use super::panics::PanicSettings;

/// The hidden option that hands all settings from a device build to the linker.
const ARGUMENT: &str = "settings";

/// The field of the files to link with.
const LINK: &str = "link";

/// The options of ours that come by `-C link-arg=` and by `[package.metadata.ptx]`. A field here is all that declares one.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Settings {
    /// GPU architectures, such as sm_80,sm_90a, or `native` for those of this machine.
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
    /// What caches do with loads that do not say it, in machine code by ptxas.
    #[arg(long, alias = "dlcm", value_enum, value_name = "OPERATOR")]
    pub def_load_cache: Option<LoadCache>,
    /// What caches do with stores that do not say it, in machine code by ptxas.
    #[arg(long, alias = "dscm", value_enum, value_name = "OPERATOR")]
    pub def_store_cache: Option<StoreCache>,
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

    /// The options' names, as in the manifest.
    pub fn names() -> [&'static str; 20] {
        [
            "arch",
            "emit",
            "debug-level",
            "ptxas",
            "def-load-cache",
            "def-store-cache",
            "libdevice",
            "ptx-version",
            "link",
            "link-at-load",
            "nvcc-flags",
            "host-only",
            "panic",
            "panic-for",
            "after-panic",
            "fmad",
            "ftz",
            "prec-div",
            "prec-sqrt",
            "use-fast-math",
        ]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_has_its_name_in_the_list() {
        let mut fields: Vec<String> = Settings::default().fields().keys().cloned().collect();
        fields.extend([&FloatSettings::NAMES[..], &PanicSettings::NAMES].concat().iter().map(ToString::to_string));
        fields.sort();
        let mut names = Settings::names();
        names.sort_unstable();
        assert_eq!(fields, names);
    }
}
