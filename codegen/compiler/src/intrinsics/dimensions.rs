//! What is known of the launch, as LLVM's assumptions about special registers.
//!
//! ```text
//! %0 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
//! %1 = icmp eq i32 %0, 1
//! call void @llvm.assume(i1 %1)
//! ```
//!
//! Before LLVM's pipeline, whose first passes see that other reads of the register are the same value, and put the constant
//! in their place.

use crate::llvm::{
    BasicMetadataValueEnum, BasicValueEnum, Builder, BuilderError, Context, IntPredicate, IntValue, Intrinsic, Module,
};

/// Writes that extents over the number of dimensions are 1, positions there 0, and that there are fewer than 2^32 threads in
/// the first. `#[kernel(dimensions = N)]` has the host check it.
pub fn assume<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    builder: &Builder<'ctx>,
    dimensions: u32,
) -> Result<(), BuilderError> {
    let number = context.i32_type();
    let axes = ["x", "y", "z"].iter().zip(1..).filter(|(_, axis)| *axis > dimensions);
    for (axis, _) in axes {
        for (register, value) in [("ntid", 1), ("nctaid", 1), ("tid", 0), ("ctaid", 0)] {
            let read = read(module, builder, &format!("{register}.{axis}"))?;
            let is = builder.build_int_compare(IntPredicate::EQ, read, number.const_int(value, false), "")?;
            hold(module, builder, is)?;
        }
    }
    let (blocks, threads) = (read(module, builder, "nctaid.x")?, read(module, builder, "ntid.x")?);
    let high = call(module, builder, "llvm.nvvm.mulhi.ui", &[blocks.into(), threads.into()])?;
    let fits = builder.build_int_compare(IntPredicate::EQ, high, number.const_zero(), "")?;
    hold(module, builder, fits)
}

/// With what the names begin of LLVM's functions that read special registers.
pub const REGISTER: &str = "llvm.nvvm.read.ptx.sreg.";

/// Reads a special register.
pub fn read<'ctx>(
    module: &Module<'ctx>,
    builder: &Builder<'ctx>,
    register: &str,
) -> Result<IntValue<'ctx>, BuilderError> {
    call(module, builder, &format!("{REGISTER}{register}"), &[])
}

fn call<'ctx>(
    module: &Module<'ctx>,
    builder: &Builder<'ctx>,
    name: &str,
    arguments: &[BasicMetadataValueEnum<'ctx>],
) -> Result<IntValue<'ctx>, BuilderError> {
    let intrinsic = Intrinsic::find(name).and_then(|i| i.get_declaration(module, &[])).expect("LLVM has it");
    let value = builder.build_call(intrinsic, arguments, "")?.try_as_basic_value().basic();
    Ok(value.map(BasicValueEnum::into_int_value).expect("it is a number"))
}

/// Has LLVM assume that a condition holds.
pub fn hold<'ctx>(module: &Module<'ctx>, builder: &Builder<'ctx>, fact: IntValue<'ctx>) -> Result<(), BuilderError> {
    let assume = Intrinsic::find("llvm.assume").and_then(|i| i.get_declaration(module, &[])).expect("LLVM has it");
    builder.build_call(assume, &[fact.into()], "")?;
    Ok(())
}
