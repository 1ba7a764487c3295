//! Arrivals of copies in the background (`cp.async`).

use super::Mbarrier;

// Behind the instruction is what the CPU does, which copies at once.
macro_rules! arrivals {
    ($($(#[$doc:meta])* $name:ident = $text:literal $(, $host:ident)?;)*) => {
        impl Mbarrier {$(
            $(#[$doc])*
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            pub unsafe fn $name(&self) {
                #[cfg(target_arch = "nvptx64")]
                // SAFETY: the caller's promise.
                unsafe {
                    assembly!(
                        concat!("__ptx_asm:v/80/7.0::r:", $text, " [$0];");
                        (crate::memory::to_shared(self.as_ptr()) as u32 => u32)
                    );
                }
                $(
                    #[cfg(not(target_arch = "nvptx64"))]
                    // SAFETY: the caller's promise.
                    unsafe {
                        self.$host();
                    }
                )?
            }
        )*}
    };
}

arrivals! {
    /// Adds an arrival to those that the phase lacks, and makes it when all of this thread's copies by
    /// [`copy_async`](crate::memory::copy_async) so far have ended: CUDA's `cuda::ptx::cp_async_mbarrier_arrive`, PTX
    /// `cp.async.mbarrier.arrive.shared.b64`, from sm_80.
    ///
    /// # Safety
    /// It must be a barrier, in a phase that some thread that arrives later keeps from ending, and that lacks fewer than
    /// 2^20 - 1 arrivals. Those that it lets go on may read what was copied.
    arrive_after_copies = "cp.async.mbarrier.arrive.shared.b64";
    /// Makes an arrival that [`init`](Mbarrier::init) has counted, when all of this thread's copies so far have ended: CUDA's
    /// `cuda::ptx::cp_async_mbarrier_arrive_noinc`, PTX `cp.async.mbarrier.arrive.noinc.shared.b64`, from sm_80.
    ///
    /// # Safety
    /// It must be a barrier, whose phase lacks an arrival.
    arrive_after_copies_counted = "cp.async.mbarrier.arrive.noinc.shared.b64", arrive;
}
