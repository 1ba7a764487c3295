//! What NVIDIA's assembler gets wrong, kept from it: some arithmetic of 16 bits is computed in 32, absolute values become
//! maxima, tests for equality are of signed numbers, stores do not cut floats, and called functions hide which addresses
//! their threads share.
//!
//! ```text
//! neg.s16 %rs2, %rs1;
//! abs.s32 %r2, %r1;
//! setp.ne.b32 %p1, %r1, %r2;
//! ```
//!
//! becomes
//!
//! ```text
//! { .reg .b32 %wide<3>; cvt.s32.s16 %wide1, %rs1; neg.s32 %wide0, %wide1; cvt.u16.u32 %rs2, %wide0; }
//! { .reg .b32 %negative; not.b32 %negative, %r1; add.s32 %negative, %negative, 1; max.s32 %r2, %r1, %negative; }
//! setp.ne.s32 %p1, %r1, %r2;
//! ```
//!
//! It is done in the text, because no LLVM module keeps the instructions away: instruction selection narrows what is
//! truncated, makes `mul x, -4` a negation, and finds absolute values in shifts. The text also has what `asm!` says. A line
//! stays one line, so that line numbers hold.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};
use std::fmt::{Display, Write as _};

mod maxima;
mod stores;

use self::maxima::Negations;
use self::stores::Floats;
use crate::arch::Arch;
use crate::ptx_text::{self, Kind};

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

/// ptxas 13.0.88 believes that no absolute value is negative, but that of the least number is: after
/// `i64::wrapping_abs` it left out the comparison with 0 in `saturating_add`, and `i32::abs_diff` of `unsigned_abs` went
/// wrong on an H200. Optimised machine code of every arch is wrong. Each with the instructions that it becomes: the negation
/// of 32 bits is none that ptxas sees, for it loses those in maxima (see [`maxima`]).
const ABSOLUTES: [(&str, &str, &str, &str); 2] = [
    ("abs.s32", ".b32", "not.b32 %negative, {}; add.s32 %negative, %negative, 1;", "max.s32"),
    ("abs.s64", ".b64", "neg.s64 %negative, {};", "max.s64"),
];

/// ptxas 13.0.88 unrolls a loop that counts until two numbers are equal. If they are compared as `.b32` or `.u32`, it asks
/// without signs whether there is anything to count, and with signs whether another four rounds are left. A loop that ended
/// at 0x8000_0001 did not end on an H200. With `.s32` both questions are asked with signs, which is right for all numbers.
/// Before LLVM 22, LLVM wrote that.
const EQUALITIES: [(&str, &str); 8] = [
    ("setp.eq.b32", "setp.eq.s32"),
    ("setp.ne.b32", "setp.ne.s32"),
    ("setp.eq.u32", "setp.eq.s32"),
    ("setp.ne.u32", "setp.ne.s32"),
    ("setp.eq.b64", "setp.eq.s64"),
    ("setp.ne.b64", "setp.ne.s64"),
    ("setp.eq.u64", "setp.eq.s64"),
    ("setp.ne.u64", "setp.ne.s64"),
];

/// ptxas 13.0.88 keeps an address in a uniform register if a loop moves it in all threads alike. A function with a frame of
/// its own, as whatever is called by pointer has, adds the offset of its variable to such a register that nothing has set:
/// `rotate_left` of an array on the stack was an illegal address on an H200. Optimised machine code of every arch but
/// sm_120 is wrong. So such an address is increased by 0, of which ptxas only knows that threads may differ in it; it is
/// right for a kernel's own variables, for generic addresses, and for variables at constant places.
const UNSHARED: &str = "{ .reg .b32 %thread; .reg .b64 %zero; mov.u32 %thread, %tid.x; shr.u32 %thread, %thread, 31; \
                        cvt.u64.u32 %zero, %thread;";

/// What LLVM calls the start of a function's variables in `.local`.
const FRAME: &str = "%SPL";

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

/// Writes otherwise what the arch's machine code would have wrong.
pub fn rewrite(ptx: &str, arch: Arch) -> String {
    let (moving, negations) = (moving_addresses(ptx), Negations::of(ptx));
    let all_floats = LazyCell::new(|| Floats::of(ptx));
    let bodies: HashMap<_, _> =
        ptx_text::definitions(ptx).map(|definition| (definition.function.name, definition.body)).collect();
    let (mut function, mut floats) = ("", Floats::default());
    let lines = ptx_text::lines(ptx).map(|line| {
        if let Kind::Function(begun) = line.kind {
            // ptxas puts what is called in its caller's place, with what registers hold.
            let own = bodies.get(begun.name).filter(|own| begun.is_kernel && !own.contains("call"));
            (function, floats) = (begun.name, own.map_or_else(|| *all_floats, |own| Floats::of(own)));
        }
        let code = line.code();
        let unshared = unshared(code, |register| moving.contains(&(function, register)));
        let right = unshared.or_else(|| negations.rewritten(code, function)).or_else(|| floats.narrowed(code));
        match right.or_else(|| rewritten(code, arch)) {
            Some(right) => Cow::Owned(format!("\t{right}\n")),
            None => Cow::Borrowed(&ptx[line.range]),
        }
    });
    let mut text = String::with_capacity(ptx.len());
    text.extend(lines);
    text
}

/// The called functions' registers with the address of a variable that is more than the place of a load or store: by the
/// function's name.
fn moving_addresses(ptx: &str) -> HashSet<(&str, &str)> {
    if !ptx.contains(FRAME) {
        return HashSet::new();
    }
    let called = ptx_text::definitions(ptx).filter(|definition| !definition.function.is_kernel);
    let with_frame = called.filter(|definition| definition.body.contains(FRAME));
    let registers = with_frame.flat_map(|definition| {
        let code = ptx_text::lines(definition.body).map(|line| line.code());
        // `add.u64 %rd1, %SPL, 8` itself is no use.
        let uses: HashSet<_> = code.filter(|code| address(code).is_none()).flat_map(operands).collect();
        let addresses = ptx_text::lines(definition.body).filter_map(|line| address(line.code()));
        let moving = addresses.filter(move |register| uses.contains(register));
        moving.map(move |register| (definition.function.name, register))
    });
    registers.collect()
}

/// The register that gets a variable's address, in `add.u64 %rd1, %SPL, 8;`.
fn address(code: &str) -> Option<&str> {
    let (register, offset) = code.strip_prefix("add.u64")?.split_once(',')?;
    offset.trim_start().starts_with(FRAME).then_some(register.trim())
}

/// The words of a statement that do not stand in the brackets of a place in memory.
fn operands(code: &str) -> impl Iterator<Item = &str> {
    let outside = code.split(']').map(|part| part.split_once('[').map_or(part, |(outside, _)| outside));
    outside.flat_map(ptx_text::words)
}

/// The definition of a variable's address, with what keeps it out of uniform registers.
fn unshared<'a>(code: &'a str, is_moving: impl Fn(&'a str) -> bool) -> Option<String> {
    let register = address(code).filter(|register| is_moving(register))?;
    Some(format!("{UNSHARED} {} add.u64 {register}, {register}, %zero; }}", code.replace('\t', "")))
}

/// What computes the same and is compiled rightly, if that is needed.
fn rewritten(statement: &str, arch: Arch) -> Option<String> {
    let (name, operands) = statement.strip_suffix(';')?.split_once(char::is_whitespace)?;
    if operands.contains(';') {
        return None;
    }
    if let Some((_, signed)) = EQUALITIES.iter().find(|(equality, _)| *equality == name) {
        return Some(format!("{signed} \t{};", operands.trim_start()));
    }
    if let Some((_, ty, negation, maximum)) = ABSOLUTES.iter().find(|(absolute, ..)| *absolute == name) {
        let (result, operand) = operands.trim().split_once(", ")?;
        let negated = negation.replace("{}", operand);
        return Some(format!("{{ .reg {ty} %negative; {negated} {maximum} {result}, {operand}, %negative; }}"));
    }
    widened(name, operands, arch)
}

/// What computes the same in 32 bits.
fn widened(name: &str, operands: &str, arch: Arch) -> Option<String> {
    let wrong = NEGATIONS.iter().chain(&EXTREMES).find(|wrong| wrong.narrow == name && arch.number() >= wrong.since)?;
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
        rewrite(text, arch.parse().expect("an arch"))
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
    fn floats_of_a_kernel_are_its_own_and_those_of_what_it_calls() {
        let store = "st.global.b32 \t[%rd1], %rd2;";
        let kernel = |name: &str, body: &str| format!(".visible .entry {name}()\n{{\n\t{body}\n\t{store}\n}}\n");
        let assembly = "// begin inline asm\n{ mov.b32 %r1, 1;\n}\n\t// end inline asm\n\tadd.f64 \t%rd2, %rd3, %rd4;";
        for (kernels, cut) in [
            ([kernel("a", "ret;"), kernel("b", "add.f64 \t%rd2, %rd3, %rd4;")], [false, true]),
            ([kernel("a", assembly), kernel("b", "ret;")], [true, false]),
            ([kernel("a", "call.uni f, ();"), kernel("b", "add.f64 \t%rd2, %rd3, %rd4;")], [true, true]),
        ] {
            let text = of(&kernels.concat(), "sm_90");
            let found: Vec<_> = text.split(".entry").skip(1).map(|kernel| kernel.contains("%part0")).collect();
            assert_eq!(found, cut, "{text}");
        }
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
    fn absolute_values_are_maxima() {
        let maximum = "\t{ .reg .b32 %negative; not.b32 %negative, %r1; add.s32 %negative, %negative, 1; \
                       max.s32 %r2, %r1, %negative; }\n";
        assert_eq!(of("\tabs.s32 \t%r2, %r1;\n", "sm_75"), maximum);
        assert!(of("\tabs.s64 \t%rd2, %rd2;\n", "sm_90").contains("max.s64 %rd2, %rd2, %negative;"));
    }

    #[test]
    fn equality_is_of_signed_numbers() {
        assert_eq!(of("\tsetp.ne.b32 \t%p1, %r1, %r2;\n", "sm_90"), "\tsetp.ne.s32 \t%p1, %r1, %r2;\n");
        assert_eq!(of("\tsetp.eq.b64 \t%p1, %rd1, 0;\n", "sm_70"), "\tsetp.eq.s64 \t%p1, %rd1, 0;\n");
    }

    #[test]
    fn addresses_that_move_are_not_shared() {
        let of_function = |head: &str, uses: &str| {
            let body = format!("{{\n\tmov.b64 \t%SPL, __local_depot0;\n\tadd.u64 \t%rd1, %SPL, 8;\n{uses}}}\n");
            let (before, after) = body.split_once("\tadd.u64").expect("stands there");
            let after = after.split_once('\n').expect("a line").1;
            let text = of(&format!("{head}\n{body}"), "sm_90");
            let line = text.strip_prefix(&format!("{head}\n{before}")).and_then(|text| text.strip_suffix(after));
            line.expect("all else stays").to_string()
        };
        let moved = "\t{ .reg .b32 %thread; .reg .b64 %zero; mov.u32 %thread, %tid.x; shr.u32 %thread, %thread, 31; \
                     cvt.u64.u32 %zero, %thread; add.u64 %rd1, %SPL, 8; add.u64 %rd1, %rd1, %zero; }\n";
        let kept = "\tadd.u64 \t%rd1, %SPL, 8;\n";
        let called = ".func  (.param .b32 func_retval0) f()";
        for uses in ["\tadd.s64 \t%rd2, %rd1, 16;\n", "\tmov.b64 \t%rd2, %rd1;\n", "\tst.local.b64 \t[%rd2], %rd1;\n"] {
            assert_eq!(of_function(called, uses), moved, "{uses}");
            assert_eq!(of_function(".visible .entry k()", uses), kept, "{uses}");
        }
        for uses in ["", "\tst.local.b64 \t[%rd1+8], %rd2;\n", "\tadd.s64 \t%rd2, %rd11, 16;\n"] {
            assert_eq!(of_function(called, uses), kept, "{uses}");
        }
        // Another function's register of that name.
        let both = format!("{called}\n{{\n{kept}}}\n.func g()\n{{\n\tmov.b64 \t%rd2, %rd1;\n}}\n");
        assert_eq!(of(&both, "sm_90"), both);
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
            "\tsetp.lt.u32 \t%p1, %r1, %r2;\n\tsetp.eq.s32 \t%p1, %r1, %r2;\n\tsetp.eq.b16 \t%p1, %rs1, %rs2;\n",
            "\tsetp.eq.b32 \t%p1, %r1, 0; ret;\n",
            "\tabs.f32 \t%r1, %r2;\n",
            "\t.file 1 \"/neg.s16 a, b;\"\n",
        ] {
            assert_eq!(of(text, "sm_90"), text);
        }
    }
}
