//! Labels that ptxas keeps, in the place of those that it may lose.
//!
//! A scope may end at a label with nothing behind it but a jump. ptxas leaves out jumps and joins blocks where it can, also
//! with `--dont-merge-basicblocks`, and a label that has lost its instruction is address 0 in its DWARF: the scope would end
//! before it begins. Such a scope ends one instruction later, behind the first one of the next block and those after it that
//! belong to no line of the source, or one earlier:
//!
//! ```text
//! $L__tmp461:                    the end of a scope
//!     bra.uni $L__BB86_18;
//! $L__BB86_18:
//!     st.b64 [%SP+176], %rd6;
//! $L__end0:                      its end from now on
//! ```

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::ops::Range;

use super::tree::{Block, Tree, Value};
use crate::ptx_text::{self, Kind, Line};

/// The text with new labels, and for each label that may be lost the one to use.
pub fn steady(ptx: &str) -> (String, HashMap<String, String>) {
    let code: Vec<Line<'_>> = ptx_text::lines(ptx).take_while(|line| !matches!(line.kind, Kind::Section(_))).collect();
    let next = |from: usize| (from..code.len()).find(|at| is_statement(&code[*at]));
    let mut instead = HashMap::new();
    let mut inserted: BTreeMap<usize, String> = BTreeMap::new();
    for (at, line) in code.iter().enumerate() {
        let Kind::Label(label) = line.kind else { continue };
        let Some(jump) = next(at + 1).filter(|jump| code[*jump].code().starts_with("bra")) else { continue };
        let behind = next(jump + 1).filter(|first| is_simple(&code[*first])).and_then(|first| kept(&code, first));
        // Otherwise the scope ends an instruction early.
        let before = || (0..at).rev().find(|at| is_statement(&code[*at])).filter(|last| is_simple(&code[*last]));
        if let Some(place) = behind.map(|first| first + 1).or_else(before) {
            let count = inserted.len();
            let new = inserted.entry(place).or_insert_with(|| format!("$L__end{count}"));
            instead.insert(label.to_string(), new.clone());
        }
    }
    let mut text = String::with_capacity(ptx.len());
    for (at, line) in ptx_text::lines(ptx).enumerate() {
        if let Some(label) = inserted.get(&at) {
            let _ = writeln!(text, "{label}:");
        }
        let _ = writeln!(text, "{}", line.text);
    }
    (text, instead)
}

/// The instruction before the next one that ptxas keeps, if that does not stand before a jump again. What belongs to no line
/// of the source may be joined with what stands before it, and is passed over where more follows.
fn kept(code: &[Line<'_>], first: usize) -> Option<usize> {
    let following =
        |at: usize| (at + 1..code.len()).find(|at| is_statement(&code[*at])).filter(|at| is_simple(&code[*at]));
    let has_line = |range: Range<usize>| {
        code[range].iter().rev().find_map(|line| match line.kind {
            Kind::Loc { line, .. } => Some(line != "0"),
            _ => None,
        })
    };
    let mut in_line = has_line(0..first).unwrap_or(true);
    let mut last = first;
    let mut second = following(last)?;
    loop {
        in_line = has_line(last..second).unwrap_or(in_line);
        if in_line {
            return Some(last);
        }
        last = second;
        let Some(third) = following(last) else { return Some(first) };
        second = third;
    }
}

/// Whether a line is more than a label, a line number or a comment.
fn is_statement(line: &Line<'_>) -> bool {
    !matches!(line.kind, Kind::Empty | Kind::Label(_) | Kind::Loc { .. } | Kind::Comment(_))
}

/// Whether a line is an instruction that ptxas keeps, and not part of a call.
fn is_simple(line: &Line<'_>) -> bool {
    let line = line.code();
    let jumps = ["bra", "ret", "call", "exit", "trap", "brx"];
    line.ends_with(';')
        && line.starts_with(|first: char| first.is_ascii_lowercase())
        && !jumps.iter().any(|jump| line.starts_with(jump))
}

/// Has scopes end at other labels, and those around them not before.
pub fn end_scopes(tree: &mut Tree, ptx: &str, instead: &HashMap<String, String>) {
    let labels = ptx_text::lines(ptx).enumerate().filter_map(|(at, line)| match line.kind {
        Kind::Label(label) => Some((label, at)),
        _ => None,
    });
    let places: HashMap<&str, usize> = labels.collect();
    // Those within others come first.
    for id in tree.all().into_iter().rev() {
        let Some(end) = tree.entry(id).symbol(gimli::DW_AT_high_pc) else { continue };
        let end = instead.get(end).cloned().unwrap_or_else(|| end.to_string());
        let mut above = tree.entry(id).parent;
        while let Some(outer) = above {
            let entry = tree.entry(outer);
            if let Some(other) = entry.symbol(gimli::DW_AT_high_pc) {
                let other = instead.get(other).map_or(other, String::as_str);
                if places.get(other) < places.get(end.as_str()) {
                    tree.entry_mut(outer).set(gimli::DW_AT_high_pc, label(&end));
                }
                break;
            }
            above = entry.parent;
        }
        tree.entry_mut(id).set(gimli::DW_AT_high_pc, label(&end));
    }
}

fn label(name: &str) -> Value {
    Value::Address(Block { bytes: vec![0; 8], symbols: vec![(0, name.to_string())] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_ends_behind_the_next_instruction() {
        let ptx = "$L__tmp1:\n\tmov.b64 %a, 1;\n$L__tmp2:\n\t.loc 1 0 0\n\tbra.uni \t$L__BB0_9;\n$L__BB0_1:\n\tst.b32 [%a], 1;\n\tld.b32 %b, [%a];\n\tret;\n$L__tmp3:\n}\n";
        let (text, instead) = steady(ptx);
        assert_eq!(instead.len(), 1, "{instead:?}");
        assert_eq!(instead["$L__tmp2"], "$L__end0");
        assert_eq!(text, ptx.replace("st.b32 [%a], 1;\n", "st.b32 [%a], 1;\n$L__end0:\n"));
    }

    #[test]
    fn what_has_no_line_belongs_to_the_scope() {
        let ptx = "$L__tmp1:\n\t.loc 1 7 5\n\tmov.b64 %a, 1;\n$L__tmp2:\n\tbra.uni \t$L__BB0_1;\n$L__BB0_1:\n\t.loc 1 0 5\n\tadd.u64 %b, %SP, 424;\n\tst.b64 [%SP+280], %b;\n\t.loc 1 8 5\n\tst.b8 [%a], 0;\n\tret;\n}\n";
        let (text, instead) = steady(ptx);
        assert_eq!(instead["$L__tmp2"], "$L__end0");
        assert_eq!(text, ptx.replace("%b;\n", "%b;\n$L__end0:\n"));
    }

    #[test]
    fn before_a_call_it_ends_an_instruction_early() {
        let ptx = "$L__tmp1:\n\tmov.b64 %a, 1;\n$L__tmp2:\n\tbra.uni \t$L__BB0_9;\n$L__BB0_9:\n\t{ // callseq\n\t}\n";
        let (text, instead) = steady(ptx);
        assert_eq!(instead["$L__tmp2"], "$L__end0");
        assert_eq!(text, ptx.replace("\tmov", "$L__end0:\n\tmov"));
    }
}
