//! The environment that cargo gives a build script.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result};
use ptx_codegen::request::DebugLevel;
use ptx_project::build::{Features, Package};

/// The variable with how much debug information device code has, which wins over the build script, the manifest and the profile.
pub const DEBUG_VARIABLE: &str = "RUST_PTX_DEBUG_LEVEL";

/// What the build script knows from cargo and from the user's variables.
#[derive(Clone, Debug)]
pub struct Environment {
    pub manifest_dir: PathBuf,
    pub out_dir: PathBuf,
    pub target_dir: PathBuf,
    pub profile: String,
    pub cargo: PathBuf,
    pub rustc: PathBuf,
    /// `RUST_PTX_ARCH`
    pub archs: Option<Vec<String>>,
    /// [`DEBUG_VARIABLE`]
    pub debug_level: Option<DebugLevel>,
    /// `RUST_PTX_SYSROOT`
    pub sysroot: Option<PathBuf>,
    /// Names after `CARGO_FEATURE_`.
    features: Vec<String>,
}

/// Variables of the user's that decide what is built.
pub fn variables() -> Vec<String> {
    let names = [
        ptx_project::options::arch::VARIABLE,
        ptx_project::options::float::VARIABLE,
        ptx_project::options::panics::VARIABLE,
        DEBUG_VARIABLE,
        "RUST_PTX_SYSROOT",
        "CUDA_HOME",
        "CUDA_PATH",
    ];
    let mut names = names.map(str::to_string).to_vec();
    names.push(ptx_project::cache::CACHE_VARIABLE.into());
    names.extend(ptx_codegen::tool::Name::ALL.map(|name| name.variable()));
    names
}

impl Environment {
    pub fn read() -> Result<Self> {
        let wrong = |reason: String| {
            Diagnostic::error(Code::Usage, format!("{reason}: `build-script` is what ptx_build runs in a build script"))
                .help("see the pages of the crate ptx-build, or use `cargo ptx build`")
        };
        let get = |name: &str| env::var_os(name).ok_or_else(|| wrong(format!("`{name}` is not set")));
        let out_dir = PathBuf::from(get("OUT_DIR")?);
        let target = get("TARGET")?.into_string().map_err(|_| wrong("`TARGET` is not UTF-8".into()))?;
        let (target_dir, profile) = layout(&out_dir, &target);
        let profile = match get("PROFILE")?.to_str() {
            // cargo says only which of the two the profile comes from; the folder has its own name.
            Some("debug") if profile.as_deref().is_none_or(|name| name == "debug") => "dev".into(),
            Some(base) => profile.unwrap_or_else(|| base.to_string()),
            None => return Err(wrong("`PROFILE` is not UTF-8".into()).into()),
        };
        let given = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        Ok(Self {
            manifest_dir: get("CARGO_MANIFEST_DIR")?.into(),
            target_dir: target_dir.unwrap_or_else(|| out_dir.clone()),
            out_dir,
            profile,
            cargo: get("CARGO")?.into(),
            rustc: get("RUSTC")?.into(),
            archs: ptx_project::options::arch::of_variable()?,
            debug_level: given(DEBUG_VARIABLE).map(|level| debug_level(&level.to_string_lossy())).transpose()?,
            sysroot: given("RUST_PTX_SYSROOT").map(PathBuf::from),
            features: env::vars_os().filter_map(|(name, _)| feature(name)).collect(),
        })
    }

    /// The features that the package is being built with, by the names in its manifest.
    pub fn features(&self, manifest: &Path) -> Features {
        let names = Package::features(manifest).into_iter().filter(|name| self.features.contains(&variable(name)));
        let names: Vec<String> = names.filter(|name| name != "default").collect();
        Features { names, default: self.features.iter().any(|name| name == "DEFAULT"), all: false }
    }
}

/// The variable and a value with which device code has line tables, unless the user has set it.
#[cfg(feature = "profile")]
pub fn with_lines() -> Option<(&'static str, &'static str)> {
    env::var_os(DEBUG_VARIABLE).is_none().then_some((DEBUG_VARIABLE, "line-tables"))
}

fn debug_level(text: &str) -> Result<DebugLevel> {
    DebugLevel::from_str(text, false).map_err(|_| {
        Diagnostic::error(Code::Usage, format!("the variable {DEBUG_VARIABLE}: `{text}` is no level"))
            .help("name `none`, `line-tables` or `full`")
            .into()
    })
}

fn feature(variable: OsString) -> Option<String> {
    Some(variable.to_str()?.strip_prefix("CARGO_FEATURE_")?.to_string())
}

/// As cargo spells a feature in a variable.
fn variable(feature: &str) -> String {
    feature.to_uppercase().replace('-', "_")
}

/// The target folder, and the name of the profile's folder in it: `OUT_DIR` is `<target>[/<triple>]/<profile>/build/…`.
fn layout(out_dir: &Path, target: &str) -> (Option<PathBuf>, Option<String>) {
    let build = out_dir.ancestors().skip(1).find(|dir| dir.file_name().is_some_and(|name| name == "build"));
    let Some(profile_dir) = build.and_then(Path::parent) else { return (None, None) };
    let mut target_dir = profile_dir.parent();
    if let Some(dir) = target_dir.filter(|dir| dir.file_name().is_some_and(|name| name == target)) {
        target_dir = dir.parent();
    }
    let profile = profile_dir.file_name().and_then(|name| name.to_str()).map(str::to_string);
    (target_dir.map(Path::to_path_buf), profile)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_folder_is_found() {
        for (out_dir, target_dir, profile) in [
            ("/ws/target/debug/build/app-0123/out", "/ws/target", "debug"),
            ("/ws/target/x86_64-unknown-linux-gnu/release/build/app-0123/out", "/ws/target", "release"),
            ("/ws/build/fast/build/app/0123/out", "/ws/build", "fast"),
        ] {
            let found = layout(Path::new(out_dir), "x86_64-unknown-linux-gnu");
            assert_eq!(found, (Some(target_dir.into()), Some(profile.into())), "{out_dir}");
        }
        assert_eq!(layout(Path::new("/odd/out"), "t"), (None, None));
    }

    #[test]
    fn levels_are_those_of_the_option() {
        assert_eq!(debug_level("line-tables").unwrap(), DebugLevel::LineTables);
        let error = debug_level("lines").unwrap_err().to_string();
        assert!(error.contains("RUST_PTX_DEBUG_LEVEL: `lines` is no level") && error.contains("`full`"), "{error}");
    }

    #[test]
    fn features_are_spelled_as_cargo_does() {
        assert_eq!(variable("new-math"), "NEW_MATH");
        assert_eq!(feature("CARGO_FEATURE_NEW_MATH".into()).as_deref(), Some("NEW_MATH"));
        assert_eq!(feature("CARGO_CFG_UNIX".into()), None);
    }
}
