//! To and from glam's vectors.

use super::*;

macro_rules! convert {
    ($($ours:ident $(,)? $theirs:ident)*) => {$(
        impl From<::glam::$theirs> for $ours {
            #[inline(always)]
            fn from(vector: ::glam::$theirs) -> Self {
                Self::from_array(vector.to_array())
            }
        }

        impl From<$ours> for ::glam::$theirs {
            #[inline(always)]
            fn from(vector: $ours) -> Self {
                Self::from_array(vector.to_array())
            }
        }
    )*};
}

convert! {
    Float2 Vec2  Float3 Vec3  Float3 Vec3A  Float4 Vec4  Float4 Quat
    Double2 DVec2  Double3 DVec3  Double4 DVec4  Double4_16a DVec4  Double4_32a DVec4
    Char2 I8Vec2  Char3 I8Vec3  Char4 I8Vec4
    UChar2 U8Vec2  UChar3 U8Vec3  UChar4 U8Vec4
    Short2 I16Vec2  Short3 I16Vec3  Short4 I16Vec4
    UShort2 U16Vec2  UShort3 U16Vec3  UShort4 U16Vec4
    Int2 IVec2  Int3 IVec3  Int4 IVec4
    UInt2 UVec2  UInt3 UVec3  UInt4 UVec4
    Long2 I64Vec2  Long3 I64Vec3  Long4 I64Vec4  Long4_16a I64Vec4  Long4_32a I64Vec4
    ULong2 U64Vec2  ULong3 U64Vec3  ULong4 U64Vec4  ULong4_16a U64Vec4  ULong4_32a U64Vec4
    LongLong2 I64Vec2  LongLong3 I64Vec3  LongLong4 I64Vec4  LongLong4_16a I64Vec4  LongLong4_32a I64Vec4
    ULongLong2 U64Vec2  ULongLong3 U64Vec3  ULongLong4 U64Vec4  ULongLong4_16a U64Vec4  ULongLong4_32a U64Vec4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways() {
        let v = ::glam::Vec4::new(1.0, 2.0, 3.0, 4.0);
        assert_eq!(Float4::from(v), float4(1.0, 2.0, 3.0, 4.0));
        assert_eq!(::glam::IVec3::from(int3(1, 2, 3)), ::glam::IVec3::new(1, 2, 3));
    }
}
