//! Device intrinsics: gives the functions named `__ptx_…` their bodies.
//!
//! Before: `declare i32 @__ptx_tid_x()`. After: an always-inlined function that calls LLVM's intrinsic.

mod table;

use self::table::{Body, Row};
use crate::arch::{Arch, PtxVersion};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, Attribute, AttributeLoc, BasicMetadataValueEnum, BuilderError, Context, FunctionValue, Intrinsic, Linkage,
    Module, Use,
};

/// What the intrinsics that the module uses ask of arch and PTX ISA version.
#[derive(Clone, Copy, Debug, Default)]
pub struct Needs {
    /// The highest PTX ISA version that one needs.
    pub ptx: Option<PtxVersion>,
}

impl Needs {
    /// Both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { ptx: self.ptx.max(other.ptx) }
    }
}

/// Defines every intrinsic that the module declares, for one arch.
pub fn define<'ctx>(context: &'ctx Context, module: &Module<'ctx>, arch: Arch) -> Result<Needs> {
    let mut needs = Needs::default();
    let mut problems = Vec::new();
    let declared = llvm::functions(module).filter(|f| {
        f.count_basic_blocks() == 0 && f.get_name().to_bytes().starts_with(ptx_abi::INTRINSIC_PREFIX.as_bytes())
    });
    for function in declared.collect::<Vec<_>>() {
        if llvm::uses(&function).is_empty() {
            llvm::delete_function(function);
            continue;
        }
        let name = function.get_name().to_string_lossy().into_owned();
        let Some(row) = table::find(&name) else {
            problems.push(unknown(&name, function, "the compiler has no intrinsic of this name"));
            continue;
        };
        if arch.number() < row.min_sm {
            problems.push(unknown(&name, function, &format!("it needs sm_{} and the arch is {arch}", row.min_sm)));
            continue;
        }
        needs.ptx = needs.ptx.max(row.min_ptx.map(|(major, minor)| PtxVersion { major, minor }));
        match write_body(context, module, function, row, arch) {
            Ok(true) => {}
            Ok(false) => problems.push(unknown(&name, function, "it is declared with another signature")),
            Err(error) => problems.push(unknown(&name, function, &error.to_string())),
        }
    }
    if problems.is_empty() { Ok(needs) } else { Err(problems.into()) }
}

/// False if the declaration's signature is not the intrinsic's.
fn write_body<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    function: FunctionValue<'ctx>,
    row: &Row,
    arch: Arch,
) -> Result<bool, BuilderError> {
    let builder = context.create_builder();
    let signature = function.get_type();
    if let Body::Call { intrinsic, leading } = row.body {
        let Some(callee) = Intrinsic::find(intrinsic).and_then(|i| i.get_declaration(module, &[])) else {
            return Ok(false);
        };
        let wanted = callee.get_type();
        let leads = wanted.count_param_types().checked_sub(signature.count_param_types());
        if leads != u32::try_from(leading.len()).ok() || wanted.get_return_type() != signature.get_return_type() {
            return Ok(false);
        }
        builder.position_at_end(context.append_basic_block(function, ""));
        let types = wanted.get_param_types();
        let constants = leading.iter().zip(types).map(|(value, ty)| ty.into_int_type().const_int(*value, false).into());
        let params = function.get_param_iter().map(BasicMetadataValueEnum::from);
        let arguments: Vec<BasicMetadataValueEnum<'ctx>> = constants.chain(params).collect();
        let call = builder.build_call(callee, &arguments, "")?;
        match call.try_as_basic_value().basic() {
            Some(value) => builder.build_return(Some(&value))?,
            None => builder.build_return(None)?,
        };
    } else {
        if signature.get_return_type() != Some(context.i32_type().into()) {
            return Ok(false);
        }
        builder.position_at_end(context.append_basic_block(function, ""));
        let number = context.i32_type().const_int(u64::from(arch.number()) * 10, false);
        builder.build_return(Some(&number))?;
    }
    function.set_linkage(Linkage::Internal);
    let always = context.create_enum_attribute(Attribute::get_named_enum_kind_id("alwaysinline"), 0);
    function.add_attribute(AttributeLoc::Function, always);
    Ok(true)
}

fn unknown(name: &str, function: FunctionValue<'_>, reason: &str) -> Diagnostic {
    let span = llvm::uses(&function).into_iter().find_map(|user| match user {
        Use::Instruction(instruction) => llvm::source_span(instruction),
        Use::Global(_) => None,
    });
    Diagnostic::error(Code::Intrinsic, format!("cannot use the intrinsic `{name}`: {reason}"))
        .at(span, "used here")
        .help("use the same version of the crate `ptx` and of ptx-codegen; names of your own must not begin with `__ptx_`")
}
