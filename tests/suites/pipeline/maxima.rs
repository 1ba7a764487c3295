//! In machine code, what a minimum or maximum of three negates is negated. ptxas 13.0.88 loses it in the second of its
//! operands (`workarounds/maxima.rs` of the compiler).

use libtest_mimic::Trial;
use ptx_tests::trial;

use crate::machine_code;

/// What computes `%r9` of three numbers, and how many of them are negated.
const BODIES: [(&str, &str, usize); 5] = [
    ("one", "\tneg.s32 \t%r4, %r1;\n\tmax.s32 \t%r5, %r3, %r4;\n\tmax.s32 \t%r9, %r5, %r2;\n", 1),
    (
        "two",
        "\tneg.s32 \t%r4, %r1;\n\tneg.s32 \t%r5, %r3;\n\tmin.s32 \t%r6, %r4, %r5;\n\tmin.s32 \t%r9, %r6, %r2;\n",
        2,
    ),
    ("difference", "\tsub.s32 \t%r4, 0, %r1;\n\tmin.s32 \t%r5, %r3, %r4;\n\tmin.s32 \t%r9, %r5, %r2;\n", 1),
    ("absolute value", "\tabs.s32 \t%r4, %r1;\n\tmax.s32 \t%r9, %r4, %r2;\n", 1),
    (
        "before a loop",
        "\tneg.s32 \t%r4, %r2;\n\tmov.b32 \t%r9, %r4;\n\tmov.b32 \t%r5, 0;\n$L:\n\txor.b32 \t%r6, %r5, %r1;\n\
         \tmax.s32 \t%r9, %r6, %r9;\n\tadd.s32 \t%r5, %r5, 1;\n\tsetp.ne.s32 \t%p1, %r5, 4;\n\t@%p1 bra \t$L;\n",
        1,
    ),
];

/// A test for each generation that has `VIMNMX3`, and those around it.
pub fn trials() -> Vec<Trial> {
    let archs = ["sm_89", "sm_90", "sm_100", "sm_103", "sm_120"];
    archs.into_iter().map(|arch| trial(format!("minima and maxima of three, {arch}"), move || check(arch))).collect()
}

fn check(arch: &str) -> Option<String> {
    for (name, body, negated) in BODIES {
        let text = format!(
            ".version 8.8\n.target {arch}\n.address_size 64\n.visible .entry k(.param .u64 k_param_0)\n{{\n\
             \t.reg .pred \t%p<2>;\n\t.reg .b32 \t%r<10>;\n\t.reg .b64 \t%rd<2>;\n\tld.param.b64 \t%rd1, [k_param_0];\n\
             \tld.global.b32 \t%r1, [%rd1];\n\tld.global.b32 \t%r2, [%rd1+4];\n\tld.global.b32 \t%r3, [%rd1+8];\n\
             {body}\tst.global.b32 \t[%rd1], %r9;\n\tret;\n}}\n"
        );
        let code = match machine_code::of(&text, arch) {
            Ok(code) => code,
            Err(reason) => return Some(reason),
        };
        // As a negative operand, or as its complement, of which the truth table is 0x33.
        let found = code.lines().filter(|line| line.contains("-R") || line.contains(", 0x33,")).count();
        assert!(found >= negated, "{name}: {negated} are to be negated:\n{code}");
    }
    None
}
