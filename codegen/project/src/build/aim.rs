//! What a device build's cargo is run for.

use std::path::PathBuf;

/// What cargo is run for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Aim {
    /// PTX and what comes of it.
    Build,
    /// The same, and how long what took.
    TimedBuild,
    /// rustc's messages.
    Check,
    /// Clippy's messages.
    Clippy {
        /// clippy-driver.
        driver: PathBuf,
        /// Arguments for it.
        args: Vec<String>,
    },
    /// Documentation.
    Doc {
        /// cargo's options for documentation.
        args: Vec<String>,
    },
    /// The source with macros expanded.
    Expand {
        /// The file that it goes to.
        to: PathBuf,
    },
}

impl Aim {
    /// Whether the linker runs.
    pub fn links(&self) -> bool {
        matches!(self, Self::Build | Self::TimedBuild)
    }

    /// cargo's command.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Build | Self::TimedBuild | Self::Expand { .. } => "rustc",
            Self::Check | Self::Clippy { .. } => "check",
            Self::Doc { .. } => "doc",
        }
    }
}
