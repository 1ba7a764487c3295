//! `cargo ptx new`: a package with a kernel and a program that launches it.

use std::fs;
use std::path::Path;

use toml::Table;

use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result};
use ptx_codegen::files::{absolute, normalized};
use ptx_project::build::checkout;

use super::arguments::NewArgs;
use super::output;

/// (path in the package, text)
const FILES: [(&str, &str); 7] = [
    (".cargo/config.toml", include_str!("template/config.toml")),
    ("Cargo.toml", include_str!("template/Cargo.toml")),
    ("build.rs", include_str!("template/build.rs")),
    ("src/lib.rs", include_str!("template/src/lib.rs")),
    ("src/main.rs", include_str!("template/src/main.rs")),
    ("rust-toolchain.toml", include_str!("template/rust-toolchain.toml")),
    (".gitignore", "/target\n"),
];

/// Names that a package with kernels cannot have: they are of crates that it uses, or of the language.
const TAKEN: [&str; 12] =
    ["alloc", "core", "crate", "extern", "fn", "mod", "ptx", "ptx-build", "ptx_build", "self", "std", "test"];

/// Makes the package and says what to do next.
pub fn run(args: &NewArgs) -> Result<()> {
    let dir = normalized(&absolute(&args.path)?);
    let name = match &args.name {
        Some(name) => name.clone(),
        None => dir.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_string(),
    };
    check_name(&name)?;
    create(&dir, &name, &dependencies(checkout().as_deref()))?;
    let shown = output::path(&dir);
    println!("Made package `{name}` in {shown}");
    println!("Run it:    cd {shown} && cargo run --release");
    println!("Its PTX:   cd {shown} && cargo ptx inspect ptx saxpy --release");
    Ok(())
}

fn check_name(name: &str) -> Result<()> {
    let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let reason = if TAKEN.contains(&name) {
        "is the name of something that the package uses"
    } else if !is_plain {
        "is not a letter followed by letters, digits, `-` and `_`"
    } else {
        return Ok(());
    };
    Err(Diagnostic::error(Code::Usage, format!("the package cannot be called `{name}`: that {reason}"))
        .help("choose another by `--name NAME`")
        .into())
}

/// How the package names `ptx` and `ptx-build`.
struct Dependencies {
    ptx: String,
    /// With the feature for tests.
    ptx_cpu: String,
    ptx_build: String,
}

fn dependencies(checkout: Option<&Path>) -> Dependencies {
    let source = |folder: &str| match checkout {
        Some(root) => format!("path = {}", toml::Value::String(root.join(folder).display().to_string())),
        None => format!("version = \"{}\"", env!("CARGO_PKG_VERSION")),
    };
    // A version alone stands by itself.
    let short = |source: &str| match source.strip_prefix("version = ") {
        Some(version) => version.to_string(),
        None => format!("{{ {source} }}"),
    };
    let (ptx, ptx_build) = (source("runtime/ptx"), source("runtime/build"));
    Dependencies {
        ptx_cpu: format!("{{ {ptx}, features = [\"cpu\"] }}"),
        ptx: short(&ptx),
        ptx_build: short(&ptx_build),
    }
}

fn create(dir: &Path, name: &str, dependencies: &Dependencies) -> Result<()> {
    if dir.exists() && fs::read_dir(dir).map_or(true, |mut entries| entries.next().is_some()) {
        return Err(Diagnostic::error(Code::Usage, format!("`{}` is there already", dir.display()))
            .help("name a folder that is not there, or is empty")
            .into());
    }
    for (path, text) in FILES {
        let mut text = text
            .replace("{name}", name)
            .replace("{crate}", &name.replace('-', "_"))
            .replace("{ptx}", &dependencies.ptx)
            .replace("{ptx-cpu}", &dependencies.ptx_cpu)
            .replace("{ptx-build}", &dependencies.ptx_build);
        if path == "Cargo.toml" && is_in_workspace(dir) {
            text += "\n# The folder is inside another workspace, which this package is no member of.\n[workspace]\n";
        }
        let file = dir.join(path);
        let folder = file.parent().unwrap_or(dir);
        fs::create_dir_all(folder).and_then(|()| fs::write(&file, text)).map_err(|e| {
            Diagnostic::error(Code::OutputFailed, format!("cannot write `{}`: {e}", file.display()))
                .help("name a folder that can be written")
        })?;
    }
    Ok(())
}

/// Whether cargo would take a package here for a member that the workspace forgot.
fn is_in_workspace(dir: &Path) -> bool {
    dir.ancestors().skip(1).any(|folder| {
        let text = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
        text.parse::<Table>().is_ok_and(|table| table.contains_key("workspace"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked() {
        for name in ["demo", "my-demo", "d_2"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        for name in ["", "2d", "a b", "ptx", "a/b", "größe"] {
            let error = check_name(name).unwrap_err().to_string();
            assert!(error.contains("cannot be called") && error.contains("--name"), "{name}: {error}");
        }
    }

    #[test]
    fn the_package_is_whole_and_named() {
        let dir = tempfile::tempdir().unwrap();
        let package = dir.path().join("my-demo");
        create(&package, "my-demo", &dependencies(Some(Path::new("/src of/ptx")))).unwrap();
        for (path, _) in FILES {
            let text = fs::read_to_string(package.join(path)).unwrap();
            for placeholder in ["{name}", "{crate}", "{ptx}", "{ptx-cpu}", "{ptx-build}"] {
                assert!(!text.contains(placeholder), "{placeholder} in {path}");
            }
        }
        let manifest: Table = fs::read_to_string(package.join("Cargo.toml")).unwrap().parse().unwrap();
        assert_eq!(manifest["package"]["name"].as_str(), Some("my-demo"));
        assert_eq!(manifest["dependencies"]["ptx"]["path"].as_str(), Some("/src of/ptx/runtime/ptx"));
        assert!(!manifest.contains_key("workspace"));
        assert!(fs::read_to_string(package.join("src/main.rs")).unwrap().contains("use my_demo::saxpy;"));
        let error = create(&package, "my-demo", &dependencies(None)).unwrap_err().to_string();
        assert!(error.contains("is there already"), "{error}");
    }

    #[test]
    fn inside_a_workspace_it_stands_alone() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("Cargo.toml"), "[workspace]\n").unwrap();
        let package = dir.path().join("sub/demo");
        create(&package, "demo", &dependencies(None)).unwrap();
        let manifest: Table = fs::read_to_string(package.join("Cargo.toml")).unwrap().parse().unwrap();
        assert!(manifest.contains_key("workspace"));
        assert_eq!(manifest["dependencies"]["ptx"].as_str(), Some(env!("CARGO_PKG_VERSION")));
    }
}
