//! `ptx::asm!` on the GPU: operands of every class, several results, one register in and out, memory.
//@ expect: 0xfffffffe00000001 7 0x40490fdb 0x400921fb54442d18 12 0xffff 5 77
#![no_std]
use ptx::prelude::*;

#[inline]
fn product(a: u32, b: u32) -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: it computes two results.
    unsafe {
        ptx::asm!(
            "mul.lo.u32 {low}, {a}, {b};",
            "mul.hi.u32 {high}, {a}, {b};",
            low = out(u32) low,
            high = out(u32) high,
            a = in(u32) a,
            b = in(u32) b,
            options(pure, nomem),
        );
    }
    u64::from(high) << 32 | u64::from(low)
}

#[kernel]
pub unsafe fn run(out: *mut u64) {
    unsafe {
        *out = product(u32::MAX, u32::MAX);
        let mut count = 3_u32;
        ptx::asm!("add.u32 {0}, {0}, {1};", inout(u32) count, in(u32) 4);
        *out.add(1) = u64::from(count);
        let pi: f32;
        ptx::asm!("add.f32 {}, {}, 0f3F800000;", out(f32) pi, in(f32) core::f32::consts::PI - 1.0);
        *out.add(2) = u64::from(pi.to_bits());
        let pi: f64;
        ptx::asm!("neg.f64 {}, {};", out(f64) pi, in(f64) -core::f64::consts::PI);
        *out.add(3) = pi.to_bits();
        let sum: i64;
        ptx::asm!("mad.wide.s32 {}, {}, {}, {};", out(i64) sum, in(i32) -2, in(i32) 4, in(i64) 20);
        *out.add(4) = sum.cast_unsigned();
        let ones: u16;
        ptx::asm!("not.b16 {}, {};", out(u16) ones, in(u16) 0);
        *out.add(5) = u64::from(ones);
        // The memory is read again behind what may have written it.
        *out.add(6) = 4;
        ptx::asm!("{{.reg .u64 v; ld.u64 v, [{0}]; add.u64 v, v, 1; st.u64 [{0}], v;}}", in(*mut u64) out.add(6));
        let five = *out.add(6);
        let minimum: u64;
        ptx::asm!("min.u64 {}, {}, {};", out(u64) minimum, in(u64) five + 72, in(u64) 100);
        *out.add(7) = minimum;
    }
}
