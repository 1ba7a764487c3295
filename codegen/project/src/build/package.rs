//! A package that holds kernels, as its manifest and its workspace's manifest describe it.

use std::path::{Path, PathBuf};
use std::process::Command;

use toml::{Table, Value};

use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result};
use ptx_codegen::files::{absolute, normalized};

/// A package with a library, and the workspace that it is in.
#[derive(Clone, Debug)]
pub struct Package {
    /// Its `Cargo.toml`, absolute.
    pub manifest: PathBuf,
    /// What stands there.
    pub table: Table,
    /// The workspace's `Cargo.toml`, which may be the same.
    pub root_manifest: PathBuf,
    /// What stands there.
    pub root_table: Table,
    /// Name of the package.
    pub name: String,
}

impl Package {
    /// Reads both manifests. `cargo` says which workspace it is.
    pub fn load(manifest: &Path, cargo: &Path) -> Result<Self> {
        let manifest = normalized(&absolute(manifest)?);
        let table = read(&manifest)?;
        let root_manifest = workspace_of(&manifest, cargo)?;
        let root_table = if root_manifest == manifest { table.clone() } else { read(&root_manifest)? };
        let Some(name) = package_table(&table).and_then(|package| package.get("name")).and_then(Value::as_str) else {
            return Err(Diagnostic::error(Code::NoKernels, format!("`{}` describes no package", manifest.display()))
                .help("name the manifest of the package that holds the kernels, or run the command in its folder")
                .into());
        };
        Ok(Self { name: name.to_string(), manifest, table, root_manifest, root_table })
    }

    /// The folder of the manifest.
    pub fn dir(&self) -> &Path {
        self.manifest.parent().unwrap_or(Path::new("/"))
    }

    /// The folder of the workspace.
    pub fn root(&self) -> &Path {
        self.root_manifest.parent().unwrap_or(Path::new("/"))
    }

    /// `Cargo.lock` of the workspace, if it is there.
    pub fn lock(&self) -> Option<PathBuf> {
        Some(self.root_manifest.with_file_name("Cargo.lock")).filter(|lock| lock.is_file())
    }

    /// Names in `[features]` of a manifest, and of optional dependencies, which are features too.
    pub fn features(manifest: &Path) -> Vec<String> {
        let Ok(table) = read(manifest) else { return vec![] };
        let features = table.get("features").and_then(Value::as_table).into_iter().flatten().map(|(name, _)| name);
        let dependencies = table.get("dependencies").and_then(Value::as_table).into_iter().flatten();
        let is_optional = |value: &Value| value.get("optional").and_then(Value::as_bool) == Some(true);
        let optional = dependencies.filter(|(_, value)| is_optional(value)).map(|(name, _)| name);
        features.chain(optional).cloned().collect()
    }

    /// The library's name, as code names it.
    pub fn library_name(&self) -> String {
        let given = self.table.get("lib").and_then(|lib| lib.get("name")).and_then(Value::as_str);
        given.unwrap_or(&self.name).replace('-', "_")
    }

    /// The library's first source file.
    pub fn library(&self) -> Result<PathBuf> {
        let given = self.table.get("lib").and_then(|lib| lib.get("path")).and_then(Value::as_str);
        let path = normalized(&self.dir().join(given.unwrap_or("src/lib.rs")));
        if path.is_file() {
            return Ok(path);
        }
        Err(Diagnostic::error(
            Code::NoKernels,
            format!("package `{}` has no library: `{}` is not there", self.name, path.display()),
        )
        .help("kernels live in a package's library: move them to src/lib.rs, and let src/main.rs use it")
        .into())
    }
}

fn package_table(table: &Table) -> Option<&Table> {
    table.get("package").or_else(|| table.get("project"))?.as_table()
}

fn read(manifest: &Path) -> Result<Table> {
    let bad =
        |reason: String| Diagnostic::error(Code::Usage, format!("cannot read `{}`: {reason}", manifest.display()));
    let text = std::fs::read_to_string(manifest).map_err(|e| {
        bad(e.to_string()).help("name a manifest by `--manifest-path`, or run the command in a package's folder")
    })?;
    Ok(text.parse::<Table>().map_err(|e| bad(e.to_string()))?)
}

/// The manifest of the workspace that a package is in; cargo knows the rules.
fn workspace_of(manifest: &Path, cargo: &Path) -> Result<PathBuf> {
    // What `cargo package` tries out stands alone, wherever it lies: in the target folder of the workspace that it is from.
    if manifest.with_file_name("Cargo.toml.orig").is_file() {
        return Ok(manifest.to_path_buf());
    }
    let failed = |why: &str| {
        Diagnostic::error(Code::CargoFailed, format!("cargo finds no workspace for `{}`", manifest.display()))
            .note(why.trim().to_string())
    };
    let output = Command::new(cargo)
        .args(["locate-project", "--workspace", "--message-format", "plain", "--manifest-path"])
        .arg(manifest)
        .output()
        .map_err(|e| failed(&format!("cannot run `{}`: {e}", cargo.display())))?;
    if !output.status.success() {
        return Err(failed(&String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_finds_its_workspace_and_library() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("app/src")).unwrap();
        std::fs::write(root.join("Cargo.toml"), "[workspace]\nmembers = [\"app\"]\n").unwrap();
        std::fs::write(root.join("app/Cargo.toml"), "[package]\nname = \"app\"\n").unwrap();
        std::fs::write(root.join("app/src/main.rs"), "fn main() {}\n").unwrap();
        let cargo = std::env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from);
        let package = Package::load(&root.join("app/../app/Cargo.toml"), &cargo).unwrap();
        assert_eq!(package.root(), root);
        assert_eq!(package.lock(), None);
        assert!(package.library().unwrap_err().to_string().contains("package `app` has no library"));
        std::fs::write(root.join("app/src/lib.rs"), "").unwrap();
        assert_eq!(package.library().unwrap(), root.join("app/src/lib.rs"));

        let packed = root.join("target/package/app-0.1.0");
        std::fs::create_dir_all(&packed).unwrap();
        std::fs::write(packed.join("Cargo.toml"), "[package]\nname = \"app\"\n").unwrap();
        std::fs::write(packed.join("Cargo.toml.orig"), "").unwrap();
        assert_eq!(Package::load(&packed.join("Cargo.toml"), &cargo).unwrap().root(), packed);

        let error = Package::load(&root.join("Cargo.toml"), &cargo).unwrap_err().to_string();
        assert!(error.contains("describes no package"), "{error}");
        let error = Package::load(&root.join("none/Cargo.toml"), &cargo).unwrap_err().to_string();
        assert!(error.contains("cannot read") && error.contains("--manifest-path"), "{error}");
    }
}
