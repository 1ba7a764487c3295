//! Every atomic operation under contention: results that no order of the threads changes.

use ptx::DevicePointer;
use ptx::atomic::{Atomic, Device, Ordering};
use ptx::prelude::*;
use ptx_test_kernels::atomics::{self as kernels, Integer, SLOTS, SUMS, THREADS, exercise, small};

use crate::gpu::{Gpu, same};
use crate::record::{Test, test};

/// Blocks of the tests in global and shared memory.
const BLOCKS: usize = 24;

/// What a run leaves: the slots, and the sums of what operations returned.
#[derive(Debug, PartialEq)]
struct Outcome<T> {
    slots: Vec<T>,
    sums: Vec<u64>,
}

impl<T: Integer> Outcome<T> {
    /// With what the order of the threads decides taken out: which value was swapped in last. Sums count it in.
    fn new(slots: &[T], sums: &[u64]) -> Self {
        let mut this = Self { slots: slots.to_vec(), sums: sums.to_vec() };
        for block in this.slots.chunks_mut(SLOTS) {
            this.sums[3] = this.sums[3].wrapping_add(block[10].wide());
            block[10] = T::cut(0);
        }
        this
    }

    /// The same on the host, the threads of each group one after the other on slots of their own.
    fn of_host(groups: impl IntoIterator<Item = Vec<u64>>) -> Self {
        let (mut all, mut sums) = (Vec::new(), [0_u64; SUMS]);
        for threads in groups {
            let mut slots: Vec<T> = (0..SLOTS).map(T::begin).collect();
            for i in threads {
                let sums = Atomic::from_mut_slice(&mut sums).try_into().unwrap();
                let slots = Atomic::<T, Device>::from_mut_slice(&mut slots).try_into().unwrap();
                exercise(slots, sums, i, Ordering::SeqCst, Ordering::SeqCst);
            }
            all.extend(slots);
        }
        Self::new(&all, &sums)
    }
}

macro_rules! integers {
    ($($module:ident: $ty:ident, $global:ident $shared:ident $local:ident;)*) => {
        vec![$(
            test(concat!("atomics on ", stringify!($ty), " in global memory"), |gpu| {
                if lacks_wide::<$ty>(gpu) { return }
                let begin: Vec<$ty> = (0..SLOTS).map(<$ty>::begin).collect();
                let mut slots = gpu.device.upload(&begin).unwrap();
                let mut sums = gpu.device.zeroed::<u64>(SUMS).unwrap();
                let grid = Grid::new(BLOCKS as u32, THREADS as u32);
                gpu.run_as(kernels::$module::$global(&mut slots, &mut sums), grid);
                let found = Outcome::new(&gpu.device.download(&slots).unwrap(), &gpu.device.download(&sums).unwrap());
                assert_eq!(found, Outcome::of_host([(0..(BLOCKS * THREADS) as u64).collect()]));
            }),
            test(concat!("atomics on ", stringify!($ty), " in shared memory"), |gpu| {
                if lacks_wide::<$ty>(gpu) { return }
                let begin: Vec<$ty> = (0..SLOTS).map(<$ty>::begin).collect();
                let begin = gpu.device.upload(&begin).unwrap();
                let mut slots = gpu.device.zeroed::<$ty>(BLOCKS * SLOTS).unwrap();
                let mut sums = gpu.device.zeroed::<u64>(SUMS).unwrap();
                let grid = Grid::new(BLOCKS as u32, THREADS as u32);
                gpu.run_as(kernels::$module::$shared(&begin, &mut slots, &mut sums), grid);
                let found = Outcome::new(&gpu.device.download(&slots).unwrap(), &gpu.device.download(&sums).unwrap());
                assert_eq!(found, Outcome::of_host((0..BLOCKS).map(|_| (0..THREADS as u64).collect())));
            }),
            test(concat!("atomics on ", stringify!($ty), " on the stack"), |gpu| {
                if lacks_wide::<$ty>(gpu) { return }
                let begin: Vec<$ty> = (0..SLOTS).map(<$ty>::begin).collect();
                let begin = gpu.device.upload(&begin).unwrap();
                let mut slots = gpu.device.zeroed::<$ty>(THREADS * SLOTS).unwrap();
                let mut sums = gpu.device.zeroed::<u64>(SUMS).unwrap();
                gpu.run_as(kernels::$module::$local(&begin, &mut slots, &mut sums), Grid::new(1, THREADS as u32));
                let slots = gpu.device.download(&slots).unwrap();
                let found = Outcome::new(&slots, &gpu.device.download(&sums).unwrap());
                assert_eq!(found, Outcome::of_host((0..THREADS as u64).map(|i| vec![i])));
            }),
        )*]
    };
}

/// 128-bit operations need sm_90; older GPUs have kernels without them.
fn lacks_wide<T>(gpu: &Gpu) -> bool {
    size_of::<T>() == 16 && gpu.device.capability().0 < 9
}

pub fn tests() -> Vec<Test> {
    let mut tests = integers! {
        for_u8: u8, atomics_u8_global atomics_u8_shared atomics_u8_local;
        for_u16: u16, atomics_u16_global atomics_u16_shared atomics_u16_local;
        for_u32: u32, atomics_u32_global atomics_u32_shared atomics_u32_local;
        for_u64: u64, atomics_u64_global atomics_u64_shared atomics_u64_local;
        for_u128: u128, atomics_u128_global atomics_u128_shared atomics_u128_local;
        for_i8: i8, atomics_i8_global atomics_i8_shared atomics_i8_local;
        for_i16: i16, atomics_i16_global atomics_i16_shared atomics_i16_local;
        for_i32: i32, atomics_i32_global atomics_i32_shared atomics_i32_local;
        for_i64: i64, atomics_i64_global atomics_i64_shared atomics_i64_local;
        for_i128: i128, atomics_i128_global atomics_i128_shared atomics_i128_local;
    };
    tests.extend([
        test("atomic sums of floats", |gpu| {
            let threads = 79 * 128;
            let mut single = gpu.device.zeroed::<f32>(2).unwrap();
            let mut double = gpu.device.zeroed::<f64>(2).unwrap();
            gpu.run(kernels::atomic_floats(&mut single, &mut double), threads);
            let sum: i32 = (0..threads as u64).map(small).sum();
            same(&gpu.device.download(&single).unwrap(), [sum as f32, -sum as f32]);
            same(&gpu.device.download(&double).unwrap(), [f64::from(sum) / 1024.0, f64::from(-sum)]);
        }),
        test("atomic sums of pairs of halves", |gpu| {
            let mut sums = gpu.device.zeroed::<u32>(2).unwrap();
            gpu.run_as(kernels::atomic_halves(&mut sums), Grid::new(4, 32));
            let found = gpu.device.download(&sums).unwrap();
            // 128 and 256, in both formats.
            assert_eq!(found[0], 0x5c00_5800, "f16: {:#010x}", found[0]);
            if gpu.device.capability().0 >= 9 {
                assert_eq!(found[1], 0x4380_4300, "bf16: {:#010x}", found[1]);
            }
        }),
        test("a lock", |gpu| {
            let mut lock = gpu.device.upload(&[false; 4]).unwrap();
            let mut count = gpu.device.zeroed::<u64>(1).unwrap();
            let stream = gpu.device.stream();
            let pointers = (DevicePointer::of_mut(&mut lock, stream), DevicePointer::of_mut(&mut count, stream));
            // SAFETY: the lock is free and the count is only this kernel's.
            gpu.run_as(unsafe { kernels::atomic_lock(pointers.0, pointers.1) }, Grid::new(64, 64));
            same(&gpu.device.download(&count).unwrap(), [64 * 64]);
        }),
        test("a list of blocks", |gpu| {
            let blocks = 500_usize;
            let mut head = gpu.device.zeroed::<usize>(1).unwrap();
            let mut next = gpu.device.zeroed::<usize>(blocks).unwrap();
            let stream = gpu.device.stream();
            let pointers = (DevicePointer::of_mut(&mut head, stream), DevicePointer::of_mut(&mut next, stream));
            // SAFETY: an element for every block.
            gpu.run_as(unsafe { kernels::atomic_list(pointers.0, pointers.1) }, Grid::new(blocks as u32, 32));
            let next = gpu.device.download(&next).unwrap();
            let mut at = gpu.device.download(&head).unwrap()[0];
            let mut found = Vec::new();
            while at != 0 && found.len() <= blocks {
                found.push(at);
                at = next[at - 1];
            }
            found.sort_unstable();
            same(&found, 1..=blocks);
        }),
    ]);
    tests
}
