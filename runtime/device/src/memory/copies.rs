//! Copies from global to shared memory in the background (PTX ISA, "Data Movement and Conversion Instructions: cp.async").

use super::policy::CachePolicy;
#[cfg(target_arch = "nvptx64")]
use super::spaces::to_shared;

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

/// The same for the first `bytes` of the value alone; the rest of its place becomes zeros, and nobody reads more of `from`.
///
/// CUDA: `__pipeline_memcpy_async` with `zfill`, which is the number of zeros. PTX: `cp.async` with a size of the source,
/// from sm_80.
///
/// # Safety
/// As for [`copy_async`], with so many bytes at `from`, at most a value's; of 0 bytes, `from` may be anywhere.
#[inline(always)]
pub unsafe fn copy_async_part<T: Copy>(to: *mut T, from: *const T, bytes: u32) {
    const { assert!(matches!(size_of::<T>(), 4 | 8 | 16), "a value has 4, 8 or 16 bytes here") };
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: the caller's promise.
    unsafe {
        let to = to_shared(to) as u32;
        let from = from.cast::<u8>();
        match size_of::<T>() {
            4 => assembly!(
                "__ptx_asm:v/80/7.0::r,l,r:cp.async.ca.shared.global [$0], [$1], 4, $2;";
                (to => u32, from => *const u8, bytes => u32)
            ),
            8 => assembly!(
                "__ptx_asm:v/80/7.0::r,l,r:cp.async.ca.shared.global [$0], [$1], 8, $2;";
                (to => u32, from => *const u8, bytes => u32)
            ),
            _ => assembly!(
                "__ptx_asm:v/80/7.0::r,l,r:cp.async.cg.shared.global [$0], [$1], 16, $2;";
                (to => u32, from => *const u8, bytes => u32)
            ),
        }
    }
    #[cfg(not(target_arch = "nvptx64"))]
    // SAFETY: the caller's promise.
    unsafe {
        to.write_bytes(0, 1);
        to.cast::<u8>().copy_from_nonoverlapping(from.cast(), bytes as usize);
    }
}

/// The same for the whole value or nothing of it: zeros where `condition` does not hold, as at the edge of an image.
///
/// CUDA: `__pipeline_memcpy_async` with `zfill`. PTX: `cp.async` with a size of the source, from sm_80.
///
/// # Safety
/// As for [`copy_async`]; where `condition` does not hold, `from` may be anywhere.
#[inline(always)]
pub unsafe fn copy_async_if<T: Copy>(to: *mut T, from: *const T, condition: bool) {
    // SAFETY: the caller's promise.
    unsafe { copy_async_part(to, from, if condition { size_of::<T>() as u32 } else { 0 }) };
}

/// [`copy_async`] of 16 bytes by a [`CachePolicy`]: PTX `cp.async.cg.shared.global.L2::cache_hint`, PTX ISA 7.4, from
/// sm_80. CUDA C++ has inline PTX.
///
/// # Safety
/// As for [`copy_async`].
#[inline(always)]
pub unsafe fn copy_async_with<T: Copy>(to: *mut T, from: *const T, policy: CachePolicy) {
    const { assert!(size_of::<T>() == 16, "a value has 16 bytes here") };
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: the caller's promise.
    unsafe {
        assembly!(
            "__ptx_asm:v/80/7.4::r,l,l:cp.async.cg.shared.global.L2::cache_hint [$0], [$1], 16, $2;";
            (to_shared(to) as u32 => u32, from.cast() => *const u8, policy.bits() => u64)
        );
    }
    #[cfg(not(target_arch = "nvptx64"))]
    // SAFETY: the caller's promise.
    unsafe {
        _ = policy;
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
