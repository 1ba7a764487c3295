//! From an optimised module to PTX text: target machine, PTX ISA version, debug level.

use crate::abi::Table;
use crate::arch::{Arch, Needs, PtxVersion};
use crate::artifact::Artifact;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result, Span};
use crate::llvm::{self, Module, TargetMachine};
use crate::request::{DebugLevel, Emit, OptLevel, Options};

/// Parameters over 4,096 bytes (PTX ISA 8.1, "Kernel Function Parameter Attributes").
const LARGE_PARAMS: PtxVersion = PtxVersion { major: 8, minor: 1 };

/// What LLVM can write: the last minor version of each major one (llvm/lib/Target/NVPTX/NVPTX.td). Of any other it says nothing,
/// and writes an old one.
const WRITTEN: [PtxVersion; 3] =
    [PtxVersion { major: 7, minor: 8 }, PtxVersion { major: 8, minor: 8 }, PtxVersion { major: 9, minor: 0 }];

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
        Some(asked) if !WRITTEN.iter().any(|last| last.major == asked.major && asked.minor <= last.minor) => {
            let newest = WRITTEN[WRITTEN.len() - 1];
            let message = format!("LLVM does not write PTX ISA version {asked}, only versions up to {newest}");
            Err(Diagnostic::error(Code::Usage, message)
                .help("leave out `--ptx-version` to get the lowest version that suffices")
                .into())
        }
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

/// PTX text. LLVM heeds the order of uses, which depends on what became of a module before: whether it was read again, or joined.
pub fn emit(module: &Module<'_>, machine: &TargetMachine, arch: Arch) -> Result<String> {
    llvm::sort_uses(module);
    llvm::doing(Code::LlvmFailed, format!("cannot generate code for {arch}"));
    llvm::emit_assembly(module, machine).map_err(|error| refused(arch, &error).into())
}

/// The IR that was asked for.
pub fn artifacts(options: &Options, module: &Module<'_>, arch: Arch) -> Vec<Artifact> {
    let artifact = |kind, bytes| Artifact { kind, arch: Some(arch), part: None, bytes };
    let mut artifacts = Vec::new();
    if options.emit.contains(&Emit::LlvmIr) {
        artifacts.push(artifact(Emit::LlvmIr, module.print_to_string().to_bytes().to_vec()));
    }
    if options.emit.contains(&Emit::LlvmBc) {
        let buffer = module.write_bitcode_to_memory();
        artifacts.push(artifact(Emit::LlvmBc, buffer.as_slice().to_vec()));
    }
    artifacts
}

/// LLVM's words as a message: some begin with a place, as in `src/lib.rs:7:5: in function k void (ptr): …`.
fn refused(arch: Arch, error: &str) -> Diagnostic {
    let mut parts = error.splitn(4, ':');
    let place = match [parts.next(), parts.next(), parts.next()] {
        [Some(file), Some(line), Some(column)] => {
            line.parse().ok().zip(column.parse().ok()).map(|(line, column)| Span { file: file.into(), line, column })
        }
        _ => None,
    };
    let reason = place.as_ref().and(parts.next()).unwrap_or(error).trim();
    Diagnostic::error(Code::LlvmFailed, format!("cannot generate code for {arch}: {reason}"))
        .at(place.filter(|place| place.line > 0), "needed here")
        .help("if that is no limit of the GPU or of the PTX ISA version, it is a bug of ours: please report it, with the files that `--dump-dir` writes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::Context;

    #[test]
    fn llvm_writes_the_versions_that_may_be_asked_for() {
        let context = Context::create();
        let written = |ptx: PtxVersion| {
            let text = "target triple = \"nvptx64-nvidia-cuda\"\ndefine ptx_kernel void @k() { ret void }";
            let module = llvm::parse_ir(&context, text.as_bytes(), "m").expect("the text is LLVM IR");
            let machine = machine(Arch::portable(), ptx, OptLevel::O0).expect("LLVM makes one");
            emit(&module, &machine, Arch::portable()).expect("it is a kernel").contains(&format!(".version {ptx}\n"))
        };
        for PtxVersion { major, minor } in WRITTEN {
            assert!((0..=minor).all(|minor| written(PtxVersion { major, minor })), "{major}.{minor}");
            assert!(!written(PtxVersion { major, minor: minor + 1 }), "{major}.{minor} is not the last");
        }
    }

    #[test]
    fn llvms_words_may_begin_with_a_place() {
        let text = refused(Arch::portable(), "src/lib.rs:7:5: in function k: no such thing").to_string();
        assert!(text.contains("PTX0010") && text.contains(": in function k: no such thing"), "{text}");
        assert!(text.contains("src/lib.rs:7:5"), "{text}");
        for without in ["<unknown>:0:0: in function k: no", "couldn't allocate: 'q'", "plain"] {
            assert!(!refused(Arch::portable(), without).to_string().contains("-->"), "{without}");
        }
    }
}
