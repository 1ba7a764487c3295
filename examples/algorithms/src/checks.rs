//! Each kernel of the library beside a plain loop.

use algorithms::{BODIES, Problem, SEARCHERS, SOFTENING, THROWERS, points_in_circle};
use anyhow::Result;
use ptx::prelude::*;
use ptx::random::{Generator, Mrg32k3a, Philox4x32, Xorwow};
use ptx::vec::Float4;
use ptx::{DeviceWrite, Launch};

use crate::{Check, Place};

/// Of the random points.
const SEED: u64 = 42;

/// Points of each thread.
const TRIES: u32 = 200;

/// All checks, in order.
pub fn all(place: &impl Place) -> Result<Vec<Check>> {
    Ok(vec![
        n_body(place)?,
        monte_carlo::<Philox4x32>(place, "Monte Carlo, Philox", |inside| {
            points_in_circle::<Philox4x32>(SEED, TRIES, inside)
        })?,
        monte_carlo::<Xorwow>(place, "Monte Carlo, XORWOW", |inside| points_in_circle::<Xorwow>(SEED, TRIES, inside))?,
        monte_carlo::<Mrg32k3a>(place, "Monte Carlo, MRG32k3a", |inside| {
            points_in_circle::<Mrg32k3a>(SEED, TRIES, inside)
        })?,
        spmv(place)?,
        conjugate_gradient(place)?,
        compaction(place)?,
        string_search(place)?,
    ])
}

/// Numbers that look random and are the same every time, below `end`.
fn numbers(n: usize, seed: u32, end: u32) -> Vec<u32> {
    let mix = |i: u32| (i ^ seed).wrapping_mul(2_654_435_761).rotate_left(15).wrapping_mul(2_246_822_519) >> 8;
    (0..n as u32).map(|i| mix(i) % end).collect()
}

/// How many differ by more than the part `most` of the largest: sums are made in another order, and fused.
fn near(name: &'static str, found: &[f32], expected: &[f64], most: f64) -> Check {
    let largest = expected.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
    let is_wrong = |(found, expected): &(&f32, &f64)| (f64::from(**found) - **expected).abs() > most * largest;
    let wrong = found.iter().zip(expected).filter(is_wrong).count() + found.len().abs_diff(expected.len());
    Check { name, passed: wrong == 0, detail: format!("{wrong} of {} differ", expected.len()) }
}

fn n_body(place: &impl Place) -> Result<Check> {
    const N: usize = 1000;
    let number = |seed| numbers(N, seed, 1000).into_iter().map(|i| i as f32 / 500.0 - 1.0).collect::<Vec<_>>();
    let [x, y, z] = [1, 2, 3].map(number);
    let bodies: Vec<_> = (0..N).map(|i| Float4::new(x[i], y[i], z[i], 1.0 + i as f32 / 1000.0)).collect();
    let (of, mut out) = (place.upload(&bodies)?, place.upload(&vec![Float4::new(0.0, 0.0, 0.0, 1.0); N])?);
    place.launch(algorithms::accelerations(&of, &mut out), Grid::cover(N, BODIES as u32))?;
    let found: Vec<f32> = place.download(out)?.into_iter().flat_map(|a| [a.x, a.y, a.z, a.w]).collect();
    let acceleration = |own: &Float4| {
        let mut sum = [0.0; 4];
        for other in &bodies {
            let [x, y, z] = [other.x - own.x, other.y - own.y, other.z - own.z].map(f64::from);
            let pull = f64::from(other.w) / (x * x + y * y + z * z + f64::from(SOFTENING)).powf(1.5);
            sum = [sum[0] + pull * x, sum[1] + pull * y, sum[2] + pull * z, 0.0];
        }
        sum
    };
    Ok(near("n-body", &found, &bodies.iter().flat_map(acceleration).collect::<Vec<_>>(), 1e-4))
}

/// The CPU has the same numbers, so the counts are equal.
fn monte_carlo<G: Generator>(
    place: &impl Place,
    name: &'static str,
    kernel: impl for<'a> FnOnce(&'a mut dyn DeviceWrite<u32>) -> Launch<'a>,
) -> Result<Check> {
    const BLOCKS: usize = 4;
    let mut inside = place.upload(&[0; BLOCKS])?;
    place.launch(kernel(&mut inside), Grid::new(BLOCKS as u32, THROWERS as u32))?;
    let found = place.download(inside)?;
    let of_thread = |thread: usize| {
        let mut random = G::new(SEED, thread as u64, 0);
        (0..TRIES).filter(|_| algorithms::is_in_circle(&mut random)).count() as u32
    };
    let of_block = |block: usize| (block * THROWERS..(block + 1) * THROWERS).map(of_thread).sum();
    let expected: Vec<u32> = (0..BLOCKS).map(of_block).collect();
    let points = BLOCKS as f64 * THROWERS as f64 * f64::from(TRIES);
    let pi = 4.0 * f64::from(found.iter().sum::<u32>()) / points;
    Ok(Check { name, passed: found == expected, detail: format!("π is about {pi:.4}, the CPU's counts {expected:?}") })
}

fn spmv(place: &impl Place) -> Result<Check> {
    const ROWS: usize = 500;
    // Rows of no entry, of few, and of more than a warp has lanes.
    let lengths = numbers(ROWS, 4, 100);
    let ends = lengths.iter().scan(0, |end, len| {
        *end += if len % 10 == 0 { 0 } else { *len };
        Some(*end)
    });
    let offsets: Vec<u32> = std::iter::once(0).chain(ends).collect();
    let entries = offsets[ROWS] as usize;
    let columns = numbers(entries, 5, ROWS as u32);
    let [values, x] = [(entries, 6), (ROWS, 7)]
        .map(|(n, seed)| numbers(n, seed, 1000).into_iter().map(|i| i as f32 / 1000.0).collect::<Vec<_>>());
    let (of_offsets, of_columns) = (place.upload(&offsets)?, place.upload(&columns)?);
    let (of_values, of_x, mut y) = (place.upload(&values)?, place.upload(&x)?, place.upload(&vec![0.0; ROWS])?);
    // Fewer warps than rows.
    place.launch(algorithms::spmv(&of_offsets, &of_columns, &of_values, &of_x, &mut y), Grid::new(8, 256))?;
    let product = |k: usize| f64::from(values[k]) * f64::from(x[columns[k] as usize]);
    let row = |row: &[u32]| (row[0] as usize..row[1] as usize).map(product).sum();
    Ok(near("SpMV, CSR by warps", &place.download(y)?, &offsets.windows(2).map(row).collect::<Vec<_>>(), 1e-5))
}

/// Multiplies what was found by the matrix again.
fn conjugate_gradient<P: Place>(place: &P) -> Result<Check> {
    const SIDE: usize = 24;
    const N: usize = SIDE * SIDE;
    let b: Vec<f32> = numbers(N, 8, 100).into_iter().map(|i| i as f32 / 10.0).collect();
    let (of_b, mut r, mut p) = (place.upload(&b)?, place.upload(&[0.0; N])?, place.upload(&[0.0; N])?);
    let (mut x, mut dots) = (place.upload(&[0.0; N])?, place.upload(&[0.0; 2 * N + 1])?);
    let mut barrier = place.upload(&[0_u32])?;
    let problem = Problem { side: SIDE as u32, small: 1e-6 };
    let kernel = algorithms::conjugate_gradient(problem, &of_b, &mut x, &mut r, &mut p, &mut dots, &mut barrier);
    place.launch(kernel, Grid::new(P::AT_ONCE, 64))?;
    let x = place.download(x)?;
    let at = |column: Option<usize>, row: Option<usize>| match (column, row) {
        (Some(column), Some(row)) if column < SIDE && row < SIDE => f64::from(x[row * SIDE + column]),
        _ => 0.0,
    };
    let mut largest = 0.0_f64;
    for (i, b) in b.iter().enumerate() {
        let (column, row) = (i % SIDE, i / SIDE);
        let beside = at(column.checked_sub(1), Some(row)) + at(Some(column + 1), Some(row));
        let above = at(Some(column), row.checked_sub(1)) + at(Some(column), Some(row + 1));
        largest = largest.max((f64::from(*b) - 4.0 * f64::from(x[i]) + beside + above).abs());
    }
    let rounds = place.download(dots)?.iter().filter(|dot| **dot != 0.0).count() / 2;
    let detail = format!("{rounds} rounds; A x is within {largest:.1e} of b");
    Ok(Check { name: "conjugate gradients", passed: largest < 1e-2 && rounds < N, detail })
}

fn compaction(place: &impl Place) -> Result<Check> {
    const N: usize = 10_000;
    let values = numbers(N, 9, 1_000_000);
    let (of, mut kept, mut count) = (place.upload(&values)?, place.upload(&[0; N])?, place.upload(&[0])?);
    place.launch(algorithms::compact(&of, &mut kept, &mut count), Grid::new(5, 96))?;
    let count = place.download(count)?[0] as usize;
    let (mut found, mut expected) = (place.download(kept)?, values);
    expected.retain(|value| algorithms::is_kept(*value));
    let is_rest_untouched = found.drain(count..).all(|value| value == 0);
    found.sort_unstable();
    expected.sort_unstable();
    let detail = format!("{count} of {N} kept, {} by the CPU", expected.len());
    Ok(Check { name: "stream compaction", passed: is_rest_untouched && found == expected, detail })
}

fn string_search(place: &impl Place) -> Result<Check> {
    const N: usize = 5000;
    let text: Vec<u8> = numbers(N, 10, 2).into_iter().map(|i| b"ab"[i as usize]).collect();
    let pattern = b"abbab";
    let (of, pattern_of) = (place.upload(&text)?, place.upload(pattern)?);
    let mut found = place.upload(&[0_u32; N.div_ceil(32)])?;
    place.launch(algorithms::string_search(&of, &pattern_of, &mut found), Grid::cover(N, SEARCHERS as u32))?;
    let words = place.download(found)?;
    let bits = (0..N).filter(|i| words[i / 32] >> (i % 32) & 1 == 1);
    let expected: Vec<usize> = (0..N).filter(|i| text[*i..].starts_with(pattern)).collect();
    let passed = bits.eq(expected.iter().copied());
    Ok(Check { name: "string search", passed, detail: format!("{} places by the CPU", expected.len()) })
}
