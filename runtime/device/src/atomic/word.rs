//! Atomic operations on bits: the compiler's intrinsics in kernels, the host's own atomics elsewhere.

use core::fmt::Debug;

use ptx_abi::atomic::Op;
#[cfg(target_arch = "nvptx64")]
use ptx_abi::atomic::{Code, Order as AbiOrder};

use super::order::{Order, Scope};

/// What a read-modify-write does, as a type.
pub trait Operation {
    /// The operation's name for the compiler.
    const OP: Op;
}

macro_rules! operations {
    ($($name:ident)*) => {
        /// Each read-modify-write operation as a type.
        pub mod op {
            $(
                #[doc = concat!("`ptx_abi::atomic::Op::", stringify!($name), "`")]
                #[derive(Debug)]
                pub struct $name;
                impl $crate::atomic::word::Operation for $name {
                    const OP: ptx_abi::atomic::Op = ptx_abi::atomic::Op::$name;
                }
            )*
        }
    };
}
operations!(Xchg Add Sub And Nand Or Xor Max Min UMax UMin Inc Dec FAdd FSub AddF16x2 AddBf16x2);

/// The unsigned integers as which values are loaded and stored.
///
/// All functions need an address that is aligned to the size, of live memory that is only accessed atomically.
pub trait Word: Copy + Eq + Debug + 'static {
    /// Loads the value at `ptr`.
    unsafe fn load<O: Order, S: Scope>(ptr: *mut Self) -> Self;
    /// Stores `value` at `ptr`.
    unsafe fn store<O: Order, S: Scope>(ptr: *mut Self, value: Self);
    /// Combines `value` with the value at `ptr`, and returns the old value.
    unsafe fn rmw<P: Operation, O: Order, S: Scope>(ptr: *mut Self, value: Self) -> Self;
    /// Stores `new` at `ptr` if `expected` is there, and returns the old value.
    unsafe fn cas<O: Order, S: Scope>(ptr: *mut Self, expected: Self, new: Self) -> Self;
}

/// Everything that the compiler must know about an operation.
#[cfg(target_arch = "nvptx64")]
const fn code(op: Op, order: AbiOrder, scope: ptx_abi::atomic::Scope) -> u32 {
    // A compare-exchange that fails is ordered as one that succeeds: PTX has one instruction for both.
    let failure = match order {
        AbiOrder::AcqRel => AbiOrder::Acquire,
        AbiOrder::Release => AbiOrder::Relaxed,
        order => order,
    };
    Code { op, order, scope, failure }.encode()
}

#[cfg(target_arch = "nvptx64")]
macro_rules! words {
    ($($word:ident: $load:ident $store:ident $rmw:ident $cas:ident;)*) => {
        unsafe extern "C" {
            $(
                fn $load(ptr: *mut $word, code: u32) -> $word;
                fn $store(ptr: *mut $word, value: $word, code: u32);
                fn $rmw(ptr: *mut $word, value: $word, code: u32) -> $word;
                fn $cas(ptr: *mut $word, expected: $word, new: $word, code: u32) -> $word;
            )*
        }
        $(
            impl Word for $word {
                #[inline(always)]
                unsafe fn load<O: Order, S: Scope>(ptr: *mut Self) -> Self {
                    // SAFETY: the caller's promise.
                    unsafe { $load(ptr, const { code(Op::Xchg, O::ORDER, S::SCOPE) }) }
                }
                #[inline(always)]
                unsafe fn store<O: Order, S: Scope>(ptr: *mut Self, value: Self) {
                    // SAFETY: the caller's promise.
                    unsafe { $store(ptr, value, const { code(Op::Xchg, O::ORDER, S::SCOPE) }) }
                }
                #[inline(always)]
                unsafe fn rmw<P: Operation, O: Order, S: Scope>(ptr: *mut Self, value: Self) -> Self {
                    // SAFETY: the caller's promise.
                    unsafe { $rmw(ptr, value, const { code(P::OP, O::ORDER, S::SCOPE) }) }
                }
                #[inline(always)]
                unsafe fn cas<O: Order, S: Scope>(ptr: *mut Self, expected: Self, new: Self) -> Self {
                    // SAFETY: the caller's promise.
                    unsafe { $cas(ptr, expected, new, const { code(Op::Xchg, O::ORDER, S::SCOPE) }) }
                }
            }
        )*
    };
}

#[cfg(target_arch = "nvptx64")]
words! {
    u8: __ptx_atomic_load_8 __ptx_atomic_store_8 __ptx_atomic_rmw_8 __ptx_atomic_cas_8;
    u16: __ptx_atomic_load_16 __ptx_atomic_store_16 __ptx_atomic_rmw_16 __ptx_atomic_cas_16;
    u32: __ptx_atomic_load_32 __ptx_atomic_store_32 __ptx_atomic_rmw_32 __ptx_atomic_cas_32;
    u64: __ptx_atomic_load_64 __ptx_atomic_store_64 __ptx_atomic_rmw_64 __ptx_atomic_cas_64;
    u128: __ptx_atomic_load_128 __ptx_atomic_store_128 __ptx_atomic_rmw_128 __ptx_atomic_cas_128;
}

/// Orders memory accesses before and after it.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
pub fn fence<O: Order, S: Scope>() {
    unsafe extern "C" {
        safe fn __ptx_atomic_fence(code: u32);
    }
    __ptx_atomic_fence(const { code(Op::Xchg, O::ORDER, S::SCOPE) });
}

/// Orders memory accesses before and after it; the host has only one scope.
#[cfg(not(target_arch = "nvptx64"))]
pub fn fence<O: Order, S: Scope>() {
    // The strongest is right for any.
    let _ = (O::ORDER, S::SCOPE);
    core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
}
