//! What can go wrong here. `ptx-build` prints it as it is; `ptx-project` makes it a diagnostic with a code.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The environment variable that puts the cache elsewhere.
pub const CACHE_VARIABLE: &str = "RUST_PTX_CACHE";

/// A failure, and what to do about it.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// A file or folder of the cache cannot be used; `verb` as in "cannot `create`".
    Cache {
        /// What was tried.
        verb: &'static str,
        /// With which file or folder.
        path: PathBuf,
        /// Why it failed.
        error: io::Error,
    },
    /// There is no place for a cache.
    NoHome,
    /// rustc cannot be asked what it is.
    Rustc(Text),
    /// `core` or `alloc` has no sources, or does not compile.
    Library(Text),
    /// NVIDIA's tools cannot be installed.
    Tools(Text),
    /// The disk with the cache is full.
    Full(Text),
}

/// What happened, in words.
#[derive(Clone, Debug, Default)]
pub struct Text {
    /// In one sentence.
    pub message: String,
    /// What else is known.
    pub notes: Vec<String>,
    /// What to do.
    pub help: Vec<String>,
}

impl Text {
    /// Without notes.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}

impl Failure {
    /// For `map_err`: the cache's file or folder `path` cannot be used.
    pub fn cache(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |error| Self::Cache { verb, path, error }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cache { verb, path, error } => {
                let path = path.display();
                write!(f, "cannot {verb} `{path}`: {error}; set {CACHE_VARIABLE} to a folder that may be written")
            }
            Self::NoHome => {
                write!(f, "the user has no home folder, so there is no cache folder: set {CACHE_VARIABLE} to one")
            }
            Self::Rustc(text) | Self::Library(text) | Self::Tools(text) | Self::Full(text) => {
                f.write_str(&text.message)?;
                text.notes.iter().try_for_each(|note| write!(f, "\nnote: {note}"))?;
                text.help.iter().try_for_each(|help| write!(f, "\nhelp: {help}"))
            }
        }
    }
}

impl std::error::Error for Failure {}
