//! Positions, barriers, streams, and launches that cannot be.

use ptx::prelude::*;
use ptx::{Error, GridError};
use ptx_test_kernels::threads::{self as kernels, NUMBERS, THREADS};

use crate::gpu::same;
use crate::record::{Test, test};

pub fn tests() -> Vec<Test> {
    vec![
        test("positions and extents", |gpu| {
            let (blocks, threads) = (7, 96);
            let mut out = gpu.device.upload(&vec![[0; NUMBERS]; (blocks * threads) as usize]).unwrap();
            gpu.run_as(kernels::positions(&mut out), Grid::new(blocks, threads));
            let host = (0..blocks * threads).map(|i| {
                let (t, b) = (i % threads, i / threads);
                [t, 0, 0, b, 0, 0, threads, 1, 1, blocks, 1, 1, t % 32]
            });
            same(&gpu.device.download(&out).unwrap(), host);
        }),
        test("two dimensions", |gpu| {
            let (width, height) = (61, 37);
            let values: Vec<f32> = (0..width * height).map(|i| i as f32).collect();
            let from = gpu.device.upload(&values).unwrap();
            let mut to = gpu.device.zeroed::<f32>(values.len()).unwrap();
            let grid = Grid::cover_2d((height, width), (16, 8));
            gpu.run_as(kernels::transpose(&from, width, height, &mut to), grid);
            let host = (0..values.len()).map(|i| values[i % height * width + i / height]);
            same(&gpu.device.download(&to).unwrap(), host);
        }),
        test("barriers", |gpu| {
            let blocks = 40;
            let values: Vec<u64> = (0..u64::from(blocks * THREADS)).map(|i| i * i).collect();
            let mut data = gpu.device.upload(&values).unwrap();
            let pointer = ptx::DevicePointer::of_mut(&mut data, gpu.device.stream());
            // SAFETY: there are THREADS elements for every block.
            gpu.run_as(unsafe { kernels::block_sums(pointer) }, Grid::new(blocks, THREADS));
            let sums: Vec<u64> = gpu.device.download(&data).unwrap().into_iter().step_by(THREADS as usize).collect();
            same(&sums, values.chunks(THREADS as usize).map(|block| block.iter().sum()));
        }),
        test("two streams", |gpu| {
            let streams = [gpu.device.new_stream().unwrap(), gpu.device.new_stream().unwrap()];
            let mut data = [0_u32, 1000].map(|start| gpu.device.upload(&vec![start; 5000]).unwrap());
            gpu.device.synchronize().unwrap();
            for _ in 0..20 {
                for (stream, data) in streams.iter().zip(&mut data) {
                    kernels::increment(data).launch_on(&gpu.module, stream, Grid::cover(5000, 128)).unwrap();
                }
            }
            gpu.device.synchronize().unwrap();
            for (data, start) in data.iter().zip([0, 1000]) {
                same(&gpu.device.download(data).unwrap(), [start + 20; 5000]);
            }
        }),
        test("many blocks", |gpu| {
            let n = 3_000_001;
            let mut data = gpu.device.zeroed::<u32>(n).unwrap();
            gpu.run(kernels::increment(&mut data), n);
            assert!(gpu.device.download(&data).unwrap().iter().all(|value| *value == 1));
        }),
        test("empty slices", |gpu| {
            let mut all = gpu.device.zeroed::<u32>(10).unwrap();
            gpu.run_as(kernels::increment(&mut all.slice_mut(0..0)), Grid::new(1, 32));
            same(&gpu.device.download(&all).unwrap(), [0; 10]);
        }),
        test("views of slices", |gpu| {
            let mut all = gpu.device.zeroed::<u32>(10).unwrap();
            gpu.run_as(kernels::increment(&mut all.slice_mut(2..5)), Grid::new(1, 32));
            same(&gpu.device.download(&all).unwrap(), [0, 0, 1, 1, 1, 0, 0, 0, 0, 0]);
        }),
        test("wrong grids are typed errors", |gpu| {
            let mut data = gpu.device.zeroed::<u32>(10).unwrap();
            let mut refused = |grid: Grid| match kernels::increment(&mut data).launch(&gpu.module, grid) {
                Err(Error::Grid { reason, .. }) => reason,
                other => panic!("{grid}: {other:?}"),
            };
            assert!(matches!(refused(Grid::new(0, 32)), GridError::Zero(_)));
            assert!(matches!(refused(Grid::new(1, 4096)), GridError::Extent { .. }));
            assert!(matches!(refused(Grid::new((1, 70_000), 1)), GridError::Extent { .. }));
            assert!(matches!(refused(Grid::new(1, (64, 64))), GridError::BlockThreads { .. }));
        }),
        test("launch bounds are kept", |gpu| {
            let mut data = gpu.device.zeroed::<u32>(256).unwrap();
            let error = kernels::bounded(&mut data).launch(&gpu.module, Grid::new(1, 256)).unwrap_err();
            assert!(
                matches!(&error, Error::Grid { reason: GridError::KernelThreads { limit: 64, .. }, .. }),
                "{error}"
            );
            gpu.run_as(kernels::bounded(&mut data), Grid::new(4, 64));
            same(&gpu.device.download(&data).unwrap(), [1; 256]);
        }),
    ]
}
