//! Chapter 4: why right results of a CPU and a GPU differ.

use anyhow::Result;
use float_paper::{dot_in_double, in_double, part, parts, serial};

use crate::dot::FOUND;
use crate::gpu::Gpu;
use crate::table::{Row, Section};

/// §4.3: the number of threads rearranges a sum. For one number, CPU and GPU agree; for two, not even the CPU with itself.
pub fn core_counts(gpu: Option<&Gpu>) -> Result<Section> {
    let x: Vec<f32> = (1..=100_000).map(|i| 1.0 / i as f32).collect();
    let on_device = gpu.map(|gpu| gpu.device.upload(&x)).transpose()?;
    let mut rows = Vec::new();
    let mut sums = Vec::new();
    for (threads, bits) in [(1, 0x4141_7420), (4, 0x4141_712C), (128, 0x4141_7139)] {
        let cpu: f32 = (0..threads).map(|thread| part(&x, thread, threads)).sum();
        let on_gpu = match (gpu, &on_device) {
            (Some(gpu), Some(x)) => {
                let mut sums = gpu.device.zeroed(threads)?;
                parts(x, threads, &mut sums).launch(&gpu.module, ptx::Grid::cover(threads, 128))?;
                Some(gpu.device.download(&sums)?.into_iter().sum::<f32>())
            }
            _ => None,
        };
        rows.push(
            Row::new(format!("1 + 1/2 + ... + 1/100000, {threads} threads"), "", f32::from_bits(bits))
                .cpu(cpu)
                .gpu(on_gpu),
        );
        sums.push(cpu.to_bits());
    }
    let all = sums.len();
    sums.sort_unstable();
    sums.dedup();
    let different = sums.len() == all;
    Ok(Section::new("4.3 Core Counts", rows).note("Another number of threads is another sum.", different))
}

/// §4.4: a result of higher precision, rounded, is not the result of the lower precision.
pub fn precision(gpu: Option<&Gpu>) -> Result<Section> {
    let (a, b) = FOUND;
    let rows = vec![
        Row::new("dot product, serial, double, rounded to float", "", f32::from_bits(0x3D65_3501))
            .cpu(in_double(&a, &b))
            .gpu(Gpu::one(gpu, |r| dot_in_double(a, b, r))?),
    ];
    let note = "The serial method in float gives 0x3D653510.";
    Ok(Section::new("4.4 Verifying GPU Results", rows).note(note, serial(&a, &b).to_bits() == 0x3D65_3510))
}
