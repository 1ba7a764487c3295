//! Stores and reductions in the background, in the memory of the cluster's other blocks, which a barrier there counts by
//! their bytes: PTX ISA, "Data Movement and Conversion Instructions: st.async" and "Parallel Synchronization and
//! Communication Instructions: red.async", from sm_90.

use super::Mbarrier;
use crate::cluster::Remote;

impl<T: Copy> Remote<T> {
    /// Writes a value of 4, 8 or 16 bytes in the background, and tells the barrier of its bytes when it is there: CUDA's
    /// `cuda::ptx::st_async`, PTX `st.async.weak.shared::cluster.mbarrier::complete_tx::bytes`, from sm_90.
    ///
    /// Whoever sees the barrier's phase end sees the value
    /// ([`wait_parity_of_cluster`](Mbarrier::wait_parity_of_cluster)). The phase must have been told of the bytes, by
    /// [`arrive_expecting`](Mbarrier::arrive_expecting) or [`expect`](Mbarrier::expect).
    ///
    /// # Safety
    /// `barrier` must be a barrier of the same block as the place, which has begun and does not end before the value is
    /// there; the place must be aligned to the value's size, and nobody read or write it until the phase is over. What the
    /// barrier lacks stays within 2^20 bytes above and below 0.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub unsafe fn store_async(self, value: T, barrier: Remote<Mbarrier>) {
        const {
            assert!(
                matches!(size_of::<T>(), 4 | 8 | 16),
                "a value that is stored in the background has 4, 8 or 16 bytes"
            );
        }
        #[cfg(target_arch = "nvptx64")]
        {
            let (to, barrier) = (self.address(), barrier.address());
            macro_rules! word {
                ($word:ty, $of:literal, $ty:literal) => {
                    assembly!(
                        concat!(
                            "__ptx_asm:v/90/8.1::r,", $of, ",r:st.async.weak.shared::cluster.mbarrier::complete_tx::bytes",
                            $ty, " [$0], $1, [$2];"
                        );
                        (to => u32, core::mem::transmute_copy::<T, $word>(&value) => $word, barrier => u32)
                    )
                };
            }
            // SAFETY: the caller's promise; the bytes are those of a `T`.
            unsafe {
                match size_of::<T>() {
                    4 => word!(u32, "r", ".b32"),
                    8 => word!(u64, "l", ".b64"),
                    _ => {
                        let [low, high] = core::mem::transmute_copy::<T, [u64; 2]>(&value);
                        assembly!(
                            "__ptx_asm:v/90/8.1::r,l,l,r:st.async.weak.shared::cluster.mbarrier::complete_tx::bytes\
                             .v2.b64 [$0], {$1, $2}, [$3];";
                            (to => u32, low => u64, high => u64, barrier => u32)
                        );
                    }
                }
            }
        }
        #[cfg(not(target_arch = "nvptx64"))]
        {
            _ = (value, barrier);
            crate::cpu::only_on_the_gpu()
        }
    }
}

macro_rules! reductions {
    ($($ty:ident $class:literal: $($name:ident $operation:literal $does:literal,)*;)*) => {$(
        impl Remote<$ty> {$(
            #[doc = $does]
            ///
            /// In the background; then the barrier is told of its bytes: CUDA's `cuda::ptx::red_async`, PTX
            #[doc = concat!("`red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.", $operation, "`,")]
            /// from sm_90. Whoever sees the barrier's phase end sees the result. The phase must have been told of the bytes,
            /// as for [`store_async`](Remote::store_async).
            ///
            /// # Safety
            /// As for [`store_async`](Remote::store_async), but others may change the place by atomics at the same time.
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            pub unsafe fn $name(self, value: $ty, barrier: Remote<Mbarrier>) {
                #[cfg(target_arch = "nvptx64")]
                // SAFETY: the caller's promise.
                unsafe {
                    assembly!(
                        concat!(
                            "__ptx_asm:v/90/8.1::r,", $class,
                            ",r:red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.", $operation,
                            " [$0], $1, [$2];"
                        );
                        (self.address() => u32, value => $ty, barrier.address() => u32)
                    );
                }
                #[cfg(not(target_arch = "nvptx64"))]
                {
                    _ = (value, barrier);
                    crate::cpu::only_on_the_gpu()
                }
            }
        )*}
    )*};
}

reductions! {
    u32 "r":
        add_async "add.u32" "Adds, wrapping.",
        min_async "min.u32" "Takes the smaller value.",
        max_async "max.u32" "Takes the larger value.",
        and_async "and.b32" "Takes the bits that are set in both values.",
        or_async "or.b32" "Takes the bits that are set in one of the values or both.",
        xor_async "xor.b32" "Takes the bits that are set in one of the values.",
        inc_async "inc.u32" "Adds 1, or makes it 0 where it is `value` or more.",
        dec_async "dec.u32" "Takes 1 off, or makes it `value` where it is 0 or more than `value`.",
    ;
    i32 "r":
        add_async "add.s32" "Adds, wrapping.",
        min_async "min.s32" "Takes the smaller value.",
        max_async "max.s32" "Takes the larger value.",
    ;
    u64 "l":
        add_async "add.u64" "Adds, wrapping.",
    ;
}
