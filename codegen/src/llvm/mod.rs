//! The only place with unsafe LLVM: what inkwell lacks, made safe. Stages use inkwell's safe types and this module.

mod bitcode;
mod fatal;
mod target;
mod values;

pub use bitcode::{Library, ParseError, parse_ir, parse_lazily};
pub use fatal::{doing, install as install_fatal_handler};
pub use target::{emit_assembly, run_passes, target_machine, type_align};
pub use values::{
    Use, clear_subprogram, constant_bytes, constant_operand, delete_function, delete_global, functions, globals,
    instructions, source_span, strip_debug_info, uses,
};

pub use inkwell::AddressSpace;
pub use inkwell::attributes::{Attribute, AttributeLoc};
pub use inkwell::builder::{Builder, BuilderError};
pub use inkwell::context::Context;
pub use inkwell::intrinsics::Intrinsic;
pub use inkwell::memory_buffer::MemoryBuffer;
pub use inkwell::module::{Linkage, Module};
pub use inkwell::targets::TargetMachine;
pub use inkwell::types::{AnyType, BasicMetadataTypeEnum, BasicType, BasicTypeEnum, FunctionType};
pub use inkwell::values::{
    AsValueRef, BasicMetadataValueEnum, BasicValue, BasicValueEnum, FunctionValue, GlobalValue, InstructionOpcode,
    InstructionValue, PointerValue,
};
pub use inkwell::{GlobalVisibility, OptimizationLevel};

/// LLVM's number of the calling convention `ptx_kernel` (llvm/IR/CallingConv.h).
pub const PTX_KERNEL: u32 = 71;
