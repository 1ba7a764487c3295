//! A reference to what is a reference already.
#![no_std]
use ptx::prelude::*;

#[kernel]
pub fn disjoint(out: &mut DisjointSlice<f32>) {} //~ ERROR: takes `DisjointSlice` by value

#[kernel]
pub fn atomic(bins: &ptx::atomic::AtomicSlice<u32>) {} //~ ERROR: takes `AtomicSlice` by value
