//! The same functions under different modes, in one module.

#[cfg(target_arch = "nvptx64")]
use ptx::math::Math as _;
use ptx::prelude::*;

/// What one kernel computes of a number.
pub type Results = [f32; 6];

/// A helper that both sides call; its copies have the modes of their callers.
#[inline(never)]
fn helper(x: f32) -> f32 {
    x * 0.5
}

/// Functions of libdevice and of ours, with results that are subnormal where the argument is.
#[inline]
fn results(x: f32) -> Results {
    [x.sin(), x.tan(), x.asin(), x.exp_m1(), helper(x), x / 3.0]
}

macro_rules! kernels {
    ($($(#[$modes:meta])? $name:ident;)*) => {$(
        #[kernel]
        $(#[$modes])?
        pub fn $name(x: &[f32], mut out: DisjointSlice<Results>) {
            let i = thread::index_1d();
            if let Some(out) = out.get_mut(i) {
                *out = results(x[i.get()]);
            }
        }
    )*};
}
kernels! {
    of_the_build;
    #[ptx::float(ftz = true)] flushed;
    #[ptx::float(ftz = false)] kept;
}

/// x² - y with a fused multiply-add, without, and with both in one function.
#[kernel]
pub fn fused_and_not(x: &[f32], y: &[f32], mut out: DisjointSlice<[f32; 3]>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let (x, y) = (x[i.get()], y[i.get()]);
        let apart = #[ptx::float(fmad = false)]
        {
            x * x - y
        };
        *out = [fused(x, y), unfused(x, y), apart];
    }
}

#[ptx::float(fmad = true)]
fn fused(x: f32, y: f32) -> f32 {
    x * x - y
}

#[ptx::float(fmad = false)]
fn unfused(x: f32, y: f32) -> f32 {
    x * x - y
}
