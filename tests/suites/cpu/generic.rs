//! Generic kernels on the CPU: each instance has its body.

use ptx::prelude::*;
use ptx::{CpuMemory, DeviceFn, Error, GridError};
use ptx_test_kernels::generic::{self as kernels, Affine, FEW, Largest, MulAdd, Negate, Operation, Pair, Sum, Window};

#[test]
fn instances_by_type_and_number() {
    let mut values: CpuMemory<i64> = (0..100).collect();
    kernels::add_to_each(5_i64, &mut values).launch_on_cpu(Grid::cover(100, 32)).unwrap();
    assert!(values.iter().copied().eq((0..100).map(|i| 2 * i + 5)));
    let mut pairs = CpuMemory::from(vec![Pair { first: 1_i64, second: 2 }; 5]);
    kernels::add_to_each(Pair { first: 10, second: 20 }, &mut pairs).launch_on_cpu(Grid::new(1, 5)).unwrap();
    assert!(pairs.iter().copied().eq((0..5).map(|i| Pair { first: 11 + i, second: 22 - i })));
    let mut rows = CpuMemory::from(vec![0.0_f32; 4 * FEW]);
    kernels::add_rows::<f32, FEW>([1.0, 2.0, 3.0], &mut rows).launch_on_cpu(Grid::new(1, 4)).unwrap();
    assert_eq!(&rows[3..6], [1.0, 2.0, 3.0]);
    // An instance has bounds of its own.
    let mut bytes = CpuMemory::from(vec![0_u8; 64]);
    let error = kernels::add_rows([1_u8; 4], &mut bytes).launch_on_cpu(Grid::new(1, 129)).unwrap_err();
    assert!(matches!(error, Error::Grid { reason: GridError::LaunchBounds { limit: 128, .. }, .. }), "{error}");
    assert!(error.to_string().contains("add_rows_u8_4"), "{error}");
}

#[test]
fn instances_with_shared_memory() {
    let values: CpuMemory<i64> = (0..1000).map(|i| i * i).collect();
    let mut sums = CpuMemory::from(vec![0_i64; 16]);
    kernels::block_sums::<i64, 64>(&values, &mut sums).launch_on_cpu(Grid::new(16, 64)).unwrap();
    assert!(sums.iter().copied().eq(values.chunks(64).map(|block| block.iter().sum())));
}

#[test]
fn functions_with_captured_values() {
    fn check<F: DeviceFn<(f32,), Output = f32> + Copy>(
        function: F,
        launch: impl for<'a> FnOnce(F, &'a mut CpuMemory<f32>) -> ptx::Launch<'a>,
    ) {
        let values: Vec<f32> = (0..100).map(|i| i as f32 / 4.0).collect();
        let mut memory = CpuMemory::from(values.clone());
        launch(function, &mut memory).launch_on_cpu(Grid::new(2, 64)).unwrap();
        assert!(memory.iter().copied().eq(values.iter().map(|x| function.call((*x,)))));
    }
    check(Affine { a: 2.0, b: -1.0 }, |f, values| kernels::apply(f, values));
    check(Window { is_closed: true, low: 3.0, high: 12.5 }, |f, values| kernels::apply(f, values));
    check(Negate {}, |f, values| kernels::apply(f, values));
    let (a, b): (CpuMemory<i64>, CpuMemory<i64>) = ((0..9).collect(), (10..19).collect());
    let mut out = CpuMemory::from(vec![0; 9]);
    kernels::combine(MulAdd { c: -7 }, &a, &b, &mut out).launch_on_cpu(Grid::new(1, 9)).unwrap();
    assert!(out.iter().copied().eq((0..9).map(|i| i * (i + 10) - 7)));
}

#[test]
fn policies() {
    let values: CpuMemory<u32> = (0..1000_u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let mut out = CpuMemory::from(vec![0; 64]);
    let model = |of: fn(u32, u32) -> u32, first| values.iter().skip(first).step_by(64).fold(0, |a, b| of(a, *b));
    kernels::fold::<Sum>(&values, &mut out).launch_on_cpu(Grid::new(2, 32)).unwrap();
    assert!(out.iter().copied().eq((0..64).map(|first| model(Sum::of, first))));
    kernels::fold::<Largest>(&values, &mut out).launch_on_cpu(Grid::new(2, 32)).unwrap();
    assert!(out.iter().copied().eq((0..64).map(|first| model(Largest::of, first))));
}

/// A kernel can stand in a function, and be private.
#[test]
fn local_kernels() {
    #[kernel(instantiate(u16, u64))]
    unsafe fn set<T: AbiType>(value: &T, mut out: DisjointSlice<'_, T>) {
        if let Some(out) = out.get_mut(thread::index_1d()) {
            *out = *value;
        }
    }
    let (value, mut out) = (CpuMemory::from([7_u64]), CpuMemory::from([0_u64; 5]));
    // SAFETY: the kernel asks for nothing.
    unsafe { set::<u64>(&value, &mut out) }.launch_on_cpu(Grid::new(1, 4)).unwrap();
    assert_eq!(&out[..], [7, 7, 7, 7, 0]);
}
