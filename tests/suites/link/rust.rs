//! The Rust side, as the LLVM IR that rustc would give, with its source lines.

use std::path::PathBuf;
use std::process::Command;

use ptx_tests::{Linked, Scratch};

/// A kernel `k` that calls CUDA C++'s `cpp_scale(int, int)` on line 42 and `cpp::add(int, int)` on line 43, and an exported
/// `rust_twice`, which CUDA C++ calls.
const SOURCE: &str = "target triple = \"nvptx64-nvidia-cuda\"
define ptx_kernel void @k(ptr %p) !dbg !4 {
  %x = load i32, ptr %p
  %a = call i32 @cpp_scale(i32 %x, i32 3), !dbg !7
  %b = call i32 @_ZN3cpp3addEii(i32 %a, i32 %x), !dbg !8
  store i32 %b, ptr %p
  ret void
}
define i32 @rust_twice(i32 %x) {
  %y = shl i32 %x, 1
  ret i32 %y
}
declare i32 @cpp_scale(i32, i32)
declare i32 @_ZN3cpp3addEii(i32, i32)
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!0 = distinct !DICompileUnit(language: DW_LANG_Rust, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: \"src/kernels.rs\", directory: \"\")
!2 = !{i32 2, !\"Debug Info Version\", i32 3}
!3 = !{i32 2, !\"Dwarf Version\", i32 2}
!4 = distinct !DISubprogram(name: \"k\", scope: !1, file: !1, line: 40, type: !5, scopeLine: 40, unit: !0, spFlags: DISPFlagDefinition)
!5 = !DISubroutineType(types: !6)
!6 = !{}
!7 = !DILocation(line: 42, column: 9, scope: !4)
!8 = !DILocation(line: 43, column: 9, scope: !4)
";

/// Writes the Rust side.
pub fn source(scratch: &Scratch) -> PathBuf {
    scratch.write("kernels.ll", SOURCE)
}

/// Our linker on it, for those archs, with more arguments.
pub fn link(scratch: &Scratch, archs: &str, args: &[&str]) -> Linked {
    Linked::of(command(scratch, archs).args(args))
}

/// The command, not yet run.
pub fn command(scratch: &Scratch, archs: &str) -> Command {
    let mut command = scratch.linker();
    command.args(["-O3", "--export-symbol", "rust_twice", &format!("--arch={archs}")]).arg(source(scratch));
    command
}
