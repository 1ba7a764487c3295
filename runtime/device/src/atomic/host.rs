//! The host's side of atomics, on its own: there is one scope, and every ordering is the strongest.

use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst};

use ptx_abi::atomic::Op;

use super::order::{Order, Scope};
use super::word::{Operation, Word};
use crate::cpu::before_atomic;

/// The new value of a read-modify-write operation.
macro_rules! apply {
    ($word:ident, $add:ident, $op:expr, $old:ident, $value:ident) => {{
        let signed = |bits: $word| bits.cast_signed();
        match $op {
            Op::Xchg => $value,
            Op::Add => $old.wrapping_add($value),
            Op::Sub => $old.wrapping_sub($value),
            Op::And => $old & $value,
            Op::Nand => !($old & $value),
            Op::Or => $old | $value,
            Op::Xor => $old ^ $value,
            Op::Max if signed($old) > signed($value) => $old,
            Op::Min if signed($old) < signed($value) => $old,
            Op::UMax if $old > $value => $old,
            Op::UMin if $old < $value => $old,
            Op::Max | Op::Min | Op::UMax | Op::UMin => $value,
            Op::Inc => {
                if $old >= $value {
                    0
                } else {
                    $old + 1
                }
            }
            Op::Dec => {
                if $old == 0 || $old > $value {
                    $value
                } else {
                    $old - 1
                }
            }
            Op::FAdd => $add($old, $value, 1.0),
            Op::FSub => $add($old, $value, -1.0),
            Op::AddF16x2 | Op::AddBf16x2 => crate::cpu::only_on_the_gpu(),
        }
    }};
}

macro_rules! words {
    ($($word:ident as $atomic:ident, $add:ident;)*) => {$(
        impl Word for $word {
            unsafe fn load<O: Order, S: Scope>(ptr: *mut Self) -> Self {
                before_atomic();
                // SAFETY: the caller's promise.
                unsafe { $atomic::from_ptr(ptr) }.load(SeqCst)
            }
            unsafe fn store<O: Order, S: Scope>(ptr: *mut Self, value: Self) {
                before_atomic();
                // SAFETY: the caller's promise.
                unsafe { $atomic::from_ptr(ptr) }.store(value, SeqCst);
            }
            unsafe fn rmw<P: Operation, O: Order, S: Scope>(ptr: *mut Self, value: Self) -> Self {
                before_atomic();
                // SAFETY: the caller's promise.
                let atomic = unsafe { $atomic::from_ptr(ptr) };
                let mut old = atomic.load(SeqCst);
                loop {
                    let new = apply!($word, $add, P::OP, old, value);
                    match atomic.compare_exchange_weak(old, new, SeqCst, SeqCst) {
                        Ok(_) => return old,
                        Err(found) => old = found,
                    }
                }
            }
            unsafe fn cas<O: Order, S: Scope>(ptr: *mut Self, expected: Self, new: Self) -> Self {
                before_atomic();
                // SAFETY: the caller's promise.
                let atomic = unsafe { $atomic::from_ptr(ptr) };
                atomic.compare_exchange(expected, new, SeqCst, SeqCst).unwrap_or_else(|found| found)
            }
        }
    )*};
}

words! {
    u8 as AtomicU8, no_float;
    u16 as AtomicU16, no_float;
    u32 as AtomicU32, add_f32;
    u64 as AtomicU64, add_f64;
}

/// For sizes of which no float can be added.
fn no_float<T>(_: T, _: T, _: f32) -> T {
    crate::cpu::only_on_the_gpu()
}

fn add_f32(old: u32, value: u32, sign: f32) -> u32 {
    (f32::from_bits(old) + sign * f32::from_bits(value)).to_bits()
}

fn add_f64(old: u64, value: u64, sign: f64) -> u64 {
    (f64::from_bits(old) + sign * f64::from_bits(value)).to_bits()
}

/// Rust has no atomics of this size on the host: one lock serves all of them.
static LOCK: AtomicBool = AtomicBool::new(false);

/// Replaces the value at `ptr` under the lock, and returns the old value.
///
/// # Safety
/// As [`Word`] says.
unsafe fn locked(ptr: *mut u128, new: impl FnOnce(u128) -> u128) -> u128 {
    before_atomic();
    while LOCK.swap(true, SeqCst) {
        core::hint::spin_loop();
    }
    // SAFETY: the caller's promise, and everybody takes the lock.
    let old = unsafe { ptr.read() };
    let new = new(old);
    // SAFETY: the same.
    unsafe { ptr.write(new) };
    LOCK.store(false, SeqCst);
    old
}

impl Word for u128 {
    unsafe fn load<O: Order, S: Scope>(ptr: *mut Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { locked(ptr, |old| old) }
    }
    unsafe fn store<O: Order, S: Scope>(ptr: *mut Self, value: Self) {
        // SAFETY: the caller's promise.
        unsafe { locked(ptr, |_| value) };
    }
    unsafe fn rmw<P: Operation, O: Order, S: Scope>(ptr: *mut Self, value: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { locked(ptr, |old| apply!(u128, no_float, P::OP, old, value)) }
    }
    unsafe fn cas<O: Order, S: Scope>(ptr: *mut Self, expected: Self, new: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { locked(ptr, |old| if old == expected { new } else { old }) }
    }
}
