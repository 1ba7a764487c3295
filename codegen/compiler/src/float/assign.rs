//! Says of every function which modes it has, and makes copies of those that are called under several.
//!
//! ```text
//! before: @kernel   calls @dot
//!         @dot      calls @__ptx_float_modes(<fmad = false>), @step
//!         @other    calls @step                      (the build has fmad)
//! after:  @kernel   "ptx-float"="ds"   calls @dot    (a shim takes over the modes of its function)
//!         @dot      "ptx-float"="ds"   calls @step.ds
//!         @step.ds  "ptx-float"="ds"
//!         @other    "ptx-float"="mds"  calls @step
//!         @step     "ptx-float"="mds"
//! ```
//!
//! A mode holds for all that runs while the function runs, so that it does not matter what LLVM or rustc inlines. Only what
//! is called through a pointer has the build's modes: it is not known who calls it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use ptx_abi::SHIM;

use ptx_abi::float::{Modes, Overrides};

use super::operations::is_affected;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::interface::Interface;
use crate::llvm::{
    self, Attribute, AttributeLoc, BasicValueEnum, Context, FunctionValue, InstructionValue, Linkage, Module, Use,
};
use crate::marks::{encode, set_modes};

/// Takes the markers away, copies functions, and gives every function that computes its modes.
pub fn assign<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    interface: &Interface<'ctx>,
    build: Modes,
) -> Result<()> {
    let marked = take_markers(module)?;
    if marked.is_empty() {
        let all = llvm::functions(module).filter(|f| f.count_basic_blocks() > 0);
        if build != Modes::DEFAULT {
            all.for_each(|function| set_modes(context, function, build));
        }
        return Ok(());
    }
    let mut program = Program::new(module, marked, build);
    program.take_over(interface);
    program.spread();
    let copies = program.copies();
    for (modes, functions) in &copies {
        let name = |name: &str| functions.contains(name).then(|| copy_name(name, *modes));
        llvm::copy_functions(context, module, name).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot copy functions for other modes: {}", error.0))
        })?;
    }
    program.redirect(context, module, &copies);
    Ok(())
}

fn copy_name(name: &str, modes: Modes) -> String {
    format!("{name}.float_{}", encode(modes))
}

/// What the functions with a marker say; the markers go.
fn take_markers(module: &Module<'_>) -> Result<HashMap<String, Overrides>> {
    let Some(marker) = module.get_function(ptx_abi::float::MARKER) else { return Ok(HashMap::new()) };
    let mut marked = HashMap::new();
    let mut problems = Vec::new();
    for user in llvm::uses(&marker) {
        let Use::Instruction(call) = user else {
            problems.push(misused(None));
            continue;
        };
        let function = call.get_parent().and_then(llvm::BasicBlock::get_parent);
        match (overrides(call), function) {
            (Some(overrides), Some(function)) if llvm::called_function(call) == Some(marker) => {
                call.erase_from_basic_block();
                // rustc had to leave the function whole, LLVM need not.
                llvm::allow_inlining(function);
                // It would break the bounds of modes that LLVM's inliner keeps to.
                remove(function, "alwaysinline");
                marked.insert(name(function), overrides);
            }
            _ => problems.push(misused(Some(call))),
        }
    }
    if !problems.is_empty() {
        return Err(problems.into());
    }
    // SAFETY: all calls of it were erased, and this is its only handle.
    unsafe { llvm::delete_function(marker) };
    Ok(marked)
}

fn overrides(call: InstructionValue<'_>) -> Option<Overrides> {
    match call.get_operand(0)?.value()? {
        BasicValueEnum::IntValue(value) => Overrides::decode(u32::try_from(value.get_zero_extended_constant()?).ok()?),
        _ => None,
    }
}

fn misused(call: Option<InstructionValue<'_>>) -> Diagnostic {
    let marker = ptx_abi::float::MARKER;
    Diagnostic::error(
        Code::Intrinsic,
        format!("cannot read `{marker}`: it is called in another way than `#[ptx::float]` does"),
    )
    .at(call.and_then(|call| llvm::source_span(call)), "used here")
    .help("use the same version of the crate `ptx` and of ptx-codegen, and say modes by `#[ptx::float(..)]` alone")
}

/// The functions with bodies, and what is known of each by name.
struct Program {
    build: Modes,
    marked: HashMap<String, Overrides>,
    /// Who calls whom, directly.
    calls: BTreeMap<String, BTreeSet<String>>,
    /// Modes make a difference to what it, or something it calls, computes.
    affected: HashSet<String>,
    /// Called from outside, or through a pointer.
    entered: BTreeSet<String>,
    /// The modes that each runs under.
    instances: BTreeMap<String, BTreeSet<Modes>>,
}

impl Program {
    fn new(module: &Module<'_>, marked: HashMap<String, Overrides>, build: Modes) -> Self {
        let mut program = Self {
            build,
            marked,
            calls: BTreeMap::new(),
            affected: HashSet::new(),
            entered: BTreeSet::new(),
            instances: BTreeMap::new(),
        };
        for function in llvm::functions(module).filter(|f| f.count_basic_blocks() > 0) {
            let mut calls = BTreeSet::new();
            for instruction in llvm::instructions(function) {
                if let Some(callee) = llvm::called_function(instruction).filter(|f| f.count_basic_blocks() > 0) {
                    calls.insert(name(callee));
                }
                if is_affected(instruction) {
                    program.affected.insert(name(function));
                }
            }
            program.calls.insert(name(function), calls);
            let local = matches!(function.get_linkage(), Linkage::Internal | Linkage::Private);
            if !local || is_address_taken(function) {
                program.entered.insert(name(function));
            }
        }
        program.affect_callers();
        program
    }

    fn affect_callers(&mut self) {
        let mut callers: HashMap<&str, Vec<&str>> = HashMap::new();
        for (caller, callees) in &self.calls {
            callees.iter().for_each(|callee| callers.entry(callee).or_default().push(caller));
        }
        let mut pending: Vec<String> = self.affected.iter().cloned().collect();
        while let Some(function) = pending.pop() {
            for caller in callers.get(function.as_str()).into_iter().flatten() {
                if self.affected.insert((*caller).to_string()) {
                    pending.push((*caller).to_string());
                }
            }
        }
    }

    /// Gives kernels and exported functions, which the compiler wrote, the modes of the shims that they call, which have
    /// those of the functions that the user wrote: LLVM would not inline the one into the other otherwise.
    fn take_over(&mut self, interface: &Interface<'_>) {
        for described in interface.definitions() {
            if let Some(overrides) = self.of_shim(&described.symbol) {
                self.marked.entry(described.symbol.clone()).or_insert(overrides);
            }
        }
    }

    /// What the shim says that an entry calls, perhaps through a wrapper. Not what the shim itself calls: rustc may have
    /// inlined the user's function into it, and that calls whatever it calls.
    fn of_shim(&self, entry: &str) -> Option<Overrides> {
        let mut caller = entry;
        for _ in 0..4 {
            let callees = self.calls.get(caller)?;
            caller = callees.iter().find(|callee| is_shim(callee)).or_else(|| callees.first())?;
            if is_shim(caller) {
                return self.marked.get(caller).copied();
            }
        }
        None
    }

    /// The modes that a function has when it is called under `caller`'s.
    fn under(&self, function: &str, caller: Modes) -> Modes {
        self.marked.get(function).map_or(caller, |overrides| overrides.apply(caller))
    }

    fn spread(&mut self) {
        let mut pending: Vec<(String, Modes)> =
            self.entered.iter().map(|function| (function.clone(), self.under(function, self.build))).collect();
        while let Some((function, modes)) = pending.pop() {
            if !self.affected.contains(&function) || !self.instances.entry(function.clone()).or_default().insert(modes)
            {
                continue;
            }
            for callee in self.calls.get(&function).into_iter().flatten() {
                pending.push((callee.clone(), self.under(callee, modes)));
            }
        }
    }

    /// The modes of the function that keeps the name; the others are copies.
    fn own(&self, function: &str) -> Option<Modes> {
        let instances = self.instances.get(function)?;
        let build = self.under(function, self.build);
        if instances.contains(&build) { Some(build) } else { instances.first().copied() }
    }

    fn copies(&self) -> BTreeMap<Modes, BTreeSet<String>> {
        let mut copies: BTreeMap<Modes, BTreeSet<String>> = BTreeMap::new();
        for (function, instances) in &self.instances {
            for modes in instances.iter().filter(|modes| Some(**modes) != self.own(function)) {
                copies.entry(*modes).or_default().insert(function.clone());
            }
        }
        copies
    }

    /// Sets the modes of every function and copy, and has each call go to the copy that runs under the caller's.
    fn redirect<'ctx>(
        &self,
        context: &'ctx Context,
        module: &Module<'ctx>,
        copies: &BTreeMap<Modes, BTreeSet<String>>,
    ) {
        // Name in the module → the function as it was written.
        let mut sources: HashMap<String, &str> = HashMap::new();
        let mut bodies: Vec<(FunctionValue<'ctx>, Modes)> = Vec::new();
        for function in self.instances.keys() {
            sources.insert(function.clone(), function);
            if let (Some(value), Some(modes)) = (module.get_function(function), self.own(function)) {
                bodies.push((value, modes));
            }
        }
        for (modes, functions) in copies {
            for function in functions {
                let copy = copy_name(function, *modes);
                if let Some(value) = module.get_function(&copy) {
                    value.set_linkage(Linkage::Internal);
                    bodies.push((value, *modes));
                }
                sources.insert(copy, function);
            }
        }
        let instance = |source: &str, modes: Modes| {
            if self.own(source) == Some(modes) {
                module.get_function(source)
            } else {
                module.get_function(&copy_name(source, modes))
            }
        };
        // Whatever computes nothing has no modes; a kernel is still shown with some.
        for function in llvm::functions(module).filter(|f| f.count_basic_blocks() > 0) {
            let name = name(function);
            if function.get_linkage() == Linkage::External && !self.instances.contains_key(&name) {
                set_modes(context, function, self.under(&name, self.build));
            }
        }
        for (function, modes) in bodies {
            set_modes(context, function, modes);
            if self.entered.contains(&name(function)) {
                // A pointer to it may turn out to be called under other modes.
                remove(function, "alwaysinline");
            }
            for instruction in llvm::instructions(function) {
                let callee = llvm::called_function(instruction);
                let operands: Vec<_> = llvm::function_operands(instruction).collect();
                let last = operands.len();
                for (position, (index, operand)) in operands.into_iter().enumerate() {
                    let Some(source) = sources.get(&name(operand)).copied() else { continue };
                    let is_callee = callee == Some(operand) && position + 1 == last;
                    let modes = if is_callee { self.under(source, modes) } else { self.under(source, self.build) };
                    if let Some(wanted) = instance(source, modes).filter(|wanted| *wanted != operand) {
                        llvm::set_function_operand(instruction, index, wanted);
                    }
                }
            }
        }
    }
}

fn name(function: FunctionValue<'_>) -> String {
    function.get_name().to_string_lossy().into_owned()
}

fn remove(function: FunctionValue<'_>, attribute: &str) {
    function.remove_enum_attribute(AttributeLoc::Function, Attribute::get_named_enum_kind_id(attribute));
}

/// Whether it is used otherwise than by being called.
/// The macros' function around the user's.
fn is_shim(function: &str) -> bool {
    function.contains(SHIM)
}

fn is_address_taken(function: FunctionValue<'_>) -> bool {
    llvm::uses(&function).into_iter().any(|user| match user {
        Use::Instruction(instruction) => {
            llvm::called_function(instruction) != Some(function)
                || llvm::function_operands(instruction).filter(|(_, operand)| *operand == function).count() > 1
        }
        Use::Global(_) => true,
    })
}

#[cfg(test)]
#[path = "assign_tests.rs"]
mod tests;
