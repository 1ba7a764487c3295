//! `core`, `alloc` and `compiler_builtins` for the device, built once per rustc and kept in the cache.

mod build;
mod html;
mod rustc;
mod source;

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::cache;
use crate::progress::Progress;
use ptx_codegen::diagnostic::Result;

pub use build::library_folder;
pub use rustc::Rustc;
pub use source::{Library, Source};

/// Says in a sysroot what it was made of; written last but before the folder gets its name.
const RECORD: &str = "rust-ptx.json";

/// rustc compiles short functions that call no others into their callers in other crates. What it made of `libm::logf` so
/// could not be replaced by libdevice's; and the linker, which sees all crates, inlines by itself. Stable rustc has no such
/// option.
pub const NO_COPIES: &str = "-Zcross-crate-inline-threshold=never";

/// A folder for `rustc --sysroot`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sysroot {
    /// Holds `lib/rustlib/nvptx64-nvidia-cuda/lib`.
    pub path: PathBuf,
    /// What it was built from.
    pub source: Source,
}

/// A sysroot in the cache, as `cargo ptx doctor` lists them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// rustc's release, as in `1.97.0-nightly`.
    pub release: String,
    /// rustc's commit, where it knows it.
    pub commit_hash: Option<String>,
    /// What it was built from.
    pub source: Source,
    /// How long the build took.
    pub seconds: f64,
}

/// The device sysroot for a rustc: `explicit` (a ready sysroot, or a `library` folder of Rust's sources), else built
/// from rust-src, else from rust-docs. A later call finds it in the cache.
pub fn ensure(rustc: &Rustc, explicit: Option<&Path>, progress: &Progress) -> Result<Sysroot> {
    // rustc runs elsewhere, and the cache knows given sources by their path.
    let explicit = explicit.and_then(|path| std::path::absolute(path).ok());
    let explicit = explicit.as_deref();
    if let Some(path) = explicit.filter(|path| is_sysroot(path)) {
        return Ok(Sysroot { path: path.to_path_buf(), source: Source::Explicit });
    }
    // A sysroot that is there needs no sources any more: they may have been removed since.
    let place = place(rustc, explicit)?;
    let waiting = || progress.line("Waiting for another build of the device sysroot");
    cache::make_once(&place, waiting, |partial| {
        let library = source::find(rustc, explicit)?;
        let begun = Instant::now();
        build::build(rustc, &library, partial, progress)?;
        let record = Record {
            release: rustc.release.clone(),
            commit_hash: rustc.commit_hash.clone(),
            source: library.source,
            seconds: begun.elapsed().as_secs_f64(),
        };
        let file = partial.join(RECORD);
        let text = serde_json::to_string_pretty(&record).expect("a record has no maps with other keys than strings");
        std::fs::write(&file, text).map_err(|e| cache::failure(&file, "write", &e).into())
    })?;
    let source = read_record(&place).map_or(Source::Explicit, |record| record.source);
    Ok(Sysroot { path: place, source })
}

/// The sources of `core` and `alloc`, for reading: rust-src's, or those that rust-docs shows, unpacked into the cache.
/// `None` where neither is there.
pub fn sources(rustc: &Rustc, progress: &Progress) -> Result<Option<PathBuf>> {
    let Ok(library) = source::find(rustc, None) else { return Ok(None) };
    if library.source != Source::RustDocs {
        return Ok(Some(library.path));
    }
    let place = cache::root()?.join("library").join(build::key(rustc, None));
    let waiting = || progress.line("Waiting for another process that unpacks Rust's sources");
    cache::make_once(&place, waiting, |partial| library.unpack(partial).map(|_| ()))?;
    Ok(Some(place))
}

/// Where the sysroot of this rustc is or would be.
pub fn place(rustc: &Rustc, explicit: Option<&Path>) -> Result<PathBuf> {
    Ok(sysroots()?.join(build::key(rustc, explicit)))
}

/// Every sysroot in the cache.
pub fn list() -> Result<Vec<(PathBuf, Record)>> {
    let Ok(entries) = std::fs::read_dir(sysroots()?) else { return Ok(vec![]) };
    let mut found: Vec<_> =
        entries.flatten().filter_map(|entry| Some((entry.path(), read_record(&entry.path())?))).collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

/// What sysroot would be built from, if anything is there.
pub fn find_source(rustc: &Rustc, explicit: Option<&Path>) -> Result<Library> {
    source::find(rustc, explicit)
}

fn sysroots() -> Result<PathBuf> {
    Ok(cache::root()?.join("sysroot"))
}

fn read_record(place: &Path) -> Option<Record> {
    serde_json::from_str(&std::fs::read_to_string(place.join(RECORD)).ok()?).ok()
}

/// Whether a folder has a `core` for the device.
fn is_sysroot(path: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(library_folder(path)) else { return false };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with("libcore") && name.ends_with(".rlib")
    })
}
