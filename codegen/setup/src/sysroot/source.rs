//! Finds the sources of `core` and `alloc`: a folder, the component rust-src, or the pages of the component rust-docs.

use std::fs;
use std::path::{Path, PathBuf};

use super::html;
use crate::failure::Text;
use crate::{Failure, Rustc};

/// The crates that are built from them.
const CRATES: [&str; 2] = ["core", "alloc"];

/// Folders that stand beside `core` in Rust's repository and that `core` includes by `#[path = "../../…"]`; rustdoc
/// puts their pages below `core`.
const BESIDE_CORE: [&str; 2] = ["stdarch", "portable-simd"];

/// Folders in `core/src/stdarch/crates/core_arch/src` that `core` leaves out for GPUs, and three fifths of all pages.
const OF_OTHER_ARCHS: [&str; 4] = ["aarch64", "arm_shared", "x86", "x86_64"];

/// Where sources come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A path that the user gave.
    Explicit,
    /// The component rust-src.
    RustSrc,
    /// The component rust-docs.
    RustDocs,
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Explicit => "a given path",
            Self::RustSrc => "rust-src",
            Self::RustDocs => "rust-docs",
        })
    }
}

impl Source {
    /// The one that is displayed so.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        [Self::Explicit, Self::RustSrc, Self::RustDocs].into_iter().find(|source| source.to_string() == name)
    }
}

/// Sources, or pages to make them from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// Holds `core/src/lib.rs`, or `core/lib.rs.html`.
    pub path: PathBuf,
    /// Which of the two, and whence.
    pub source: Source,
}

/// The first of the places that has them.
pub fn find(rustc: &Rustc, explicit: Option<&Path>) -> Result<Library, Failure> {
    let has_sources = |path: &Path| CRATES.iter().all(|name| path.join(name).join("src/lib.rs").is_file());
    if let Some(path) = explicit {
        if has_sources(path) {
            return Ok(Library { path: path.to_path_buf(), source: Source::Explicit });
        }
        let message = format!("`{}` is neither a device sysroot nor Rust's `library` folder", path.display());
        let help = "give a folder that has core/src/lib.rs, or none: rust-src and rust-docs are found by themselves";
        return Err(Failure::Library(Text::new(message).help(help)));
    }
    let rust_src = rustc.sysroot.join("lib/rustlib/src/rust/library");
    if has_sources(&rust_src) {
        return Ok(Library { path: rust_src, source: Source::RustSrc });
    }
    let rust_docs = rustc.sysroot.join("share/doc/rust/html/src");
    if CRATES.iter().all(|name| rust_docs.join(name).join("lib.rs.html").is_file()) {
        return Ok(Library { path: rust_docs, source: Source::RustDocs });
    }
    let message =
        format!("rustc {} has neither rust-src nor rust-docs in `{}`", rustc.release, rustc.sysroot.display());
    Err(no_source(message, rustc))
}

impl Library {
    /// A folder like `library` of Rust's repository: the sources themselves, or, from pages, one written to `scratch`.
    pub fn unpack(&self, scratch: &Path) -> Result<PathBuf, Failure> {
        if self.source != Source::RustDocs {
            return Ok(self.path.clone());
        }
        let mut markdown = Vec::new();
        for name in CRATES {
            convert(&self.path.join(name), &scratch.join(name).join("src"), &mut markdown)?;
        }
        for name in BESIDE_CORE {
            let flat = scratch.join("core/src").join(name);
            if flat.is_dir() {
                let place = scratch.join(name);
                fs::rename(&flat, &place).map_err(Failure::cache("create", &place))?;
            }
        }
        for file in markdown.iter().map(|file| relocated(scratch, file)).filter(|file| file.starts_with(scratch)) {
            write(&file, "")?;
        }
        Ok(scratch.to_path_buf())
    }
}

/// Where a file that was written below `core/src/stdarch` lies after the move; its `..` taken out.
fn relocated(scratch: &Path, file: &Path) -> PathBuf {
    let core = scratch.join("core/src");
    let file = match file.strip_prefix(&core) {
        Ok(rest) if BESIDE_CORE.iter().any(|name| rest.starts_with(name)) => scratch.join(rest),
        _ => file.to_path_buf(),
    };
    let mut plain = PathBuf::new();
    for part in file.components() {
        if part == std::path::Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
    }
    plain
}

/// Writes the sources of a folder of pages; collects the Markdown files that they include.
fn convert(pages: &Path, to: &Path, markdown: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let unreadable = |path: &Path, e: &dyn std::fmt::Display| {
        let message = format!("cannot read Rust's source in `{}`: {e}", path.display());
        Failure::Library(Text::new(message).help(
            "install the component again: `rustup component remove rust-docs`, then `rustup component add rust-src`",
        ))
    };
    for entry in fs::read_dir(pages).map_err(|e| unreadable(pages, &e))? {
        let entry = entry.map_err(|e| unreadable(pages, &e))?;
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if path.is_dir() {
            if !(pages.ends_with("core_arch/src") && OF_OTHER_ARCHS.contains(&&*name)) {
                convert(&path, &to.join(&*name), markdown)?;
            }
        } else if let Some(name) = name.strip_suffix(".html").filter(|name| name.ends_with(".rs")) {
            let page = fs::read_to_string(&path).map_err(|e| unreadable(&path, &e))?;
            let source =
                html::source(&page).ok_or_else(|| unreadable(&path, &"it is no page of rustdoc's source view"))?;
            markdown.extend(html::markdown(&source).map(|file| to.join(file)));
            write(&to.join(name), &source)?;
        }
    }
    Ok(())
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(Failure::cache("create", folder))?;
    fs::write(file, text).map_err(Failure::cache("write", file))
}

/// The error where no sources were found.
fn no_source(message: String, rustc: &Rustc) -> Failure {
    let toolchain = rustc.toolchain().map(|name| format!(" --toolchain {name}")).unwrap_or_default();
    Failure::Library(
        Text::new(message)
            .note("`core` and `alloc` for the GPU are built from the sources that come with rustc")
            .help(format!("run `rustup component add rust-src{toolchain}` (the component rust-docs does as well)")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rustc(sysroot: &Path) -> Rustc {
        Rustc {
            path: "rustc".into(),
            release: "1.97.0-nightly".into(),
            commit_hash: None,
            host: "x86_64-unknown-linux-gnu".into(),
            llvm: "22.1.4".into(),
            sysroot: sysroot.into(),
        }
    }

    fn page(code: &str) -> String {
        format!("<pre class=\"rust\"><code>{code}</code></pre>")
    }

    #[test]
    fn the_order_is_path_then_rust_src_then_rust_docs() {
        let temp = tempfile::tempdir().unwrap();
        let toolchain = temp.path().join("toolchains/nightly");
        let rustc = rustc(&toolchain);
        let error = find(&rustc, None).unwrap_err().to_string();
        assert!(
            error.contains("neither rust-src nor")
                && error.contains("rustup component add rust-src --toolchain nightly"),
            "{error}"
        );

        for name in CRATES {
            write(&toolchain.join("share/doc/rust/html/src").join(name).join("lib.rs.html"), "").unwrap();
        }
        assert_eq!(find(&rustc, None).unwrap().source, Source::RustDocs);
        for name in CRATES {
            write(&toolchain.join("lib/rustlib/src/rust/library").join(name).join("src/lib.rs"), "").unwrap();
        }
        assert_eq!(find(&rustc, None).unwrap().source, Source::RustSrc);

        let error = find(&rustc, Some(temp.path())).unwrap_err().to_string();
        assert!(error.contains("neither a device sysroot"), "{error}");
        let given = toolchain.join("lib/rustlib/src/rust/library");
        assert_eq!(find(&rustc, Some(&given)).unwrap(), Library { path: given, source: Source::Explicit });
    }

    #[test]
    fn pages_become_the_layout_of_rusts_repository() {
        let temp = tempfile::tempdir().unwrap();
        let pages = temp.path().join("pages");
        let core = "#[doc = include_str!(&quot;../../docs/a.md&quot;)] mod a;";
        write(&pages.join("core/lib.rs.html"), &page(core)).unwrap();
        let stdarch = "#![doc = include_str!(&quot;core_arch_docs.md&quot;)]";
        write(&pages.join("core/stdarch/crates/core_arch/src/mod.rs.html"), &page(stdarch)).unwrap();
        write(&pages.join("alloc/lib.rs.html"), &page("fn f() {}")).unwrap();
        let scratch = temp.path().join("library");
        let library = Library { path: pages.clone(), source: Source::RustDocs };
        assert_eq!(library.unpack(&scratch).unwrap(), scratch);
        let text = |file: &str| fs::read_to_string(scratch.join(file)).unwrap();
        assert_eq!(text("core/src/lib.rs"), "#[doc = include_str!(\"../../docs/a.md\")] mod a;");
        assert_eq!(text("alloc/src/lib.rs"), "fn f() {}");
        assert_eq!(text("docs/a.md"), "");
        assert_eq!(text("stdarch/crates/core_arch/src/core_arch_docs.md"), "");
        assert!(text("stdarch/crates/core_arch/src/mod.rs").starts_with("#![doc"));

        write(&pages.join("alloc/cut.rs.html"), "<code>cut off").unwrap();
        let error = library.unpack(&temp.path().join("other")).unwrap_err().to_string();
        assert!(error.contains("cut.rs.html"), "{error}");
    }
}
