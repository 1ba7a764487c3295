//! C++ types for which Rust has no type of its own.
//!
//! Rust's `i64` is C++'s `long`, so `long long` needs a name; so do plain `char`, qualified pointers and the handles of
//! textures. All are `#[repr(transparent)]` and cross every boundary that what they hold crosses.
//!
//! | Rust | C++ |
//! |---|---|
//! | [`CChar`] | `char` (signed on the machines that CUDA runs on) |
//! | [`LongLong`], [`ULongLong`] | `long long`, `unsigned long long` |
//! | [`WChar`], [`Char8`], [`Char16`] | `wchar_t`, `char8_t`, `char16_t` (Rust's own `char` is `char32_t`) |
//! | [`Restrict<*mut T>`](Restrict) | `T* __restrict__` |
//! | `*mut` [`Volatile<T>`](Volatile) | `volatile T*` |
//! | [`TextureObject`], [`SurfaceObject`] | `cudaTextureObject_t`, `cudaSurfaceObject_t`: `unsigned long long` |
//! | [`SamplerObject`] | `unsigned long long` |
//!
//! CUDA's `__half2` and `__nv_bfloat162` have copy constructors, so nvcc passes them to device functions by address, as
//! the Itanium C++ ABI asks. No Rust type of four bytes corresponds to them there: pass `u32`, or a pointer.

use core::cell::UnsafeCell;
use core::fmt;
use core::ops::Deref;

use ptx_abi::cxx::{Builtin, Cxx, Definition};
use ptx_abi::{AbiType, CxxType, Type, abi_by_value, abi_passed_as_itself};

macro_rules! wrappers {
    ($($(#[$doc:meta])* $name:ident($inner:ident) = $class:ident $builtin:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(
            /// The value as the Rust type.
            pub $inner,
        );

        impl From<$inner> for $name {
            #[inline(always)]
            fn from(value: $inner) -> Self {
                Self(value)
            }
        }

        impl From<$name> for $inner {
            #[inline(always)]
            fn from(value: $name) -> Self {
                value.0
            }
        }

        impl Deref for $name {
            type Target = $inner;
            #[inline(always)]
            fn deref(&self) -> &$inner {
                &self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        abi_by_value!($name, $class, Cxx::Builtin(Builtin::$builtin), diagnostic::do_not_recommend);

        #[diagnostic::do_not_recommend]
        // SAFETY: an integer.
        unsafe impl ptx_abi::bits::Plain for $name {}

        #[cfg(not(target_arch = "nvptx64"))]
        // SAFETY: the layout is the device's.
        unsafe impl cudarc::driver::DeviceRepr for $name {}

        #[cfg(not(target_arch = "nvptx64"))]
        // SAFETY: zero is an integer.
        unsafe impl cudarc::driver::ValidAsZeroBits for $name {}
    )*};
}

wrappers! {
    /// C++'s `char`, a third type beside `signed char` and `unsigned char`.
    CChar(i8) = Signed Char;
    /// C++'s `long long`.
    LongLong(i64) = Signed LongLong;
    /// C++'s `unsigned long long`.
    ULongLong(u64) = Unsigned UnsignedLongLong;
    /// C++'s `wchar_t`.
    WChar(i32) = Signed WChar;
    /// C++'s `char8_t` (since C++20).
    Char8(u8) = Unsigned Char8;
    /// C++'s `char16_t`.
    Char16(u16) = Unsigned Char16;
    /// A texture's handle, `cudaTextureObject_t`; in PTX a `.b64` (guide §1.4 and §2.3, note E).
    TextureObject(u64) = Unsigned UnsignedLongLong;
    /// A surface's handle, `cudaSurfaceObject_t`; in PTX a `.b64` (guide §1.4 and §2.3, note E).
    SurfaceObject(u64) = Unsigned UnsignedLongLong;
    /// A sampler's handle; in PTX a `.b64` (guide §1.4 and §2.3, note E).
    SamplerObject(u64) = Unsigned UnsignedLongLong;
}

/// A pointer to memory that nothing else accesses: `T* __restrict__`.
///
/// As the type of a parameter it is the plain pointer; behind another pointer it is part of the mangled name. Rust's
/// optimiser learns nothing from it; `&mut T` says the same, and is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Restrict<P>(
    /// The plain pointer.
    pub P,
);

impl<P> From<P> for Restrict<P> {
    #[inline(always)]
    fn from(pointer: P) -> Self {
        Self(pointer)
    }
}

impl<P> Deref for Restrict<P> {
    type Target = P;
    #[inline(always)]
    fn deref(&self) -> &P {
        &self.0
    }
}

macro_rules! restrict {
    ($($pointer:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: CxxType + 'static> CxxType for Restrict<$pointer> {
            const CXX: Cxx<'static> = Cxx::Restrict(&<$pointer>::CXX);
            const DEFINITION: &'static Definition<'static> = T::DEFINITION;
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: as the pointer.
        unsafe impl<T: CxxType + 'static> AbiType for Restrict<$pointer> {
            const TYPE: Type = <$pointer as AbiType>::TYPE;
        }
        abi_passed_as_itself!([T: CxxType + 'static] Restrict<$pointer>, diagnostic::do_not_recommend);
        #[cfg(not(target_arch = "nvptx64"))]
        // SAFETY: an address.
        unsafe impl<T: CxxType + 'static> cudarc::driver::DeviceRepr for Restrict<$pointer> {}
    )*};
}
restrict!(*const T, *mut T);

/// The target of a C++ `volatile T*`: every access happens, in order, as it is written.
#[repr(transparent)]
pub struct Volatile<T>(UnsafeCell<T>);

impl<T> Volatile<T> {
    /// A volatile value that holds `value`.
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }
}

impl<T: Copy> Volatile<T> {
    /// Reads the value with `ld.volatile`.
    #[inline(always)]
    pub fn read(&self) -> T {
        // SAFETY: the reference says that there is a value.
        unsafe { self.0.get().read_volatile() }
    }

    /// Writes the value with `st.volatile`.
    ///
    /// # Safety
    /// No other thread may access the value at the same time, except by volatile accesses that are morally strong in
    /// the PTX memory model.
    #[inline(always)]
    pub unsafe fn write(&self, value: T) {
        // SAFETY: the caller's promise.
        unsafe { self.0.get().write_volatile(value) }
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for Volatile<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.read().fmt(f)
    }
}

#[diagnostic::do_not_recommend]
impl<T: CxxType + 'static> CxxType for Volatile<T> {
    const CXX: Cxx<'static> = Cxx::Volatile(&T::CXX);
    const DEFINITION: &'static Definition<'static> = T::DEFINITION;
}
