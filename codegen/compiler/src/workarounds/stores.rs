//! Stores of a part of a register.
//!
//! ptxas 13.0.88 takes a register that an instruction for floats has set for a float. If a store is narrower than that
//! register, it does not store the lower bits, as the PTX ISA says ("Operand Size Exceeding Instruction-Type Size"), but the
//! number converted to an integer: `x.to_bits() as u32` became 0 on an H200, and `F2I` stands in the machine code of every
//! arch, with `-O0` too. Since LLVM 22 stores that cut are written so. What is cut by an instruction of its own is right,
//! and costs nothing:
//!
//! ```text
//! st.global.b32 [%rd1], %rd2;
//! ```
//!
//! becomes
//!
//! ```text
//! { .reg .b32 %part<1>; cvt.u32.u64 %part0, %rd2; st.global.b32 [%rd1], %part0; }
//! ```

use std::fmt::Write as _;

/// Which registers of some code may hold floats.
#[derive(Clone, Copy, Default)]
pub struct Floats {
    double: bool,
    single: bool,
    half: bool,
}

impl Floats {
    /// Those of whose arithmetic there is any.
    pub fn of(ptx: &str) -> Self {
        let half = ptx.contains(".f16") || ptx.contains(".bf16");
        Self { double: ptx.contains(".f64"), single: half || ptx.contains(".f32"), half }
    }

    /// The store with what cuts its values, if it must.
    pub fn narrowed(&self, statement: &str) -> Option<String> {
        let (name, operands) = statement.strip_prefix("st.")?.strip_suffix(';')?.split_once(char::is_whitespace)?;
        let stored = match name.rsplit('.').next()? {
            "b8" | "u8" | "s8" => 8,
            "b16" | "u16" | "s16" => 16,
            "b32" | "u32" | "s32" => 32,
            _ => return None,
        };
        let (place, values) = operands.trim().split_once("],")?;
        // Behind the values there may be a policy, which is 64 bits wide whatever is stored.
        let is_hinted = name.contains(".L2::cache_hint");
        let (values, policy) = if is_hinted { values.rsplit_once(',')? } else { (values, "") };
        let policy = if is_hinted { format!(",{policy}") } else { String::new() };
        let (mut cuts, mut parts, mut count) = (String::new(), Vec::new(), 0);
        for value in values.split([',', '{', '}']).map(str::trim).filter(|value| !value.is_empty()) {
            let Some(cut) = self.cut(value, stored) else {
                parts.push(value.to_owned());
                continue;
            };
            _ = write!(cuts, "{cut} %part{count}, {value}; ");
            parts.push(format!("%part{count}"));
            count += 1;
        }
        if count == 0 {
            return None;
        }
        // There are no registers of 8 bits.
        let ty = if stored == 32 { ".b32" } else { ".b16" };
        let values = if values.contains('{') { format!("{{{}}}", parts.join(", ")) } else { parts.join(", ") };
        Some(format!("{{ .reg {ty} %part<{count}>; {cuts}st.{name} {place}], {values}{policy}; }}"))
    }

    /// What cuts a register of LLVM's to so many bits, if it is wider and may hold a float.
    fn cut(&self, register: &str, bits: u32) -> Option<&'static str> {
        let is = |class: &str| {
            let number = register.strip_prefix(class);
            number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
        };
        match bits {
            32 if self.double && is("%rd") => Some("cvt.u32.u64"),
            8 | 16 if self.double && is("%rd") => Some("cvt.u16.u64"),
            8 | 16 if self.single && is("%r") => Some("cvt.u16.u32"),
            8 if self.half && is("%rs") => Some("cvt.u16.u8"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wider_than_the_store_is_cut() {
        let floats = Floats::of("add.f64 add.f16");
        for (statement, expected) in [
            (
                "st.global.b32 \t[%rd1+4], %rd2;",
                "{ .reg .b32 %part<1>; cvt.u32.u64 %part0, %rd2; st.global.b32 [%rd1+4], %part0; }",
            ),
            (
                "st.local.v2.b32 \t[%SP], {%rd2, %r3};",
                "{ .reg .b32 %part<1>; cvt.u32.u64 %part0, %rd2; st.local.v2.b32 [%SP], {%part0, %r3}; }",
            ),
            (
                "st.shared.b16 \t[buffer], %r7;",
                "{ .reg .b16 %part<1>; cvt.u16.u32 %part0, %r7; st.shared.b16 [buffer], %part0; }",
            ),
            ("st.b8 \t[%rd1], %rd2;", "{ .reg .b16 %part<1>; cvt.u16.u64 %part0, %rd2; st.b8 [%rd1], %part0; }"),
            (
                "st.global.L2::cache_hint.v2.b32 [%rd1], {%rd2, %r3}, %rd4;",
                "{ .reg .b32 %part<1>; cvt.u32.u64 %part0, %rd2; st.global.L2::cache_hint.v2.b32 [%rd1], {%part0, %r3}, %rd4; }",
            ),
            ("st.b8 \t[%rd1], %rs2;", "{ .reg .b16 %part<1>; cvt.u16.u8 %part0, %rs2; st.b8 [%rd1], %part0; }"),
        ] {
            assert_eq!(floats.narrowed(statement).as_deref(), Some(expected), "{statement}");
        }
    }

    #[test]
    fn other_stores_stay() {
        let floats = Floats::of("add.f64 add.f16");
        for statement in [
            "st.global.b64 \t[%rd1], %rd2;",
            "st.global.b32 \t[%rd1], %r2;",
            "st.global.b32 \t[%rd1], 7;",
            "st.param.b64 \t[param0], %rd2;",
            // The policy once passed for a value, and was cut to 16 bits.
            "st.global.L2::cache_hint.b8 [%rd1], 5, %rd2;",
            "st.global.L2::cache_hint.b32 [%rd1], %r1, %rd2;",
            "ld.global.b32 \t%rd2, [%rd1];",
        ] {
            assert_eq!(floats.narrowed(statement), None, "{statement}");
        }
        assert_eq!(Floats::of("add.s32").narrowed("st.global.b32 \t[%rd1], %rd2;"), None);
    }
}
