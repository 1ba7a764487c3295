//! What the frames of a panic need: cuda-gdb finds a function's caller by what ptxas says of its frame.

use std::collections::HashSet;

/// What says that a function never returns (PTX ISA, "Performance-Tuning Directives: .noreturn").
const DIRECTIVE: &str = ".noreturn";

/// What LLVM writes behind the call of such a function.
const UNREACHABLE: [&str; 3] = ["// begin inline asm", "exit;", "// end inline asm"];

/// The text in which functions that never return look as if they did.
///
/// ptxas lets them forget where they were called from: `.noreturn` is left out. Of a function without `ret` it
/// describes the frame as taken down at the first `exit`, also for all code that stands behind: an `exit` that is never
/// reached, behind the call of a function that never returns, becomes a `ret`.
pub fn keep_callers(ptx: &str) -> String {
    let never_return = never_return(ptx);
    let mut text = String::with_capacity(ptx.len());
    let mut lines = ptx.split_inclusive('\n').peekable();
    let mut unreachable = false;
    while let Some(line) = lines.next() {
        let trimmed = line.trim();
        if unreachable && trimmed == UNREACHABLE[0] && lines.peek().is_some_and(|next| next.trim() == UNREACHABLE[1]) {
            lines.by_ref().take(UNREACHABLE.len() - 1).for_each(drop);
            text.push_str("\tret;\n");
            continue;
        }
        // Behind the call stand the end of its block, and labels of the debug information.
        let belongs_to_call = trimmed.starts_with('}') || trimmed.starts_with("$L__tmp");
        unreachable =
            callee(trimmed).is_some_and(|name| never_return.contains(name)) || (unreachable && belongs_to_call);
        // The directive ends a declaration, with its semicolon, or stands before a body.
        text.push_str(line.strip_prefix(DIRECTIVE).unwrap_or(line));
    }
    text
}

/// The functions that are marked.
fn never_return(ptx: &str) -> HashSet<&str> {
    let mut found = HashSet::new();
    let mut last = "";
    for line in ptx.lines() {
        if line.starts_with(DIRECTIVE) {
            found.insert(last);
        } else if line.contains(".func") {
            let name = line.split_whitespace().last().unwrap_or_default();
            last = name.split('(').next().unwrap_or_default();
        }
    }
    found
}

/// What a line calls by its name.
fn callee(line: &str) -> Option<&str> {
    line.strip_prefix("call.uni ")?.split([',', ';']).next().map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::keep_callers;

    #[test]
    fn declarations_and_definitions_may_return() {
        let ptx = ".func fail\n(\n)\n.noreturn;\n.func fail(\n)\n.noreturn\n{\n\ttrap;\n}\n";
        assert_eq!(keep_callers(ptx), ".func fail\n(\n)\n;\n.func fail(\n)\n\n{\n\ttrap;\n}\n");
    }

    #[test]
    fn what_is_never_reached_returns_and_a_users_exit_stays() {
        let call = |callee: &str, end: &str| {
            format!("\t{{ // callseq 1, 0\n\tcall.uni {callee}, ();\n\t}} // callseq 1\n$L__tmp1:\n{end}")
        };
        let exit = "\t// begin inline asm\n\texit;\n\t// end inline asm\n";
        let declared = ".func fail()\n.noreturn;\n.func back()\n;\n";
        let before = format!("{declared}{}{}{exit}", call("fail", exit), call("back", exit));
        let after = keep_callers(&before);
        assert_eq!(after.matches("\tret;\n").count(), 1);
        assert_eq!(after.matches("exit;").count(), 2);
        assert!(after.find("ret;") < after.find("call.uni back"));
    }
}
