//! Generic kernels, by type, by number, by function and by policy.

use core::ops::{Add, AddAssign};

use ptx::prelude::*;
use ptx::shared::SharedTile;
use ptx::{DeviceFn, PerBlock, PerThread, device_fn};

/// What [`add_to_each`] adds up.
pub trait Number: AbiType + Copy + AddAssign + Add<Output = Self> {
    /// As many units.
    fn from_count(count: u32) -> Self;
}

macro_rules! numbers {
    ($($ty:ty)*) => {$(
        impl Number for $ty {
            fn from_count(count: u32) -> Self {
                count as Self
            }
        }
    )*};
}
numbers!(u8 i64 f32 f64);

/// Two numbers, an instance's argument with arguments of its own.
#[derive(Clone, Copy, Debug, PartialEq, AbiType)]
#[repr(C)]
pub struct Pair<T> {
    pub first: T,
    pub second: T,
}

impl<T: Add<Output = T>> Add for Pair<T> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { first: self.first + other.first, second: self.second + other.second }
    }
}

impl<T: AddAssign> AddAssign for Pair<T> {
    fn add_assign(&mut self, other: Self) {
        self.first += other.first;
        self.second += other.second;
    }
}

impl Number for Pair<i64> {
    fn from_count(count: u32) -> Self {
        Self { first: count.into(), second: -i64::from(count) }
    }
}

/// Adds a number, and the thread's.
#[kernel(instantiate = (u8, i64, f32, f64, Pair<i64>))]
pub fn add_to_each<T: Number>(number: T, mut values: DisjointSlice<T>) {
    let i = thread::index_1d();
    if let Some(value) = values.get_mut(i) {
        *value += number + T::from_count(i.get() as u32);
    }
}

/// As many of a thread's numbers as it has.
pub const FEW: usize = 3;

/// Adds a row of numbers to each thread's.
#[kernel(instantiate((f32, FEW), (u8, 4), (u8, 16)), launch_bounds(32 * N as u32))]
pub fn add_rows<T: Number, const N: usize>(row: [T; N], mut values: PerThread<T, N>) {
    if let Some(own) = values.array() {
        for (own, number) in own.iter_mut().zip(row) {
            *own += number;
        }
    }
}

/// The sums of blocks of `THREADS`, in shared memory of that size.
#[kernel(instantiate((i64, 64), (f32, 128)), launch_bounds(THREADS as u32))]
pub fn block_sums<T: Number + ptx::Plain, const THREADS: usize>(
    values: &[T],
    mut sums: PerBlock<T>,
    #[shared] mut tile: SharedTile<[T; THREADS]>,
) {
    let own = values.get(thread::index_1d().get()).copied().unwrap_or(T::from_count(0));
    tile.own().set(own);
    let tile = tile.publish();
    let sum = || (0..THREADS).map(|i| tile[i]).fold(T::from_count(0), |a, b| a + b);
    if let Some(out) = sums.part().get_mut() {
        *out = sum();
    }
}

device_fn! {
    /// `a x + b`
    #[derive(Debug)]
    pub struct Affine { a: f32, b: f32 } = |x: f32| -> f32 { a * x + b }
}

device_fn! {
    /// The square of what is between the bounds, and 0 elsewhere; it has captured values of several sizes.
    #[derive(Debug)]
    pub struct Window { is_closed: bool, low: f32, high: f64 } = |x: f32| -> f32 {
        let is_in = if is_closed { low <= x && f64::from(x) <= high } else { low < x && f64::from(x) < high };
        if is_in { x * x } else { 0.0 }
    }
}

device_fn! {
    /// It has captured nothing.
    #[derive(Debug)]
    pub struct Negate {} = |x: f32| -> f32 { -x }
}

/// Applies a function with what it has captured.
#[kernel(instantiate(Affine, Window, Negate))]
pub fn apply<F: DeviceFn<(f32,), Output = f32>>(function: F, mut values: DisjointSlice<f32>) {
    if let Some(value) = values.get_mut(thread::index_1d()) {
        *value = function.call((*value,));
    }
}

device_fn! {
    /// Of two numbers and a third that it has captured.
    #[derive(Debug)]
    pub struct MulAdd { c: i64 } = |a: i64, b: i64| -> i64 { a * b + c }
}

/// A function of two arguments, for one type of elements and another of results.
#[kernel(instantiate((i64, i64, MulAdd)))]
pub fn combine<T: AbiType, R: AbiType, F: DeviceFn<(T, T), Output = R>>(
    function: F,
    a: &[T],
    b: &[T],
    mut out: DisjointSlice<R>,
) {
    let i = thread::index_1d();
    if let (Some(out), Some(a), Some(b)) = (out.get_mut(i), a.get(i.get()), b.get(i.get())) {
        *out = function.call((*a, *b));
    }
}

/// What [`fold`] does with two numbers: a type without values, and so no parameter.
pub trait Operation {
    fn of(a: u32, b: u32) -> u32;
}

/// The sum, which wraps.
#[derive(Debug)]
pub struct Sum;
/// The larger of two.
#[derive(Debug)]
pub struct Largest;

impl Operation for Sum {
    fn of(a: u32, b: u32) -> u32 {
        a.wrapping_add(b)
    }
}

impl Operation for Largest {
    fn of(a: u32, b: u32) -> u32 {
        a.max(b)
    }
}

/// Folds the numbers that are a grid's size apart.
#[kernel(instantiate(Sum, Largest))]
pub fn fold<O: Operation>(values: &[u32], mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = thread::grid_stride(values.len()).map(|i| values[i]).fold(0, O::of);
    }
}
