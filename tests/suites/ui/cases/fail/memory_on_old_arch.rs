//! Hints and copies that the GPU does not have: the message names the instruction and the GPU that has it, at the line
//! that asks for it; values that no instruction moves are refused, too.
//@arch: sm_75
#![no_std]
use ptx::memory;
use ptx::prelude::*;

#[kernel]
pub unsafe fn run(to: *mut u32, from: *const u32) {
    unsafe {
        memory::prefetch_l2_evict_last(from); //~ ERROR: sm_75 has no instruction `prefetch.global.L2::evict_last`
        memory::discard_l2(from); //~ ERROR: sm_75 has no instruction `discard.global.L2`
        memory::apply_priority_normal(from); //~ ERROR: no instruction `applypriority.global.L2::evict_normal`
        *to = memory::load_l2_128(from) + memory::load_l2_256(from); //~ ERROR: no instruction `ld.global.L2::256B.b32`
        memory::copy_async(to, from); //~ ERROR: sm_75 has no instruction `cp.async.ca.shared.global`
        memory::copy_async_commit(); //~ ERROR: sm_75 has no instruction `cp.async.commit_group`
        memory::copy_async_wait::<0>(); //~ ERROR: sm_75 has no instruction `cp.async.wait_group`
        if ptx::arch() >= 800 {
            memory::copy_async(to, from);
        }
    }
}
