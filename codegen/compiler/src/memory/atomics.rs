//! Writes atomic instructions as PTX has them.
//!
//! LLVM 22 drops ordering and scope of every `atomicrmw`, gives sequentially consistent compare-exchanges less than the
//! ABI asks for, looks for a narrow value's word with an ordinary load, and gives up on some combinations altogether.
//! So all of them become calls of functions of our own ([`bodies`](super::bodies)), which are inlined:
//!
//! ```text
//! before: %old = atomicrmw add ptr addrspace(1) %p, i32 1 syncscope("device") seq_cst
//! after:  fence syncscope("device") seq_cst
//!         %old = call i32 asm sideeffect "atom.acq_rel.gpu.global.add.u32 $0, [$1], $2;", …
//! ```
//!
//! Loads and stores of up to 64 bits at known addresses stay LLVM's: it writes those as the ABI asks.

use super::bodies::{self, Key, Operation};
use super::mapping::{self, Order, Scope, Space, Type};
use super::pointers;
use super::reductions;
use crate::abi::Table;
use crate::arch::Arch;
use crate::callers;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, AddressSpace, AtomicOrdering, Atomicity, BasicMetadataValueEnum, BasicTypeEnum, BasicValueEnum, Builder,
    BuilderError, Context, InstructionOpcode, InstructionValue, Module, PointerValue, TargetMachine,
};
use crate::request::OptLevel;

/// Gives every atomic instruction its ordering and scope in PTX; after optimising.
pub fn order<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    machine: &TargetMachine,
    table: &Table,
    arch: Arch,
    level: OptLevel,
) -> Result<()> {
    if level != OptLevel::O0 {
        // Also where there is no atomic instruction: what comes next does more with addresses whose space is known, and one
        // kernel's code must not depend on another's.
        pointers::assume_global(context, module).map_err(|error| bug(&error))?;
        // Code generation begins with the first of these; statics have an address space from then on.
        run(module, machine, "generic-to-nvvm,function(infer-address-spaces)")?;
    }
    if atomics(module).is_empty() {
        return Ok(());
    }
    let stage = Stage { context, module, builder: context.create_builder(), scopes: Scopes::new(context), arch };
    let mut problems = Vec::new();
    for instruction in atomics(module) {
        match stage.refuse(instruction, table) {
            Some(problem) => problems.push(problem),
            None => stage.rewrite(instruction).map_err(|error| bug(&error))?,
        }
    }
    if !problems.is_empty() {
        return Err(problems.into());
    }
    run(module, machine, "always-inline,globaldce")?;
    if level != OptLevel::O0 {
        // A cast of an old value is a use of it.
        run(module, machine, "function(dce)")?;
        reductions::reduce(context, module).map_err(|error| bug(&error))?;
    }
    Ok(())
}

fn atomics<'ctx>(module: &Module<'ctx>) -> Vec<InstructionValue<'ctx>> {
    let all = llvm::functions(module).flat_map(llvm::instructions);
    all.filter(|instruction| llvm::atomicity(*instruction).is_some()).collect()
}

fn run(module: &Module<'_>, machine: &TargetMachine, pipeline: &str) -> Result<()> {
    llvm::run_passes(module, machine, pipeline).map_err(|error| {
        Diagnostic::error(Code::LlvmFailed, format!("LLVM's passes `{pipeline}` failed: {error}")).into()
    })
}

fn bug(error: &BuilderError) -> Diagnostic {
    Diagnostic::error(Code::LlvmFailed, format!("cannot write an atomic operation: {error}"))
}

/// LLVM's numbers of the scopes.
struct Scopes {
    single_thread: u32,
    all: [(u32, Scope); 4],
}

impl Scopes {
    fn new(context: &Context) -> Self {
        Self {
            single_thread: llvm::scope_id(context, "singlethread"),
            all: Scope::ALL.map(|scope| (llvm::scope_id(context, scope.llvm()), scope)),
        }
    }

    /// The scope of that number: the widest for those that are not PTX's.
    fn of(&self, number: u32) -> Scope {
        self.all.iter().find(|(of, _)| *of == number).map_or(Scope::System, |(_, scope)| *scope)
    }
}

struct Stage<'ctx, 'a> {
    context: &'ctx Context,
    module: &'a Module<'ctx>,
    builder: Builder<'ctx>,
    scopes: Scopes,
    arch: Arch,
}

/// What an instruction does, but for fences.
struct Access<'ctx> {
    operation: Operation,
    pointer: PointerValue<'ctx>,
    /// Operands after the pointer.
    values: Vec<BasicValueEnum<'ctx>>,
    order: Order,
    /// What it reads or writes; `None` for what no atomic of ours has.
    ty: Option<Type>,
}

impl<'ctx> Stage<'ctx, '_> {
    /// What the arch lacks.
    fn refuse(&self, instruction: InstructionValue<'ctx>, table: &Table) -> Option<Diagnostic> {
        let scope = self.scopes.of(llvm::atomicity(instruction)?.scope);
        let cluster = (scope == Scope::Cluster).then_some((90, "cluster scope"));
        let operation = access(instruction).and_then(|access| match (access.operation, access.ty?) {
            (Operation::Rmw(rmw), ty) => mapping::needs(Some(rmw), ty),
            (Operation::CompareExchange, ty) => mapping::needs(None, ty),
            (Operation::Load | Operation::Store, _) => None,
        });
        let (sm, what) = cluster.into_iter().chain(operation).find(|(sm, _)| self.arch.number() < *sm)?;
        let place = callers::place(instruction, table);
        let located = place.span.is_some();
        let mut problem = Diagnostic::error(Code::AtomicUnsupported, format!("{} has no {what}", self.arch))
            .at(place.span, format!("this needs sm_{sm}"))
            .at_calls(place.calls)
            .help(format!("compile for sm_{sm} or later (`--arch sm_{sm}`), or use another operation"));
        if !located {
            problem = problem.help("compile with `-C debuginfo=line-tables-only` to see the line");
        }
        Some(problem)
    }

    fn rewrite(&self, instruction: InstructionValue<'ctx>) -> Result<(), BuilderError> {
        let Some(atomicity) = llvm::atomicity(instruction) else { return Ok(()) };
        let Some(access) = access(instruction) else {
            return self.rewrite_fence(instruction, atomicity);
        };
        let number = llvm::address_space(access.pointer);
        let space = Space::of_llvm(number);
        let accesses_memory = matches!(access.operation, Operation::Load | Operation::Store);
        if accesses_memory {
            // What nobody else can write or see needs no order, and PTX has none for it.
            if matches!(space, Some(Space::Local) | None) && number != SHARED_CLUSTER {
                llvm::set_atomicity(instruction, Atomicity { ordering: AtomicOrdering::NotAtomic, scope: 0 });
                return Ok(());
            }
            let known = matches!(space, Some(Space::Global | Space::Shared));
            if known && access.ty.is_some_and(|ty| ty.bits() < 128) {
                return Ok(());
            }
        }
        let Some(ty) = access.ty else { return Ok(()) };
        self.builder.position_before(&instruction);
        let mut pointer = access.pointer;
        if space.is_none() {
            let generic = self.context.ptr_type(AddressSpace::from(0));
            pointer = self.builder.build_address_space_cast(pointer, generic, "")?;
        }
        let space = space.unwrap_or(Space::Generic);
        let scope = self.scopes.of(atomicity.scope);
        let key = Key { operation: access.operation, ty, order: access.order, scope, space };
        let mut arguments: Vec<BasicMetadataValueEnum<'ctx>> = vec![pointer.into()];
        for value in &access.values {
            arguments.push(self.pass(*value, ty)?.into());
        }
        let function = bodies::function(self.context, self.module, key)?;
        let result = self.builder.build_call(function, &arguments, "")?.try_as_basic_value().basic();
        if let Some(result) = result {
            self.replace(instruction, result)?;
        }
        instruction.erase_from_basic_block();
        Ok(())
    }

    /// The value as the function takes it.
    fn pass(&self, value: BasicValueEnum<'ctx>, ty: Type) -> Result<BasicValueEnum<'ctx>, BuilderError> {
        let passed = bodies::llvm_type(self.context, ty);
        match value {
            BasicValueEnum::PointerValue(pointer) => {
                Ok(self.builder.build_ptr_to_int(pointer, passed.into_int_type(), "")?.into())
            }
            value => self.builder.build_bit_cast(value, passed, ""),
        }
    }

    /// Puts the function's result in the instruction's place.
    fn replace(&self, instruction: InstructionValue<'ctx>, result: BasicValueEnum<'ctx>) -> Result<(), BuilderError> {
        let old = llvm::result(instruction);
        let new = match (old, result) {
            (BasicValueEnum::StructValue(old), BasicValueEnum::StructValue(new))
                if old.get_type() != new.get_type() =>
            {
                let value = self.builder.build_extract_value(new, 0, "")?;
                let same = self.builder.build_extract_value(new, 1, "")?;
                let BasicTypeEnum::PointerType(ty) = old.get_type().get_field_type_at_index(0).expect("it has two")
                else {
                    unreachable!("compare-exchanges are on integers and pointers")
                };
                let value = self.builder.build_int_to_ptr(value.into_int_value(), ty, "")?;
                let pair = self.builder.build_insert_value(old.get_type().get_undef(), value, 0, "")?;
                self.builder.build_insert_value(pair, same, 1, "")?.into_struct_value().into()
            }
            (BasicValueEnum::PointerValue(old), new) => {
                self.builder.build_int_to_ptr(new.into_int_value(), old.get_type(), "")?.into()
            }
            (old, new) => self.builder.build_bit_cast(new, old.get_type(), "")?,
        };
        llvm::replace_uses(instruction, new);
        Ok(())
    }

    /// A fence between a thread and itself (`compiler_fence`) holds back the compiler alone; LLVM 22 gives up on it. The
    /// others are `fence.acq_rel` or `fence.sc`, as nvcc has them: LLVM writes `fence.acquire` where PTX ISA 8.6 is asked for.
    fn rewrite_fence(&self, fence: InstructionValue<'ctx>, atomicity: Atomicity) -> Result<(), BuilderError> {
        if atomicity.scope == self.scopes.single_thread {
            self.builder.position_before(&fence);
            let ty = self.context.void_type().fn_type(&[], false);
            let nothing =
                self.context.create_inline_asm(ty, String::new(), "~{memory}".into(), true, false, None, false);
            self.builder.build_indirect_call(ty, nothing, &[], "")?;
            fence.erase_from_basic_block();
        } else if matches!(atomicity.ordering, AtomicOrdering::Acquire | AtomicOrdering::Release) {
            self.builder.position_before(&fence);
            llvm::build_fence(&self.builder, Atomicity { ordering: AtomicOrdering::AcquireRelease, ..atomicity });
            fence.erase_from_basic_block();
        }
        Ok(())
    }
}

/// LLVM's number of the address space of the cluster's shared memory.
const SHARED_CLUSTER: u32 = 7;

/// What an atomic instruction does; `None` for a fence.
fn access(instruction: InstructionValue<'_>) -> Option<Access<'_>> {
    use InstructionOpcode as Op;
    let ordering = llvm::atomicity(instruction)?.ordering;
    let operand = |index| instruction.get_operand(index).and_then(|operand| operand.value());
    let (operation, pointer, first, count, order) = match instruction.get_opcode() {
        Op::Load => (Operation::Load, 0, 0, 0, Order::of_load(ordering)),
        Op::Store => (Operation::Store, 1, 0, 1, Order::of_store(ordering)),
        Op::AtomicRMW => (Operation::Rmw(llvm::rmw_operation(instruction)), 0, 1, 1, Order::of_rmw(ordering)),
        Op::AtomicCmpXchg => {
            let order = Order::of_compare_exchange(ordering, llvm::failure_ordering(instruction));
            (Operation::CompareExchange, 0, 1, 2, order)
        }
        _ => return None,
    };
    let BasicValueEnum::PointerValue(pointer) = operand(pointer)? else { return None };
    let values: Vec<_> = (first..first + count).filter_map(operand).collect();
    let value = values.first().copied().unwrap_or_else(|| llvm::result(instruction));
    let ty = type_of(value.get_type(), matches!(operation, Operation::Rmw(_)));
    Some(Access { operation, pointer, values, order, ty })
}

/// What an operation on values of that LLVM type is done on: as floats if it computes with them, else as bits.
fn type_of(ty: BasicTypeEnum<'_>, computes: bool) -> Option<Type> {
    let bits = u32::try_from(llvm::type_align(ty).0 * 8).ok().filter(|bits| matches!(bits, 8 | 16 | 32 | 64 | 128))?;
    let float = |ty: llvm::FloatType<'_>| match (bits, is_bf16(ty)) {
        (16, true) => Type::Bf16,
        (16, false) => Type::F16,
        (32, _) => Type::F32,
        _ => Type::F64,
    };
    Some(match ty {
        BasicTypeEnum::FloatType(ty) if computes => float(ty),
        BasicTypeEnum::VectorType(ty) if computes => match ty.get_element_type() {
            BasicTypeEnum::FloatType(ty) if bits == 32 && is_bf16(ty) => Type::Bf16x2,
            BasicTypeEnum::FloatType(_) if bits == 32 => Type::F16x2,
            _ => return None,
        },
        _ => Type::Bits(bits),
    })
}

fn is_bf16(ty: llvm::FloatType<'_>) -> bool {
    ty == ty.get_context().bf16_type()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit;
    use crate::llvm::{AnyValue, parse_ir};

    #[test]
    fn a_kernel_does_not_depend_on_whether_another_has_atomics() {
        let kernel = "define ptx_kernel void @k(ptr %p) { %x = load i32, ptr %p store i32 %x, ptr %p ret void }";
        let counts = "define ptx_kernel void @counts(ptr %p) { %x = atomicrmw add ptr %p, i32 1 monotonic ret void }";
        let table = Table { kernels: vec![], exports: vec![], imports: vec![], signatures: vec![] };
        let ordered = |text: &str| {
            let context = Context::create();
            let module = parse_ir(&context, text.as_bytes(), "m").expect("the text is LLVM IR");
            llvm::set_target(&module);
            let arch = Arch::portable();
            let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).expect("LLVM makes one");
            let ordered = order(&context, &module, &machine, &table, arch, OptLevel::O3);
            assert!(ordered.is_ok(), "every arch has such an atomic");
            module.get_function("k").expect("it is there").print_to_string().to_string()
        };
        let alone = ordered(kernel);
        assert!(
            alone.contains("load i32, ptr addrspace(1)") && alone.contains("store i32 %x, ptr addrspace(1)"),
            "{alone}"
        );
        assert_eq!(ordered(&format!("{kernel} {counts}")), alone);
    }
}
