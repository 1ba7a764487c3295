//! `ptx::asm!` on the GPU: operands of every class, several results, one register in and out, memory.
//@ run
//@ expect: 1 0xfffffffe 7 0x40490fdb 0x54442d18 0x400921fb 12 0xffff 5 77
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
pub fn case(mut out: DisjointSlice<u32>) {
    let mut results = [0_u32; 10];
    // SAFETY: each computes results; the one that touches memory is given its address.
    unsafe {
        let wide = product(u32::MAX, u32::MAX);
        results[0] = wide as u32;
        results[1] = (wide >> 32) as u32;
        let mut count = 3_u32;
        ptx::asm!("add.u32 {0}, {0}, {1};", inout(u32) count, in(u32) 4);
        results[2] = count;
        let pi: f32;
        ptx::asm!("add.f32 {}, {}, 0f3F800000;", out(f32) pi, in(f32) core::f32::consts::PI - 1.0);
        results[3] = pi.to_bits();
        let pi: f64;
        ptx::asm!("neg.f64 {}, {};", out(f64) pi, in(f64) -core::f64::consts::PI);
        results[4] = pi.to_bits() as u32;
        results[5] = (pi.to_bits() >> 32) as u32;
        let sum: i64;
        ptx::asm!("mad.wide.s32 {}, {}, {}, {};", out(i64) sum, in(i32) -2, in(i32) 4, in(i64) 20);
        results[6] = sum as u32;
        let ones: u16;
        ptx::asm!("not.b16 {}, {};", out(u16) ones, in(u16) 0);
        results[7] = u32::from(ones);
        // The memory is read again behind what may have written it.
        let mut counter = 4_u32;
        ptx::asm!("{{.reg .u32 v; ld.u32 v, [{0}]; add.u32 v, v, 1; st.u32 [{0}], v;}}", in(*mut u32) &raw mut counter);
        results[8] = counter;
        let minimum: u64;
        ptx::asm!("min.u64 {}, {}, {};", out(u64) minimum, in(u64) u64::from(counter) + 72, in(u64) 100);
        results[9] = minimum as u32;
    }
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = results[i.get()];
    }
}
