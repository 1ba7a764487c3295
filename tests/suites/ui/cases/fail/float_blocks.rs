//! Blocks with modes: what cannot leave them, and where the attribute cannot stand.
#![no_std]
use ptx::prelude::*;

#[kernel]
pub fn leaving(x: &[f32], mut out: DisjointSlice<f32>) {
    let Some(out) = out.get_mut(thread::index_1d()) else { return };
    for x in x {
        #[ptx::float(ftz = true)]
        {
            if *x > 1.0 {
                return; //~ ERROR: `return` cannot leave a block
            }
            if *x > 0.0 {
                break; //~ ERROR: `break` cannot leave a block
            }
            if *x < 0.0 {
                continue; //~ ERROR: `continue` cannot leave a block
            }
            *out += x;
        }
    }
}

#[ptx::float()]
pub fn trying(x: &[f32]) -> Option<f32> {
    let first = #[ptx::float(fmad = false)]
    {
        x.first()? + 1.0 //~ ERROR: `?` cannot leave a block
    };
    Some(first)
}

#[ptx::float()]
pub fn elsewhere(x: f32, y: f32) -> f32 {
    #[ptx::float(fmad = false)] //~ ERROR: put braces around
    let sum = x * y + y;
    #[ptx::float(fmad = true)] //~ ERROR: put braces around
    for _ in 0..2 {}
    sum
}

macro_rules! leave {
    () => {
        return //~ ERROR: in a function whose return type is not `()`
    };
}

#[ptx::float()]
pub fn hidden(x: &mut f32) {
    #[ptx::float(fmad = false)]
    {
        if *x > 1.0 {
            leave!();
        }
        *x += 1.0;
    }
}
