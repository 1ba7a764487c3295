//! Modes that do not exist, values that are none, and modes that contradict each other.
#![no_std]
use ptx::prelude::*;

#[ptx::float(fmda = true)] //~ ERROR: did you mean `fmad`?
fn misspelt() {}

#[ptx::float(prec-div = false)] //~ ERROR: did you mean `prec_div`?
fn as_nvcc_writes_it() {}

#[ptx::float(fast_math)] //~ ERROR: did you mean `use_fast_math`?
fn as_others_write_it() {}

#[ptx::float(denormals = false)] //~ ERROR: the modes are `fmad`, `ftz`
fn unknown() {}

#[ptx::float(rounding = "rz")] //~ ERROR: add_rz
fn rounding() {}

#[ptx::float(ftz = 1)] //~ ERROR: `ftz = true` or `ftz = false`
fn number() {}

#[ptx::float(fmad = "off")] //~ ERROR: `fmad = true` or `fmad = false`
fn text() {}

#[ptx::float(fmad)] //~ ERROR: `fmad = true` or `fmad = false`
fn without_value() {}

#[ptx::float(ftz = true, fmad = true, ftz = false)] //~ ERROR: given twice
fn twice() {}

#[ptx::float("ftz")] //~ ERROR: expected a mode
fn quoted() {}

#[ptx::float(use_fast_math = true, ftz = false)] //~ ERROR: means `ftz = true`
fn contradictory() {}

#[ptx::float(use_fast_math)]
#[ptx::float(prec_div = true)] //~ ERROR: means `prec_div = false`
fn contradictory_together() {}

#[ptx::float(fmad = true)]
#[ptx::float(fmad = false)] //~ ERROR: another `#[ptx::float(..)]` here says `fmad = true`
fn contradictory_twice() {}

#[kernel]
#[ptx::float(ftz = maybe)] //~ ERROR: `ftz = true` or `ftz = false`
pub fn under_the_kernel() {
    misspelt();
    as_nvcc_writes_it();
    as_others_write_it();
    unknown();
    rounding();
    number();
    text();
    without_value();
    twice();
    quoted();
    contradictory();
    contradictory_together();
    contradictory_twice();
}
