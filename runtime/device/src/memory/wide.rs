//! Vectors of 32 bytes, which one instruction moves from sm_100 on (PTX ISA, "Data Movement and Conversion Instructions: ld",
//! PTX ISA 8.8). Plain loads and stores of such types take two instructions of 16 bytes.

#[cfg(target_arch = "nvptx64")]
use core::mem::{MaybeUninit, transmute_copy};

macro_rules! loads {
    ($($(#[$doc:meta])* $name:ident = $symbol:literal;)*) => {$(
        $(#[$doc])*
        #[must_use]
        #[inline(always)]
        pub unsafe fn $name<T: Copy>(from: *const T) -> T {
            const { assert!(size_of::<T>() == 32, "a value has 32 bytes here") };
            #[cfg(target_arch = "nvptx64")]
            // SAFETY: the caller's promise; the bytes are those of a `T`.
            unsafe {
                let mut words = [const { MaybeUninit::<u64>::uninit() }; 4];
                let [a, b, c, d] = words.each_mut().map(MaybeUninit::as_mut_ptr);
                assembly!(
                    $symbol;
                    (from.cast() => *const u8, a => *mut u64, b => *mut u64, c => *mut u64, d => *mut u64)
                );
                transmute_copy(&words)
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
    /// Loads 32 bytes. CUDA: a load of `double4_32a`; PTX: `ld.global.v4.b64`, PTX ISA 8.8, from sm_100.
    ///
    /// # Safety
    /// `from` must point to a value in global memory, aligned to 32 bytes, that nobody writes at the same time.
    load_wide = "__ptx_asm:v/100/8.8:=l,=l,=l,=l:l:ld.global.v4.b64 {$0, $1, $2, $3}, [$4];";
    /// Loads 32 bytes through the cache of read-only data. CUDA: `__ldg` of `double4_32a`; PTX: `ld.global.nc.v4.b64`, PTX ISA
    /// 8.8, from sm_100.
    ///
    /// # Safety
    /// As for [`load_wide`]; no thread may write the memory while the kernel runs.
    load_wide_nc = "__ptx_asm:p/100/8.8:=l,=l,=l,=l:l:ld.global.nc.v4.b64 {$0, $1, $2, $3}, [$4];";
}

/// Stores 32 bytes. CUDA: a store of `double4_32a`; PTX: `st.global.v4.b64`, PTX ISA 8.8, from sm_100.
///
/// # Safety
/// `to` must point to global memory for a value, aligned to 32 bytes, that nobody reads or writes at the same time.
#[inline(always)]
pub unsafe fn store_wide<T: Copy>(to: *mut T, value: T) {
    const { assert!(size_of::<T>() == 32, "a value has 32 bytes here") };
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: the caller's promise; the bytes are those of a `T`.
    unsafe {
        let [a, b, c, d] = transmute_copy::<T, [u64; 4]>(&value);
        assembly!(
            "__ptx_asm:v/100/8.8::l,l,l,l,l:st.global.v4.b64 [$0], {$1, $2, $3, $4};";
            (to.cast() => *mut u8, a => u64, b => u64, c => u64, d => u64)
        );
    }
    #[cfg(not(target_arch = "nvptx64"))]
    // SAFETY: the caller's promise.
    unsafe {
        to.write(value);
    }
}
