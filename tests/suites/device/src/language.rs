//! Ordinary Rust computes the same on both sides.

use ptx::Launch;
use ptx::prelude::*;
use ptx_test_kernels::language as kernels;

use crate::gpu::{Gpu, random, same};
use crate::record::{Test, test};

/// A kernel over seeds, and the function that it applies.
type Kernel = fn(&CudaSlice<u32>, &mut CudaSlice<u32>, &Gpu, usize);

macro_rules! both {
    ($($name:literal: $function:ident, $kernel:ident;)*) => {
        vec![$(
            test($name, |gpu| {
                let kernel: Kernel = |seeds, out, gpu, n| {
                    let launch: Launch<'_> = kernels::$kernel(seeds, out);
                    gpu.run(launch, n);
                };
                compare(gpu, kernel, kernels::$function);
            }),
        )*]
    };
}

pub fn tests() -> Vec<Test> {
    both! {
        "dynamic dispatch": dynamic, run_dynamic;
        "closures": closures, run_closures;
        "iterators and sorting": iterators, run_iterators;
        "enums and errors": enums, run_enums;
        "text and formatting": text, run_text;
        "hashing": hash, run_hash;
        "recursion": recursion, run_recursion;
        "deep recursion": depth, run_depth;
        "rotation behind a pointer": rotation, run_rotation;
        "powers that overflow": powers, run_powers;
        "minima and maxima of negations": extremes, run_extremes;
        "choices between zeros": zeros, run_zeros;
        "signs of NaN": signs, run_signs;
        "choices of bounds": clamped, run_clamped;
        "conversions into 8 and 16 bits": short, run_short;
        "comparisons of pieces of a text": pieces, run_pieces;
    }
}

fn compare(gpu: &Gpu, kernel: Kernel, function: fn(u32) -> u32) {
    let seeds: Vec<u32> = (0..200).chain(random(8).map(|bits| bits as u32).take(2000)).collect();
    let device = gpu.device.upload(&seeds).unwrap();
    let mut out = gpu.device.zeroed::<u32>(seeds.len()).unwrap();
    kernel(&device, &mut out, gpu, seeds.len());
    same(&gpu.device.download(&out).unwrap(), seeds.into_iter().map(function));
}
