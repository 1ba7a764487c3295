//! Links the Rust code with other device code: CUDA C++ through nvcc, PTX, relocatable objects, archives, LTO-IR.
//!
//! Rust's PTX becomes a relocatable object (`ptxas -c`), every other input becomes what nvlink reads, and nvlink makes
//! one cubin of them for each arch. What it says is put in terms of Rust source lines and of the files that were named.

mod compile;
mod explain;
mod input;
mod launches;
mod lto;
mod nvlink;
mod step;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::artifact::Artifact;
use crate::diagnostic::{Diagnostic, Result};
use crate::files::no_scratch;
use crate::llvm::Module;
use crate::ptxas::Job;
use crate::report::{LinkedFile, Report};
use crate::request::{Emit, Linking, Options};
use crate::scratch::Folder;
use crate::tool::{Name, Tools};
use crate::verify::Imports;

use step::{Step, tool};

pub use input::{Input, Kind};

/// The linker and what it links with.
pub struct Linker {
    nvlink: PathBuf,
    inputs: Vec<Input>,
    nvcc_flags: Vec<String>,
    tools: Tools,
}

/// What is linked with the Rust code, and by what.
pub struct Prepared<'a> {
    /// Those that were given, and what the program's own code needs.
    pub options: Cow<'a, Options>,
    /// Where there is something to link with.
    pub linker: Option<Linker>,
}

/// Finds the linker and the files.
pub fn prepare<'a>(options: &'a Options, module: &Module<'_>) -> Result<Prepared<'a>> {
    let options = launches::with_runtime(options, module)?;
    let linker = Linker::prepare(&options)?;
    Ok(Prepared { options, linker })
}

impl Linker {
    /// Reads the files to link with, and refuses what cannot be linked; none if there are no files.
    fn prepare(options: &Options) -> Result<Option<Self>> {
        if options.linking() != Linking::AtBuild {
            return Ok(None);
        }
        let mut problems = Vec::new();
        let mut inputs = Vec::new();
        for path in &options.link {
            match Input::read(path) {
                Ok(input) => inputs.push(input),
                Err(diagnostic) => problems.push(diagnostic),
            }
        }
        problems.extend(inputs.iter().filter_map(|input| input.fits_none(&options.archs)));
        if !problems.is_empty() {
            return Err(problems.into());
        }
        let nvlink = tool(&options.tools, Name::Nvlink, "linking with other device code")?;
        Ok(Some(Self { nvlink, inputs, nvcc_flags: options.nvcc_flags.clone(), tools: options.tools.clone() }))
    }

    /// Links the Rust code's relocatable cubin with everything else: the cubin that the driver loads. Notes in the report
    /// what the kernels use now, warnings, and the files that were read.
    pub fn link(&self, object: Artifact, job: Job<'_>, imports: &Imports, report: &mut Report) -> Result<Artifact> {
        let temp = Folder::new().map_err(|e| no_scratch(&std::env::temp_dir(), &e))?;
        let rust = temp.path().join("rust.cubin");
        std::fs::write(&rust, &object.bytes).map_err(|e| no_scratch(&rust, &e))?;
        let mut step =
            Step { folder: &temp, job, files: vec![rust], owners: BTreeMap::new(), left_out: vec![], lto: false };
        let mut read = BTreeSet::new();
        for (index, input) in self.inputs.iter().enumerate() {
            read.insert(input.path.clone());
            let Some(file) = self.object(index, input, &mut step, &mut read, report)? else {
                step.left_out.push(input);
                continue;
            };
            step.owners.insert(file.clone(), input.path.clone());
            step.files.push(file);
        }
        let linked =
            nvlink::run(&self.nvlink, &mut step).map_err(|failed| explain::failure(&failed, &step, imports))?;
        add_new(&mut report.diagnostics, explain::warnings(&linked.log, &step));
        for kernel in &mut report.kernels {
            if let (Some(used), Some(known)) =
                (linked.resources.get(&kernel.name), kernel.resources.get_mut(job.arch.name()))
            {
                used.add_to(known);
            }
        }
        let new = read.into_iter().filter(|path| report.linked.iter().all(|known| known.path != *path));
        let new: Vec<_> = new.map(LinkedFile::of).collect();
        report.linked.extend(new);
        Ok(Artifact { kind: Emit::Cubin, arch: Some(job.arch), part: None, bytes: linked.cubin })
    }

    /// The input as nvlink reads it; none if it has nothing for the arch. Headers that were read are added to `read`.
    fn object(
        &self,
        index: usize,
        input: &Input,
        step: &mut Step<'_>,
        read: &mut BTreeSet<PathBuf>,
        report: &mut Report,
    ) -> Result<Option<PathBuf>> {
        let output = step.folder.path().join(format!("{index}.cubin"));
        match input.kind {
            Kind::Cuda => {
                let compiled = compile::cuda(&input.path, &output, step, &self.tools, &self.nvcc_flags)?;
                read.extend(compiled.headers);
                add_new(&mut report.diagnostics, compiled.warning.into_iter().collect());
            }
            Kind::Ptx => compile::ptx(&input.path, &output, step, &self.tools)?,
            Kind::Cubin { sm } if !input::fits(sm, step.job.arch) => return Ok(None),
            Kind::Cubin { .. } | Kind::Object | Kind::Archive | Kind::Fatbin => return Ok(Some(input.path.clone())),
            Kind::LtoIr => {
                step.lto = true;
                return Ok(Some(lto::object(&input.path, step.folder, index, step.job.arch, &self.tools)?));
            }
        }
        Ok(Some(output))
    }
}

/// Adds what is not there yet: every arch says the same.
fn add_new(all: &mut Vec<Diagnostic>, new: Vec<Diagnostic>) {
    for diagnostic in new {
        if !all.contains(&diagnostic) {
            all.push(diagnostic);
        }
    }
}
