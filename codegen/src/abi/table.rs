//! The ABI table: computed once; lowered, verified against the PTX, printed, and embedded for the host.

use crate::abi::classify::{PtxParam, kernel_param};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result, Span};
use crate::interface::{Interface, Kernel};
use crate::llvm::{AttributeLoc, BasicTypeEnum, FunctionValue, type_align};

/// Every signature that the PTX must have.
#[derive(Debug)]
pub struct Table {
    /// Kernels with a descriptor, in order of name.
    pub kernels: Vec<KernelAbi>,
    /// All `.entry` and exported `.func` symbols.
    pub signatures: Vec<Signature>,
}

/// A kernel's parameters, at source level and in PTX.
#[derive(Debug)]
pub struct KernelAbi {
    /// The symbol.
    pub name: String,
    /// The Rust path.
    pub path: String,
    /// Where it is defined.
    pub span: Span,
    /// Compared by the host at launch.
    pub abi_hash: u64,
    /// In order.
    pub params: Vec<ParamAbi>,
}

/// One source-level parameter.
#[derive(Debug)]
pub struct ParamAbi {
    /// What the macro said.
    pub source: ptx_abi::decode::OwnedParam,
    /// What it is in PTX.
    pub ptx: Vec<PtxParam>,
}

/// What the PTX says of a function's parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The symbol.
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
        let mut kernels = Vec::new();
        for kernel in &interface.kernels {
            match KernelAbi::new(kernel) {
                Ok(abi) => kernels.push(abi),
                Err(problem) => problems.push(problem),
            }
        }
        if !problems.is_empty() {
            return Err(problems.into());
        }
        let described = kernels.iter().map(KernelAbi::signature);
        let bare = interface.bare_kernels.iter().map(|f| Signature::of_function(*f, true));
        let exports = interface.exports.iter().map(|f| Signature::of_function(*f, false));
        let signatures = described.chain(bare).chain(exports).collect();
        Ok(Self { kernels, signatures })
    }

    /// Whether a kernel has more parameter bytes than PTX before 8.1 takes.
    pub fn has_large_params(&self) -> bool {
        self.kernels.iter().any(|kernel| kernel.param_bytes() > SMALL_PARAMS)
    }
}

impl KernelAbi {
    fn new(kernel: &Kernel<'_>) -> Result<Self, Diagnostic> {
        let refuse = |param: &str, reason: String| {
            Diagnostic::error(
                Code::ParamTooAligned,
                format!("parameter `{param}` of kernel `{}` cannot be passed: {reason}", kernel.descriptor.name),
            )
            .at(Some(kernel.span()), "kernel defined here")
        };
        let mut params = Vec::new();
        for source in &kernel.descriptor.params {
            let ptx = kernel_param(&source.ty).map_err(|reason| {
                refuse(&source.name, reason).help("pass it in memory, through a reference or a slice")
            })?;
            params.push(ParamAbi { source: source.clone(), ptx });
        }
        let abi = Self {
            name: kernel.descriptor.name.clone(),
            path: kernel.path(),
            span: kernel.span(),
            abi_hash: kernel.descriptor.abi_hash(),
            params,
        };
        let bytes = abi.param_bytes();
        if bytes > MOST_PARAMS {
            let last = abi.params.last().map(|p| p.source.name.clone()).unwrap_or_default();
            let reason = format!("the parameters take {bytes} bytes, a kernel may have {MOST_PARAMS}");
            return Err(refuse(&last, reason).help("put large data into device memory and pass a reference"));
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

    fn signature(&self) -> Signature {
        let params = self.params.iter().flat_map(|param| param.ptx.clone()).collect();
        Signature { name: self.name.clone(), is_kernel: true, result: None, params }
    }
}

impl Signature {
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
