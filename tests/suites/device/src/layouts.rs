//! Aggregates by value.

use ptx_test_kernels::layouts::{self as kernels, Buffer, Inner, Number, Outer};

use crate::gpu::{random, same};
use crate::record::{Test, test};

macro_rules! aligned {
    ($($name:ident, $kernel:ident;)*) => {
        vec![$(
            test(concat!("struct by value: ", stringify!($name)), |gpu| {
                let mut value = kernels::$name { bytes: [0; _] };
                value.bytes.iter_mut().zip(random(6)).for_each(|(byte, random)| *byte = random as u8);
                let mut out = gpu.device.upload(&[kernels::$name { bytes: [0; _] }; 3]).unwrap();
                let mut others = gpu.device.zeroed::<u32>(3).unwrap();
                gpu.run(kernels::$kernel(0xab, value, 0xcdef, &mut out, &mut others), 3);
                same(&gpu.device.download(&out).unwrap(), [value; 3]);
                same(&gpu.device.download(&others).unwrap(), [0x00ab_cdef; 3]);
            }),
        )*]
    };
}

pub fn tests() -> Vec<Test> {
    let mut tests = aligned! {
        Align1, echo_align1;
        Align2, echo_align2;
        Align4, echo_align4;
        Align8, echo_align8;
        Align16, echo_align16;
        Align32, echo_align32;
        Align64, echo_align64;
        Align128, echo_align128;
    };
    tests.push(test("nested struct by value", |gpu| {
        let value = outer();
        let mut out = gpu.device.upload(&[Outer { flag: false, wide: 0, ..value }; 3]).unwrap();
        gpu.run(kernels::echo_outer(value, &mut out), 3);
        same(&gpu.device.download(&out).unwrap(), [value; 3]);
    }));
    tests.push(test("members of a nested struct", |gpu| {
        let mut out = gpu.device.zeroed::<f64>(3).unwrap();
        gpu.run(kernels::sum_outer(outer(), &mut out), 3);
        same(&gpu.device.download(&out).unwrap(), [outer().sum(); 3]);
    }));
    tests.push(test("union by value", |gpu| {
        let mut out = gpu.device.zeroed::<u32>(4).unwrap();
        gpu.run(kernels::take_union(Number { float: 1.625 }, &mut out), 4);
        let bits = 1.625_f64.to_bits();
        let doubled = 3.25_f64.to_bits() as u32;
        same(&gpu.device.download(&out).unwrap(), [0, 1, 0, 1].map(|i| (bits >> (32 * i)) as u32 ^ doubled));
    }));
    tests.push(test("array by value", |gpu| {
        let table = [3, 1, 4, 1, 5, 9, 2];
        let mut out = gpu.device.zeroed::<u32>(20).unwrap();
        gpu.run(kernels::take_array(table, &mut out), 20);
        same(&gpu.device.download(&out).unwrap(), (0..20).map(|i| table[i % 7]));
    }));
    tests.push(test("pointer in a struct by value", |gpu| {
        let mut out = gpu.device.zeroed::<u32>(1000).unwrap();
        let data = ptx::DevicePointer::of_mut(&mut out, gpu.device.stream()).as_ptr();
        // SAFETY: `out` has 1000 elements, and lives until the kernel has ended.
        gpu.run(unsafe { kernels::fill_buffer(Buffer { data, len: 1000 }, 5) }, 1000);
        same(&gpu.device.download(&out).unwrap(), 5..1005);
    }));
    tests
}

fn outer() -> Outer {
    let inner = |n: i16| Inner { a: n as u8, b: f64::from(n) / 8.0, c: [n, -n, n * 2] };
    Outer { flag: true, rows: [[inner(1), inner(-2)], [inner(300), inner(4)]], wide: u128::MAX / 5, tail: 'ß' }
}
