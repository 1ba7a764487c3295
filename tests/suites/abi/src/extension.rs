//! What PTX code says of the upper bits of a 32-bit register: proves that a small integer was extended by its sign.
//!
//! Guide §2.3, note A. Every instruction that is not known here makes its result unknown.

use std::collections::{BTreeMap, BTreeSet};

/// A register holds a number of so many bits, extended by that sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// 1 to 32.
    pub bits: u32,
    /// Extended by the sign bit, not by zeros.
    pub is_signed: bool,
}

impl Range {
    /// Whether every such number also is one of `bits` bits with that sign.
    pub fn fits(self, bits: u64, is_signed: bool) -> bool {
        let own = u64::from(self.bits);
        match (self.is_signed, is_signed) {
            (false, true) => own < bits,
            (true, false) => false,
            _ => own <= bits,
        }
    }
}

/// Registers of which something is known.
#[derive(Debug, Default)]
pub struct Registers {
    known: BTreeMap<String, Range>,
    /// Those that more than one instruction of the function writes.
    rewritten: BTreeSet<String>,
}

impl Registers {
    /// Nothing is known at the start of a function with these instructions.
    pub fn of_body<'w, 'a: 'w>(instructions: impl Iterator<Item = &'w [&'a str]>) -> Self {
        let mut registers = Self::default();
        let mut written = BTreeSet::new();
        for register in instructions.flat_map(targets) {
            if !written.insert(*register) {
                registers.rewritten.insert((*register).to_string());
            }
        }
        registers
    }

    /// What is known of a register or a number.
    pub fn of(&self, operand: &str) -> Option<Range> {
        if let Ok(number) = operand.parse::<i64>() {
            return Some(of_number(number));
        }
        self.known.get(operand).copied()
    }

    /// A label: other paths lead here. What holds for the only write of a register holds on each of them.
    pub fn join(&mut self) {
        self.known.retain(|register, _| !self.rewritten.contains(register));
    }

    /// One instruction, without its semicolon.
    pub fn step(&mut self, words: &[&str]) {
        let (is_predicated, op, operands) = split(words);
        let range = match operands {
            // A vector's parts are not looked at. Under a predicate the register may keep what it has.
            ["{", ..] => None,
            _ if is_predicated => None,
            [_, sources @ ..] => {
                let sources: Vec<&str> =
                    sources.iter().copied().filter(|word| !matches!(*word, "," | "[" | "]")).collect();
                self.result(op, &sources)
            }
            [] => return,
        };
        for register in targets(words) {
            match range {
                Some(range) => self.known.insert((*register).to_string(), range),
                None => self.known.remove(*register),
            };
        }
    }

    fn result(&self, op: &str, operands: &[&str]) -> Option<Range> {
        let parts: Vec<&str> = op.split('.').collect();
        let first = operands.first().copied().unwrap_or_default();
        let of = |index: usize| operands.get(index).and_then(|operand| self.of(operand));
        match parts[0] {
            // A load of fewer bits extends by the instruction's type; bits extend by zeros (PTX ISA, "Operand Size
            // Exceeding Instruction-Type Size").
            "ld" | "ldu" if !op.contains(".v2") && !op.contains(".v4") => typed(parts.last()?),
            "mov" => self.of(first),
            "cvt" => {
                let (to, from) = (typed(parts.get(parts.len().checked_sub(2)?)?)?, typed(parts.last()?)?);
                // The source's low bits count; what is known of it may be less.
                let source =
                    self.of(first).filter(|range| range.fits(u64::from(from.bits), from.is_signed)).unwrap_or(from);
                if source.fits(u64::from(to.bits), to.is_signed) || to.bits >= 32 {
                    Some(source)
                } else {
                    Some(Range { bits: to.bits, is_signed: to.is_signed })
                }
            }
            "and" => {
                // One operand without a sign bounds the result.
                let bound = |range: Option<Range>| range.filter(|range| !range.is_signed);
                match (bound(of(0)), bound(of(1))) {
                    (Some(a), Some(b)) => Some(if a.bits < b.bits { a } else { b }),
                    (a, b) => a.or(b),
                }
            }
            "or" | "xor" | "selp" => wider(of(0)?, of(1)?),
            "shr" => {
                let by = operands.get(1)?.parse::<u32>().ok()?;
                let ty = typed(parts.last()?)?;
                Some(Range { bits: ty.bits.checked_sub(by)?.max(1), is_signed: ty.is_signed })
            }
            "bfe" => {
                let len = operands.get(2)?.parse::<u32>().ok()?;
                Some(Range { bits: len, is_signed: typed(parts.last()?)?.is_signed })
            }
            "setp" | "set" => None,
            _ => None,
        }
    }
}

/// Whether it has a predicate, the opcode, and the words after it.
fn split<'w, 'a>(words: &'w [&'a str]) -> (bool, &'a str, &'w [&'a str]) {
    match words {
        [predicate, op, operands @ ..] if predicate.starts_with('@') => (true, op, operands),
        [op, operands @ ..] => (false, op, operands),
        [] => (false, "", &[]),
    }
}

/// The registers that an instruction writes: its first operand, or all in its first operand's braces. Some instructions
/// only read theirs, such as branches; to count it as written is on the safe side.
fn targets<'w, 'a>(words: &'w [&'a str]) -> &'w [&'a str] {
    match split(words).2 {
        ["{", list @ ..] => list.split(|word| *word == "}").next().unwrap_or_default(),
        [target, ..] => std::slice::from_ref(target),
        [] => &[],
    }
}

/// `u8`, `s16`, `b32`.
fn typed(name: &str) -> Option<Range> {
    let bits = name.get(1..)?.parse().ok()?;
    match name.as_bytes()[0] {
        b'u' | b'b' => Some(Range { bits, is_signed: false }),
        b's' => Some(Range { bits, is_signed: true }),
        _ => None,
    }
}

fn of_number(number: i64) -> Range {
    if number >= 0 {
        Range { bits: 64 - number.leading_zeros(), is_signed: false }
    } else {
        Range { bits: 65 - (!number).leading_zeros(), is_signed: true }
    }
}

/// What both are.
fn wider(a: Range, b: Range) -> Option<Range> {
    let bits = |range: Range, is_signed: bool| range.bits + u32::from(is_signed && !range.is_signed);
    let is_signed = a.is_signed || b.is_signed;
    Some(Range { bits: bits(a, is_signed).max(bits(b, is_signed)), is_signed })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(code: &[&[&str]]) -> Registers {
        let mut registers = Registers::default();
        code.iter().for_each(|words| registers.step(words));
        registers
    }

    #[test]
    fn extensions_are_seen() {
        let known = |code: &[&[&str]]| after(code).of("%r1");
        let signed = |bits| Some(Range { bits, is_signed: true });
        let unsigned = |bits| Some(Range { bits, is_signed: false });
        assert_eq!(known(&[&["ld.global.s8", "%r1", ",", "[", "v", "]"]]), signed(8));
        assert_eq!(known(&[&["ld.b8", "%rs1", ",", "[", "v", "]"], &["cvt.u32.u16", "%r1", ",", "%rs1"]]), unsigned(8));
        assert_eq!(known(&[&["ld.b8", "%rs1", ",", "[", "v", "]"], &["cvt.s32.s8", "%r1", ",", "%rs1"]]), signed(8));
        assert_eq!(known(&[&["cvt.s32.s16", "%r1", ",", "%rs1"]]), signed(16));
        assert_eq!(known(&[&["and.b32", "%r1", ",", "%r7", ",", "255"]]), unsigned(8));
        assert_eq!(known(&[&["selp.b32", "%r1", ",", "1", ",", "0", ",", "%p1"]]), unsigned(1));
        assert_eq!(known(&[&["mov.b32", "%r1", ",", "-128"]]), signed(8));
        assert_eq!(known(&[&["ld.param.b32", "%r1", ",", "[", "p", "]"]]), unsigned(32));
        assert_eq!(known(&[&["cvt.u16.u32", "%rs1", ",", "%r2"], &["cvt.u32.u16", "%r1", ",", "%rs1"]]), unsigned(16));
        assert_eq!(known(&[&["ld.b8", "%r1", ",", "[", "v", "]"], &["add.s32", "%r1", ",", "%r1", ",", "1"]]), None);
    }

    #[test]
    fn what_fits_in_what() {
        let range = |bits, is_signed| Range { bits, is_signed };
        assert!(range(8, false).fits(8, false) && range(7, false).fits(8, true) && range(8, true).fits(16, true));
        assert!(!range(8, false).fits(8, true) && !range(8, true).fits(8, false) && !range(16, false).fits(8, false));
    }
}
