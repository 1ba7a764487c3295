//! Bytes to descriptors, for the compiler and for tools.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::cxx::{Bits, Builtin, Keyword};
use crate::descriptor::{Access, Class, Kind, LaunchBounds, MAGIC, Mangling, Pointee, Type, VERSION};
use crate::owned::{OwnedArgument, OwnedBody, OwnedCxx, OwnedDefinition, OwnedField, OwnedName, OwnedVariant};

/// A decoded parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedParam {
    /// Its name in the source.
    pub name: String,
    /// Its type as written in the source.
    pub rust_type: String,
    /// The type's class, size and alignment.
    pub ty: Type,
    /// Its type in C++.
    pub cxx: OwnedCxx,
    /// What that holds.
    pub definition: OwnedDefinition,
}

/// A decoded descriptor; the fields are [`Descriptor`]'s.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "documented on `Descriptor`")]
pub struct OwnedDescriptor {
    pub kind: Kind,
    pub mangling: Mangling,
    pub namespace: String,
    pub name: String,
    pub template: Option<Vec<OwnedArgument>>,
    pub module_path: String,
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub bounds: LaunchBounds,
    pub params: Vec<OwnedParam>,
    pub result: Option<OwnedParam>,
}

impl OwnedDescriptor {
    /// See [`crate::Descriptor::abi_hash`].
    pub fn abi_hash(&self) -> u64 {
        let types = self.params.iter().map(|param| &param.ty);
        types.fold(self.bounds.hash(Type::hash_name(&self.name)), |hash, ty| ty.hash(hash))
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
        /// The value of that byte.
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
        1 => Kind::Export,
        2 => Kind::Import,
        value => return Err(DecodeError::Unknown { what: "kind", value }),
    };
    let mangling = match r.u8()? {
        0 => Mangling::C,
        1 => Mangling::Cxx,
        value => return Err(DecodeError::Unknown { what: "mangling", value }),
    };
    Ok(OwnedDescriptor {
        kind,
        mangling,
        namespace: r.string()?,
        name: r.string()?,
        template: if r.flag("template flag")? { Some(r.list(Reader::argument)?) } else { None },
        module_path: r.string()?,
        file: r.string()?,
        line: r.u32()?,
        column: r.u32()?,
        bounds: LaunchBounds {
            max_threads: r.u32()?,
            min_blocks: r.u32()?,
            max_registers: r.u32()?,
            dimensions: r.u32()?,
            cluster: [r.u32()?, r.u32()?, r.u32()?],
            max_cluster: r.u32()?,
            is_cooperative: r.flag("cooperation flag")?,
        },
        params: r.list(Reader::param)?,
        result: if r.flag("result flag")? { Some(r.param()?) } else { None },
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
                    3 => Access::Plane,
                    4 => Access::Volume,
                    5 => Access::Strided,
                    value => return Err(DecodeError::Unknown { what: "access", value }),
                };
                Pointee { access, size: self.u64()?, align: self.u64()? }
            }),
            value => return Err(DecodeError::Unknown { what: "pointee flag", value }),
        };
        Ok(Type { class, size, align, pointee })
    }

    fn param(&mut self) -> Result<OwnedParam, DecodeError> {
        Ok(OwnedParam {
            name: self.string()?,
            rust_type: self.string()?,
            ty: self.ty()?,
            cxx: self.cxx()?,
            definition: self.definition()?,
        })
    }

    fn flag(&mut self, what: &'static str) -> Result<bool, DecodeError> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            value => Err(DecodeError::Unknown { what, value }),
        }
    }

    fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Result<T, DecodeError>) -> Result<Vec<T>, DecodeError> {
        (0..self.u16()?).map(|_| one(self)).collect()
    }

    fn builtin(&mut self) -> Result<Builtin, DecodeError> {
        let value = self.u8()?;
        Builtin::from_number(value).ok_or(DecodeError::Unknown { what: "builtin type", value })
    }

    fn i128(&mut self) -> Result<i128, DecodeError> {
        Ok(i128::from_le_bytes(self.array()?))
    }

    fn cxx(&mut self) -> Result<OwnedCxx, DecodeError> {
        Ok(match self.u8()? {
            0 => OwnedCxx::Builtin(self.builtin()?),
            1 => OwnedCxx::Named(self.name()?),
            2 => OwnedCxx::Pointer(Box::new(self.cxx()?)),
            3 => OwnedCxx::Reference(Box::new(self.cxx()?)),
            4 => OwnedCxx::Const(Box::new(self.cxx()?)),
            5 => OwnedCxx::Restrict(Box::new(self.cxx()?)),
            6 => OwnedCxx::Volatile(Box::new(self.cxx()?)),
            7 => OwnedCxx::Array { element: Box::new(self.cxx()?), len: self.u64()? },
            8 => OwnedCxx::Function { result: Box::new(self.cxx()?), params: self.list(Self::cxx)? },
            9 => OwnedCxx::Parameter(self.u32()?),
            value => return Err(DecodeError::Unknown { what: "C++ type", value }),
        })
    }

    fn name(&mut self) -> Result<OwnedName, DecodeError> {
        let keyword = match self.u8()? {
            0 => Keyword::Struct,
            1 => Keyword::Union,
            2 => Keyword::Enum,
            value => return Err(DecodeError::Unknown { what: "keyword", value }),
        };
        Ok(OwnedName {
            keyword,
            namespace: self.string()?,
            name: self.string()?,
            arguments: self.list(Self::argument)?,
            header: self.string()?,
        })
    }

    fn argument(&mut self) -> Result<OwnedArgument, DecodeError> {
        Ok(match self.u8()? {
            0 => OwnedArgument::Type(self.cxx()?),
            1 => OwnedArgument::Value { ty: self.builtin()?, value: self.i128()? },
            value => return Err(DecodeError::Unknown { what: "template argument", value }),
        })
    }

    fn definition(&mut self) -> Result<OwnedDefinition, DecodeError> {
        let (cxx, size, align) = (self.cxx()?, self.u64()?, self.u64()?);
        let body = match self.u8()? {
            0 => OwnedBody::Opaque,
            1 => OwnedBody::Record { packed: self.u64()?, fields: self.list(Self::field)? },
            2 => OwnedBody::Enum {
                underlying: self.builtin()?,
                variants: self.list(|r| Ok(OwnedVariant { name: r.string()?, value: r.i128()? }))?,
            },
            value => return Err(DecodeError::Unknown { what: "definition", value }),
        };
        Ok(OwnedDefinition { cxx, size, align, body })
    }

    fn field(&mut self) -> Result<OwnedField, DecodeError> {
        Ok(OwnedField {
            name: self.string()?,
            cxx: self.cxx()?,
            offset: self.u64()?,
            bits: if self.flag("bit-field flag")? { Some(Bits { start: self.u8()?, width: self.u8()? }) } else { None },
            definition: self.definition()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cxx::{Argument, Body, Cxx, Definition, Field, Name, Variant};
    use crate::pieces;
    use crate::{Described, Descriptor, Encoded, EncodedType, Param};

    const FLOAT: Cxx<'static> = Cxx::Builtin(Builtin::Float);
    const PAIR: Cxx<'static> = Cxx::Named(Name {
        keyword: Keyword::Struct,
        namespace: "a::b",
        name: "Pair",
        arguments: &[Argument::Type(&FLOAT), Argument::Value { ty: Builtin::Int, value: -3 }],
        header: "",
    });
    const DEFINITION: Definition<'static> = Definition {
        cxx: PAIR,
        size: 48,
        align: 16,
        body: Body::Record {
            fields: &[Field {
                name: "x",
                cxx: Cxx::Array { element: &FLOAT, len: 3 },
                offset: 4,
                bits: Some(Bits { start: 3, width: 9 }),
                definition: &Definition {
                    cxx: Cxx::Builtin(Builtin::Int),
                    size: 4,
                    align: 4,
                    body: Body::Enum { underlying: Builtin::Int, variants: &[Variant { name: "A", value: -1 }] },
                },
            }],
            packed: 2,
        },
    };
    const PARAMS: [Param<'static>; 3] = [
        Param {
            name: "a",
            rust_type: "f32",
            ty: Type::scalar::<f32>(Class::Float),
            cxx: FLOAT,
            definition: &Definition::OPAQUE,
        },
        Param {
            name: "x",
            rust_type: "&[f32]",
            ty: Type::slice::<f32>(Access::Shared),
            cxx: Cxx::Pointer(&Cxx::Const(&Cxx::Restrict(&Cxx::Volatile(&Cxx::Reference(&FLOAT))))),
            definition: &Definition::OPAQUE,
        },
        Param {
            name: "s",
            rust_type: "[u128; 3]",
            ty: Type::aggregate::<[u128; 3]>(),
            cxx: PAIR,
            definition: &DEFINITION,
        },
    ];
    const DESCRIPTOR: Descriptor<'static> = Descriptor {
        kind: Kind::Import,
        mangling: Mangling::Cxx,
        namespace: "n::m",
        name: "saxpy",
        template: Some(&[Argument::Type(&Cxx::Parameter(1))]),
        module_path: "demo::kernels",
        file: "src/lib.rs",
        line: 12,
        column: 5,
        bounds: LaunchBounds {
            max_threads: 256,
            min_blocks: 2,
            max_registers: 0,
            dimensions: 1,
            cluster: [2, 3, 1],
            max_cluster: 8,
            is_cooperative: true,
        },
        params: &PARAMS,
        result: Some(RESULT),
    };
    const RESULT: Param<'static> =
        Param { name: "", cxx: Cxx::Function { result: &FLOAT, params: &[FLOAT, PAIR] }, ..PARAMS[0] };

    /// Over what is kept of a type, and of a descriptor.
    const LONG: &str = match core::str::from_utf8(&[b'x'; 3000]) {
        Ok(text) => text,
        Err(_) => "",
    };

    const DESCRIBED: Described<'static> = described("demo::kernels");

    const fn described(module_path: &'static str) -> Described<'static> {
        const TYPES: [EncodedType<'static>; 4] =
            [encoded(PARAMS[0]), encoded(PARAMS[1]), encoded(PARAMS[2]), encoded(RESULT)];
        Described {
            head: b"PTXI\x04\0\x02\x01\x04\0n::m\x05\0saxpy",
            template: DESCRIPTOR.template,
            module_path,
            file: DESCRIPTOR.file,
            place: [DESCRIPTOR.line, DESCRIPTOR.column],
            bounds: Some(&DESCRIPTOR.bounds),
            params: &[
                (b"\x01\0a\x03\0f32", &TYPES[0]),
                (b"\x01\0x\x06\0&[f32]", &TYPES[1]),
                (b"\x01\0s\x09\0[u128; 3]", &TYPES[2]),
            ],
            result: Some((b"\0\0\x03\0f32", &TYPES[3])),
        }
    }

    const fn encoded(param: Param<'static>) -> EncodedType<'static> {
        EncodedType::of(param.ty, param.cxx, param.definition)
    }

    const ENCODED: Encoded<'static> = Encoded::of(&DESCRIBED);
    const BYTES: [u8; ENCODED.len()] = ENCODED.entry(core::ptr::null()).bytes;

    #[test]
    fn the_macros_pieces_are_those() {
        let described = described("");
        assert_eq!(pieces::head(Kind::Import, Mangling::Cxx, "n::m", "saxpy").unwrap(), described.head);
        for ((bytes, _), param) in described.params.iter().zip(&PARAMS) {
            assert_eq!(pieces::param(param.name, param.rust_type).unwrap(), *bytes);
        }
        assert_eq!(pieces::param("", "f32").unwrap(), described.result.unwrap().0);
        assert_eq!(pieces::head(Kind::Kernel, Mangling::C, "", &"x".repeat(65_536)), None);
    }

    #[test]
    fn what_is_long_is_encoded_too() {
        const DESCRIBED: Described<'static> = described(LONG);
        const ENCODED: Encoded<'static> = Encoded::of(&DESCRIBED);
        const BYTES: [u8; ENCODED.len()] = ENCODED.entry(core::ptr::null()).bytes;
        let decoded = decode(&BYTES).unwrap();
        assert_eq!((decoded.module_path.as_str(), decoded.params.len()), (LONG, PARAMS.len()));

        const NAMED: Cxx<'static> =
            Cxx::Named(Name { keyword: Keyword::Struct, namespace: "", name: LONG, arguments: &[], header: "" });
        const TYPE: EncodedType<'static> = EncodedType::of(PARAMS[0].ty, NAMED, &Definition::OPAQUE);
        const OF_TYPE: Described<'static> =
            Described { params: &[(b"\0\0\0\0", &TYPE), (b"\0\0\0\0", &TYPE)], ..described("") };
        const LONG_TYPE: Encoded<'static> = Encoded::of(&OF_TYPE);
        let bytes = const { LONG_TYPE.entry::<{ LONG_TYPE.len() }>(core::ptr::null()).bytes };
        let decoded = decode(&bytes).unwrap();
        assert_eq!(decoded.params[1].cxx, OwnedCxx::from(&NAMED));
        assert_eq!(decoded.params[1].ty, PARAMS[0].ty);
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        let decoded = decode(&BYTES).unwrap();
        assert_eq!((decoded.kind, decoded.mangling), (Kind::Import, Mangling::Cxx));
        assert_eq!((decoded.namespace.as_str(), decoded.name.as_str()), ("n::m", "saxpy"));
        assert_eq!(decoded.template.as_deref(), Some([OwnedArgument::Type(OwnedCxx::Parameter(1))].as_slice()));
        assert_eq!(decoded.module_path, "demo::kernels");
        assert_eq!((decoded.file.as_str(), decoded.line, decoded.column), ("src/lib.rs", 12, 5));
        assert_eq!(decoded.bounds, DESCRIPTOR.bounds);
        let given = PARAMS.iter().chain(&DESCRIPTOR.result);
        assert_eq!(decoded.params.len(), PARAMS.len());
        for (owned, param) in decoded.params.iter().chain(&decoded.result).zip(given) {
            assert_eq!(
                (owned.name.as_str(), owned.rust_type.as_str(), owned.ty),
                (param.name, param.rust_type, param.ty)
            );
            assert_eq!(owned.cxx, OwnedCxx::from(&param.cxx));
            assert_eq!(owned.definition, OwnedDefinition::from(param.definition));
        }
        assert!(decoded.result.is_some());
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
