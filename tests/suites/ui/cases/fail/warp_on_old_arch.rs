//! Operations of warps, clusters and launches that the GPU does not have: the message names the instruction and the GPU
//! that has it, at the line that asks for it; `ptx::arch()` keeps the rest away.
//@arch: sm_75
#![no_std]
use ptx::prelude::*;
use ptx::{cluster, control, warp};

#[kernel]
pub fn run(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = warp::ALL.reduce_add(*out); //~ ERROR: sm_75 has no instruction `redux.sync.add.u32`
        *out += u32::from(warp::ALL.elect()); //~ ERROR: sm_75 has no instruction `elect.sync`
        *out += cluster::block_rank(); //~ ERROR: sm_75 has no instruction `%cluster_ctarank`
        // SAFETY: no GPU gets as far as this.
        unsafe { cluster::arrive() }; //~ ERROR: sm_75 has no instruction `barrier.cluster.arrive`
        control::wait_for_launch_before(); //~ ERROR: sm_75 has no instruction `griddepcontrol.wait`
        if ptx::arch() >= 800 {
            *out += warp::ALL.reduce_xor(*out);
        }
    }
}
