//! Labels that ptxas keeps, in the place of those that it may lose.
//!
//! A scope may end at a label with nothing behind it but a jump. ptxas leaves out jumps and joins blocks where it can, also
//! with `--dont-merge-basicblocks`, and a label that has lost its instruction is address 0 in its DWARF: the scope would end
//! before it begins. Such a scope ends one instruction later, behind the first one of the next block:
//!
//! ```text
//! $L__tmp461:                    the end of a scope
//!     bra.uni $L__BB86_18;
//! $L__BB86_18:
//!     st.b64 [%SP+176], %rd6;
//! $L__end0:                      its end from now on
//! ```

use std::collections::HashMap;
use std::fmt::Write;

use super::tree::{Block, Tree, Value};

/// The text with new labels, and for each label that may be lost the one to use.
pub fn steady(ptx: &str) -> (String, HashMap<String, String>) {
    let mut text = String::with_capacity(ptx.len());
    let mut instead = HashMap::new();
    let mut waiting: Vec<&str> = Vec::new();
    let mut jumped = false;
    let mut sections = false;
    for line in ptx.lines() {
        let _ = writeln!(text, "{line}");
        let trimmed = line.trim();
        sections |= trimmed.starts_with(".section");
        if sections || trimmed.is_empty() || trimmed.starts_with(".loc") || trimmed.starts_with("//") {
            continue;
        }
        if let Some(label) = trimmed.strip_suffix(':') {
            if !jumped {
                waiting.push(label);
            }
        } else if trimmed.starts_with("bra") {
            // After a second jump nothing is known of where the first one's block is.
            if jumped {
                waiting.clear();
            }
            jumped = !waiting.is_empty();
        } else {
            if jumped && trimmed.ends_with(';') && trimmed.starts_with(|first: char| first.is_ascii_lowercase()) {
                let label = format!("$L__end{}", instead.len());
                let _ = writeln!(text, "{label}:");
                instead.extend(waiting.iter().map(|lost| (lost.to_string(), label.clone())));
            }
            jumped = false;
            waiting.clear();
        }
    }
    (text, instead)
}

/// Has scopes end at other labels, and those around them not before.
pub fn end_scopes(tree: &mut Tree, ptx: &str, instead: &HashMap<String, String>) {
    let labels = ptx.lines().enumerate().filter_map(|(at, line)| Some((line.trim().strip_suffix(':')?, at)));
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
        let ptx = "$L__tmp1:\n\tmov.b64 %a, 1;\n$L__tmp2:\n\t.loc 1 0 0\n\tbra.uni \t$L__BB0_9;\n$L__BB0_1:\n\tst.b32 [%a], 1;\n\tret;\n$L__tmp3:\n}\n";
        let (text, instead) = steady(ptx);
        assert_eq!(instead.len(), 1, "{instead:?}");
        assert_eq!(instead["$L__tmp2"], "$L__end0");
        assert_eq!(text, ptx.replace("st.b32 [%a], 1;\n", "st.b32 [%a], 1;\n$L__end0:\n"));
    }
}
