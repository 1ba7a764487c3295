//! Every form of index: each element is written by its thread, once.

use ptx::prelude::*;
use ptx::{Error, GridError, Plane, ShapeError, Strided, Volume};
use ptx_test_kernels::indices as kernels;

use crate::gpu::same;
use crate::record::{Test, test};

pub fn tests() -> Vec<Test> {
    vec![
        test("index: grid-stride loops", |gpu| {
            for n in [0, 1, 1000, 100_003] {
                for grid in [Grid::new(1, 1), Grid::new(3, 96), Grid::cover(n, 128)] {
                    if n > 10_000 && grid == Grid::new(1, 1) {
                        continue;
                    }
                    let mut data = gpu.device.zeroed::<u32>(n).unwrap();
                    gpu.run_as(kernels::stride_each(&mut data), grid);
                    gpu.run_as(kernels::stride_loop(&mut data), grid);
                    same(&gpu.device.download(&data).unwrap(), (0..n as u32).map(|i| 2 * i));
                }
            }
        }),
        test("index: grid-stride sums", |gpu| {
            let (n, threads) = (10_007, 288);
            let x: Vec<u32> = (0..n).map(|i| i * i).collect();
            let mut sums = gpu.device.zeroed::<u32>(threads).unwrap();
            let x_on_device = gpu.device.upload(&x).unwrap();
            gpu.run_as(kernels::stride_sums(&x_on_device, &mut sums), Grid::new(3, 96));
            let sum = |first| x.iter().skip(first).step_by(threads).fold(0, |sum: u32, x| sum.wrapping_add(*x));
            same(&gpu.device.download(&sums).unwrap(), (0..threads).map(sum));
        }),
        test("index: planes", |gpu| {
            let (width, height) = (61, 37);
            // One row of memory more than the plane has.
            let mut out = gpu.device.zeroed::<u32>(width * (height + 1)).unwrap();
            let grid = Grid::cover_2d((width, height), (16, 8));
            gpu.run_as(kernels::plane(Plane::new(&mut out, width, height)), grid);
            let host = (0..width * (height + 1)).map(|i| match (i / width, i % width) {
                (y, _) if y == height => 0,
                (y, x) => (1000 * y + x) as u32,
            });
            same(&gpu.device.download(&out).unwrap(), host);
        }),
        test("index: neighbours, of 32 and of 64 bits", |gpu| {
            // The last two are too wide and too high for indices of 32 bits.
            for (width, height) in [(1, 1), (61, 37), (32_767, 2), (32_768, 2), (3, 40_000)] {
                let values: Vec<u32> = (0..(width * height) as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
                let from = gpu.device.upload(&values).unwrap();
                let mut out = gpu.device.zeroed::<u32>(width * height).unwrap();
                let grid = Grid::cover_2d((width, height), (16, 8));
                gpu.run_as(kernels::neighbours(&from, Plane::new(&mut out, width, height)), grid);
                let around = |at: usize, size: usize| [(at + size - 1) % size, at, (at + 1) % size];
                let host = (0..width * height).map(|i| {
                    let rows = around(i / width, height);
                    let all = rows.iter().flat_map(|row| around(i % width, width).map(|column| row * width + column));
                    all.fold(0, |sum: u32, i| sum.wrapping_add(values[i]))
                });
                same(&gpu.device.download(&out).unwrap(), host);
            }
        }),
        test("index: volumes", |gpu| {
            let (width, height, depth) = (21, 13, 9);
            let mut out = gpu.device.zeroed::<u32>(width * height * depth).unwrap();
            let grid = Grid::new((3, 4, 5), (8, 4, 2));
            gpu.run_as(kernels::volume(Volume::new(&mut out, width, height, depth)), grid);
            let layer = width * height;
            let host =
                (0..layer * depth).map(|i| (10_000 * (i / layer) + 100 * (i % layer / width) + i % width) as u32);
            same(&gpu.device.download(&out).unwrap(), host);
        }),
        test("index: blocks, warps and threads", |gpu| {
            // The last has warps of 32 and of 16 threads.
            for grid in [Grid::new(5, 96), Grid::new((2, 3, 2), (4, 8, 2)), Grid::new((2, 2), (6, 8))] {
                let blocks = grid.blocks.volume() as usize;
                let threads = grid.threads.volume() as usize;
                let counts = [blocks, blocks * threads.div_ceil(32), 4 * blocks * threads - 3];
                let [mut per_block, mut per_warp, mut per_thread] =
                    counts.map(|count| gpu.device.zeroed::<u32>(count).unwrap());
                gpu.run_as(kernels::groups(&mut per_block, &mut per_warp, &mut per_thread), grid);
                for (out, count) in [per_block, per_warp, per_thread].iter().zip(counts) {
                    same(&gpu.device.download(out).unwrap(), vec![1; count]);
                }
            }
        }),
        test("index: more parts than warps", |gpu| {
            let mut out = gpu.device.zeroed::<u32>(1000).unwrap();
            gpu.run_as(kernels::warp_parts(&mut out), Grid::new(2, 80));
            same(&gpu.device.download(&out).unwrap(), (0..1000).map(|i| i / 7));
        }),
        test("index: rows", |gpu| {
            let (width, height) = (45, 70);
            let mut out = gpu.device.zeroed::<u32>(width * height).unwrap();
            gpu.run_as(kernels::block_rows(Plane::new(&mut out, width, height)), Grid::new(9, 32));
            gpu.run_as(kernels::warp_rows(Plane::new(&mut out, width, height)), Grid::new(24, 96));
            gpu.run_as(kernels::thread_rows(Plane::new(&mut out, width, height)), Grid::new(2, 40));
            let host = (0..width * height).map(|i| 3 * (1000 * (i / width) + i % width) as u32);
            same(&gpu.device.download(&out).unwrap(), host);
        }),
        test("index: transposition by tiles", |gpu| {
            let (width, height) = (100, 75);
            let values: Vec<f32> = (0..width * height).map(|i| i as f32).collect();
            let from = gpu.device.upload(&values).unwrap();
            let mut to = gpu.device.zeroed::<f32>(values.len()).unwrap();
            let plane = Plane::new(&mut to, height, width);
            let launch = kernels::transpose_tiles(&from, width as u32, height as u32, plane);
            gpu.run_as(launch, Grid::new((4, 3), (32, 8)));
            let host = (0..values.len()).map(|i| values[i % height * width + i / height]);
            same(&gpu.device.download(&to).unwrap(), host);
        }),
        test("index: butterflies", |gpu| {
            let n = 1 << 12;
            let mut host: Vec<i32> = (0..n).map(|i| (i * i % 101) as i32).collect();
            let mut data = gpu.device.upload(&host).unwrap();
            for stride in (0..12).map(|log2| 1 << log2) {
                let step = kernels::walsh_step(Strided::new(&mut data, stride));
                gpu.run_as(step, Grid::cover(n / 2, 128));
                for block in host.chunks_mut(2 * stride) {
                    let (low, high) = block.split_at_mut(stride);
                    low.iter_mut().zip(high).for_each(|(a, b)| (*a, *b) = (*a + *b, *a - *b));
                }
            }
            same(&gpu.device.download(&data).unwrap(), host);
        }),
        test("index: hints change no result", |gpu| {
            let x: Vec<u32> = (0..200).map(|i| i * 77 + 5).collect();
            let x_on_device = gpu.device.upload(&x).unwrap();
            let mut out = gpu.device.upload(&vec![[0; 5]; x.len()]).unwrap();
            gpu.run(kernels::unrolled(&x_on_device, &mut out), x.len());
            let host = (0..x.len()).map(|n| {
                let whole = x[..n].iter().fold(0, |value, x| kernels::chain(value, *x));
                let first = x[..n.min(8)].iter().fold(0, |value, x| kernels::chain(value, *x));
                [whole, whole, whole, first, whole]
            });
            same(&gpu.device.download(&out).unwrap(), host);
        }),
        test("index: launches that a kernel excludes", |gpu| {
            let mut data = gpu.device.zeroed::<u32>(100).unwrap();
            let mut refused = |grid| match kernels::stride_loop(&mut data).launch(&gpu.module, grid) {
                Err(Error::Grid { reason, .. }) => reason,
                other => panic!("{grid}: {other:?}"),
            };
            assert_eq!(refused(Grid::new((1, 2), 32)), GridError::Dimensions(1));
            assert_eq!(refused(Grid::new(1, (8, 1, 2))), GridError::Dimensions(1));
            assert_eq!(refused(Grid::new(1 << 23, 1024)), GridError::Threads(1 << 33));
            let too_large = kernels::plane(Plane::new(&mut data, 20, 6)).launch(&gpu.module, Grid::new(1, (20, 6)));
            assert!(
                matches!(&too_large, Err(Error::Shape { reason: ShapeError::TooLarge { needed: 120, .. }, .. })),
                "{too_large:?}"
            );
            let odd = kernels::walsh_step(Strided::new(&mut gpu.device.zeroed(8).unwrap(), 3))
                .launch(&gpu.module, Grid::new(1, 4));
            assert!(matches!(&odd, Err(Error::Shape { reason: ShapeError::Stride(3), .. })), "{odd:?}");
        }),
    ]
}
