//! Has ptxas check and assemble PTX, and puts its messages into terms of kernels and Rust source lines.

mod complaints;
mod process;
mod resources;
mod trace;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

use crate::abi::Table;
use crate::arch::Arch;
use crate::artifact::Artifact;
use crate::cache::{Cache, Entry, Key, MOST_BYTES};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Failure, Level, Result};
use crate::files::no_scratch;
use crate::report::{Formatting, Report, Resources};
use crate::request::{Caches, DebugLevel, Emit, OptLevel, Options, Ptxas};
use crate::scratch::Folder;
use crate::stacks;
use crate::timings;
use crate::tool::{Name, Origin, Tool};

use self::complaints::{Complaint, Subject};
use self::process::Process;
pub use self::resources::{Functions, Used, kernel_of_unknown_stack, parse as resources};
pub use self::trace::{Trace, Traceable};

/// The oldest major version whose `-split-compile` is known to give the same machine code as without it.
const FIRST_TO_SPLIT: u32 = 13;

/// How many kernels a run of ptxas works on at once, where there is no other run to keep the cores busy. The number stands in
/// the cubin, so it is the same on every machine.
const THREADS: u32 = 8;

/// The assembler and how to call it.
#[derive(Clone, Debug)]
pub struct Assembler {
    tool: Tool,
    version: String,
    /// Where what it made is kept.
    cache: Option<PathBuf>,
    /// What it writes for loads and stores without a cache operator.
    caches: Caches,
    /// Whether one run works on several kernels at once.
    splits: bool,
}

/// What came of one PTX text.
#[derive(Debug)]
pub struct Assembled {
    /// Machine code; several if the text was cut.
    pub cubins: Vec<Vec<u8>>,
    /// By kernel.
    pub resources: BTreeMap<String, Resources>,
    /// What ptxas warned of.
    pub warnings: Vec<Diagnostic>,
}

/// One PTX text to assemble.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// All of it.
    pub ptx: &'a str,
    /// What is assembled apart from each other, which is all of it, too; none if ptxas is to read the whole.
    pub parts: &'a [String],
    /// The GPU to compile for: `-arch`.
    pub arch: Arch,
    /// Decides `-g` and `-lineinfo`.
    pub debug: DebugLevel,
    /// Decides `-O`.
    pub level: OptLevel,
    /// For messages.
    pub table: &'a Table,
    /// The calls in it, for what it needs of the stack.
    pub calls: &'a stacks::Calls,
    /// Whether another linker comes after: `-c`.
    pub relocatable: bool,
    /// The kernels to compile; none if all.
    pub entries: &'a [&'a str],
    /// The same without panics, where kernels make text of values.
    pub without_panics: Option<&'a WithoutPanics>,
    /// What the text was made from, if messages are to name its lines.
    pub source: Option<&'a (dyn Trace + 'a)>,
}

impl Job<'_> {
    /// Whether ptxas is not to optimise, either: `-g`.
    fn is_for_debugger(&self) -> bool {
        (self.debug, self.level) == (DebugLevel::Full, OptLevel::O0)
    }
}

/// A program without its panics: [`crate::panics::without`].
#[derive(Debug)]
pub struct WithoutPanics {
    /// As ptxas reads it, without debug information.
    pub ptx: String,
    /// Its parts, if it was cut.
    pub parts: Vec<String>,
    /// The calls in it.
    pub calls: stacks::Calls,
}

/// Runs of ptxas that were begun; waited for, or ended before their time.
#[derive(Debug)]
pub struct Running {
    /// One for each part.
    runs: Vec<Run>,
    /// About the program without panics.
    without: Vec<Run>,
}

#[derive(Debug)]
struct Run {
    started: Started,
    /// Where its result is to be kept.
    key: Option<Key>,
}

#[derive(Debug)]
enum Started {
    /// Its result is known.
    Kept(Entry),
    Process(Process),
}

/// How a run of ptxas ended.
struct Ran {
    log: String,
    status: ExitStatus,
    cubin: std::io::Result<Vec<u8>>,
}

impl Assembler {
    /// By a ptxas that must run.
    pub fn of(tool: &Tool, options: &Options) -> Result<Self> {
        let version = tool.version()?.to_string();
        let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
        // ptxas says how long a kernel took only where it works on one at a time.
        let splits = major.is_some_and(|major| major >= FIRST_TO_SPLIT) && !options.timings;
        Ok(Self { tool: tool.clone(), version, cache: options.ptxas_cache.clone(), caches: options.caches, splits })
    }

    /// As in `13.0.88`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Whether this ptxas generates code for the arch. One that does not list its archs is taken to: its error stands then.
    pub fn knows(&self, arch: Arch) -> bool {
        self.tool.archs().map_or(true, |known| known.iter().any(|known| known == arch.name()))
    }

    /// Begins to assemble.
    pub fn start(&self, job: Job<'_>) -> Result<Running> {
        let runs = self.start_parts(job)?;
        let of_panics = of_panics(job);
        let again = without_panics(job, &of_panics).filter(|_| !of_panics.is_empty());
        // For a remark: that ptxas cannot say it is no failure.
        let without = again.and_then(|again| self.start_parts(again).ok()).unwrap_or_default();
        Ok(Running { runs, without })
    }

    fn start_parts(&self, job: Job<'_>) -> Result<Vec<Run>> {
        if job.parts.is_empty() {
            return Ok(vec![self.start_one(job)?]);
        }
        let parts = job.parts.iter().map(|part| {
            let is_here = |entry: &&&str| part.contains(&format!(".entry {entry}("));
            (part, job.entries.iter().filter(is_here).copied().collect::<Vec<_>>())
        });
        let wanted = parts.filter(|(_, entries)| job.entries.is_empty() || !entries.is_empty());
        let runs = wanted.map(|(part, entries)| self.start_one(Job { ptx: part, entries: &entries, ..job }));
        runs.collect()
    }

    fn start_one(&self, job: Job<'_>) -> Result<Run> {
        let key = self.key(job);
        if let Some(entry) = self.cache().zip(key).and_then(|(cache, key)| cache.get(key)) {
            return Ok(Run { started: Started::Kept(entry), key: None });
        }
        let folder = Folder::new().map_err(|e| no_scratch(&std::env::temp_dir(), &e))?;
        let (input, output) = (folder.path().join("kernels.ptx"), folder.path().join("kernels.cubin"));
        std::fs::write(&input, job.ptx).map_err(|e| no_scratch(&input, &e))?;
        let mut command = Command::new(&self.tool.path);
        command.args(self.arguments(job)).arg(&input).arg("-o").arg(&output);
        folder.confine(&mut command);
        let process = Process::start(command, folder, job.ptx.len())
            .map_err(|e| self.tool.failed(format!("cannot run it: {e}")))?;
        Ok(Run { started: Started::Process(process), key })
    }

    /// Waits for a run; messages are errors of ours.
    pub fn finish(&self, running: Running, job: Job<'_>) -> Result<Assembled> {
        let separate = job.relocatable || job.is_for_debugger();
        let functions = if separate { Functions::Separate } else { Functions::OfKernels };
        let (mut cubins, mut complaints, mut resources) = (Vec::new(), Vec::new(), BTreeMap::new());
        for ran in self.wait(running.runs, job)? {
            if !ran.status.success() && !job.parts.is_empty() {
                // What ptxas says of a part, it says of the whole, by the lines of the PTX that is written.
                let whole = Job { parts: &[], ..job };
                return self.finish(self.start(whole)?, whole);
            }
            if !ran.status.success() {
                return Err(self.failure(&ran.log, ran.status, job));
            }
            cubins.push(ran.cubin.map_err(|e| {
                Diagnostic::error(Code::PtxasFailed, format!("{} wrote no cubin: {e}", self.tool.path.display()))
                    .note(ran.log.clone())
                    .help("give the path of NVIDIA's ptxas with `--ptxas=PATH`")
            })?);
            let own = Complaint::read(&ran.log).into_iter();
            complaints.extend(own.map(|own| if job.parts.is_empty() { own } else { own.without_line() }));
            for (kernel, used) in resources::parse(&ran.log, functions) {
                let used = with_calls(&kernel, used, job.calls);
                resources.insert(kernel, used);
            }
        }
        let warnings = self.explain(complaints, job);
        self.note_formatting(&mut resources, running.without, job);
        Ok(Assembled { cubins, resources, warnings })
    }

    /// Says which kernels make text of values, and what those would use whose panics alone do.
    fn note_formatting(&self, resources: &mut BTreeMap<String, Resources>, without: Vec<Run>, job: Job<'_>) {
        let of_panics = of_panics(job);
        let Some(again) = without_panics(job, &of_panics) else { return };
        let ran = self.wait(without, again).unwrap_or_default();
        let mut without: BTreeMap<String, Used> =
            ran.iter().flat_map(|ran| resources::parse(&ran.log, Functions::OfKernels)).collect();
        for (kernel, used) in resources.iter_mut().filter(|(kernel, _)| job.calls.makes_text(kernel)) {
            let formatting = without.remove(kernel).map(|used| {
                let Resources { registers, stack, spill_stores, spill_loads, .. } =
                    with_calls(kernel, used, again.calls);
                Formatting::Panics { registers, stack, spills: spill_stores + spill_loads > 0 }
            });
            let of_kernel = again.calls.makes_text(kernel).then_some(Formatting::Kernel);
            used.formatting = formatting.or(of_kernel);
        }
    }

    fn wait(&self, runs: Vec<Run>, job: Job<'_>) -> Result<Vec<Ran>> {
        let several = runs.len() > 1;
        let named = runs.into_iter().enumerate().map(|(at, run)| {
            let part = if several { format!(" part {}", at + 1) } else { String::new() };
            self.wait_for_one(run, job, &part)
        });
        named.collect()
    }

    fn wait_for_one(&self, run: Run, job: Job<'_>, part: &str) -> Result<Ran> {
        let process = match run.started {
            Started::Kept(Entry { log, bytes }) => {
                return Ok(Ran { log, status: ExitStatus::default(), cubin: Ok(bytes) });
            }
            Started::Process(process) => process,
        };
        let ended = process.wait().map_err(|e| self.tool.failed(format!("cannot wait for it: {e}")))?;
        let what = if job.entries.is_empty() { "" } else { " without panics" };
        timings::beside(format!("ptxas {}{what}{part}", job.arch), ended.start, ended.end);
        if !self.splits && job.entries.is_empty() {
            timings::kernels(resources::times(&ended.log, job.arch));
        }
        let cubin = std::fs::read(ended.folder.path().join("kernels.cubin"));
        let (Some((cache, key)), Ok(cubin), true) = (self.cache().zip(run.key), &cubin, ended.status.success()) else {
            return Ok(Ran { log: ended.log, status: ended.status, cubin });
        };
        let entry = Entry { log: ended.log, bytes: cubin.clone() };
        cache.put(key, &entry);
        Ok(Ran { log: entry.log, status: ended.status, cubin: Ok(entry.bytes) })
    }

    fn cache(&self) -> Option<Cache<'_>> {
        Some(Cache { folder: self.cache.as_deref()?, most_bytes: MOST_BYTES })
    }

    /// Of the text, the arguments and the program; none if that cannot be told from another.
    fn key(&self, job: Job<'_>) -> Option<Key> {
        let program = std::fs::metadata(&self.tool.path).ok()?;
        let modified = program.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?.as_nanos();
        let path = self.tool.path.as_os_str().as_encoded_bytes();
        let size = program.len().to_le_bytes();
        let arguments = self.arguments(job).join(" ");
        let parts: [&[u8]; 6] =
            [job.ptx.as_bytes(), arguments.as_bytes(), self.version.as_bytes(), path, &size, &modified.to_le_bytes()];
        Some(Key::of(&parts))
    }

    /// The options for the job, but for the files' names.
    fn arguments(&self, job: Job<'_>) -> Vec<String> {
        let mut arguments = vec![format!("-arch={}", job.arch), "-v".into()];
        let flags: &[&str] = match job.debug {
            DebugLevel::None => &[],
            _ if job.is_for_debugger() => &["-g", "--dont-merge-basicblocks", "--return-at-end"],
            _ => &["-lineinfo"],
        };
        arguments.extend(flags.iter().copied().chain(job.relocatable.then_some("-c")).map(str::to_string));
        arguments.extend(self.caches.arguments());
        arguments.extend(job.entries.iter().map(|entry| format!("--entry={entry}")));
        // Relocatable code has another order after a split run.
        let is_split = self.splits && !job.relocatable && job.parts.is_empty();
        arguments.extend(is_split.then(|| format!("-split-compile={THREADS}")));
        arguments
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
            let again = Job { ptx: &traced.ptx, parts: &[], debug: DebugLevel::None, ..job };
            let [Ran { log, .. }] = &self.wait(self.start_parts(again).ok()?, again).ok()?[..] else { return None };
            let is_error = complaints.iter().any(Complaint::is_error);
            let again: Vec<_> = Complaint::read(log).into_iter().filter(|c| c.is_error() == is_error).collect();
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

/// The kernels that make text of values in their panics alone.
fn of_panics<'a>(job: Job<'a>) -> Vec<&'a str> {
    let Some(WithoutPanics { calls, .. }) = job.without_panics else { return Vec::new() };
    let kernels = job.table.kernels.iter().map(|kernel| kernel.name.as_str());
    kernels.filter(|kernel| job.calls.makes_text(kernel) && !calls.makes_text(kernel)).collect()
}

/// These kernels of the program without panics, to ask ptxas about.
fn without_panics<'a>(job: Job<'a>, kernels: &'a [&'a str]) -> Option<Job<'a>> {
    let WithoutPanics { ptx, parts, calls } = job.without_panics?;
    let debug = DebugLevel::None;
    Some(Job { ptx, parts, debug, calls, entries: kernels, without_panics: None, source: None, ..job })
}

/// The ptxas that the options ask for; none if it is neither asked for nor there.
pub fn find(options: &Options) -> Result<Option<Assembler>> {
    let needed = needs_ptxas(options);
    let cache = options.caches.arguments().next();
    let what = match &cache {
        Some(cache) => format!("`{cache}` needs"),
        None if options.link.is_empty() => "cubins and fatbins need".into(),
        None => "linking needs".into(),
    };
    let found = match &options.ptxas {
        Ptxas::Off if needed => {
            return Err(Diagnostic::error(Code::Usage, format!("{what} ptxas, and `--ptxas=off` forbids it"))
                .help("leave one of the two out, or give the path of a ptxas")
                .into());
        }
        Ptxas::Off => None,
        Ptxas::Path(path) => Some(Assembler::of(&Tool::at(Name::Ptxas, path, Origin::Asked), options)?),
        Ptxas::Auto => options.tools.ptxas().map(|tool| Assembler::of(tool, options)).transpose()?,
    };
    if found.is_none() && needed {
        return Err(Diagnostic::error(Code::PtxasMissing, format!("{what} NVIDIA's ptxas, which was not found"))
            .help("install it with `cargo ptx setup`, or name it with `--ptxas=PATH`; `cargo ptx doctor` says where it was looked for")
            .into());
    }
    Ok(found)
}

fn needs_ptxas(options: &Options) -> bool {
    let makes_code = options.emit.iter().any(|emit| matches!(emit, Emit::Cubin | Emit::CubinParts | Emit::Fatbin));
    // PTX alone would not say what was asked for.
    makes_code || !options.link.is_empty() || options.caches != Caches::default()
}

/// Has ptxas begin to check the PTX.
pub fn start(assembler: &Assembler, job: Job<'_>) -> Result<Running> {
    assembler.start(job)
}

/// Waits for ptxas, and notes resources and spills in the report. The artifact is one, or several if the text was cut.
pub fn finish(
    options: &Options,
    assembler: &Assembler,
    running: Running,
    job: Job<'_>,
    report: &mut Report,
) -> Result<Vec<Artifact>> {
    let assembled = match assembler.finish(running, job) {
        Err(_) if !needs_ptxas(options) && !assembler.knows(job.arch) => {
            report.diagnostics.push(
                Diagnostic::warning(Code::PtxasFailed, format!("PTX for {} was not checked", job.arch))
                    .note(format!("ptxas {} does not know this arch", assembler.version())),
            );
            return Ok(Vec::new());
        }
        assembled => assembled?,
    };
    report.diagnostics.extend(assembled.warnings);
    report.diagnostics.extend(spills(job, &assembled.resources));
    let (errors, warnings): (Vec<_>, Vec<_>) =
        stacks_of(job, &assembled.resources).into_iter().partition(|found| found.level == Level::Error);
    if !errors.is_empty() {
        return Err(errors.into());
    }
    report.diagnostics.extend(warnings);
    for kernel in &mut report.kernels {
        let resources = assembled.resources.get(&kernel.name).copied();
        kernel.resources.extend(resources.map(|resources| (job.arch.to_string(), resources)));
    }
    let artifact = |kind, part, bytes| Artifact { kind, arch: Some(job.arch), part, bytes };
    Ok(match <[Vec<u8>; 1]>::try_from(assembled.cubins) {
        Ok([whole]) => vec![artifact(Emit::Cubin, None, whole)],
        Err(parts) => {
            let parts = parts.into_iter().enumerate();
            parts.map(|(at, part)| artifact(Emit::CubinParts, Some(at + 1), part)).collect()
        }
    })
}

/// What a kernel uses, with what its calls need of the stack: ptxas adds that up only where no function is called again.
fn with_calls(kernel: &str, Used { resources, frames }: Used, calls: &stacks::Calls) -> Resources {
    let need = calls.need(kernel, &frames);
    Resources {
        stack: resources.stack.max(u32::try_from(need.stack).unwrap_or(u32::MAX)),
        stack_is_minimum: resources.stack_is_minimum || need.recursion.is_some(),
        recursion: need.recursion,
        ..resources
    }
}

/// Whether PTX says how many registers a kernel's threads may have.
fn has_limit(ptx: &str, kernel: &str) -> bool {
    let header = ptx.split_once(&format!(".entry {kernel}(")).and_then(|(_, rest)| rest.split_once('{'));
    header.is_some_and(|(header, _)| header.contains(".maxnreg"))
}

/// What is to be said of the kernels' stacks.
fn stacks_of(job: Job<'_>, resources: &BTreeMap<String, Resources>) -> Vec<Diagnostic> {
    let judged = job.table.kernels.iter().filter_map(|kernel| {
        let used = resources.get(&kernel.name)?;
        stacks::judge(&kernel.name, &kernel.span, used.stack.into(), job.arch.name())
    });
    judged.collect()
}

/// The warnings for kernels that spill. Where a kernel has a second copy, for small numbers, the compiler may have limited the
/// registers to what that one needs: then it is the other one that spills, which hardly ever runs, and no author can help it.
fn spills<'a>(job: Job<'a>, resources: &'a BTreeMap<String, Resources>) -> impl Iterator<Item = Diagnostic> + 'a {
    let arch = job.arch;
    let spilling = |name: &String| resources.get(name).filter(|r| r.spill_stores + r.spill_loads > 0);
    job.table.kernels.iter().filter_map(move |kernel| {
        let used = spilling(&kernel.name)?;
        if !kernel.limits_registers && has_limit(job.ptx, &kernel.name) {
            return None;
        }
        let message = format!(
            "kernel `{}` spills registers on {arch}: {} bytes of stores, {} bytes of loads a thread",
            kernel.name, used.spill_stores, used.spill_loads
        );
        let warning = Diagnostic::warning(Code::Spill, message)
            .at(Some(kernel.span.clone()), format!("uses {} registers", used.registers))
            .note("spilled values live in local memory, which is much slower than registers");
        Some(match used.formatting {
            Some(Formatting::Panics { registers, spills: false, .. }) => warning
                .note(format!("without its panics whose messages the device makes, by `core::fmt`, it uses {registers} registers and spills none"))
                .help("show in panics what the host can format (numbers, texts, structs of them), or build with `--panic=location`"),
            Some(Formatting::Kernel) => warning
                .note("it makes text of values on the device, by `core::fmt`, which needs many registers")
                .help("loosen `launch_bounds` or `max_registers`, or let the host format the values"),
            _ => warning.help("loosen `launch_bounds` or `max_registers`, or keep fewer values alive at once"),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_in_the_header_of_its_kernel() {
        let ptx = ".visible .entry a(\n.param .u64 p\n)\n.maxnreg 32\n{\nret;\n}\n.visible .entry ab(\n)\n{\nret;\n}\n";
        assert!(has_limit(ptx, "a") && !has_limit(ptx, "ab") && !has_limit(ptx, "b"));
    }
}
