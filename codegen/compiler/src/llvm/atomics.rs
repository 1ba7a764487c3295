//! Atomic instructions: what they are, and how to build them with a synchronization scope, which inkwell lacks.

use inkwell::llvm_sys::core::{
    LLVMBuildAtomicCmpXchgSyncScope, LLVMBuildAtomicRMWSyncScope, LLVMBuildFenceSyncScope, LLVMGetAtomicRMWBinOp,
    LLVMGetAtomicSyncScopeID, LLVMGetCmpXchgFailureOrdering, LLVMGetCmpXchgSuccessOrdering, LLVMGetOrdering,
    LLVMGetSyncScopeID, LLVMIsAtomic, LLVMSetAtomicSyncScopeID, LLVMSetOrdering,
};
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMAtomicRMWBinOp};

use super::{
    AsValueRef, AtomicOrdering, BasicType, BasicValue, BasicValueEnum, Builder, BuilderError, Context,
    InstructionOpcode, InstructionValue, PointerValue,
};

/// Where and in what order an access takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomicity {
    /// The ordering; of a compare-exchange, where it succeeds.
    pub ordering: AtomicOrdering,
    /// LLVM's number of the synchronization scope; see [`scope_id`].
    pub scope: u32,
}

/// The ordering and scope of an atomic instruction; `None` for any other.
pub fn atomicity(instruction: InstructionValue<'_>) -> Option<Atomicity> {
    let value = instruction.as_value_ref();
    // SAFETY: the instruction is live, and asked only for what its kind has.
    unsafe {
        if LLVMIsAtomic(value) == 0 {
            return None;
        }
        let ordering = if instruction.get_opcode() == InstructionOpcode::AtomicCmpXchg {
            LLVMGetCmpXchgSuccessOrdering(value)
        } else {
            LLVMGetOrdering(value)
        };
        Some(Atomicity { ordering: ordering.into(), scope: LLVMGetAtomicSyncScopeID(value) })
    }
}

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident = $llvm:ident,)*) => {
        /// What a read-modify-write does; as LLVM's `AtomicRMWInst::BinOp`, of which inkwell lacks the newest.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Rmw {
            $($(#[$doc])* $name,)*
        }

        impl Rmw {
            fn to_llvm(self) -> LLVMAtomicRMWBinOp {
                match self { $(Self::$name => LLVMAtomicRMWBinOp::$llvm,)* }
            }

            fn of_llvm(operation: LLVMAtomicRMWBinOp) -> Self {
                match operation { $(LLVMAtomicRMWBinOp::$llvm => Self::$name,)* }
            }
        }
    };
}

operations! {
    /// The new value.
    Xchg = LLVMAtomicRMWBinOpXchg,
    /// Sum.
    Add = LLVMAtomicRMWBinOpAdd,
    /// Difference.
    Sub = LLVMAtomicRMWBinOpSub,
    /// Bits set in both.
    And = LLVMAtomicRMWBinOpAnd,
    /// Bits not set in both.
    Nand = LLVMAtomicRMWBinOpNand,
    /// Bits set in one.
    Or = LLVMAtomicRMWBinOpOr,
    /// Bits that differ.
    Xor = LLVMAtomicRMWBinOpXor,
    /// The larger, signed.
    Max = LLVMAtomicRMWBinOpMax,
    /// The smaller, signed.
    Min = LLVMAtomicRMWBinOpMin,
    /// The larger, unsigned.
    UMax = LLVMAtomicRMWBinOpUMax,
    /// The smaller, unsigned.
    UMin = LLVMAtomicRMWBinOpUMin,
    /// Sum of floats.
    FAdd = LLVMAtomicRMWBinOpFAdd,
    /// Difference of floats.
    FSub = LLVMAtomicRMWBinOpFSub,
    /// The larger float; a number rather than a NaN.
    FMax = LLVMAtomicRMWBinOpFMax,
    /// The smaller float; a number rather than a NaN.
    FMin = LLVMAtomicRMWBinOpFMin,
    /// The larger float; NaN if one is.
    FMaximum = LLVMAtomicRMWBinOpFMaximum,
    /// The smaller float; NaN if one is.
    FMinimum = LLVMAtomicRMWBinOpFMinimum,
    /// One more; 0 from the operand on.
    UIncWrap = LLVMAtomicRMWBinOpUIncWrap,
    /// One less; the operand from 0 and from above the operand.
    UDecWrap = LLVMAtomicRMWBinOpUDecWrap,
    /// Difference if that is not below 0, else the old value.
    USubCond = LLVMAtomicRMWBinOpUSubCond,
    /// Difference, at least 0.
    USubSat = LLVMAtomicRMWBinOpUSubSat,
}

/// What an `atomicrmw` does.
pub fn rmw_operation(rmw: InstructionValue<'_>) -> Rmw {
    assert_eq!(rmw.get_opcode(), InstructionOpcode::AtomicRMW);
    // SAFETY: it is a live `atomicrmw`.
    unsafe { Rmw::of_llvm(LLVMGetAtomicRMWBinOp(rmw.as_value_ref())) }
}

/// The ordering of a compare-exchange that fails.
pub fn failure_ordering(cmpxchg: InstructionValue<'_>) -> AtomicOrdering {
    assert_eq!(cmpxchg.get_opcode(), InstructionOpcode::AtomicCmpXchg);
    // SAFETY: it is a live compare-exchange.
    unsafe { LLVMGetCmpXchgFailureOrdering(cmpxchg.as_value_ref()).into() }
}

/// LLVM's number of the scope of that name; the empty name is the whole system.
pub fn scope_id(context: &Context, name: &str) -> u32 {
    // SAFETY: the context is live, and LLVM copies the name.
    unsafe { LLVMGetSyncScopeID(context.raw(), name.as_ptr().cast(), name.len()) }
}

/// Makes a load or store atomic, or with [`AtomicOrdering::NotAtomic`] an ordinary one.
pub fn set_atomicity(access: InstructionValue<'_>, atomicity: Atomicity) {
    assert!(matches!(access.get_opcode(), InstructionOpcode::Load | InstructionOpcode::Store));
    // SAFETY: it is a live load or store. Only atomic ones have a scope.
    unsafe {
        LLVMSetOrdering(access.as_value_ref(), atomicity.ordering.into());
        if atomicity.ordering != AtomicOrdering::NotAtomic {
            LLVMSetAtomicSyncScopeID(access.as_value_ref(), atomicity.scope);
        }
    }
}

/// An atomic load, aligned to the type's size.
pub fn build_atomic_load<'ctx, T: BasicType<'ctx>>(
    builder: &Builder<'ctx>,
    ty: T,
    align: u32,
    pointer: PointerValue<'ctx>,
    atomicity: Atomicity,
) -> Result<BasicValueEnum<'ctx>, BuilderError> {
    let value = builder.build_load(ty, pointer, "")?;
    let load = value.as_instruction_value().expect("a load is an instruction");
    load.set_alignment(align).expect("an alignment is a power of two");
    set_atomicity(load, atomicity);
    Ok(value)
}

/// An atomic store, aligned to the type's size.
pub fn build_atomic_store<'ctx>(
    builder: &Builder<'ctx>,
    value: BasicValueEnum<'ctx>,
    align: u32,
    pointer: PointerValue<'ctx>,
    atomicity: Atomicity,
) -> Result<(), BuilderError> {
    let store = builder.build_store(pointer, value)?;
    store.set_alignment(align).expect("an alignment is a power of two");
    set_atomicity(store, atomicity);
    Ok(())
}

/// LLVM's interface builds nothing useful outside blocks, and says nothing.
fn assert_positioned(builder: &Builder<'_>) {
    assert!(builder.get_insert_block().is_some(), "the builder stands in a block");
}

/// Whether an access with that ordering is atomic, and ordered on its own.
fn is_monotonic(ordering: AtomicOrdering) -> bool {
    !matches!(ordering, AtomicOrdering::NotAtomic | AtomicOrdering::Unordered)
}

/// A fence at the builder's position; panics if the ordering is weaker than acquire or release.
pub fn build_fence(builder: &Builder<'_>, atomicity: Atomicity) {
    assert_positioned(builder);
    let orders = is_monotonic(atomicity.ordering) && atomicity.ordering != AtomicOrdering::Monotonic;
    assert!(orders, "a fence orders something");
    // SAFETY: the builder stands in a block, and the ordering is one that fences have.
    unsafe {
        let ordering: LLVMAtomicOrdering = atomicity.ordering.into();
        LLVMBuildFenceSyncScope(builder.as_mut_ptr(), ordering, atomicity.scope, c"".as_ptr());
    }
}

/// An `atomicrmw`; the result is the old value.
pub fn build_rmw<'ctx>(
    builder: &Builder<'ctx>,
    operation: Rmw,
    pointer: PointerValue<'ctx>,
    value: BasicValueEnum<'ctx>,
    atomicity: Atomicity,
) -> BasicValueEnum<'ctx> {
    assert_positioned(builder);
    assert!(is_monotonic(atomicity.ordering), "it is atomic");
    // SAFETY: the builder stands in a block, all values are live; the result is of the operand's type.
    unsafe {
        BasicValueEnum::new(LLVMBuildAtomicRMWSyncScope(
            builder.as_mut_ptr(),
            operation.to_llvm(),
            pointer.as_value_ref(),
            value.as_value_ref(),
            atomicity.ordering.into(),
            atomicity.scope,
        ))
    }
}

/// A strong `cmpxchg`; the result is the old value and whether it was replaced.
pub fn build_compare_exchange<'ctx>(
    builder: &Builder<'ctx>,
    pointer: PointerValue<'ctx>,
    expected: BasicValueEnum<'ctx>,
    new: BasicValueEnum<'ctx>,
    success: Atomicity,
    failure: AtomicOrdering,
) -> BasicValueEnum<'ctx> {
    assert_positioned(builder);
    assert!(is_monotonic(success.ordering) && is_monotonic(failure), "it is atomic");
    assert_eq!(expected.get_type(), new.get_type(), "both are of one type");
    // SAFETY: the builder stands in a block, all values are live; the result is a struct.
    unsafe {
        BasicValueEnum::new(LLVMBuildAtomicCmpXchgSyncScope(
            builder.as_mut_ptr(),
            pointer.as_value_ref(),
            expected.as_value_ref(),
            new.as_value_ref(),
            success.ordering.into(),
            failure.into(),
            success.scope,
        ))
    }
}
