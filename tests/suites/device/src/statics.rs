//! Statics that the host writes and reads by name, cache operators, and copies in the background.

use ptx::vec::{Float4, UInt4};
use ptx::{DevicePointer, Error, Grid, Image, Launch, Module};
use ptx_memory_kernels::{self as kernels, HISTOGRAM, UNUSED, WEIGHTS, inner};

use crate::gpu::{Gpu, random, same};
use crate::record::{Test, test};

static IMAGE: Image = ptx::image!("ptx-memory-kernels");

/// Elements of a test; not whole blocks.
const N: usize = 100_003;

/// A module of its own: statics are written.
fn load(gpu: &Gpu) -> Module {
    gpu.device.load(&IMAGE).unwrap_or_else(|error| panic!("{error}"))
}

fn run(gpu: &Gpu, module: &Module, launch: Launch<'_>, grid: Grid) {
    launch.launch(module, grid).unwrap_or_else(|error| panic!("{error}"));
    gpu.device.synchronize().unwrap_or_else(|error| panic!("{error}"));
}

pub fn tests() -> Vec<Test> {
    let mut tests = vec![
        test("statics by symbol: constant memory", |gpu| {
            let mut module = load(gpu);
            let values: Vec<u32> = random(3).map(|bits| bits as u32 >> 8).take(N).collect();
            let device = gpu.device.upload(&values).unwrap();
            let mut weighed = gpu.device.zeroed::<f32>(N).unwrap();
            assert_eq!(module.read_static(&WEIGHTS).unwrap(), [0.5; 16], "the first value");
            for round in 0..3 {
                let weights: [f32; 16] = match round {
                    0 => [0.5; 16],
                    _ => std::array::from_fn(|i| (i as f32 + 0.25) * f32::from(round as u8)),
                };
                if round > 0 {
                    module.write_static(&WEIGHTS, &weights).unwrap();
                }
                run(gpu, &module, kernels::weigh_and_count(&device, &mut weighed), Grid::cover(N, 256));
                let host = values.iter().map(|value| weights[*value as usize % 16] * *value as f32);
                same(&gpu.device.download(&weighed).unwrap(), host);
                assert_eq!(module.read_static(&WEIGHTS).unwrap(), weights);
            }
            let other = load(gpu);
            assert_eq!(other.read_static(&WEIGHTS).unwrap(), [0.5; 16], "each module has its own");
        }),
        test("statics by symbol: global memory", |gpu| {
            let mut module = load(gpu);
            let values: Vec<u32> = random(4).map(|bits| bits as u32).take(N).collect();
            let device = gpu.device.upload(&values).unwrap();
            let mut weighed = gpu.device.zeroed::<f32>(N).unwrap();
            let mut counts = [100; 16];
            for round in 0..3 {
                if round == 2 {
                    counts = std::array::from_fn(|i| i as u32);
                    module.write_static(&HISTOGRAM, &counts).unwrap();
                }
                run(gpu, &module, kernels::weigh_and_count(&device, &mut weighed), Grid::cover(N, 256));
                values.iter().for_each(|value| counts[*value as usize % 16] += 1);
                assert_eq!(module.read_static(&HISTOGRAM).unwrap(), counts, "round {round}");
            }
            run(gpu, &module, kernels::double_last(), Grid::new(1_u32, 1_u32));
            assert_eq!(module.read_static(&inner::LAST).unwrap(), Float4::new(2.0, 4.0, 6.0, 8.0));
            module.write_static(&inner::LAST, &Float4::splat(-1.5)).unwrap();
            run(gpu, &module, kernels::double_last(), Grid::new(1_u32, 1_u32));
            assert_eq!(module.read_static(&inner::LAST).unwrap(), Float4::splat(-3.0));
        }),
        test("statics by symbol: what the code does not have", |gpu| {
            let mut module = load(gpu);
            let error = module.read_static(&UNUSED).unwrap_err();
            assert!(matches!(error, Error::UnknownStatic { .. }), "{error}");
            assert!(error.to_string().contains("ptx_memory_kernels::UNUSED"), "{error}");
            let error = module.write_static(&UNUSED, &3).unwrap_err();
            assert!(matches!(error, Error::UnknownStatic { .. }), "{error}");
            let error = gpu.module.read_static(&HISTOGRAM).unwrap_err();
            assert!(error.to_string().contains("ptx_test_kernels"), "{error}");
        }),
        test("copies in the background", |gpu| {
            let module = load(gpu);
            let blocks = 37;
            let values: Vec<u32> = random(5).map(|bits| bits as u32 >> 12).take(256 * blocks).collect();
            let vectors: Vec<UInt4> = values.as_chunks::<4>().0.iter().map(|four| UInt4::from_array(*four)).collect();
            let device = gpu.device.upload(&vectors).unwrap();
            let mut sums = gpu.device.zeroed::<u32>(blocks).unwrap();
            let stream = gpu.device.stream();
            let pointers = (DevicePointer::of(&device, stream), DevicePointer::of_mut(&mut sums, stream));
            // SAFETY: blocks of 64 threads with four values each, and a sum for each block.
            let launch = unsafe { kernels::sum_copied(pointers.0, pointers.1) };
            run(gpu, &module, launch, Grid::new(blocks as u32, 64_u32));
            let host = values.chunks(256).map(|block| block.iter().sum());
            same(&gpu.device.download(&sums).unwrap(), host);
        }),
        test("pointers of known spaces", |gpu| {
            let (module, blocks) = (load(gpu), 41_u32);
            let words: Vec<u32> = random(7).map(|bits| bits as u32).take(64 * blocks as usize).collect();
            let mut values = gpu.device.upload(&words).unwrap();
            let mut pointers = gpu.device.zeroed::<[u64; 4]>(words.len()).unwrap();
            let mut sums = gpu.device.zeroed::<[u32; 3]>(words.len()).unwrap();
            let stream = gpu.device.stream();
            let values_at = DevicePointer::of_mut(&mut values, stream);
            let pointers_at = DevicePointer::of_mut(&mut pointers, stream);
            let sums_at = DevicePointer::of_mut(&mut sums, stream);
            // SAFETY: blocks of 64 threads, and an element for each thread.
            let launch = unsafe { kernels::known::known_spaces(values_at, pointers_at, sums_at) };
            run(gpu, &module, launch, Grid::new(blocks, 64_u32));
            let sum = |words: [u32; 4]| words.iter().fold(0_u32, |sum, word| sum.wrapping_mul(31).wrapping_add(*word));
            let host = words.iter().enumerate().map(|(i, word)| {
                let (i, weight) = (i as u32, 0.5_f32.to_bits());
                let second = sum([word ^ 1, (3 * i) ^ 2, (5 * i) ^ 4, weight]);
                // The pointer of each space is in that space alone.
                [sum([*word, 3 * i, 5 * i, weight]), second, 0x8421]
            });
            same(&gpu.device.download(&sums).unwrap(), host);
            same(&gpu.device.download(&values).unwrap(), words.iter().map(|word| word ^ 1));
        }),
    ];
    macro_rules! cached {
        ($($name:ident $ty:ty: |$bits:ident| $value:expr;)*) => {$(
            tests.push(test(concat!("cache operators: ", stringify!($ty)), |gpu| {
                let module = load(gpu);
                let values: Vec<$ty> = random(6).map(|$bits| $value).take(N).collect();
                let from = gpu.device.upload(&values).unwrap();
                for store in 0..7 {
                    let mut to = gpu.device.zeroed::<$ty>(N).unwrap();
                    let stream = gpu.device.stream();
                    let pointers = (DevicePointer::of(&from, stream), DevicePointer::of_mut(&mut to, stream));
                    // SAFETY: both have `N` elements.
                    let launch = unsafe { kernels::$name(pointers.0, pointers.1, N, store) };
                    run(gpu, &module, launch, Grid::cover(N, 256));
                    same(&gpu.device.download(&to).unwrap(), values.iter().copied());
                }
            }));
        )*};
    }
    cached! {
        cached_u8 u8: |bits| bits as u8;
        cached_u16 u16: |bits| bits as u16;
        cached_f32 f32: |bits| (bits as u32 >> 4) as f32;
        cached_u64 u64: |bits| bits;
        cached_float4 Float4: |bits| Float4::new(bits as u8 as f32, (bits >> 8) as u16 as f32, 1.0, -(bits as u16 as f32));
    }
    tests
}
