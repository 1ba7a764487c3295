//! Shared memory as a kernel's parameter: whose elements are whose, phases, and memory that the launch gives.

use ptx::prelude::*;
use ptx::{Error, GridError};
use ptx_test_kernels::shared::{self as kernels, Owners, SHAPES};

use crate::gpu::{Gpu, random, same};
use crate::record::{Test, test};

pub fn tests() -> Vec<Test> {
    vec![
        test("shared: phases come in turn", |gpu| {
            for rounds in [1, 2, 1001] {
                let blocks = 300;
                let mut data = gpu.device.upload(&(0..64 * blocks).collect::<Vec<u32>>()).unwrap();
                gpu.run_as(kernels::shared_rounds(rounds, &mut data), Grid::new(blocks, 64));
                let host = (0..64 * blocks).map(|i| kernels::after_rounds(rounds, i));
                same(&gpu.device.download(&data).unwrap(), host);
            }
        }),
        test("shared: threads that end early are not waited for", |gpu| {
            // Blocks of 64 of which 16 threads go on; what nobody wrote is any value.
            let mut data = gpu.device.zeroed::<u32>(16).unwrap();
            gpu.run_as(kernels::shared_rounds(3, &mut data), Grid::new(1, 64));
            // Whole warps that end, and one that stays.
            let mut data = gpu.device.zeroed::<u32>(32).unwrap();
            gpu.run_as(kernels::shared_rounds(3, &mut data), Grid::new(1, 64));
        }),
        test("shared: every element has one owner", |gpu| {
            for block in SHAPES {
                let mut out = gpu.device.upload(&[NONE; 5]).unwrap();
                gpu.run_as(kernels::shared_owners(&mut out), Grid::new(5, block));
                let found = gpu.device.download(&out).unwrap();
                same(&found, found.iter().map(|found| kernels::owners(block, found)));
            }
        }),
        test("shared: atomics in the readable phase", |gpu| {
            let data: Vec<u8> = random(31).take(100_000).map(|bits| bits as u8).collect();
            let mut expected = vec![0; 256];
            data.iter().for_each(|byte| expected[usize::from(*byte)] += 1);
            for threads in [32, 96, 256, 512] {
                let bytes = gpu.device.upload(&data).unwrap();
                let mut counts = gpu.device.zeroed::<u32>(256).unwrap();
                gpu.run_as(kernels::shared_histogram(&bytes, &mut counts), Grid::new(40, threads));
                same(&gpu.device.download(&counts).unwrap(), expected.clone());
            }
        }),
        test("shared: buffers change places", |gpu| {
            let values: Vec<u32> = random(32).take(128 * 500).map(|bits| bits as u32 >> 8).collect();
            let mut data = gpu.device.upload(&values).unwrap();
            gpu.run_as(kernels::shared_scan(&mut data), Grid::new(500, 128));
            let add = |sum: &mut u32, value: &u32| {
                *sum += value;
                Some(*sum)
            };
            same(&gpu.device.download(&data).unwrap(), values.chunks(128).flat_map(|block| block.iter().scan(0, add)));
        }),
        test("shared: memory that the launch gives", |gpu| {
            // Up to what every block may have, over it, and as much as there is, beside what the kernel has itself.
            let limits = gpu.device.limits();
            let most = (limits.shared_bytes_per_block_optin - 1024) / 8;
            for len in [128, 1000, (48 << 10) / 8, most] {
                dynamic(gpu, len).unwrap();
            }
            let too_much = dynamic(gpu, limits.shared_bytes_per_block_optin / 8).unwrap_err();
            let Error::Grid { kernel, reason, .. } = &too_much else { panic!("{too_much}") };
            assert_eq!(kernel, "shared_dynamic");
            let GridError::SharedMemory { dynamic, fixed, limit } = reason else { panic!("{reason}") };
            let wanted = limits.shared_bytes_per_block_optin / 8 * 8;
            assert_eq!((*dynamic, *limit), (wanted, limits.shared_bytes_per_block_optin));
            assert!(*fixed >= 8, "{fixed}");
        }),
        test("shared: parts of memory that the launch gives", |gpu| {
            let mut data = gpu.device.zeroed::<u64>(7).unwrap();
            gpu.run_as(kernels::shared_parts(&mut data, [7, 5, 3]), Grid::new(1, 7));
            same(&gpu.device.download(&data).unwrap(), kernels::PARTS);
        }),
        test("shared: a warp's halves come from two places", |gpu| {
            let values: Vec<u32> = (0..96 * 50).collect();
            let mut data = gpu.device.upload(&values).unwrap();
            gpu.run_as(kernels::shared_diverge(&mut data), Grid::new(50, 96));
            let host = values.iter().map(|i| {
                let from = i / 96 * 96 + (i % 96 + 33) % 96;
                from + from % 2
            });
            same(&gpu.device.download(&data).unwrap(), host);
        }),
    ]
}

const NONE: Owners =
    Owners { row: [0; 100], wide: [[0; 3]; 20], plane: [[0; 11]; 10], transposed: [[0; 11]; 10], warps: [0; 8] };

/// Launches blocks of 96 with so many elements of dynamic memory, and checks what they leave.
fn dynamic(gpu: &Gpu, len: u32) -> ptx::Result<()> {
    let mut data = gpu.device.upload(&(0..960).collect::<Vec<u64>>())?;
    kernels::shared_dynamic(&mut data, [len], 5).launch(&gpu.module, Grid::new(10, 96))?;
    gpu.device.synchronize()?;
    same(&gpu.device.download(&data)?, (0..960).map(|i| i / 96 * 96 + 95 - i % 96 + 5));
    Ok(())
}
