//! Operations and conversions of 16 bits, 8 bits and `tf32`: what the GPU computes is what the same methods compute on the
//! host with integers. The host's are compared with an exact sum in tests/support/float_reference.

use ptx::cudarc::driver::{CudaSlice, DeviceRepr};
use ptx::{Grid, Image, Launch, Module, bf16, f16};
use ptx_float_kernels::explicit::Row;
use ptx_float_kernels::narrow as kernels;
use ptx_float_kernels::narrow::*;
use ptx_float_reference::inputs::{Random, special_operands};
use serde_json::json;

use super::images::loaded;
use crate::record::{Test, skippable_recorded};

/// By the modes of the build.
static IMAGES: [(&str, Image); 2] =
    [("default", ptx::image!("float_explicit")), ("fast", ptx::image!("float_explicit_fast"))];

/// Random inputs.
const RANDOM: usize = 1_000_000;

pub fn tests() -> Vec<Test> {
    let mut tests = Vec::new();
    macro_rules! list {
        ($($title:literal $rows:ident $host:ident $kernel:ident $inputs:expr;)*) => {$(
            list(
                &mut tests,
                $title,
                kernels::$rows,
                |which, inputs, out| kernels::$kernel(which, inputs, out),
                |which, input| $host(which, [input[0], input[1 % input.len()], input[2 % input.len()]]),
                $inputs,
            );
        )*};
    }
    list! {
        "f16" HALF_OPERATIONS half narrow_f16 || triples(f16::from_bits);
        "bf16" BRAIN_OPERATIONS brain narrow_bf16 || triples(bf16::from_bits);
        "f16" HALF_FORMS half_form narrow_f16_forms || triples(f16::from_bits);
        "f16x2" HALF_OPERATIONS half_lanes narrow_f16x2 || triples(f16::from_bits);
        "bf16x2" BRAIN_OPERATIONS brain_lanes narrow_bf16x2 || triples(bf16::from_bits);
        "f16x2" HALF_FORMS half_form_lanes narrow_f16x2_forms || triples(f16::from_bits);
        "f32" TO_HALF half_of_f32 narrow_from_f32 single;
        "f64" F64_TO_HALF half_of_f64 narrow_from_f64 || single().into_iter().map(|[x]| [f64::from(x)]).chain(double()).collect();
        "i32" I32_TO_HALF half_of_i32 narrow_from_i32 || integers(|x| x as i32);
        "u64" U64_TO_HALF half_of_u64 narrow_from_u64 || integers(|x| x);
        "f32" TO_HALF_FORMS half_form_of_f32 narrow_from_f32_forms single;
        "f16" HALF_TO_INTEGER integer_of_half narrow_to_integer || all(f16::from_bits);
        "f16" HALF_TO_INTEGRAL integral_half narrow_to_integral || all(f16::from_bits);
        "f16" WIDENED widened narrow_widen || all(f16::from_bits);
        "bf16" BRAIN_WIDENED widened_brain narrow_widen_bf16 || all(bf16::from_bits);
        "tf32" TENSOR tensor narrow_tensor single;
        "e4m3" E4M3 e4m3 narrow_e4m3 single;
        "e5m2" E5M2 e5m2 narrow_e5m2 single;
    }
    tests
}

/// What two numbers in one register should give: each lane what one number does, see `pairs!` in tests/kernels/float.
macro_rules! lanes {
    ($($name:ident $function:ident $lane:ty;)*) => {$(
        fn $name(which: u32, [a, b, c]: [$lane; 3]) -> u64 {
            $function(which, [a, b, c]) | $function(which, [c, b, a]) << 16
        }
    )*};
}
lanes! {
    half_lanes half f16;
    brain_lanes brain bf16;
    half_form_lanes half_form f16;
}

/// A test of every row of a list.
fn list<I>(
    tests: &mut Vec<Test>,
    ty: &'static str,
    rows: &'static [Row],
    kernel: for<'a> fn(u32, &'a CudaSlice<I>, &'a mut CudaSlice<u64>) -> Launch<'a>,
    host: fn(u32, &I) -> u64,
    inputs: fn() -> Vec<I>,
) where
    I: DeviceRepr + std::fmt::Debug + Send + Sync + 'static,
{
    for (which, row) in rows.iter().enumerate() {
        tests.push(skippable_recorded(&format!("float rounding: {ty}::{}", row.method), move |gpu| {
            let inputs = inputs();
            let which = which as u32;
            let uploaded = gpu.device.upload(&inputs).unwrap();
            for (index, (modes, _)) in IMAGES.iter().enumerate() {
                let module: &Module = loaded!(IMAGES)(gpu, index);
                let mut results = gpu.device.zeroed::<u64>(inputs.len()).unwrap();
                let launch = kernel(which, &uploaded, &mut results);
                launch.launch(module, Grid::cover(inputs.len(), 256)).unwrap_or_else(|error| panic!("{error}"));
                let results = gpu.device.download(&results).unwrap();
                let differs = |at: &usize| {
                    let expected = host(which, &inputs[*at]);
                    !same(ty, row, results[*at], expected)
                };
                let mut different = (0..inputs.len()).filter(differs).peekable();
                if let Some(&at) = different.peek() {
                    let (got, expected) = (results[at], host(which, &inputs[at]));
                    let (count, of) = (different.count(), inputs.len());
                    panic!(
                        "{count} of {of} differ ({modes}), as for {:?}: got {got:#x}, expected {expected:#x}",
                        inputs[at]
                    );
                }
            }
            Ok(json!({ "inputs": inputs.len() }))
        }));
    }
}

/// Whether two results are the same, of pairs in both lanes.
fn same(ty: &str, row: &Row, a: u64, b: u64) -> bool {
    if let Some(lane) = ty.strip_suffix("x2") {
        return same(lane, row, a & 0xffff, b & 0xffff) && same(lane, row, a >> 16, b >> 16);
    }
    a == b || (is_nan(ty, row, a) && is_nan(ty, row, b))
}

/// Any NaN is as good as another, of the type that the row results in: an operation's is that of its operands.
fn is_nan(ty: &str, row: &Row, bits: u64) -> bool {
    match (row.what, ty) {
        ("f32" | "tf32", _) => f32::from_bits(bits as u32).is_nan(),
        ("i32" | "u32" | "i64" | "u64" | "e4m3" | "e5m2", _) => false,
        ("f16", _) => f16::from_bits(bits as u16).is_nan(),
        ("bf16", _) | (_, "bf16") => bf16::from_bits(bits as u16).is_nan(),
        _ => f16::from_bits(bits as u16).is_nan(),
    }
}

/// Every encoding.
fn all<T>(of: fn(u16) -> T) -> Vec<[T; 1]> {
    (0..=u16::MAX).map(|bits| [of(bits)]).collect()
}

/// Special encodings in every combination, and random ones.
fn triples<T: Copy>(of: fn(u16) -> T) -> Vec<[T; 3]> {
    // Zeros, subnormal numbers, powers of two and their neighbours, the largest, infinities, NaN, of both formats.
    // 0x401 times 0x3bfe is below the smallest normal f16 by less than 11 bits can tell.
    let magnitudes = [
        0_u16, 1, 0x7f, 0x80, 0x3ff, 0x400, 0x401, 0x3bfe, 0x3bff, 0x3c00, 0x3c01, 0x3f80, 0x3f81, 0x7bff, 0x7c00,
        0x7e00, 0x7f7f, 0x7f80, 0x7fc0,
    ];
    let special: Vec<u16> = magnitudes.iter().flat_map(|&bits| [bits, bits | 0x8000]).collect();
    let mut all = Vec::new();
    for &a in &special {
        for &b in &special {
            all.extend(special.iter().map(|&c| [of(a), of(b), of(c)]));
        }
    }
    let mut random = Random::new(5);
    all.extend((0..RANDOM).map(|i| {
        let bits = random.bits();
        let (a, b, c) = (bits as u16, (bits >> 16) as u16, (bits >> 32) as u16);
        // Every other one with exponents that are close to each other, so that sums round and cancel.
        let near = |x: u16| (x & 0x83ff) | (a.wrapping_add(x & 0x0800) & 0x7c00);
        if i % 2 == 0 { [of(a), of(b), of(c)] } else { [of(a), of(near(b)), of(near(c))] }
    }));
    all
}

/// Numbers of single precision: special ones, those at and around every number and tie of the narrower formats, and any.
fn single() -> Vec<[f32; 1]> {
    let mut all: Vec<[f32; 1]> = special_operands::<f32>().into_iter().flatten().map(|x| [x]).collect();
    for bits in 0..=u16::MAX {
        for number in [f16::from_bits(bits).to_f32().to_bits(), u32::from(bits) << 16] {
            // Half of the last place of f16, bf16, tf32 and of fractions of 2 and 3 bits.
            for half in [0_u32, 0x1000, 0x8000, 0x10_0000, 0x8_0000] {
                let at = number.wrapping_add(half);
                all.extend([at.wrapping_sub(1), at, at.wrapping_add(1)].map(|bits| [f32::from_bits(bits)]));
            }
        }
    }
    let mut random = Random::new(6);
    all.extend((0..RANDOM).map(|_| [random.any()]));
    all
}

/// Numbers of double precision that are near ties of the narrower formats by less than single precision can tell.
fn double() -> impl Iterator<Item = [f64; 1]> {
    let mut random = Random::new(7);
    (0..RANDOM).map(move |_| {
        let number = f64::from(f16::from_bits(random.bits() as u16).to_f32());
        let tie = f64::from_bits(number.to_bits() | 1 << 41);
        let nudge = (random.bits() % 3) as i64 - 1;
        [f64::from_bits(tie.to_bits().wrapping_add_signed(nudge))]
    })
}

fn integers<T>(convert: fn(u64) -> T) -> Vec<[T; 1]> {
    let mut random = Random::new(8);
    let mut all: Vec<[T; 1]> = (0..1 << 18).map(|x: i64| [convert((x - (1 << 17)) as u64)]).collect();
    all.extend((0..RANDOM).map(|_| [convert((random.bits() as i64 >> (random.bits() % 64)) as u64)]));
    all
}
