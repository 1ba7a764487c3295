//! The pipeline, and what runs it as rustc's linker.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::abi::{self, Table};
use crate::arch::Arch;
use crate::codes::Code;
use crate::debuginfo::Traceable;
use crate::device_link::Linker;
use crate::diagnostic::{Diagnostic, Result};
use crate::input;
use crate::interface::{self, Interface};
use crate::llvm::{self, Context, Module};
use crate::options::{Emit, Linking, MessageFormat, Options, Ptxas, Request};
use crate::output::{self, Artifact};
use crate::report::{DeviceFunction, Kernel, Param, Report};
use crate::tool::{Name, Origin, Tool};
use crate::verify::ptxas::{Assembler, Job};
use crate::{
    bug, copies, debuginfo, emit, float, header, intrinsics, libdevice, memory, optimize, panics, signals, verify,
    workarounds,
};

/// The environment variable that makes the program whose path it holds act as rustc's linker; see
/// [`become_linker_if_asked`].
pub const LINKER_VARIABLE: &str = "RUST_PTX_LINKER";

/// Links: inputs to outputs. Read it to know the order of the pipeline.
pub fn link(options: &Options) -> Result<Report> {
    llvm::install_fatal_handler();
    let mut dump = Dump::new(options.dump_dir.as_deref())?;
    let assembler = find_assembler(options)?;
    let linker = Linker::prepare(options)?;
    let library = libdevice::Library::find(options)?;

    let context = Context::create();
    options.panics.check(&options.inputs, &options.name)?;
    let files = input::read(&options.inputs)?;
    let module = input::link(&context, &files, &options.name, &options.exports)?;
    dump.module("linked", &module)?;
    let interface = interface::read(&module, &options.exports)?;
    refuse_empty(&interface)?;
    let table = Table::new(&interface)?;
    abi::lower(&context, &module, &interface, &table)?;
    dump.module("abi", &module)?;
    let generic = emit::machine(options.archs[0], options.archs[0].min_ptx(), options.opt_level)?;
    optimize::internalize(&module, &interface, &generic)?;
    libdevice::link(&context, &module, &library, &files, &table)?;
    panics::assign(&context, &module, &options.panics)?;
    panics::shrink(&context, &module);
    let debug = debuginfo::level(&context, &module, options.debug);
    verify::supported(&module, &table)?;
    dump.module("reachable", &module)?;
    float::assign(&context, &module, &interface, options.float)?;
    dump.module("modes", &module)?;

    let mut report = Report { debug, ..Report::new(options, &table, &module, assembler.as_ref()) };
    let mut artifacts = Vec::from_iter(header(options, &interface)?);
    for &arch in &options.archs {
        // Also for the only arch: LLVM's choices depend on the order of uses, which is another in a copy, and the PTX for
        // one arch must not depend on which others are asked for.
        let module = module.clone();
        let needs = memory::place(&context, &module, arch)?;
        let needs = needs.and(intrinsics::define(&context, &module, &table, arch)?);
        float::stamp(&context, &module)?;
        let version = emit::ptx_version(options, arch, &table, needs.and(debuginfo::needs(debug, options)))?;
        let machine = emit::machine(arch, version, options.opt_level)?;
        libdevice::specialize(&context, &module, &machine, arch)?;
        dump.module(&format!("{arch}-intrinsics"), &module)?;
        optimize::run_level(&module, &machine, options.opt_level, arch)?;
        intrinsics::check(&module, &machine, &table, arch)?;
        // Before all that LLVM's optimiser must not see.
        copies::widen(&context, &module, &machine, options.opt_level)?;
        memory::order(&context, &module, &machine, &table, arch, options.opt_level)?;
        workarounds::widen_small_extremes(&context, &module, arch)?;
        float::lower(&context, &module, options.opt_level)?;
        panics::lower(&context, &module, options.opt_level)?;
        let imports = verify::undefined_symbols(&module, &table, options.linking())?;
        // Only ptxas has something to explain.
        let copy = assembler.as_ref().map(|_| module.clone());
        let source = copy.map(|module| Traceable { context: &context, module, machine: &machine, arch });
        emit::limit_debug_info(&module, &machine, debug)?;
        dump.module(&format!("{arch}-optimized"), &module)?;
        artifacts.extend(llvm_artifacts(options, &module, arch));
        let prepared = debuginfo::prepare(&context, &module, debug);
        let ptx = prepared.rewrite(emit::emit(&module, &machine, arch)?, &table, version)?;
        dump.text(&format!("{arch}.ptx"), &ptx)?;
        verify::signatures(&ptx, &table, arch)?;
        if let Some(assembler) = &assembler {
            let relocatable = options.linking() != Linking::None;
            let (level, source) = (options.opt_level, source.as_ref().map(|source| source as &dyn debuginfo::Trace));
            let job = Job { ptx: &ptx, arch, debug, level, table: &table, relocatable, source };
            let assembled = assemble(options, assembler, job, &mut report)?;
            artifacts.extend(match (&linker, assembled) {
                (Some(linker), Some(object)) => Some(linker.link(object, job, &imports, &mut report)?),
                (_, assembled) => assembled,
            });
        }
        artifacts.push(Artifact { kind: Emit::Ptx, arch: Some(arch), bytes: ptx.into_bytes() });
    }
    artifacts.sort_by_key(|artifact| (artifact.arch, artifact.kind));
    if options.emit.contains(&Emit::Fatbin) {
        let bytes = output::fatbin(&fatbinary(options)?, &artifacts, options.linking())?;
        artifacts.push(Artifact { kind: Emit::Fatbin, arch: None, bytes });
    }
    // Where the cubin is linked, the PTX is only a part.
    let kept = |kind| kind == Emit::Ptx || kind == Emit::Cubin && linker.is_some() || options.emit.contains(&kind);
    artifacts.retain(|artifact| kept(artifact.kind));
    output::write(options, &artifacts, &mut report)?;
    Ok(report)
}

fn header(options: &Options, interface: &Interface<'_>) -> Result<Option<Artifact>> {
    if !options.emit.contains(&Emit::Header) {
        return Ok(None);
    }
    let bytes = header::write(&options.name, interface)?.into_bytes();
    Ok(Some(Artifact { kind: Emit::Header, arch: None, bytes }))
}

fn refuse_empty(interface: &Interface<'_>) -> Result<()> {
    if interface.is_empty() {
        return Err(Diagnostic::error(Code::NoKernels, "the crate has no kernel and exports no function")
            .help("mark a function with `#[ptx::kernel]` or `#[ptx::device(export)]`")
            .into());
    }
    Ok(())
}

/// The ptxas that the options ask for; none if it is neither asked for nor there.
fn find_assembler(options: &Options) -> Result<Option<Assembler>> {
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

fn fatbinary(options: &Options) -> Result<PathBuf> {
    let missing = || {
        Diagnostic::error(Code::ToolFailed, "fatbins need NVIDIA's fatbinary, which was not found")
            .help("install it with `cargo ptx setup`")
    };
    Ok(options.tools.fatbinary().map(|tool| tool.path.clone()).ok_or_else(missing)?)
}

/// Has ptxas check the PTX, and notes resources and spills in the report.
fn assemble(options: &Options, assembler: &Assembler, job: Job<'_>, report: &mut Report) -> Result<Option<Artifact>> {
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
    report.diagnostics.extend(verify::ptxas::spills(job.table, &assembled.resources, job.arch));
    for kernel in &mut report.kernels {
        let resources = assembled.resources.get(&kernel.name).copied();
        kernel.resources.extend(resources.map(|resources| (job.arch.to_string(), resources)));
    }
    Ok(Some(Artifact { kind: Emit::Cubin, arch: Some(job.arch), bytes: assembled.cubin }))
}

fn llvm_artifacts(options: &Options, module: &Module<'_>, arch: Arch) -> Vec<Artifact> {
    let artifact = |kind, bytes| Artifact { kind, arch: Some(arch), bytes };
    let mut artifacts = Vec::new();
    if options.emit.contains(&Emit::LlvmIr) {
        artifacts.push(artifact(Emit::LlvmIr, module.print_to_string().to_bytes().to_vec()));
    }
    if options.emit.contains(&Emit::LlvmBc) {
        let buffer = module.write_bitcode_to_memory();
        artifacts.push(artifact(Emit::LlvmBc, buffer.as_slice().to_vec()));
    }
    artifacts
}

impl Report {
    fn new(options: &Options, table: &Table, module: &Module<'_>, assembler: Option<&Assembler>) -> Self {
        let param = |param: &abi::ParamAbi| Param {
            name: param.source.name.clone(),
            rust_type: param.source.rust_type.clone(),
            size: param.source.ty.size,
            align: param.source.ty.align,
            ptx: param.ptx.iter().map(ToString::to_string).collect(),
        };
        let function = |function: &abi::FunctionAbi| DeviceFunction {
            name: function.name.clone(),
            is_import: function.kind == ptx_abi::Kind::Import,
            path: function.path.clone(),
            span: function.span.clone(),
            params: function.params.iter().map(param).collect(),
            result: function.result.as_ref().map(|result| Param { name: "result".into(), ..param(result) }),
        };
        let kernel = |kernel: &abi::FunctionAbi| Kernel {
            name: kernel.name.clone(),
            path: kernel.path.clone(),
            span: kernel.span.clone(),
            params: kernel.params.iter().map(param).collect(),
            abi_hash: kernel.abi_hash,
            resources: Default::default(),
            float: module.get_function(&kernel.name).map_or(options.float, float::modes_of).into(),
        };
        Self {
            name: options.name.clone(),
            version: env!("CARGO_PKG_VERSION").into(),
            llvm: crate::LLVM_VERSION.into(),
            ptxas: assembler.map(|assembler| assembler.version().to_string()),
            debug: options.debug,
            kernels: table.kernels.iter().map(kernel).collect(),
            functions: table.exports.iter().chain(&table.imports).map(function).collect(),
            outputs: Vec::new(),
            diagnostics: Vec::new(),
            linking: options.linking(),
            linked: Vec::new(),
        }
    }
}

/// Writes what `--dump-dir` asks for, numbered in order.
struct Dump<'a> {
    dir: Option<&'a Path>,
    count: u32,
}

impl<'a> Dump<'a> {
    fn new(dir: Option<&'a Path>) -> Result<Self> {
        if let Some(dir) = dir {
            std::fs::create_dir_all(dir).map_err(|e| output::failed(dir, &e))?;
        }
        Ok(Self { dir, count: 0 })
    }

    fn module(&mut self, stage: &str, module: &Module<'_>) -> Result<()> {
        if self.dir.is_none() {
            return Ok(());
        }
        self.text(&format!("{stage}.ll"), &module.print_to_string().to_string_lossy())
    }

    fn text(&mut self, stage: &str, text: &str) -> Result<()> {
        if let Some(dir) = self.dir {
            let path = dir.join(format!("{:02}-{stage}", self.count));
            std::fs::write(&path, text).map_err(|e| output::failed(&path, &e))?;
            self.count += 1;
        }
        Ok(())
    }
}

/// Lets `cargo ptx` and build scripts pass themselves to rustc as the linker, and to cargo as rustc's wrapper: if
/// [`LINKER_VARIABLE`] names this program, does that and ends the process. Other programs inherit the variable, and may
/// have this code in them. It may be called before `main`.
pub fn become_linker_if_asked() {
    let asked = std::env::var_os(LINKER_VARIABLE).map(PathBuf::from);
    if asked.is_none() || asked != std::env::current_exe().ok() {
        return;
    }
    signals::as_in_main();
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    crate::project::become_rustc_if_asked(&args);
    std::process::exit(run_linker(args).into());
}

/// The whole of `ptx-linker`: arguments without the program's name in, messages on standard error.
pub fn linker_main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    run_linker(args.into_iter().collect()).into()
}

fn run_linker(args: Vec<OsString>) -> u8 {
    // Whoever wants JSON also wants it when the options cannot be read.
    let json = args.iter().any(|arg| arg == "--message-format=json");
    let print = move |diagnostic: &Diagnostic, options: Option<&Options>| {
        let text = match options {
            _ if json || options.is_some_and(|o| o.message_format == MessageFormat::Json) => {
                serde_json::to_string(diagnostic).unwrap_or_else(|e| e.to_string())
            }
            Some(o) => diagnostic.render(&o.source_base, false) + "\n",
            None => diagnostic.to_string(),
        };
        // A closed standard error is no reason to fail.
        let _ = writeln!(std::io::stderr(), "{text}");
    };
    bug::catch(
        move |diagnostic| print(diagnostic, None),
        move || {
            let (diagnostics, options, code) = match Options::from_args(args) {
                Err(failure) => (failure.diagnostics, None, 1),
                Ok(Request::Print(text)) => {
                    // A closed standard output is no reason to fail either.
                    let _ = writeln!(std::io::stdout(), "{text}");
                    (vec![], None, 0)
                }
                Ok(Request::Link(options)) => match link(&options) {
                    Ok(report) => (report.diagnostics, Some(options), 0),
                    Err(failure) => (failure.diagnostics, Some(options), 1),
                },
            };
            diagnostics.iter().for_each(|diagnostic| print(diagnostic, options.as_deref()));
            code
        },
    )
}
