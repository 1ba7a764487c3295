//! What takes part in a compilation: rustc's files, and what of NVIDIA's is there.

use crate::diagnostic::Result;
use crate::input::{self, File};
use crate::libdevice::Library;
use crate::ptxas::{self, Assembler};
use crate::request::Options;
use crate::timings::time;

/// Looked for before anything is compiled, because a missing tool should not cost a build.
pub struct Parts {
    /// The inputs, mapped.
    pub files: Vec<File>,
    /// ptxas, where there is one.
    pub assembler: Option<Assembler>,
    /// The maths library.
    pub library: Library,
}

/// Find: what the options ask for.
pub fn find(options: &Options) -> Result<Parts> {
    let assembler = time!(ptxas::find(options))?;
    let library = Library::find(options)?;
    Ok(Parts { files: time!(input::read(&options.inputs))?, assembler, library })
}
