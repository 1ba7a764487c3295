//! Has ptxas check and assemble PTX, and puts its messages into terms of kernels and Rust source lines.

mod complaints;
mod resources;
mod trace;

use std::collections::BTreeMap;
use std::process::{Command, ExitStatus};

use crate::abi::Table;
use crate::arch::Arch;
use crate::artifact::Artifact;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Failure, Result};
use crate::files::no_scratch;
use crate::report::{Report, Resources};
use crate::request::{DebugLevel, Emit, OptLevel, Options, Ptxas};
use crate::tool::{Name, Origin, Tool};

use self::complaints::{Complaint, Subject};
pub use self::resources::{Calls, kernel_of_unknown_stack, parse as resources};
pub use self::trace::{Trace, Traceable};

/// The assembler and how to call it.
#[derive(Clone, Debug)]
pub struct Assembler {
    tool: Tool,
    version: String,
}

/// What came of one PTX file.
#[derive(Debug)]
pub struct Assembled {
    /// Machine code.
    pub cubin: Vec<u8>,
    /// By kernel.
    pub resources: BTreeMap<String, Resources>,
    /// What ptxas warned of.
    pub warnings: Vec<Diagnostic>,
}

/// One PTX file to assemble.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The contents of the file that ptxas reads.
    pub ptx: &'a str,
    /// The GPU to compile for: `-arch`.
    pub arch: Arch,
    /// Decides `-g` and `-lineinfo`.
    pub debug: DebugLevel,
    /// Decides `-O`.
    pub level: OptLevel,
    /// For messages.
    pub table: &'a Table,
    /// Whether another linker comes after: `-c`.
    pub relocatable: bool,
    /// What the text was made from, if messages are to name its lines.
    pub source: Option<&'a (dyn Trace + 'a)>,
}

impl Job<'_> {
    /// Whether ptxas is not to optimise, either: `-g`.
    fn is_for_debugger(&self) -> bool {
        (self.debug, self.level) == (DebugLevel::Full, OptLevel::O0)
    }
}

/// How a run of ptxas ended.
struct Ran {
    log: String,
    status: ExitStatus,
    cubin: std::io::Result<Vec<u8>>,
}

impl Assembler {
    /// By a ptxas that must run.
    pub fn of(tool: &Tool) -> Result<Self> {
        Ok(Self { tool: tool.clone(), version: tool.version()?.to_string() })
    }

    /// As in `13.0.88`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Whether this ptxas generates code for the arch. One that does not list its archs is taken to: its error stands then.
    pub fn knows(&self, arch: Arch) -> bool {
        self.tool.archs().map_or(true, |known| known.iter().any(|known| known == arch.name()))
    }

    /// Assembles; messages are errors of ours.
    pub fn assemble(&self, job: Job<'_>) -> Result<Assembled> {
        let Ran { log, status, cubin } = self.run(job)?;
        if !status.success() {
            return Err(self.failure(&log, status, job));
        }
        let cubin = cubin.map_err(|e| {
            Diagnostic::error(Code::PtxasFailed, format!("{} wrote no cubin: {e}", self.tool.path.display()))
                .note(log.clone())
                .help("give the path of NVIDIA's ptxas with `--ptxas=PATH`")
        })?;
        let warnings = self.explain(Complaint::read(&log), job);
        let calls = if job.relocatable || job.is_for_debugger() { Calls::Separate } else { Calls::OfKernels };
        Ok(Assembled { cubin, resources: resources::parse(&log, calls), warnings })
    }

    fn run(&self, job: Job<'_>) -> Result<Ran> {
        let temp = tempfile::tempdir().map_err(|e| no_scratch(&std::env::temp_dir(), &e))?;
        let (input, output) = (temp.path().join("kernels.ptx"), temp.path().join("kernels.cubin"));
        std::fs::write(&input, job.ptx).map_err(|e| no_scratch(&input, &e))?;
        let mut command = Command::new(&self.tool.path);
        command.arg(format!("-arch={}", job.arch)).arg("-v").arg(&input).arg("-o").arg(&output);
        let flags: &[&str] = match job.debug {
            DebugLevel::None => &[],
            _ if job.is_for_debugger() => &["-g", "--dont-merge-basicblocks", "--return-at-end"],
            _ => &["-lineinfo"],
        };
        command.args(flags).args(job.relocatable.then_some("-c"));
        let run = command.output().map_err(|e| self.tool.failed(format!("cannot run it: {e}")))?;
        let log = String::from_utf8_lossy(&run.stderr).into_owned() + &String::from_utf8_lossy(&run.stdout);
        Ok(Ran { log, status: run.status, cubin: std::fs::read(&output) })
    }

    fn failure(&self, log: &str, status: ExitStatus, job: Job<'_>) -> Failure {
        if log.contains("'gpu-name'") {
            return Diagnostic::error(Code::PtxasFailed, format!("ptxas {} does not know {}", self.version, job.arch))
                .note(log.trim().to_string())
                .help("leave out this arch, or ask for PTX only (`--emit ptx --ptxas=off`), or use another ptxas")
                .into();
        }
        let errors: Vec<_> = Complaint::read(log).into_iter().filter(Complaint::is_error).collect();
        if errors.is_empty() {
            // A ptxas that runs out of memory or is killed says nothing.
            let silent = format!("ptxas rejected the PTX for {}: it ended without a message ({status})", job.arch);
            let mut diagnostic = Diagnostic::error(Code::PtxasFailed, silent);
            diagnostic.notes.extend((!log.trim().is_empty()).then(|| log.trim().to_string()));
            return diagnostic
                .help("see that memory is not short; else report it with the files that `--dump-dir` writes")
                .into();
        }
        self.explain(errors, job).into()
    }

    /// The complaints about lines of PTX with the Rust lines that they came from: ptxas is asked once more, about the
    /// same code, of which that is known.
    fn explain(&self, complaints: Vec<Complaint>, job: Job<'_>) -> Vec<Diagnostic> {
        let subject = Subject { ptx: job.ptx, traced: None, arch: job.arch, table: job.table };
        let traced = job.source.filter(|_| !complaints.is_empty());
        let traced = traced.and_then(|source| source.trace().ok());
        let again = traced.as_ref().and_then(|traced| {
            let again = Job { ptx: &traced.ptx, debug: DebugLevel::None, ..job };
            let Ran { log, .. } = self.run(again).ok()?;
            let is_error = complaints.iter().any(Complaint::is_error);
            let again: Vec<_> = Complaint::read(&log).into_iter().filter(|c| c.is_error() == is_error).collect();
            (!again.is_empty()).then_some(again)
        });
        match (&traced, again) {
            (Some(traced), Some(again)) => {
                Subject { ptx: &traced.ptx, traced: Some(traced), ..subject }.explain(&again)
            }
            _ => subject.explain(&complaints),
        }
    }
}

/// The ptxas that the options ask for; none if it is neither asked for nor there.
pub fn find(options: &Options) -> Result<Option<Assembler>> {
    let needed = needs_ptxas(options);
    let what = if options.link.is_empty() { "cubins and fatbins need" } else { "linking needs" };
    let found = match &options.ptxas {
        Ptxas::Off if needed => {
            return Err(Diagnostic::error(Code::Usage, format!("{what} ptxas, and `--ptxas=off` forbids it"))
                .help("leave the option out, or give the path of a ptxas")
                .into());
        }
        Ptxas::Off => None,
        Ptxas::Path(path) => Some(Assembler::of(&Tool::at(Name::Ptxas, path, Origin::Asked))?),
        Ptxas::Auto => options.tools.ptxas().map(Assembler::of).transpose()?,
    };
    if found.is_none() && needed {
        return Err(Diagnostic::error(Code::PtxasMissing, format!("{what} NVIDIA's ptxas, which was not found"))
            .help("install it with `cargo ptx setup`, or name it with `--ptxas=PATH`; `cargo ptx doctor` says where it was looked for")
            .into());
    }
    Ok(found)
}

fn needs_ptxas(options: &Options) -> bool {
    options.emit.iter().any(|emit| matches!(emit, Emit::Cubin | Emit::Fatbin)) || !options.link.is_empty()
}

/// Has ptxas check the PTX, and notes resources and spills in the report.
pub fn assemble(
    options: &Options,
    assembler: &Assembler,
    job: Job<'_>,
    report: &mut Report,
) -> Result<Option<Artifact>> {
    let assembled = match assembler.assemble(job) {
        Err(_) if !needs_ptxas(options) && !assembler.knows(job.arch) => {
            report.diagnostics.push(
                Diagnostic::warning(Code::PtxasFailed, format!("PTX for {} was not checked", job.arch))
                    .note(format!("ptxas {} does not know this arch", assembler.version())),
            );
            return Ok(None);
        }
        assembled => assembled?,
    };
    report.diagnostics.extend(assembled.warnings);
    report.diagnostics.extend(spills(job.table, &assembled.resources, job.arch));
    for kernel in &mut report.kernels {
        let resources = assembled.resources.get(&kernel.name).copied();
        kernel.resources.extend(resources.map(|resources| (job.arch.to_string(), resources)));
    }
    Ok(Some(Artifact { kind: Emit::Cubin, arch: Some(job.arch), bytes: assembled.cubin }))
}

/// The warnings for kernels that spill.
pub fn spills<'a>(
    table: &'a Table,
    resources: &'a BTreeMap<String, Resources>,
    arch: Arch,
) -> impl Iterator<Item = Diagnostic> + 'a {
    let spilling = |name: &String| resources.get(name).filter(|r| r.spill_stores + r.spill_loads > 0);
    table.kernels.iter().filter_map(move |kernel| {
        let used = spilling(&kernel.name)?;
        let message = format!(
            "kernel `{}` spills registers on {arch}: {} bytes of stores, {} bytes of loads a thread",
            kernel.name, used.spill_stores, used.spill_loads
        );
        let warning = Diagnostic::warning(Code::Spill, message)
            .at(Some(kernel.span.clone()), format!("uses {} registers", used.registers))
            .note("spilled values live in local memory, which is much slower than registers")
            .help("loosen `launch_bounds` or `max_registers`, or keep fewer values alive at once");
        Some(warning)
    })
}
