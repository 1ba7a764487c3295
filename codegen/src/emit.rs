//! From an optimised module to PTX text: target machine, PTX ISA version, debug level.

use crate::abi::Table;
use crate::arch::{Arch, PtxVersion};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::intrinsics::Needs;
use crate::llvm::{self, Module, TargetMachine};
use crate::options::{DebugLevel, OptLevel, Options};

/// Parameters over 4,096 bytes (PTX ISA 8.1, "Kernel Function Parameter Attributes").
const LARGE_PARAMS: PtxVersion = PtxVersion { major: 8, minor: 1 };

/// The lowest PTX ISA version that arch and program need, or the one asked for.
pub fn ptx_version(options: &Options, arch: Arch, table: &Table, needs: Needs) -> Result<PtxVersion> {
    let params = table.has_large_params().then_some(LARGE_PARAMS);
    let lowest = [Some(arch.min_ptx()), params, needs.ptx].into_iter().flatten().max().unwrap_or(arch.min_ptx());
    match options.ptx_version {
        Some(asked) if asked < lowest => Err(Diagnostic::error(
            Code::Usage,
            format!("PTX ISA version {asked} is too low for {arch} and this program: they need {lowest}"),
        )
        .help("leave out `--ptx-version` to get the lowest version that suffices")
        .into()),
        asked => Ok(asked.unwrap_or(lowest)),
    }
}

/// A target machine for the arch.
pub fn machine(arch: Arch, ptx: PtxVersion, level: OptLevel) -> Result<TargetMachine> {
    llvm::target_machine(arch, ptx, level).map_err(|error| Diagnostic::error(Code::LlvmFailed, error).into())
}

/// Removes the debug information that the level leaves out.
pub fn limit_debug_info(module: &Module<'_>, machine: &TargetMachine, level: DebugLevel) -> Result<()> {
    match level {
        DebugLevel::None => llvm::strip_debug_info(module),
        DebugLevel::LineTables => llvm::run_passes(module, machine, "strip-nonlinetable-debuginfo")
            .map_err(|error| Diagnostic::error(Code::LlvmFailed, error))?,
        DebugLevel::Full => {}
    }
    Ok(())
}

/// PTX text.
pub fn emit(module: &Module<'_>, machine: &TargetMachine, arch: Arch) -> Result<String> {
    llvm::doing(Code::LlvmFailed, format!("cannot generate code for {arch}"));
    llvm::emit_assembly(module, machine).map_err(|error| {
        Diagnostic::error(Code::LlvmFailed, format!("cannot generate code for {arch}: {error}")).into()
    })
}
