//! Device intrinsics: gives the functions named `__ptx_…` their bodies.
//!
//! Before: `declare i32 @__ptx_tid_x()`. After: an always-inlined function that calls LLVM's intrinsic. Names with a dot
//! are instructions: `declare float @__ptx_add.rz.f32(float, float)` becomes inline PTX. `assembly` has those of `ptx::asm!`.

mod assembly;
mod convergent;
pub mod dimensions;
mod float;
pub mod instruction;
mod integer;
mod known;
mod row;
mod table;

use std::collections::BTreeSet;

use self::instruction::Instruction;
pub use self::known::infer;
use self::table::{Body, Row};
use crate::abi::Table;
use crate::arch::{Arch, Needs};
use crate::callers;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, AddressSpace, Attribute, AttributeLoc, BasicMetadataTypeEnum, BasicMetadataValueEnum, BasicType,
    BasicTypeEnum, BasicValueEnum, BuilderError, Context, FunctionValue, InstructionValue, Intrinsic, Linkage, Module,
    TargetMachine, Use,
};
use crate::marks::modes_of;

/// Defines every intrinsic that the module declares, for one arch.
pub fn define<'ctx>(context: &'ctx Context, module: &Module<'ctx>, table: &Table, arch: Arch) -> Result<Needs> {
    let mut needs = Needs::default();
    let mut problems = Vec::new();
    follow_modes(module);
    for (function, name) in declared(module) {
        if llvm::uses(&function).is_empty() {
            // SAFETY: nothing uses it, and its handle ends here.
            unsafe { llvm::delete_function(function) };
            continue;
        }
        if let Some(assembly) = assembly::parse(&name) {
            if let Some((min_sm, min_ptx)) = assembly.since {
                if arch.number() < min_sm {
                    // As below.
                    continue;
                }
                needs.ptx = needs.ptx.max(Some(min_ptx));
            }
            match assembly.write(context, function) {
                Ok(true) => set_inline(context, function),
                Ok(false) => problems.push(unknown(&name, function, table, "it is declared with another signature")),
                Err(error) => problems.push(unknown(&name, function, table, &error.to_string())),
            }
            continue;
        }
        if let Some(instruction) = find_instruction(&name) {
            let Some(assembly) = instruction.assembly(arch) else {
                set_pure(context, function);
                continue;
            };
            needs.ptx = needs.ptx.max(Some(instruction.min_ptx(arch)));
            match write_instruction(context, function, instruction, assembly) {
                Ok(true) => {}
                Ok(false) => problems.push(unknown(&name, function, table, "it is declared with another signature")),
                Err(error) => problems.push(unknown(&name, function, table, &error.to_string())),
            }
            continue;
        }
        let Some(row) = table::find(&name) else {
            problems.push(unknown(&name, function, table, "the compiler has no intrinsic of this name"));
            continue;
        };
        if let Some(since) = row.since {
            if arch.number() < since.min_sm {
                // `check` says so, if the call is still there then.
                continue;
            }
            needs.ptx = needs.ptx.max(Some(since.min_ptx));
        }
        match write_body(context, module, function, row, arch) {
            Ok(true) => {}
            Ok(false) => problems.push(unknown(&name, function, table, "it is declared with another signature")),
            Err(error) => problems.push(unknown(&name, function, table, &error.to_string())),
        }
    }
    convergent::mark(context, module);
    if problems.is_empty() { Ok(needs) } else { Err(problems.into()) }
}

/// Reports the instructions that the arch lacks. After optimising, which removes what `ptx::arch()` leaves out.
pub fn check(module: &Module<'_>, machine: &TargetMachine, table: &Table, arch: Arch) -> Result<()> {
    if missing_instructions(module, table, arch).is_empty() {
        return Ok(());
    }
    // At the level 0 branches on constants are still there.
    llvm::run_passes(module, machine, "function(sccp,simplifycfg),globaldce")
        .map_err(|error| Diagnostic::error(Code::LlvmFailed, error))?;
    let problems = missing_instructions(module, table, arch);
    if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
}

fn missing_instructions(module: &Module<'_>, table: &Table, arch: Arch) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let mut seen = BTreeSet::new();
    for (function, name) in declared(module) {
        let assembly = assembly::parse(&name);
        let (text, min_sm, forms) = if let Some(one) = find_instruction(&name) {
            (one.text.as_str(), one.row.min_sm, Some(one.alternatives(arch)))
        } else if let Some(since) = table::find(&name).and_then(|row| row.since) {
            (since.text, since.min_sm, None)
        } else if let Some((assembly, (min_sm, _))) = assembly.as_ref().and_then(|one| Some((one, one.since?))) {
            (assembly.instruction(), min_sm, None)
        } else {
            continue;
        };
        let places = llvm::uses(&function).into_iter().filter_map(|user| match user {
            Use::Instruction(user) => Some(callers::place(user, table)),
            Use::Global(_) => None,
        });
        for place in places {
            if seen.insert((place.span.clone(), text.to_string())) {
                let needed = format!("this needs sm_{min_sm}");
                let problem = missing(text, min_sm, forms.as_deref(), arch);
                problems.push(problem.at(place.span, needed).at_calls(place.calls));
            }
        }
    }
    problems.sort_by(|a, b| a.spans.cmp(&b.spans));
    problems
}

/// The intrinsics that the module declares and does not define.
fn declared<'ctx>(module: &Module<'ctx>) -> Vec<(FunctionValue<'ctx>, String)> {
    let named = llvm::functions(module).filter(|function| function.count_basic_blocks() == 0);
    let named = named.map(|function| (function, function.get_name().to_string_lossy().into_owned()));
    named.filter(|(_, name)| name.starts_with(ptx_abi::INTRINSIC_PREFIX)).collect()
}

fn find_instruction(name: &str) -> Option<&'static Instruction> {
    instruction::find(name.strip_prefix(ptx_abi::INTRINSIC_PREFIX)?)
}

/// Has every call of an instruction whose name leaves `.ftz` to the mode call the one that its function's mode asks for.
fn follow_modes(module: &Module<'_>) {
    for (function, name) in declared(module).into_iter().filter(|(_, name)| name.contains(instruction::MODE)) {
        for user in llvm::uses(&function) {
            let Use::Instruction(call) = user else { continue };
            let Some(caller) = call.get_parent().and_then(|block| block.get_parent()) else { continue };
            let name = name.replace(instruction::MODE, if modes_of(caller).ftz { ".ftz" } else { "" });
            let callee = module.get_function(&name);
            let callee = callee.unwrap_or_else(|| module.add_function(&name, function.get_type(), None));
            replace_operand(call, function, callee);
        }
    }
}

fn replace_operand<'ctx>(user: InstructionValue<'ctx>, from: FunctionValue<'ctx>, to: FunctionValue<'ctx>) {
    let from = from.as_global_value().as_pointer_value();
    for index in 0..user.get_num_operands() {
        let operand = user.get_operand(index).and_then(|operand| operand.value());
        if operand.is_some_and(|operand| operand == BasicValueEnum::from(from)) {
            user.set_operand(index, to.as_global_value().as_pointer_value());
        }
    }
}

/// Without effects, so that calls whose result nobody uses go.
fn set_pure(context: &Context, function: FunctionValue<'_>) {
    // The value of `memory` is 0 for no access at all (llvm/Support/ModRef.h).
    for attribute in ["memory", "nounwind", "willreturn", "nosync"] {
        let kind = Attribute::get_named_enum_kind_id(attribute);
        function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, 0));
    }
}

/// Makes the function internal, and LLVM inline it.
fn set_inline(context: &Context, function: FunctionValue<'_>) {
    function.set_linkage(Linkage::Internal);
    let always = context.create_enum_attribute(Attribute::get_named_enum_kind_id("alwaysinline"), 0);
    function.add_attribute(AttributeLoc::Function, always);
}

/// False if the declaration's signature is not the instruction's.
fn write_instruction<'ctx>(
    context: &'ctx Context,
    function: FunctionValue<'ctx>,
    instruction: &Instruction,
    (text, constraints): (String, String),
) -> Result<bool, BuilderError> {
    let register = |letter| -> BasicTypeEnum<'ctx> {
        match letter {
            'f' => context.f32_type().into(),
            'd' => context.f64_type().into(),
            'h' => context.i16_type().into(),
            'r' => context.i32_type().into(),
            _ => context.i64_type().into(),
        }
    };
    let (result, operands) = instruction.row.registers.split_once('=').expect("rows have a result");
    let result = register(result.chars().next().expect("rows have a result"));
    let operands: Vec<BasicMetadataTypeEnum<'ctx>> = operands.chars().map(|letter| register(letter).into()).collect();
    let ty = result.fn_type(&operands, false);
    if function.get_type() != ty {
        return Ok(false);
    }
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(function, ""));
    let assembly = context.create_inline_asm(ty, text, constraints, false, false, None, false);
    let arguments: Vec<_> = function.get_param_iter().map(BasicMetadataValueEnum::from).collect();
    let call = builder.build_indirect_call(ty, assembly, &arguments, "")?;
    llvm::promise_pure(context, call);
    let value = call.try_as_basic_value().basic().expect("instructions have a result");
    builder.build_return(Some(&value))?;
    set_inline(context, function);
    Ok(true)
}

/// The instruction is not the arch's: what is, and from where on it would be.
fn missing(text: &str, min_sm: u32, forms: Option<&[&str]>, arch: Arch) -> Diagnostic {
    let problem = Diagnostic::error(Code::OperationUnsupported, format!("{arch} has no instruction `{text}`"));
    let problem = match forms {
        Some([]) => problem.note(format!("{arch} has no other rounding or form of it either")),
        Some(forms) => problem.note(format!("{arch} has `{}`", forms.join("`, `"))),
        None => problem,
    };
    let has_others = forms.is_some_and(|forms| !forms.is_empty());
    let other = if has_others { "use one of the others" } else { "use another operation" };
    problem
        .help(format!("compile for sm_{min_sm} or later (`--arch sm_{min_sm}`), or {other}"))
        .help(format!("`if ptx::arch() >= {min_sm}0` keeps it to the GPUs that have it"))
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
    } else if let Body::Pair { intrinsic } = row.body {
        let Some(callee) = Intrinsic::find(intrinsic).and_then(|i| i.get_declaration(module, &[])) else {
            return Ok(false);
        };
        let wide = context.i64_type();
        let same = callee.get_type().get_param_types() == signature.get_param_types();
        if !same || signature.get_return_type() != Some(wide.into()) {
            return Ok(false);
        }
        builder.position_at_end(context.append_basic_block(function, ""));
        let arguments: Vec<_> = function.get_param_iter().map(BasicMetadataValueEnum::from).collect();
        let both = builder.build_call(callee, &arguments, "")?.try_as_basic_value().basic().expect("two results");
        let both = both.into_struct_value();
        let number = builder.build_extract_value(both, 0, "")?.into_int_value();
        let truth = builder.build_extract_value(both, 1, "")?.into_int_value();
        let number = builder.build_int_z_extend(number, wide, "")?;
        let truth = builder.build_int_z_extend(truth, wide, "")?;
        let truth = builder.build_left_shift(truth, wide.const_int(32, false), "")?;
        builder.build_return(Some(&builder.build_or(number, truth, "")?))?;
    } else if let Body::Assembly(text) = row.body {
        if signature != context.void_type().fn_type(&[], false) {
            return Ok(false);
        }
        builder.position_at_end(context.append_basic_block(function, ""));
        let assembly = context.create_inline_asm(signature, text.into(), String::new(), true, false, None, false);
        builder.build_indirect_call(signature, assembly, &[], "")?;
        builder.build_return(None)?;
    } else if let Body::Known(_) | Body::From(_) = row.body {
        let generic = context.ptr_type(AddressSpace::from(0));
        let param: BasicTypeEnum<'ctx> = match row.body {
            Body::Known(_) => generic.into(),
            _ => context.i64_type().into(),
        };
        if signature != generic.fn_type(&[param.into()], false) {
            return Ok(false);
        }
        // `infer` puts casts in place of its calls.
        set_pure(context, function);
        return Ok(true);
    } else if let Body::Dimensions(dimensions) = row.body {
        if signature != context.void_type().fn_type(&[], false) {
            return Ok(false);
        }
        builder.position_at_end(context.append_basic_block(function, ""));
        dimensions::assume(context, module, &builder, dimensions)?;
        builder.build_return(None)?;
    } else {
        if signature.get_return_type() != Some(context.i32_type().into()) {
            return Ok(false);
        }
        builder.position_at_end(context.append_basic_block(function, ""));
        let number = context.i32_type().const_int(u64::from(arch.number()) * 10, false);
        builder.build_return(Some(&number))?;
    }
    set_inline(context, function);
    Ok(true)
}

fn unknown(name: &str, function: FunctionValue<'_>, table: &Table, reason: &str) -> Diagnostic {
    let users = callers::users(&function, table);
    Diagnostic::error(Code::Intrinsic, format!("cannot use the intrinsic `{name}`: {reason}"))
        .at(users.span, "used here")
        .at_calls(users.calls)
        .help("use the same version of the crate `ptx` and of ptx-codegen; names of your own must not begin with `__ptx_`")
}
