//! Descriptors to bytes, at compile time.
//!
//! Little-endian. Strings and lists are a `u16` length and what they hold. What may be absent is one byte (0 absent, 1
//! present) and its fields; what has cases is one byte for the case and its fields.

use crate::cxx::{Argument, Body, Cxx, Definition, Field};
use crate::descriptor::{Descriptor, MAGIC, Param, Type, VERSION};

/// Writes into a fixed array, or only counts when `N` is 0.
pub struct Encoder<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

/// Length of [`encode`]'s result.
pub const fn encoded_len(descriptor: &Descriptor<'_>) -> usize {
    Encoder::<0>::new().descriptor(descriptor).len
}

/// The descriptor as bytes; `N` must be [`encoded_len`] of it.
pub const fn encode<const N: usize>(descriptor: &Descriptor<'_>) -> [u8; N] {
    let encoder = Encoder::<N>::new().descriptor(descriptor);
    assert!(encoder.len == N, "N is not the encoded length");
    encoder.bytes
}

impl<const N: usize> Encoder<N> {
    const fn new() -> Self {
        Self { bytes: [0; N], len: 0 }
    }

    const fn bytes(mut self, bytes: &[u8]) -> Self {
        let mut i = 0;
        while i < bytes.len() {
            if N > 0 {
                self.bytes[self.len] = bytes[i];
            }
            self.len += 1;
            i += 1;
        }
        self
    }

    const fn u16(self, value: usize) -> Self {
        assert!(value <= u16::MAX as usize, "a name or a list in a kernel's descriptor is over 65,535 long");
        self.bytes(&(value as u16).to_le_bytes())
    }

    const fn str(self, text: &str) -> Self {
        self.u16(text.len()).bytes(text.as_bytes())
    }

    const fn ty(self, ty: &Type) -> Self {
        let this = self.bytes(&[ty.class as u8]).bytes(&ty.size.to_le_bytes()).bytes(&ty.align.to_le_bytes());
        match &ty.pointee {
            None => this.bytes(&[0]),
            Some(pointee) => this
                .bytes(&[1, pointee.access as u8])
                .bytes(&pointee.size.to_le_bytes())
                .bytes(&pointee.align.to_le_bytes()),
        }
    }

    const fn i128(self, value: i128) -> Self {
        self.bytes(&value.to_le_bytes())
    }

    const fn cxx(self, cxx: &Cxx<'_>) -> Self {
        match cxx {
            Cxx::Builtin(builtin) => self.bytes(&[0, *builtin as u8]),
            Cxx::Named(name) => {
                let this = self.bytes(&[1, name.keyword as u8]).str(name.namespace).str(name.name);
                this.arguments(name.arguments).str(name.header)
            }
            Cxx::Pointer(inner) => self.bytes(&[2]).cxx(inner),
            Cxx::Reference(inner) => self.bytes(&[3]).cxx(inner),
            Cxx::Const(inner) => self.bytes(&[4]).cxx(inner),
            Cxx::Restrict(inner) => self.bytes(&[5]).cxx(inner),
            Cxx::Volatile(inner) => self.bytes(&[6]).cxx(inner),
            Cxx::Array { element, len } => self.bytes(&[7]).cxx(element).bytes(&len.to_le_bytes()),
            Cxx::Function { result, params } => {
                let mut this = self.bytes(&[8]).cxx(result).u16(params.len());
                let mut i = 0;
                while i < params.len() {
                    this = this.cxx(&params[i]);
                    i += 1;
                }
                this
            }
            Cxx::Parameter(index) => self.bytes(&[9]).bytes(&index.to_le_bytes()),
        }
    }

    const fn arguments(self, arguments: &[Argument<'_>]) -> Self {
        let mut this = self.u16(arguments.len());
        let mut i = 0;
        while i < arguments.len() {
            this = match &arguments[i] {
                Argument::Type(ty) => this.bytes(&[0]).cxx(ty),
                Argument::Value { ty, value } => this.bytes(&[1, *ty as u8]).i128(*value),
            };
            i += 1;
        }
        this
    }

    const fn definition(self, definition: &Definition<'_>) -> Self {
        let this = self.cxx(&definition.cxx).bytes(&definition.size.to_le_bytes());
        let this = this.bytes(&definition.align.to_le_bytes());
        match &definition.body {
            Body::Opaque => this.bytes(&[0]),
            Body::Record { fields, packed } => {
                let mut this = this.bytes(&[1]).bytes(&packed.to_le_bytes()).u16(fields.len());
                let mut i = 0;
                while i < fields.len() {
                    this = this.field(&fields[i]);
                    i += 1;
                }
                this
            }
            Body::Enum { underlying, variants } => {
                let mut this = this.bytes(&[2, *underlying as u8]).u16(variants.len());
                let mut i = 0;
                while i < variants.len() {
                    this = this.str(variants[i].name).i128(variants[i].value);
                    i += 1;
                }
                this
            }
        }
    }

    const fn field(self, field: &Field<'_>) -> Self {
        let this = self.str(field.name).cxx(&field.cxx).bytes(&field.offset.to_le_bytes());
        let this = match &field.bits {
            None => this.bytes(&[0]),
            Some(bits) => this.bytes(&[1, bits.start, bits.width]),
        };
        this.definition(field.definition)
    }

    const fn param(self, param: &Param<'_>) -> Self {
        self.str(param.name).str(param.rust_type).ty(&param.ty).cxx(&param.cxx).definition(param.definition)
    }

    const fn descriptor(self, descriptor: &Descriptor<'_>) -> Self {
        let mut this = self
            .bytes(&MAGIC)
            .u16(VERSION as usize)
            .bytes(&[descriptor.kind as u8, descriptor.mangling as u8])
            .str(descriptor.namespace)
            .str(descriptor.name);
        this = match descriptor.template {
            None => this.bytes(&[0]),
            Some(arguments) => this.bytes(&[1]).arguments(arguments),
        };
        this = this
            .str(descriptor.module_path)
            .str(descriptor.file)
            .bytes(&descriptor.line.to_le_bytes())
            .bytes(&descriptor.column.to_le_bytes())
            .bytes(&descriptor.bounds.max_threads.to_le_bytes())
            .bytes(&descriptor.bounds.min_blocks.to_le_bytes())
            .bytes(&descriptor.bounds.max_registers.to_le_bytes())
            .bytes(&descriptor.bounds.dimensions.to_le_bytes())
            .bytes(&descriptor.bounds.cluster[0].to_le_bytes())
            .bytes(&descriptor.bounds.cluster[1].to_le_bytes())
            .bytes(&descriptor.bounds.cluster[2].to_le_bytes())
            .bytes(&descriptor.bounds.max_cluster.to_le_bytes())
            .bytes(&[descriptor.bounds.is_cooperative as u8])
            .u16(descriptor.params.len());
        let mut i = 0;
        while i < descriptor.params.len() {
            this = this.param(&descriptor.params[i]);
            i += 1;
        }
        match &descriptor.result {
            None => this.bytes(&[0]),
            Some(result) => this.bytes(&[1]).param(result),
        }
    }
}
