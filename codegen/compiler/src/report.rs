//! What a run produced, as data: kernels with ABI and resources, files, warnings. Written as `report.json`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ptx_abi::float::Modes;
use serde::{Deserialize, Serialize};

use crate::abi::{self, Table};
use crate::diagnostic::{Diagnostic, Span};
use crate::harness::Test;
use crate::hash;
use crate::llvm::Module;
use crate::marks;
use crate::request::{DebugLevel, Emit, Linking, Options};
use crate::stacks::Recursion;

/// File name of the report in the output folder.
pub const FILE_NAME: &str = "report.json";

/// Everything that one run of the pipeline produced.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Name of the crate.
    pub name: String,
    /// Version of this compiler.
    pub version: String,
    /// LLVM's version.
    pub llvm: String,
    /// ptxas's version, if it was run.
    pub ptxas: Option<String>,
    /// What a debugger finds in the outputs.
    #[serde(default)]
    pub debug: DebugLevel,
    /// In order of name.
    pub kernels: Vec<Kernel>,
    /// Device functions that cross the boundary: exports, then imports, each in order of symbol.
    #[serde(default)]
    pub functions: Vec<DeviceFunction>,
    /// Where rustc was to build tests: these, in the order by which `__ptx_test` numbers them.
    #[serde(default)]
    pub tests: Vec<Test>,
    /// In order of arch, then kind.
    pub outputs: Vec<OutputFile>,
    /// Warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// Where the code is linked with other device code.
    pub linking: Linking,
    /// The files it was linked with, and the headers of those that are source.
    pub linked: Vec<LinkedFile>,
}

impl Report {
    /// What is known before code is generated: the interface, and each kernel's modes.
    pub(crate) fn new(options: &Options, table: &Table, module: &Module<'_>, ptxas: Option<&str>) -> Self {
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
            float: module.get_function(&kernel.name).map_or(options.float, marks::modes_of).into(),
        };
        Self {
            name: options.name.clone(),
            version: env!("CARGO_PKG_VERSION").into(),
            llvm: crate::version::LLVM_VERSION.into(),
            ptxas: ptxas.map(str::to_string),
            debug: options.debug,
            kernels: table.kernels.iter().map(kernel).collect(),
            functions: table.exports.iter().chain(&table.imports).map(function).collect(),
            tests: Vec::new(),
            outputs: Vec::new(),
            diagnostics: Vec::new(),
            linking: options.linking(),
            linked: Vec::new(),
        }
    }

    /// The file of one kind and arch (`None` for a file with several).
    pub fn output(&self, kind: Emit, arch: Option<&str>) -> Option<&OutputFile> {
        self.outputs.iter().find(|output| output.kind == kind && output.arch.as_deref() == arch)
    }

    /// The kernel of that name.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputFile {
    /// What it is.
    pub kind: Emit,
    /// `sm_90`; none for a fatbin.
    pub arch: Option<String>,
    /// Where it is.
    pub path: PathBuf,
}

/// A file that went into the output by linking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkedFile {
    /// Where it is.
    pub path: PathBuf,
    /// Of its contents when it was linked.
    pub digest: u64,
}

impl LinkedFile {
    /// The file as it is now; unreadable files have a digest too.
    pub fn of(path: PathBuf) -> Self {
        let digest = hash::stable(std::fs::read(&path));
        Self { path, digest }
    }

    /// Whether the file has changed since.
    pub fn has_changed(&self) -> bool {
        Self::of(self.path.clone()) != *self
    }
}

/// One `.entry`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// The symbol in the PTX, by which the driver finds the kernel.
    pub name: String,
    /// The Rust path.
    pub path: String,
    /// Where it is defined.
    pub span: Span,
    /// Source-level parameters.
    pub params: Vec<Param>,
    /// Hash of the signature; the host's launcher has the same.
    pub abi_hash: u64,
    /// By arch; empty where ptxas was not run.
    pub resources: BTreeMap<String, Resources>,
    /// Its floating-point modes; what it calls may have others.
    pub float: FloatModes,
}

/// Floating-point modes, by nvcc's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct FloatModes {
    /// Multiplications and additions are fused.
    pub fmad: bool,
    /// Subnormal numbers of single precision are zero.
    pub ftz: bool,
    /// Divisions of single precision are correctly rounded.
    pub prec_div: bool,
    /// Square roots of single precision are correctly rounded.
    pub prec_sqrt: bool,
    /// The functions of single precision are the fast ones.
    pub fast_functions: bool,
}

impl From<Modes> for FloatModes {
    fn from(modes: Modes) -> Self {
        let Modes { fmad, ftz, prec_div, prec_sqrt, fast_functions } = modes;
        Self { fmad, ftz, prec_div, prec_sqrt, fast_functions }
    }
}

/// One exported or imported `.func`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceFunction {
    /// The symbol in the PTX, by which it is linked.
    pub name: String,
    /// Other device code defines it.
    pub is_import: bool,
    /// The Rust path.
    pub path: String,
    /// Where it stands in the source.
    pub span: Span,
    /// Source-level parameters.
    pub params: Vec<Param>,
    /// What it returns, if anything; its name is `result`.
    pub result: Option<Param>,
}

/// One source-level parameter and what it is in PTX.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Param {
    /// As in the source.
    pub name: String,
    /// Its Rust type.
    pub rust_type: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its alignment in bytes.
    pub align: u64,
    /// The PTX parameters, such as `.u64` or `.align 8 .b8[16]`; two for a slice.
    pub ptx: Vec<String>,
}

/// What ptxas says that a kernel uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// Registers a thread.
    pub registers: u32,
    /// Stack in bytes a thread, with what the functions need that are called.
    pub stack: u32,
    /// Whether called functions may need more than that: with recursion, or where other device code is called.
    #[serde(default)]
    pub stack_is_minimum: bool,
    /// What recursion needs beside `stack`, which has one turn of it; none without.
    #[serde(default)]
    pub recursion: Option<Recursion>,
    /// Bytes of spill stores a thread.
    pub spill_stores: u32,
    /// Bytes of spill loads a thread.
    pub spill_loads: u32,
    /// Static shared memory in bytes a block.
    pub shared: u32,
    /// Constant memory in bytes, parameters included; ptxas 13 does not say it for sm_90 and later.
    pub constant: Option<u32>,
    /// Barriers used.
    pub barriers: u32,
    /// Whether the kernel makes text of values on the device, which costs registers and stack; none if it does not, and
    /// where nothing is optimised.
    #[serde(default)]
    pub formatting: Option<Formatting>,
}

/// What makes text of values in a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "of")]
pub enum Formatting {
    /// Panics alone: messages that the host cannot make. Without them the kernel would use so much.
    Panics {
        /// Registers a thread.
        registers: u32,
        /// Stack in bytes a thread.
        stack: u32,
        /// Whether it would spill registers.
        spills: bool,
    },
    /// The kernel itself.
    Kernel,
}
