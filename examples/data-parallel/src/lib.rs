//! Kernels of a sum and of a training step, each for the part of the data that one GPU has.
#![cfg_attr(target_arch = "nvptx64", no_std)]

use ptx::PerBlock;
use ptx::block::Reduce;
use ptx::prelude::*;

/// Threads of every block.
pub const THREADS: usize = 256;

/// Numbers of a sample.
pub const FEATURES: usize = 4;

/// What is learnt: a weight for each number, and a constant.
pub const WEIGHTS: usize = FEATURES + 1;

/// What a step adds up: the gradient, and the squared error.
pub const TERMS: usize = WEIGHTS + 1;

/// The sum of each block's values.
#[kernel(dimensions = 1, launch_bounds(256))]
pub fn sums(values: &[u64], mut out: PerBlock<u64>, #[shared] mut block: Reduce<u64, THREADS>) {
    let sum = block.sum(thread::grid_stride(values.len()).map(|i| values[i]).sum());
    if let Some(out) = out.part().get_mut() {
        *out = sum;
    }
}

/// The terms of each block's samples, for the error of `weights · sample + constant - target`.
#[kernel(dimensions = 1, launch_bounds(256))]
pub fn gradients(
    weights: &[f32],
    samples: &[[f32; FEATURES]],
    targets: &[f32],
    mut out: PerBlock<f64, TERMS>,
    #[shared] mut block: Reduce<f64, THREADS>,
) {
    let mut own = [0.0_f64; TERMS];
    for i in thread::grid_stride(samples.len()) {
        let sample = samples[i];
        let mut error = weights[FEATURES] - targets[i];
        for k in 0..FEATURES {
            error += weights[k] * sample[k];
        }
        for k in 0..FEATURES {
            own[k] += f64::from(error * sample[k]);
        }
        own[FEATURES] += f64::from(error);
        own[WEIGHTS] += f64::from(error * error);
    }
    let mut part = out.part();
    #[expect(clippy::needless_range_loop, reason = "the scopes of `enumerate` overlap in the debug information")]
    for k in 0..own.len() {
        let sum = block.sum(own[k]);
        if let Some(out) = part.get_mut()
            && thread::thread_idx_x() as usize == k
        {
            *out = sum;
        }
    }
}

/// Adds up the parts of all blocks, term by term, always in the same order.
#[kernel(dimensions = 1)]
pub fn total(parts: &[f64], mut out: DisjointSlice<f64>) {
    let (term, terms) = (thread::index_1d(), out.len());
    if let Some(out) = out.get_mut(term) {
        *out = parts.iter().skip(term.get()).step_by(terms).sum();
    }
}

/// Goes a step down the mean gradient of so many samples.
#[kernel(dimensions = 1)]
pub fn step(rate: f32, samples: f64, terms: &[f64], mut weights: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(weight) = weights.get_mut(i) {
        *weight -= rate * (terms[i.get()] / samples) as f32;
    }
}

/// The sample of that number of all, and its target: numbers from -1 to 1, and a plane with a little noise.
pub fn sample(number: u64) -> ([f32; FEATURES], f32) {
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D;
    let mut next = || {
        // xorshift64*
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    let sample = [next(), next(), next(), next()];
    let exact: f32 = sample.iter().zip(PLANE).map(|(x, weight)| x * weight).sum();
    (sample, exact + PLANE[FEATURES] + 0.01 * next())
}

/// What is to be learnt.
pub const PLANE: [f32; WEIGHTS] = [0.5, -1.25, 2.0, 0.75, -0.375];

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use ptx::CpuMemory;

    use super::*;

    #[test]
    fn the_cpu_finds_what_plain_loops_find() {
        let values: Vec<u64> = (0..1000).map(|value| value * value).collect();
        let (x, mut parts) = (CpuMemory::from(&values[..]), CpuMemory::from(&[0_u64; 2][..]));
        sums(&x, &mut parts).launch_on_cpu(Grid::new(2, 256)).unwrap();
        let parts = parts.into_vec();
        assert_eq!(parts.iter().sum::<u64>(), values.iter().sum::<u64>());
        assert!(parts.iter().all(|part| *part > 0), "one block did all");

        let (samples, targets): (Vec<_>, Vec<_>) = (0..300).map(sample).unzip();
        let (x, t) = (CpuMemory::from(&samples[..]), CpuMemory::from(&targets[..]));
        let mut weights = CpuMemory::from(&[0.0_f32; WEIGHTS][..]);
        let mut errors = Vec::new();
        for _ in 0..8 {
            let (mut parts, mut terms) = (CpuMemory::from(&[0.0; 2 * TERMS][..]), CpuMemory::from(&[0.0; TERMS][..]));
            gradients(&weights, &x, &t, &mut parts).launch_on_cpu(Grid::new(2, 256)).unwrap();
            total(&parts, &mut terms).launch_on_cpu(Grid::new(1, TERMS as u32)).unwrap();
            step(0.5, 300.0, &terms, &mut weights).launch_on_cpu(Grid::new(1, WEIGHTS as u32)).unwrap();
            let terms = terms.into_vec();
            if errors.is_empty() {
                let exact: f64 = targets.iter().map(|target| f64::from(target * target)).sum();
                assert!((terms[WEIGHTS] - exact).abs() < 1e-9 * exact, "{terms:?}, not {exact}");
                let constant: f64 = targets.iter().map(|target| -f64::from(*target)).sum();
                assert!((terms[FEATURES] - constant).abs() < 1e-9, "{terms:?}, not {constant}");
            }
            errors.push(terms[WEIGHTS]);
        }
        assert!(errors.windows(2).all(|pair| pair[1] < pair[0]), "{errors:?}");
        assert!(errors[7] < 0.3 * errors[0], "{errors:?}");
    }
}
