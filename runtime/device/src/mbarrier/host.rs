//! The same operations where the CPU runs a kernel: the threads of a block take turns, so that nothing here is atomic.
//!
//! The word is this module's own: bits 0 to 19 the arrivals that the phase lacks, 20 to 39 those that the next one needs,
//! 40 to 61 the bytes that it lacks (negative if more came than were announced), bit 63 the phase's parity.

use crate::cpu;

/// Bits of a count of arrivals; of those of bytes there are two more, for a sign.
const BITS: u32 = 20;
const COUNT: u64 = (1 << BITS) - 1;
const BYTES: u64 = (1 << (BITS + 2)) - 1;

/// A word in parts.
#[derive(Clone, Copy)]
struct State {
    pending: u32,
    expected: u32,
    bytes: i32,
    odd: bool,
}

impl State {
    fn of(word: u64) -> Self {
        let bytes = (word >> (2 * BITS) & BYTES) as u32;
        Self {
            pending: (word & COUNT) as u32,
            expected: (word >> BITS & COUNT) as u32,
            // Its uppermost bit is the sign.
            bytes: (bytes << 10).cast_signed() >> 10,
            odd: word >> 63 != 0,
        }
    }

    fn word(self) -> u64 {
        u64::from(self.pending) & COUNT
            | (u64::from(self.expected) & COUNT) << BITS
            | (u64::from(self.bytes.cast_unsigned()) & BYTES) << (2 * BITS)
            | u64::from(self.odd) << 63
    }

    /// Ends the phase if nothing is missing.
    fn settled(mut self) -> Self {
        if self.pending == 0 && self.bytes == 0 {
            self.pending = self.expected;
            self.odd = !self.odd;
        }
        self
    }
}

/// Changes the word; gives what it was.
///
/// # Safety
/// It must be a barrier's.
#[track_caller]
unsafe fn change(at: *mut u64, how: impl FnOnce(&mut State)) -> u64 {
    cpu::further();
    // SAFETY: the caller's promise; no other thread runs.
    unsafe {
        let before = at.read();
        let mut state = State::of(before);
        how(&mut state);
        at.write(state.settled().word());
        before
    }
}

macro_rules! changes {
    ($($name:ident($($operand:ident: $ty:ty),*) |$state:ident| $how:expr;)*) => {$(
        #[track_caller]
        pub unsafe fn $name(at: *mut u64 $(, $operand: $ty)*) -> u64 {
            // SAFETY: the caller's promise.
            unsafe { change(at, |$state| $how) }
        }
    )*};
}

changes! {
    arrive() |state| state.pending -= 1;
    arrive_count(count: u32) |state| state.pending -= count;
    arrive_no_complete(count: u32) |state| state.pending -= count;
    arrive_drop() |state| {
        state.expected -= 1;
        state.pending -= 1;
    };
    arrive_drop_no_complete(count: u32) |state| {
        state.expected -= count;
        state.pending -= count;
    };
    arrive_expect_tx(bytes: u32) |state| {
        state.bytes += bytes.cast_signed();
        state.pending -= 1;
    };
    expect(bytes: u32) |state| state.bytes += bytes.cast_signed();
    complete(bytes: u32) |state| state.bytes -= bytes.cast_signed();
}

#[track_caller]
pub unsafe fn init(at: *mut u64, count: u32) {
    cpu::further();
    // SAFETY: the caller's promise.
    unsafe { at.write(State { pending: count, expected: count, bytes: 0, odd: false }.word()) };
}

#[track_caller]
pub unsafe fn inval(_at: *mut u64) {
    cpu::further();
}

#[track_caller]
pub unsafe fn expect_tx(at: *mut u64, bytes: u32) {
    // SAFETY: the caller's promise.
    unsafe { expect(at, bytes) };
}

#[track_caller]
pub unsafe fn complete_tx(at: *mut u64, bytes: u32) {
    // SAFETY: the caller's promise.
    unsafe { complete(at, bytes) };
}

/// Whether the phase of that parity is over.
///
/// # Safety
/// It must be a barrier.
unsafe fn is_over(at: *mut u64, parity: u32) -> bool {
    // SAFETY: the caller's promise; no other thread runs.
    State::of(unsafe { at.read() }).odd != (parity & 1 == 1)
}

/// If it is not over, the others have a turn: a loop may be asking.
#[track_caller]
pub unsafe fn test_wait_parity(at: *mut u64, parity: u32) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        is_over(at, parity) || {
            cpu::turn();
            is_over(at, parity)
        }
    }
}

/// Waits; the launch ends if all threads wait.
#[track_caller]
pub unsafe fn wait_parity(at: *mut u64, parity: u32) {
    // SAFETY: the caller's promise.
    while unsafe { !is_over(at, parity) } {
        cpu::arrivals();
    }
}

#[track_caller]
pub unsafe fn wait(at: *mut u64, state: u64) {
    // SAFETY: the caller's promise.
    unsafe { wait_parity(at, State::of(state).odd.into()) };
}

#[track_caller]
pub unsafe fn test_wait(at: *mut u64, state: u64) -> bool {
    // SAFETY: the caller's promise.
    unsafe { test_wait_parity(at, State::of(state).odd.into()) }
}

pub use test_wait as try_wait;
pub use test_wait_parity as try_wait_parity;
pub use test_wait_parity as try_wait_parity_cluster;
pub use wait_parity as wait_parity_cluster;

#[track_caller]
pub unsafe fn try_wait_within(at: *mut u64, state: u64, _nanoseconds: u32) -> bool {
    // SAFETY: the caller's promise.
    unsafe { test_wait(at, state) }
}

#[track_caller]
pub unsafe fn try_wait_parity_within(at: *mut u64, parity: u32, _nanoseconds: u32) -> bool {
    // SAFETY: the caller's promise.
    unsafe { test_wait_parity(at, parity) }
}

pub fn pending_count(state: u64) -> u32 {
    State::of(state).pending
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_keeps_its_parts() {
        for (pending, expected, bytes, odd) in
            [(0, 0, 0, false), (COUNT as u32, 1, -1, true), (7, COUNT as u32, -((1 << 20) - 1), false), (1, 2, 3, true)]
        {
            let state = State::of(State { pending, expected, bytes, odd }.word());
            assert_eq!((state.pending, state.expected, state.bytes, state.odd), (pending, expected, bytes, odd));
        }
    }

    #[test]
    fn a_phase_ends_when_neither_arrivals_nor_bytes_are_missing() {
        let state = State { pending: 0, expected: 5, bytes: 8, odd: false };
        assert_eq!((state.settled().pending, state.settled().odd), (0, false));
        let state = State { bytes: 0, ..state };
        assert_eq!((state.settled().pending, state.settled().odd), (5, true));
    }
}
