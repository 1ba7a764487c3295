//! C's types: bit-fields, CUDA's vectors, 16-bit floats.

use ptx::ffi::{CChar, LongLong, ULongLong};
use ptx::vec::{Double2, Float4, Int4, LongLong2, UChar4, UShort3, float4, int4};
use ptx::{bf16, f16};
use ptx_test_kernels::types::{self as kernels, FieldUnion, Fields};

use crate::gpu::{random, same};
use crate::record::{Test, test};

const COUNT: usize = 500;

pub fn tests() -> Vec<Test> {
    vec![
        test("bit-fields", |gpu| {
            let (fields, unions): (Vec<Fields>, Vec<FieldUnion>) =
                random(21).map(|n| field(n as u32)).take(COUNT).unzip();
            let add = Fields::new().with_g(0xabcd);
            let input = (gpu.device.upload(&fields).unwrap(), gpu.device.upload(&unions).unwrap());
            let mut out = gpu.device.zeroed::<Fields>(COUNT).unwrap();
            let mut out_unions = gpu.device.zeroed::<FieldUnion>(COUNT).unwrap();
            gpu.run(kernels::turn_fields(add, &input.0, &input.1, &mut out, &mut out_unions), COUNT);
            let expected: Vec<_> = fields.iter().zip(&unions).map(|(f, u)| kernels::turn(*f, *u)).collect();
            let with_add = |f: &Fields| f.with_g(f.g().wrapping_add(0xabcd));
            same(&gpu.device.download(&out).unwrap(), expected.iter().map(|(f, _)| with_add(f)));
            same(&gpu.device.download(&out_unions).unwrap(), expected.iter().map(|(_, u)| *u));
        }),
        test("vectors", |gpu| {
            let numbers: Vec<u64> = random(22).take(COUNT).collect();
            let small = |n: u64, shift: u32| ((n >> shift) & 0x3f) as f32 - 32.0;
            let a: Vec<Float4> =
                numbers.iter().map(|&n| float4(small(n, 0), small(n, 3), small(n, 7), small(n, 12))).collect();
            let b: Vec<Int4> = numbers.iter().map(|&n| Int4::splat(n as i32 >> 8) * int4(1, -1, 3, 0) / 8).collect();
            let c: Vec<UChar4> = numbers.iter().map(|&n| UChar4::from((n as u32).to_le_bytes())).collect();
            let (scale, skew) = (float4(1.0, -1.0, 2.0, 0.25), UShort3::new(1, 2, 60_000));
            let input =
                (gpu.device.upload(&a).unwrap(), gpu.device.upload(&b).unwrap(), gpu.device.upload(&c).unwrap());
            let mut out_a = gpu.device.zeroed::<Float4>(COUNT).unwrap();
            let mut out_b = gpu.device.zeroed::<Int4>(COUNT).unwrap();
            let mut out_c = gpu.device.zeroed::<Double2>(COUNT).unwrap();
            let mut out_d = gpu.device.zeroed::<LongLong2>(COUNT).unwrap();
            let launch = kernels::mix_vectors(
                scale, skew, &input.0, &input.1, &input.2, &mut out_a, &mut out_b, &mut out_c, &mut out_d,
            );
            gpu.run(launch, COUNT);
            let expected: Vec<_> = (0..COUNT).map(|i| kernels::mix(a[i], b[i], c[i])).collect();
            same(&gpu.device.download(&out_a).unwrap(), expected.iter().map(|e| e.0 * scale));
            same(&gpu.device.download(&out_b).unwrap(), expected.iter().map(|e| e.1 + 60_000));
            same(&gpu.device.download(&out_c).unwrap(), expected.iter().map(|e| e.2));
            same(&gpu.device.download(&out_d).unwrap(), expected.iter().map(|e| LongLong2::new(e.1.w.into(), 1)));
        }),
        test("16-bit floats", |gpu| {
            let x: Vec<f16> = (0..COUNT).map(|i| f16::from_f32(i as f32 / 4.0)).collect();
            let (scale, offset) = (f16::from_f32(0.5), bf16::from_f32(-8.0));
            let input = gpu.device.upload(&x).unwrap();
            let mut out = gpu.device.zeroed::<bf16>(COUNT).unwrap();
            gpu.run(kernels::halves(scale, offset, CChar(-3), &input, &mut out), COUNT);
            same(&gpu.device.download(&out).unwrap(), (0..COUNT).map(|i| bf16::from_f32(i as f32 / 8.0 - 11.0)));
        }),
    ]
}

fn field(number: u32) -> (Fields, FieldUnion) {
    let wide = u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let fields = Fields::new()
        .with_a(number as u8)
        .with_b((number >> 3) as i16)
        .with_c((number >> 5) as u8)
        .with_d(number >> 7)
        .with_e(LongLong(wide as i64))
        .with_f(number & 1 == 1)
        .with_g((wide >> 40) as u16)
        .with_h(ULongLong(wide ^ wide << 7));
    (fields, FieldUnion::new().with_halves([number as u16, (wide >> 20) as u16]))
}
