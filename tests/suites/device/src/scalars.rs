//! Every scalar type: arithmetic, and as a parameter.

use ptx_test_kernels::scalars as kernels;

use crate::gpu::{random, same};
use crate::record::{Test, test};

/// Elements a test.
const N: usize = 10_000;

macro_rules! integers {
    ($($ty:ident: $apply:ident, $echo:ident;)*) => {
        vec![$(
            test(concat!("arithmetic of ", stringify!($ty)), |gpu| {
                let wide = || random(1).zip(random(2)).map(|(high, low)| (u128::from(high) << 64 | u128::from(low)) as $ty);
                // Small divisors, zero, and the extremes among them.
                let a: Vec<$ty> = wide().take(N).chain([<$ty>::MIN, <$ty>::MAX, 0, 1]).collect();
                let b: Vec<$ty> = wide().skip(N).take(N).enumerate().map(|(i, b)| if i % 3 == 0 { b % 10 } else { b })
                    .chain([<$ty>::MAX, <$ty>::MIN, 0, 3]).collect();
                let (device_a, device_b) = (gpu.device.upload(&a).unwrap(), gpu.device.upload(&b).unwrap());
                let mut out = gpu.device.upload(&vec![<$ty>::default(); a.len()]).unwrap();
                gpu.run(kernels::$apply(&device_a, &device_b, &mut out), a.len());
                same(&gpu.device.download(&out).unwrap(), a.iter().zip(&b).map(|(a, b)| kernels::$ty::compute(*a, *b)));
            }),
            test(concat!(stringify!($ty), " by value"), |gpu| {
                for value in [<$ty>::MIN, <$ty>::MAX, 0, 1, <$ty>::MAX / 3] {
                    let mut out = gpu.device.upload(&[<$ty>::default(); 5]).unwrap();
                    gpu.run(kernels::$echo(value, &mut out), 5);
                    same(&gpu.device.download(&out).unwrap(), [value; 5]);
                }
            }),
        )*]
    };
}

macro_rules! floats {
    ($($ty:ident: $apply:ident, $echo:ident;)*) => {
        vec![$(
            test(concat!("arithmetic of ", stringify!($ty)), |gpu| {
                let number = |bits: u64| (bits as i64 >> 20) as $ty / 4096.0;
                let a: Vec<$ty> = random(3).map(number).take(N).chain([0.0, -0.0, <$ty>::MAX, <$ty>::MIN_POSITIVE]).collect();
                let b: Vec<$ty> = random(4).map(number).take(N).chain([1.0, -1.0, <$ty>::MAX, 1e-30]).collect();
                let (device_a, device_b) = (gpu.device.upload(&a).unwrap(), gpu.device.upload(&b).unwrap());
                let mut out = gpu.device.zeroed::<$ty>(a.len()).unwrap();
                gpu.run(kernels::$apply(&device_a, &device_b, &mut out), a.len());
                let out = gpu.device.download(&out).unwrap();
                // Fused multiply-add rounds once where the host rounds twice.
                for (i, device) in out.into_iter().enumerate() {
                    let host = kernels::$ty::compute(a[i], b[i]);
                    let near = (device - host).abs() <= 8.0 * <$ty>::EPSILON * (a[i].abs() + b[i].abs() + 1.0);
                    assert!(near || device.to_bits() == host.to_bits(), "element {i}: {device} on the device, {host} on the host");
                }
            }),
            test(concat!(stringify!($ty), " by value"), |gpu| {
                for value in [0.0, -0.0, 1.5, <$ty>::MAX, <$ty>::MIN_POSITIVE / 4.0, <$ty>::INFINITY] {
                    let mut out = gpu.device.zeroed::<$ty>(5).unwrap();
                    gpu.run(kernels::$echo(value, &mut out), 5);
                    same(&gpu.device.download(&out).unwrap().iter().map(|v| v.to_bits()).collect::<Vec<_>>(), [value.to_bits(); 5]);
                }
            }),
        )*]
    };
}

pub fn tests() -> Vec<Test> {
    let mut tests = integers! {
        u8: apply_u8, echo_u8;
        u16: apply_u16, echo_u16;
        u32: apply_u32, echo_u32;
        u64: apply_u64, echo_u64;
        usize: apply_usize, echo_usize;
        u128: apply_u128, echo_u128;
        i8: apply_i8, echo_i8;
        i16: apply_i16, echo_i16;
        i32: apply_i32, echo_i32;
        i64: apply_i64, echo_i64;
        isize: apply_isize, echo_isize;
        i128: apply_i128, echo_i128;
    };
    tests.extend(floats! {
        f32: apply_f32, echo_f32;
        f64: apply_f64, echo_f64;
    });
    tests.push(test("arithmetic of u16: all quotients", |gpu| {
        let mut wrong = gpu.device.zeroed::<u32>(1 << 16).unwrap();
        gpu.run(kernels::wrong_quotients_u16(&mut wrong), 1 << 16);
        same(&gpu.device.download(&wrong).unwrap(), [0; 1 << 16]);
    }));
    tests.push(test("arithmetic of i16: all quotients", |gpu| {
        let mut wrong = gpu.device.zeroed::<u32>(1 << 16).unwrap();
        gpu.run(kernels::wrong_quotients_i16(&mut wrong), 1 << 16);
        same(&gpu.device.download(&wrong).unwrap(), [0; 1 << 16]);
    }));
    tests.push(test("arithmetic of u32: quotients of 21 bits", |gpu| {
        const THREADS: usize = 1 << 16;
        for step in [1, 2, 127, 8_388_593] {
            let mut wrong = gpu.device.zeroed::<u32>(THREADS).unwrap();
            gpu.run(kernels::wrong_quotients_of_21_bits(step, &mut wrong), THREADS);
            same(&gpu.device.download(&wrong).unwrap(), [0; THREADS]);
        }
    }));
    tests.push(test("bool by value", |gpu| {
        for value in [true, false] {
            let mut out = gpu.device.zeroed::<u8>(5).unwrap();
            gpu.run(kernels::echo_bool(value, &mut out), 5);
            same(&gpu.device.download(&out).unwrap(), [if value { 3 } else { 5 }; 5]);
        }
    }));
    tests.push(test("char by value", |gpu| {
        for value in ['a', '\0', 'ß', char::MAX] {
            let mut out = gpu.device.zeroed::<u32>(5).unwrap();
            gpu.run(kernels::echo_char(value, &mut out), 5);
            same(&gpu.device.download(&out).unwrap(), [value as u32; 5]);
        }
    }));
    tests.push(test("conversions", |gpu| {
        let special = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, 255.9, -128.9, 1e38];
        let x: Vec<f64> =
            random(5).map(|bits| (bits as i64 >> (bits % 60)) as f64 / 16.0).take(N).chain(special).collect();
        let device_x = gpu.device.upload(&x).unwrap();
        let mut out = gpu.device.zeroed::<u64>(x.len()).unwrap();
        gpu.run(kernels::conversions(&device_x, &mut out), x.len());
        // A NaN keeps no payload through a conversion.
        let out = gpu.device.download(&out).unwrap();
        let pairs: Vec<_> = out.into_iter().zip(&x).filter(|(_, x)| !x.is_nan()).collect();
        same(&pairs.iter().map(|(out, _)| *out).collect::<Vec<_>>(), pairs.iter().map(|(_, x)| kernels::convert(**x)));
    }));
    tests
}
