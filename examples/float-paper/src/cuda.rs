//! Chapter 3: rounding modes, and what the compiler's flags do.

use std::hint::black_box;

use anyhow::Result;
use float_paper::{
    OPERATIONS, four_roundings, product, product_double, product_ftz, quotient, quotients, quotients_fast, roundings,
    roundings_double, square_roots, square_roots_fast,
};
use ptx::compare::ulp_distance;

use crate::gpu::Gpu;
use crate::table::{Row, Section};

/// §3.2's operations, and their results in rn, rz, ru and rd for x = 0.1, y = 0.3 and z = -2: by rational arithmetic.
const SINGLE: [(&str, [u32; 4]); OPERATIONS] = [
    ("x + y", [0x3ECC_CCCD, 0x3ECC_CCCD, 0x3ECC_CCCE, 0x3ECC_CCCD]),
    ("x * y", [0x3CF5_C290, 0x3CF5_C290, 0x3CF5_C291, 0x3CF5_C290]),
    ("fmaf(x, y, z)", [0xBFFC_28F6, 0xBFFC_28F5, 0xBFFC_28F5, 0xBFFC_28F6]),
    ("1.0f / y", [0x4055_5555, 0x4055_5554, 0x4055_5555, 0x4055_5554]),
    ("x / y", [0x3EAA_AAAA, 0x3EAA_AAAA, 0x3EAA_AAAB, 0x3EAA_AAAA]),
    ("sqrtf(y)", [0x3F0C_378C, 0x3F0C_378B, 0x3F0C_378C, 0x3F0C_378B]),
];

const DOUBLE: [(&str, [u64; 4]); OPERATIONS] = [
    ("x + y", [0x3FD9_9999_9999_999A, 0x3FD9_9999_9999_9999, 0x3FD9_9999_9999_999A, 0x3FD9_9999_9999_9999]),
    ("x * y", [0x3F9E_B851_EB85_1EB8, 0x3F9E_B851_EB85_1EB8, 0x3F9E_B851_EB85_1EB9, 0x3F9E_B851_EB85_1EB8]),
    ("fma(x, y, z)", [0xBFFF_851E_B851_EB85, 0xBFFF_851E_B851_EB85, 0xBFFF_851E_B851_EB85, 0xBFFF_851E_B851_EB86]),
    ("1.0 / y", [0x400A_AAAA_AAAA_AAAB, 0x400A_AAAA_AAAA_AAAA, 0x400A_AAAA_AAAA_AAAB, 0x400A_AAAA_AAAA_AAAA]),
    ("x / y", [0x3FD5_5555_5555_5556, 0x3FD5_5555_5555_5555, 0x3FD5_5555_5555_5556, 0x3FD5_5555_5555_5555]),
    ("sqrt(y)", [0x3FE1_86F1_74F8_8472, 0x3FE1_86F1_74F8_8472, 0x3FE1_86F1_74F8_8473, 0x3FE1_86F1_74F8_8472]),
];

/// How many quotients and square roots are compared.
const COUNT: usize = 10_000;

const MODES: [&str; 4] = ["rn", "rz", "ru", "rd"];

/// §3.2: every operation of the tables in every rounding mode.
pub fn rounding_modes(gpu: Option<&Gpu>) -> Result<Section> {
    let (x, y, z) = (0.1_f32, 0.3_f32, -2.0_f32);
    let single = Gpu::many(gpu, vec![[0.0; 4]; OPERATIONS], |r| roundings(x, y, z, r))?;
    let double = Gpu::many(gpu, vec![[0.0; 4]; OPERATIONS], |r| roundings_double(0.1, 0.3, -2.0, r))?;
    let mut rows = Vec::new();
    for (i, (name, wanted)) in SINGLE.iter().enumerate() {
        let cpu = four_roundings(i, x, y, z);
        for (mode, wanted) in wanted.iter().enumerate() {
            let row = Row::new(format!("float  {name} {}", MODES[mode]), "", f32::from_bits(*wanted));
            rows.push(row.cpu(cpu[mode]).gpu(single.as_ref().map(|all| all[i][mode])));
        }
    }
    for (i, (name, wanted)) in DOUBLE.iter().enumerate() {
        let cpu = four_roundings(i, 0.1, 0.3, -2.0);
        for (mode, wanted) in wanted.iter().enumerate() {
            let row = Row::new(format!("double {name} {}", MODES[mode]), "", f64::from_bits(*wanted));
            rows.push(row.cpu(cpu[mode]).gpu(double.as_ref().map(|all| all[i][mode])));
        }
    }
    Ok(Section::new("3.2 Rounding Modes: x = 0.1, y = 0.3, z = -2", rows))
}

/// §3.4: the IEEE 754 mode and the fast mode.
pub fn flags(gpu: Option<&Gpu>) -> Result<Section> {
    let small = 1e-40_f32;
    let rows = vec![
        Row::new("1e-40 * 1, -ftz=false", "supports denormals", f32::from_bits(0x0001_16C2))
            .cpu(small)
            .gpu(Gpu::one(gpu, |r| product(small, 1.0, r))?),
        Row::new("1e-40 * 1, -ftz=true", "flushed to zero", 0.0_f32)
            .gpu(Gpu::one(gpu, |r| product_ftz(small, 1.0, r))?),
        Row::new("1e-20 * 1e-20, -ftz=true", "flushed to zero", 0.0_f32)
            .gpu(Gpu::one(gpu, |r| product_ftz(1e-20, 1e-20, r))?),
        Row::new("1e-310 * 1, double", "the flags have no effect", 1e-310_f64)
            .cpu(1e-310_f64)
            .gpu(Gpu::one(gpu, |r| product_double(1e-310, 1.0, r))?),
    ];
    let section = Section::new("3.4 Compiler Flags", rows);
    let Some(gpu) = gpu else { return Ok(section) };

    let a: Vec<f32> = (0..COUNT).map(|i| 1.0 + i as f32 * 0.001).collect();
    let b: Vec<f32> = (0..COUNT).map(|i| 3.0 + (i * 7 % 1000) as f32 * 0.01).collect();
    let divided: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a / b).collect();
    let exact = gpu.pairs(&a, &b, |a, b, r| quotients(a, b, r))?;
    let fast = gpu.pairs(&a, &b, |a, b, r| quotients_fast(a, b, r))?;
    let roots: Vec<f32> = a.iter().map(|a| a.sqrt()).collect();
    let exact_roots = gpu.pairs(&a, &b, |a, _, r| square_roots(a, r))?;
    let fast_roots = gpu.pairs(&a, &b, |a, _, r| square_roots_fast(a, r))?;
    Ok([
        ("quotients, -prec-div=true", &divided, exact, 0),
        // CUDA C++ Programming Guide, "Single-Precision Floating-Point Functions".
        ("quotients, -prec-div=false", &divided, fast, 2),
        ("square roots, -prec-sqrt=true", &roots, exact_roots, 0),
        ("square roots, -prec-sqrt=false", &roots, fast_roots, 1),
    ]
    .into_iter()
    .fold(section, |section, (what, wanted, found, allowed)| {
        let distances = found.iter().zip(wanted).map(|(found, wanted)| ulp_distance(*found, *wanted));
        let wrong = distances.clone().filter(|ulps| *ulps > 0).count();
        let most = distances.max().unwrap_or(u64::MAX);
        let text =
            format!("{what}: {wrong} of {COUNT} are not the nearest number; {most} ULP at most, {allowed} allowed");
        section.note(text, most <= allowed)
    }))
}

/// §3.5: overflow, division by zero and invalid operations neither trap nor leave a flag; there are only their results.
pub fn exceptions(gpu: Option<&Gpu>) -> Result<Section> {
    let (one, zero) = (black_box(1.0_f32), black_box(0.0_f32));
    let rows = vec![
        Row::new("overflow: MAX * 2", "", f32::INFINITY)
            .cpu(f32::MAX * (one + one))
            .gpu(Gpu::one(gpu, |r| product(f32::MAX, 2.0, r))?),
        Row::new("division by zero: -1 / 0", "", f32::NEG_INFINITY)
            .cpu(-one / zero)
            .gpu(Gpu::one(gpu, |r| quotient(-1.0, 0.0, r))?),
        Row::new("underflow: 1e-30 * 1e-30", "", 0.0_f32)
            .cpu(1e-30 * (1e-30 * one))
            .gpu(Gpu::one(gpu, |r| product(1e-30, 1e-30, r))?),
    ];
    let section = Section::new("3.5 Differences from x86", rows);
    let section = section.note("0 / 0 is not a number on the CPU", (zero / black_box(0.0)).is_nan());
    Ok(match Gpu::one(gpu, |r| quotient(0.0, 0.0, r))? {
        Some(value) => {
            section.note(format!("0 / 0 on the GPU is 0x{:08X}, not a number either", value.to_bits()), value.is_nan())
        }
        None => section,
    })
}
