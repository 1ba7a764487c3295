//! The functions that the compiler replaces by device instructions (`ptx_abi::INTRINSIC_PREFIX`).

macro_rules! intrinsics {
    ($($(#[doc = $doc:literal])* $name:ident = $symbol:ident -> $result:ty;)*) => {
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
                only_on_the_gpu()
            }
        )*
    };
}

intrinsics! {
    /// `%tid.x`
    tid_x = __ptx_tid_x -> u32;
    /// `%tid.y`
    tid_y = __ptx_tid_y -> u32;
    /// `%tid.z`
    tid_z = __ptx_tid_z -> u32;
    /// `%ntid.x`
    ntid_x = __ptx_ntid_x -> u32;
    /// `%ntid.y`
    ntid_y = __ptx_ntid_y -> u32;
    /// `%ntid.z`
    ntid_z = __ptx_ntid_z -> u32;
    /// `%ctaid.x`
    ctaid_x = __ptx_ctaid_x -> u32;
    /// `%ctaid.y`
    ctaid_y = __ptx_ctaid_y -> u32;
    /// `%ctaid.z`
    ctaid_z = __ptx_ctaid_z -> u32;
    /// `%nctaid.x`
    nctaid_x = __ptx_nctaid_x -> u32;
    /// `%nctaid.y`
    nctaid_y = __ptx_nctaid_y -> u32;
    /// `%nctaid.z`
    nctaid_z = __ptx_nctaid_z -> u32;
    /// `%laneid`
    laneid = __ptx_laneid -> u32;
    /// `%clock64`
    clock64 = __ptx_clock64 -> u64;
    /// `%globaltimer`
    globaltimer = __ptx_globaltimer -> u64;
    /// The arch times ten, a constant of the compilation.
    arch = __ptx_arch -> u32;
    /// Knowledge, and no instruction: the launch has one dimension, and fewer than 2^32 threads.
    dimensions_1 = __ptx_dimensions_1 -> ();
    /// Knowledge: the launch has at most two dimensions, and fewer than 2^32 threads in the first.
    dimensions_2 = __ptx_dimensions_2 -> ();
    /// Knowledge: the launch has fewer than 2^32 threads in the first dimension.
    dimensions_3 = __ptx_dimensions_3 -> ();
    /// `barrier.sync 0`
    barrier_sync = __ptx_barrier_sync -> ();
    /// `barrier.sync.aligned 0`
    barrier_sync_aligned = __ptx_barrier_sync_aligned -> ();
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

#[cfg(not(target_arch = "nvptx64"))]
#[cold]
#[track_caller]
pub(crate) fn only_on_the_gpu() -> ! {
    panic!("this function only runs on the GPU: call it in a `#[kernel]`, and launch that from the host")
}
