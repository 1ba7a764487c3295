//! Loads and stores that say what caches do, prefetches, address spaces, and copies in the background.
//!
//! A value has 1, 2, 4, 8 or 16 bytes, so that one instruction moves it: numbers, and vectors such as
//! [`Float4`](crate::vec::Float4). Pointers are generic, as Rust's are, but for those below; "global" below says that they must point to
//! global memory, such as slices that are a kernel's parameters.
//!
//! | load | CUDA | PTX |
//! |---|---|---|
//! | [`load_nc`] | `__ldg` | `ld.global.nc`: what no thread changes while the kernel runs |
//! | [`load_ca`] | `__ldca` | `ld.global.ca`: cached in L1 and L2 |
//! | [`load_cg`] | `__ldcg` | `ld.global.cg`: in L2 alone |
//! | [`load_cs`] | `__ldcs` | `ld.global.cs`: used once |
//! | [`load_lu`] | `__ldlu` | `ld.global.lu`: used for the last time |
//! | [`load_cv`] | `__ldcv` | `ld.global.cv`: fetched again |
//! | [`load_l1_evict_first`], `…_last`, [`load_l1_no_allocate`] | inline PTX | `ld.global.L1::evict_first`, … |
//!
//! | store | CUDA | PTX |
//! |---|---|---|
//! | [`store_wb`] | `__stwb` | `st.global.wb`: written back to memory when L2 likes |
//! | [`store_cg`] | `__stcg` | `st.global.cg`: cached in L2 |
//! | [`store_cs`] | `__stcs` | `st.global.cs`: used once |
//! | [`store_wt`] | `__stwt` | `st.global.wt`: through L2 to the system's memory |
//!
//! | in the background | CUDA | PTX |
//! |---|---|---|
//! | [`copy_async`], [`copy_async_commit`], [`copy_async_wait`] | `__pipeline_memcpy_async`, … | `cp.async`, from sm_80 |
//! | [`CopyPipeline`] | `cuda::pipeline` of `thread_scope_thread` | the same, by stages |
//! | [`copy_async_part`], [`copy_async_if`] | `__pipeline_memcpy_async` with `zfill` | `cp.async` with a size of the source |
//!
//! | policy | CUDA | PTX |
//! |---|---|---|
//! | [`CachePolicy::fraction`] | `cuda::access_property` | `createpolicy.fractional`, from sm_80 |
//! | [`CachePolicy::range`] | `cuda::access_property` of a range | `createpolicy.range`, from sm_80 |
//! | [`CachePolicy::of_property`] | `cuda::access_property` | `createpolicy.cvt.L2`, from sm_80 |
//! | [`load_with`], [`store_with`], [`copy_async_with`] | `cuda::annotated_ptr` | `ld.global.L2::cache_hint`, …, from sm_80 |
//!
//! | of 32 bytes | CUDA | PTX |
//! |---|---|---|
//! | [`load_wide`], [`load_wide_nc`], [`store_wide`] | types such as `double4_32a` | `ld.global.v4.b64`, …, from sm_100 |
//!
//! | pointer | CUDA | PTX |
//! |---|---|---|
//! | [`GlobalPtr`], [`SharedPtr`], [`LocalPtr`], [`ConstantPtr`] | none: nvcc infers spaces | `ld.global`, `st.shared`, `cvta`, … |
//!
//! They are hints: they change no result, but for `load_nc` of what a thread does change. On the host they are plain
//! loads and stores, and hints do nothing.

mod copies;
mod known;
mod pipeline;
mod policy;
mod spaces;
mod wide;
#[cfg(target_arch = "nvptx64")]
mod word;

pub use self::copies::{
    copy_async, copy_async_commit, copy_async_if, copy_async_part, copy_async_wait, copy_async_with,
};
pub use self::known::{ConstantPtr, GlobalPtr, LocalPtr, SharedPtr, SpacePtr, space};
pub use self::pipeline::CopyPipeline;
pub use self::policy::{CachePolicy, Evict, Rest, load_with, store_with};
pub use self::spaces::{is_constant, is_global, is_local, is_shared, to_constant, to_global, to_local, to_shared};
pub use self::wide::{load_wide, load_wide_nc, store_wide};
#[cfg(target_arch = "nvptx64")]
pub(crate) use self::word::{has_word, load, store};

macro_rules! loads {
    ($($(#[$doc:meta])* $name:ident = $kind:literal $instruction:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// `from` must point to a value in global memory, aligned to its size, that nobody writes at the same time.
        #[must_use]
        #[inline(always)]
        pub unsafe fn $name<T: Copy>(from: *const T) -> T {
            #[cfg(target_arch = "nvptx64")]
            {
                let from = from.cast::<u8>();
                load!($kind "l", $instruction, from => *const u8)
            }
            #[cfg(not(target_arch = "nvptx64"))]
            // SAFETY: the caller's promise.
            unsafe {
                from.read()
            }
        }
    )*};
}

loads! {
    /// Loads through the cache of read-only data. CUDA: `__ldg`; PTX: `ld.global.nc`. No thread may write the memory
    /// while the kernel runs. Loads of `&[T]` parameters become this by themselves.
    load_nc = "p" "ld.global.nc";
    /// Loads and caches in L1 and L2, as plain loads do. CUDA: `__ldca`; PTX: `ld.global.ca`.
    load_ca = "v" "ld.global.ca";
    /// Loads and caches in L2, not in L1. CUDA: `__ldcg`; PTX: `ld.global.cg`.
    load_cg = "v" "ld.global.cg";
    /// Loads what is likely used once. CUDA: `__ldcs`; PTX: `ld.global.cs`.
    load_cs = "v" "ld.global.cs";
    /// Loads what is used for the last time. CUDA: `__ldlu`; PTX: `ld.global.lu`.
    load_lu = "v" "ld.global.lu";
    /// Loads from memory again, whatever caches have. CUDA: `__ldcv`; PTX: `ld.global.cv`.
    load_cv = "v" "ld.global.cv";
    /// Loads what L1 shall give up first. PTX: `ld.global.L1::evict_first`, PTX ISA 7.4.
    load_l1_evict_first = "v/70/7.4" "ld.global.L1::evict_first";
    /// Loads what L1 shall keep longest. PTX: `ld.global.L1::evict_last`, PTX ISA 7.4.
    load_l1_evict_last = "v/70/7.4" "ld.global.L1::evict_last";
    /// Loads without a place in L1. PTX: `ld.global.L1::no_allocate`, PTX ISA 7.4.
    load_l1_no_allocate = "v/70/7.4" "ld.global.L1::no_allocate";
    /// Loads, and has L2 fetch the 64 bytes around. PTX: `ld.global.L2::64B`, PTX ISA 7.4, from sm_75.
    load_l2_64 = "v/75/7.4" "ld.global.L2::64B";
    /// Loads, and has L2 fetch the 128 bytes around. PTX: `ld.global.L2::128B`, PTX ISA 7.4, from sm_75.
    load_l2_128 = "v/75/7.4" "ld.global.L2::128B";
    /// Loads, and has L2 fetch the 256 bytes around. PTX: `ld.global.L2::256B`, PTX ISA 7.4, from sm_80.
    load_l2_256 = "v/80/7.4" "ld.global.L2::256B";
}

macro_rules! stores {
    ($($(#[$doc:meta])* $name:ident = $kind:literal $instruction:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// `to` must point to global memory for a value, aligned to its size, that nobody reads or writes at the same time.
        #[inline(always)]
        pub unsafe fn $name<T: Copy>(to: *mut T, value: T) {
            #[cfg(target_arch = "nvptx64")]
            {
                let to = to.cast::<u8>();
                store!($kind "l", $instruction, to => *mut u8, value);
            }
            #[cfg(not(target_arch = "nvptx64"))]
            // SAFETY: the caller's promise.
            unsafe {
                to.write(value);
            }
        }
    )*};
}

stores! {
    /// Stores as plain stores do: L2 writes back. CUDA: `__stwb`; PTX: `st.global.wb`.
    store_wb = "v" "st.global.wb";
    /// Stores and caches in L2, not in L1. CUDA: `__stcg`; PTX: `st.global.cg`.
    store_cg = "v" "st.global.cg";
    /// Stores what is likely used once. CUDA: `__stcs`; PTX: `st.global.cs`.
    store_cs = "v" "st.global.cs";
    /// Stores through L2 to the system's memory. CUDA: `__stwt`; PTX: `st.global.wt`.
    store_wt = "v" "st.global.wt";
    /// Stores what L1 shall give up first. PTX: `st.global.L1::evict_first`, PTX ISA 7.4.
    store_l1_evict_first = "v/70/7.4" "st.global.L1::evict_first";
    /// Stores what L1 shall keep longest. PTX: `st.global.L1::evict_last`, PTX ISA 7.4.
    store_l1_evict_last = "v/70/7.4" "st.global.L1::evict_last";
    /// Stores without a place in L1. PTX: `st.global.L1::no_allocate`, PTX ISA 7.4.
    store_l1_no_allocate = "v/70/7.4" "st.global.L1::no_allocate";
}

macro_rules! hints {
    ($($(#[$doc:meta])* $name:ident = $symbol:literal;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub unsafe fn $name<T>(at: *const T) {
            #[cfg(target_arch = "nvptx64")]
            // SAFETY: the caller's promise.
            unsafe {
                assembly!($symbol; (at.cast() => *const u8));
            }
            #[cfg(not(target_arch = "nvptx64"))]
            let _ = at;
        }
    )*};
}

hints! {
    /// Has L1 fetch the line at `at`. PTX: `prefetch.global.L1`.
    ///
    /// # Safety
    /// `at` must be an address in global memory.
    prefetch_l1 = "__ptx_asm:v::l:prefetch.global.L1 [$0];";
    /// Has L2 fetch the line at `at`. PTX: `prefetch.global.L2`.
    ///
    /// # Safety
    /// `at` must be an address in global memory.
    prefetch_l2 = "__ptx_asm:v::l:prefetch.global.L2 [$0];";
    /// The same, and L2 shall keep it longest. PTX: `prefetch.global.L2::evict_last`, PTX ISA 7.4, from sm_80.
    ///
    /// # Safety
    /// `at` must be an address in global memory.
    prefetch_l2_evict_last = "__ptx_asm:v/80/7.4::l:prefetch.global.L2::evict_last [$0];";
    /// The same, and L2 shall keep it as long as others. PTX: `prefetch.global.L2::evict_normal`, PTX ISA 7.4, from sm_80.
    ///
    /// # Safety
    /// `at` must be an address in global memory.
    prefetch_l2_evict_normal = "__ptx_asm:v/80/7.4::l:prefetch.global.L2::evict_normal [$0];";
    /// Lets L2 forget 128 bytes without writing them back. PTX: `discard.global.L2`, PTX ISA 7.4, from sm_80.
    ///
    /// # Safety
    /// `at` must point to 128 bytes of global memory, aligned to 128, whose contents nobody reads before they are written
    /// again: afterwards they are arbitrary.
    discard_l2 = "__ptx_asm:v/80/7.4::l:discard.global.L2 [$0], 128;";
    /// Takes back that L2 shall keep 128 bytes longest. PTX: `applypriority.global.L2::evict_normal`, PTX ISA 7.4, from
    /// sm_80.
    ///
    /// # Safety
    /// `at` must point to 128 bytes of global memory, aligned to 128.
    apply_priority_normal = "__ptx_asm:v/80/7.4::l:applypriority.global.L2::evict_normal [$0], 128;";
}
