//! CUDA's vector types, `char1` to `double4_32a`: the same in Rust, in C++ and in memory.
//!
//! | lanes | fields | alignment (guide §1.2) |
//! |---|---|---|
//! | 1, 3 | `x`; `x`, `y`, `z` | that of one lane |
//! | 2 | `x`, `y` | two lanes |
//! | 4 | `x`, `y`, `z`, `w` | four lanes, but for 64-bit ones the name's ending says it: `_16a`, `_32a` |
//!
//! A vector of 2 or 4 lanes with at most 16 bytes is loaded or stored by one instruction, such as `ld.global.v4.f32`.
//! Arithmetic is lane by lane, with another vector or with a scalar on either side.
//!
//! ```
//! use ptx::vec::{Float4, float4};
//!
//! let v = Float4::new(1.0, 2.0, 3.0, 4.0);
//! assert_eq!(2.0 * v + 1.0, float4(3.0, 5.0, 7.0, 9.0));
//! assert_eq!(v.to_array(), [1.0, 2.0, 3.0, 4.0]);
//! assert_eq!((v[0], v.w), (1.0, 4.0));
//! ```

#[cfg(feature = "glam")]
mod glam;
mod ops;

/// Calls `$callback!` with a list of every vector type.
///
/// A row is: type, function that makes one, C++ name, lane's type, its kind, fields, alignment in bytes.
#[doc(hidden)]
#[macro_export]
macro_rules! native_vectors {
    ($callback:path) => {
        $callback! {
            Char1, char1, "char1", i8, signed, [x], 1;
            Char2, char2, "char2", i8, signed, [x, y], 2;
            Char3, char3, "char3", i8, signed, [x, y, z], 1;
            Char4, char4, "char4", i8, signed, [x, y, z, w], 4;
            UChar1, uchar1, "uchar1", u8, unsigned, [x], 1;
            UChar2, uchar2, "uchar2", u8, unsigned, [x, y], 2;
            UChar3, uchar3, "uchar3", u8, unsigned, [x, y, z], 1;
            UChar4, uchar4, "uchar4", u8, unsigned, [x, y, z, w], 4;
            Short1, short1, "short1", i16, signed, [x], 2;
            Short2, short2, "short2", i16, signed, [x, y], 4;
            Short3, short3, "short3", i16, signed, [x, y, z], 2;
            Short4, short4, "short4", i16, signed, [x, y, z, w], 8;
            UShort1, ushort1, "ushort1", u16, unsigned, [x], 2;
            UShort2, ushort2, "ushort2", u16, unsigned, [x, y], 4;
            UShort3, ushort3, "ushort3", u16, unsigned, [x, y, z], 2;
            UShort4, ushort4, "ushort4", u16, unsigned, [x, y, z, w], 8;
            Int1, int1, "int1", i32, signed, [x], 4;
            Int2, int2, "int2", i32, signed, [x, y], 8;
            Int3, int3, "int3", i32, signed, [x, y, z], 4;
            Int4, int4, "int4", i32, signed, [x, y, z, w], 16;
            UInt1, uint1, "uint1", u32, unsigned, [x], 4;
            UInt2, uint2, "uint2", u32, unsigned, [x, y], 8;
            UInt3, uint3, "uint3", u32, unsigned, [x, y, z], 4;
            UInt4, uint4, "uint4", u32, unsigned, [x, y, z, w], 16;
            Long1, long1, "long1", i64, signed, [x], 8;
            Long2, long2, "long2", i64, signed, [x, y], 16;
            Long3, long3, "long3", i64, signed, [x, y, z], 8;
            Long4, long4, "long4", i64, signed, [x, y, z, w], 16;
            Long4_16a, long4_16a, "long4_16a", i64, signed, [x, y, z, w], 16;
            Long4_32a, long4_32a, "long4_32a", i64, signed, [x, y, z, w], 32;
            ULong1, ulong1, "ulong1", u64, unsigned, [x], 8;
            ULong2, ulong2, "ulong2", u64, unsigned, [x, y], 16;
            ULong3, ulong3, "ulong3", u64, unsigned, [x, y, z], 8;
            ULong4, ulong4, "ulong4", u64, unsigned, [x, y, z, w], 16;
            ULong4_16a, ulong4_16a, "ulong4_16a", u64, unsigned, [x, y, z, w], 16;
            ULong4_32a, ulong4_32a, "ulong4_32a", u64, unsigned, [x, y, z, w], 32;
            LongLong1, longlong1, "longlong1", i64, signed, [x], 8;
            LongLong2, longlong2, "longlong2", i64, signed, [x, y], 16;
            LongLong3, longlong3, "longlong3", i64, signed, [x, y, z], 8;
            LongLong4, longlong4, "longlong4", i64, signed, [x, y, z, w], 16;
            LongLong4_16a, longlong4_16a, "longlong4_16a", i64, signed, [x, y, z, w], 16;
            LongLong4_32a, longlong4_32a, "longlong4_32a", i64, signed, [x, y, z, w], 32;
            ULongLong1, ulonglong1, "ulonglong1", u64, unsigned, [x], 8;
            ULongLong2, ulonglong2, "ulonglong2", u64, unsigned, [x, y], 16;
            ULongLong3, ulonglong3, "ulonglong3", u64, unsigned, [x, y, z], 8;
            ULongLong4, ulonglong4, "ulonglong4", u64, unsigned, [x, y, z, w], 16;
            ULongLong4_16a, ulonglong4_16a, "ulonglong4_16a", u64, unsigned, [x, y, z, w], 16;
            ULongLong4_32a, ulonglong4_32a, "ulonglong4_32a", u64, unsigned, [x, y, z, w], 32;
            Float1, float1, "float1", f32, float, [x], 4;
            Float2, float2, "float2", f32, float, [x, y], 8;
            Float3, float3, "float3", f32, float, [x, y, z], 4;
            Float4, float4, "float4", f32, float, [x, y, z, w], 16;
            Double1, double1, "double1", f64, float, [x], 8;
            Double2, double2, "double2", f64, float, [x, y], 16;
            Double3, double3, "double3", f64, float, [x, y, z], 8;
            Double4, double4, "double4", f64, float, [x, y, z, w], 16;
            Double4_16a, double4_16a, "double4_16a", f64, float, [x, y, z, w], 16;
            Double4_32a, double4_32a, "double4_32a", f64, float, [x, y, z, w], 32;
        }
    };
}

macro_rules! define {
    ($($name:ident, $make:ident, $cuda:literal, $lane:ident, $kind:ident, [$($field:ident),*], $align:tt;)*) => {$(
        #[doc = concat!("CUDA's `", $cuda, "`, aligned to ", $align, " bytes.")]
        #[doc = define!(@note $name)]
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        #[repr(C, align($align))]
        #[expect(missing_docs, reason = "lanes")]
        pub struct $name {
            $(pub $field: $lane,)*
        }

        #[doc = concat!("CUDA's `make_", $cuda, "`.")]
        #[inline(always)]
        pub const fn $make($($field: $lane),*) -> $name {
            $name { $($field),* }
        }

        impl $name {
            /// The number of lanes.
            pub const LANES: usize = [$(stringify!($field)),*].len();

            /// Of these lanes.
            #[inline(always)]
            pub const fn new($($field: $lane),*) -> Self {
                Self { $($field),* }
            }

            /// The same value in every lane.
            #[inline(always)]
            pub const fn splat(value: $lane) -> Self {
                Self { $($field: value),* }
            }

            /// The lanes in order.
            #[inline(always)]
            pub const fn to_array(self) -> [$lane; Self::LANES] {
                [$(self.$field),*]
            }

            /// Of these lanes.
            #[inline(always)]
            pub const fn from_array(lanes: [$lane; Self::LANES]) -> Self {
                let [$($field),*] = lanes;
                Self { $($field),* }
            }
        }

        impl From<[$lane; $name::LANES]> for $name {
            #[inline(always)]
            fn from(lanes: [$lane; $name::LANES]) -> Self {
                Self::from_array(lanes)
            }
        }

        impl From<$name> for [$lane; $name::LANES] {
            #[inline(always)]
            fn from(vector: $name) -> Self {
                vector.to_array()
            }
        }

        impl From<define!(@tuple $lane; $($field)*)> for $name {
            #[inline(always)]
            fn from(($($field,)*): define!(@tuple $lane; $($field)*)) -> Self {
                Self { $($field),* }
            }
        }

        impl From<$name> for define!(@tuple $lane; $($field)*) {
            #[inline(always)]
            fn from(vector: $name) -> Self {
                ($(vector.$field,)*)
            }
        }

        const _: () = assert!(size_of::<$name>() == $name::LANES * size_of::<$lane>(), "lanes without padding");

        ptx_abi::abi_by_value!(
            $name, Aggregate,
            ptx_abi::cxx::Cxx::Named(ptx_abi::cxx::Name::cuda($cuda, "vector_types.h")),
            diagnostic::do_not_recommend
        );

        #[diagnostic::do_not_recommend]
        // SAFETY: numbers without padding.
        unsafe impl ptx_abi::bits::Plain for $name {}

        #[cfg(feature = "bytemuck")]
        // SAFETY: zero is a number.
        unsafe impl bytemuck::Zeroable for $name {}

        #[cfg(feature = "bytemuck")]
        // SAFETY: numbers without padding.
        unsafe impl bytemuck::Pod for $name {}

        #[cfg(not(target_arch = "nvptx64"))]
        // SAFETY: the layout is the device's.
        unsafe impl cudarc::driver::DeviceRepr for $name {}

        #[cfg(not(target_arch = "nvptx64"))]
        // SAFETY: zero is a number.
        unsafe impl cudarc::driver::ValidAsZeroBits for $name {}
    )*};
    (@tuple $lane:ident; x) => { ($lane,) };
    (@tuple $lane:ident; x y) => { ($lane, $lane) };
    (@tuple $lane:ident; x y z) => { ($lane, $lane, $lane) };
    (@tuple $lane:ident; x y z w) => { ($lane, $lane, $lane, $lane) };
    (@note Long4) => { define!(@deprecated "Long4") };
    (@note ULong4) => { define!(@deprecated "ULong4") };
    (@note LongLong4) => { define!(@deprecated "LongLong4") };
    (@note ULongLong4) => { define!(@deprecated "ULongLong4") };
    (@note Double4) => { define!(@deprecated "Double4") };
    (@note $name:ident) => { "" };
    (@deprecated $name:literal) => {
        concat!("\nCUDA 13 deprecates the name: in new code say [`", $name, "_16a`] or [`", $name, "_32a`].")
    };
}
native_vectors!(define);

#[cfg(test)]
mod tests {
    use ptx_abi::cxx::Cxx;
    use ptx_abi::{AbiType, Class, CxxType};

    use super::*;

    #[test]
    fn lanes_and_conversions() {
        let v = Int3::from([1, -2, 3]);
        assert_eq!((v.x, v.y, v.z), (1, -2, 3));
        assert_eq!(<(i32, i32, i32)>::from(v), (1, -2, 3));
        assert_eq!(UChar4::from((1, 2, 3, 4)).to_array(), [1, 2, 3, 4]);
        assert_eq!(Double1::from((0.5,)), double1(0.5));
        assert_eq!(Float4::splat(2.0), float4(2.0, 2.0, 2.0, 2.0));
    }

    #[test]
    fn types_of_cuda_headers() {
        let Cxx::Named(name) = LongLong2::CXX else { panic!("not a named type") };
        assert_eq!((name.name, name.header), ("longlong2", "vector_types.h"));
        assert_eq!(<Float4 as AbiType>::TYPE.class, Class::Aggregate);
        assert_eq!((<Float4 as AbiType>::TYPE.size, <Float4 as AbiType>::TYPE.align), (16, 16));
    }
}
