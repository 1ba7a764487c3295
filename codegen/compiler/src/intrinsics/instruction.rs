//! Intrinsics that are one PTX instruction, known by its own text: `__ptx_add.rz.ftz.f32` is `add.rz.ftz.f32`.
//!
//! They become inline PTX, not LLVM's intrinsics for the same instructions: LLVM rewrites some of those to its own
//! arithmetic (`llvm.nvvm.add.rn.f` to `fadd`), which may then be fused, folded or flushed. What stands in inline PTX is
//! what ptxas gets; without side effects, so that equal ones are still computed once and unused ones not at all.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::row::Row;
use crate::arch::{Arch, PtxVersion};

/// One of a row's instructions.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// The instruction without its operands.
    pub text: String,
    /// The row whose pattern it is an expansion of.
    pub row: &'static Row,
}

/// In a name, the place of `.ftz` in functions that flush subnormal numbers, and of nothing in others: the approximate
/// operations follow that mode, as nvcc's do.
pub const MODE: &str = ".mode";

/// What older GPUs do in place of an instruction, to the same result: the instruction, the lowest arch, the text. As nvcc
/// has them: a sum is `a * 1.0 + b`, a product `a * b + -0.0`.
const OLDER: &[(&str, u32, &str)] = &[
    ("add.rn.bf16", 80, "{.reg .b16 c; mov.b16 c, 0x3f80; fma.rn.bf16 $0, $1, c, $2;}"),
    ("sub.rn.bf16", 80, "{.reg .b16 c; mov.b16 c, 0xbf80; fma.rn.bf16 $0, $2, c, $1;}"),
    ("mul.rn.bf16", 80, "{.reg .b16 c; mov.b16 c, 0x8000; fma.rn.bf16 $0, $1, $2, c;}"),
    ("add.rn.bf16x2", 80, "{.reg .b32 c; mov.b32 c, 0x3f803f80; fma.rn.bf16x2 $0, $1, c, $2;}"),
    ("sub.rn.bf16x2", 80, "{.reg .b32 c; mov.b32 c, 0xbf80bf80; fma.rn.bf16x2 $0, $2, c, $1;}"),
    ("mul.rn.bf16x2", 80, "{.reg .b32 c; mov.b32 c, 0x80008000; fma.rn.bf16x2 $0, $1, $2, c;}"),
    (
        "cvt.rn.f16x2.f32",
        0,
        "{.reg .b16 low, high; cvt.rn.f16.f32 high, $1; cvt.rn.f16.f32 low, $2; mov.b32 $0, {low, high};}",
    ),
];

static INSTRUCTIONS: LazyLock<BTreeMap<String, Instruction>> = LazyLock::new(|| {
    let expanded = rows().flat_map(|row| expand(row.pattern).into_iter().map(move |text| (text, row)));
    expanded.map(|(text, row)| (text.clone(), Instruction { text, row })).collect()
});

fn rows() -> impl Iterator<Item = &'static Row> {
    super::float::ROWS.iter().chain(super::integer::ROWS)
}

/// The instruction of that text.
pub fn find(text: &str) -> Option<&'static Instruction> {
    INSTRUCTIONS.get(text)
}

/// Every instruction, by name.
pub fn all() -> impl Iterator<Item = &'static Instruction> {
    INSTRUCTIONS.values()
}

impl Instruction {
    /// What LLVM's inline assembly takes: the text with operands, and the constraints. None if the arch cannot do it.
    pub fn assembly(&self, arch: Arch) -> Option<(String, String)> {
        let (text, constraints) = self.newest();
        if arch.number() >= self.row.min_sm {
            return Some((text, constraints));
        }
        let older = OLDER.iter().find(|(instruction, sm, _)| *instruction == self.text && *sm <= arch.number());
        older.map(|(_, _, text)| (text.to_string(), constraints))
    }

    /// The lowest PTX ISA version that knows what is done on that arch.
    pub fn min_ptx(&self, arch: Arch) -> PtxVersion {
        // What stands in for a newer instruction is as old as the arch.
        if arch.number() >= self.row.min_sm { self.row.min_ptx } else { arch.min_ptx() }
    }

    /// The same on a GPU that has the instruction.
    pub fn newest(&self) -> (String, String) {
        let (_, operands) = self.row.registers.split_once('=').expect("rows have a result");
        let places: Vec<String> = (0..=operands.len()).map(|place| format!("${place}")).collect();
        let constraints: Vec<String> = operands.chars().map(String::from).collect();
        let result = &self.row.registers[..1];
        (format!("{} {};", self.text, places.join(", ")), format!("={result},{}", constraints.join(",")))
    }

    /// Others for the same operation on the same types that `arch` has: another rounding, fewer modifiers.
    pub fn alternatives(&self, arch: Arch) -> Vec<&'static str> {
        let same = |other: &&Instruction| {
            other.row.registers == self.row.registers
                && other.row.min_sm <= arch.number()
                && other.operation() == self.operation()
                && other.types() == self.types()
        };
        all().filter(same).map(|other| other.text.as_str()).collect()
    }

    fn operation(&self) -> &str {
        self.text.split('.').next().unwrap_or_default()
    }

    /// The trailing parts that are types.
    fn types(&self) -> &str {
        let is_type = |part: &&str| {
            let name = part.strip_suffix("x2").unwrap_or(part);
            matches!(name.as_bytes(), [b'f' | b's' | b'u' | b'b', b'0'..=b'9', ..])
                || matches!(name, "bf16" | "tf32" | "e4m3" | "e5m2")
        };
        let len: usize = self.text.rsplit('.').take_while(is_type).map(|part| part.len() + 1).sum();
        &self.text[self.text.len() - len..]
    }
}

/// Every text that a pattern stands for.
fn expand(pattern: &str) -> Vec<String> {
    let Some((before, rest)) = pattern.split_once('{') else { return vec![pattern.into()] };
    let (choices, after) = rest.split_once('}').expect("patterns close their braces");
    let tails = expand(after);
    let with = |choice| tails.iter().map(move |tail| format!("{before}{choice}{tail}"));
    choices.split('|').flat_map(with).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        assert_eq!(expand("add{.rn|.rz}{|.ftz}.f32").len(), 4);
        assert_eq!(expand("tanh.approx.f32"), ["tanh.approx.f32"]);
        let patterns = rows().map(|row| expand(row.pattern).len());
        assert_eq!(patterns.sum::<usize>(), INSTRUCTIONS.len(), "an instruction stands in two rows");
    }

    /// Messages name what is in the table as alternatives, so that each must be there to call.
    #[test]
    fn the_crate_has_a_name_for_each() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime/device/src");
        let mut called = std::collections::BTreeSet::new();
        let files = ["float", "bits"].into_iter().flat_map(|name| std::fs::read_dir(folder.join(name)).unwrap());
        for file in files {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            let symbols = text.split("\"__ptx_").skip(1).filter_map(|rest| rest.split('"').next());
            for symbol in symbols.map(|symbol| symbol.replace("_float_modes", "")).filter(|symbol| symbol.contains('.'))
            {
                called.extend([symbol.replace(MODE, ""), symbol.replace(MODE, ".ftz")]);
            }
        }
        let known = all().map(|instruction| instruction.text.clone()).collect();
        let alone: Vec<_> = called.symmetric_difference(&known).collect();
        assert!(alone.is_empty(), "on one side alone: {alone:?}");
    }

    #[test]
    fn text_and_constraints() {
        let fma = find("fma.rz.ftz.sat.f32").unwrap();
        assert_eq!(fma.newest(), ("fma.rz.ftz.sat.f32 $0, $1, $2, $3;".into(), "=f,f,f,f".into()));
        assert_eq!(fma.types(), ".f32");
        assert_eq!(find("cvt.rn.satfinite.e4m3x2.f16x2").unwrap().types(), ".e4m3x2.f16x2");
    }

    #[test]
    fn older_archs() {
        let arch = |name: &str| name.parse::<Arch>().unwrap();
        let add = find("add.rn.bf16").unwrap();
        let text = |name| add.assembly(arch(name)).map(|(text, _)| text);
        assert_eq!(text("sm_90").as_deref(), Some("add.rn.bf16 $0, $1, $2;"));
        assert!(text("sm_80").unwrap().contains("fma.rn.bf16 "));
        assert_eq!(text("sm_75"), None);
        assert!(OLDER.iter().all(|(instruction, sm, _)| find(instruction).unwrap().row.min_sm > *sm));
    }

    #[test]
    fn alternatives_are_what_the_arch_has() {
        let arch = |name: &str| name.parse::<Arch>().unwrap();
        let rn = find("cvt.rn.tf32.f32").unwrap();
        assert_eq!(rn.alternatives(arch("sm_80")), ["cvt.rna.satfinite.tf32.f32", "cvt.rna.tf32.f32"]);
        assert!(rn.alternatives(arch("sm_75")).is_empty());
    }
}
