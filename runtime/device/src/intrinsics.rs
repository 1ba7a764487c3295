//! The functions that the compiler replaces by device instructions (`ptx_abi::INTRINSIC_PREFIX`).

#[cfg(not(target_arch = "nvptx64"))]
use crate::cpu;

macro_rules! intrinsics {
    // Behind the last arrow is what the CPU does, where it runs a kernel.
    ($($(#[doc = $doc:literal])* $name:ident = $symbol:ident -> $result:ty => $cpu:expr;)*) => {
        #[cfg(target_arch = "nvptx64")]
        unsafe extern "C" {
            $(safe fn $symbol() -> $result;)*
        }

        $(
            $(#[doc = $doc])*
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            pub(crate) fn $name() -> $result {
                #[cfg(target_arch = "nvptx64")]
                return $symbol();
                #[cfg(not(target_arch = "nvptx64"))]
                $cpu
            }
        )*
    };
}

intrinsics! {
    /// `%tid.x`
    tid_x = __ptx_tid_x -> u32 => cpu::thread().thread.x;
    /// `%tid.y`
    tid_y = __ptx_tid_y -> u32 => cpu::thread().thread.y;
    /// `%tid.z`
    tid_z = __ptx_tid_z -> u32 => cpu::thread().thread.z;
    /// `%ntid.x`
    ntid_x = __ptx_ntid_x -> u32 => cpu::thread().threads.x;
    /// `%ntid.y`
    ntid_y = __ptx_ntid_y -> u32 => cpu::thread().threads.y;
    /// `%ntid.z`
    ntid_z = __ptx_ntid_z -> u32 => cpu::thread().threads.z;
    /// `%ctaid.x`
    ctaid_x = __ptx_ctaid_x -> u32 => cpu::thread().block.x;
    /// `%ctaid.y`
    ctaid_y = __ptx_ctaid_y -> u32 => cpu::thread().block.y;
    /// `%ctaid.z`
    ctaid_z = __ptx_ctaid_z -> u32 => cpu::thread().block.z;
    /// `%nctaid.x`
    nctaid_x = __ptx_nctaid_x -> u32 => cpu::thread().blocks.x;
    /// `%nctaid.y`
    nctaid_y = __ptx_nctaid_y -> u32 => cpu::thread().blocks.y;
    /// `%nctaid.z`
    nctaid_z = __ptx_nctaid_z -> u32 => cpu::thread().blocks.z;
    /// `%laneid`
    laneid = __ptx_laneid -> u32 => cpu::lane();
    /// `%clock64`
    clock64 = __ptx_clock64 -> u64 => cpu::clock();
    /// `%globaltimer`
    globaltimer = __ptx_globaltimer -> u64 => cpu::timer();
    /// The arch times ten, a constant of the compilation; 0 on the CPU.
    arch = __ptx_arch -> u32 => {
        cpu::thread();
        0
    };
    /// Knowledge, and no instruction: the launch has one dimension, and fewer than 2^32 threads.
    dimensions_1 = __ptx_dimensions_1 -> () => ();
    /// Knowledge: the launch has at most two dimensions, and fewer than 2^32 threads in the first.
    dimensions_2 = __ptx_dimensions_2 -> () => ();
    /// Knowledge: the launch has fewer than 2^32 threads in the first dimension.
    dimensions_3 = __ptx_dimensions_3 -> () => ();
    /// `barrier.sync 0`
    barrier_sync = __ptx_barrier_sync -> () => cpu::barrier();
    /// `barrier.sync.aligned 0`
    barrier_sync_aligned = __ptx_barrier_sync_aligned -> () => cpu::barrier();
}

/// The high half of a product.
#[inline(always)]
pub(crate) fn mulhi_u32(a: u32, b: u32) -> u32 {
    #[cfg(target_arch = "nvptx64")]
    {
        unsafe extern "C" {
            safe fn __ptx_mulhi_u32(a: u32, b: u32) -> u32;
        }
        __ptx_mulhi_u32(a, b)
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        ((u64::from(a) * u64::from(b)) >> 32) as u32
    }
}

/// `nanosleep`: suspends the thread for about this many nanoseconds.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
pub(crate) fn nanosleep(nanoseconds: u32) {
    unsafe extern "C" {
        safe fn __ptx_nanosleep(nanoseconds: u32);
    }
    __ptx_nanosleep(nanoseconds);
}

/// `trap`: ends the launch, and does not return.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
pub(crate) fn trap() -> ! {
    unsafe extern "C" {
        safe fn __ptx_trap();
    }
    __ptx_trap();
    // The compiler knows nothing of `trap`; this says that control ends here.
    loop {}
}
