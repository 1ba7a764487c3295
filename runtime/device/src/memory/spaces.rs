//! Address spaces of pointers, and addresses within them (PTX ISA, "Data Movement and Conversion Instructions: isspacep",
//! "cvta").

#[cfg(target_arch = "nvptx64")]
use core::mem::MaybeUninit;

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
