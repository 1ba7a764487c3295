//! What L2 does with what a load or a store brings there, as a value (PTX ISA, "Data Movement and Conversion Instructions:
//! createpolicy").

#[cfg(target_arch = "nvptx64")]
use core::mem::MaybeUninit;

#[cfg(target_arch = "nvptx64")]
use super::word::{load, store};

/// A policy for L2: 64 bits that [`load_with`] and its kin take. It is made in the kernel, from sm_80.
///
/// ```
/// use ptx::memory::{self, CachePolicy, Evict, Rest};
/// use ptx::prelude::*;
///
/// /// Sums by a table, of which L2 keeps half for the next launch.
/// #[kernel]
/// pub fn look_up(table: &[f32], at: &[u32], mut out: DisjointSlice<f32>) {
///     let keep = CachePolicy::fraction(Evict::Last, Rest::Unchanged, 0.5);
///     let i = thread::index_1d();
///     if let (Some(out), Some(at)) = (out.get_mut(i), at.get(i.get())) {
///         if let Some(entry) = table.get(*at as usize) {
///             // SAFETY: a slice that is a kernel's parameter lies in global memory.
///             *out = unsafe { memory::load_with(entry, keep) };
///         }
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CachePolicy(u64);

/// What L2 does with the chosen part: its primary priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evict {
    /// `L2::evict_last`: keeps it longest.
    Last,
    /// `L2::evict_normal`: as everything.
    Normal,
    /// `L2::evict_first`: gives it up first.
    First,
    /// `L2::evict_unchanged`: leaves it as it was.
    Unchanged,
}

/// What L2 does with the rest: its secondary priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// `L2::evict_unchanged`: leaves it as it was, which is the default.
    Unchanged,
    /// `L2::evict_first`: gives it up first.
    First,
}

/// One instruction of each pair of priorities.
#[cfg(target_arch = "nvptx64")]
macro_rules! by_priorities {
    ($evict:expr, $rest:expr, $one:ident) => {
        match ($evict, $rest) {
            (Evict::Last, Rest::Unchanged) => $one!("L2::evict_last.L2::evict_unchanged"),
            (Evict::Last, Rest::First) => $one!("L2::evict_last.L2::evict_first"),
            (Evict::Normal, Rest::Unchanged) => $one!("L2::evict_normal.L2::evict_unchanged"),
            (Evict::Normal, Rest::First) => $one!("L2::evict_normal.L2::evict_first"),
            (Evict::First, Rest::Unchanged) => $one!("L2::evict_first.L2::evict_unchanged"),
            (Evict::First, Rest::First) => $one!("L2::evict_first.L2::evict_first"),
            (Evict::Unchanged, Rest::Unchanged) => $one!("L2::evict_unchanged.L2::evict_unchanged"),
            (Evict::Unchanged, Rest::First) => $one!("L2::evict_unchanged.L2::evict_first"),
        }
    };
}

impl CachePolicy {
    /// `evict` for a part of the addresses, and `rest` for the others; which ones the GPU chooses. CUDA:
    /// `cuda::access_property`; PTX: `createpolicy.fractional`, PTX ISA 7.4, from sm_80.
    ///
    /// # Panics
    /// If `fraction` is not above 0 and at most 1.
    #[inline(always)]
    #[must_use]
    #[track_caller]
    pub fn fraction(evict: Evict, rest: Rest, fraction: f32) -> Self {
        assert!(fraction > 0.0 && fraction <= 1.0, "a policy is for a part above 0, and at most 1, of the addresses");
        #[cfg(target_arch = "nvptx64")]
        {
            let mut policy = MaybeUninit::<u64>::uninit();
            macro_rules! one {
                ($priorities:literal) => {
                    assembly!(
                        concat!("__ptx_asm:p/80/7.4:=l:f:createpolicy.fractional.", $priorities, ".b64 $0, $1;");
                        (fraction => f32, policy.as_mut_ptr() => *mut u64)
                    )
                };
            }
            // SAFETY: it computes.
            unsafe {
                by_priorities!(evict, rest, one);
                Self(policy.assume_init())
            }
        }
        #[cfg(not(target_arch = "nvptx64"))]
        {
            _ = (evict, rest);
            Self(0)
        }
    }

    /// `evict` for the `primary` bytes from `base` on, and `rest` for the others of `total` bytes; addresses outside of
    /// these are as everything. CUDA: `cuda::access_property` of a range; PTX: `createpolicy.range.global`, PTX ISA 7.4,
    /// from sm_80.
    ///
    /// # Safety
    /// `base` must be an address in global memory.
    ///
    /// # Panics
    /// If `primary` is 0 or more than `total`.
    #[inline(always)]
    #[must_use]
    #[track_caller]
    pub unsafe fn range<T>(evict: Evict, rest: Rest, base: *const T, primary: u32, total: u32) -> Self {
        assert!(primary > 0 && primary <= total, "a policy's primary bytes are at least 1, and some of all");
        #[cfg(target_arch = "nvptx64")]
        {
            let mut policy = MaybeUninit::<u64>::uninit();
            macro_rules! one {
                ($priorities:literal) => {
                    assembly!(
                        concat!("__ptx_asm:p/80/7.4:=l:l,r,r:createpolicy.range.global.", $priorities, ".b64 $0, [$1], $2, $3;");
                        (base.cast() => *const u8, primary => u32, total => u32, policy.as_mut_ptr() => *mut u64)
                    )
                };
            }
            // SAFETY: it computes of an address that the caller promises to be global.
            unsafe {
                by_priorities!(evict, rest, one);
                Self(policy.assume_init())
            }
        }
        #[cfg(not(target_arch = "nvptx64"))]
        {
            _ = (evict, rest, base);
            Self(0)
        }
    }

    /// The policy of an access property of CUDA C++: 64 bits that are `cuda::access_property`'s. PTX:
    /// `createpolicy.cvt.L2`, PTX ISA 7.4, from sm_80.
    ///
    /// # Safety
    /// The bits must be such a property's.
    #[inline(always)]
    #[must_use]
    pub unsafe fn of_property(property: u64) -> Self {
        #[cfg(target_arch = "nvptx64")]
        // SAFETY: the caller's promise.
        unsafe {
            let mut policy = MaybeUninit::<u64>::uninit();
            assembly!(
                "__ptx_asm:p/80/7.4:=l:l:createpolicy.cvt.L2.b64 $0, $1;";
                (property => u64, policy.as_mut_ptr() => *mut u64)
            );
            Self(policy.assume_init())
        }
        #[cfg(not(target_arch = "nvptx64"))]
        Self(property)
    }

    /// As instructions take it.
    #[inline(always)]
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }
}

/// Loads by a policy. CUDA: `cuda::annotated_ptr`; PTX: `ld.global.L2::cache_hint`, PTX ISA 7.4, from sm_80.
///
/// # Safety
/// `from` must point to a value in global memory, aligned to its size, that nobody writes at the same time.
#[must_use]
#[inline(always)]
pub unsafe fn load_with<T: Copy>(from: *const T, policy: CachePolicy) -> T {
    #[cfg(target_arch = "nvptx64")]
    {
        let (from, policy) = (from.cast::<u8>(), policy.0);
        load!("v/80/7.4" "l", "ld.global.L2::cache_hint", from => *const u8, policy)
    }
    #[cfg(not(target_arch = "nvptx64"))]
    // SAFETY: the caller's promise.
    unsafe {
        _ = policy;
        from.read()
    }
}

/// Stores by a policy. CUDA: `cuda::annotated_ptr`; PTX: `st.global.L2::cache_hint`, PTX ISA 7.4, from sm_80.
///
/// # Safety
/// `to` must point to global memory for a value, aligned to its size, that nobody reads or writes at the same time.
#[inline(always)]
pub unsafe fn store_with<T: Copy>(to: *mut T, value: T, policy: CachePolicy) {
    #[cfg(target_arch = "nvptx64")]
    {
        let (to, policy) = (to.cast::<u8>(), policy.0);
        store!("v/80/7.4" "l", "st.global.L2::cache_hint", to => *mut u8, value, policy);
    }
    #[cfg(not(target_arch = "nvptx64"))]
    // SAFETY: the caller's promise.
    unsafe {
        _ = policy;
        to.write(value);
    }
}
