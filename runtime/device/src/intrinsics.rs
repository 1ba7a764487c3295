//! The functions that the compiler replaces by device instructions (`ptx_abi::INTRINSIC_PREFIX`).

#[cfg(not(target_arch = "nvptx64"))]
use crate::cpu;

macro_rules! intrinsics {
    (@host $($operand:ident)*;) => {{
        $(_ = $operand;)*
        $crate::cpu::only_on_the_gpu()
    }};
    (@host $($operand:ident)*; $cpu:expr) => { $cpu };
    // Behind the last arrow is what the CPU does, where it runs a kernel; without one it panics.
    ($(
        $(#[doc = $doc:literal])*
        $name:ident = $symbol:ident($($operand:ident: $ty:ty),*) -> $result:ty $(=> $cpu:expr)?;
    )*) => {
        #[cfg(target_arch = "nvptx64")]
        unsafe extern "C" {
            $(safe fn $symbol($($operand: $ty),*) -> $result;)*
        }

        $(
            $(#[doc = $doc])*
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            pub(crate) fn $name($($operand: $ty),*) -> $result {
                #[cfg(target_arch = "nvptx64")]
                return $symbol($($operand),*);
                #[cfg(not(target_arch = "nvptx64"))]
                $crate::intrinsics::intrinsics!(@host $($operand)*; $($cpu)?)
            }
        )*
    };
}

pub(crate) use intrinsics;

intrinsics! {
    /// `%tid.x`
    tid_x = __ptx_tid_x() -> u32 => cpu::thread().thread.x;
    /// `%tid.y`
    tid_y = __ptx_tid_y() -> u32 => cpu::thread().thread.y;
    /// `%tid.z`
    tid_z = __ptx_tid_z() -> u32 => cpu::thread().thread.z;
    /// `%ntid.x`
    ntid_x = __ptx_ntid_x() -> u32 => cpu::thread().threads.x;
    /// `%ntid.y`
    ntid_y = __ptx_ntid_y() -> u32 => cpu::thread().threads.y;
    /// `%ntid.z`
    ntid_z = __ptx_ntid_z() -> u32 => cpu::thread().threads.z;
    /// `%ctaid.x`
    ctaid_x = __ptx_ctaid_x() -> u32 => cpu::thread().block.x;
    /// `%ctaid.y`
    ctaid_y = __ptx_ctaid_y() -> u32 => cpu::thread().block.y;
    /// `%ctaid.z`
    ctaid_z = __ptx_ctaid_z() -> u32 => cpu::thread().block.z;
    /// `%nctaid.x`
    nctaid_x = __ptx_nctaid_x() -> u32 => cpu::thread().blocks.x;
    /// `%nctaid.y`
    nctaid_y = __ptx_nctaid_y() -> u32 => cpu::thread().blocks.y;
    /// `%nctaid.z`
    nctaid_z = __ptx_nctaid_z() -> u32 => cpu::thread().blocks.z;
    /// `%laneid`
    laneid = __ptx_laneid() -> u32 => cpu::lane();
    /// `%clock64`
    clock64 = __ptx_clock64() -> u64 => cpu::clock();
    /// `%globaltimer`
    globaltimer = __ptx_globaltimer() -> u64 => cpu::timer();
    /// The arch times ten, a constant of the compilation; 0 on the CPU.
    arch = __ptx_arch() -> u32 => {
        cpu::thread();
        0
    };
    /// Knowledge, and no instruction: the launch has one dimension, and fewer than 2^32 threads.
    dimensions_1 = __ptx_dimensions_1() -> () => ();
    /// Knowledge: the launch has at most two dimensions, and fewer than 2^32 threads in the first.
    dimensions_2 = __ptx_dimensions_2() -> () => ();
    /// Knowledge: the launch has fewer than 2^32 threads in the first dimension.
    dimensions_3 = __ptx_dimensions_3() -> () => ();
    /// `barrier.sync 0`
    barrier_sync = __ptx_barrier_sync() -> () => cpu::barrier(0);
    /// `barrier.sync.aligned 0`
    barrier_sync_aligned = __ptx_barrier_sync_aligned() -> () => cpu::barrier(0);
    /// `barrier.sync`, of all threads of the block
    barrier_numbered = __ptx_barrier_numbered(number: u32) -> () => cpu::barrier(number);
    /// `barrier.red.popc 0`
    barrier_count = __ptx_barrier_count(condition: bool) -> u32 => cpu::count(condition).1;
    /// `barrier.red.and 0`
    barrier_and = __ptx_barrier_and(condition: bool) -> bool => {
        let (all, held) = cpu::count(condition);
        all == held
    };
    /// `barrier.red.or 0`
    barrier_or = __ptx_barrier_or(condition: bool) -> bool => cpu::count(condition).1 > 0;
    /// `barrier.sync`
    barrier_named = __ptx_barrier_named(number: u32, threads: u32) -> () => _ = cpu::meet_some(number, threads, false);
    /// `barrier.arrive`
    barrier_named_arrive = __ptx_barrier_named_arrive(number: u32, threads: u32) -> () => {
        _ = cpu::arrive_at(number, threads, false);
    };
    /// `barrier.red.popc`, of some threads
    barrier_named_count = __ptx_barrier_named_count(number: u32, threads: u32, condition: bool) -> u32 => {
        cpu::meet_some(number, threads, condition)
    };
    /// `barrier.red.and`
    barrier_named_and = __ptx_barrier_named_and(number: u32, threads: u32, condition: bool) -> bool => {
        cpu::meet_some(number, threads, condition) == threads
    };
    /// `barrier.red.or`
    barrier_named_or = __ptx_barrier_named_or(number: u32, threads: u32, condition: bool) -> bool => {
        cpu::meet_some(number, threads, condition) > 0
    };
    /// `bar.warp.sync`
    warp_sync = __ptx_warp_sync(mask: u32) -> () => _ = cpu::exchange(mask, 0);
    /// `%clusterid.x`
    clusterid_x = __ptx_clusterid_x() -> u32 => cpu::thread().block.x;
    /// `%clusterid.y`
    clusterid_y = __ptx_clusterid_y() -> u32 => cpu::thread().block.y;
    /// `%clusterid.z`
    clusterid_z = __ptx_clusterid_z() -> u32 => cpu::thread().block.z;
    /// `%nclusterid.x`
    nclusterid_x = __ptx_nclusterid_x() -> u32 => cpu::thread().blocks.x;
    /// `%nclusterid.y`
    nclusterid_y = __ptx_nclusterid_y() -> u32 => cpu::thread().blocks.y;
    /// `%nclusterid.z`
    nclusterid_z = __ptx_nclusterid_z() -> u32 => cpu::thread().blocks.z;
    /// `%cluster_ctaid.x`
    cluster_ctaid_x = __ptx_cluster_ctaid_x() -> u32 => {
        cpu::thread();
        0
    };
    /// `%cluster_ctaid.y`
    cluster_ctaid_y = __ptx_cluster_ctaid_y() -> u32 => {
        cpu::thread();
        0
    };
    /// `%cluster_ctaid.z`
    cluster_ctaid_z = __ptx_cluster_ctaid_z() -> u32 => {
        cpu::thread();
        0
    };
    /// `%cluster_nctaid.x`
    cluster_nctaid_x = __ptx_cluster_nctaid_x() -> u32 => {
        cpu::thread();
        1
    };
    /// `%cluster_nctaid.y`
    cluster_nctaid_y = __ptx_cluster_nctaid_y() -> u32 => {
        cpu::thread();
        1
    };
    /// `%cluster_nctaid.z`
    cluster_nctaid_z = __ptx_cluster_nctaid_z() -> u32 => {
        cpu::thread();
        1
    };
    /// `%cluster_ctarank`
    cluster_ctarank = __ptx_cluster_ctarank() -> u32 => {
        cpu::thread();
        0
    };
    /// `%cluster_nctarank`
    cluster_nctarank = __ptx_cluster_nctarank() -> u32 => {
        cpu::thread();
        1
    };
    /// `barrier.cluster.arrive`
    cluster_arrive = __ptx_cluster_arrive() -> () => _ = cpu::thread();
    /// `barrier.cluster.arrive.relaxed`
    cluster_arrive_relaxed = __ptx_cluster_arrive_relaxed() -> () => _ = cpu::thread();
    /// `barrier.cluster.wait`
    cluster_wait = __ptx_cluster_wait() -> () => cpu::barrier(0);
    /// `%smid`
    smid = __ptx_smid() -> u32 => {
        cpu::thread();
        0
    };
    /// `%nsmid`
    nsmid = __ptx_nsmid() -> u32 => {
        cpu::thread();
        1
    };
    /// `%warpid`
    warpid = __ptx_warpid() -> u32 => cpu::warp_number();
    /// `nanosleep`
    nanosleep = __ptx_nanosleep(nanoseconds: u32) -> () => {
        _ = nanoseconds;
        cpu::turn();
    };
    /// `brkpt`
    brkpt = __ptx_brkpt() -> () => _ = cpu::thread();
    /// `griddepcontrol.wait`
    griddepcontrol_wait = __ptx_griddepcontrol_wait() -> () => _ = cpu::thread();
    /// `griddepcontrol.launch_dependents`
    griddepcontrol_launch_dependents = __ptx_griddepcontrol_launch_dependents() -> () => _ = cpu::thread();
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

/// The block's dynamic shared memory, aligned to 128 bytes.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub(crate) fn dynamic_shared() -> *mut u8 {
    #[cfg(target_arch = "nvptx64")]
    {
        unsafe extern "C" {
            // `ptx_abi::DYNAMIC_SHARED`
            static __ptx_dynamic_shared: [u128; 0];
        }
        (&raw const __ptx_dynamic_shared).cast_mut().cast()
    }
    #[cfg(not(target_arch = "nvptx64"))]
    cpu::dynamic_shared()
}

/// `exit`: ends the thread, and does not return.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub(crate) fn exit() -> ! {
    #[cfg(target_arch = "nvptx64")]
    {
        unsafe extern "C" {
            safe fn __ptx_exit();
        }
        __ptx_exit();
        // The compiler knows nothing of `exit`; this says that control ends here.
        loop {}
    }
    #[cfg(not(target_arch = "nvptx64"))]
    cpu::exit()
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
