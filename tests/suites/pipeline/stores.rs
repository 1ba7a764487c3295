//! In machine code, what is stored of a float's bits is not converted. ptxas 13.0.88 converts a float to an integer where a
//! store is narrower than its register (`workarounds/stores.rs` of the compiler).

use libtest_mimic::Trial;
use ptx_tests::trial;

use crate::machine_code;

/// Stores of a part of `%rd3`, a double, `%r3`, a float, and `%rs2`, a half, as LLVM writes them.
const STORES: [&str; 7] = [
    "st.global.b32 \t[%rd1], %rd3;",
    "st.global.b16 \t[%rd1], %rd3;",
    "st.global.b8 \t[%rd1], %rd3;",
    "st.global.v2.b32 \t[%rd1], {%r1, %rd3};",
    "st.global.b16 \t[%rd1], %r3;",
    "st.global.b8 \t[%rd1], %r3;",
    "st.global.b8 \t[%rd1], %rs2;",
];

/// A test for some generations.
pub fn trials() -> Vec<Trial> {
    let archs = ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"];
    archs.into_iter().map(|arch| trial(format!("stores of parts of floats, {arch}"), move || check(arch))).collect()
}

fn check(arch: &str) -> Option<String> {
    for store in STORES {
        let text = format!(
            ".version 8.8\n.target {arch}\n.address_size 64\n\
             .visible .entry k(.param .u64 k_param_0, .param .u32 k_param_1)\n{{\n\
             \t.reg .b16 \t%rs<3>;\n\t.reg .b32 \t%r<4>;\n\t.reg .b64 \t%rd<4>;\n\tld.param.b64 \t%rd1, [k_param_0];\n\
             \tld.param.b32 \t%r1, [k_param_1];\n\tcvt.rn.f64.u32 \t%rd2, %r1;\n\tadd.rn.f64 \t%rd3, %rd2, %rd2;\n\
             \tcvt.rn.f32.u32 \t%r2, %r1;\n\tadd.rn.f32 \t%r3, %r2, %r2;\n\tcvt.u16.u32 \t%rs1, %r1;\n\
             \tadd.rn.f16 \t%rs2, %rs1, %rs1;\n\t{store}\n\tret;\n}}\n"
        );
        let code = match machine_code::of(&text, arch) {
            Ok(code) => code,
            Err(reason) => return Some(reason),
        };
        assert!(code.contains("STG"), "{store}:\n{code}");
        assert!(!code.contains("F2I"), "{store}: a conversion:\n{code}");
    }
    None
}
