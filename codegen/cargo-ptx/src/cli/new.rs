//! `cargo ptx new`: a package with a kernel and a program that launches it.

use std::fs;
use std::path::Path;
use std::process::Command;

use toml::Table;

use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result};
use ptx_codegen::files::{absolute, normalized};
use ptx_project::build::checkout;

use super::arguments::{MadeArgs, NewArgs, Vcs};
use super::output;
use crate::debugger;

/// (path in the package, text)
const FILES: [(&str, &str); 7] = [
    (".cargo/config.toml", include_str!("template/config.toml")),
    ("Cargo.toml", include_str!("template/manifest.toml")),
    ("build.rs", include_str!("template/build.rs")),
    ("src/lib.rs", include_str!("template/src/lib.rs")),
    ("src/main.rs", include_str!("template/src/main.rs")),
    ("rust-toolchain.toml", include_str!("template/toolchain.toml")),
    (".gitignore", "/target\n"),
];

/// Files that a folder for the package may have already, and that stay as they are.
const KEPT: [&str; 3] = [".cargo/config.toml", ".gitignore", "rust-toolchain.toml"];

/// Names of crates that a package with kernels uses.
const TAKEN: [&str; 7] = ["alloc", "core", "proc_macro", "ptx", "ptx_build", "std", "test"];

/// Names of folders in which cargo keeps what it builds; it refuses programs of these names.
const OF_CARGO: [&str; 4] = ["build", "deps", "examples", "incremental"];

/// The Rust Reference, "Keywords": strict and reserved ones.
const KEYWORDS: [&str; 52] = [
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super",
    "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Makes the package in a new folder and says what to do next.
pub fn run(args: &NewArgs) -> Result<()> {
    let dir = normalized(&absolute(&args.path)?);
    if dir.exists() && fs::read_dir(&dir).map_or(true, |mut entries| entries.next().is_some()) {
        return Err(Diagnostic::error(Code::Usage, format!("`{}` is there already", dir.display()))
            .help("name a folder that is not there, or run `cargo ptx init` in this one")
            .into());
    }
    make(&dir, &args.package)
}

/// Makes the package in a folder that is there.
pub fn here(dir: &Path, args: &MadeArgs) -> Result<()> {
    let paths = FILES.iter().map(|(path, _)| *path);
    let in_the_way = paths.filter(|path| !KEPT.contains(path)).find(|path| dir.join(path).exists());
    if let Some(path) = in_the_way {
        return Err(Diagnostic::error(Code::Usage, format!("`{}` is there already", dir.join(path).display()))
            .help("for a package that is there, `cargo ptx init --linker` has plain cargo compile its kernels")
            .help("name another folder, or make a package beside this one by `cargo ptx new NAME`")
            .into());
    }
    make(dir, args)
}

fn make(dir: &Path, args: &MadeArgs) -> Result<()> {
    let name = match &args.name {
        Some(name) => name.clone(),
        None => dir.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_string(),
    };
    check_name(&name)?;
    create(dir, &name, &dependencies(checkout().as_deref()))?;
    let has_git = args.vcs != Some(Vcs::None) && (args.vcs.is_some() || !is_in_repository(dir));
    if has_git {
        initialize(dir)?;
    }
    let shown = output::path(dir);
    println!("Made package `{name}` in {}", if shown.is_empty() { "this folder" } else { &shown });
    let enter = if shown.is_empty() { String::new() } else { format!("cd {} && ", debugger::for_shell(&shown)) };
    println!("Run it:    {enter}cargo run --release");
    println!("Its PTX:   {enter}cargo ptx inspect ptx saxpy --release");
    Ok(())
}

/// Whether git has the folder already.
fn is_in_repository(dir: &Path) -> bool {
    dir.ancestors().any(|folder| folder.join(".git").exists())
}

/// A new repository; without git, none.
fn initialize(dir: &Path) -> Result<()> {
    match Command::new("git").args(["init", "--quiet"]).arg(dir).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let reason = String::from_utf8_lossy(&output.stderr).trim().to_string();
            Err(Diagnostic::error(Code::OutputFailed, format!("`git init {}` failed", dir.display()))
                .note(reason)
                .help("the package is complete; `--vcs none` makes one without a repository")
                .into())
        }
        Err(_) => Ok(()),
    }
}

fn check_name(name: &str) -> Result<()> {
    let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let reason = if KEYWORDS.contains(&name) {
        "is a keyword of Rust"
    } else if TAKEN.contains(&name.replace('-', "_").as_str()) {
        "is the name of a crate that the package uses"
    } else if OF_CARGO.contains(&name) {
        "is the name of a folder of cargo's"
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
        Some(root) => {
            let path = toml::Value::String(root.join(folder).display().to_string());
            // cargo packages what has a version as well.
            format!("version = \"{}\", path = {path}", env!("CARGO_PKG_VERSION"))
        }
        None => format!("version = \"{}\"", env!("CARGO_PKG_VERSION")),
    };
    // A version alone stands by itself.
    let short = |source: &str| match source.strip_prefix("version = ") {
        Some(version) if checkout.is_none() => version.to_string(),
        _ => format!("{{ {source} }}"),
    };
    let (ptx, ptx_build) = (source("runtime/ptx"), source("runtime/build"));
    Dependencies {
        ptx_cpu: format!("{{ {ptx}, features = [\"cpu\"] }}"),
        ptx: short(&ptx),
        ptx_build: short(&ptx_build),
    }
}

fn create(dir: &Path, name: &str, dependencies: &Dependencies) -> Result<()> {
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
        if KEPT.contains(&path) && file.exists() {
            continue;
        }
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
        for (name, reason) in [
            ("", "is not a letter"),
            ("2d", "is not a letter"),
            ("a b", "is not a letter"),
            ("a/b", "is not a letter"),
            ("größe", "is not a letter"),
            ("ptx", "a crate that the package uses"),
            ("ptx-build", "a crate that the package uses"),
            ("deps", "a folder of cargo's"),
            ("build", "a folder of cargo's"),
            ("match", "a keyword of Rust"),
            ("loop", "a keyword of Rust"),
        ] {
            let error = check_name(name).unwrap_err().to_string();
            assert!(error.contains(reason) && error.contains("--name"), "{name}: {error}");
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
        assert_eq!(manifest["build-dependencies"]["ptx-build"]["version"].as_str(), Some(env!("CARGO_PKG_VERSION")));
        assert!(!manifest.contains_key("workspace"));
        assert!(fs::read_to_string(package.join("src/main.rs")).unwrap().contains("use my_demo::saxpy;"));
        let made = MadeArgs { name: Some("my-demo".into()), vcs: Some(Vcs::None) };
        let error = run(&NewArgs { path: package.clone(), package: made }).unwrap_err().to_string();
        assert!(error.contains("is there already") && error.contains("cargo ptx init"), "{error}");
        let error = here(&package, &MadeArgs { name: None, vcs: None }).unwrap_err().to_string();
        assert!(error.contains("Cargo.toml` is there already") && error.contains("--linker"), "{error}");
    }

    #[test]
    fn it_is_formatted_whatever_its_name() {
        for name in ["aaa", "zzz"] {
            let dir = tempfile::tempdir().unwrap();
            create(dir.path(), name, &dependencies(None)).unwrap();
            let files = ["build.rs", "src/lib.rs", "src/main.rs"].map(|file| dir.path().join(file));
            let output = Command::new("rustfmt").args(["--check", "--edition=2024"]).args(files).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        }
    }

    #[test]
    fn a_folder_that_is_there_keeps_its_files_and_its_repository() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(".gitignore"), "mine\n").unwrap();
        let made = |vcs| MadeArgs { name: Some("demo".into()), vcs };
        here(dir.path(), &made(Some(Vcs::Git))).unwrap();
        assert!(dir.path().join(".git").is_dir() && dir.path().join("src/lib.rs").is_file());
        assert_eq!(fs::read_to_string(dir.path().join(".gitignore")).unwrap(), "mine\n");
        let inner = dir.path().join("inner");
        run(&NewArgs { path: inner.clone(), package: made(None) }).unwrap();
        assert!(!inner.join(".git").exists(), "a repository in a repository");
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
