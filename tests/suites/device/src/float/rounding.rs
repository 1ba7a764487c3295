//! Every explicit operation and conversion in every rounding, bit for bit as MPFR has it: special inputs and a million
//! random ones each; compiled without and with fast mathematics, which must not matter.

use ptx::{Image, Module};
#[cfg(feature = "mpfr")]
use serde_json::json;

use super::images::loaded;
use crate::gpu::Gpu;
use crate::record::{Test, skippable_recorded};

/// The kernels, by modes.
static IMAGES: [(&str, Image); 2] =
    [("default", ptx::image!("float_explicit")), ("fast", ptx::image!("float_explicit_fast"))];

fn module(gpu: &Gpu, index: usize) -> &'static Module {
    loaded!(IMAGES)(gpu, index)
}

#[cfg(not(feature = "mpfr"))]
pub fn tests() -> Vec<Test> {
    let reason = "built without MPFR, which is the reference";
    vec![skippable_recorded("float rounding", move |gpu| {
        // They load, at least.
        let loaded: Vec<_> = (0..IMAGES.len()).map(|index| module(gpu, index).loaded()).collect();
        Err(format!("{reason}; loaded: {}", loaded.join(", ")))
    })]
}

#[cfg(feature = "mpfr")]
pub fn tests() -> Vec<Test> {
    judged::tests()
}

#[cfg(feature = "mpfr")]
mod judged {
    use std::time::Duration;

    use ptx::cudarc::driver::{CudaSlice, DeviceRepr, ValidAsZeroBits};
    use ptx::{Grid, Launch};
    use ptx_float_kernels::explicit::{self as kernels, Row};
    use ptx_float_reference::inputs::{Random, operands, special_numbers, special_operands};
    use ptx_float_reference::{Format, Mode, Operation, flushed, flushing_operation, narrow, operation, parallel};
    use ptx_float_reference::{round_integer, to_integer};

    use super::{Gpu, IMAGES, Test, json, module, skippable_recorded};

    /// Random inputs.
    const RANDOM: usize = 1_000_000;

    pub fn tests() -> Vec<Test> {
        let mut tests = Vec::new();
        arithmetic(&mut tests, "f32", kernels::OPERATIONS, |which, inputs, out| {
            kernels::operate_f32(which, inputs, out)
        });
        arithmetic(&mut tests, "f64", kernels::DOUBLE_OPERATIONS, |which, inputs, out| {
            kernels::operate_f64(which, inputs, out)
        });
        arithmetic(&mut tests, "f32", kernels::FORMS, |which, inputs, out| kernels::operate_forms(which, inputs, out));
        conversion(
            &mut tests,
            "f32",
            kernels::TO_INTEGER,
            |which, inputs, out| kernels::convert_f32_to_integer(which, inputs, out),
            floats,
            integer_of,
        );
        conversion(
            &mut tests,
            "f64",
            kernels::DOUBLE_TO_INTEGER,
            |which, inputs, out| kernels::convert_f64_to_integer(which, inputs, out),
            floats,
            integer_of,
        );
        let of_flushed = |row: &Row, x: f32| integer_of(row, flushed(x));
        conversion(
            &mut tests,
            "f32",
            kernels::FLUSHING_TO_INTEGER,
            |which, inputs, out| kernels::convert_flushed_to_integer(which, inputs, out),
            floats,
            of_flushed,
        );
        conversion(
            &mut tests,
            "i32",
            kernels::TO_FLOAT,
            |which, inputs, out| kernels::convert_i32_to_float(which, inputs, out),
            || integers(|x| x as i32),
            float_of,
        );
        conversion(
            &mut tests,
            "u32",
            kernels::U32_TO_FLOAT,
            |which, inputs, out| kernels::convert_u32_to_float(which, inputs, out),
            || integers(|x| x as u32),
            float_of,
        );
        conversion(
            &mut tests,
            "i64",
            kernels::I64_TO_FLOAT,
            |which, inputs, out| kernels::convert_i64_to_float(which, inputs, out),
            || integers(|x| x as i64),
            float_of,
        );
        conversion(
            &mut tests,
            "u64",
            kernels::U64_TO_FLOAT,
            |which, inputs, out| kernels::convert_u64_to_float(which, inputs, out),
            || integers(|x| x),
            float_of,
        );
        let single = |row: &Row, x: f64| u64::from(formed(row, narrow(x, mode(row))).to_bits());
        conversion(
            &mut tests,
            "f64",
            kernels::TO_SINGLE,
            |which, inputs, out| kernels::convert_f64_to_f32(which, inputs, out),
            floats,
            single,
        );
        conversion(
            &mut tests,
            "f32",
            kernels::TO_INTEGRAL,
            |which, inputs, out| kernels::convert_f32_to_integral(which, inputs, out),
            floats,
            integral_of,
        );
        conversion(
            &mut tests,
            "f64",
            kernels::DOUBLE_TO_INTEGRAL,
            |which, inputs, out| kernels::convert_f64_to_integral(which, inputs, out),
            floats,
            integral_of,
        );
        tests
    }

    fn mode(row: &Row) -> Mode {
        match row.rounding {
            "Nearest" => Mode::Nearest,
            "Zero" => Mode::Zero,
            "Up" => Mode::Up,
            "Down" => Mode::Down,
            other => panic!("no rounding `{other}`"),
        }
    }

    /// What a form makes of a result.
    fn formed<T: Format>(row: &Row, result: T) -> T {
        let result = if row.form.contains("FLUSH") { flushed(result) } else { result };
        match row.form.contains("SATURATE") {
            true if result.to_f64() > 0.0 => {
                if result.to_f64() > 1.0 {
                    T::from_f64(1.0)
                } else {
                    result
                }
            }
            true => T::from_f64(0.0),
            false => result,
        }
    }

    /// A test of every row of a list of operations.
    fn arithmetic<T, B>(
        tests: &mut Vec<Test>,
        ty: &str,
        rows: &'static [Row],
        kernel: for<'a> fn(u32, &'a CudaSlice<[T; 3]>, &'a mut CudaSlice<B>) -> Launch<'a>,
    ) where
        T: Format,
        [T; 3]: DeviceRepr,
        B: DeviceRepr + ValidAsZeroBits + Into<u64> + Copy + Sync + 'static,
    {
        for (which, row) in rows.iter().enumerate() {
            tests.push(skippable_recorded(&format!("float rounding: {ty}::{}", row.method), move |gpu| {
                let inputs = [special_operands::<T>(), operands(which as u64, RANDOM)].concat();
                let what = Operation::ALL.into_iter().find(|operation| operation.name() == row.what);
                let what = what.unwrap_or_else(|| panic!("no operation `{}`", row.what));
                let expected = |operands: [T; 3]| {
                    let flushes = row.form.contains("FLUSH");
                    let compute = if flushes { flushing_operation } else { operation };
                    formed(row, compute(what, mode(row), operands))
                };
                let uploaded = gpu.device.upload(&inputs).unwrap();
                for (index, (modes, _)) in IMAGES.iter().enumerate() {
                    let mut results = gpu.device.zeroed::<B>(inputs.len()).unwrap();
                    launch(gpu, index, kernel(which as u32, &uploaded, &mut results), inputs.len());
                    let results = gpu.device.download(&results).unwrap();
                    same(
                        &inputs,
                        modes,
                        |i| (T::of_bits(results[i].into()), expected(inputs[i])),
                        |a, b| a.same(b),
                        |x| x.hex(),
                    );
                }
                Ok(json!({ "inputs": inputs.len() }))
            }));
        }
    }

    /// A test of every row of a list of conversions.
    fn conversion<T>(
        tests: &mut Vec<Test>,
        ty: &str,
        rows: &'static [Row],
        kernel: for<'a> fn(u32, &'a CudaSlice<T>, &'a mut CudaSlice<u64>) -> Launch<'a>,
        inputs: fn() -> Vec<T>,
        expected: fn(&Row, T) -> u64,
    ) where
        T: DeviceRepr + Copy + Sync + std::fmt::Debug + 'static,
    {
        for (which, row) in rows.iter().enumerate() {
            tests.push(skippable_recorded(&format!("float rounding: {ty}::{}", row.method), move |gpu| {
                let inputs = inputs();
                let uploaded = gpu.device.upload(&inputs).unwrap();
                for (index, (modes, _)) in IMAGES.iter().enumerate() {
                    let mut results = gpu.device.zeroed::<u64>(inputs.len()).unwrap();
                    launch(gpu, index, kernel(which as u32, &uploaded, &mut results), inputs.len());
                    let results = gpu.device.download(&results).unwrap();
                    // Any NaN is as good as another.
                    let nan = |bits: u64| match row.what {
                        "f32" => f32::from_bits(bits as u32).is_nan(),
                        "f64" => f64::from_bits(bits).is_nan(),
                        _ => false,
                    };
                    let alike = |a: u64, b: u64| a == b || (nan(a) && nan(b));
                    same(&inputs, modes, |i| (results[i], expected(row, inputs[i])), alike, |x| format!("{x:#x}"));
                }
                Ok(json!({ "inputs": inputs.len() }))
            }));
        }
    }

    fn launch(gpu: &Gpu, index: usize, launch: Launch<'_>, count: usize) {
        launch.launch(module(gpu, index), Grid::cover(count, 256)).unwrap_or_else(|error| panic!("{error}"));
        gpu.device.synchronize().unwrap_or_else(|error| panic!("{error}"));
    }

    /// No result differs from what is expected.
    fn same<I: std::fmt::Debug + Sync, R: Copy>(
        inputs: &[I],
        modes: &str,
        pair: impl Fn(usize) -> (R, R) + Sync,
        alike: impl Fn(R, R) -> bool + Sync,
        show: impl Fn(R) -> String,
    ) {
        let work = |range: std::ops::Range<usize>| -> (usize, Option<usize>) {
            let different = |i: &usize| {
                let (got, expected) = pair(*i);
                !alike(got, expected)
            };
            let mut found = range.filter(different).peekable();
            let first = found.peek().copied();
            (found.count(), first)
        };
        let merge = |a: (usize, Option<usize>), b: (usize, Option<usize>)| {
            let first = [a.1, b.1].into_iter().flatten().min();
            (a.0 + b.0, first)
        };
        let (found, done) = parallel::run(inputs.len(), Duration::from_secs(120), work, merge);
        assert_eq!(done, inputs.len(), "the reference took too long");
        if let Some((count, Some(first))) = found {
            let (got, expected) = pair(first);
            let (got, expected, of) = (show(got), show(expected), inputs.len());
            panic!("{count} of {of} differ ({modes}), as for {:?}: got {got}, expected {expected}", inputs[first]);
        }
    }

    /// Special numbers, their neighbourhoods, and random ones.
    fn floats<T: Format>() -> Vec<T> {
        let mut random = Random::new(77);
        let special = special_numbers::<T>().into_iter().chain(special_operands::<T>().into_iter().flatten());
        let mut all: Vec<T> = special.collect();
        for i in 0..RANDOM {
            all.push(match i % 4 {
                0 | 1 => random.any(),
                // Around the integers' ranges, with a fraction.
                2 => T::from_f64((random.bits() as i64 >> (random.bits() % 64)) as f64 / 8.0),
                // Around the range of single precision, and its subnormal numbers.
                _ => {
                    let exponent = (random.bits() % 300) as i32 - 150;
                    let sign = if random.bits() & 1 == 1 { -1.0 } else { 1.0 };
                    T::from_f64(sign * (1.0 + random.unit()) * 2_f64.powi(exponent))
                }
            });
        }
        all
    }

    /// Integers of every length, and those around powers of two and ties.
    fn integers<T>(convert: fn(u64) -> T) -> Vec<T> {
        let mut random = Random::new(78);
        let mut all: Vec<u64> = Vec::new();
        for shift in 0..64 {
            for around in -80..80_i64 {
                let power = 1_u64 << shift;
                all.extend([power.wrapping_add_signed(around), (power | power >> 24).wrapping_add_signed(around)]);
            }
        }
        all.extend((0..RANDOM).map(|_| (random.bits() as i64 >> (random.bits() % 64)) as u64));
        all.into_iter().map(convert).collect()
    }

    fn integer_of<T: Format>(row: &Row, x: T) -> u64 {
        let bits: u32 = row.what[1..].parse().expect("as in `i32`");
        let signed = row.what.starts_with('i');
        let (min, max) = if signed { (-(1_i128 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
        // PTX ISA, "cvt": NaN becomes 0 where neither side has 64 bits, else the integer whose highest bit alone is set.
        let nan = if bits == 32 && T::PRECISION == 24 { 0 } else { 1_i128 << (bits - 1) };
        let value = to_integer(x.to_f64(), mode(row), min, max).unwrap_or(nan);
        // As `as u64` extends it.
        match (bits, signed) {
            (32, true) => value as i32 as u64,
            (32, false) => u64::from(value as u32),
            _ => value as u64,
        }
    }

    fn float_of<T: Into<i128> + Copy>(row: &Row, x: T) -> u64 {
        match row.what {
            "f32" => round_integer::<f32>(x.into(), mode(row)).to_bits().into(),
            _ => round_integer::<f64>(x.into(), mode(row)).to_bits(),
        }
    }

    fn integral_of<T: Format>(row: &Row, x: T) -> u64 {
        let x = x.to_f64();
        let whole = match mode(row) {
            Mode::Nearest => x.round_ties_even(),
            Mode::Zero => x.trunc(),
            Mode::Up => x.ceil(),
            Mode::Down => x.floor(),
        };
        T::from_f64(whole).bits()
    }
}
