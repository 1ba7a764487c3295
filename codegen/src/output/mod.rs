//! Writes outputs: all of them or none, each whole when it appears under its name.

mod fatbin;

use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

pub use fatbin::fatbin;

use crate::arch::Arch;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::options::{Emit, Options};
use crate::report::{self, OutputFile, Report};

/// The contents of one output.
pub struct Artifact {
    /// What it is.
    pub kind: Emit,
    /// None for a fatbin and a header.
    pub arch: Option<Arch>,
    /// The contents.
    pub bytes: Vec<u8>,
}

impl Artifact {
    fn file_name(&self, name: &str) -> String {
        let extension = self.kind.extension();
        self.arch.map_or(format!("{name}.{extension}"), |arch| format!("{name}.{arch}.{extension}"))
    }
}

/// Writes the PTX of the first arch to the output that rustc named, and everything to the output folder if there is
/// one; the report goes there last.
pub fn write(options: &Options, artifacts: &[Artifact], report: &mut Report) -> Result<()> {
    let mut pending = Vec::new();
    let first = artifacts.iter().find(|artifact| artifact.kind == Emit::Ptx);
    if let Some(ptx) = first {
        pending.push(Pending::write(&options.output, &ptx.bytes)?);
    }
    match &options.out_dir {
        Some(dir) => {
            std::fs::create_dir_all(dir).map_err(|e| failed(dir, &e))?;
            for artifact in artifacts {
                let path = dir.join(artifact.file_name(&options.name));
                pending.push(Pending::write(&path, &artifact.bytes)?);
                let arch = artifact.arch.map(|arch| arch.to_string());
                report.outputs.push(OutputFile { kind: artifact.kind, arch, path });
            }
            let text = serde_json::to_vec_pretty(report).expect("a report is plain data");
            pending.push(Pending::write(&dir.join(report::FILE_NAME), &text)?);
        }
        None => {
            // Without a folder, what was asked for stands beside the PTX.
            for artifact in artifacts {
                let is_first = first.is_some_and(|first| std::ptr::eq(first, artifact));
                let path = match (is_first, options.output.parent()) {
                    (true, _) | (_, None) => options.output.clone(),
                    (false, Some(dir)) => dir.join(artifact.file_name(&options.name)),
                };
                if !is_first {
                    pending.push(Pending::write(&path, &artifact.bytes)?);
                }
                let arch = artifact.arch.map(|arch| arch.to_string());
                report.outputs.push(OutputFile { kind: artifact.kind, arch, path });
            }
        }
    }
    pending.into_iter().try_for_each(Pending::publish)
}

/// Writes one file, whole.
pub fn publish(path: &Path, bytes: &[u8]) -> Result<()> {
    Pending::write(path, bytes)?.publish()
}

/// A whole file under a temporary name beside its own.
struct Pending {
    temporary: NamedTempFile,
    path: PathBuf,
}

impl Pending {
    fn write(path: &Path, bytes: &[u8]) -> Result<Self> {
        let dir = match path.parent() {
            Some(dir) if dir != Path::new("") => dir,
            _ => Path::new("."),
        };
        let write = || {
            let mut temporary = tempfile::Builder::new().prefix(".ptx-").permissions(readable()).tempfile_in(dir)?;
            temporary.write_all(bytes)?;
            temporary.flush()?;
            Ok(temporary)
        };
        let temporary = write().map_err(|e: std::io::Error| failed(path, &e))?;
        Ok(Self { temporary, path: path.to_path_buf() })
    }

    fn publish(self) -> Result<()> {
        // A device such as /dev/full is written to, not replaced.
        let special = std::fs::metadata(&self.path).is_ok_and(|meta| !meta.is_file());
        if special {
            let copy = || {
                let bytes = std::fs::read(self.temporary.path())?;
                std::fs::OpenOptions::new().write(true).open(&self.path)?.write_all(&bytes)
            };
            return copy().map_err(|e| failed(&self.path, &e).into());
        }
        self.temporary.persist(&self.path).map_err(|e| failed(&self.path, &e.error))?;
        Ok(())
    }
}

/// Temporary files are private by default; outputs are not.
fn readable() -> std::fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    std::fs::Permissions::from_mode(0o644)
}

pub(crate) fn failed(path: &Path, error: &std::io::Error) -> Diagnostic {
    let advice = match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => "the disk is full: free some space",
        std::io::ErrorKind::NotFound => "create the folder first",
        std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
            "the folder is not writable: name another one"
        }
        _ => "name another folder",
    };
    Diagnostic::error(Code::OutputFailed, format!("cannot write {}: {error}", path.display())).help(advice)
}
