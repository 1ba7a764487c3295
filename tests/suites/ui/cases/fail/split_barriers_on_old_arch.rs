//! Barriers in memory, policies of L2 and vectors of 32 bytes that the GPU does not have: the message names the instruction
//! and the GPU that has it, at the line that asks for it.
//@arch: sm_75
#![no_std]
use ptx::mbarrier::{self, Mbarrier};
use ptx::memory::{self, CachePolicy, Evict, Rest};
use ptx::prelude::*;
use ptx::{Shared, cluster};

#[ptx::shared]
static BARRIER: Shared<Mbarrier>;

#[kernel]
pub unsafe fn barriers(out: *mut u32) {
    unsafe {
        BARRIER.init(64); //~ ERROR: sm_75 has no instruction `mbarrier.init.shared.b64`
        let token = BARRIER.arrive(); //~ ERROR: sm_75 has no instruction `mbarrier.arrive.shared.b64`
        *out = token.pending(); //~ ERROR: sm_75 has no instruction `mbarrier.pending_count.b64`
        *out += u32::from(BARRIER.is_over(token)); //~ ERROR: sm_75 has no instruction `mbarrier.test_wait.shared.b64`
        BARRIER.expect(4); //~ ERROR: sm_75 has no instruction `mbarrier.expect_tx.relaxed.cta.shared::cta.b64`
        mbarrier::fence_init(); //~ ERROR: sm_75 has no instruction `fence.mbarrier_init.release.cluster`
        BARRIER.arrive_after_copies(); //~ ERROR: sm_75 has no instruction `cp.async.mbarrier.arrive.shared.b64`
    }
}

#[kernel]
pub unsafe fn places(place: *mut u32, out: *mut u32) {
    unsafe {
        *out = cluster::query_shared_rank(place); //~ ERROR: sm_75 has no instruction `getctarank.u64`
        *out += u32::from(cluster::is_cluster_shared(place)); //~ ERROR: sm_75 has no instruction `isspacep.shared::cluster`
        let mapped = cluster::map_shared_rank(place, 1); //~ ERROR: sm_75 has no instruction `mapa.u64`
        let other = cluster::remote(place, 1); //~ ERROR: sm_75 has no instruction `mapa.shared::cluster.u32`
        *out += *mapped + other.load(); //~ ERROR: sm_75 has no instruction `ld.shared::cluster.b32`
    }
}

#[kernel]
pub unsafe fn policies(from: *const u32, to: *mut [u64; 4]) {
    unsafe {
        let keep = CachePolicy::fraction(Evict::Last, Rest::Unchanged, 0.5); //~ ERROR: no instruction `createpolicy.fractional
        let one = memory::load_with(from, keep); //~ ERROR: sm_75 has no instruction `ld.global.L2::cache_hint.b32`
        let four = memory::load_wide(to); //~ ERROR: sm_75 has no instruction `ld.global.v4.b64`
        memory::store_wide(to, four.map(|each| each + u64::from(one))); //~ ERROR: no instruction `st.global.v4.b64`
        memory::copy_async_part(to.cast::<u32>(), from, 2); //~ ERROR: no instruction `cp.async.ca.shared.global`
    }
}
