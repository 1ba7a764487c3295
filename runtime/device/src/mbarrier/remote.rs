//! Barriers of the cluster's other blocks, from sm_90: threads arrive there, and wait at those of their own block.

use super::Mbarrier;
use crate::cluster::Remote;

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident($($operand:ident),*) = $inputs:literal $text:literal;)*) => {
        impl Remote<Mbarrier> {$(
            $(#[$doc])*
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            pub unsafe fn $name(self $(, $operand: u32)*) {
                #[cfg(target_arch = "nvptx64")]
                // SAFETY: the caller's promise.
                unsafe {
                    assembly!(
                        concat!("__ptx_asm:v/90/8.0::", $inputs, ":mbarrier.", $text, ";");
                        (self.address() => u32 $(, $operand => u32)*)
                    );
                }
                #[cfg(not(target_arch = "nvptx64"))]
                {
                    $(_ = $operand;)*
                    crate::cpu::only_on_the_gpu()
                }
            }
        )*}
    };
}

operations! {
    /// Arrives; what this thread did before is visible to those of the cluster that see the phase end
    /// ([`wait_parity_of_cluster`](Mbarrier::wait_parity_of_cluster)). CUDA's `cuda::ptx::mbarrier_arrive(sem_release,
    /// scope_cluster, space_cluster, addr)`, PTX `mbarrier.arrive.release.cluster.shared::cluster.b64`, from sm_90.
    ///
    /// # Safety
    /// It must be a barrier of a block that has begun, by a barrier of the cluster, and not ended; and its phase lack an
    /// arrival.
    arrive() = "r" "arrive.release.cluster.shared::cluster.b64 _, [$0]";
    /// Arrives `count` times at once: the same with a count, from sm_90.
    ///
    /// # Safety
    /// As for `arrive`, with `count` arrivals, at least 1.
    arrive_many(count) = "r,r" "arrive.release.cluster.shared::cluster.b64 _, [$0], $1";
    /// Announces bytes, and arrives: CUDA's `cuda::ptx::mbarrier_arrive_expect_tx(…, space_cluster, …)`, PTX
    /// `mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64`, from sm_90.
    ///
    /// # Safety
    /// As for `arrive`, and for [`arrive_expecting`](Mbarrier::arrive_expecting).
    arrive_expecting(bytes) = "r,r" "arrive.expect_tx.release.cluster.shared::cluster.b64 _, [$0], $1";
    /// Arrives for the last time: the phases behind this one need one arrival less. PTX
    /// `mbarrier.arrive_drop.release.cluster.shared::cluster.b64`, from sm_90. CUDA C++ has inline PTX.
    ///
    /// # Safety
    /// As for `arrive`.
    leave() = "r" "arrive_drop.release.cluster.shared::cluster.b64 _, [$0]";
    /// The same for `count` arrivals at once, from sm_90.
    ///
    /// # Safety
    /// As for `arrive`, with `count` arrivals, at least 1.
    leave_many(count) = "r,r" "arrive_drop.release.cluster.shared::cluster.b64 _, [$0], $1";
    /// Announces bytes, and arrives for the last time: PTX
    /// `mbarrier.arrive_drop.expect_tx.release.cluster.shared::cluster.b64`, from sm_90. CUDA C++ has inline PTX.
    ///
    /// # Safety
    /// As for `arrive`, and for [`arrive_expecting`](Mbarrier::arrive_expecting).
    leave_expecting(bytes) = "r,r" "arrive_drop.expect_tx.release.cluster.shared::cluster.b64 _, [$0], $1";
    /// Announces bytes without arriving: PTX `mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64`, from sm_90.
    ///
    /// # Safety
    /// As for [`Mbarrier::expect`], of a block that has begun and not ended.
    expect(bytes) = "r,r" "expect_tx.relaxed.cluster.shared::cluster.b64 [$0], $1";
    /// Says that bytes have come: PTX `mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64`, from sm_90.
    ///
    /// # Safety
    /// As for [`Mbarrier::complete`], of a block that has begun and not ended.
    complete(bytes) = "r,r" "complete_tx.relaxed.cluster.shared::cluster.b64 [$0], $1";
}
