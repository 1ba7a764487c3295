//! `core`, `alloc` and `compiler_builtins` for the device, by the crate `ptx-setup`: with progress, and failures that have
//! codes.

use std::path::{Path, PathBuf};

use ptx_codegen::diagnostic::Result;
use ptx_setup::sysroot::{self, CRATES, Event, Pace};

use crate::cache::diagnostic;
use crate::progress::Progress;

pub use ptx_setup::Rustc;
pub use ptx_setup::sysroot::{Library, Record, Source, Sysroot, library_folder};

/// rustc compiles short functions that call no others into their callers in other crates. What it made of `libm::logf` so
/// could not be replaced by libdevice's; and the linker, which sees all crates, inlines by itself. Stable rustc has no such
/// option.
pub const NO_COPIES: &str = "-Zcross-crate-inline-threshold=never";

/// What a rustc says of itself.
pub fn rustc(path: &Path) -> Result<Rustc> {
    Ok(Rustc::query(path).map_err(diagnostic)?)
}

/// The device sysroot for a rustc: `explicit` (a ready sysroot, or a `library` folder of Rust's sources), else built
/// from rust-src, else from rust-docs. A later call finds it in the cache.
pub fn ensure(rustc: &Rustc, explicit: Option<&Path>, progress: &Progress) -> Result<Sysroot> {
    // rustc runs elsewhere, and the cache knows given sources by their path.
    let explicit = explicit.and_then(|path| std::path::absolute(path).ok());
    let release = &rustc.release;
    let mut step = None;
    let mut hear = |event| match event {
        Event::Waiting => progress.line("Waiting for another build of the device sysroot"),
        Event::Begun(source) => {
            let message = format!("Building device sysroot for rustc {release} from {source}");
            step = Some(progress.bar(message, CRATES.len() as u64 + 1));
        }
        Event::Compiling(name) => {
            if let Some(step) = &step {
                step.advance(1);
                step.message(&format!("Building device sysroot for rustc {release}: {name}"));
            }
        }
        Event::Built(source) => {
            if let Some(step) = step.take() {
                step.finish(format!("Built device sysroot for rustc {release} from {source}"));
            }
        }
    };
    Ok(sysroot::ensure(rustc, explicit.as_deref(), Pace::Full, &mut hear).map_err(diagnostic)?)
}

/// The sources of `core` and `alloc`, for reading: rust-src's, or those that rust-docs shows, unpacked into the cache.
/// `None` where neither is there.
pub fn sources(rustc: &Rustc, progress: &Progress) -> Result<Option<PathBuf>> {
    let waiting = || progress.line("Waiting for another process that unpacks Rust's sources");
    Ok(sysroot::sources(rustc, waiting).map_err(diagnostic)?)
}

/// Where the sysroot of this rustc is or would be.
pub fn place(rustc: &Rustc, explicit: Option<&Path>) -> Result<PathBuf> {
    Ok(sysroot::place(rustc, explicit).map_err(diagnostic)?)
}

/// Every sysroot in the cache.
pub fn list() -> Result<Vec<(PathBuf, Record)>> {
    Ok(sysroot::list().map_err(diagnostic)?)
}

/// What sysroot would be built from, if anything is there.
pub fn find_source(rustc: &Rustc, explicit: Option<&Path>) -> Result<Library> {
    Ok(sysroot::find_source(rustc, explicit).map_err(diagnostic)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_have_codes() {
        let error = rustc(Path::new("/nonexistent/rustc")).unwrap_err().to_string();
        assert!(error.contains("PTX") && error.contains("/nonexistent/rustc -vV") && error.contains("help"), "{error}");
    }

    #[test]
    fn without_sources_there_is_a_remedy() {
        let temp = tempfile::tempdir().unwrap();
        let toolchain = temp.path().join("toolchains/nightly");
        let rustc = Rustc { sysroot: toolchain, ..rustc(Path::new("rustc")).unwrap() };
        let error = find_source(&rustc, None).unwrap_err().to_string();
        assert!(error.contains("PTX0018") && error.contains("add rust-src --toolchain nightly"), "{error}");
    }
}
