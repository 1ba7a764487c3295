//! Gives every place that can panic the strategy of the crate that it stands in.
//!
//! A place that panics is one that makes a `Location`: what is `#[track_caller]`, as `unwrap` and indexing are, gets it from
//! its caller as a last parameter. So the panic in `unwrap` belongs to the crate that calls `unwrap`, and functions that hand
//! a location on exist once for each strategy that their callers have.
//!
//! ```text
//! before: @user::f   calls @core::option::unwrap(…, ptr @location)
//!         @core::option::unwrap(…, ptr %location)   calls @core::option::unwrap_failed(ptr %location)
//! after, where `user` has `location` and the build `full`:
//!         @user::f   calls @core::option::unwrap.panic_location(…, ptr @location)
//!         @core::option::unwrap.panic_location(…, ptr %location)   calls @__rust_ptx_panic_at(ptr %location)
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, AddressSpace, Attribute, AttributeLoc, BasicValueEnum, BuilderError, Context, FunctionValue,
    InstructionValue, Intrinsic, Linkage, Module, PointerValue,
};
use crate::marks::AT_LOCATION;
use crate::request::{PanicStrategy, Panics};

/// Where a location stops being handed on; it is the last parameter.
pub const SINKS: [&str; 2] = ["core::panicking::panic_fmt", "core::panicking::panic_nounwind_fmt"];

/// The same, of the runtime.
pub const BOUNDS_CHECK: &str = "__ptx_rt_panic_bounds_check";

/// A failed allocation, which has no location.
pub const ALLOCATION: &str = "__ptx_rt_alloc_error";

/// Crates whose functions that never return do nothing but panic.
const LIBRARIES: [&str; 3] = ["core", "alloc", "compiler_builtins"];

/// Puts strategies into effect; without options nothing changes.
pub fn assign<'ctx>(context: &'ctx Context, module: &Module<'ctx>, panics: &Panics) -> Result<()> {
    if panics.are_full() {
        return Ok(());
    }
    let program = Program::new(module, panics);
    let copies = program.copies(module);
    for (strategy, functions) in &copies {
        let name = |name: &str| functions.contains(name).then(|| copy_name(name, *strategy));
        llvm::copy_functions(context, module, name).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot copy functions for other panics: {}", error.0))
        })?;
        for function in functions.iter().filter_map(|name| module.get_function(&copy_name(name, *strategy))) {
            function.set_linkage(Linkage::Internal);
        }
    }
    program
        .redirect(context, module)
        .map_err(|error| Diagnostic::error(Code::LlvmFailed, format!("cannot write a panic: {error}")).into())
}

fn copy_name(name: &str, strategy: PanicStrategy) -> String {
    format!("{name}.panic_{}", strategy.name())
}

/// The function as it was written, and the strategy of this copy of it.
fn source(name: &str, default: PanicStrategy) -> (&str, PanicStrategy) {
    for strategy in [PanicStrategy::Full, PanicStrategy::Location, PanicStrategy::Trap] {
        if let Some(source) = name.strip_suffix(strategy.name()).and_then(|name| name.strip_suffix(".panic_")) {
            return (source, strategy);
        }
    }
    (name, default)
}

/// What hands locations on.
struct Program<'a> {
    panics: &'a Panics,
    /// The number of the parameter that is the location, by function.
    tracked: HashMap<String, usize>,
}

impl<'a> Program<'a> {
    fn new(module: &Module<'_>, panics: &'a Panics) -> Self {
        let mut program = Self { panics, tracked: HashMap::new() };
        for function in llvm::functions(module) {
            let name = name(function);
            let is_sink = name == BOUNDS_CHECK
                || name.contains("panic") && SINKS.contains(&format!("{:#}", rustc_demangle::demangle(&name)).as_str());
            if let Some(last) = (function.count_params() as usize).checked_sub(1).filter(|_| is_sink) {
                program.tracked.insert(name, last);
            }
        }
        let bodies: Vec<_> = llvm::functions(module).filter(|f| f.count_basic_blocks() > 0).collect();
        loop {
            let before = program.tracked.len();
            for &function in &bodies {
                let name = name(function);
                if program.tracked.contains_key(&name) {
                    continue;
                }
                let handed_on = llvm::instructions(function)
                    .find_map(|call| llvm::param_index(program.location_of(llvm::called_function(call)?, call)?));
                program.tracked.extend(handed_on.map(|index| (name, index)));
            }
            if program.tracked.len() == before {
                return program;
            }
        }
    }

    /// The location that a call hands over.
    fn location_of<'ctx>(
        &self,
        callee: FunctionValue<'ctx>,
        call: InstructionValue<'ctx>,
    ) -> Option<PointerValue<'ctx>> {
        let name = name(callee);
        let index = self.tracked.get(source(&name, self.panics.default).0)?;
        match call.get_operand(u32::try_from(*index).ok()?)?.value()? {
            BasicValueEnum::PointerValue(location) => Some(location),
            _ => None,
        }
    }

    /// The strategy of a call that hands over `location`, in a copy of `function` for `own`.
    fn strategy(
        &self,
        function: &str,
        own: PanicStrategy,
        call: InstructionValue<'_>,
        location: PointerValue<'_>,
    ) -> PanicStrategy {
        match (self.tracked.get(function), llvm::param_index(location)) {
            (Some(index), Some(param)) if *index == param => own,
            _ => self.panics.of(llvm::crate_of(call).as_deref()),
        }
    }

    /// The functions that are needed for other strategies than the build's.
    fn copies(&self, module: &Module<'_>) -> BTreeMap<PanicStrategy, BTreeSet<String>> {
        let mut copies: BTreeMap<PanicStrategy, BTreeSet<String>> = BTreeMap::new();
        let mut pending = Vec::new();
        let mut hands_on: HashMap<String, BTreeSet<String>> = HashMap::new();
        for function in llvm::functions(module).filter(|f| f.count_basic_blocks() > 0) {
            let own = name(function);
            for call in llvm::instructions(function) {
                let Some(callee) = llvm::called_function(call) else { continue };
                let Some(location) = self.location_of(callee, call) else { continue };
                if is_panic(callee) {
                    continue;
                }
                if self.tracked.get(&own).is_some_and(|index| llvm::param_index(location) == Some(*index)) {
                    hands_on.entry(own.clone()).or_default().insert(name(callee));
                } else {
                    pending.push((name(callee), self.strategy(&own, self.panics.default, call, location)));
                }
            }
        }
        while let Some((function, strategy)) = pending.pop() {
            if strategy != self.panics.default && copies.entry(strategy).or_default().insert(function.clone()) {
                let next = hands_on.get(&function).into_iter().flatten();
                pending.extend(next.map(|callee| (callee.clone(), strategy)));
            }
        }
        copies
    }

    /// Has every call go to the copy for its strategy, or be what the strategy makes of a panic.
    fn redirect<'ctx>(&self, context: &'ctx Context, module: &Module<'ctx>) -> Result<(), BuilderError> {
        let builder = context.create_builder();
        for function in llvm::functions(module).filter(|f| f.count_basic_blocks() > 0).collect::<Vec<_>>() {
            let this = name(function);
            let (this, own) = source(&this, self.panics.default);
            for call in llvm::instructions(function).collect::<Vec<_>>() {
                let Some(callee) = llvm::called_function(call) else { continue };
                let called = name(callee);
                if called == ALLOCATION {
                    if self.panics.of(llvm::crate_of(call).as_deref()) == PanicStrategy::Trap {
                        builder.position_before(&call);
                        builder.build_call(trap(module), &[], "")?;
                        call.erase_from_basic_block();
                    }
                    continue;
                }
                let Some(location) = self.location_of(callee, call) else { continue };
                let strategy = self.strategy(this, own, call, location);
                if is_panic(callee) {
                    match strategy {
                        PanicStrategy::Full => continue,
                        PanicStrategy::Location => {
                            builder.position_before(&call);
                            builder.build_call(at_location(context, module), &[location.into()], "")?;
                        }
                        PanicStrategy::Trap => {
                            builder.position_before(&call);
                            builder.build_call(trap(module), &[], "")?;
                        }
                    }
                    call.erase_from_basic_block();
                    continue;
                }
                let source = source(&called, self.panics.default).0;
                let wanted =
                    if strategy == self.panics.default { source.to_string() } else { copy_name(source, strategy) };
                let callee = llvm::function_operands(call).last();
                if let (Some((index, callee)), Some(wanted)) = (callee, module.get_function(&wanted))
                    && callee != wanted
                {
                    llvm::set_function_operand(call, index, wanted);
                }
            }
        }
        Ok(())
    }
}

/// Whether a call of it is a panic and nothing else.
fn is_panic(function: FunctionValue<'_>) -> bool {
    let noreturn = Attribute::get_named_enum_kind_id("noreturn");
    function.get_enum_attribute(AttributeLoc::Function, noreturn).is_some()
        && (name(function) == BOUNDS_CHECK
            || llvm::crate_of_function(function).is_some_and(|name| LIBRARIES.contains(&name.as_str())))
}

/// What panics where nothing is left behind.
pub fn trap<'ctx>(module: &Module<'ctx>) -> FunctionValue<'ctx> {
    let trap = Intrinsic::find("llvm.trap").and_then(|intrinsic| intrinsic.get_declaration(module, &[]));
    trap.expect("LLVM has `llvm.trap`")
}

/// What panics where the place is all that is left behind.
pub fn at_location<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> FunctionValue<'ctx> {
    module.get_function(AT_LOCATION).unwrap_or_else(|| {
        let pointer = context.ptr_type(AddressSpace::default());
        let function = module.add_function(AT_LOCATION, context.void_type().fn_type(&[pointer.into()], false), None);
        for attribute in ["noreturn", "cold", "nounwind", "noinline"] {
            let kind = Attribute::get_named_enum_kind_id(attribute);
            function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, 0));
        }
        function
    })
}

fn name(function: FunctionValue<'_>) -> String {
    function.get_name().to_string_lossy().into_owned()
}
