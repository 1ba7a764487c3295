//! The crates `test` and `std` that a package's tests are compiled with (`src/device`).
//!
//! They are carried along, so that an installed program has them, and written into the target folder as packages. They use
//! the same `ptx` as the package, because a program has one panic handler.

use std::path::{Path, PathBuf};

use ptx_codegen::diagnostic::Result;
use ptx_codegen::files::write_if_changed;
use toml::{Table, Value};

use super::lock;

/// A crate: the name by which tests know it, and its files.
type Support = (&'static str, &'static [(&'static str, &'static str)]);

/// rustc's expansion of `#[test]` names the one; tests may be written with the other.
const CRATES: [Support; 2] = [
    (
        "test",
        &[
            ("lib.rs", include_str!("../device/test/lib.rs")),
            ("bench.rs", include_str!("../device/test/bench.rs")),
            ("entry.rs", include_str!("../device/test/entry.rs")),
            ("result.rs", include_str!("../device/test/result.rs")),
            ("types.rs", include_str!("../device/test/types.rs")),
        ],
    ),
    (
        "std",
        &[
            ("lib.rs", include_str!("../device/std/lib.rs")),
            ("alloc.rs", include_str!("../device/std/alloc.rs")),
            ("collections.rs", include_str!("../device/std/collections.rs")),
            ("error.rs", include_str!("../device/std/error.rs")),
            ("ffi.rs", include_str!("../device/std/ffi.rs")),
            ("float.rs", include_str!("../device/std/float.rs")),
            ("hash.rs", include_str!("../device/std/hash.rs")),
            ("macros.rs", include_str!("../device/std/macros.rs")),
            ("prelude.rs", include_str!("../device/std/prelude.rs")),
            ("printing.rs", include_str!("../device/std/printing.rs")),
            ("sync.rs", include_str!("../device/std/sync.rs")),
            ("task.rs", include_str!("../device/std/task.rs")),
            ("thread.rs", include_str!("../device/std/thread.rs")),
        ],
    ),
];

/// The folder of the sources that this program was built from, if they are still there.
pub fn checkout() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?;
    root.join("runtime/ptx/Cargo.toml").is_file().then(|| root.to_path_buf())
}

/// Writes the packages into a folder of the target folder, with the `ptx` of a device manifest's dependencies, and adds
/// them to those.
pub fn add(dependencies: &mut Table, target_dir: &Path) -> Result<()> {
    let ptx = dependencies.values().find(|value| package_of(value) == Some("ptx"));
    let ptx = ptx.or_else(|| dependencies.get("ptx").filter(|value| package_of(value).is_none()));
    let ptx = ptx.cloned().unwrap_or_else(default_ptx);
    let key = ptx_codegen::hash::stable([ptx.to_string().as_bytes()]);
    for (name, files) in CRATES {
        let folder = target_dir.join("harness").join(format!("{key:016x}")).join(name);
        let src = folder.join("src");
        std::fs::create_dir_all(&src).map_err(|e| lock::failure(&src, "create the folder", &e))?;
        for (file, text) in files {
            write_if_changed(&src.join(file), text)?;
        }
        let package = format!("ptx-{}", if name == "test" { "test" } else { "test-std" });
        write_if_changed(&folder.join("Cargo.toml"), &manifest(name, &package, &ptx).to_string())?;
        let path = folder.to_string_lossy().into_owned();
        let dependency =
            Table::from_iter([("package".into(), package.into()), ("path".to_string(), Value::from(path))]);
        dependencies.insert(name.into(), Value::Table(dependency));
    }
    Ok(())
}

fn manifest(name: &str, package: &str, ptx: &Value) -> Table {
    let mut ptx = match ptx {
        Value::Table(table) => table.clone(),
        version => Table::from_iter([("version".to_string(), version.clone())]),
    };
    ptx.remove("optional");
    ptx.insert("package".into(), "ptx".into());
    let section = |pairs: &[(&str, Value)]| {
        Value::Table(pairs.iter().map(|(key, value)| (key.to_string(), value.clone())).collect())
    };
    Table::from_iter([
        (
            "package".to_string(),
            section(&[
                ("name", package.into()),
                ("version", env!("CARGO_PKG_VERSION").into()),
                ("edition", "2024".into()),
                ("publish", false.into()),
            ]),
        ),
        ("lib".to_string(), section(&[("name", name.into())])),
        ("dependencies".to_string(), section(&[("ptx", Value::Table(ptx))])),
    ])
}

/// The `ptx` of a package that has none.
fn default_ptx() -> Value {
    match checkout() {
        Some(root) => {
            let path = root.join("runtime/ptx").to_string_lossy().into_owned();
            Value::Table(Table::from_iter([("path".to_string(), Value::from(path))]))
        }
        None => env!("CARGO_PKG_VERSION").into(),
    }
}

fn package_of(dependency: &Value) -> Option<&str> {
    dependency.get("package")?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_file_is_carried_along() {
        for (name, files) in CRATES {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/device").join(name);
            let mut found: Vec<_> = std::fs::read_dir(&folder)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            found.sort();
            let mut carried: Vec<_> = files.iter().map(|(file, _)| file.to_string()).collect();
            carried.sort();
            assert_eq!(carried, found, "{}", folder.display());
        }
    }

    #[test]
    fn there_is_one_ptx() {
        let folder = tempfile::tempdir().unwrap();
        let with = |text: &str| {
            let mut dependencies: Table = text.parse().unwrap();
            add(&mut dependencies, folder.path()).unwrap();
            let path = Path::new(dependencies["test"]["path"].as_str().unwrap()).join("Cargo.toml");
            std::fs::read_to_string(path).unwrap().parse::<Table>().unwrap()["dependencies"]["ptx"].clone()
        };
        assert_eq!(with("gpu = { package = 'ptx', path = '/p', optional = true }")["path"].as_str(), Some("/p"));
        assert_eq!(with("ptx = '0.1'")["version"].as_str(), Some("0.1"));
        let own = with("");
        assert!(own["path"].as_str().unwrap().ends_with("runtime/ptx"), "{own}");
        assert_eq!(own["package"].as_str(), Some("ptx"));
    }
}
