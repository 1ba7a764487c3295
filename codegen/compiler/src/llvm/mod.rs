//! The only place that calls LLVM's C interface: what inkwell lacks, made safe. Stages use inkwell's types and this module.
//!
//! inkwell's handles are copies that own nothing, of which a `SAFETY` comment says that they are live: an instruction is
//! until it is erased, a function or static until it is deleted, all of them until their module is dropped. So what deletes
//! is `unsafe`, and whoever calls it says why nobody looks at the handle again. What else a function needs to be true, it
//! checks.

mod atomics;
mod bitcode;
mod call_sites;
mod constants;
mod copies;
mod debug;
mod errors;
mod fatal;
mod float;
mod freeze;
mod hide;
mod location;
mod loops;
mod low;
mod moves;
mod operands;
mod pure;
mod scopes;
mod shape;
mod target;
mod unlikely;
mod use_order;
mod values;

pub use atomics::{
    Atomicity, Rmw, atomicity, build_atomic_load, build_atomic_store, build_compare_exchange, build_fence, build_rmw,
    failure_ordering, rmw_operation, scope_id, set_atomicity,
};
pub use bitcode::{Library, ParseError, copy_module, link, parse_ir, parse_lazily, read_bitcode};
pub use call_sites::mark_call_sites;
pub use constants::{Memory, constant_distance, constant_memory};
pub use copies::{
    add_incoming, always_branch, branch_targets, build_copy, copy_blocks, copy_instruction, forget_value,
    has_no_unsigned_wrap, has_several_predecessors, incoming, incoming_from, join_predecessors, keep_incoming,
    keep_promises, phis, predecessors, replace_predecessor, retarget, returning_blocks, set_condition,
    set_no_unsigned_wrap, switch_targets,
};
pub use debug::{Call, Origin, has_full_debug_info, join_fragments, make_references, number_locations};
pub use fatal::{doing, install as install_fatal_handler};
pub use float::{
    FloatFlags, allow_inlining, block_operands, called_function, calls, copy_functions, float_flags, float_result,
    function_operands, has_float_flags, is_rounded, set_float_flags, set_function_operand,
};
pub use freeze::{build_freeze, freeze, freeze_arguments, freeze_parameter, is_defined};
pub use hide::build_hidden;
pub use location::{
    copy_metadata, crate_of, crate_of_function, definition, inlined_spans, set_location_of_definition, static_span,
};
pub use loops::{
    Unroll, allocated_bytes, few_rounds, forget_loop, has_loop_mark, is_bounded, is_to_be_unrolled, set_unroll,
    static_bytes, unroll_is_disabled, unroll_may_go_on, unroll_was_asked, unroll_was_delayed, unroll_was_disabled,
};
pub use low::Low;
pub use moves::{move_before, move_to_end};
pub use operands::{float_operand, int_operand, operand, value_operands};
pub use pure::{
    Promises, forget_number, inline_assembly, inline_constraints, is_division, is_load_of_number, is_not_negative,
    is_only_assumed, is_plain_load, is_plain_store, is_position, is_promised_pure, is_pure, promise_pure, promises,
    reads_position, special_register,
};
pub use scopes::{Scopes, fill_scopes, hide_constants, join_jumps, order_blocks, scopes_of_blocks};
pub use shape::shape;
pub use target::{
    emit_assembly, run_passes, run_passes_for_any, run_passes_on_function, set_target, target_machine, type_align,
};
pub use unlikely::{set_unlikely, unlikely_target};
pub use use_order::{sort_phi_uses, sort_uses};
pub use values::{
    Use, address_of_integer, address_space, address_space_of, build_byte_distance, build_byte_offset,
    build_other_element, build_same_offset, byte_of, clear_subprogram, constant_bytes, constant_offset,
    constant_operand, constant_place, constant_string, delete_function, delete_global, element_of, function_of,
    functions, global_of, globals, has_wide_float, instruction_of, instructions, is_constant, is_disjoint,
    is_in_bounds, is_in_bounds_above, is_of_shared_reference, is_shared_reference, is_undefined, is_within_global,
    param_index, part_of, part_of_element, pointer_of_integer, poison, promise_alike, replace_uses, result,
    set_externally_initialized, source_span, strip_debug_info, undefined, uses,
};

pub use inkwell::AddressSpace;
pub use inkwell::attributes::{Attribute, AttributeLoc};
pub use inkwell::basic_block::BasicBlock;
pub use inkwell::builder::{Builder, BuilderError};
pub use inkwell::context::Context;
pub use inkwell::intrinsics::Intrinsic;
pub use inkwell::memory_buffer::MemoryBuffer;
pub use inkwell::module::{Linkage, Module};
pub use inkwell::targets::TargetMachine;
pub use inkwell::types::{
    AnyType, AnyTypeEnum, BasicMetadataTypeEnum, BasicType, BasicTypeEnum, FloatType, FunctionType, IntType,
    PointerType, VectorType,
};
pub use inkwell::values::{
    AggregateValueEnum, AnyValue, AsValueRef, BasicMetadataValueEnum, BasicValue, BasicValueEnum, CallSiteValue,
    FloatValue, FunctionValue, GlobalValue, InstructionOpcode, InstructionValue, IntValue, PhiValue, PointerValue,
};
pub use inkwell::{AtomicOrdering, FloatPredicate, GlobalVisibility, IntPredicate, OptimizationLevel};

/// LLVM's number of the calling convention `ptx_kernel` (llvm/IR/CallingConv.h).
pub const PTX_KERNEL: u32 = 71;

/// LLVM's numbers of PTX's state spaces (LLVM, "User Guide for NVPTX Back-end: Address Spaces").
pub const GLOBAL_SPACE: u16 = 1;
pub const SHARED_SPACE: u16 = 3;
pub const CONSTANT_SPACE: u16 = 4;
