//! Orderings and scopes as types, so that every call of the compiler's intrinsics has constants, optimised or not.

use core::sync::atomic::Ordering;

use ptx_abi::atomic as abi;

/// Which threads an operation orders; see [the table](crate::atomic).
pub trait Scope: sealed::Scope + 'static {}

pub(crate) mod sealed {
    /// The compiler's name of a scope.
    pub trait Scope {
        /// The scope's name for the compiler.
        const SCOPE: ptx_abi::atomic::Scope;
    }
}

macro_rules! scopes {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;
        impl sealed::Scope for $name {
            const SCOPE: abi::Scope = abi::Scope::$name;
        }
        impl Scope for $name {}
    )*};
}

scopes! {
    /// The threads of a block: `.cta` in PTX.
    Block;
    /// The threads of a cluster of blocks, on sm_90 and later: `.cluster` in PTX.
    Cluster;
    /// The threads of a GPU: `.gpu` in PTX.
    Device;
    /// All threads, including those of the host and of other GPUs: `.sys` in PTX. `core::sync::atomic` has this scope.
    System;
}

/// An ordering as a type.
pub trait Order {
    /// The ordering's name for the compiler.
    const ORDER: abi::Order;
}

macro_rules! orders {
    ($($name:ident)*) => {
        /// Each ordering as a type.
        pub mod orders {
            $(
                #[doc = concat!("`Ordering::", stringify!($name), "`")]
                #[derive(Debug)]
                pub struct $name;
                impl $crate::atomic::order::Order for $name {
                    const ORDER: ptx_abi::atomic::Order = ptx_abi::atomic::Order::$name;
                }
            )*
        }
    };
}
orders!(Relaxed Acquire Release AcqRel SeqCst);

/// Expands to `body` with the type `O` for the ordering `order`.
macro_rules! by_order {
    (@ $order:expr, $body:expr, $O:ident, [$($name:ident)*], $other:literal) => {
        match $order {
            $(core::sync::atomic::Ordering::$name => {
                type $O = $crate::atomic::order::orders::$name;
                $body
            })*
            _ => panic!($other),
        }
    };
    ($order:expr, |$O:ident| $body:expr) => {
        by_order!(@ $order, $body, $O, [Relaxed Acquire Release AcqRel SeqCst], "an ordering that this crate does not know")
    };
}
/// As `by_order`, for the orderings that loads have.
macro_rules! by_load_order {
    ($order:expr, |$O:ident| $body:expr) => {
        $crate::atomic::order::by_order!(
            @ $order, $body, $O, [Relaxed Acquire SeqCst],
            "there is no such thing as a load with a release ordering"
        )
    };
}
/// As `by_order`, for the orderings that stores have.
macro_rules! by_store_order {
    ($order:expr, |$O:ident| $body:expr) => {
        $crate::atomic::order::by_order!(
            @ $order, $body, $O, [Relaxed Release SeqCst],
            "there is no such thing as a store with an acquire ordering"
        )
    };
}
/// As `by_order`, for the orderings that fences have.
macro_rules! by_fence_order {
    ($order:expr, |$O:ident| $body:expr) => {
        $crate::atomic::order::by_order!(
            @ $order, $body, $O, [Acquire Release AcqRel SeqCst],
            "there is no such thing as a relaxed fence"
        )
    };
}
pub(crate) use {by_fence_order, by_load_order, by_order, by_store_order};

/// The weakest ordering that guarantees what both guarantee.
#[inline(always)]
#[track_caller]
pub fn merged(success: Ordering, failure: Ordering) -> Ordering {
    use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
    match (success, failure) {
        (_, Release | AcqRel) => panic!("there is no such thing as a failure with a release ordering"),
        (SeqCst, _) | (_, SeqCst) => SeqCst,
        (success, Relaxed) => success,
        (Relaxed | Acquire, _) => Acquire,
        _ => AcqRel,
    }
}
