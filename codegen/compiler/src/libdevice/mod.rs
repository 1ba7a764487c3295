//! The maths library: calls of mathematical functions, under whatever name, become calls of NVIDIA's libdevice, and of that
//! only what is called is linked in.
//!
//! Before: `%y = call float @llvm.sin.f32(float %x)`, or `@sinf`, or the crate `libm`'s `libm::math::sinf::sinf`. After:
//! `%y = call float @__nv_sinf(float %x)` with its body, and behind it `__nv_fast_sinf`, which functions with
//! `use_fast_math` get. [`specialize`] then answers per arch and per function what libdevice asks about modes.

mod adapters;
mod halves;
mod library;
mod names;
mod powers;
mod reflect;

use std::collections::{BTreeMap, HashSet};

use ptx_abi::{MATH_FALLBACK_PREFIX, MATH_PREFIX};

use crate::abi::Table;
use crate::callers::{self, Place};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::input;
use crate::llvm::{self, CallSiteValue, Context, FunctionValue, InstructionOpcode, Linkage, Module, Use};
use crate::marks;

use self::adapters::Adapters;
use self::library::Bitcode;
use self::names::{By, Function, Width};

pub use self::halves::fold;
pub use self::library::Library;
pub use self::reflect::specialize;

/// Calls and links the library. What the table imports, CUDA C++ is said to define.
pub fn link<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    library: &'ctx Library,
    files: &'ctx [input::File],
    table: &Table,
) -> Result<()> {
    let bitcode = match library {
        Library::Libdevice { path, bytes } => Some(Bitcode::parse(context, path, bytes.as_slice())?),
        Library::Libm => None,
    };
    let fallback = match bitcode {
        Some(_) => HashSet::new(),
        None => input::definitions(context, files, MATH_FALLBACK_PREFIX)?,
    };
    powers::multiply(context, module)?;
    let adapters = Adapters::default();
    let mut linker = Linker { context, module, table, bitcode, fallback, adapters, problems: Vec::new() };
    let replacements = linker.replacements(&table.imported());
    linker.problems.extend(wide_floats(module, table));
    let Linker { bitcode, adapters, problems, .. } = linker;
    if !problems.is_empty() {
        return Err(problems.into());
    }
    for (function, symbol) in replacements {
        replace(context, module, function, &symbol);
    }
    adapters.build(context, module).map_err(|error| {
        Diagnostic::error(Code::LlvmFailed, format!("cannot adapt a mathematical function: {error}"))
    })?;
    match bitcode {
        Some(bitcode) => {
            bitcode.link_into(module, context)?;
            mark(context, module);
        }
        None => input::link_wanted(context, files, module)?,
    }
    hide(module);
    Ok(())
}

/// What is to be replaced, by the name of what takes its place.
type Replacements<'ctx> = Vec<(FunctionValue<'ctx>, String)>;

struct Linker<'a, 'ctx> {
    context: &'ctx Context,
    module: &'a Module<'ctx>,
    table: &'a Table,
    bitcode: Option<Bitcode<'ctx>>,
    /// What the crate `ptx` has of `libm`.
    fallback: HashSet<String>,
    adapters: Adapters<'ctx>,
    problems: Vec<Diagnostic>,
}

impl<'ctx> Linker<'_, 'ctx> {
    fn replacements(&mut self, imported: &HashSet<&str>) -> Replacements<'ctx> {
        let mut found = Vec::new();
        for function in llvm::functions(self.module) {
            if llvm::uses(&function).is_empty() {
                continue;
            }
            let name = function.get_name().to_string_lossy().into_owned();
            let symbol = if name.starts_with("llvm.") {
                self.intrinsic(function, &name)
            } else if function.count_basic_blocks() > 0 {
                self.of_crate_libm(function, &name)
            } else if imported.contains(name.as_str()) {
                None
            } else {
                self.declared(function, &name)
            };
            found.extend(symbol.filter(|symbol| *symbol != name).map(|symbol| (function, symbol)));
        }
        found
    }

    /// LLVM's intrinsics: every type of float, and vectors.
    fn intrinsic(&mut self, function: FunctionValue<'ctx>, name: &str) -> Option<String> {
        let known = names::of_intrinsic(name)?;
        let first = function.get_type().get_param_types().into_iter().next()?;
        // What has no width is refused with all that computes in such types.
        let width = adapters::width_of(first.try_into().ok()?)?;
        self.adapted(function, name, known, width)
    }

    /// A function of the crate `libm`, whose own body is as slow as a GPU without libdevice.
    fn of_crate_libm(&mut self, function: FunctionValue<'ctx>, name: &str) -> Option<String> {
        if self.bitcode.is_none() || !name.contains("libm") {
            return None;
        }
        let (known, width) = names::of_libm(&format!("{:#}", rustc_demangle::demangle(name)))?;
        self.adapted(function, name, known, width)
    }

    /// C's names, ours, and libdevice's own.
    fn declared(&mut self, function: FunctionValue<'ctx>, name: &str) -> Option<String> {
        let libdevices = name.strip_prefix("__nv_");
        let known = match (name.strip_prefix(MATH_PREFIX), libdevices) {
            (Some(name), _) => names::of_c(name),
            (_, Some(_)) if self.bitcode.as_ref().is_some_and(|bitcode| bitcode.has(name)) => return None,
            (_, Some(name)) => names::of_libdevice(name),
            _ => names::of_c(name),
        };
        let Some((known, width)) = known else {
            if libdevices.is_some() {
                self.problems.push(self.missing(function, name));
            }
            return None;
        };
        let (declared, wanted) = (function.get_type(), adapters::signature(self.context, known, width));
        if declared != wanted {
            let diagnostic = Diagnostic::error(
                Code::MathSignature,
                format!("`{name}` is declared with another signature than the mathematical function has"),
            );
            let users = callers::users(&function, self.table);
            let diagnostic = diagnostic
                .at(users.span, "used here")
                .at_calls(users.calls)
                .note(format!(
                    "LLVM's type of the declaration is `{}`, that of the function `{}`",
                    declared.print_to_string().to_string_lossy(),
                    wanted.print_to_string().to_string_lossy()
                ))
                .help(format!("declare it as CUDA does, or call the method of `ptx::math::Math` that does the same; a function of your own needs another name than `{name}`"));
            self.problems.push(diagnostic);
            return None;
        }
        self.target(function, known, width)
    }

    /// The name of a function that has `function`'s own type.
    fn adapted(
        &mut self,
        function: FunctionValue<'ctx>,
        name: &str,
        known: &'static Function,
        width: Width,
    ) -> Option<String> {
        let target = self.target(function, known, width)?;
        if function.get_type() == adapters::signature(self.context, known, width) {
            return Some(target);
        }
        let adapter = format!("{MATH_PREFIX}{}.{name}", known.stem);
        self.adapters.adapt(self.context, &adapter, function.get_type(), (known, width), target).then_some(adapter)
    }

    /// The name of what computes a function with C's signature.
    fn target(&mut self, user: FunctionValue<'ctx>, function: &'static Function, width: Width) -> Option<String> {
        let c_name = function.c_name(width);
        if let By::Llvm(intrinsic) = function.by {
            return Some(format!("{intrinsic}.{}", width.suffix()));
        }
        let Some(bitcode) = &self.bitcode else {
            let name = format!("{MATH_FALLBACK_PREFIX}{c_name}");
            if self.fallback.contains(&name) {
                return Some(name);
            }
            self.problems.push(self.missing(user, &c_name));
            return None;
        };
        let ours = format!("{MATH_PREFIX}{c_name}");
        match function.by {
            By::Twin(_) if width == Width::Single && bitcode.has(&format!("__nv_fast_{c_name}")) => {
                self.adapters.choose(&ours, function);
                Some(ours)
            }
            By::Ours => {
                self.adapters.define_ours(&ours, function, width);
                Some(ours)
            }
            By::Libdevice(stem) | By::Twin(stem) => {
                let name = format!("__nv_{stem}{}", if width == Width::Single { "f" } else { "" });
                if !bitcode.has(&name) {
                    self.problems.push(self.missing(user, &name));
                    return None;
                }
                Some(name)
            }
            By::Llvm(_) => None,
        }
    }

    fn missing(&self, user: FunctionValue<'ctx>, name: &str) -> Diagnostic {
        let users = callers::users(&user, self.table);
        let diagnostic =
            Diagnostic::error(Code::MathMissing, format!("nothing computes the mathematical function `{name}`"))
                .at(users.span, "used here")
                .at_calls(users.calls);
        if self.bitcode.is_some() {
            return diagnostic
                .note("NVIDIA's libdevice does not have it")
                .help("see `ptx::math::Math` for the functions that there are");
        }
        let diagnostic = if self.fallback.is_empty() {
            diagnostic
                .note("NVIDIA's libdevice was not found, and without the crate `ptx` there is nothing in its place")
                .help("add the crate `ptx` to the dependencies: it brings the crate `libm`")
        } else {
            diagnostic.note("NVIDIA's libdevice was not found or not wanted, and the crate `libm`, which serves in its place, does not have it")
        };
        diagnostic.help("install libdevice with `cargo ptx setup` or a CUDA toolkit, or name it by `--libdevice=PATH`; `cargo ptx doctor` says where it was looked for")
    }
}

/// Puts `symbol` in a function's place, everywhere.
fn replace<'ctx>(context: &'ctx Context, module: &Module<'ctx>, function: FunctionValue<'ctx>, symbol: &str) {
    if function.get_intrinsic_id() != 0 {
        // The library's functions have branches.
        llvm::freeze_arguments(&context.create_builder(), function);
    }
    for user in llvm::uses(&function) {
        // What only one crate saw may be called by another convention.
        if let Use::Instruction(instruction) = user
            && let Ok(call) = CallSiteValue::try_from(instruction)
            && call.get_called_fn_value() == Some(function)
        {
            call.set_call_convention(0);
        }
    }
    let target = module.get_function(symbol).unwrap_or_else(|| module.add_function(symbol, function.get_type(), None));
    function.replace_all_uses_with(target);
    // SAFETY: the other is used in its place; its handle in the list of replacements is the last.
    unsafe { llvm::delete_function(function) };
}

/// Marks libdevice's own functions.
fn mark(context: &Context, module: &Module<'_>) {
    llvm::functions(module)
        .filter(|function| function.count_basic_blocks() > 0)
        .filter(|function| function.get_name().to_bytes().starts_with(b"__nv_") || is_internal(*function))
        .for_each(|function| marks::set_of_libdevice(context, function));
}

/// `__internal_accurate_pow` and its kin.
fn is_internal(function: FunctionValue<'_>) -> bool {
    function.get_name().to_bytes().starts_with(b"__internal_")
}

/// Hides what was linked: nothing outside may call it.
fn hide(module: &Module<'_>) {
    for function in llvm::functions(module).filter(|function| function.count_basic_blocks() > 0) {
        if function.get_linkage() == Linkage::LinkOnceODR {
            function.set_linkage(Linkage::Internal);
            function.as_global_value().set_visibility(llvm::GlobalVisibility::Default);
        }
    }
    for global in llvm::globals(module).filter(|global| !global.is_declaration()) {
        if global.get_linkage() == Linkage::LinkOnceODR {
            global.set_linkage(Linkage::Internal);
            global.set_visibility(llvm::GlobalVisibility::Default);
        }
    }
}

/// Refuses arithmetic in floats of more than 64 bits, at the first place in every function.
fn wide_floats(module: &Module<'_>, table: &Table) -> Vec<Diagnostic> {
    let mut found = BTreeMap::new();
    for function in llvm::functions(module) {
        let wide = llvm::instructions(function).find(|instruction| {
            let is_moved = matches!(
                instruction.get_opcode(),
                InstructionOpcode::Load | InstructionOpcode::Store | InstructionOpcode::Phi | InstructionOpcode::Return
            );
            !is_moved && llvm::has_wide_float(*instruction)
        });
        if let Some(instruction) = wide {
            let name = format!("{:#}", rustc_demangle::demangle(&function.get_name().to_string_lossy()));
            found.insert(name, callers::place(instruction, table));
        }
    }
    let refuse = |(name, place): (String, Place)| {
        let nowhere = place.span.is_none();
        let problem = Diagnostic::error(Code::MathUnsupported, "the program computes with floats of more than 64 bits")
            .at(place.span, "this needs `f128`")
            .at_calls(place.calls)
            .note("GPUs compute in `f64` and narrower types")
            .help("use `f64`, or two of them where more than 53 bits are needed");
        if nowhere { problem.note(format!("it does so in `{name}`")) } else { problem }
    };
    found.into_iter().map(refuse).collect()
}
