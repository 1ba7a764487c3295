//! What nvdisasm lists, by functions and instructions.

use std::collections::BTreeMap;
use std::ops::Range;

/// What `nvdisasm --print-code` says of a cubin.
#[derive(Debug, Default)]
pub struct Listing {
    /// Of all functions, without those that only fill up the end.
    pub(super) instructions: Vec<Instruction>,
    /// The instruction that a label stands before. nvdisasm gives no label twice.
    pub(super) labels: BTreeMap<String, usize>,
    /// A kernel's instructions and those of what ptxas put behind it, such as its own functions for division.
    pub(super) sections: BTreeMap<String, Range<usize>>,
}

/// One instruction, such as ``@!P0 BRA.U UP1, `(.L_x_1)``.
#[derive(Debug, PartialEq)]
pub(super) struct Instruction {
    /// `BRA.U`.
    pub(super) opcode: String,
    /// ``UP1, `(.L_x_1)``.
    pub(super) operands: String,
    /// Whether it may do nothing.
    pub(super) predicated: bool,
}

impl Listing {
    /// Reads it.
    pub fn parse(text: &str) -> Self {
        let mut listing = Self::default();
        let mut section = None;
        for line in text.lines() {
            if let Some(header) = line.strip_prefix("//---------------------") {
                let name = header.split_whitespace().next().and_then(|name| name.strip_prefix(".text."));
                section = name.map(str::to_string);
            } else if let Some(section) = &section {
                let at = listing.instructions.len();
                if let Some(instruction) = Instruction::parse(line).filter(|instruction| instruction.opcode != "NOP") {
                    listing.instructions.push(instruction);
                    listing.sections.entry(section.clone()).or_insert(at..at).end = at + 1;
                } else if let Some(label) = label(line) {
                    listing.labels.insert(label.to_string(), at);
                }
            }
        }
        listing
    }

    /// The opcodes of a kernel, each with its modifiers; none if there is no such kernel.
    pub fn opcodes(&self, kernel: &str) -> impl Iterator<Item = &str> {
        let section = self.sections.get(kernel).cloned().unwrap_or_default();
        self.instructions[section].iter().map(|instruction| &*instruction.opcode)
    }
}

/// Of a line such as `.L_x_1:`.
fn label(line: &str) -> Option<&str> {
    line.strip_suffix(':').filter(|label| !label.is_empty() && !label.contains(char::is_whitespace))
}

impl Instruction {
    /// Of a line such as `        /*0010*/              @!P0 LDG.E R2, [R2.64] ;`.
    fn parse(line: &str) -> Option<Self> {
        let (_, code) = line.trim_start().strip_prefix("/*")?.split_once("*/")?;
        let code = code.split_once(';')?.0.trim();
        let (predicate, code) = match code.strip_prefix('@') {
            Some(predicated) => predicated.split_once(char::is_whitespace)?,
            None => ("PT", code),
        };
        let (opcode, operands) = code.trim().split_once(char::is_whitespace).unwrap_or((code.trim(), ""));
        let always = matches!(predicate, "PT" | "UPT");
        Some(Self { opcode: opcode.into(), operands: operands.trim().into(), predicated: !always })
    }

    /// The opcode without modifiers.
    pub(super) fn base(&self) -> &str {
        self.opcode.split('.').next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "\t.headerflags @\"EF\"\n//--------------------- .text.ab                         --------------------------\n\
        \t.section\t.text.ab,\"ax\"\n.text.ab:\n        /*0000*/                   MOV R1, c[0x0][0x28] ;\n\
        \u{20}       /*0010*/              @!P0 LDL.64 R2, [R1] ;\n.L_x_1:\n        /*0020*/                   NOP ;\n\
        //--------------------- .text.a                         --------------------------\n\
        a:\n        /*0000*/                   EXIT ;\n//--------------------- .nv.shared.a --------------------------\nb:\n";

    #[test]
    fn instructions_are_those_of_the_kernel_alone() {
        let listing = Listing::parse(LISTING);
        let opcodes = |name: &str| listing.opcodes(name).map(str::to_string).collect::<Vec<_>>();
        assert_eq!(opcodes("ab"), ["MOV", "LDL.64"]);
        assert_eq!(opcodes("a"), ["EXIT"]);
        assert!(opcodes("b").is_empty());
        assert_eq!(listing.labels, [(".text.ab".into(), 0), (".L_x_1".into(), 2), ("a".into(), 2)].into());
    }

    #[test]
    fn an_instruction_has_predicate_opcode_and_operands() {
        let parse = |code: &str| {
            let instruction = Instruction::parse(&format!("        /*0010*/ {code}")).unwrap();
            (instruction.opcode, instruction.operands, instruction.predicated)
        };
        assert_eq!(parse("@!P0 BRA.U UP1, `(.L_x_1) ;"), ("BRA.U".into(), "UP1, `(.L_x_1)".into(), true));
        assert_eq!(parse("EXIT ;"), ("EXIT".into(), String::new(), false));
        assert_eq!(parse("ERRBAR;"), ("ERRBAR".into(), String::new(), false));
        assert!(!parse("@PT EXIT ;").2 && parse("@!UPT BRA `(.L_x_1);").2);
        assert_eq!(Instruction::parse(".L_x_1:"), None);
    }
}
