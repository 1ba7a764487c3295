//! Multiplies 32 bits where LLVM shifts or multiplies 64 that it has extended from them.
//!
//! ```text
//! cvt.u64.u32 %rd5, %r16;
//! …
//! shl.b64 %rd7, %rd5, 4;
//! mul.lo.s64 %rd9, %rd5, 12;
//! ```
//!
//! becomes
//!
//! ```text
//! cvt.u64.u32 %rd5, %r16;
//! …
//! mul.wide.u32 %rd7, %r16, 16;
//! mul.wide.u32 %rd9, %r16, 12;
//! ```
//!
//! LLVM selects instructions block by block, and writes `mul.wide` only where the extension stands in the same block. ptxas
//! makes one instruction, `IMAD.WIDE`, of a `mul.wide` and the addition of an address, in every round of a loop if need be; of
//! a shift it makes two, and of the addition two more. A product with a constant only where a loop uses what is computed
//! before it: on an H200 a scalar product became 8 % faster, but kernels without loops up to 2 % slower where all were wide.
//! A mask of the lower half is an extension, too, where that half has a register. Where it has none, as in `a as u64 * b as
//! u64` of a hash, LLVM combines masks, shifts by 32 and `xor` of 64 bits, and forgets that they are below 2^32; ptxas then
//! adds what the upper halves would give, which is 0. A product of such numbers is one of their lower halves:
//!
//! ```text
//! shr.u64 %rd2, %rd1, 32;
//! xor.b64 %rd3, %rd2, 7;
//! { .reg .b32 %low0; cvt.u32.u64 %low0, %rd3; mul.wide.u32 %rd4, %low0, 3528531795; }   // mul.lo.s64 %rd4, %rd3, 3528531795;
//! ```
//!
//! A number that was loaded from 32 bits into a register of 64, as a row of a table, has no register of 32 bits either.
//!
//! It is right where both registers are written at one place, as nearly all are: LLVM's registers are then what its values
//! were, and whatever reads `%rd5` comes after `%rd5`, which comes after `%r16`. If `%r16` were written again between
//! `%rd5` and its reader, there would be a way to the reader without `%rd5`: the way to that second writing, and on from
//! there. A register that is written again, as a number that a loop counts on from, is still what it was first where no way
//! leads from the second writing to the reader. It is done in the text, because no LLVM module keeps an extension and its use in one block. A line stays one line.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use crate::hash::QuickMap;
use crate::ptx_text::{self, Kind, Line};
use crate::request::OptLevel;

/// The highest power of two that is a positive number of 32 bits with and without sign.
const MOST_SHIFTED: u32 = 30;

/// What is known of a register.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Register<'a> {
    /// Written at several places, or at one that is not understood.
    Unknown,
    /// Written at one place.
    Once,
    /// The same, by an extension of a register.
    Extended { signed: bool, from: &'a str },
    /// The same, below 2^32 if these registers are; a name that is empty is none.
    Low([&'a str; 2]),
}

/// How many registers back it is asked whether one is below 2^32.
const MOST_BACK: u32 = 6;

/// The registers of a function.
#[derive(Default)]
struct Registers<'a> {
    known: QuickMap<&'a str, Register<'a>>,
    /// The first block that names a register, and the others in their order.
    blocks: QuickMap<&'a str, (usize, Vec<usize>)>,
    /// Where a label stands.
    labels: QuickMap<&'a str, usize>,
    /// The first and the last block of what jumps back.
    loops: Vec<RangeInclusive<usize>>,
    /// The extensions that registers are first, in the text's order, which are written again; and in which blocks that is.
    again: QuickMap<&'a str, (Register<'a>, Vec<usize>)>,
    flow: Flow<'a>,
}

/// The jumps of a function.
#[derive(Default)]
struct Flow<'a> {
    /// From which block to which label.
    jumps: Vec<(usize, &'a str)>,
    /// The blocks that do not go on to the next one.
    ends: Vec<usize>,
    /// The last block.
    last: usize,
    /// It has jumps that are not understood.
    is_unknown: bool,
}

impl<'a> Flow<'a> {
    /// Knows where a block goes by one of its statements, in their order.
    fn learn(&mut self, words: &[&'a str], block: usize) {
        self.ends.retain(|end| *end != block);
        match words {
            [.., "bra" | "bra.uni", label, ";"] => {
                self.jumps.push((block, label));
                if words.len() == 3 {
                    self.ends.push(block);
                }
            }
            ["ret" | "exit", ";"] => self.ends.push(block),
            _ => self.is_unknown |= words.iter().any(|word| word.starts_with("brx")),
        }
    }
}

impl Registers<'_> {
    /// Whether a loop uses a register that is written before it.
    fn is_used_in_loop(&self, register: &str) -> bool {
        let Some((first, rest)) = self.blocks.get(register) else { return false };
        self.loops.iter().any(|found| !found.contains(first) && rest.iter().any(|block| found.contains(block)))
    }

    /// What a register is where a block reads it: if it is written again, but no way leads from there to the block, what it
    /// was first.
    fn of(&self, register: &str, block: usize) -> Option<Register<'_>> {
        match (self.known.get(register)?, self.again.get(register)) {
            (Register::Unknown, Some((first, again))) if !self.flow.is_unknown && !self.leads(again, block) => {
                Some(*first)
            }
            (known, _) => Some(*known),
        }
    }

    /// Whether a way leads from one of these blocks to a block, which may be one of them.
    fn leads(&self, from: &[usize], to: usize) -> bool {
        let mut reached: Vec<usize> = from.to_vec();
        let mut at = 0;
        while let Some(&block) = reached.get(at) {
            at += 1;
            if block == to {
                return true;
            }
            let next = (!self.flow.ends.contains(&block)).then_some(block + 1);
            let jumps = self.flow.jumps.iter().filter(|(from, _)| *from == block);
            let targets = jumps.filter_map(|(_, label)| self.labels.get(label).copied());
            for target in targets.chain(next).filter(|target| *target <= self.flow.last) {
                if !reached.contains(&target) {
                    reached.push(target);
                }
            }
        }
        false
    }

    /// Whether a register of 64 bits is below 2^32.
    fn is_low(&self, register: &str, back: u32) -> bool {
        match self.known.get(register) {
            Some(Register::Extended { signed: false, .. }) => true,
            Some(Register::Low(of)) => {
                of.iter().all(|register| register.is_empty() || back > 0 && self.is_low(register, back - 1))
            }
            _ => false,
        }
    }
}

/// Rewrites the functions of a module that is to be fast.
pub fn rewrite(ptx: &str, level: OptLevel) -> String {
    if !level.is_for_speed() {
        return ptx.into();
    }
    let mut functions = registers(ptx).into_iter();
    let mut known = Registers::default();
    // As they are counted in `registers`.
    let mut block = 0;
    let lines = ptx_text::lines(ptx).map(|line| {
        match line.kind {
            Kind::Function(_) => known = functions.next().unwrap_or_default(),
            Kind::Label(_) if !line.is_inline && known.flow.last > 0 => block += 1,
            _ => {}
        }
        match product(&line, &known, block) {
            Some(product) => Cow::Owned(format!("\t{product}\n")),
            None => Cow::Borrowed(&ptx[line.range]),
        }
    });
    let mut text = String::with_capacity(ptx.len());
    text.extend(lines);
    text
}

/// The registers of each function, declared ones too.
fn registers(ptx: &str) -> Vec<Registers<'_>> {
    let mut functions: Vec<Registers<'_>> = Vec::new();
    // Whether the last line ended within a statement, and the number of the block.
    let (mut is_open, mut block) = (false, 0);
    let mut halves = Halves::default();
    let mut words = Vec::new();
    for line in ptx_text::lines(ptx) {
        if let Kind::Function(_) = line.kind {
            functions.push(Registers::default());
            is_open = false;
        }
        let Some(Registers { known, blocks, labels, loops, again, flow }) = functions.last_mut() else { continue };
        if let (Kind::Label(label), false) = (line.kind, line.is_inline) {
            block += 1;
            labels.insert(label, block);
            flow.last = block;
            halves.0.clear();
        }
        if line.kind != Kind::Statement {
            continue;
        }
        words.clear();
        words.extend(ptx_text::words(line.text));
        if !line.is_inline {
            flow.learn(&words, block);
        }
        if let [.., "bra" | "bra.uni", label, ";"] = words[..]
            && let Some(first) = labels.get(label)
        {
            loops.push(*first..=block);
        }
        for register in words.iter().filter(|word| is_register(word)) {
            let (first, rest) = blocks.entry(register).or_insert_with(|| (block, Vec::new()));
            if rest.last().unwrap_or(first) != &block {
                rest.push(block);
            }
        }
        for statement in words.split_inclusive(|word| *word == ";") {
            let (is_whole, was_open) = (statement.ends_with(&[";"]), is_open);
            is_open = !is_whole;
            let written = if is_whole && !was_open {
                writes(statement, line.is_inline)
            } else {
                // It may write whatever it names.
                unknown(statement)
            };
            for (register, written) in halves.learn(statement, line.is_inline, written) {
                match known.get_mut(register) {
                    Some(first) => {
                        match (*first, again.get_mut(register)) {
                            (_, Some((_, blocks))) => blocks.push(block),
                            (Register::Extended { .. }, None) => {
                                again.insert(register, (*first, vec![block]));
                            }
                            _ => {}
                        }
                        *first = Register::Unknown;
                    }
                    None => {
                        known.insert(register, written);
                    }
                }
            }
        }
        // What stands in braces or begins with a label ends without a `;`.
        is_open &= !matches!(words.last(), Some(&("{" | "}" | ":")));
    }
    functions
}

/// In a block, the registers of 32 bits that are the lower halves of others.
#[derive(Default)]
struct Halves<'a>(QuickMap<&'a str, &'a str>);

impl<'a> Halves<'a> {
    /// Knows a mask of the lower half for the extension of it that it is, and what the statement's registers are no longer.
    fn learn(
        &mut self,
        statement: &[&'a str],
        is_inline: bool,
        mut written: Vec<(&'a str, Register<'a>)>,
    ) -> Vec<(&'a str, Register<'a>)> {
        if let (false, ["and.b64", result, ",", from, ",", "4294967295", ";"]) = (is_inline, statement)
            && let Some(from) = self.0.get(from)
        {
            written = vec![(result, Register::Extended { signed: false, from })];
        } else if let (false, Some((result, of))) = (is_inline, low(statement)) {
            written = vec![(result, Register::Low(of))];
        }
        for (register, _) in &written {
            self.0.retain(|whole, half| whole != register && half != register);
        }
        if let (false, ["cvt.u32.u64", half, ",", from, ";"]) = (is_inline, statement) {
            self.0.insert(from, half);
        }
        written
    }
}

/// What a statement writes that is below 2^32 where those registers are. A load of fewer bits than the register has puts
/// zeros before them, unless they have a sign (PTX ISA, "Data Movement and Conversion Instructions: ld").
fn low<'a>(statement: &[&'a str]) -> Option<(&'a str, [&'a str; 2])> {
    if let [load, result, ",", "[", ..] = *statement {
        let is_low = load.starts_with("ld.")
            && [".b32", ".u32", ".b16", ".u16", ".b8", ".u8"].iter().any(|ty| load.ends_with(ty));
        return (is_low && result.starts_with("%rd")).then_some((result, ["", ""]));
    }
    let [name, result, ",", left, ",", right, ";"] = *statement else { return None };
    let of = match (name, right.parse::<u64>()) {
        ("and.b64", Ok(number)) if number <= u64::from(u32::MAX) => ["", ""],
        ("shr.u64", Ok(bits)) if bits >= 32 => ["", ""],
        ("xor.b64" | "or.b64", Ok(number)) if number <= u64::from(u32::MAX) => [left, ""],
        ("xor.b64" | "or.b64", Err(_)) if is_register(right) => [left, right],
        _ => return None,
    };
    is_register(result).then_some((result, of))
}

fn unknown<'a>(words: &[&'a str]) -> Vec<(&'a str, Register<'a>)> {
    let registers = words.iter().filter(|word| is_register(word));
    registers.map(|register| (*register, Register::Unknown)).collect()
}

/// The registers that a statement writes, and what is known of them then.
fn writes<'a>(statement: &[&'a str], is_inline: bool) -> Vec<(&'a str, Register<'a>)> {
    // A block may begin or end before it, and labels stand there.
    let begin = statement.iter().rposition(|word| matches!(*word, ":")).map_or(0, |colon| colon + 1);
    let begin = begin + statement[begin..].iter().take_while(|word| matches!(**word, "{" | "}")).count();
    match &statement[begin..] {
        [directive, ..] if directive.starts_with('.') => Vec::new(),
        [guard, rest @ ..] if guard.starts_with('@') => unknown(results(rest)),
        // The registers of an `asm!` may be its own.
        [name, result, ",", from, ";"] if !is_inline && is_register(result) => vec![(
            result,
            match *name {
                "cvt.u64.u32" => Register::Extended { signed: false, from },
                "cvt.s64.s32" => Register::Extended { signed: true, from },
                _ => Register::Once,
            },
        )],
        [_, result, ",", ..] if is_register(result) => vec![(*result, Register::Once)],
        rest => unknown(results(rest)),
    }
}

/// What one instruction without a guard writes: its first operand, which may be several in braces or one behind a `|`. In
/// brackets stands a place in memory.
fn results<'w, 'a>(words: &'w [&'a str]) -> &'w [&'a str] {
    let operands = words.get(1..).unwrap_or_default();
    let end = match operands.first() {
        Some(&"[") => Some(0),
        Some(&"{") => operands.iter().position(|word| *word == "}"),
        Some(&"(") => operands.iter().position(|word| *word == ")"),
        _ => operands.iter().position(|word| *word == ","),
    };
    &operands[..end.unwrap_or(operands.len())]
}

fn is_register(word: &str) -> bool {
    word.strip_prefix('%').is_some_and(|name| name.ends_with(|c: char| c.is_ascii_digit()))
}

/// What computes the same of 32 bits.
fn product(line: &Line<'_>, registers: &Registers<'_>, block: usize) -> Option<String> {
    if line.is_inline || line.kind != Kind::Statement {
        return None;
    }
    // Most lines are no products.
    let name = line.text.split_whitespace().next()?;
    if !matches!(name, "shl.b64" | "mul.lo.s64" | "mad.lo.s64") {
        return None;
    }
    let words: Vec<&str> = ptx_text::words(line.text).collect();
    let [_, result, ",", left, ",", right, rest @ .., ";"] = &words[..] else { return None };
    let known = &registers.known;
    if let Some(product) = product_of_halves(name, [result, left, right], rest, registers) {
        return Some(product);
    }
    // A product of two registers is three instructions in 64 bits, and so always worth it.
    if !is_register(right) && !registers.is_used_in_loop(result) {
        return None;
    }
    let Register::Extended { signed, from } = registers.of(left, block)? else { return None };
    let is_kept = matches!(known.get(from), Some(Register::Once | Register::Extended { .. }));
    let factor = match (name, registers.of(right, block)) {
        ("shl.b64", _) => {
            let bits = right.parse::<u32>().ok().filter(|bits| *bits <= MOST_SHIFTED)?;
            (1_u32 << bits).to_string()
        }
        (_, Some(Register::Extended { signed: other, from })) => {
            let is_kept = matches!(known.get(from), Some(Register::Once | Register::Extended { .. }));
            if other != signed || !is_kept {
                return None;
            }
            from.to_string()
        }
        _ => right.parse::<u32>().ok().filter(|number| *number <= 1 << MOST_SHIFTED)?.to_string(),
    };
    let ty = if signed { "s32" } else { "u32" };
    let product = match (name, rest) {
        ("mad.lo.s64", [",", more]) => format!("mad.wide.{ty} \t{result}, {from}, {factor}, {more};"),
        ("shl.b64" | "mul.lo.s64", []) => format!("mul.wide.{ty} \t{result}, {from}, {factor};"),
        _ => return None,
    };
    is_kept.then_some(product)
}

/// A product of numbers below 2^32 that have no register of 32 bits; one with a small number is a step of addresses.
fn product_of_halves(
    name: &str,
    [result, left, right]: [&str; 3],
    rest: &[&str],
    registers: &Registers<'_>,
) -> Option<String> {
    let is_extended = |register: &str| matches!(registers.known.get(register), Some(Register::Extended { .. }));
    if name == "shl.b64"
        || !registers.is_low(left, MOST_BACK)
        || is_extended(left) && (!is_register(right) || is_extended(right))
    {
        return None;
    }
    let (convert, factor) = if is_register(right) {
        if !registers.is_low(right, MOST_BACK) {
            return None;
        }
        (format!(" cvt.u32.u64 %low1, {right};"), "%low1")
    } else {
        right.parse::<u32>().ok().filter(|number| *number > 1 << MOST_SHIFTED)?;
        (String::new(), right)
    };
    let product = match (name, rest) {
        ("mad.lo.s64", [",", more]) => format!("mad.wide.u32 {result}, %low0, {factor}, {more};"),
        ("mul.lo.s64", []) => format!("mul.wide.u32 {result}, %low0, {factor};"),
        _ => return None,
    };
    Some(format!("{{ .reg .b32 %low0, %low1; cvt.u32.u64 %low0, {left};{convert} {product} }}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel of these lines after [`rewrite`], without white space at the ends of lines.
    fn rewritten(body: &str) -> Vec<String> {
        let text = format!(".visible .entry k(\n)\n{{\n\t.reg .b64 \t%rd<9>;\n{body}\n{LOOP}\n}}\n");
        let lines = rewrite(&text, OptLevel::O3);
        lines.lines().skip(4).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    /// What uses a product.
    const LOOP: &str = "$L:\n\tadd.s64 \t%rd7, %rd8, %rd2;\nbra $L;";

    const INLINE: &str = "// begin inline asm\n{ .reg .b32 %v; L: mov.u32 %v, %r1;\n@%q st.global.b64 [%rd1], %rd1; }\n\
                          // end inline asm";

    fn last(body: &str) -> String {
        rewritten(body).into_iter().rev().nth(1 + LOOP.lines().count()).unwrap()
    }

    #[test]
    fn products_of_what_was_extended_are_wide() {
        let unsigned = "ld.param.b32 %r1, [p];\ncvt.u64.u32 %rd1, %r1;\n";
        for (line, wide) in [
            ("shl.b64 %rd2, %rd1, 4;", "mul.wide.u32 %rd2, %r1, 16;"),
            ("mul.lo.s64 %rd2, %rd1, 12;", "mul.wide.u32 %rd2, %r1, 12;"),
            ("mul.lo.s64 %rd2, %rd1, %rd1;", "mul.wide.u32 %rd2, %r1, %r1;"),
            ("mad.lo.s64 %rd2, %rd1, 12, %rd3;", "mad.wide.u32 %rd2, %r1, 12, %rd3;"),
        ] {
            assert_eq!(last(&format!("{unsigned}{line}")), wide);
        }
        // What only reads.
        for more in ["st.global.b32 [%rd1], %r1;", "@%p1 bra L;", "bra L;", "ret;", "setp.eq.b64 %p1, %rd1, 0;", INLINE]
        {
            let body = format!("{unsigned}{more}\nshl.b64 %rd2, %rd1, 4;");
            assert_eq!(last(&body), "mul.wide.u32 %rd2, %r1, 16;", "{more}");
        }
        let signed = unsigned.replace("cvt.u64.u32", "cvt.s64.s32");
        assert_eq!(last(&format!("{signed}shl.b64 %rd2, %rd1, 3;")), "mul.wide.s32 %rd2, %r1, 8;");
    }

    #[test]
    fn others_stay_as_they_are() {
        let begin = "ld.param.b32 %r1, [p];\ncvt.u64.u32 %rd1, %r1;\n";
        for (more, line) in [
            // Numbers that do not fit, or shift all away.
            ("", "shl.b64 %rd2, %rd1, 31;"),
            ("", "mul.lo.s64 %rd2, %rd1, -1;"),
            ("", "mul.lo.s64 %rd2, %rd1, 4294967296;"),
            // Not extended, or otherwise.
            ("", "shl.b64 %rd2, %rd3, 1;"),
            ("cvt.s64.s32 %rd3, %r1;\n", "mul.lo.s64 %rd2, %rd1, %rd3;"),
            // Written twice, or perhaps.
            ("mov.b32 %r1, 7;\n", "shl.b64 %rd2, %rd1, 4;"),
            ("mov.b64 %rd1, 7;\n", "shl.b64 %rd2, %rd1, 4;"),
            ("@%p1 mov.b32 %r1, 7;\n", "shl.b64 %rd2, %rd1, 4;"),
            ("mov.b64 {%r1, %r2}, %rd8;\n", "shl.b64 %rd2, %rd1, 4;"),
            ("call (%r1), f, (%r2);\n", "shl.b64 %rd2, %rd1, 4;"),
            ("%r1,\n", "shl.b64 %rd2, %rd1, 4;"),
            ("// begin inline asm\nmov.u32 %r1, 7;\n// end inline asm\n", "shl.b64 %rd2, %rd1, 4;"),
            ("{ mov.u32 %r2, 7; mov.u32 %r1, 7; }\n", "shl.b64 %rd2, %rd1, 4;"),
            ("// begin inline asm\n{ L: mov.u32 %r1, 7; }\n// end inline asm\n", "shl.b64 %rd2, %rd1, 4;"),
            ("// begin inline asm\nmov.u32\n%r1, 7;\n// end inline asm\n", "shl.b64 %rd2, %rd1, 4;"),
            (
                "// begin inline asm\n{ .reg .b32 %r9; cvt.u64.u32 %rd4, %r9; }\n// end inline asm\n",
                "shl.b64 %rd2, %rd4, 4;",
            ),
            ("setp.eq.s32 %p1|%r1, %r2, 0;\n", "shl.b64 %rd2, %rd1, 4;"),
            // Under a guard.
            ("", "@%p1 shl.b64 %rd2, %rd1, 4;"),
        ] {
            assert_eq!(last(&format!("{begin}{more}{line}")), line, "{more}");
        }
        let text = format!(".visible .entry k(\n)\n{{\n.reg .b64 %rd<9>;\n{begin}shl.b64 %rd2, %rd1, 4;\n{LOOP}\n}}\n");
        assert_eq!(rewrite(&text, OptLevel::O0), text, "what is debugged stays as LLVM writes it");
        assert_ne!(rewrite(&text, OptLevel::O3), text);
        for outside in [text.replace("$L:\n", ""), text.replace("bra $L;", "bra $M;\n$M:")] {
            assert_eq!(rewrite(&outside, OptLevel::O3), outside, "what no loop uses stays too");
        }
    }

    #[test]
    fn masks_of_a_half_that_is_there_are_its_extensions() {
        let begin = "ld.param.b32 %r1, [p];\nld.param.b64 %rd3, [q];\ncvt.u64.u32 %rd1, %r1;\n";
        let half = "cvt.u32.u64 %r2, %rd3;\n";
        let mask = "and.b64 %rd4, %rd3, 4294967295;\n";
        let product = "mul.lo.s64 %rd2, %rd4, %rd1;";
        assert_eq!(last(&format!("{begin}{half}{mask}{product}")), "mul.wide.u32 %rd2, %r2, %r1;");
        let other = mask.replace("95;", "94;");
        for kept in [
            format!("{begin}{mask}{product}"),
            format!("{begin}{mask}{half}{product}"),
            format!("{begin}{half}{other}{product}"),
            // Another block, or another value by then.
            format!("{begin}{half}$M:\n{mask}{product}"),
            format!("{begin}{half}mov.b64 %rd3, 7;\n{mask}{product}"),
            format!("{begin}{half}mov.b32 %r2, 7;\n{mask}{product}"),
        ] {
            assert!(last(&kept).ends_with("mul.wide.u32 %rd2, %low0, %low1; }"), "{kept}");
        }
    }

    #[test]
    fn products_of_what_is_below_two_to_the_32_are_those_of_lower_halves() {
        let low = "ld.param.b64 %rd3, [q];\nshr.u64 %rd4, %rd3, 32;\nand.b64 %rd5, %rd3, 4294967295;\n\
                   xor.b64 %rd6, %rd4, %rd5;\nxor.b64 %rd1, %rd6, 7;\n";
        let half = "{ .reg .b32 %low0, %low1; cvt.u32.u64 %low0, %rd1;";
        for (line, wide) in [
            ("mul.lo.s64 %rd2, %rd1, 3528531795;", "mul.wide.u32 %rd2, %low0, 3528531795; }"),
            ("mad.lo.s64 %rd2, %rd1, 3528531795, %rd8;", "mad.wide.u32 %rd2, %low0, 3528531795, %rd8; }"),
            ("mul.lo.s64 %rd2, %rd1, %rd4;", "cvt.u32.u64 %low1, %rd4; mul.wide.u32 %rd2, %low0, %low1; }"),
        ] {
            assert_eq!(last(&format!("{low}{line}")), format!("{half} {wide}"));
        }
        let line = "mul.lo.s64 %rd2, %rd1, 3528531795;";
        for kept in [
            low.replace("%rd3, 32;", "%rd3, 31;"),
            low.replace("4294967295", "4294967296"),
            low.replace("%rd6, 7;", "%rd6, -7;"),
            low.replace("xor.b64 %rd6", "add.s64 %rd6"),
            // Written twice, on the way or at last.
            format!("{low}mov.b64 %rd4, -1;\n"),
            format!("{low}add.s64 %rd1, %rd1, %rd3;\n"),
        ] {
            assert_eq!(last(&format!("{kept}{line}")), line, "{kept}");
        }
        for line in ["mul.lo.s64 %rd2, %rd1, 12;", "shl.b64 %rd2, %rd1, 4;", "mul.lo.s64 %rd2, %rd1, %rd3;"] {
            assert_eq!(last(&format!("{low}{line}")), line);
        }
    }

    #[test]
    fn what_is_loaded_of_fewer_bits_without_a_sign_is_below_two_to_the_32() {
        let product = |load: &str| {
            let lines = format!("ld.param.b64 %rd3, [q];\nand.b64 %rd4, %rd3, 4294967295;\n{load} %rd1, [%rd3+8];\n");
            last(&format!("{lines}mad.lo.s64 %rd2, %rd4, %rd1, %rd8;"))
        };
        for load in ["ld.global.nc.b32", "ld.global.u32", "ld.shared.b16", "ld.b8"] {
            assert!(product(load).ends_with("mad.wide.u32 %rd2, %low0, %low1, %rd8; }"), "{}", product(load));
        }
        for load in ["ld.global.s32", "ld.global.b64", "ld.global.nc.u64"] {
            assert_eq!(product(load), "mad.lo.s64 %rd2, %rd4, %rd1, %rd8;");
        }
    }

    #[test]
    fn products_of_two_registers_need_no_loop() {
        let body =
            "ld.param.b32 %r1, [p];\ncvt.u64.u32 %rd1, %r1;\nmul.lo.s64 %rd5, %rd1, %rd1;\nshl.b64 %rd6, %rd1, 4;";
        let lines = rewritten(body);
        assert!(lines.contains(&"mul.wide.u32 %rd5, %r1, %r1;".into()), "{lines:?}");
        assert!(lines.contains(&"shl.b64 %rd6, %rd1, 4;".into()), "{lines:?}");
    }

    #[test]
    fn what_is_written_again_elsewhere_is_an_extension_until_then() {
        let body = |goes: &str, more: &str| {
            format!(
                "mov.b32 \t%r1, 5;\n\tcvt.u64.u32 \t%rd1, %r1;\n\t@%p1 bra \t$A;\n\tbra.uni \t$B;\n\
                 $A:\n\tadd.s64 \t%rd1, %rd1, 1;\n\t@%p2 bra \t$A;\n{goes}\n\
                 $B:\n\tshl.b64 \t%rd2, %rd1, 1;\n{more}"
            )
        };
        let is_product = |body: String| rewritten(&body).iter().any(|line| line == "mul.wide.u32 %rd2, %r1, 2;");
        assert!(is_product(body("\tbra.uni \t$C;", "\tret;\n$C:")));
        assert!(is_product(body("\tret;", "")));
        // It goes on to the reader, by itself, by a jump or by another way, or may do so.
        assert!(!is_product(body("", "")));
        assert!(!is_product(body("\t@%p3 ret;", "")));
        assert!(!is_product(body("\tbra.uni \t$C;", "$C:\n\t@%p2 bra \t$B;")));
        assert!(!is_product(body("\tbrx.idx \t%r2, $T;\n\tret;", "")));
        // It is written again where it is read.
        assert!(!is_product(body("\tret;", "\tadd.s64 \t%rd1, %rd1, 1;")));
        // It is something else first.
        assert!(!is_product("mov.b64 \t%rd1, 1;\n".to_string() + &body("\tret;", "")));
    }

    #[test]
    fn functions_have_their_own_registers() {
        let function =
            |name: &str, line: &str| format!(".func {name}()\n{{\n{line}\n\tshl.b64 \t%rd2, %rd1, 1;\n{LOOP}\n}}\n");
        let declared = ".func c()\n;\n";
        let first = function("a", "\tcvt.u64.u32 \t%rd1, %r1;");
        let text = format!("{first}{declared}{}", function("b", "\tld.u32 \t%r1, [%rd1];"));
        // `%r1` of the first function is written nowhere.
        assert_eq!(rewrite(&text, OptLevel::O3), text);
        let text = text.replacen("\tcvt", "\tmov.b32 \t%r1, 5;\n\tcvt", 1);
        assert_eq!(rewrite(&text, OptLevel::O3).matches("mul.wide.u32").count(), 1);
    }
}
