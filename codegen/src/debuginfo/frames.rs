//! What the frames of a panic need.

/// The text without `.noreturn` (PTX ISA, "Performance-Tuning Directives: .noreturn"). ptxas lets a function that never
/// returns forget where it was called from; in cuda-gdb the frames of a panic then end in functions that called nobody.
pub fn keep_callers(ptx: &str) -> String {
    const DIRECTIVE: &str = ".noreturn";
    let mut text = String::with_capacity(ptx.len());
    for line in ptx.split_inclusive('\n') {
        // The directive ends a declaration, with its semicolon, or stands before a body.
        text.push_str(line.strip_prefix(DIRECTIVE).unwrap_or(line));
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn declarations_and_definitions_may_return() {
        let ptx = ".func fail\n(\n)\n.noreturn;\n.func fail\n(\n)\n.noreturn\n{\n\tcall.uni fail, ();\n}\n";
        assert_eq!(super::keep_callers(ptx), ".func fail\n(\n)\n;\n.func fail\n(\n)\n\n{\n\tcall.uni fail, ();\n}\n");
    }
}
