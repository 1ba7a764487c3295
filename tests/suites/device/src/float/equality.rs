//! What CPU and GPU compute bit by bit alike where multiplications and additions are not fused: the same source on both.

use ptx::compare::{Tolerance, compare};
use ptx::{Grid, Image, Launch, Module};
use ptx_float_kernels::equality as kernels;
use ptx_float_kernels::equality::{TERMS, WIDTH};

use super::images::loaded;
use crate::gpu::{Gpu, random, same};
use crate::record::{Test, test};

/// Compiled with `fmad = false`.
static IMAGE: [(&str, Image); 1] = [("unfused", ptx::image!("float_unfused"))];

/// Elements a test.
const N: usize = 4096;

fn run(gpu: &Gpu, launch: Launch<'_>, count: usize) {
    let module: &Module = loaded!(IMAGE)(gpu, 0);
    launch.launch(module, Grid::cover(count, 128)).unwrap_or_else(|error| panic!("{error}"));
    gpu.device.synchronize().unwrap_or_else(|error| panic!("{error}"));
}

/// The same bits, and the worst difference if not.
#[track_caller]
fn identical<T: ptx::compare::Float>(device: &[T], host: impl IntoIterator<Item = T>) {
    let host: Vec<T> = host.into_iter().collect();
    assert!(host.iter().any(|x| x.to_f64().is_finite() && x.to_f64() != 0.0), "nothing to compare");
    compare(device, &host, &Tolerance::same_bits()).check().unwrap_or_else(|error| panic!("{error}"));
}

macro_rules! precision {
    ($ty:ident: $nbody:ident $horner:ident $mandelbrot:ident $dot:ident $newton:ident $lu:ident $matmul:ident) => {{
        let numbers = |seed: u64, count: usize| -> Vec<$ty> {
            random(seed).take(count).map(|bits| (bits as i64 >> 20) as $ty / 2e12).collect()
        };
        let name = |what: &str| format!("float, CPU as GPU: {what} in {}", stringify!($ty));
        vec![
            test(&name("n-body accelerations"), move |gpu| {
                let flat = numbers(1, 4 * 512);
                let bodies: Vec<[$ty; 4]> = flat.chunks(4).map(|c| [c[0], c[1], c[2], c[3].abs()]).collect();
                let uploaded = gpu.device.upload(&bodies).unwrap();
                let mut out = gpu.device.zeroed::<[$ty; 3]>(bodies.len()).unwrap();
                run(gpu, kernels::$nbody(&uploaded, &mut out), bodies.len());
                let out = gpu.device.download(&out).unwrap();
                identical(out.as_flattened(), (0..bodies.len()).flat_map(|i| kernels::acceleration(&bodies, i)));
            }),
            test(&name("Horner's rule"), move |gpu| {
                let (coefficients, x) = (numbers(2, TERMS), numbers(3, N));
                let (a, b) = (gpu.device.upload(&coefficients).unwrap(), gpu.device.upload(&x).unwrap());
                let mut out = gpu.device.zeroed::<$ty>(N).unwrap();
                run(gpu, kernels::$horner(&a, &b, &mut out), N);
                let host = x.iter().map(|x| kernels::horner(&coefficients, *x));
                identical(&gpu.device.download(&out).unwrap(), host);
            }),
            test(&name("the Mandelbrot set"), move |gpu| {
                let flat = numbers(4, 2 * N);
                let points: Vec<[$ty; 2]> = flat.chunks(2).map(|c| [c[0] - 0.5, c[1]]).collect();
                let uploaded = gpu.device.upload(&points).unwrap();
                let mut steps = gpu.device.zeroed::<u32>(N).unwrap();
                let mut ends = gpu.device.zeroed::<$ty>(N).unwrap();
                run(gpu, kernels::$mandelbrot(&uploaded, &mut steps, &mut ends), N);
                let host: Vec<_> = points.iter().map(|[x, y]| kernels::mandelbrot(*x, *y)).collect();
                same(&gpu.device.download(&steps).unwrap(), host.iter().map(|(steps, _)| *steps));
                identical(&gpu.device.download(&ends).unwrap(), host.iter().map(|(_, end)| *end));
            }),
            test(&name("dot products"), move |gpu| {
                let rows = |seed| numbers(seed, TERMS * N).as_chunks::<TERMS>().0.to_vec();
                let (a, b): (Vec<[$ty; TERMS]>, Vec<[$ty; TERMS]>) = (rows(5), rows(6));
                let (on_a, on_b) = (gpu.device.upload(&a).unwrap(), gpu.device.upload(&b).unwrap());
                let mut out = gpu.device.zeroed::<$ty>(N).unwrap();
                run(gpu, kernels::$dot(&on_a, &on_b, &mut out), N);
                identical(&gpu.device.download(&out).unwrap(), a.iter().zip(&b).map(|(a, b)| kernels::dot(a, b)));
            }),
            test(&name("Newton's method"), move |gpu| {
                let a: Vec<$ty> = numbers(7, N).into_iter().map(|x| x.abs() * 50.0 + 1e-3).collect();
                let uploaded = gpu.device.upload(&a).unwrap();
                let mut out = gpu.device.zeroed::<$ty>(N).unwrap();
                run(gpu, kernels::$newton(&uploaded, &mut out), N);
                identical(&gpu.device.download(&out).unwrap(), a.iter().map(|a| kernels::newton(*a)));
            }),
            test(&name("LU factors of 4×4 matrices"), move |gpu| {
                let rows = numbers(8, 16 * N).as_chunks::<4>().0.to_vec();
                let matrices: Vec<[[$ty; 4]; 4]> = rows.as_chunks::<4>().0.to_vec();
                let uploaded = gpu.device.upload(&matrices).unwrap();
                let mut factors = gpu.device.zeroed::<[[$ty; 4]; 4]>(N).unwrap();
                let mut determinants = gpu.device.zeroed::<$ty>(N).unwrap();
                run(gpu, kernels::$lu(&uploaded, &mut factors, &mut determinants), N);
                let host: Vec<_> = matrices.iter().map(|matrix| kernels::lu(*matrix)).collect();
                let factors = gpu.device.download(&factors).unwrap();
                let on_host: Vec<[[$ty; 4]; 4]> = host.iter().map(|(factors, _)| *factors).collect();
                identical(factors.as_flattened().as_flattened(), on_host.as_flattened().as_flattened().iter().copied());
                identical(
                    &gpu.device.download(&determinants).unwrap(),
                    host.iter().map(|(_, determinant)| *determinant),
                );
            }),
            test(&name("products of matrices"), move |gpu| {
                let (a, b) = (numbers(9, WIDTH * WIDTH), numbers(10, WIDTH * WIDTH));
                let (on_a, on_b) = (gpu.device.upload(&a).unwrap(), gpu.device.upload(&b).unwrap());
                let mut out = gpu.device.zeroed::<$ty>(a.len()).unwrap();
                run(gpu, kernels::$matmul(&on_a, &on_b, &mut out), a.len());
                let element = |i: usize| kernels::element(&a, &b, WIDTH, i / WIDTH, i % WIDTH);
                identical(&gpu.device.download(&out).unwrap(), (0..a.len()).map(element));
            }),
        ]
    }};
}

pub fn tests() -> Vec<Test> {
    let mut tests: Vec<Test> =
        precision!(f32: nbody_f32 horner_f32 mandelbrot_f32 dot_f32 newton_f32 lu_f32 matmul_f32);
    tests.extend(precision!(f64: nbody_f64 horner_f64 mandelbrot_f64 dot_f64 newton_f64 lu_f64 matmul_f64));
    tests.push(test("float, CPU as GPU: a hash of integers", |gpu| {
        let words: Vec<u64> = random(11).take(1000).collect();
        let uploaded = gpu.device.upload(&words).unwrap();
        let mut out = gpu.device.zeroed::<u64>(N).unwrap();
        run(gpu, kernels::hash_words(&uploaded, &mut out), N);
        same(&gpu.device.download(&out).unwrap(), (0..N as u64).map(|seed| kernels::hash(&words, seed)));
    }));
    tests
}
