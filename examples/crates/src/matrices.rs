//! Inverses of 4x4 matrices: some whose inverse is known, and random ones.

use anyhow::Result;
use crates::invert;
use glam::{Mat4, Quat, Vec3};
use ptx::prelude::*;

use crate::Check;
use crate::random::Random;

const RANDOM_MATRICES: usize = 100_000;

/// The CPU uses SIMD and sums in another order, so the last bits differ.
const TOLERANCE: f32 = 1e-5;

/// A row for every known inverse, and with a device one for the random matrices, which the CPU inverts too.
pub fn check(module: Option<&Module>) -> Result<Vec<Check>> {
    let turn = Quat::from_axis_angle(Vec3::new(1.0, 2.0, 2.0) / 3.0, 0.7);
    let shift = Vec3::new(3.0, -4.0, 5.0);
    let known = [
        ("identity", Mat4::IDENTITY, Mat4::IDENTITY),
        ("scale", Mat4::from_scale(Vec3::new(2.0, 4.0, 8.0)), Mat4::from_scale(Vec3::new(0.5, 0.25, 0.125))),
        ("translation", Mat4::from_translation(shift), Mat4::from_translation(-shift)),
        ("rotation", Mat4::from_quat(turn), Mat4::from_quat(turn).transpose()),
    ];
    let mut random = Random::new(0x1234_5678);
    let mut matrices: Vec<Mat4> = known.iter().map(|(_, matrix, _)| *matrix).collect();
    matrices.extend((0..RANDOM_MATRICES).map(|_| well_conditioned(&mut random)));

    let on_cpu: Vec<Mat4> = matrices.iter().map(Mat4::inverse).collect();
    let on_device = module.map(|module| on_device(module, &matrices)).transpose()?;
    let inverses = on_device.as_ref().unwrap_or(&on_cpu);
    let mut checks: Vec<Check> = known
        .iter()
        .zip(inverses)
        .map(|((name, _, expected), inverse)| {
            let distance = distance(inverse, expected);
            Check {
                name: format!("inverse, {name}"),
                passed: distance <= TOLERANCE,
                detail: format!("differs by {distance:e}"),
            }
        })
        .collect();
    if let Some(on_device) = &on_device {
        let distances = on_device.iter().zip(&on_cpu).skip(known.len()).map(|(device, cpu)| distance(device, cpu));
        let largest = distances.fold(0.0, f32::max);
        checks.push(Check {
            name: "inverse, random".to_owned(),
            passed: largest <= TOLERANCE && on_device.len() == matrices.len(),
            detail: format!("{RANDOM_MATRICES} matrices, which differ from the CPU's by at most {largest:e}"),
        });
    }
    Ok(checks)
}

fn on_device(module: &Module, matrices: &[Mat4]) -> Result<Vec<Mat4>> {
    let device = module.device();
    let columns: Vec<[f32; 16]> = matrices.iter().map(Mat4::to_cols_array).collect();
    let columns = device.upload(&columns)?;
    let mut inverses = device.zeroed::<[f32; 16]>(matrices.len())?;
    invert(&columns, &mut inverses).launch(module, Grid::cover(matrices.len(), 128))?;
    Ok(device.download(&inverses)?.iter().map(Mat4::from_cols_array).collect())
}

/// A heavy diagonal keeps the matrix far from one without an inverse.
fn well_conditioned(random: &mut Random) -> Mat4 {
    let mut columns = [0.0; 16];
    columns.fill_with(|| random.signed());
    for i in 0..4 {
        columns[5 * i] += 5.0_f32.copysign(columns[5 * i]);
    }
    Mat4::from_cols_array(&columns)
}

/// The largest difference, and infinity where one of the two is not a number.
fn distance(a: &Mat4, b: &Mat4) -> f32 {
    let differences = a.to_cols_array().into_iter().zip(b.to_cols_array()).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, |largest, d| if d.is_nan() { f32::INFINITY } else { largest.max(d) })
}
