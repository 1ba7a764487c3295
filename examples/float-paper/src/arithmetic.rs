//! Chapter 1: formats, the order of additions, the fused multiply-add.

use anyhow::Result;
use float_paper::{
    figure_1, figure_1_apart, figure_1_named, figure_1_never, product, product_double, quotient, quotient_double,
    sum_from_left, sum_from_right,
};
use ptx::float::Rounding;

use crate::gpu::{Gpu, OPTIMISED};
use crate::table::{Number, Row, Section};

/// §1.1: the encodings of -192 and of 2/3.
pub fn formats(gpu: Option<&Gpu>) -> Result<Section> {
    let rows = vec![
        Row::new("-192 = -2^7 x 1.5, float", "1 10000110 .10000000000000000000000", f32::from_bits(0xC340_0000))
            .cpu(-128.0_f32 * 1.5)
            .gpu(Gpu::one(gpu, |r| product(-128.0, 1.5, r))?),
        Row::new(
            "-192 = -2^7 x 1.5, double",
            "1 10000000110 .1000000000000000000000000000000000000000000000000000",
            f64::from_bits(0xC068_0000_0000_0000),
        )
        .cpu(-128.0_f64 * 1.5)
        .gpu(Gpu::one(gpu, |r| product_double(-128.0, 1.5, r))?),
        Row::new("2/3, float", "0 01111110 .01010101010101010101011", f32::from_bits(0x3F2A_AAAB))
            .cpu(2.0_f32 / 3.0)
            .gpu(Gpu::one(gpu, |r| quotient(2.0, 3.0, r))?),
        Row::new(
            "2/3, double",
            "0 01111111110 .0101010101010101010101010101010101010101010101010101",
            f64::from_bits(0x3FE5_5555_5555_5555),
        )
        .cpu(2.0_f64 / 3.0)
        .gpu(Gpu::one(gpu, |r| quotient_double(2.0, 3.0, r))?),
    ];
    Ok(Section::new("1.1 Formats", rows.into_iter().map(|row| row.shown(Number::fields)).collect()))
}

/// §1.2: `(A + B) + C` is not `A + (B + C)`.
pub fn order(gpu: Option<&Gpu>) -> Result<Section> {
    let [a, b, c] = [2.0, 1.0, 8.0].map(|power| power * (1.0 + f32::EPSILON));
    let single = f32::from_bits;
    let rows = vec![
        Row::new("A", "2^1 x 1.00000000000000000000001", single(0x4000_0001)).cpu(a),
        Row::new("B", "2^0 x 1.00000000000000000000001", single(0x3F80_0001)).cpu(b),
        Row::new("C", "2^3 x 1.00000000000000000000001", single(0x4100_0001)).cpu(c),
        Row::new("rn(A + B)", "2^1 x 1.10000000000000000000010", single(0x4040_0002))
            .cpu(a + b)
            .gpu(Gpu::one(gpu, |r| sum_from_left(a, b, -0.0, r))?),
        Row::new("rn(B + C)", "2^3 x 1.00100000000000000000001", single(0x4110_0001))
            .cpu(b + c)
            .gpu(Gpu::one(gpu, |r| sum_from_right(-0.0, b, c, r))?),
        Row::new("rn(rn(A + B) + C)", "2^3 x 1.01100000000000000000010", single(0x4130_0002))
            .cpu((a + b) + c)
            .gpu(Gpu::one(gpu, |r| sum_from_left(a, b, c, r))?),
        Row::new("rn(A + rn(B + C))", "2^3 x 1.01100000000000000000001", single(0x4130_0001))
            .cpu(a + (b + c))
            .gpu(Gpu::one(gpu, |r| sum_from_right(a, b, c, r))?),
    ];
    Ok(Section::new("1.2 Operations and Accuracy", rows.into_iter().map(|row| row.shown(Number::powers)).collect()))
}

/// §1.3: `x^2 - 1` with five decimal digits, once and twice rounded. In units of 10^-8 all of it is integers.
pub fn decimal() -> Section {
    const ONE: u64 = 100_000_000;
    let x = 10_008;
    let square = x * x;
    // To five significant digits.
    let rounded = |value: u64| {
        let unit = 10_u64.pow(value.ilog10().saturating_sub(4));
        (value + unit / 2) / unit * unit
    };
    let show = |value: u64| format!("{:.5e}", value as f64 / ONE as f64);
    let rows = [
        ("x^2 - 1", "1.60064e-4", square - ONE, 160_064),
        ("rn(x^2 - 1)", "1.6006e-4", rounded(square - ONE), 160_060),
        ("rn(x^2)", "1.0016e-4", rounded(square), 100_160_000),
        ("rn(rn(x^2) - 1)", "1.6000e-4", rounded(rounded(square) - ONE), 160_000),
    ];
    let section = Section::new("1.3 The Fused Multiply-Add, in decimal: x = 1.0008, five digits", Vec::new());
    let section = rows.into_iter().fold(section, |section, (what, paper, value, want)| {
        section.note(format!("{what:16} paper {paper:11} here {}", show(value)), value == want)
    });
    // 1.00160064 - 1 is 0.00160064.
    section.note(
        "The digits are the same; the paper's exponents are wrong: it takes 10^-3, and 10^0 for x^2.",
        square - ONE == 160_064,
    )
}

/// §1.3 and figure 1: `A * A + B` with one rounding and with two.
pub fn contraction(gpu: Option<&Gpu>) -> Result<Section> {
    let [a, b] = [0x3F80_0001, 0xBF80_0002].map(f32::from_bits);
    let (nothing, exact) = (0.0_f32, f32::from_bits(0x2880_0000));
    let (paper, output) = if OPTIMISED { ("1.4210855e-14", exact) } else { ("0 (not optimised)", nothing) };
    let rows = vec![
        Row::new("x86-64 output", "0", nothing).cpu(a * a + b),
        Row::new("NVIDIA output", paper, output).gpu(Gpu::one(gpu, |r| figure_1(a, b, r))?),
        Row::new("rn(rn(A * A) + B)", "0", nothing).cpu(a * a + b).gpu(Gpu::one(gpu, |r| figure_1_apart(a, b, r))?),
        Row::new("the same by name", "0", nothing)
            .cpu(a.mul_rn(a).add_rn(b))
            .gpu(Gpu::one(gpu, |r| figure_1_never(a, b, r))?),
        Row::new("rn(A * A + B)", "1.4210855e-14", exact)
            .cpu(a.mul_add(a, b))
            .gpu(Gpu::one(gpu, |r| figure_1_named(a, b, r))?),
        Row::new("rn(A * A + B), by integers", "2^-46", exact).cpu(a.fma_rn(a, b)),
    ];
    Ok(Section::new("1.3 The Fused Multiply-Add, figure 1: A = 0x3F800001, B = 0xBF800002", rows).optimised())
}
