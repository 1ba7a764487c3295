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
    /// A line or a column is no number.
    NotANumber,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotADescriptor => f.write_str("it does not begin with the descriptor's magic number"),
            Self::Version(v) => write!(f, "it has format version {v}, this compiler reads version {VERSION}"),
            Self::Truncated => f.write_str("it ends too early"),
            Self::Unknown { what, value } => write!(f, "it has an unknown {what} ({value})"),
            Self::NotUtf8 => f.write_str("a name in it is not UTF-8"),
            Self::NotANumber => f.write_str("a line or a column in it is no number"),
        }
    }
}

impl core::error::Error for DecodeError {}

/// The descriptor in `bytes`, the pieces of an [`crate::Entry`] one behind the other.
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
    let (has_template, has_bounds) = (r.flag("template flag")?, r.flag("bounds flag")?);
    let has_result = r.flag("result flag")?;
    let (namespace, name) = (r.string()?, r.string()?);
    let names = r.list(|r| Ok((r.string()?, r.string()?)))?;
    let result = if has_result { Some(r.string()?) } else { None };
    let (module_path, file) = (r.text()?, r.text()?);
    let (line, column) = (r.decimal()?, r.decimal()?);
    let template = if has_template { Some(r.list(Reader::argument)?) } else { None };
    let bounds = if has_bounds { r.bounds()? } else { LaunchBounds::NONE };
    let params = names.into_iter().map(|(name, rust_type)| r.param(name, rust_type)).collect::<Result<_, _>>()?;
    let result = result.map(|rust_type| r.param(String::new(), rust_type)).transpose()?;
    Ok(OwnedDescriptor {
        kind,
        mangling,
        namespace,
        name,
        template,
        module_path,
        file,
        line,
        column,
        bounds,
        params,
        result,
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

    fn take(&mut self, len: usize) -> Result<&str, DecodeError> {
        let (head, tail) = self.0.split_at_checked(len).ok_or(DecodeError::Truncated)?;
        self.0 = tail;
        core::str::from_utf8(head).map_err(|_| DecodeError::NotUtf8)
    }

    fn string(&mut self) -> Result<String, DecodeError> {
        let len = usize::from(self.u16()?);
        self.take(len).map(ToString::to_string)
    }

    /// What a NUL ends.
    fn text(&mut self) -> Result<String, DecodeError> {
        let len = self.0.iter().position(|byte| *byte == 0).ok_or(DecodeError::Truncated)?;
        let text = self.take(len)?.to_string();
        self.u8().map(|_| text)
    }

    fn decimal(&mut self) -> Result<u32, DecodeError> {
        self.text()?.parse().map_err(|_| DecodeError::NotANumber)
    }

    fn bounds(&mut self) -> Result<LaunchBounds, DecodeError> {
        Ok(LaunchBounds {
            max_threads: self.u32()?,
            min_blocks: self.u32()?,
            max_registers: self.u32()?,
            dimensions: self.u32()?,
            cluster: [self.u32()?, self.u32()?, self.u32()?],
            max_cluster: self.u32()?,
            is_cooperative: self.flag("cooperation flag")?,
        })
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

    fn param(&mut self, name: String, rust_type: String) -> Result<OwnedParam, DecodeError> {
        Ok(OwnedParam { name, rust_type, ty: self.ty()?, cxx: self.cxx()?, definition: self.definition()? })
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
    use crate::pieces::Own;
    use crate::{
        CxxType, Descriptor, DeviceParam, Param, arguments_len, encode_arguments, encode_bounds, encode_type, type_len,
    };

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

    fn own(params: &[Param<'_>]) -> Vec<u8> {
        let params: Vec<_> = params.iter().map(|p| (p.name.to_string(), p.rust_type.to_string())).collect();
        let own = Own {
            kind: DESCRIPTOR.kind,
            mangling: DESCRIPTOR.mangling,
            namespace: DESCRIPTOR.namespace,
            name: DESCRIPTOR.name,
            has_template: true,
            has_bounds: true,
            params: &params,
            result: Some(RESULT.rust_type),
        };
        own.encoded().unwrap()
    }

    const PLACE: &str = "demo::kernels\0src/lib.rs\x0012\x005\0";

    /// The same of a type as the macros write where there is no trait's constant.
    macro_rules! encoded {
        ($ty:expr, $cxx:expr, $definition:expr) => {
            &const { encode_type::<{ type_len(&$ty, &$cxx, $definition) }>(&$ty, &$cxx, $definition) }
        };
        ($param:expr) => {
            encoded!($param.ty, $param.cxx, $param.definition)
        };
    }
    const TYPES: [&[u8]; 4] = [encoded!(PARAMS[0]), encoded!(PARAMS[1]), encoded!(PARAMS[2]), encoded!(RESULT)];

    fn bytes() -> Vec<u8> {
        const TEMPLATE: &[Argument<'static>] = &[Argument::Type(&Cxx::Parameter(1))];
        let template = encode_arguments::<{ arguments_len(TEMPLATE) }>(TEMPLATE);
        let bounds = encode_bounds(&DESCRIPTOR.bounds);
        [&own(&PARAMS)[..], PLACE.as_bytes(), &template, &bounds, &TYPES.concat()].concat()
    }

    #[test]
    fn what_is_too_long_for_the_format_is_nothing() {
        let long = "x".repeat(65_536);
        let one = |name: &str, params: &[(String, String)]| {
            let (kind, mangling) = (Kind::Kernel, Mangling::C);
            let own = Own {
                kind,
                mangling,
                namespace: "",
                name,
                has_template: false,
                has_bounds: false,
                params,
                result: None,
            };
            own.encoded().is_some()
        };
        assert!(one("k", &[]) && !one(&long, &[]));
        assert!(!one("k", &[(String::new(), long.clone())]));
        assert!(!one("k", &alloc::vec![Default::default(); 65_536]));
    }

    /// Types of every length that is kept, of which each but the last is too long for the one before.
    #[test]
    fn what_is_long_is_encoded_too() {
        struct Of<const LEN: usize>;
        impl<const LEN: usize> CxxType for Of<LEN> {
            const CXX: Cxx<'static> = Cxx::Named(Name {
                keyword: Keyword::Struct,
                namespace: "",
                name: match core::str::from_utf8(&[b'x'; 60_000]) {
                    Ok(text) => text.split_at(LEN).0,
                    Err(_) => "",
                },
                arguments: &[],
                header: "",
            });
        }
        // SAFETY: nobody passes it.
        unsafe impl<const LEN: usize> DeviceParam for Of<LEN> {
            type Raw = ();
            const TYPE: Type = PARAMS[0].ty;
            const CXX: Cxx<'static> = <Self as CxxType>::CXX;
            const DEFINITION: &'static Definition<'static> = &Definition {
                cxx: <Self as CxxType>::CXX,
                size: 1,
                align: 1,
                body: Body::Record {
                    fields: &[Field {
                        name: "y",
                        cxx: <Self as CxxType>::CXX,
                        offset: 0,
                        bits: None,
                        definition: &Definition::OPAQUE,
                    }],
                    packed: 0,
                },
            };
            unsafe fn from_raw((): ()) -> Self {
                Self
            }
            fn into_raw(self) {}
        }
        fn check<const LEN: usize>() {
            let (name, rust_type) = ("x".to_string(), "Of".to_string());
            let mut r = Reader(<Of<LEN> as DeviceParam>::ENCODED);
            let param = r.param(name, rust_type).unwrap();
            assert!(r.0.is_empty());
            assert_eq!(param.cxx, OwnedCxx::from(&<Of<LEN> as CxxType>::CXX));
            assert_eq!(param.definition, OwnedDefinition::from(<Of<LEN> as DeviceParam>::DEFINITION));
            assert_eq!(param.ty, PARAMS[0].ty);
        }
        check::<1>();
        check::<300>();
        check::<3000>();
        check::<60_000>();
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        let decoded = decode(&bytes()).unwrap();
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
        let bytes = bytes();
        for len in 0..bytes.len() {
            assert_eq!(decode(&bytes[..len]), Err(DecodeError::Truncated), "at {len}");
        }
    }

    #[test]
    fn a_changed_layout_changes_the_hash() {
        let mut params = PARAMS;
        params[2].ty.align = 32;
        assert_ne!(Descriptor { params: &params, ..DESCRIPTOR }.abi_hash(), DESCRIPTOR.abi_hash());
    }
}
