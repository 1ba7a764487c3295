//! Where control goes in machine code, and its innermost loops: [`loops`] says which count.

use std::collections::BTreeSet;

use petgraph::Incoming;
use petgraph::algo::kosaraju_scc;
use petgraph::graphmap::DiGraphMap;
use petgraph::visit::{Dfs, NodeFiltered, Reversed};

use super::listing::{Instruction, Listing};

/// What may run after an instruction of a function, by their numbers, which are in the order of addresses.
type Graph = DiGraphMap<usize, ()>;

/// Where control goes from an instruction.
#[derive(Debug, Default, PartialEq)]
struct Next {
    /// To the instruction behind it, and to others.
    to: Vec<usize>,
    /// Into a function, which comes back.
    calls: Vec<usize>,
    /// Out of the function.
    leaves: bool,
}

/// How many instructions each innermost loop has that a kernel runs as long as nothing panics.
///
/// **What runs.** From the kernel's first instruction along every edge, and into every function that is called; of this,
/// only what may still get to an `EXIT` or `RET`. So these are left out:
/// - what only leads to a trap or to the `exit` of a panic: the code that reports it, with its loop that waits for the host;
/// - the copies for warps that have diverged before a barrier: `BRA.DIV` is never taken, `BRA.CONV` always;
/// - functions that only such code calls.
///
/// **Loops.** A loop is as many instructions as possible that may each run again after each other one. Of a loop without
/// the instruction by which it is entered, what is left has inner loops, or the loop is an innermost one. So all ways back
/// to one instruction are one loop, as in LLVM. Of several instructions by which a loop is entered, the first counts.
pub fn loops(listing: &Listing, kernel: &str) -> Result<Vec<usize>, String> {
    let section = listing.sections.get(kernel).ok_or_else(|| format!("nvdisasm shows no code of `{kernel}`"))?;
    let (mut found, mut known, mut functions) = (Vec::new(), BTreeSet::new(), vec![section.start]);
    while let Some(function) = functions.pop() {
        if known.insert(function) {
            let function = Function::new(listing, function, &mut Vec::new())?;
            innermost(&function.runs, &function.runs.nodes().collect(), &mut found);
            functions.extend(function.calls);
        }
    }
    Ok(found)
}

/// A kernel, or a function that is called.
struct Function {
    /// What runs of it.
    runs: Graph,
    /// The functions that this calls.
    calls: Vec<usize>,
    /// Whether it has an end but a trap.
    ends: bool,
}

impl Function {
    /// The function that begins with this instruction. `callers` are those that are being looked at, innermost last: of them
    /// nothing is known yet, and it is taken that they end.
    fn new(listing: &Listing, first: usize, callers: &mut Vec<usize>) -> Result<Self, String> {
        let mut graph = Graph::new();
        let (mut calls, mut leaving, mut open) = (Vec::new(), Vec::new(), vec![first]);
        callers.push(first);
        while let Some(at) = open.pop() {
            let mut next = next(listing, at)?;
            for function in next.calls {
                calls.push((at, function));
                let ends = callers.contains(&function) || Self::new(listing, function, callers)?.ends;
                if !ends && !listing.instructions[at].predicated {
                    next.to.clear();
                }
            }
            graph.add_node(at);
            for to in next.to {
                if !graph.contains_node(to) {
                    open.push(to);
                }
                graph.add_edge(at, to, ());
            }
            if next.leaves {
                leaving.push(at);
            }
        }
        callers.pop();
        let ends = !leaving.is_empty();
        let mut runs = BTreeSet::new();
        for end in leaving {
            let back = Reversed(&graph);
            let mut search = Dfs::new(back, end);
            while let Some(at) = search.next(back) {
                runs.insert(at);
            }
        }
        calls.retain(|(at, _)| runs.contains(at));
        let calls = calls.into_iter().map(|(_, function)| function).collect();
        let runs = graph.all_edges().filter(|(from, to, ())| runs.contains(from) && runs.contains(to)).collect();
        Ok(Self { runs, calls, ends })
    }
}

/// Where control goes from the instruction of this number.
fn next(listing: &Listing, at: usize) -> Result<Next, String> {
    let instruction = &listing.instructions[at];
    let mut next = Next::default();
    let follows = listing.sections.values().any(|section| section.contains(&at) && section.contains(&(at + 1)));
    let falls = match (instruction.base(), &*instruction.opcode) {
        (_, "BRA.DIV") => true,
        (_, "BRA.CONV") => {
            next.to = labels(listing, instruction);
            false
        }
        ("BRA" | "BRX" | "JMP" | "JMX", _) => {
            next.to = labels(listing, instruction);
            if next.to.is_empty() {
                return Err(format!("where this leads is not known: {} {}", instruction.opcode, instruction.operands));
            }
            // `BRA P0, .L_x_1` has its condition among its operands.
            instruction.predicated || matches!(instruction.operands.trim_start_matches('!').get(..1), Some("P" | "U"))
        }
        // ptxas leaves some loops by a call of a place inside of the function, which does not come back.
        ("CALL", _) if instruction.operands.contains("`(.L_") => {
            next.to = labels(listing, instruction);
            instruction.predicated
        }
        ("CALL", _) => {
            next.calls = labels(listing, instruction);
            true
        }
        ("EXIT" | "RET" | "KILL", _) => {
            next.leaves = !ends_report(listing, at);
            instruction.predicated
        }
        // A launch ends with it.
        (_, "BPT.TRAP") => instruction.predicated,
        _ => true,
    };
    if falls && follows {
        next.to.push(at + 1);
    }
    Ok(next)
}

/// Whether an `EXIT` is that of a panic's report, which makes the record visible to the host just before; who returns leaves
/// that to the end of the launch.
fn ends_report(listing: &Listing, at: usize) -> bool {
    let instruction = &listing.instructions[at];
    // What belongs to a fence stands behind it.
    let before = |at: &usize| !matches!(listing.instructions[*at].base(), "ERRBAR" | "CGAERRBAR" | "CCTL" | "NOP");
    let fence = (0..at).rev().find(before).map(|at| &listing.instructions[at]);
    instruction.base() == "EXIT"
        && !instruction.predicated
        && fence.is_some_and(|fence| fence.base() == "MEMBAR" && fence.opcode.ends_with(".SYS"))
}

/// The instructions whose labels an instruction names, as in ``P0, `(.L_x_1)``.
fn labels(listing: &Listing, instruction: &Instruction) -> Vec<usize> {
    let words = instruction.operands.split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '_' | '$')));
    words.filter_map(|word| listing.labels.get(word)).filter(|at| **at < listing.instructions.len()).copied().collect()
}

/// Innermost loops among these instructions.
fn innermost(graph: &Graph, among: &BTreeSet<usize>, found: &mut Vec<usize>) {
    let part = NodeFiltered::from_fn(graph, |at| among.contains(&at));
    for component in kosaraju_scc(&part) {
        let mut body: BTreeSet<usize> = component.into_iter().collect();
        let size = body.len();
        let enters = |at: &&usize| graph.neighbors_directed(**at, Incoming).any(|before| !body.contains(&before));
        let Some(entry) = body.iter().find(enters).or(body.first()).copied() else { continue };
        if size == 1 && !graph.contains_edge(entry, entry) {
            continue;
        }
        body.remove(&entry);
        let before = found.len();
        innermost(graph, &body, found);
        if found.len() == before {
            found.push(size);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The loops of kernel `k`: a line is an instruction, or a label with a colon; `.text.NAME` begins a section.
    fn loops_of(code: &str) -> Result<Vec<usize>, String> {
        let line = |line: &str| match line.trim() {
            section if section.starts_with(".text.") => format!("//--------------------- {section} ---\n"),
            label if label.ends_with(':') => format!("{label}\n"),
            instruction => format!("        /*0000*/ {instruction} ;\n"),
        };
        let listing = code.trim().lines().map(line).collect::<String>();
        let mut found = loops(&Listing::parse(&format!("//--------------------- .text.k ---\n{listing}")), "k")?;
        found.sort_unstable();
        Ok(found)
    }

    #[track_caller]
    fn check(code: &str, expected: &[usize]) {
        assert_eq!(loops_of(code).unwrap(), expected, "{code}");
    }

    #[test]
    fn straight_code_has_no_loop() {
        check("MOV\n@P0 EXIT\n@!P1 BRA `(.a)\nFADD\n.a:\nEXIT\nBRA `(.a)", &[]);
    }

    #[test]
    fn a_loop_is_what_may_run_again() {
        check("MOV\n.a:\nFADD\nFMUL\n@P0 BRA `(.a)\nEXIT", &[3]);
        // Left in the middle, by a branch in either form.
        check(".a:\nFADD\n@P0 BRA `(.b)\nFMUL\nBRA `(.a)\n.b:\nEXIT", &[4]);
        check(".a:\nFADD\nBRA P0, `(.b)\nFMUL\nBRA.U !UP0, `(.a)\n.b:\nEXIT", &[4]);
        // Left by what looks like a call.
        check(".a:\nFADD\n@P0 CALL.REL.NOINC `(.L_x_1)\nBRA `(.a)\n.L_x_1:\nEXIT", &[3]);
        // Two ways back are one loop.
        check(".a:\nFADD\n@P0 BRA `(.a)\nFMUL\n@P1 BRA `(.a)\nEXIT", &[4]);
        check(".a:\nBRA P0, `(.a)\nEXIT", &[1]);
    }

    #[test]
    fn only_innermost_loops_count() {
        check(".a:\nMOV\n.b:\nFADD\n@P0 BRA `(.b)\nFMUL\n@P1 BRA `(.a)\nEXIT", &[2]);
        check(".a:\nMOV\n.b:\nFADD\n@P0 BRA `(.b)\n.c:\nFMUL\nFMUL\n@P2 BRA `(.c)\n@P1 BRA `(.a)\nEXIT", &[2, 3]);
    }

    #[test]
    fn a_loop_with_two_entries_counts() {
        check("@P0 BRA `(.b)\n.a:\nFADD\n.b:\nFMUL\n@P1 BRA `(.a)\nEXIT", &[3]);
    }

    #[test]
    fn what_only_leads_to_a_trap_is_left_out() {
        // The report of a panic waits in a loop, and may never end.
        let panic = ".w:\nNANOSLEEP\n@P3 BRA `(.w)\nBPT.TRAP 0x1\n.x:\nBRA `(.x)";
        check(&format!(".a:\nFADD\n@P2 BRA `(.w)\n@P0 BRA `(.a)\nEXIT\n{panic}"), &[3]);
        // It may end the thread alone, and so does who finds that another has panicked, who has no loop.
        let fence = "MEMBAR.SC.SYS\nERRBAR\nCGAERRBAR\nCCTL.IVALL";
        let panic = format!("@P4 BRA `(.w)\nREDG\nEXIT\n.w:\nNOP\n@P3 BRA `(.w)\n{fence}\nSTG\n{fence}\nEXIT");
        check(&format!(".a:\nFADD\n@P2 BRA `(.p)\n@P0 BRA `(.a)\nEXIT\n.p:\n{panic}"), &[3]);
        // Not every fence is a panic's.
        check(&format!(".a:\nFADD\n{fence}\n@P0 BRA `(.a)\nSTG\nEXIT"), &[6]);
        // ptxas puts other code behind a trap.
        check("@P0 BRA `(.b)\n.w:\nNANOSLEEP\n@P1 BRA `(.w)\nBPT.TRAP 0x1\n.b:\n.c:\nFADD\n@P2 BRA `(.c)\nEXIT", &[2]);
        // A trap that may not happen ends nothing.
        check(".a:\nFADD\n@P1 BPT.TRAP 0x1\n@P0 BRA `(.a)\nEXIT", &[3]);
    }

    #[test]
    fn copies_for_warps_that_have_diverged_are_left_out() {
        let copy = ".d:\nWARPSYNC.COLLECTIVE.ALL `(.e)\nBAR.SYNC\n.e:\n.f:\nFADD\nFADD\n@P0 BRA `(.f)\nEXIT";
        check(&format!("BRA.DIV UR4, `(.d)\nBAR.SYNC\n.a:\nFADD\n@P0 BRA `(.a)\nEXIT\n{copy}"), &[2]);
        let slow = "CALL.REL.NOINC `($sync)\nBRA `(.c)";
        let function = "$sync:\nWARPSYNC\n.w:\nNANOSLEEP\n@P0 BRA `(.w)\nRET.REL.NODEC R2 `(k)";
        check(&format!(".a:\nBRA.CONV ~URZ, `(.b)\n{slow}\n.b:\nBAR.SYNC\n.c:\n@P0 BRA `(.a)\nEXIT\n{function}"), &[3]);
    }

    #[test]
    fn functions_that_run_count_once() {
        let trap = ".w:\nNANOSLEEP\n@P3 BRA `(.w)\nBPT.TRAP";
        let function = "$f:\n.f:\nFADD\n@P0 BRA `(.f)\nRET.REL.NODEC R2 `(k)";
        check(&format!("CALL.REL.NOINC `($f)\nCALL.REL.NOINC `($f)\nEXIT\n{function}"), &[2]);
        check(&format!("EXIT\n{function}"), &[]);
        check(&format!("@P0 BRA `(.p)\nEXIT\n.p:\nCALL.REL.NOINC `($f)\nBPT.TRAP\n{function}"), &[]);
        check(&format!("CALL.REL.NOINC `(f)\nEXIT\n.text.f\nf:\n{function}"), &[2]);
        // One that always traps does not come back.
        check(
            &format!(
                ".a:\nFADD\n@P0 BRA `(.p)\n@P1 BRA `(.a)\nEXIT\n.p:\nCALL.REL.NOINC `($p)\n.q:\nBRA `(.a)\n$p:\n{trap}"
            ),
            &[3],
        );
        // One that calls itself.
        check("CALL.REL.NOINC `($f)\nEXIT\n$f:\n@P0 CALL.REL.NOINC `($f)\n.f:\n@P0 BRA `(.f)\nRET", &[1]);
        // What is not in the cubin.
        check("CALL.ABS.NOINC `(vprintf)\nEXIT", &[]);
    }

    #[test]
    fn a_table_of_targets_is_followed() {
        check(".a:\nBRX R2 -0x10 (*\"BRANCH_TARGETS .b,.c\"*)\n.b:\nFADD\nBRA `(.a)\n.c:\nEXIT", &[3]);
        assert!(loops_of("BRX R2 -0x10\nEXIT").unwrap_err().contains("BRX R2 -0x10"));
        assert!(loops_of(".text.l\nEXIT").unwrap_err().contains("no code of `k`"));
    }
}
