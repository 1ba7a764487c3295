//! The pipeline's phases: each a function that lists its stages in order, and what is handed from one to the next.

mod arch;
mod program;

pub use arch::{assemble, check, emit, legalise, optimise, specialise};
pub use program::{describe, lower, read, reduce};

use crate::device_link::Linker;
use crate::diagnostic::Result;
use crate::libdevice::Library;
use crate::ptxas::{self, Assembler};
use crate::request::Options;

/// What of NVIDIA's takes part: looked for before anything is read, because a missing tool should not cost a build.
pub struct Parts {
    /// ptxas, where there is one.
    pub assembler: Option<Assembler>,
    /// nvlink and what it links with, where there is something.
    pub linker: Option<Linker>,
    /// The maths library.
    pub library: Library,
}

impl Parts {
    /// What the options ask for.
    pub fn find(options: &Options) -> Result<Self> {
        let assembler = ptxas::find(options)?;
        let linker = Linker::prepare(options)?;
        Ok(Self { assembler, linker, library: Library::find(options)? })
    }
}
