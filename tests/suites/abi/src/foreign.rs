//! Types of the runtime crates that CUDA's headers define for C++, and bit-fields, which both preludes define.

use crate::model::Foreign;

const fn plain(rust: &'static str, cxx: &'static str, size: u64, align: u64) -> Foreign {
    Foreign { rust, cxx, size, align, extended: None, is_aligned: align > 1 }
}

/// A vector of so many lanes (guide §1.2): an even number of lanes is aligned together, an odd number each by itself.
const fn lanes(rust: &'static str, cxx: &'static str, lane: u64, count: u64) -> Foreign {
    // Rust's type says `align`, even where that changes nothing.
    Foreign {
        is_aligned: true,
        ..plain(rust, cxx, lane * count, if count.is_multiple_of(2) { lane * count } else { lane })
    }
}

const fn extended(rust: &'static str, cxx: &'static str, size: u64, is_signed: bool) -> Foreign {
    Foreign { extended: Some(is_signed), ..plain(rust, cxx, size, size) }
}

/// All of them.
pub const FOREIGN: &[Foreign] = &[
    lanes("ptx::vec::Char1", "char1", 1, 1),
    lanes("ptx::vec::Char3", "char3", 1, 3),
    lanes("ptx::vec::UChar2", "uchar2", 1, 2),
    lanes("ptx::vec::UChar4", "uchar4", 1, 4),
    lanes("ptx::vec::Short2", "short2", 2, 2),
    lanes("ptx::vec::Short3", "short3", 2, 3),
    lanes("ptx::vec::UShort1", "ushort1", 2, 1),
    lanes("ptx::vec::UShort4", "ushort4", 2, 4),
    lanes("ptx::vec::Int1", "int1", 4, 1),
    lanes("ptx::vec::Int2", "int2", 4, 2),
    lanes("ptx::vec::UInt3", "uint3", 4, 3),
    lanes("ptx::vec::UInt4", "uint4", 4, 4),
    lanes("ptx::vec::Long2", "long2", 8, 2),
    lanes("ptx::vec::ULong3", "ulong3", 8, 3),
    lanes("ptx::vec::LongLong1", "longlong1", 8, 1),
    lanes("ptx::vec::ULongLong2", "ulonglong2", 8, 2),
    lanes("ptx::vec::Float1", "float1", 4, 1),
    lanes("ptx::vec::Float2", "float2", 4, 2),
    lanes("ptx::vec::Float3", "float3", 4, 3),
    lanes("ptx::vec::Float4", "float4", 4, 4),
    lanes("ptx::vec::Double2", "double2", 8, 2),
    lanes("ptx::vec::Double3", "double3", 8, 3),
    plain("ptx::f16", "__half", 2, 2),
    plain("ptx::bf16", "__nv_bfloat16", 2, 2),
    extended("ptx::ffi::CChar", "char", 1, true),
    extended("ptx::ffi::Char8", "char8_t", 1, false),
    extended("ptx::ffi::Char16", "char16_t", 2, false),
    plain("ptx::ffi::WChar", "wchar_t", 4, 4),
    plain("ptx::ffi::LongLong", "long long", 8, 8),
    plain("ptx::ffi::ULongLong", "unsigned long long", 8, 8),
    plain("ptx::ffi::TextureObject", "cudaTextureObject_t", 8, 8),
    plain("ptx::ffi::SurfaceObject", "cudaSurfaceObject_t", 8, 8),
    plain("BitsShared", "BitsShared", 4, 4),
    plain("BitsWide", "BitsWide", 16, 8),
    plain("BitsBytes", "BitsBytes", 3, 1),
];

/// How many of a value's bytes hold something, from the first on.
pub fn used(foreign: &Foreign) -> u64 {
    if foreign.rust == "BitsWide" { 10 } else { foreign.size }
}
