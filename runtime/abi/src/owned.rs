//! The C++ types of [`crate::cxx`] as the compiler and the host hold them.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::cxx::{self, Bits, Builtin, Cxx, Keyword, Variant};

/// See [`Cxx`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "documented on `Cxx`")]
pub enum OwnedCxx {
    Builtin(Builtin),
    Named(OwnedName),
    Pointer(Box<Self>),
    Reference(Box<Self>),
    Const(Box<Self>),
    Restrict(Box<Self>),
    Volatile(Box<Self>),
    Array { element: Box<Self>, len: u64 },
    Function { result: Box<Self>, params: Vec<Self> },
    Parameter(u32),
}

/// See [`cxx::Name`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "documented on `Name`")]
pub struct OwnedName {
    pub keyword: Keyword,
    pub namespace: String,
    pub name: String,
    pub arguments: Vec<OwnedArgument>,
    pub header: String,
}

/// See [`cxx::Argument`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "documented on `Argument`")]
pub enum OwnedArgument {
    Type(OwnedCxx),
    Value { ty: Builtin, value: i128 },
}

/// See [`cxx::Definition`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "documented on `Definition`")]
pub struct OwnedDefinition {
    pub cxx: OwnedCxx,
    pub size: u64,
    pub align: u64,
    pub body: OwnedBody,
}

/// See [`cxx::Body`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "documented on `Body`")]
pub enum OwnedBody {
    Opaque,
    Record { fields: Vec<OwnedField>, packed: u64 },
    Enum { underlying: Builtin, variants: Vec<OwnedVariant> },
}

/// See [`cxx::Field`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "documented on `Field`")]
pub struct OwnedField {
    pub name: String,
    pub cxx: OwnedCxx,
    pub offset: u64,
    pub bits: Option<Bits>,
    pub definition: OwnedDefinition,
}

/// See [`Variant`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "documented on `Variant`")]
pub struct OwnedVariant {
    pub name: String,
    pub value: i128,
}

impl From<&Cxx<'_>> for OwnedCxx {
    fn from(cxx: &Cxx<'_>) -> Self {
        let boxed = |inner: &Cxx<'_>| Box::new(Self::from(inner));
        match *cxx {
            Cxx::Builtin(builtin) => Self::Builtin(builtin),
            Cxx::Named(name) => Self::Named(OwnedName {
                keyword: name.keyword,
                namespace: name.namespace.to_string(),
                name: name.name.to_string(),
                arguments: name.arguments.iter().map(OwnedArgument::from).collect(),
                header: name.header.to_string(),
            }),
            Cxx::Pointer(inner) => Self::Pointer(boxed(inner)),
            Cxx::Reference(inner) => Self::Reference(boxed(inner)),
            Cxx::Const(inner) => Self::Const(boxed(inner)),
            Cxx::Restrict(inner) => Self::Restrict(boxed(inner)),
            Cxx::Volatile(inner) => Self::Volatile(boxed(inner)),
            Cxx::Array { element, len } => Self::Array { element: boxed(element), len },
            Cxx::Function { result, params } => {
                Self::Function { result: boxed(result), params: params.iter().map(Self::from).collect() }
            }
            Cxx::Parameter(index) => Self::Parameter(index),
        }
    }
}

impl From<&cxx::Argument<'_>> for OwnedArgument {
    fn from(argument: &cxx::Argument<'_>) -> Self {
        match *argument {
            cxx::Argument::Type(ty) => Self::Type(ty.into()),
            cxx::Argument::Value { ty, value } => Self::Value { ty, value },
        }
    }
}

impl From<&cxx::Definition<'_>> for OwnedDefinition {
    fn from(definition: &cxx::Definition<'_>) -> Self {
        let body = match definition.body {
            cxx::Body::Opaque => OwnedBody::Opaque,
            cxx::Body::Record { fields, packed } => {
                OwnedBody::Record { fields: fields.iter().map(OwnedField::from).collect(), packed }
            }
            cxx::Body::Enum { underlying, variants } => {
                let owned = |v: &Variant<'_>| OwnedVariant { name: v.name.to_string(), value: v.value };
                OwnedBody::Enum { underlying, variants: variants.iter().map(owned).collect() }
            }
        };
        Self { cxx: (&definition.cxx).into(), size: definition.size, align: definition.align, body }
    }
}

impl From<&cxx::Field<'_>> for OwnedField {
    fn from(field: &cxx::Field<'_>) -> Self {
        Self {
            name: field.name.to_string(),
            cxx: (&field.cxx).into(),
            offset: field.offset,
            bits: field.bits,
            definition: field.definition.into(),
        }
    }
}
