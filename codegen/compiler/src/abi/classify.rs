//! From a type's class, size and alignment to its PTX parameters (PTX Writer's Guide to Interoperability 12.8, §2.3).
//!
//! Kernels differ from device functions in one thing: their integers under 32 bits keep their size, as nvcc has it.

use std::fmt;

use ptx_abi::{Class, MAX_PARAM_ALIGN, Type};

/// One parameter in the PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PtxParam {
    /// `.u32`, `.s8`: integer of so many bits.
    Int {
        /// 8 to 64.
        bits: u32,
        /// Sign-extended where it is extended.
        signed: bool,
    },
    /// `.f32`, `.f64`.
    Float {
        /// 32 or 64.
        bits: u32,
    },
    /// `.u64`, a generic address.
    Pointer,
    /// `.align A .b8 name[N]`.
    Bytes {
        /// In bytes.
        size: u64,
        /// In bytes.
        align: u64,
    },
}

impl PtxParam {
    /// Size in bytes.
    pub fn size(self) -> u64 {
        match self {
            Self::Int { bits, .. } | Self::Float { bits } => u64::from(bits / 8),
            Self::Pointer => 8,
            Self::Bytes { size, .. } => size,
        }
    }

    /// Alignment in bytes.
    pub fn align(self) -> u64 {
        match self {
            Self::Bytes { align, .. } => align,
            scalar => scalar.size(),
        }
    }
}

impl fmt::Display for PtxParam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int { bits, signed: true } => write!(f, ".s{bits}"),
            Self::Int { bits, signed: false } => write!(f, ".u{bits}"),
            Self::Float { bits } => write!(f, ".f{bits}"),
            Self::Pointer => f.write_str(".u64"),
            Self::Bytes { size, align } => write!(f, ".align {align} .b8[{size}]"),
        }
    }
}

/// The PTX parameters of one source-level kernel parameter, or why there are none.
pub fn kernel_param(ty: &Type) -> Result<Vec<PtxParam>, String> {
    if ty.align > MAX_PARAM_ALIGN {
        return Err(format!("its alignment is {}, parameters may have at most {MAX_PARAM_ALIGN}", ty.align));
    }
    let bits = u32::try_from(ty.size * 8).unwrap_or(u32::MAX);
    Ok(match ty.class {
        Class::Unsigned if bits <= 64 => vec![PtxParam::Int { bits, signed: false }],
        Class::Signed if bits <= 64 => vec![PtxParam::Int { bits, signed: true }],
        Class::Float if bits == 32 || bits == 64 => vec![PtxParam::Float { bits }],
        Class::Pointer => vec![PtxParam::Pointer],
        Class::Slice => vec![PtxParam::Pointer, PtxParam::Int { bits: 64, signed: false }],
        // §2.3: an aggregate of any size. C++ gives an empty struct its alignment as size.
        Class::Aggregate => {
            vec![PtxParam::Bytes { size: if ty.size == 0 { ty.align } else { ty.size }, align: ty.align }]
        }
        class => return Err(format!("class {class:?} has no size of {} bytes", ty.size)),
    })
}

/// The same of a device function, whose integers under 32 bits are extended by their sign (§2.3, note A).
pub fn device_param(ty: &Type) -> Result<Vec<PtxParam>, String> {
    let extend = |param| match param {
        PtxParam::Int { bits, signed } => PtxParam::Int { bits: bits.max(32), signed },
        other => other,
    };
    Ok(kernel_param(ty)?.into_iter().map(extend).collect())
}

/// The result of a device function.
pub fn device_result(ty: &Type) -> Result<PtxParam, String> {
    match device_param(ty)?[..] {
        [one] => Ok(one),
        _ => Err("a slice is two values, a function returns one".into()),
    }
}

#[cfg(test)]
mod tests {
    use ptx_abi::Access;

    use super::*;

    fn text(ty: Type) -> String {
        let params = kernel_param(&ty).unwrap();
        params.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn rows_of_the_guides_table() {
        assert_eq!(text(Type::scalar::<u8>(Class::Unsigned)), ".u8");
        assert_eq!(text(Type::scalar::<i16>(Class::Signed)), ".s16");
        assert_eq!(text(Type::scalar::<u64>(Class::Unsigned)), ".u64");
        assert_eq!(text(Type::scalar::<f64>(Class::Float)), ".f64");
        assert_eq!(text(Type::pointer::<u8>(Access::Raw)), ".u64");
        assert_eq!(text(Type::slice::<f32>(Access::Shared)), ".u64, .u64");
        assert_eq!(text(Type::aggregate::<u128>()), ".align 16 .b8[16]");
        assert_eq!(text(Type::aggregate::<[u8; 3]>()), ".align 1 .b8[3]");
        assert_eq!(text(Type::aggregate::<[u8; 0]>()), ".align 1 .b8[1]");
        assert_eq!(text(Type::aggregate::<[u64; 0]>()), ".align 8 .b8[8]");
    }

    #[test]
    fn small_integers_of_device_functions_are_extended() {
        let one = |ty| device_result(&ty).unwrap().to_string();
        assert_eq!(one(Type::scalar::<u8>(Class::Unsigned)), ".u32");
        assert_eq!(one(Type::scalar::<i16>(Class::Signed)), ".s32");
        assert_eq!(one(Type::scalar::<i64>(Class::Signed)), ".s64");
        assert_eq!(one(Type::aggregate::<[u16; 1]>()), ".align 2 .b8[2]");
        assert!(device_result(&Type::slice::<u8>(Access::Shared)).is_err());
    }

    #[test]
    fn alignment_stops_at_128() {
        let aligned = |align| Type { class: Class::Aggregate, size: 256, align, pointee: None };
        assert!(kernel_param(&aligned(128)).is_ok());
        assert!(kernel_param(&aligned(256)).unwrap_err().contains("at most 128"));
    }
}
