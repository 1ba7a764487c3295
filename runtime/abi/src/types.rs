//! The traits that say which Rust types cross the boundary, and how.

use crate::cxx::{Builtin, Cxx, Definition};
use crate::descriptor::{Access, Type};
use crate::encode;

/// A type that has a name in C++.
///
/// `#[derive(ptx::AbiType)]` implements it. `#[derive(ptx::CxxType)]` does for a type that is only pointed to, and
/// whose layout stays Rust's own business.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no name in C++",
    label = "this type cannot stand behind a pointer at the device boundary",
    note = "put `#[derive(ptx::CxxType)]` on a type of your own, or pass `*const core::ffi::c_void`"
)]
pub trait CxxType {
    /// The C++ type.
    const CXX: Cxx<'static>;
    /// What it holds, for the header.
    const DEFINITION: &'static Definition<'static> = &Definition::OPAQUE;
    /// What a member that points to it must know of it: only of an enum, which C++ declares with its integer type.
    #[doc(hidden)]
    const POINTED: &'static Definition<'static> = &Definition::OPAQUE;
}

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
pub unsafe trait AbiType: CxxType + Copy + 'static {
    /// Class, size and alignment.
    const TYPE: Type;
    /// What it holds by value: of pointers at most an enum, so that a type may point to itself.
    const HELD: &'static Definition<'static> = &Definition::OPAQUE;
    /// [`CxxType::CXX`], named through this trait so that a type that lacks both is one error.
    #[doc(hidden)]
    const NAME: Cxx<'static> = <Self as CxxType>::CXX;
    /// Evaluated for every field.
    #[doc(hidden)]
    const FIELD: () =
        assert!(size_of::<Self>() > 0, "a field of size 0 has no device layout: in C++ it would take one byte");
}

/// A type that a parameter of a kernel, or a parameter or result of a device function, may have.
///
/// # Safety
/// `TYPE` must describe what crosses the boundary, and `Raw` must be laid out so: a scalar or aggregate as itself, a
/// slice as pointer then length.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no place in the device ABI",
    label = "this type has no defined layout at the boundary",
    note = "kernels take scalars, raw pointers, `&T`, `&[T]`, `DisjointSlice<T>`, and types that derive `ptx::AbiType`; device functions take `&mut T` and `&mut [T]` too"
)]
pub unsafe trait DeviceParam {
    /// What the other side passes.
    type Raw: Copy;
    /// Class, size, alignment and pointee.
    const TYPE: Type;
    /// In C++; of a slice, its pointer.
    const CXX: Cxx<'static>;
    /// What the value, or what it points to, holds.
    const DEFINITION: &'static Definition<'static>;
    /// Whether a kernel may have it: all threads of the grid get the same.
    const IN_KERNELS: bool = true;
    /// The three constants above as a descriptor has them.
    #[doc(hidden)]
    const ENCODED: &'static [u8] = encode::of::<Self>();

    /// The parameter as the function's author sees it.
    ///
    /// # Safety
    /// `raw` must be what the caller passed for this parameter, in a function that has it.
    unsafe fn from_raw(raw: Self::Raw) -> Self;

    /// What the callee gets.
    fn into_raw(self) -> Self::Raw;

    /// [`DeviceParam::from_raw`] of what lies at a place. Its signature does not name `Raw`, so that rustc reports a
    /// wrong type once, and not again for the bound of the implementation that would have it.
    ///
    /// # Safety
    /// As for `from_raw`; a `Raw` must lie there.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn read(place: *const ()) -> Self
    where
        Self: Sized,
    {
        // SAFETY: the caller's promise.
        unsafe { Self::from_raw(place.cast::<Self::Raw>().read()) }
    }

    /// Puts [`DeviceParam::into_raw`] in a place; named for the same reason.
    ///
    /// # Safety
    /// A `Raw` must fit there.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn write(self, place: *mut ())
    where
        Self: Sized,
    {
        // SAFETY: the caller's promise.
        unsafe { place.cast::<Self::Raw>().write(self.into_raw()) }
    }
}

impl<T: DeviceParam + ?Sized> encode::Describe for T {
    const TYPE: Type = T::TYPE;
    const CXX: Cxx<'static> = T::CXX;
    const DEFINITION: &'static Definition<'static> = T::DEFINITION;
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

/// Implements the traits for a type that is passed as itself. The attribute goes to every impl:
/// `diagnostic::do_not_recommend` keeps a type out of rustc's lists of types that would do.
#[doc(hidden)]
#[macro_export]
macro_rules! abi_by_value {
    ($ty:ty, $class:ident, $cxx:expr $(, $attribute:meta)?) => {
        $(#[$attribute])?
        impl $crate::CxxType for $ty {
            const CXX: $crate::cxx::Cxx<'static> = $cxx;
        }
        $(#[$attribute])?
        // SAFETY: a type of one layout on both sides (guide §1.1, §1.2).
        unsafe impl $crate::AbiType for $ty {
            const TYPE: $crate::Type = $crate::Type::scalar::<$ty>($crate::Class::$class);
        }
        $crate::abi_passed_as_itself!([] $ty $(, $attribute)?);
    };
}

/// Implements [`DeviceParam`] for an [`AbiType`].
#[doc(hidden)]
#[macro_export]
macro_rules! abi_passed_as_itself {
    ([$($generics:tt)*] $ty:ty $(, $attribute:meta)?) => {
        $(#[$attribute])?
        // SAFETY: passed as itself.
        unsafe impl<$($generics)*> $crate::DeviceParam for $ty {
            type Raw = $ty;
            const TYPE: $crate::Type = <$ty as $crate::AbiType>::TYPE;
            const CXX: $crate::cxx::Cxx<'static> = <$ty as $crate::CxxType>::CXX;
            const DEFINITION: &'static $crate::cxx::Definition<'static> = <$ty as $crate::CxxType>::DEFINITION;
            #[inline(always)]
            unsafe fn from_raw(raw: Self::Raw) -> Self {
                raw
            }
            #[inline(always)]
            fn into_raw(self) -> Self::Raw {
                self
            }
        }
    };
}

macro_rules! by_value {
    ($($class:ident: $($ty:ty = $builtin:ident),*;)*) => {$($(
        abi_by_value!($ty, $class, Cxx::Builtin(Builtin::$builtin));
    )*)*};
}

// Guide §1.1; the C++ types are those of a 64-bit Linux host, where `long` has 64 bits.
by_value! {
    Unsigned: u8 = UnsignedChar, u16 = UnsignedShort, u32 = UnsignedInt, u64 = UnsignedLong, usize = UnsignedLong,
        bool = Bool, char = Char32;
    Signed: i8 = SignedChar, i16 = Short, i32 = Int, i64 = Long, isize = Long;
    Float: f32 = Float, f64 = Double;
    Aggregate: u128 = UnsignedInt128, i128 = Int128;
}

impl CxxType for core::ffi::c_void {
    const CXX: Cxx<'static> = Cxx::Builtin(Builtin::Void);
}

impl CxxType for () {
    const CXX: Cxx<'static> = Cxx::Builtin(Builtin::Void);
}

impl<T: CxxType, const N: usize> CxxType for [T; N] {
    const CXX: Cxx<'static> = Cxx::Array { element: &T::CXX, len: N as u64 };
    const DEFINITION: &'static Definition<'static> = T::DEFINITION;
    const POINTED: &'static Definition<'static> = T::POINTED;
}
// SAFETY: an array is its elements in a row (guide §1.2).
unsafe impl<T: AbiType, const N: usize> AbiType for [T; N] {
    const TYPE: Type = Type::aggregate::<[T; N]>();
    const HELD: &'static Definition<'static> = T::HELD;
}
abi_passed_as_itself!([T: AbiType, const N: usize] [T; N]);

impl<T: CxxType + 'static> CxxType for *const T {
    const CXX: Cxx<'static> = Cxx::Pointer(&Cxx::Const(&T::CXX));
    const DEFINITION: &'static Definition<'static> = T::DEFINITION;
    const POINTED: &'static Definition<'static> = T::POINTED;
}
impl<T: CxxType + 'static> CxxType for *mut T {
    const CXX: Cxx<'static> = Cxx::Pointer(&T::CXX);
    const DEFINITION: &'static Definition<'static> = T::DEFINITION;
    const POINTED: &'static Definition<'static> = T::POINTED;
}
// SAFETY: a thin pointer is a 64-bit generic address (guide §2.3, note B).
unsafe impl<T: CxxType + 'static> AbiType for *const T {
    const TYPE: Type = Type::pointer::<T>(Access::Raw);
    const HELD: &'static Definition<'static> = T::POINTED;
}
// SAFETY: as above.
unsafe impl<T: CxxType + 'static> AbiType for *mut T {
    const TYPE: Type = Type::pointer::<T>(Access::Raw);
    const HELD: &'static Definition<'static> = T::POINTED;
}
abi_passed_as_itself!([T: CxxType + 'static] *const T);
abi_passed_as_itself!([T: CxxType + 'static] *mut T);

macro_rules! function_pointer {
    ($($param:ident)*) => {
        function_pointer!(extern "C" fn($($param),*) -> R, $($param)*);
        function_pointer!(unsafe extern "C" fn($($param),*) -> R, $($param)*);
    };
    ($ty:ty, $($param:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<R: CxxType + 'static, $($param: CxxType + 'static),*> CxxType for $ty {
            const CXX: Cxx<'static> =
                Cxx::Pointer(&Cxx::Function { result: &R::CXX, params: &[$($param::CXX),*] });
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: a pointer to code is a 64-bit generic address.
        unsafe impl<R: CxxType + 'static, $($param: CxxType + 'static),*> AbiType for $ty {
            const TYPE: Type = Type::pointer::<u8>(Access::Raw);
        }
        abi_passed_as_itself!([R: CxxType + 'static, $($param: CxxType + 'static),*] $ty, diagnostic::do_not_recommend);

        #[diagnostic::do_not_recommend]
        impl<R: CxxType + 'static, $($param: CxxType + 'static),*> CxxType for Option<$ty> {
            const CXX: Cxx<'static> = <$ty as CxxType>::CXX;
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: `None` is the null pointer.
        unsafe impl<R: CxxType + 'static, $($param: CxxType + 'static),*> AbiType for Option<$ty> {
            const TYPE: Type = Type::pointer::<u8>(Access::Raw);
        }
        abi_passed_as_itself!([R: CxxType + 'static, $($param: CxxType + 'static),*] Option<$ty>, diagnostic::do_not_recommend);
    };
}
function_pointer!();
function_pointer!(A);
function_pointer!(A B);
function_pointer!(A B C);
function_pointer!(A B C D);
function_pointer!(A B C D E);
function_pointer!(A B C D E F);
function_pointer!(A B C D E F G);
function_pointer!(A B C D E F G H);

/// What a shared reference at the boundary points to: a value, or the elements of a slice. Every type is one or the other,
/// so that rustc names the element that has no layout, not the reference.
///
/// # Safety
/// `Raw` must be laid out as `IS_SLICE` says: a pointer, or a pointer and then a length.
#[doc(hidden)]
pub unsafe trait Referent {
    /// The value's own type, or that of the elements.
    type Element;
    /// What the other side passes.
    type Raw: Copy;
    /// Whether there is a length.
    const IS_SLICE: bool;

    /// The reference as the function's author sees it.
    ///
    /// # Safety
    /// As for [`DeviceParam::from_raw`].
    unsafe fn from_raw<'a>(raw: Self::Raw) -> &'a Self;

    /// What the callee gets.
    fn as_raw(&self) -> Self::Raw;
}

// SAFETY: a pointer.
unsafe impl<T> Referent for T {
    type Element = T;
    type Raw = *const T;
    const IS_SLICE: bool = false;
    #[inline(always)]
    unsafe fn from_raw<'a>(raw: Self::Raw) -> &'a Self {
        // SAFETY: the caller passes on what the other side gave for a reference.
        unsafe { &*raw }
    }
    #[inline(always)]
    fn as_raw(&self) -> Self::Raw {
        self
    }
}

// SAFETY: pointer, then length.
unsafe impl<T> Referent for [T] {
    type Element = T;
    type Raw = RawSlice<T>;
    const IS_SLICE: bool = true;
    #[inline(always)]
    unsafe fn from_raw<'a>(raw: Self::Raw) -> &'a Self {
        // SAFETY: no slice is longer; loops over it need not expect their index to overflow.
        unsafe { core::hint::assert_unchecked(size_of::<T>() == 0 || raw.len <= isize::MAX as usize / size_of::<T>()) };
        // SAFETY: the caller passes on what the other side gave for a slice.
        unsafe { core::slice::from_raw_parts(raw.ptr, raw.len) }
    }
    #[inline(always)]
    fn as_raw(&self) -> Self::Raw {
        RawSlice { ptr: self.as_ptr(), len: self.len() }
    }
}

// SAFETY: a reference is a pointer to a live, unchanging value, or to several: `AbiType` is `Copy`, which rules out cells.
unsafe impl<T: ?Sized + Referent<Element: AbiType>> DeviceParam for &T {
    type Raw = T::Raw;
    const TYPE: Type = if T::IS_SLICE {
        Type::slice::<T::Element>(Access::Shared)
    } else {
        Type::pointer::<T::Element>(Access::Shared)
    };
    const CXX: Cxx<'static> = if T::IS_SLICE {
        Cxx::Pointer(&Cxx::Const(&<T::Element as CxxType>::CXX))
    } else {
        Cxx::Reference(&Cxx::Const(&<T::Element as CxxType>::CXX))
    };
    const DEFINITION: &'static Definition<'static> = <T::Element as CxxType>::DEFINITION;
    #[inline(always)]
    unsafe fn from_raw(raw: Self::Raw) -> Self {
        // SAFETY: the caller's promise.
        unsafe { T::from_raw(raw) }
    }
    #[inline(always)]
    fn into_raw(self) -> Self::Raw {
        T::as_raw(self)
    }
}
// SAFETY: as above, to a value that nobody else reaches. No kernel takes it: all threads would have it.
unsafe impl<T: AbiType> DeviceParam for &mut T {
    type Raw = *mut T;
    const TYPE: Type = Type::pointer::<T>(Access::Exclusive);
    const CXX: Cxx<'static> = Cxx::Reference(&T::CXX);
    const DEFINITION: &'static Definition<'static> = T::DEFINITION;
    const IN_KERNELS: bool = false;
    #[inline(always)]
    unsafe fn from_raw(raw: Self::Raw) -> Self {
        // SAFETY: the caller passes on what the other side gave for a reference.
        unsafe { &mut *raw }
    }
    #[inline(always)]
    fn into_raw(self) -> Self::Raw {
        self
    }
}

// SAFETY: pointer, then length.
unsafe impl<T: AbiType> DeviceParam for &mut [T] {
    type Raw = RawSliceMut<T>;
    const TYPE: Type = Type::slice::<T>(Access::Exclusive);
    const CXX: Cxx<'static> = <*mut T as CxxType>::CXX;
    const DEFINITION: &'static Definition<'static> = T::DEFINITION;
    const IN_KERNELS: bool = false;
    #[inline(always)]
    unsafe fn from_raw(raw: Self::Raw) -> Self {
        // SAFETY: the caller passes on what the other side gave for a slice.
        unsafe { core::slice::from_raw_parts_mut(raw.ptr, raw.len) }
    }
    #[inline(always)]
    fn into_raw(self) -> Self::Raw {
        RawSliceMut { ptr: self.as_mut_ptr(), len: self.len() }
    }
}

/// Stands for the template parameter `I` in the signature of a function template's instance.
#[derive(Clone, Copy, Debug)]
pub enum TemplateParameter<const I: u32> {}

impl<const I: u32> CxxType for TemplateParameter<I> {
    const CXX: Cxx<'static> = Cxx::Parameter(I);
}
