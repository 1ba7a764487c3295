//! `ptx::asm!`: operands by type, results in registers, volatile unless it says otherwise.
#![no_std]
use ptx::prelude::*;

// It may write memory: what was there is read again.
// CHECK-LABEL: .visible .entry memory(
// CHECK: ld.global.b32
// CHECK: st.global.wt.u32
// CHECK: ld.global.b32
// CHECK: ret;
#[kernel]
pub unsafe fn memory(data: *mut u32, out: *mut u32) {
    unsafe {
        let before = *data;
        ptx::asm!("cvta.to.global.u64 {p}, {p}; st.global.wt.u32 [{p}], {v};", p = inout(*mut u32) data => _,
                  v = in(u32) before + 1);
        *out = before ^ *data;
    }
}

// Two equal pure ones are one; one whose result nobody uses is none.
// CHECK-LABEL: .visible .entry pure(
// CHECK: mad.wide.u16
// CHECK-NOT: mad.wide.u16
// CHECK: ret;
#[kernel]
pub unsafe fn pure(a: u16, b: u16, c: u32, out: *mut u32) {
    let wide = || {
        let result: u32;
        unsafe {
            ptx::asm!("mad.wide.u16 {}, {}, {}, {};", out(u32) result, in(u16) a, in(u16) b, in(u32) c,
                      options(pure, nomem))
        };
        result
    };
    unsafe { *out = wide() ^ (wide() << 1) };
    wide();
}

// Several results of several classes, braces and a dollar sign; no memory for the results.
// CHECK-LABEL: .visible .entry several(
// CHECK-NOT: .local
// CHECK: {.reg .pred p$;
// CHECK: setp.gt.f32
// CHECK: selp.f64
// CHECK: selp.b64
// CHECK-NOT: st.local
// CHECK: ret;
#[kernel]
pub unsafe fn several(a: f32, b: f64, c: i64, out: *mut f64, place: *mut i64) {
    unsafe {
        ptx::asm!(
            "{{.reg .pred p$; setp.gt.f32 p$, {0}, 0f00000000;",
            "selp.f64 {1}, {3}, 0d0000000000000000, p$;",
            "selp.b64 {2}, {2}, 0, p$;}}",
            in(f32) a,
            out(f64) *out,
            inout(i64) c => *place,
            in(f64) b,
            options(nomem, nostack),
        );
    }
}

// Not once in both arms of the branch, nor once for both.
// CHECK-LABEL: .visible .entry together(
// CHECK: bar.warp.sync 3;
// CHECK: bar.warp.sync 3;
// CHECK-NOT: bar.warp.sync
// CHECK: ret;
#[kernel]
pub unsafe fn together(x: u32, out: *mut u32) {
    unsafe {
        if x > 3 {
            out.write_volatile(1);
            ptx::asm!("bar.warp.sync 3;");
        } else {
            out.write_volatile(2);
            ptx::asm!("bar.warp.sync 3;");
        }
    }
}

// CHECK-LABEL: .visible .entry volatile(
// CHECK: mov.u32 {{.*}}, %clock;
// CHECK: mov.u32 {{.*}}, %clock;
// CHECK: ret;
#[kernel]
pub unsafe fn volatile(out: *mut u32) {
    let (first, second): (u32, u32);
    unsafe {
        ptx::asm!("mov.u32 {}, %clock;", out(u32) first);
        ptx::asm!("mov.u32 {}, %clock;", out(u32) second);
        *out = second - first;
    }
}
