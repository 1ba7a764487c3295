//! What NVIDIA's assembler gets wrong, kept from it: some arithmetic of 16 bits is computed in 32.
//!
//! ```text
//! neg.s16 %rs2, %rs1;
//! ```
//!
//! becomes
//!
//! ```text
//! { .reg .b32 %wide<3>; cvt.s32.s16 %wide1, %rs1; neg.s32 %wide0, %wide1; cvt.u16.u32 %rs2, %wide0; }
//! ```
//!
//! It is done in the text, because no LLVM module keeps the narrow instructions away: instruction selection narrows
//! what is truncated, makes `mul x, -4` a negation, and finds absolute values in shifts. The text also has what `asm!`
//! says. A line stays one line, so that line numbers hold.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};

use crate::arch::Arch;
use crate::ptx_text;

/// An instruction of 16 bits that ptxas compiles wrongly.
struct Wrong {
    narrow: &'static str,
    /// What extends the operands.
    extend: &'static str,
    wide: &'static str,
    /// The oldest arch whose machine code is wrong.
    since: u32,
}

/// ptxas 13.0.88 negates in 32 bits and believes that the result still fits 16, but -(-32,768) does not. It leaves out
/// the extension before a comparison, a conversion, a shift to the right, a minimum or `mul.wide`, so that `i16::MIN`
/// became positive in `i16::saturating_abs`. Optimised machine code of every arch is wrong; with `-O0` it is right.
const NEGATIONS: [Wrong; 4] = [
    Wrong::new("neg.s16", "cvt.s32.s16", "neg.s32", 0),
    Wrong::new("abs.s16", "cvt.s32.s16", "abs.s32", 0),
    // ptxas makes a negation of a difference once it knows that the minuend is 0, as in the first round of a loop.
    Wrong::new("sub.s16", "cvt.s32.s16", "sub.s32", 0),
    Wrong::new("sub.u16", "cvt.s32.s16", "sub.s32", 0),
];

/// ptxas 13.0.88 makes minima and maxima a `VIMNMX` of two halves, folds a comparison of the result with an operand
/// into it, and may take the other half's: a `match` on the larger of two bytes took the wrong arm on an H200. With 32
/// bits the comparison stays apart. Older archs lack that instruction.
const EXTREMES: [Wrong; 8] = [
    Wrong::new("min.s16", "cvt.s32.s16", "min.s32", 90),
    Wrong::new("max.s16", "cvt.s32.s16", "max.s32", 90),
    Wrong::new("min.u16", "cvt.u32.u16", "min.u32", 90),
    Wrong::new("max.u16", "cvt.u32.u16", "max.u32", 90),
    Wrong::new("min.s16x2", "cvt.s32.s16", "min.s32", 90),
    Wrong::new("max.s16x2", "cvt.s32.s16", "max.s32", 90),
    Wrong::new("min.u16x2", "cvt.u32.u16", "min.u32", 90),
    Wrong::new("max.u16x2", "cvt.u32.u16", "max.u32", 90),
];

impl Wrong {
    const fn new(narrow: &'static str, extend: &'static str, wide: &'static str, since: u32) -> Self {
        Self { narrow, extend, wide, since }
    }

    /// The operation on extended operands.
    fn extended(&self, result: &str, operands: &[impl Display]) -> String {
        let (mut extended, mut wide) = (String::new(), String::from("%wide0"));
        for (operand, number) in operands.iter().zip(1..) {
            _ = write!(extended, "{} %wide{number}, {operand}; ", self.extend);
            _ = write!(wide, ", %wide{number}");
        }
        format!("{extended}{} {wide}; cvt.u16.u32 {result}, %wide0;", self.wide)
    }
}

/// Writes in 32 bits what the arch's machine code would have wrong.
pub fn widen(ptx: &str, arch: Arch) -> String {
    let lines = ptx_text::lines(ptx).map(|line| match widened(line.code(), arch) {
        Some(wide) => Cow::Owned(format!("\t{wide}\n")),
        None => Cow::Borrowed(&ptx[line.range]),
    });
    lines.collect()
}

/// What computes the same in 32 bits, if that is needed.
fn widened(statement: &str, arch: Arch) -> Option<String> {
    let (name, operands) = statement.strip_suffix(';')?.split_once(char::is_whitespace)?;
    let wrong = NEGATIONS.iter().chain(&EXTREMES).find(|wrong| wrong.narrow == name && arch.number() >= wrong.since)?;
    if operands.contains(';') {
        return None;
    }
    let operands: Vec<&str> = operands.split(',').map(str::trim).collect();
    let (result, operands) = operands.split_first()?;
    let body = if wrong.narrow.ends_with("x2") {
        let halves = |half: &str| Vec::from_iter((1..=operands.len()).map(|number| format!("%{half}{number}")));
        let (low, high) = (halves("low"), halves("high"));
        let unpack: String = (operands.iter().zip(&low).zip(&high))
            .map(|((operand, low), high)| format!("mov.b32 {{{low}, {high}}}, {operand}; "))
            .collect();
        let (low, high) = (wrong.extended("%low0", &low), wrong.extended("%high0", &high));
        format!(".reg .b16 %low<3>, %high<3>; {unpack}{low} {high} mov.b32 {result}, {{%low0, %high0}};")
    } else {
        wrong.extended(result, operands)
    };
    Some(format!("{{ .reg .b32 %wide<3>; {body} }}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, arch: &str) -> String {
        widen(text, arch.parse().expect("an arch"))
    }

    #[test]
    fn negations_are_wide_for_every_arch() {
        let wide = "\t{ .reg .b32 %wide<3>; cvt.s32.s16 %wide1, %rs1; neg.s32 %wide0, %wide1; \
                    cvt.u16.u32 %rs2, %wide0; }\n";
        for arch in ["sm_70", "sm_90a", "sm_120"] {
            assert_eq!(of("\tneg.s16 \t%rs2, %rs1;\n", arch), wide);
        }
        let absolute = of("L:\n\tabs.s16 \t%rs2, %rs1; // a\n\tret;\n", "sm_80");
        assert!(absolute.starts_with("L:\n\t{ ") && absolute.ends_with("; }\n\tret;\n"), "{absolute}");
        assert!(absolute.contains("abs.s32 %wide0, %wide1; cvt.u16.u32 %rs2, %wide0;"), "{absolute}");
        let difference = of("\tsub.s16 \t%rs3, 5, %rs1;\n", "sm_80");
        let expected = "cvt.s32.s16 %wide1, 5; cvt.s32.s16 %wide2, %rs1; sub.s32 %wide0, %wide1, %wide2;";
        assert!(difference.contains(expected), "{difference}");
    }

    #[test]
    fn extremes_are_wide_where_the_bug_is() {
        let narrow = "\tmax.u16 \t%rs3, %rs1, -1;\n";
        assert_eq!(of(narrow, "sm_89"), narrow);
        let wide = of(narrow, "sm_100");
        assert!(wide.contains("cvt.u32.u16 %wide2, -1; max.u32 %wide0, %wide1, %wide2;"), "{wide}");
        let pair = of("\tmin.s16x2 \t%r3, %r1, %r2;\n", "sm_90");
        let unpacked = "mov.b32 {%low1, %high1}, %r1; mov.b32 {%low2, %high2}, %r2; cvt.s32.s16 %wide1, %low1;";
        assert!(pair.contains(unpacked), "{pair}");
        assert!(pair.ends_with("cvt.u16.u32 %high0, %wide0; mov.b32 %r3, {%low0, %high0}; }\n"), "{pair}");
    }

    #[test]
    fn all_else_stays() {
        for text in [
            "",
            "\tneg.s32 \t%r2, %r1;\n\tadd.s16 \t%rs3, %rs1, %rs2;\r\n}",
            "// neg.s16 %rs2, %rs1;\n",
            "neg.s16",
            "neg.s16;",
            "neg.s16 %rs2, %rs1; ret;",
            "\t.file 1 \"/neg.s16 a, b;\"\n",
        ] {
            assert_eq!(of(text, "sm_90"), text);
        }
    }
}
