//! Rows of `ptx::bits::simd`.

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
    both.flat_map(|(name, operands)| {
        [2, 4].map(|lanes| {
            let (rust, cuda) = (format!("simd::{name}{lanes}({operands})"), format!("__{name}{lanes}({operands})"));
            row(format!("{name}{lanes}"), 'u', rust, cuda).by(rule(&name, lanes))
        })
    })
    .collect()
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
