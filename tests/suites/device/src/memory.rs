//! References, pointers, copies and comparisons.

use ptx::DevicePointer;
use ptx_test_kernels::layouts::Inner;
use ptx_test_kernels::memory::{self as kernels, BLOCK, SHIFTED};

use crate::gpu::{random, same};
use crate::record::{Test, test};

pub fn tests() -> Vec<Test> {
    vec![
        test("references", |gpu| {
            let factor = gpu.device.upload(&[2.5_f32]).unwrap();
            let offset = gpu.device.upload(&[Inner { a: 1, b: 0.75, c: [0; 3] }]).unwrap();
            let values: Vec<f32> = (0..1000).map(|i| i as f32).collect();
            let mut device = gpu.device.upload(&values).unwrap();
            gpu.run(kernels::scale(&factor, &offset, &mut device), values.len());
            same(&gpu.device.download(&device).unwrap(), values.iter().map(|v| v * 2.5 + 0.75));
        }),
        test("raw pointers", |gpu| {
            let values: Vec<u16> = (0..1000).collect();
            let from = gpu.device.upload(&values).unwrap();
            let mut to = gpu.device.zeroed::<u16>(values.len()).unwrap();
            let stream = gpu.device.stream();
            let (from, pointer) = (DevicePointer::of(&from, stream), DevicePointer::of_mut(&mut to, stream));
            // SAFETY: both have 1000 elements, and live until the kernel has ended.
            gpu.run(unsafe { kernels::reverse(from, pointer, values.len()) }, values.len());
            same(&gpu.device.download(&to).unwrap(), values.into_iter().rev());
        }),
        test("copies of large arrays", |gpu| {
            let from = blocks(50);
            let device = gpu.device.upload(&from).unwrap();
            let mut to = gpu.device.upload(&vec![[0; BLOCK]; from.len()]).unwrap();
            gpu.run(kernels::copy_blocks(&device, &mut to), from.len());
            same(&gpu.device.download(&to).unwrap(), from);
        }),
        test("overlapping copies and fills", |gpu| {
            let mut host = blocks(250);
            let mut device = gpu.device.upload(&host).unwrap();
            gpu.run(kernels::shuffle_blocks(&mut device), host.len());
            host.iter_mut().enumerate().for_each(|(i, block)| kernels::shuffle(block, i));
            same(&gpu.device.download(&device).unwrap(), host);
        }),
        test("copies, moves and fills of every length", |gpu| {
            let from: Vec<[u16; SHIFTED]> = vec![std::array::from_fn(|i| i as u16 * 3 + 1); 600];
            let mut host = vec![[7; SHIFTED]; from.len()];
            let device = gpu.device.upload(&from).unwrap();
            let mut to = gpu.device.upload(&host).unwrap();
            gpu.run(kernels::shift_parts(&device, &mut to), from.len());
            host.iter_mut().enumerate().for_each(|(i, to)| kernels::shift(&from[i], to, i));
            same(&gpu.device.download(&to).unwrap(), host);
        }),
        test("comparisons of large arrays", |gpu| {
            let bytes = |seed| random(seed).map(|bits| (bits % 2) as u8);
            let block = |seed: u64| -> [u8; BLOCK] { std::array::from_fn(|i| bytes(seed / 3).nth(i).unwrap_or(0)) };
            let a: Vec<_> = (0..60).map(block).collect();
            let b: Vec<_> = (0..60).map(|i| block(i + i % 2)).collect();
            let (device_a, device_b) = (gpu.device.upload(&a).unwrap(), gpu.device.upload(&b).unwrap());
            let mut out = gpu.device.zeroed::<i32>(a.len()).unwrap();
            gpu.run(kernels::compare_blocks(&device_a, &device_b, &mut out), a.len());
            same(&gpu.device.download(&out).unwrap(), a.iter().zip(&b).map(|(a, b)| kernels::order(a, b)));
        }),
        test("statics", |gpu| {
            let mut out = gpu.device.zeroed::<u32>(100).unwrap();
            gpu.run(kernels::primes(&mut out), 100);
            same(&gpu.device.download(&out).unwrap(), (0..100).map(kernels::prime));
        }),
    ]
}

fn blocks(count: usize) -> Vec<[u64; BLOCK]> {
    let mut numbers = random(7);
    (0..count).map(|_| std::array::from_fn(|_| numbers.next().unwrap_or(0))).collect()
}
