//! Rows of `ptx::bits::simd` and `ptx::bits::dpx`.

use super::row::{Row, Rule, row};

/// The functions of two operands, then those of one.
pub fn rows() -> Vec<Row> {
    let mut names: Vec<String> =
        "vadd vaddss vaddus vsub vsubss vsubus vabsdiffu vabsdiffs vsadu vsads vavgu vhaddu vmaxs \
                                  vmaxu vmins vminu"
            .split_whitespace()
            .map(ToString::to_string)
            .collect();
    for comparison in ["eq", "ne", "gts", "gtu", "ges", "geu", "lts", "ltu", "les", "leu"] {
        names.extend([format!("vcmp{comparison}"), format!("vset{comparison}")]);
    }
    let of_two = names.into_iter().map(|name| (name, "u, v"));
    let of_one = ["vneg", "vnegss", "vabs", "vabsss"].map(|name| (name.to_string(), "u"));
    let both = of_two.chain(of_one);
    let lanes = both.flat_map(|(name, operands)| {
        [2, 4].map(|lanes| {
            let (rust, cuda) = (format!("simd::{name}{lanes}({operands})"), format!("__{name}{lanes}({operands})"));
            row(format!("{name}{lanes}"), 'u', rust, cuda).by(rule(&name, lanes))
        })
    });
    lanes.chain(dpx()).collect()
}

/// Sums and extremes in one.
fn dpx() -> Vec<Row> {
    let mut rows = Vec::new();
    for name in [
        "viaddmax_s32",
        "viaddmax_u32",
        "viaddmax_s32_relu",
        "viaddmin_s32",
        "viaddmin_u32",
        "viaddmin_s32_relu",
        "vimax3_s32",
        "vimax3_u32",
        "vimax3_s32_relu",
        "vimin3_s32",
        "vimin3_u32",
        "vimin3_s32_relu",
        "vimax_s32_relu",
        "vimin_s32_relu",
    ] {
        let (result, operands) = match (name.contains("u32"), name.starts_with("vimax_") || name.starts_with("vimin_"))
        {
            (true, _) => ('u', "u, v, w"),
            (false, true) => ('i', "i, j"),
            (false, false) => ('i', "i, j, k"),
        };
        rows.push(
            row(name, result, format!("bits::dpx::{name}({operands})"), format!("__{name}({operands})"))
                .by(Rule::Others(1, "nvcc asks for `.relu`; ours compares with 0")),
        );
    }
    for name in ["vibmax_s32", "vibmax_u32", "vibmin_s32", "vibmin_u32"] {
        let operands = if name.contains("u32") { "u, v" } else { "i, j" };
        rows.push(
            row(
                name,
                'i',
                format!("{{ let (x, first) = bits::dpx::{name}({operands}); x as i32 + (first as i32) * 3 }}"),
                format!("({{ bool p; int x = __{name}({operands}, &p); x + (int)p * 3; }})"),
            )
            .by(Rule::Others(2, "LLVM makes an extreme and a comparison of it, nvcc a comparison and a choice")),
        );
    }
    rows
}

/// Neither compiler has an instruction for most of them, and each computes them in its own way.
fn rule(name: &str, lanes: u32) -> Rule {
    match (name, lanes) {
        ("vmaxs" | "vmaxu" | "vmins" | "vminu", 2) => Rule::Others(
            7,
            "from sm_90 on nvcc has an instruction of 16 bits, which ptxas may confuse (`workarounds.rs`)",
        ),
        ("vabsdiffs" | "vsads", 2) => Rule::Others(8, "ours moves the range to that of numbers without a sign"),
        ("vsub" | "vsubss" | "vsubus", 2) => Rule::Others(7, "from sm_90 on nvcc adds two negatives of 16 bits"),
        ("vsubus" | "vabsss", _) => Rule::Others(3, "ours compares first"),
        _ => Rule::Others(2, "neither has an instruction for it; ours is computed from the lanes' carries"),
    }
}
