//! What a rustc says of itself.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Failure, Text};
use crate::hash;

/// A compiler and what `rustc -vV` says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rustc {
    /// As it was given; may be rustup's proxy.
    pub path: PathBuf,
    /// As in `1.97.0-nightly`.
    pub release: String,
    /// Unknown where a distribution built it.
    pub commit_hash: Option<String>,
    /// The host's target.
    pub host: String,
    /// LLVM's version.
    pub llvm: String,
    /// Where the toolchain is.
    pub sysroot: PathBuf,
}

impl Rustc {
    /// Asks it.
    pub fn query(path: &Path) -> Result<Self, Failure> {
        // Both at once: rustc starts slowly, behind rustup's proxy above all, and every build asks.
        let (verbose, sysroot) = std::thread::scope(|scope| {
            let verbose = scope.spawn(|| run(path, &["-vV"]));
            let sysroot = run(path, &["--print", "sysroot"]);
            (verbose.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), sysroot)
        });
        let verbose = verbose?;
        Self::parse(path, &verbose, &sysroot?).ok_or_else(|| {
            Failure::Rustc(
                Text::new(format!("`{} -vV` does not say which rustc it is", path.display()))
                    .note(format!("it printed: {}", verbose.trim()))
                    .help(
                        "use a rustc with the LLVM backend; `RUSTC` or cargo's `build.rustc` may name another program",
                    ),
            )
        })
    }

    fn parse(path: &Path, verbose: &str, sysroot: &str) -> Option<Self> {
        let field = |name| field(verbose, name);
        Some(Self {
            path: path.to_path_buf(),
            release: field("release")?,
            commit_hash: field("commit-hash").filter(|hash| hash != "unknown"),
            host: field("host")?,
            llvm: field("LLVM version")?,
            sysroot: sysroot.trim().into(),
        })
    }

    /// LLVM's major version, as in `22`.
    pub fn llvm_major(&self) -> &str {
        self.llvm.split('.').next().unwrap_or_default()
    }

    /// What tells it from every other rustc, in eight digits.
    pub fn digest(&self) -> String {
        let commit = self.commit_hash.as_deref().unwrap_or_default();
        let folder = self.sysroot.to_string_lossy();
        let hash = hash::stable([&self.release, commit, &self.host, &self.llvm, &folder]);
        format!("{:08x}", hash as u32)
    }

    /// Whether it takes unstable options by itself.
    pub fn is_nightly(&self) -> bool {
        Self::is_nightly_release(&self.release)
    }

    /// The same of a release: `1.97.0-nightly`.
    pub fn is_nightly_release(release: &str) -> bool {
        release.contains("-nightly") || release.contains("-dev")
    }

    /// What the files of `core` and `alloc` are called in debug information: no folder of this machine.
    pub fn library(&self) -> String {
        format!("/rustc/{}/library", self.commit_hash.as_deref().unwrap_or(&self.release))
    }

    /// The compiler itself, not rustup's proxy, which would choose anew by the current folder.
    pub(crate) fn compiler(&self) -> PathBuf {
        self.beside("rustc").unwrap_or_else(|| self.path.clone())
    }

    /// Another program of its toolchain, if that has it.
    pub fn beside(&self, name: &str) -> Option<PathBuf> {
        let program = self.sysroot.join("bin").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        program.is_file().then_some(program)
    }

    /// rustup's name of the toolchain, if rustup manages it.
    pub(crate) fn toolchain(&self) -> Option<&str> {
        let parent = self.sysroot.parent()?;
        (parent.file_name()? == "toolchains").then(|| self.sysroot.file_name()?.to_str())?
    }
}

/// The value in the line `name: value`.
pub(crate) fn field(text: &str, name: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))?;
    Some(value.trim().to_string())
}

fn run(path: &Path, args: &[&str]) -> Result<String, Failure> {
    let failed = |why: String| {
        let message = format!("cannot run `{} {}`: {why}", path.display(), args.join(" "));
        Failure::Rustc(Text::new(message).help("install Rust by rustup, or set `RUSTC` to a rustc that works"))
    };
    let output = Command::new(path).args(args).output().map_err(|e| failed(e.to_string()))?;
    if !output.status.success() {
        let err = String::from_utf8_lossy(&output.stderr);
        return Err(failed(format!("{}\n{}", output.status, err.trim())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_rustc_prints() {
        let text = "rustc 1.97.0-nightly (e50aa6fba 2026-05-19)\nbinary: rustc\ncommit-hash: e50aa6fba4e6\n\
                    commit-date: 2026-05-19\nhost: x86_64-unknown-linux-gnu\nrelease: 1.97.0-nightly\n\
                    LLVM version: 22.1.4\n";
        let rustc = Rustc::parse(Path::new("rustc"), text, "/t/toolchains/nightly-x86_64-unknown-linux-gnu\n").unwrap();
        assert_eq!(rustc.release, "1.97.0-nightly");
        assert_eq!(rustc.commit_hash.as_deref(), Some("e50aa6fba4e6"));
        assert_eq!(rustc.llvm, "22.1.4");
        assert_eq!(rustc.toolchain(), Some("nightly-x86_64-unknown-linux-gnu"));
        assert!(rustc.is_nightly());

        let text = text.replace("e50aa6fba4e6", "unknown").replace("1.97.0-nightly", "1.95.0");
        let rustc = Rustc::parse(Path::new("rustc"), &text, "/usr\n").unwrap();
        assert_eq!((rustc.commit_hash.as_deref(), rustc.toolchain()), (None, None));
        assert!(!rustc.is_nightly());
    }

    #[test]
    fn other_programs_are_no_rustc() {
        assert!(Rustc::parse(Path::new("clang"), "clang version 20", "/usr").is_none());
        let error = Rustc::query(Path::new("/nonexistent/rustc")).unwrap_err().to_string();
        assert!(error.contains("/nonexistent/rustc -vV") && error.contains("help"), "{error}");
    }
}
