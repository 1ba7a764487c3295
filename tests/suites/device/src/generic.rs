//! Generic kernels: each instance is launched by its arguments, and computes as the CPU does.

use ptx::prelude::*;
use ptx::{DeviceFn, Error, GridError};
use ptx_memory_kernels::clusters;
use ptx_test_kernels::generic::{
    self as kernels, Affine, FEW, Largest, MulAdd, Negate, Number, Operation, Pair, Sum, Window,
};

use crate::gpu::{Gpu, same};
use crate::record::{Test, test};

pub fn tests() -> Vec<Test> {
    vec![
        test("generic kernels: types", |gpu| {
            let each = |i: u32| u8::from_count(7) + u8::from_count(i);
            let mut bytes = gpu.device.upload(&[1_u8; 100]).unwrap();
            gpu.run(kernels::add_to_each(7_u8, &mut bytes), 100);
            same(&gpu.device.download(&bytes).unwrap(), (0..100).map(|i| 1 + each(i)));
            // The type is found by the arguments, or said.
            let mut wide = gpu.device.upload(&[-5_i64; 1000]).unwrap();
            gpu.run(kernels::add_to_each(3_i64, &mut wide), 1000);
            gpu.run(kernels::add_to_each::<i64>(4, &mut wide), 1000);
            same(&gpu.device.download(&wide).unwrap(), (0..1000_i64).map(|i| 2 + 2 * i));
            let mut floats = gpu.device.upload(&[0.5_f32; 300]).unwrap();
            gpu.run(kernels::add_to_each::<f32>(2.0, &mut floats), 300);
            same(&gpu.device.download(&floats).unwrap(), (0..300).map(|i| 2.5 + i as f32));
            let pair = |first, second| Pair::<i64> { first, second };
            let mut pairs = gpu.device.upload(&[pair(1, 2); 50]).unwrap();
            gpu.run(kernels::add_to_each(pair(10, 20), &mut pairs), 50);
            same(&gpu.device.download(&pairs).unwrap(), (0..50).map(|i| pair(11 + i, 22 - i)));
        }),
        test("generic kernels: numbers", |gpu| {
            let mut floats = gpu.device.zeroed::<f32>(70 * FEW).unwrap();
            gpu.run_as(kernels::add_rows::<f32, FEW>([1.0, 2.0, 3.0], &mut floats), Grid::new(2, 96));
            same(&gpu.device.download(&floats).unwrap(), (0..70 * FEW).map(|i| (i % FEW + 1) as f32));
            let mut bytes = gpu.device.zeroed::<u8>(4 * 16).unwrap();
            gpu.run_as(kernels::add_rows([1_u8, 2, 3, 4], &mut bytes), Grid::new(1, 16));
            gpu.run_as(kernels::add_rows([10_u8; 16], &mut bytes), Grid::new(1, 4));
            same(&gpu.device.download(&bytes).unwrap(), (0..64).map(|i| i % 4 + 11));
            // The bound of threads is the instance's.
            let refused = kernels::add_rows([1_u8, 2, 3, 4], &mut bytes).launch(&gpu.module, Grid::new(1, 129));
            assert!(matches!(refused, Err(Error::Grid { reason: GridError::KernelThreads { limit: 128, .. }, .. })));
        }),
        test("generic kernels: shared memory", |gpu| {
            let values: Vec<i64> = (0..1000).map(|i| i * i).collect();
            let on_device = gpu.device.upload(&values).unwrap();
            let mut sums = gpu.device.zeroed::<i64>(16).unwrap();
            gpu.run_as(kernels::block_sums::<i64, 64>(&on_device, &mut sums), Grid::new(16, 64));
            same(&gpu.device.download(&sums).unwrap(), values.chunks(64).map(|block| block.iter().sum()));
            let on_device = gpu.device.upload(&[0.5_f32; 300]).unwrap();
            let mut sums = gpu.device.zeroed::<f32>(3).unwrap();
            gpu.run_as(kernels::block_sums::<f32, 128>(&on_device, &mut sums), Grid::new(3, 128));
            same(&gpu.device.download(&sums).unwrap(), [64.0, 64.0, 22.0]);
        }),
        test("generic kernels: functions with captured values", |gpu| {
            applies(gpu, Affine { a: 2.0, b: -1.0 }, |f, values| kernels::apply(f, values));
            applies(gpu, Window { is_closed: true, low: 3.0, high: 12.5 }, |f, values| kernels::apply(f, values));
            applies(gpu, Window { is_closed: false, low: 3.0, high: 12.5 }, |f, values| kernels::apply(f, values));
            applies(gpu, Negate {}, |f, values| kernels::apply(f, values));
            let (a, b): (Vec<i64>, Vec<i64>) = (0..100).map(|i| (i, 1000 - i)).unzip();
            let [a_on_device, b_on_device] = [&a, &b].map(|values| gpu.device.upload(values).unwrap());
            let mut out = gpu.device.zeroed::<i64>(a.len()).unwrap();
            gpu.run(kernels::combine(MulAdd { c: -7 }, &a_on_device, &b_on_device, &mut out), a.len());
            same(&gpu.device.download(&out).unwrap(), a.iter().zip(b).map(|(a, b)| a * b - 7));
        }),
        test("generic kernels: policies", |gpu| {
            let values: Vec<u32> = (0..10_000_u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
            let on_device = gpu.device.upload(&values).unwrap();
            let mut out = gpu.device.zeroed::<u32>(192).unwrap();
            let model = |of: fn(u32, u32) -> u32| {
                let values = &values;
                (0..192).map(move |first| values.iter().skip(first).step_by(192).fold(0, |a, b| of(a, *b)))
            };
            gpu.run_as(kernels::fold::<Sum>(&on_device, &mut out), Grid::new(2, 96));
            same(&gpu.device.download(&out).unwrap(), model(Sum::of));
            gpu.run_as(kernels::fold::<Largest>(&on_device, &mut out), Grid::new(2, 96));
            same(&gpu.device.download(&out).unwrap(), model(Largest::of));
        }),
        test("kernels of clusters, and cooperative ones", |gpu| in_clusters(gpu).unwrap()),
    ]
}

fn applies<F: DeviceFn<(f32,), Output = f32> + Copy>(
    gpu: &Gpu,
    function: F,
    launch: impl for<'a> FnOnce(F, &'a mut CudaSlice<f32>) -> ptx::Launch<'a>,
) {
    let values: Vec<f32> = (0..100).map(|i| i as f32 / 4.0).collect();
    let mut on_device = gpu.device.upload(&values).unwrap();
    gpu.run(launch(function, &mut on_device), values.len());
    same(&gpu.device.download(&on_device).unwrap(), values.iter().map(|x| function.call((*x,))));
}

static IMAGE: ptx::Image = ptx::image!("ptx-memory-kernels");

/// The launch asks for nothing: the kernels do.
fn in_clusters(gpu: &Gpu) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    let mut out = gpu.device.zeroed::<[u32; 2]>(12 * 32)?;
    clusters::pairs(&mut out).launch(&module, Grid::new(12, 32))?;
    let expected = |blocks: u32| (0..12 * 32_u32).map(move |i| [i / 32 % blocks, blocks]);
    same(&gpu.device.download(&out)?, expected(2));
    clusters::groups::<4>(&mut out).launch(&module, Grid::new(12, 32))?;
    same(&gpu.device.download(&out)?, expected(4));
    let refused = |result| match result {
        Err(Error::Grid { reason, .. }) => reason,
        other => panic!("it was not refused: {other:?}"),
    };
    let odd = clusters::pairs(&mut out).launch(&module, Grid::new(3, 32));
    assert_eq!(refused(odd), GridError::ClusterParts { axis: 'x', blocks: 3, cluster: 2 });
    let other = clusters::pairs(&mut out).cluster(4).launch(&module, Grid::new(12, 32));
    assert!(matches!(refused(other), GridError::OtherCluster { .. }));
    let large = clusters::at_most_four(&mut out).cluster(8).launch(&module, Grid::new(16, 32));
    assert!(matches!(refused(large), GridError::ClusterBound { limit: 4, .. }));
    clusters::at_most_four(&mut out).cluster(4).launch(&module, Grid::new(12, 32))?;
    same(&gpu.device.download(&out)?, expected(4));

    let (mut barrier, mut rounds) = (gpu.device.zeroed::<u32>(1)?, gpu.device.zeroed::<u32>(10)?);
    let mut out = gpu.device.zeroed::<u32>(4 * 64)?;
    clusters::all_at_once(&mut barrier, &mut rounds, &mut out).launch(&module, Grid::new(4, 64))?;
    same(&gpu.device.download(&out)?, [10; 4 * 64]);
    let blocks = 1 + u32::try_from(module.resident_blocks("all_at_once", 64, 0)?).unwrap();
    let many = clusters::all_at_once(&mut barrier, &mut rounds, &mut out).launch(&module, Grid::new(blocks, 64));
    assert!(matches!(refused(many), GridError::Cooperative { .. }));
    Ok(())
}
