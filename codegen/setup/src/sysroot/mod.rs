//! `core`, `alloc` and `compiler_builtins` for the device, built once per rustc and kept in the user's cache.

mod compile;
mod html;
mod record;
mod source;

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::cache::{self, Partial};
use crate::{Failure, Rustc};

pub use compile::{CRATES, Event, Pace, TARGET, library_folder};
pub use record::Record;
pub use source::{Library, Source, find as find_source};

/// A folder for `rustc --sysroot`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sysroot {
    /// Holds `lib/rustlib/nvptx64-nvidia-cuda/lib`.
    pub path: PathBuf,
    /// What it was built from.
    pub source: Source,
}

/// The device sysroot for a rustc: `explicit` (a ready sysroot, or a `library` folder of Rust's sources, from the file system's
/// root), else built from rust-src, else from rust-docs. A later call finds it in the cache.
pub fn ensure(
    rustc: &Rustc,
    explicit: Option<&Path>,
    pace: Pace,
    hear: &mut dyn FnMut(Event),
) -> Result<Sysroot, Failure> {
    if let Some(path) = explicit.filter(|path| is_sysroot(path)) {
        return Ok(Sysroot { path: path.to_path_buf(), source: Source::Explicit });
    }
    // A sysroot that is there needs no sources any more: they may have been removed since.
    let path = place(rustc, explicit)?;
    if let Some(partial) = Partial::begin(&path, || hear(Event::Waiting))? {
        let library = source::find(rustc, explicit)?;
        let begun = Instant::now();
        compile::build(rustc, &library, partial.path(), pace, hear)?;
        let record = Record {
            release: rustc.release.clone(),
            commit_hash: rustc.commit_hash.clone(),
            source: library.source,
            seconds: begun.elapsed().as_secs_f64(),
        };
        record.write(partial.path())?;
        partial.publish()?;
    }
    let source = Record::read(&path).map_or(Source::Explicit, |record| record.source);
    Ok(Sysroot { path, source })
}

/// The sources of `core` and `alloc`, for reading: rust-src's, or those that rust-docs shows, unpacked into the cache.
/// `None` where neither is there.
pub fn sources(rustc: &Rustc, waiting: impl FnOnce()) -> Result<Option<PathBuf>, Failure> {
    let Ok(library) = source::find(rustc, None) else { return Ok(None) };
    if library.source != Source::RustDocs {
        return Ok(Some(library.path));
    }
    let place = cache::root()?.join("library").join(compile::key(rustc, None));
    if let Some(partial) = Partial::begin(&place, waiting)? {
        library.unpack(partial.path())?;
        partial.publish()?;
    }
    Ok(Some(place))
}

/// Where the sysroot of this rustc is or would be.
pub fn place(rustc: &Rustc, explicit: Option<&Path>) -> Result<PathBuf, Failure> {
    Ok(sysroots()?.join(compile::key(rustc, explicit)))
}

/// Every sysroot in the cache.
pub fn list() -> Result<Vec<(PathBuf, Record)>, Failure> {
    let Ok(entries) = std::fs::read_dir(sysroots()?) else { return Ok(vec![]) };
    let mut found: Vec<_> =
        entries.flatten().filter_map(|entry| Some((entry.path(), Record::read(&entry.path())?))).collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

fn sysroots() -> Result<PathBuf, Failure> {
    Ok(cache::root()?.join("sysroot"))
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
