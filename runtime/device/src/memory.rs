//! Loads and stores that say what caches do, prefetches, address spaces, and copies in the background.
//!
//! A value has 1, 2, 4, 8 or 16 bytes, so that one instruction moves it: numbers, and vectors such as
//! [`Float4`](crate::vec::Float4). All pointers are generic, as Rust's are; "global" below says that they must point to
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
//! They are hints: they change no result, but for `load_nc` of what a thread does change. On the host they are plain
//! loads and stores, and hints do nothing.

#[cfg(target_arch = "nvptx64")]
use core::mem::{MaybeUninit, transmute_copy};

/// Whether one instruction moves a value.
#[cfg(target_arch = "nvptx64")]
const fn has_word<T>() -> bool {
    matches!(size_of::<T>(), 1 | 2 | 4 | 8 | 16)
}

#[cfg(target_arch = "nvptx64")]
macro_rules! load {
    ($kind:literal, $instruction:literal, $from:ident) => {{
        const { assert!(has_word::<T>(), "a value has 1, 2, 4, 8 or 16 bytes here") };
        macro_rules! word {
            ($word:ty, $class:literal, $ty:literal) => {{
                let mut word = MaybeUninit::<$word>::uninit();
                assembly!(
                    concat!("__ptx_asm:", $kind, ":=", $class, ":l:", $instruction, $ty, " $0, [$1];");
                    ($from.cast() => *const u8, word.as_mut_ptr() => *mut $word)
                );
                word.assume_init()
            }};
        }
        // SAFETY: the caller's promise; the bytes are those of a `T`.
        unsafe {
            match size_of::<T>() {
                1 => transmute_copy(&(word!(u16, "h", ".b8") as u8)),
                2 => transmute_copy(&word!(u16, "h", ".b16")),
                4 => transmute_copy(&word!(u32, "r", ".b32")),
                8 => transmute_copy(&word!(u64, "l", ".b64")),
                _ => {
                    let (mut low, mut high) = (MaybeUninit::<u64>::uninit(), MaybeUninit::<u64>::uninit());
                    assembly!(
                        concat!("__ptx_asm:", $kind, ":=l,=l:l:", $instruction, ".v2.b64 {$0, $1}, [$2];");
                        ($from.cast() => *const u8, low.as_mut_ptr() => *mut u64, high.as_mut_ptr() => *mut u64)
                    );
                    transmute_copy(&[low.assume_init(), high.assume_init()])
                }
            }
        }
    }};
}

#[cfg(target_arch = "nvptx64")]
macro_rules! store {
    ($kind:literal, $instruction:literal, $to:ident, $value:ident) => {{
        const { assert!(has_word::<T>(), "a value has 1, 2, 4, 8 or 16 bytes here") };
        macro_rules! word {
            ($value_of:ty, $word:ty, $class:literal, $ty:literal) => {
                assembly!(
                    concat!("__ptx_asm:", $kind, "::l,", $class, ":", $instruction, $ty, " [$0], $1;");
                    ($to.cast() => *mut u8, <$word>::from(transmute_copy::<T, $value_of>(&$value)) => $word)
                )
            };
        }
        // SAFETY: the caller's promise; the bytes are those of a `T`.
        unsafe {
            match size_of::<T>() {
                1 => word!(u8, u16, "h", ".b8"),
                2 => word!(u16, u16, "h", ".b16"),
                4 => word!(u32, u32, "r", ".b32"),
                8 => word!(u64, u64, "l", ".b64"),
                _ => {
                    let [low, high] = transmute_copy::<T, [u64; 2]>(&$value);
                    assembly!(
                        concat!("__ptx_asm:", $kind, "::l,l,l:", $instruction, ".v2.b64 [$0], {$1, $2};");
                        ($to.cast() => *mut u8, low => u64, high => u64)
                    )
                }
            }
        }
    }};
}

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
                load!($kind, $instruction, from)
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
                store!($kind, $instruction, to, value);
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

macro_rules! spaces {
    ($($(#[$doc:meta])* $name:ident = $symbol:literal, $host:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// On the host there are no address spaces: everything counts as global there.
        #[must_use]
        #[inline(always)]
        pub fn $name<T>(at: *const T) -> bool {
            #[cfg(target_arch = "nvptx64")]
            {
                unsafe extern "C" {
                    #[link_name = $symbol]
                    safe fn is(at: *const u8) -> bool;
                }
                is(at.cast())
            }
            #[cfg(not(target_arch = "nvptx64"))]
            {
                let _ = at;
                $host
            }
        }
    )*};
}

spaces! {
    /// Whether the address is in global memory. CUDA: `__isGlobal`; PTX: `isspacep.global`.
    is_global = "__ptx_isspacep_global", true;
    /// Whether it is in the block's shared memory. CUDA: `__isShared`; PTX: `isspacep.shared`.
    is_shared = "__ptx_isspacep_shared", false;
    /// Whether it is in the thread's own memory. CUDA: `__isLocal`; PTX: `isspacep.local`.
    is_local = "__ptx_isspacep_local", false;
    /// Whether it is in constant memory. CUDA: `__isConstant`; PTX: `isspacep.const`.
    is_constant = "__ptx_isspacep_const", false;
}

macro_rules! conversions {
    ($($(#[$doc:meta])* $name:ident = $symbol:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// On the host it is the address itself.
        ///
        /// # Safety
        /// The address must be in that space.
        #[must_use]
        #[inline(always)]
        pub unsafe fn $name<T>(at: *const T) -> usize {
            #[cfg(target_arch = "nvptx64")]
            // SAFETY: it computes; the caller's promise makes it an address of that space.
            unsafe {
                let mut offset = MaybeUninit::<usize>::uninit();
                assembly!($symbol; (at.cast() => *const u8, offset.as_mut_ptr() => *mut usize));
                offset.assume_init()
            }
            #[cfg(not(target_arch = "nvptx64"))]
            {
                at.addr()
            }
        }
    )*};
}

conversions! {
    /// The address in global memory. CUDA: `__cvta_generic_to_global`; PTX: `cvta.to.global`.
    to_global = "__ptx_asm:p:=l:l:cvta.to.global.u64 $0, $1;";
    /// The offset in the block's shared memory. CUDA: `__cvta_generic_to_shared`; PTX: `cvta.to.shared`.
    to_shared = "__ptx_asm:p:=l:l:cvta.to.shared.u64 $0, $1;";
    /// The offset in the thread's own memory. CUDA: `__cvta_generic_to_local`; PTX: `cvta.to.local`.
    to_local = "__ptx_asm:p:=l:l:cvta.to.local.u64 $0, $1;";
    /// The offset in constant memory. CUDA: `__cvta_generic_to_constant`; PTX: `cvta.to.const`.
    to_constant = "__ptx_asm:p:=l:l:cvta.to.const.u64 $0, $1;";
}

/// Begins to copy a value of 4, 8 or 16 bytes from global to shared memory, past the registers. It is there after
/// [`copy_async_wait`], for this thread; for others after a barrier behind that.
///
/// CUDA: `__pipeline_memcpy_async`. PTX: `cp.async.ca.shared.global`, of 16 bytes `cp.async.cg`, from sm_80.
///
/// # Safety
/// `from` must point to a value in global memory, and `to` to room for one in shared memory, both aligned to its size.
/// Until the wait nobody may write the one, or read or write the other.
#[inline(always)]
pub unsafe fn copy_async<T: Copy>(to: *mut T, from: *const T) {
    const { assert!(matches!(size_of::<T>(), 4 | 8 | 16), "a value has 4, 8 or 16 bytes here") };
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: the caller's promise.
    unsafe {
        let to = to_shared(to) as u32;
        let from = from.cast::<u8>();
        match size_of::<T>() {
            4 => {
                assembly!("__ptx_asm:v/80/7.0::r,l:cp.async.ca.shared.global [$0], [$1], 4;"; (to => u32, from => *const u8));
            }
            8 => {
                assembly!("__ptx_asm:v/80/7.0::r,l:cp.async.ca.shared.global [$0], [$1], 8;"; (to => u32, from => *const u8));
            }
            _ => {
                assembly!("__ptx_asm:v/80/7.0::r,l:cp.async.cg.shared.global [$0], [$1], 16;"; (to => u32, from => *const u8));
            }
        }
    }
    #[cfg(not(target_arch = "nvptx64"))]
    // SAFETY: the caller's promise.
    unsafe {
        to.write(from.read());
    }
}

/// Makes a group of all copies that this thread has begun since the last group.
///
/// CUDA: `__pipeline_commit`. PTX: `cp.async.commit_group`, from sm_80.
#[inline(always)]
pub fn copy_async_commit() {
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: it touches no memory.
    unsafe {
        assembly!("__ptx_asm:v/80/7.0:::cp.async.commit_group;"; ());
    }
}

/// Waits until at most `PENDING` of this thread's last groups of copies are under way; 7 at the most.
///
/// CUDA: `__pipeline_wait_prior(PENDING)`. PTX: `cp.async.wait_group`, from sm_80.
#[inline(always)]
pub fn copy_async_wait<const PENDING: u32>() {
    const { assert!(PENDING < 8, "at most 7 groups of copies may be under way") };
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: it waits for what `copy_async` has promised.
    unsafe {
        match PENDING {
            0 => assembly!("__ptx_asm:v/80/7.0:::cp.async.wait_group 0;"; ()),
            1 => assembly!("__ptx_asm:v/80/7.0:::cp.async.wait_group 1;"; ()),
            2 => assembly!("__ptx_asm:v/80/7.0:::cp.async.wait_group 2;"; ()),
            3 => assembly!("__ptx_asm:v/80/7.0:::cp.async.wait_group 3;"; ()),
            4 => assembly!("__ptx_asm:v/80/7.0:::cp.async.wait_group 4;"; ()),
            5 => assembly!("__ptx_asm:v/80/7.0:::cp.async.wait_group 5;"; ()),
            6 => assembly!("__ptx_asm:v/80/7.0:::cp.async.wait_group 6;"; ()),
            _ => assembly!("__ptx_asm:v/80/7.0:::cp.async.wait_group 7;"; ()),
        }
    }
}
