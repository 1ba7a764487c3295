//! Inputs as LLVM IR text.

/// A module with that body.
pub fn module(body: &str) -> String {
    format!("target triple = \"nvptx64-nvidia-cuda\"\n{body}")
}

/// A module with one kernel of that name and body, and whatever else it needs.
pub fn kernel(name: &str, body: &str, rest: &str) -> String {
    module(&format!("define ptx_kernel void @{name}(ptr %p) {{\n{body}\n}}\n{rest}\n"))
}

/// A kernel that is right.
pub fn good(name: &str) -> String {
    kernel(name, "store i32 1, ptr %p\nret void", "")
}

/// A kernel that calls a function which nobody defines; `debug` says whether the module knows the line.
pub fn undefined(debug: bool) -> String {
    let (scope, location) = if debug { (" !dbg !4", ", !dbg !7") } else { ("", "") };
    module(&format!(
        "define ptx_kernel void @k(ptr %p){scope} {{\ncall void @missing_function(ptr %p){location}\nret void{location}\n}}\n\
         declare void @missing_function(ptr)\n{}",
        if debug { LINE_42 } else { "" }
    ))
}

/// A kernel with inline PTX, of which the line is known.
pub fn inline_ptx(text: &str) -> String {
    module(&format!(
        "define ptx_kernel void @k(ptr %p) !dbg !4 {{\ncall void asm sideeffect \"{text}\", \"\"(), !dbg !7\n\
         ret void, !dbg !7\n}}\n{LINE_42}"
    ))
}

/// Debug information of a function, `!4`, and of a line in it, `!7`: `src/kernels.rs:42:9`.
const LINE_42: &str = "!llvm.dbg.cu = !{!0}\n!llvm.module.flags = !{!2, !3}\n\
    !0 = distinct !DICompileUnit(language: DW_LANG_Rust, file: !1, emissionKind: LineTablesOnly)\n\
    !1 = !DIFile(filename: \"src/kernels.rs\", directory: \"\")\n\
    !2 = !{i32 2, !\"Debug Info Version\", i32 3}\n!3 = !{i32 2, !\"Dwarf Version\", i32 2}\n\
    !4 = distinct !DISubprogram(name: \"k\", scope: !1, file: !1, line: 40, type: !5, scopeLine: 40, unit: !0, \
        spFlags: DISPFlagDefinition)\n!5 = !DISubroutineType(types: !6)\n!6 = !{}\n\
    !7 = !DILocation(line: 42, column: 9, scope: !4)\n";
