//! Bytes to descriptors, for the compiler and for tools.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::descriptor::{Access, Class, Kind, LaunchBounds, Mangling, Pointee, Type};
use crate::{Descriptor, MAGIC, Param, VERSION};

/// A decoded parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedParam {
    /// Its name in the source.
    pub name: String,
    /// Its type as written in the source.
    pub rust_type: String,
    /// Its layout.
    pub ty: Type,
}

/// A decoded descriptor; the fields are [`Descriptor`]'s.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "documented on `Descriptor`")]
pub struct OwnedDescriptor {
    pub kind: Kind,
    pub mangling: Mangling,
    pub name: String,
    pub module_path: String,
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub bounds: LaunchBounds,
    pub params: Vec<OwnedParam>,
}

impl OwnedDescriptor {
    /// See [`Descriptor::abi_hash`].
    pub fn abi_hash(&self) -> u64 {
        let params: Vec<Param<'_>> =
            self.params.iter().map(|p| Param { name: &p.name, rust_type: &p.rust_type, ty: p.ty }).collect();
        Descriptor {
            kind: self.kind,
            mangling: self.mangling,
            name: &self.name,
            module_path: &self.module_path,
            file: &self.file,
            line: self.line,
            column: self.column,
            bounds: self.bounds,
            params: &params,
        }
        .abi_hash()
    }
}

/// Why bytes are not a descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The bytes do not begin with [`MAGIC`].
    NotADescriptor,
    /// Written by another version of the macros.
    Version(u16),
    /// The bytes end too early.
    Truncated,
    /// A byte has a value that this version does not know.
    Unknown {
        /// What the byte stands for.
        what: &'static str,
        /// Its value.
        value: u8,
    },
    /// A name is not UTF-8.
    NotUtf8,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotADescriptor => f.write_str("it does not begin with the descriptor's magic number"),
            Self::Version(v) => write!(f, "it has format version {v}, this compiler reads version {VERSION}"),
            Self::Truncated => f.write_str("it ends too early"),
            Self::Unknown { what, value } => write!(f, "it has an unknown {what} ({value})"),
            Self::NotUtf8 => f.write_str("a name in it is not UTF-8"),
        }
    }
}

impl core::error::Error for DecodeError {}

/// The descriptor in `bytes`.
pub fn decode(bytes: &[u8]) -> Result<OwnedDescriptor, DecodeError> {
    let mut r = Reader(bytes);
    if r.array::<4>()? != MAGIC {
        return Err(DecodeError::NotADescriptor);
    }
    let version = r.u16()?;
    if version != VERSION {
        return Err(DecodeError::Version(version));
    }
    let kind = match r.u8()? {
        0 => Kind::Kernel,
        value => return Err(DecodeError::Unknown { what: "kind", value }),
    };
    let mangling = match r.u8()? {
        0 => Mangling::C,
        value => return Err(DecodeError::Unknown { what: "mangling", value }),
    };
    Ok(OwnedDescriptor {
        kind,
        mangling,
        name: r.string()?,
        module_path: r.string()?,
        file: r.string()?,
        line: r.u32()?,
        column: r.u32()?,
        bounds: LaunchBounds { max_threads: r.u32()?, min_blocks: r.u32()?, max_registers: r.u32()? },
        params: (0..r.u16()?).map(|_| r.param()).collect::<Result<_, _>>()?,
    })
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (head, tail) = self.0.split_first_chunk::<N>().ok_or(DecodeError::Truncated)?;
        self.0 = tail;
        Ok(*head)
    }

    fn u8(&mut self) -> Result<u8, DecodeError> {
        Ok(self.array::<1>()?[0])
    }

    fn u16(&mut self) -> Result<u16, DecodeError> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    fn u32(&mut self) -> Result<u32, DecodeError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64, DecodeError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn string(&mut self) -> Result<String, DecodeError> {
        let len = usize::from(self.u16()?);
        let (head, tail) = self.0.split_at_checked(len).ok_or(DecodeError::Truncated)?;
        self.0 = tail;
        core::str::from_utf8(head).map(ToString::to_string).map_err(|_| DecodeError::NotUtf8)
    }

    fn ty(&mut self) -> Result<Type, DecodeError> {
        let class = match self.u8()? {
            0 => Class::Unsigned,
            1 => Class::Signed,
            2 => Class::Float,
            3 => Class::Pointer,
            4 => Class::Slice,
            5 => Class::Aggregate,
            value => return Err(DecodeError::Unknown { what: "class", value }),
        };
        let (size, align) = (self.u64()?, self.u64()?);
        let pointee = match self.u8()? {
            0 => None,
            1 => Some({
                let access = match self.u8()? {
                    0 => Access::Raw,
                    1 => Access::Shared,
                    2 => Access::Exclusive,
                    value => return Err(DecodeError::Unknown { what: "access", value }),
                };
                Pointee { access, size: self.u64()?, align: self.u64()? }
            }),
            value => return Err(DecodeError::Unknown { what: "pointee flag", value }),
        };
        Ok(Type { class, size, align, pointee })
    }

    fn param(&mut self) -> Result<OwnedParam, DecodeError> {
        Ok(OwnedParam { name: self.string()?, rust_type: self.string()?, ty: self.ty()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{encode, encoded_len};

    const PARAMS: [Param<'static>; 3] = [
        Param { name: "a", rust_type: "f32", ty: Type::scalar::<f32>(Class::Float) },
        Param { name: "x", rust_type: "&[f32]", ty: Type::slice::<f32>(Access::Shared) },
        Param { name: "s", rust_type: "[u128; 3]", ty: Type::aggregate::<[u128; 3]>() },
    ];
    const DESCRIPTOR: Descriptor<'static> = Descriptor {
        kind: Kind::Kernel,
        mangling: Mangling::C,
        name: "saxpy",
        module_path: "demo::kernels",
        file: "src/lib.rs",
        line: 12,
        column: 5,
        bounds: LaunchBounds { max_threads: 256, min_blocks: 2, max_registers: 0 },
        params: &PARAMS,
    };
    const BYTES: [u8; encoded_len(&DESCRIPTOR)] = encode(&DESCRIPTOR);

    #[test]
    fn what_is_encoded_is_decoded() {
        let decoded = decode(&BYTES).unwrap();
        assert_eq!(decoded.name, "saxpy");
        assert_eq!(decoded.module_path, "demo::kernels");
        assert_eq!((decoded.file.as_str(), decoded.line, decoded.column), ("src/lib.rs", 12, 5));
        assert_eq!(decoded.bounds, DESCRIPTOR.bounds);
        for (owned, param) in decoded.params.iter().zip(PARAMS) {
            assert_eq!(
                (owned.name.as_str(), owned.rust_type.as_str(), owned.ty),
                (param.name, param.rust_type, param.ty)
            );
        }
        assert_eq!(decoded.params.len(), PARAMS.len());
        assert_eq!(decoded.abi_hash(), DESCRIPTOR.abi_hash());
    }

    #[test]
    fn every_truncation_is_an_error() {
        for len in 0..BYTES.len() {
            assert_eq!(decode(&BYTES[..len]), Err(DecodeError::Truncated), "at {len}");
        }
    }

    #[test]
    fn a_changed_layout_changes_the_hash() {
        let mut params = PARAMS;
        params[2].ty.align = 32;
        assert_ne!(Descriptor { params: &params, ..DESCRIPTOR }.abi_hash(), DESCRIPTOR.abi_hash());
    }
}
