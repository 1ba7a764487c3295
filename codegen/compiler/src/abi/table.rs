//! The ABI table: computed once; lowered, verified against the PTX, printed, and embedded for the host.

use std::collections::{BTreeMap, HashSet};

use ptx_abi::decode::OwnedParam;
use ptx_abi::owned::OwnedCxx;
use ptx_abi::{Kind, Mangling};

use crate::abi::classify::{PtxParam, device_param, device_result, kernel_param};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result, Span};
use crate::interface::{Described, Interface};
use crate::llvm::{AttributeLoc, BasicTypeEnum, FunctionValue, type_align};

/// Every signature that the PTX must have.
#[derive(Debug)]
pub struct Table {
    /// Kernels with a descriptor, in order of symbol.
    pub kernels: Vec<FunctionAbi>,
    /// Exported device functions with a descriptor, in order of symbol.
    pub exports: Vec<FunctionAbi>,
    /// Imported device functions, in order of symbol.
    pub imports: Vec<FunctionAbi>,
    /// All `.entry` and exported `.func` symbols.
    pub signatures: Vec<Signature>,
}

/// A function's parameters and result, at source level and in PTX.
#[derive(Debug)]
pub struct FunctionAbi {
    /// The symbol in the PTX: `saxpy`, or a mangled name.
    pub name: String,
    /// Kernel, export or import.
    pub kind: Kind,
    /// The Rust path.
    pub path: String,
    /// Where it stands in the source.
    pub span: Span,
    /// Compared by the host at launch.
    pub abi_hash: u64,
    /// In order.
    pub params: Vec<ParamAbi>,
    /// Of a device function that has one.
    pub result: Option<ParamAbi>,
    /// Of a kernel, whether its author says how many registers a thread may have.
    pub limits_registers: bool,
}

/// One source-level parameter, or the result.
#[derive(Debug)]
pub struct ParamAbi {
    /// What the macro said.
    pub source: OwnedParam,
    /// What it is in PTX.
    pub ptx: Vec<PtxParam>,
}

/// What the PTX says of a function's parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The symbol that follows `.entry` or `.func`.
    pub name: String,
    /// `.entry`, not `.func`.
    pub is_kernel: bool,
    /// `.func` only.
    pub result: Option<PtxParam>,
    /// In order.
    pub params: Vec<PtxParam>,
}

/// All parameters of a kernel together; beyond it PTX ISA 8.1 is needed (PTX ISA, "Kernel Function Parameter
/// Attributes").
pub const SMALL_PARAMS: u64 = 4096;

/// With PTX ISA 8.1 from sm_70 on.
pub const MOST_PARAMS: u64 = 32_764;

impl Table {
    /// Computes it.
    pub fn new(interface: &Interface<'_>) -> Result<Self> {
        let mut problems = Vec::new();
        let mut compute = |functions: &[Described<'_>]| -> Vec<FunctionAbi> {
            let mut list = Vec::new();
            for function in functions {
                match FunctionAbi::new(function) {
                    Ok(abi) => list.push(abi),
                    Err(problem) => problems.push(problem),
                }
            }
            list
        };
        let kernels = compute(&interface.kernels);
        let exports = compute(&interface.exports);
        let imports = compute(&interface.imports);
        problems.extend(disagreements(&exports, &imports));
        if !problems.is_empty() {
            return Err(problems.into());
        }
        let described = kernels.iter().chain(&exports).map(FunctionAbi::signature);
        let bare_kernels = interface.bare_kernels.iter().map(|f| Signature::of_function(*f, true));
        let bare_exports = interface.bare_exports.iter().map(|f| Signature::of_function(*f, false));
        let signatures = described.chain(bare_kernels).chain(bare_exports).collect();
        Ok(Self { kernels, exports, imports, signatures })
    }

    /// The symbols that CUDA C++ is said to define.
    pub fn imported(&self) -> HashSet<&str> {
        self.imports.iter().map(|function| function.name.as_str()).collect()
    }

    /// What the optimiser heeds of the kernels of these names.
    pub fn shapes(&self, names: &[String]) -> Vec<(&str, &[ParamAbi])> {
        let kernels = self.kernels.iter().filter(|kernel| names.contains(&kernel.name));
        kernels.map(|kernel| (kernel.name.as_str(), kernel.params.as_slice())).collect()
    }

    /// Whether a kernel has more parameter bytes than PTX before 8.1 takes.
    pub fn has_large_params(&self) -> bool {
        self.kernels.iter().any(|kernel| kernel.param_bytes() > SMALL_PARAMS)
    }
}

/// Declarations of one symbol that are not alike.
fn disagreements(exports: &[FunctionAbi], imports: &[FunctionAbi]) -> Vec<Diagnostic> {
    let mut first: BTreeMap<&str, &FunctionAbi> = BTreeMap::new();
    let mut problems = Vec::new();
    for function in exports.iter().chain(imports) {
        let Some(known) = first.get(function.name.as_str()) else {
            first.insert(&function.name, function);
            continue;
        };
        if known.signature() != function.signature() {
            let ours = |f: &FunctionAbi| format!("`{}` has {}", f.path, f.signature().describe());
            problems.push(
                Diagnostic::error(Code::DeclarationsDiffer, format!("the declarations of `{}` differ", function.name))
                    .at(Some(function.span.clone()), ours(function))
                    .at(Some(known.span.clone()), ours(known))
                    .help("declare it alike in both places, or give one of them another name"),
            );
        }
    }
    problems
}

impl FunctionAbi {
    fn new(function: &Described<'_>) -> Result<Self, Diagnostic> {
        let descriptor = &function.descriptor;
        let is_kernel = descriptor.kind == Kind::Kernel;
        let refuse = |what: String, reason: String| {
            Diagnostic::error(
                Code::ParamTooAligned,
                format!("{what} of {} `{}` cannot be passed: {reason}", function.noun(), function.path()),
            )
            .at(Some(function.span()), if descriptor.kind == Kind::Import { "declared here" } else { "defined here" })
        };
        let in_memory = "pass it in memory, through a reference or a slice";
        let mut params = Vec::new();
        for source in &descriptor.params {
            let ptx = if is_kernel { kernel_param(&source.ty) } else { device_param(&source.ty) };
            let ptx = ptx.map_err(|reason| refuse(format!("parameter `{}`", source.name), reason).help(in_memory))?;
            if matches!(source.cxx, OwnedCxx::Array { .. }) && !(is_kernel && descriptor.mangling == Mangling::C) {
                return Err(array(function, &format!("parameter `{}`", source.name)));
            }
            params.push(ParamAbi { source: source.clone(), ptx });
        }
        let mut result = None;
        if let Some(source) = &descriptor.result {
            let ptx =
                device_result(&source.ty).map_err(|reason| refuse("the result".into(), reason).help(in_memory))?;
            if matches!(source.cxx, OwnedCxx::Array { .. }) {
                return Err(array(function, "the result"));
            }
            result = Some(ParamAbi { source: source.clone(), ptx: vec![ptx] });
        }
        let abi = Self {
            name: function.symbol.clone(),
            kind: descriptor.kind,
            path: function.path(),
            span: function.span(),
            abi_hash: descriptor.abi_hash(),
            params,
            result,
            limits_registers: descriptor.bounds.max_registers > 0,
        };
        let bytes = abi.param_bytes();
        if is_kernel && bytes > MOST_PARAMS {
            let last = abi.params.last().map(|p| p.source.name.clone()).unwrap_or_default();
            let reason = format!("the parameters take {bytes} bytes, a kernel may have {MOST_PARAMS}");
            return Err(refuse(format!("parameter `{last}`"), reason)
                .help("put large data into device memory and pass a reference"));
        }
        Ok(abi)
    }

    /// Size of the parameter space, padding included.
    pub fn param_bytes(&self) -> u64 {
        self.params
            .iter()
            .flat_map(|param| &param.ptx)
            .fold(0, |end, param| u64::next_multiple_of(end, param.align()) + param.size())
    }

    /// What the PTX must say.
    pub fn signature(&self) -> Signature {
        Signature {
            name: self.name.clone(),
            is_kernel: self.kind == Kind::Kernel,
            result: self.result.as_ref().and_then(|result| result.ptx.first().copied()),
            params: self.params.iter().flat_map(|param| param.ptx.clone()).collect(),
        }
    }
}

fn array(function: &Described<'_>, what: &str) -> Diagnostic {
    Diagnostic::error(
        Code::ArrayByValue,
        format!("{what} of {} `{}` is an array by value", function.noun(), function.path()),
    )
    .at(Some(function.span()), "C and C++ pass no array by value")
    .help("put it into a `#[repr(C)]` struct, or pass a reference to it")
}

impl Signature {
    /// In words.
    pub fn describe(&self) -> String {
        let params: Vec<String> = self.params.iter().map(ToString::to_string).collect();
        let kind = if self.is_kernel { ".entry" } else { ".func" };
        let result = self.result.map_or(String::new(), |result| format!(" -> {result}"));
        format!("{kind} ({}){result}", params.join(", "))
    }

    /// Of a function that rustc lowered: its LLVM types say what the PTX will have.
    fn of_function(function: FunctionValue<'_>, is_kernel: bool) -> Self {
        let extend = |param: PtxParam| match param {
            // Guide §2.3, note A.
            PtxParam::Int { bits, signed } if !is_kernel => PtxParam::Int { bits: bits.max(32), signed },
            param => param,
        };
        let ty = function.get_type();
        let params = ty.get_param_types();
        let params = params.into_iter().enumerate().map(|(index, param)| {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            let byval = function.get_enum_attribute(
                AttributeLoc::Param(index),
                crate::llvm::Attribute::get_named_enum_kind_id("byval"),
            );
            match (byval, BasicTypeEnum::try_from(param)) {
                (Some(byval), _) => BasicTypeEnum::try_from(byval.get_type_value())
                    .map_or(PtxParam::Pointer, |ty| of_type(ty, is_kernel)),
                (None, Ok(ty)) => extend(of_type(ty, is_kernel)),
                (None, Err(())) => PtxParam::Pointer,
            }
        });
        let params = params.collect();
        let result = ty.get_return_type().map(|ty| extend(of_type(ty, is_kernel)));
        Self { name: function.get_name().to_string_lossy().into_owned(), is_kernel, result, params }
    }
}

fn of_type(ty: BasicTypeEnum<'_>, is_kernel: bool) -> PtxParam {
    let bytes = || {
        let (size, align) = type_align(ty);
        PtxParam::Bytes { size: size.max(1), align }
    };
    match ty {
        BasicTypeEnum::IntType(int) if int.get_bit_width() <= 64 => {
            let bits = int.get_bit_width().next_power_of_two().max(8);
            PtxParam::Int { bits: if is_kernel { bits } else { bits.max(32) }, signed: false }
        }
        BasicTypeEnum::FloatType(_) => match type_align(ty).0 {
            4 => PtxParam::Float { bits: 32 },
            8 => PtxParam::Float { bits: 64 },
            _ => bytes(),
        },
        BasicTypeEnum::PointerType(_) => PtxParam::Pointer,
        _ => bytes(),
    }
}
