//! Types of `core` and of the crate `half` that have a counterpart in C++.

use core::cell::{Cell, UnsafeCell};
use core::mem::{ManuallyDrop, MaybeUninit};
use core::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16, AtomicU32,
    AtomicU64, AtomicUsize,
};

use crate::cxx::{Cxx, Definition};
use crate::types::CxxType;

macro_rules! same_as {
    ($([$($generics:tt)*] $ty:ty = $inner:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> CxxType for $ty {
            const CXX: Cxx<'static> = <$inner as CxxType>::CXX;
            const DEFINITION: &'static Definition<'static> = <$inner as CxxType>::DEFINITION;
            const POINTED: &'static Definition<'static> = <$inner as CxxType>::POINTED;
        }
    )*};
}

// For pointers to them: an atomic is its integer in C++, where it is `cuda::atomic_ref` or `atomicAdd` that makes the access
// atomic; a cell is what is in it.
same_as! {
    [] AtomicBool = bool;
    [] AtomicI8 = i8;
    [] AtomicI16 = i16;
    [] AtomicI32 = i32;
    [] AtomicI64 = i64;
    [] AtomicIsize = isize;
    [] AtomicU8 = u8;
    [] AtomicU16 = u16;
    [] AtomicU32 = u32;
    [] AtomicU64 = u64;
    [] AtomicUsize = usize;
    [T: CxxType + 'static] AtomicPtr<T> = *mut T;
    [T: CxxType] Cell<T> = T;
    [T: CxxType] UnsafeCell<T> = T;
    [T: CxxType] MaybeUninit<T> = T;
    [T: CxxType] ManuallyDrop<T> = T;
}

#[cfg(feature = "half")]
mod half {
    use crate::abi_by_value;
    use crate::cxx::{Cxx, Name};

    // nvcc passes both as `.align 2 .b8[2]`: they are structs.
    abi_by_value!(
        ::half::f16,
        Aggregate,
        Cxx::Named(Name::cuda("__half", "cuda_fp16.h")),
        diagnostic::do_not_recommend
    );
    abi_by_value!(
        ::half::bf16,
        Aggregate,
        Cxx::Named(Name::cuda("__nv_bfloat16", "cuda_bf16.h")),
        diagnostic::do_not_recommend
    );

    // SAFETY: 16 bits, all of them numbers.
    unsafe impl crate::bits::Plain for ::half::f16 {}
    // SAFETY: as above.
    unsafe impl crate::bits::Plain for ::half::bf16 {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cxx::Builtin;

    #[test]
    fn pointers_to_cells() {
        assert_eq!(<*mut AtomicU32>::CXX, Cxx::Pointer(&Cxx::Builtin(Builtin::UnsignedInt)));
        assert_eq!(<*const UnsafeCell<f32>>::CXX, <*const f32>::CXX);
        assert_eq!(<*mut AtomicPtr<i32>>::CXX, <*mut *mut i32>::CXX);
    }
}
