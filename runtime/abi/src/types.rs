//! The traits that say which Rust types cross the boundary, and how.

use crate::descriptor::{Access, Class, Type};

/// A type with a defined device layout: it may be passed by value, and stand in memory that both sides read.
///
/// Derive it with `#[derive(ptx::AbiType)]` on a `#[repr(C)]` or `#[repr(transparent)]` type.
///
/// # Safety
/// `TYPE` must say the type's real class, size and alignment; the layout must not depend on the target.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no defined device layout",
    label = "this type's layout is not fixed",
    note = "put `#[derive(Clone, Copy, ptx::AbiType)]` and `#[repr(C)]` on a struct or union of your own"
)]
pub unsafe trait AbiType: Copy + 'static {
    /// Class, size and alignment.
    const TYPE: Type;
}

/// A type that a kernel's parameter may have.
///
/// # Safety
/// `TYPE` must describe what the host passes, and `Raw` must be laid out so: a scalar or aggregate as itself, a
/// slice as pointer then length.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a kernel parameter",
    label = "this type has no defined layout at the kernel boundary",
    note = "kernels take scalars, raw pointers, `&T`, `&[T]`, `DisjointSlice<T>`, and types that derive `ptx::AbiType`"
)]
pub unsafe trait KernelParam {
    /// What the entry point hands to the shim.
    type Raw: Copy;
    /// Class, size, alignment and pointee.
    const TYPE: Type;

    /// The parameter as the kernel's author sees it.
    ///
    /// # Safety
    /// `raw` must be what the host passed for this parameter, in a kernel that has it.
    unsafe fn from_raw(raw: Self::Raw) -> Self;
}

/// A shared slice at the boundary.
#[derive(Debug)]
#[repr(C)]
pub struct RawSlice<T> {
    /// First element.
    pub ptr: *const T,
    /// Number of elements.
    pub len: usize,
}

/// An exclusive slice at the boundary.
#[derive(Debug)]
#[repr(C)]
pub struct RawSliceMut<T> {
    /// First element.
    pub ptr: *mut T,
    /// Number of elements.
    pub len: usize,
}

impl<T> Clone for RawSlice<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for RawSlice<T> {}
impl<T> Clone for RawSliceMut<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for RawSliceMut<T> {}

macro_rules! by_value {
    ($($class:ident: $($ty:ty),*;)*) => {$($(
        // SAFETY: primitive types have one layout on both sides (guide §1.1).
        unsafe impl AbiType for $ty {
            const TYPE: Type = Type::scalar::<$ty>(Class::$class);
        }
        // SAFETY: passed as itself.
        unsafe impl KernelParam for $ty {
            type Raw = $ty;
            const TYPE: Type = <$ty as AbiType>::TYPE;
            #[inline(always)]
            unsafe fn from_raw(raw: Self::Raw) -> Self {
                raw
            }
        }
    )*)*};
}

by_value! {
    Unsigned: u8, u16, u32, u64, usize, bool, char;
    Signed: i8, i16, i32, i64, isize;
    Float: f32, f64;
    Aggregate: u128, i128;
}

// SAFETY: an array is its elements in a row (guide §1.2).
unsafe impl<T: AbiType, const N: usize> AbiType for [T; N] {
    const TYPE: Type = Type::aggregate::<[T; N]>();
}
// SAFETY: passed as itself.
unsafe impl<T: AbiType, const N: usize> KernelParam for [T; N] {
    type Raw = Self;
    const TYPE: Type = <Self as AbiType>::TYPE;
    #[inline(always)]
    unsafe fn from_raw(raw: Self::Raw) -> Self {
        raw
    }
}

macro_rules! pointer {
    ($($qualifier:tt)*) => {
        // SAFETY: a thin pointer is a 64-bit generic address.
        unsafe impl<T: 'static> AbiType for *$($qualifier)* T {
            const TYPE: Type = Type::pointer::<T>(Access::Raw);
        }
        // SAFETY: passed as itself.
        unsafe impl<T: 'static> KernelParam for *$($qualifier)* T {
            type Raw = *$($qualifier)* T;
            const TYPE: Type = <Self as AbiType>::TYPE;
            #[inline(always)]
            unsafe fn from_raw(raw: Self::Raw) -> Self {
                raw
            }
        }
    };
}
pointer!(const);
pointer!(mut);

// SAFETY: a reference is a pointer to a live, unchanging value: `AbiType` is `Copy`, which rules out cells.
unsafe impl<T: AbiType> KernelParam for &T {
    type Raw = *const T;
    const TYPE: Type = Type::pointer::<T>(Access::Shared);
    #[inline(always)]
    unsafe fn from_raw(raw: Self::Raw) -> Self {
        // SAFETY: the caller passes on what the host gave for a reference.
        unsafe { &*raw }
    }
}

// SAFETY: pointer, then length.
unsafe impl<T: AbiType> KernelParam for &[T] {
    type Raw = RawSlice<T>;
    const TYPE: Type = Type::slice::<T>(Access::Shared);
    #[inline(always)]
    unsafe fn from_raw(raw: Self::Raw) -> Self {
        // SAFETY: the caller passes on what the host gave for a slice.
        unsafe { core::slice::from_raw_parts(raw.ptr, raw.len) }
    }
}
