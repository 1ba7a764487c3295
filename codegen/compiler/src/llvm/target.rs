//! The NVPTX target: machines, passes, emission.

use std::ffi::CStr;
use std::sync::Once;

use inkwell::llvm_sys::error::{LLVMDisposeErrorMessage, LLVMGetErrorMessage};
use inkwell::llvm_sys::support::LLVMParseCommandLineOptions;
use inkwell::llvm_sys::transforms::pass_builder::{
    LLVMCreatePassBuilderOptions, LLVMDisposePassBuilderOptions, LLVMRunPasses,
};
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetData, TargetTriple};

use super::errors::Errors;
use super::{BasicTypeEnum, FunctionValue, Module, OptimizationLevel, TargetMachine};
use crate::arch::{Arch, PtxVersion};
use crate::request::{OptLevel, TARGET};

/// That of nvptx64-nvidia-cuda in LLVM 22, as rustc writes it into every module.
const DATA_LAYOUT: &str = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64";

/// A target machine for one arch and PTX ISA version.
pub fn target_machine(arch: Arch, ptx: PtxVersion, level: OptLevel) -> Result<TargetMachine, String> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        Target::initialize_nvptx(&InitializationConfig::default());
        set_options();
    });
    let triple = TargetTriple::create(TARGET);
    let target = Target::from_triple(&triple).map_err(|e| e.to_string())?;
    let level = match level {
        OptLevel::O0 => OptimizationLevel::None,
        OptLevel::O1 => OptimizationLevel::Less,
        OptLevel::O2 | OptLevel::Os | OptLevel::Oz => OptimizationLevel::Default,
        // That has GVN in place of EarlyCSE, twice. It finds little, but without it `gemv` took 12 % longer on an H100.
        OptLevel::O3 => OptimizationLevel::Aggressive,
    };
    let feature = format!("+ptx{}{}", ptx.major, ptx.minor);
    target
        .create_target_machine(&triple, arch.name(), &feature, level, RelocMode::PIC, CodeModel::Default)
        .ok_or_else(|| format!("LLVM has no target machine for {arch} with PTX {ptx}"))
}

/// What only LLVM's command line reaches.
///
/// - Straight-line strength reduction, rewritten in LLVM 22, takes one address for another where their difference is only
///   equal modulo undefined bits (llvm-project pull request 162930, comments of 2025-11-25): `sort_unstable` in a kernel
///   panicked with "does not correctly implement a total order". The device test "iterators and sorting" guards it. The pass
///   runs inside code generation.
/// - Loops are not vectorised. A thread has no vectors but of halves, which are packed when loops are unrolled. LLVM takes four
///   bytes for one, so the largest of a row of bytes was four largest, each computed by itself, with more instructions around
///   them: 111 for 16 bytes instead of 44, and 48 registers instead of 32 in a filter of three by three.
/// - Loops are unrolled by four at most, as nvcc does. LLVM's eight are for CPUs: many loops in kernels have few rounds, and
///   ptxas unrolls the long ones once more.
/// - A `match` of fewer than 32 cases is compared and branches, however its cases lie, as nvcc has it of any number of them.
///   LLVM makes a table of jumps of four. A GPU loads the place from the table before it can jump there (`BRX`): an
///   interpreter of six instructions took 46 µs on an H100, 32.2 with this, and 32.0 in CUDA C++.
/// - Nothing is computed on one way because another one has computed it where both meet (GVN's "partial redundancy
///   elimination", which runs inside code generation as well). The indices of checks that only the slow way asks for were
///   computed on the short way too, and moved to registers of 64 bits, where one product of 32 bits had been enough
///   (`mul.wide`): without it, an image's resizing went from .81 of nvcc's speed to .85 (H200), and one product of tiles from
///   38 registers to 29.
/// - A loop that is marked for it and has at most 64 rounds is written as so many, each behind a branch; LLVM's eight are too
///   few for an array of 64 elements to become registers.
fn set_options() {
    const OF_22: &[&CStr] = &[c"-opt-disable=slsr,loop-vectorize"];
    const OF_ALL: &[&CStr] =
        &[c"-unroll-max-count=4", c"-min-jump-table-entries=32", c"-unroll-max-upperbound=64", c"-enable-pre=false"];
    // LLVM 21 has neither the rewrite nor the option.
    let of_version = if cfg!(feature = "llvm-21") { &[] } else { OF_22 };
    let arguments: Vec<_> =
        [c"ptx-linker"].iter().chain(of_version).chain(OF_ALL).map(|argument| argument.as_ptr()).collect();
    // SAFETY: LLVM reads so many NUL-terminated strings, before any of its passes runs.
    unsafe { LLVMParseCommandLineOptions(arguments.len() as i32, arguments.as_ptr(), std::ptr::null()) };
}

/// Says that a module is for the one target, whatever it said before.
pub fn set_target(module: &Module<'_>) {
    module.set_triple(&TargetTriple::create(TARGET));
    module.set_data_layout(&TargetData::create(DATA_LAYOUT).get_data_layout());
}

/// Runs a pipeline given as `opt` writes it.
pub fn run_passes(module: &Module<'_>, machine: &TargetMachine, pipeline: &str) -> Result<(), String> {
    let options = PassBuilderOptions::create();
    let errors = Errors::collect(module.get_context());
    errors.or(module.run_passes(pipeline, machine, options).map_err(|e| e.to_string()))
}

/// The same for one function, with passes of functions.
pub fn run_passes_on_function(
    function: FunctionValue<'_>,
    machine: &TargetMachine,
    passes: &str,
) -> Result<(), String> {
    let options = PassBuilderOptions::create();
    let errors = Errors::collect(function.get_type().get_context());
    errors.or(function.run_passes(passes, machine, options).map_err(|e| e.to_string()))
}

/// The same, for no machine in particular: passes then do without what LLVM knows of the target.
pub fn run_passes_for_any(module: &Module<'_>, pipeline: &str) -> Result<(), String> {
    let pipeline = std::ffi::CString::new(pipeline).expect("a pipeline has no NUL");
    // SAFETY: the module is live, the text ends in NUL, and LLVM takes null for no machine. The options are disposed of, and
    // so is the message, which LLVM leaves to the caller.
    unsafe {
        let options = LLVMCreatePassBuilderOptions();
        let error = LLVMRunPasses(module.as_mut_ptr(), pipeline.as_ptr(), std::ptr::null_mut(), options);
        LLVMDisposePassBuilderOptions(options);
        if error.is_null() {
            return Ok(());
        }
        let message = LLVMGetErrorMessage(error);
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(message);
        Err(text)
    }
}

/// PTX text.
pub fn emit_assembly(module: &Module<'_>, machine: &TargetMachine) -> Result<String, String> {
    let errors = Errors::collect(module.get_context());
    let result = machine.write_to_memory_buffer(module, FileType::Assembly).map_err(|e| e.to_string());
    // What LLVM cannot translate, it may leave out, with an error beside.
    let buffer = errors.or(result)?;
    Ok(String::from_utf8_lossy(buffer.as_slice()).trim_end_matches('\0').to_string())
}

/// Size and ABI alignment of a type in bytes, by the target's data layout.
pub fn type_align(ty: BasicTypeEnum<'_>) -> (u64, u64) {
    thread_local! {
        // To read the text takes longer than all that is asked of it.
        static DATA: TargetData = TargetData::create(DATA_LAYOUT);
    }
    DATA.with(|data| (data.get_abi_size(&ty), u64::from(data.get_abi_alignment(&ty))))
}
