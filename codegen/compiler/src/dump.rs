//! Writes what `--dump-dir` asks for: the IR and the PTX after every stage, numbered in order.

use std::path::Path;

use crate::diagnostic::Result;
use crate::files;
use crate::llvm::Module;

/// The folder and how many files are in it; writes nothing where none is asked for.
pub struct Dump<'a> {
    dir: Option<&'a Path>,
    count: u32,
}

impl<'a> Dump<'a> {
    /// Makes the folder.
    pub fn new(dir: Option<&'a Path>) -> Result<Self> {
        if let Some(dir) = dir {
            std::fs::create_dir_all(dir).map_err(|e| files::not_written(dir, &e))?;
        }
        Ok(Self { dir, count: 0 })
    }

    /// The module as it is after `stage`.
    pub fn module(&mut self, stage: &str, module: &Module<'_>) -> Result<()> {
        if self.dir.is_none() {
            return Ok(());
        }
        self.text(&format!("{stage}.ll"), &module.print_to_string().to_string_lossy())
    }

    /// Any other text after `stage`, which names the file: `sm_90.ptx`.
    pub fn text(&mut self, stage: &str, text: &str) -> Result<()> {
        if let Some(dir) = self.dir {
            let path = dir.join(format!("{:02}-{stage}", self.count));
            std::fs::write(&path, text).map_err(|e| files::not_written(&path, &e))?;
            self.count += 1;
        }
        Ok(())
    }
}
