//! One hand-picked type for every row of the interoperability guide (12.8, §1.1, §1.2, §2.3), as `cargo ptx inspect abi --types`
//! prints them. What stands in PTX is computed by [`classify`](super::classify); the suite `abi` compares it with nvcc.

use ptx_abi::{Access, Class, Type};

use super::classify::{PtxParam, device_param, device_result, kernel_param};

/// A type that the guide names, in both languages.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Where the guide speaks of it.
    pub guide: &'static str,
    /// In Rust.
    pub rust: &'static str,
    /// In C++.
    pub cxx: &'static str,
    /// What C++ has to define before; empty if nothing.
    pub definition: &'static str,
    /// Its size, alignment and class, as in a descriptor.
    pub ty: Type,
}

impl Row {
    /// As a parameter of a device function; a slice is two.
    pub fn device_param(&self) -> Result<Vec<PtxParam>, String> {
        device_param(&self.ty)
    }

    /// As the result of a device function; a slice cannot be one.
    pub fn device_result(&self) -> Option<PtxParam> {
        device_result(&self.ty).ok()
    }

    /// As a parameter of a kernel.
    pub fn kernel_param(&self) -> Result<Vec<PtxParam>, String> {
        kernel_param(&self.ty)
    }

    /// The cells of the printed table.
    pub fn cells(&self) -> Vec<String> {
        let list = |params: Result<Vec<PtxParam>, String>| {
            params
                .map_or_else(|error| error, |list| list.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
        };
        vec![
            self.guide.into(),
            self.rust.into(),
            self.cxx.into(),
            self.ty.size.to_string(),
            self.ty.align.to_string(),
            list(self.device_param()),
            self.device_result().map_or("none".into(), |result| result.to_string()),
            list(self.kernel_param()),
        ]
    }
}

/// Headings of [`Row::cells`].
pub const HEADER: [&str; 8] = ["guide", "Rust", "C++", "size", "align", "parameter", "result", "kernel's parameter"];

#[repr(C)]
struct Pair(u8, u32);
#[repr(C)]
struct Nested(bool, Pair, f64);
#[repr(C)]
struct Odd([u8; 7]);
#[repr(C)]
struct WithArray([f32; 5], u8);
#[repr(C)]
union Number {
    _float: f64,
    _bytes: [u8; 9],
}
#[repr(C)]
struct Empty;
#[repr(C, packed(1))]
struct Packed1(u8, u32, u64);
#[repr(C, packed(2))]
struct Packed2(u8, u32, u64);
#[repr(C, packed(4))]
struct Packed4(u8, u32, u64);
macro_rules! aligned {
    ($($name:ident $align:literal)*) => {$(#[repr(C, align($align))] struct $name(u8);)*};
}
aligned! { A2 2 A4 4 A8 8 A16 16 A32 32 A64 64 A128 128 }

/// In the order in which `cargo ptx inspect abi --types` prints them.
#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row("§1.1 .u8", "u8", "unsigned char", "", Type::scalar::<u8>(Class::Unsigned)),
    row("§1.1 .s8", "i8", "signed char", "", Type::scalar::<i8>(Class::Signed)),
    row("§1.1 .u16", "u16", "unsigned short", "", Type::scalar::<u16>(Class::Unsigned)),
    row("§1.1 .s16", "i16", "short", "", Type::scalar::<i16>(Class::Signed)),
    row("§1.1 .u32", "u32", "unsigned int", "", Type::scalar::<u32>(Class::Unsigned)),
    row("§1.1 .s32", "i32", "int", "", Type::scalar::<i32>(Class::Signed)),
    row("§1.1 .u64", "u64", "unsigned long", "", Type::scalar::<u64>(Class::Unsigned)),
    row("§1.1 .s64", "i64", "long", "", Type::scalar::<i64>(Class::Signed)),
    row("§1.1 .f32", "f32", "float", "", Type::scalar::<f32>(Class::Float)),
    row("§1.1 .f64", "f64", "double", "", Type::scalar::<f64>(Class::Float)),
    row("§1.1 .f16", "f16", "__half", "#include <cuda_fp16.h>", Type::aggregate::<u16>()),
    row("§1.1 .f16", "bf16", "__nv_bfloat16", "#include <cuda_bf16.h>", Type::aggregate::<u16>()),
    row("§2.3 A", "bool", "bool", "", Type::scalar::<bool>(Class::Unsigned)),
    row("§2.3 A", "char", "char32_t", "", Type::scalar::<char>(Class::Unsigned)),
    row("§2.3 A", "repr(u8) enum", "EnumU8", "enum class EnumU8 : unsigned char { A };", Type::scalar::<u8>(Class::Unsigned)),
    row("§2.3 A", "repr(i16) enum", "EnumI16", "enum class EnumI16 : short { A };", Type::scalar::<i16>(Class::Signed)),
    row("§2.3 A", "repr(i32) enum", "EnumI32", "enum class EnumI32 : int { A };", Type::scalar::<i32>(Class::Signed)),
    row("§2.3", "repr(u64) enum", "EnumU64", "enum class EnumU64 : unsigned long { A };", Type::scalar::<u64>(Class::Unsigned)),
    row("§2.3", "i128", "__int128", "", Type::aggregate::<i128>()),
    row("§2.3", "u128", "unsigned __int128", "", Type::aggregate::<u128>()),
    row("§2.3 B", "*const f32", "const float*", "", Type::pointer::<f32>(Access::Raw)),
    row("§2.3 B", "*mut c_void", "void*", "", Type::pointer::<u8>(Access::Raw)),
    row("§2.3 B", "extern \"C\" fn(i32)", "Function", "using Function = void (*)(int);", Type::pointer::<u8>(Access::Raw)),
    row("§2.3 E", "TextureObject", "cudaTextureObject_t", "", Type::scalar::<u64>(Class::Unsigned)),
    row("§1.2 vector", "Float1", "float1", "", Type::aggregate::<[f32; 1]>()),
    row("§1.2 vector", "Float2", "float2", "", Type { class: Class::Aggregate, size: 8, align: 8, pointee: None }),
    row("§1.2 vector", "Float3", "float3", "", Type::aggregate::<[f32; 3]>()),
    row("§1.2 vector", "Float4", "float4", "", Type { class: Class::Aggregate, size: 16, align: 16, pointee: None }),
    row("§1.2 vector", "UChar4", "uchar4", "", Type { class: Class::Aggregate, size: 4, align: 4, pointee: None }),
    row("§1.2 vector", "Double2", "double2", "", Type { class: Class::Aggregate, size: 16, align: 16, pointee: None }),
    row("§1.2", "struct (u8, u32)", "Pair", "struct Pair { unsigned char a; unsigned int b; };", Type::aggregate::<Pair>()),
    row("§1.2", "struct, nested", "Nested", "struct Nested { bool a; struct { unsigned char a; unsigned int b; } b; double c; };", Type::aggregate::<Nested>()),
    row("§1.2", "struct ([u8; 7])", "Odd", "struct Odd { unsigned char a[7]; };", Type::aggregate::<Odd>()),
    row("§1.2", "struct ([f32; 5], u8)", "WithArray", "struct WithArray { float a[5]; unsigned char b; };", Type::aggregate::<WithArray>()),
    row("§1.2", "union (f64, [u8; 9])", "Number", "union Number { double a; unsigned char b[9]; };", Type::aggregate::<Number>()),
    row("§1.3", "bit-fields u32: 3, 5, 24", "Bits", "struct Bits { unsigned a : 3; unsigned b : 5; unsigned c : 24; };", Type::aggregate::<u32>()),
    row("§1.2", "empty struct", "Empty", "struct Empty {};", Type::aggregate::<Empty>()),
    row("§1.2", "packed(1) (u8, u32, u64)", "Packed1", "#pragma pack(push, 1)\nstruct Packed1 { char a; int b; long c; };\n#pragma pack(pop)", Type::aggregate::<Packed1>()),
    row("§1.2", "packed(2) (u8, u32, u64)", "Packed2", "#pragma pack(push, 2)\nstruct Packed2 { char a; int b; long c; };\n#pragma pack(pop)", Type::aggregate::<Packed2>()),
    row("§1.2", "packed(4) (u8, u32, u64)", "Packed4", "#pragma pack(push, 4)\nstruct Packed4 { char a; int b; long c; };\n#pragma pack(pop)", Type::aggregate::<Packed4>()),
    row("§2.3 D", "align(2)", "A2", "struct alignas(2) A2 { char a; };", Type::aggregate::<A2>()),
    row("§2.3 D", "align(4)", "A4", "struct alignas(4) A4 { char a; };", Type::aggregate::<A4>()),
    row("§2.3 D", "align(8)", "A8", "struct alignas(8) A8 { char a; };", Type::aggregate::<A8>()),
    row("§2.3 D", "align(16)", "A16", "struct alignas(16) A16 { char a; };", Type::aggregate::<A16>()),
    row("§2.3 D", "align(32)", "A32", "struct alignas(32) A32 { char a; };", Type::aggregate::<A32>()),
    row("§2.3 D", "align(64)", "A64", "struct alignas(64) A64 { char a; };", Type::aggregate::<A64>()),
    row("§2.3 D", "align(128)", "A128", "struct alignas(128) A128 { char a; };", Type::aggregate::<A128>()),
];

const fn row(guide: &'static str, rust: &'static str, cxx: &'static str, definition: &'static str, ty: Type) -> Row {
    Row { guide, rust, cxx, definition, ty }
}
