//! The instructions of `mbarrier` (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier"), on the
//! GPU. `host.rs` has the same functions.

use core::mem::MaybeUninit;

use crate::control;
use crate::memory::to_shared;

/// Without a result.
macro_rules! effects {
    ($($name:ident($($operand:ident: $ty:ty),*) = $since:literal $inputs:literal $text:literal;)*) => {$(
        #[inline(always)]
        pub unsafe fn $name(at: *mut u64 $(, $operand: $ty)*) {
            // SAFETY: the caller's promise.
            unsafe {
                assembly!(
                    concat!("__ptx_asm:v/", $since, "::", $inputs, ":mbarrier.", $text, ";");
                    (to_shared(at) as u32 => u32 $(, $operand => $ty)*)
                );
            }
        }
    )*};
}

/// With the barrier's state as the result.
macro_rules! states {
    ($($name:ident($($operand:ident: $ty:ty),*) = $since:literal $inputs:literal $text:literal;)*) => {$(
        #[inline(always)]
        pub unsafe fn $name(at: *mut u64 $(, $operand: $ty)*) -> u64 {
            let mut state = MaybeUninit::<u64>::uninit();
            // SAFETY: the caller's promise.
            unsafe {
                assembly!(
                    concat!("__ptx_asm:v/", $since, ":=l:", $inputs, ":mbarrier.", $text, ";");
                    (to_shared(at) as u32 => u32 $(, $operand => $ty)*, state.as_mut_ptr() => *mut u64)
                );
                state.assume_init()
            }
        }
    )*};
}

/// With a truth as the result.
macro_rules! truths {
    ($($name:ident($($operand:ident: $ty:ty),*) = $since:literal $inputs:literal $text:literal;)*) => {$(
        #[inline(always)]
        pub unsafe fn $name(at: *mut u64 $(, $operand: $ty)*) -> bool {
            let mut truth = MaybeUninit::<u32>::uninit();
            // SAFETY: the caller's promise.
            unsafe {
                assembly!(
                    concat!(
                        "__ptx_asm:v/", $since, ":=r:", $inputs,
                        ":{.reg .pred p; mbarrier.", $text, "; selp.b32 $0, 1, 0, p;}"
                    );
                    (to_shared(at) as u32 => u32 $(, $operand => $ty)*, truth.as_mut_ptr() => *mut u32)
                );
                truth.assume_init() != 0
            }
        }
    )*};
}

effects! {
    init(count: u32) = "80/7.0" "r,r" "init.shared.b64 [$0], $1";
    inval() = "80/7.0" "r" "inval.shared.b64 [$0]";
    expect_tx(bytes: u32) = "90/8.0" "r,r" "expect_tx.relaxed.cta.shared::cta.b64 [$0], $1";
    complete_tx(bytes: u32) = "90/8.0" "r,r" "complete_tx.relaxed.cta.shared::cta.b64 [$0], $1";
}

states! {
    arrive() = "80/7.0" "r" "arrive.shared.b64 $0, [$1]";
    arrive_count(count: u32) = "90/7.8" "r,r" "arrive.shared::cta.b64 $0, [$1], $2";
    arrive_no_complete(count: u32) = "80/7.0" "r,r" "arrive.noComplete.shared.b64 $0, [$1], $2";
    arrive_drop() = "80/7.0" "r" "arrive_drop.shared.b64 $0, [$1]";
    arrive_drop_no_complete(count: u32) = "80/7.0" "r,r" "arrive_drop.noComplete.shared.b64 $0, [$1], $2";
    arrive_expect_tx(bytes: u32) = "90/8.0" "r,r" "arrive.expect_tx.release.cta.shared::cta.b64 $0, [$1], $2";
}

truths! {
    test_wait(state: u64) = "80/7.0" "r,l" "test_wait.shared.b64 p, [$1], $2";
    test_wait_parity(parity: u32) = "80/7.1" "r,r" "test_wait.parity.shared.b64 p, [$1], $2";
    try_wait(state: u64) = "90/7.8" "r,l" "try_wait.shared::cta.b64 p, [$1], $2";
    try_wait_within(state: u64, nanoseconds: u32) = "90/7.8" "r,l,r" "try_wait.shared::cta.b64 p, [$1], $2, $3";
    try_wait_parity(parity: u32) = "90/7.8" "r,r" "try_wait.parity.shared::cta.b64 p, [$1], $2";
    try_wait_parity_within(parity: u32, nanoseconds: u32) =
        "90/7.8" "r,r,r" "try_wait.parity.shared::cta.b64 p, [$1], $2, $3";
    try_wait_parity_cluster(parity: u32) = "90/8.0" "r,r" "try_wait.parity.acquire.cluster.shared::cta.b64 p, [$1], $2";
}

/// The arrivals that a phase lacked when it had that state.
#[inline(always)]
pub fn pending_count(state: u64) -> u32 {
    let mut count = MaybeUninit::<u32>::uninit();
    // SAFETY: it only computes.
    unsafe {
        assembly!(
            "__ptx_asm:p/80/7.0:=r:l:mbarrier.pending_count.b64 $0, $1;";
            (state => u64, count.as_mut_ptr() => *mut u32)
        );
        count.assume_init()
    }
}

/// Goes on when `is_over`, and ends the thread if one has panicked for which it may wait in vain. `try_wait` itself waits for
/// a while.
#[inline(always)]
fn wait_until(mut is_over: impl FnMut() -> bool) {
    let turns = if crate::arch() >= 900 { 16 } else { 256 };
    let mut turn = 0_u32;
    while !is_over() {
        turn = turn.wrapping_add(1);
        if turn.is_multiple_of(turns) && control::has_panicked() {
            control::exit();
        }
    }
}

#[inline(always)]
pub unsafe fn wait(at: *mut u64, state: u64) {
    // SAFETY: the caller's promise.
    wait_until(|| unsafe { if crate::arch() >= 900 { try_wait(at, state) } else { test_wait(at, state) } });
}

#[inline(always)]
pub unsafe fn wait_parity(at: *mut u64, parity: u32) {
    // SAFETY: the caller's promise.
    wait_until(|| unsafe {
        if crate::arch() >= 900 { try_wait_parity(at, parity) } else { test_wait_parity(at, parity) }
    });
}

#[inline(always)]
pub unsafe fn wait_parity_cluster(at: *mut u64, parity: u32) {
    // SAFETY: the caller's promise.
    wait_until(|| unsafe { try_wait_parity_cluster(at, parity) });
}
