//! Chapter 2: the dot product of two short vectors, by three methods.

use anyhow::Result;
use float_paper::{Vector, dot_fma, dot_fma_named, dot_parallel, dot_serial, fused, parallel, serial};

use crate::gpu::{Gpu, OPTIMISED};
use crate::table::{Row, Section};

/// The vectors as the paper prints them.
const A: [&str; 4] = ["1.907607", "-.7862027", "1.147311", ".9604002"];
const B: [&str; 4] = ["-.9355000", "-.6915108", "1.724470", "-.7097529"];

/// The exact dot product as the paper prints it: more digits than two vectors have in common.
const EXACT: &str = "0.0559587528435";

/// The only vectors of those that print as the paper's whose dot product is the paper's; see [`search`].
pub const FOUND: (Vector, Vector) = (
    [
        f32::from_bits(0x3FF4_2C76),
        f32::from_bits(0xBF49_4494),
        f32::from_bits(0x3F92_DB19),
        f32::from_bits(0x3F75_DCC9),
    ],
    [
        f32::from_bits(0xBF6F_7CEE),
        f32::from_bits(0xBF31_06DA),
        f32::from_bits(0x3FDC_BB70),
        f32::from_bits(0xBF35_B25D),
    ],
);

/// §2.2: the table.
pub fn table(gpu: Option<&Gpu>) -> Result<Section> {
    let single = f32::from_bits;
    let (a, b) = FOUND;
    let (paper, contracted) =
        if OPTIMISED { (".0559587515 0x3D653501", 0x3D65_3501) } else { (".0559588074 (not optimised)", 0x3D65_3510) };
    let rows = vec![
        Row::new("exact", ".0559587528435... 0x3D65350158...", f64::from_bits(0x3FAC_A6A0_2AC6_B600))
            .cpu(exact(&a, &b)),
        Row::new("serial", ".0559588074 0x3D653510", single(0x3D65_3510))
            .cpu(serial(&a, &b))
            .gpu(Gpu::one(gpu, |r| dot_serial(a, b, r))?),
        Row::new("FMA", paper, single(contracted)).gpu(Gpu::one(gpu, |r| dot_fma(a, b, r))?),
        Row::new("FMA, by name", ".0559587515 0x3D653501", single(0x3D65_3501))
            .cpu(fused(&a, &b))
            .gpu(Gpu::one(gpu, |r| dot_fma_named(a, b, r))?),
        Row::new("parallel", ".0559587478 0x3D653500", single(0x3D65_3500))
            .cpu(parallel(&a, &b))
            .gpu(Gpu::one(gpu, |r| dot_parallel(a, b, r))?),
    ];
    let (tried, found) = search();
    let printed = exact(&A.map(read), &B.map(read));
    Ok(Section::new("2.2 Dot Product, figure 5", rows)
        .optimised()
        .note(
            format!(
                "The paper prints seven digits of each element, too few: their dot product is {printed:.13}. Of the {tried}\n  \
                 pairs of vectors that print so, one has the paper's exact value. It is taken here."
            ),
            found == [FOUND],
        )
        .note(
            "The bits of the exact value continue with 56, not 58: the paper's hexadecimal contradicts its decimals.",
            exact(&a, &b).to_bits() >> 21 & 0xff == 0x56,
        ))
}

/// Products of two `f32` are exact in `f64`, and these sums of them are, too.
fn exact(a: &Vector, b: &Vector) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

fn read(text: &str) -> f32 {
    text.parse().unwrap_or(f32::NAN)
}

/// Tries every pair of vectors that prints as the paper's: how many there are, and those with the paper's exact value.
fn search() -> (usize, Vec<(Vector, Vector)>) {
    let candidates: Vec<Vec<f32>> = A.iter().chain(&B).map(|text| printed_as(text)).collect();
    let tried = candidates.iter().map(Vec::len).product();
    let pick = |mut number: usize| -> [f32; 8] {
        std::array::from_fn(|i| {
            let of = &candidates[i];
            let value = of[number % of.len()];
            number /= of.len();
            value
        })
    };
    let pairs = (0..tried).map(|number| {
        let [a0, a1, a2, a3, b0, b1, b2, b3] = pick(number);
        ([a0, a1, a2, a3], [b0, b1, b2, b3])
    });
    // The paper cuts the digits off.
    let found = pairs.filter(|(a, b)| format!("{:.15}", exact(a, b)).starts_with(EXACT)).collect();
    (tried, found)
}

/// All `f32` that are this text when they are printed with so many digits.
fn printed_as(text: &str) -> Vec<f32> {
    let digits = text.split_once('.').map_or(0, |(_, digits)| digits.len());
    let middle = read(text).to_bits();
    let near = (middle - 32..=middle + 32).map(f32::from_bits);
    let print = |value: f64| format!("{value:.digits$}");
    let wanted = print(text.parse().unwrap_or(f64::NAN));
    near.filter(|value| print(f64::from(*value)) == wanted).collect()
}
