//! Where the compiler's sources are: in a clone of the repository, or in a registry of crates.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ptx_setup::hash;

/// What the compiler is made of, from the repository's root.
const PARTS: [&str; 7] = [
    "Cargo.toml",
    "Cargo.lock",
    "codegen/cargo-ptx",
    "codegen/compiler",
    "codegen/project",
    "codegen/setup",
    "runtime/abi",
];

/// A folder with this is a clone's root.
const PROGRAM: &str = "codegen/cargo-ptx";

/// A clone of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    /// The folder with the workspace's manifest.
    pub root: PathBuf,
    /// Of the sources as they are now.
    pub digest: String,
}

impl Checkout {
    /// The clone that this crate was compiled in; none where it comes from a registry.
    pub fn find() -> Result<Option<Self>, String> {
        let Some(root) = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2) else { return Ok(None) };
        if !root.join(PROGRAM).join("Cargo.toml").is_file() {
            return Ok(None);
        }
        let digest = digest(root).map_err(|e| format!("cannot read the compiler's sources: {e}"))?;
        Ok(Some(Self { root: root.to_path_buf(), digest }))
    }

    /// The package of the program.
    pub fn package(&self) -> PathBuf {
        self.root.join(PROGRAM)
    }

    /// Files and folders that change when the compiler does.
    pub fn parts(&self) -> impl Iterator<Item = PathBuf> {
        PARTS.iter().map(|part| self.root.join(part))
    }
}

/// Of the compiler's sources in a clone: the names and contents of the files that it is made of. Its tests are not.
fn digest(root: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    for part in PARTS {
        let path = root.join(part);
        if path.is_dir() {
            for part in ["Cargo.toml", "build.rs", "src"] {
                collect(&path.join(part), &mut files)?;
            }
        } else {
            collect(&path, &mut files)?;
        }
    }
    files.sort();
    let mut parts = Vec::new();
    for file in files {
        parts.push(file.strip_prefix(root).unwrap_or(&file).as_os_str().as_encoded_bytes().to_vec());
        parts.push(fs::read(&file)?);
    }
    Ok(format!("{:016x}", hash::stable(parts)))
}

/// The file, or the files below the folder; nothing where there is neither.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_file() {
        files.push(path.to_path_buf());
    } else if path.is_dir() {
        for entry in fs::read_dir(path)? {
            collect(&entry?.path(), files)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_the_compiler_changes_the_digest_and_nothing_else_does() {
        let temp = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = temp.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
            digest(temp.path()).unwrap()
        };
        write("Cargo.lock", "1");
        let before = write("codegen/compiler/src/a/b.rs", "1");
        for (path, text) in
            [("codegen/compiler/tests/a.rs", "1"), ("docs/src/a.md", "1"), ("codegen/compiler/src/a/b.rs", "1")]
        {
            assert_eq!(write(path, text), before, "{path}");
        }
        let mut seen = vec![before];
        for (path, text) in [
            ("codegen/compiler/src/a/b.rs", "2"),
            ("codegen/compiler/src/a/c.rs", ""),
            ("codegen/project/build.rs", ""),
            ("Cargo.lock", "2"),
        ] {
            let now = write(path, text);
            assert!(!seen.contains(&now), "{path}");
            seen.push(now);
        }
    }

    #[test]
    fn this_crate_lies_in_a_clone() {
        let checkout = Checkout::find().unwrap().unwrap();
        assert!(checkout.package().join("src/bin/cargo-ptx.rs").is_file());
        assert!(checkout.parts().all(|part| part.exists()));
    }
}
