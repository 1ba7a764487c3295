//! Clusters that no GPU has.
//@arch: sm_90
#![no_std]
use ptx::prelude::*;

#[kernel(cluster)] //~ ERROR: as in `cluster(2)`
pub fn none() {}

#[kernel(cluster(1, 2, 3, 4))] //~ ERROR: as in `cluster(2)`
pub fn four() {}

#[kernel(cluster(0))] //~ ERROR: 1 to 16 blocks
pub fn zero() {}

#[kernel(cluster(8, 4))] //~ ERROR: 1 to 16 blocks
pub fn many() {}

#[kernel(cluster(8), launch_bounds(128, 1, 4))] //~ ERROR: more blocks than `launch_bounds`
pub fn over_bounds() {}

#[kernel(launch_bounds(128, 1, 17))] //~ ERROR: a cluster has 1 to 16 blocks
pub fn over_most() {}
