//! Descriptors to bytes, at compile time.
//!
//! Little-endian. Strings and lists are a `u16` length and what they hold. What may be absent is one byte (0 absent, 1
//! present) and its fields; what has cases is one byte for the case and its fields.

use crate::cxx::{Argument, Body, Cxx, Definition, Field};
use crate::descriptor::{Descriptor, LaunchBounds, MAGIC, Param, Type, VERSION};

/// Writes into a fixed array, or only counts when `N` is 0.
pub struct Encoder<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

/// Length of [`encode`]'s result.
pub const fn encoded_len(descriptor: &Descriptor<'_>) -> usize {
    let mut encoder = Encoder::<0>::new();
    encoder.descriptor(descriptor);
    encoder.len
}

/// The descriptor as bytes; `N` must be [`encoded_len`] of it.
pub const fn encode<const N: usize>(descriptor: &Descriptor<'_>) -> [u8; N] {
    let mut encoder = Encoder::<N>::new();
    encoder.descriptor(descriptor);
    assert!(encoder.len == N, "N is not the encoded length");
    encoder.bytes
}

// rustc interprets this for every kernel, and calls cost it most: `copy_from_slice` takes as long as a hundred bytes one by
// one, and an encoder that is handed on by value is copied at each call.
impl<const N: usize> Encoder<N> {
    const fn new() -> Self {
        Self { bytes: [0; N], len: 0 }
    }

    const fn bytes(&mut self, bytes: &[u8]) {
        if N > 0 {
            let mut i = 0;
            while i < bytes.len() {
                self.bytes[self.len + i] = bytes[i];
                i += 1;
            }
        }
        self.len += bytes.len();
    }

    const fn byte(&mut self, byte: u8) {
        if N > 0 {
            self.bytes[self.len] = byte;
        }
        self.len += 1;
    }

    const fn u16(&mut self, value: usize) {
        assert!(value <= u16::MAX as usize, "a name or a list in a kernel's descriptor is over 65,535 long");
        self.bytes(&(value as u16).to_le_bytes());
    }

    const fn u32(&mut self, value: u32) {
        self.bytes(&value.to_le_bytes());
    }

    const fn u64(&mut self, value: u64) {
        self.bytes(&value.to_le_bytes());
    }

    const fn i128(&mut self, value: i128) {
        self.bytes(&value.to_le_bytes());
    }

    const fn str(&mut self, text: &str) {
        self.u16(text.len());
        self.bytes(text.as_bytes());
    }

    const fn ty(&mut self, ty: &Type) {
        self.byte(ty.class as u8);
        self.u64(ty.size);
        self.u64(ty.align);
        match &ty.pointee {
            None => self.byte(0),
            Some(pointee) => {
                self.bytes(&[1, pointee.access as u8]);
                self.u64(pointee.size);
                self.u64(pointee.align);
            }
        }
    }

    const fn inner(&mut self, case: u8, inner: &Cxx<'_>) {
        self.byte(case);
        self.cxx(inner);
    }

    const fn cxx(&mut self, cxx: &Cxx<'_>) {
        match cxx {
            Cxx::Builtin(builtin) => self.bytes(&[0, *builtin as u8]),
            Cxx::Named(name) => {
                self.bytes(&[1, name.keyword as u8]);
                self.str(name.namespace);
                self.str(name.name);
                self.arguments(name.arguments);
                self.str(name.header);
            }
            Cxx::Pointer(inner) => self.inner(2, inner),
            Cxx::Reference(inner) => self.inner(3, inner),
            Cxx::Const(inner) => self.inner(4, inner),
            Cxx::Restrict(inner) => self.inner(5, inner),
            Cxx::Volatile(inner) => self.inner(6, inner),
            Cxx::Array { element, len } => {
                self.inner(7, element);
                self.u64(*len);
            }
            Cxx::Function { result, params } => {
                self.inner(8, result);
                self.u16(params.len());
                let mut i = 0;
                while i < params.len() {
                    self.cxx(&params[i]);
                    i += 1;
                }
            }
            Cxx::Parameter(index) => {
                self.byte(9);
                self.bytes(&index.to_le_bytes());
            }
        }
    }

    const fn arguments(&mut self, arguments: &[Argument<'_>]) {
        self.u16(arguments.len());
        let mut i = 0;
        while i < arguments.len() {
            match &arguments[i] {
                Argument::Type(ty) => self.inner(0, ty),
                Argument::Value { ty, value } => {
                    self.bytes(&[1, *ty as u8]);
                    self.i128(*value);
                }
            }
            i += 1;
        }
    }

    const fn definition(&mut self, definition: &Definition<'_>) {
        self.cxx(&definition.cxx);
        self.u64(definition.size);
        self.u64(definition.align);
        match &definition.body {
            Body::Opaque => self.byte(0),
            Body::Record { fields, packed } => {
                self.byte(1);
                self.bytes(&packed.to_le_bytes());
                self.u16(fields.len());
                let mut i = 0;
                while i < fields.len() {
                    self.field(&fields[i]);
                    i += 1;
                }
            }
            Body::Enum { underlying, variants } => {
                self.bytes(&[2, *underlying as u8]);
                self.u16(variants.len());
                let mut i = 0;
                while i < variants.len() {
                    self.str(variants[i].name);
                    self.i128(variants[i].value);
                    i += 1;
                }
            }
        }
    }

    const fn field(&mut self, field: &Field<'_>) {
        self.str(field.name);
        self.cxx(&field.cxx);
        self.bytes(&field.offset.to_le_bytes());
        match &field.bits {
            None => self.byte(0),
            Some(bits) => self.bytes(&[1, bits.start, bits.width]),
        }
        self.definition(field.definition);
    }

    const fn param(&mut self, param: &Param<'_>) {
        self.str(param.name);
        self.str(param.rust_type);
        self.ty(&param.ty);
        self.cxx(&param.cxx);
        self.definition(param.definition);
    }

    const fn bounds(&mut self, bounds: &LaunchBounds) {
        self.u32(bounds.max_threads);
        self.u32(bounds.min_blocks);
        self.u32(bounds.max_registers);
        self.u32(bounds.dimensions);
        self.u32(bounds.cluster[0]);
        self.u32(bounds.cluster[1]);
        self.u32(bounds.cluster[2]);
        self.u32(bounds.max_cluster);
        self.byte(bounds.is_cooperative as u8);
    }

    const fn descriptor(&mut self, descriptor: &Descriptor<'_>) {
        self.bytes(&MAGIC);
        self.u16(VERSION as usize);
        self.bytes(&[descriptor.kind as u8, descriptor.mangling as u8]);
        self.str(descriptor.namespace);
        self.str(descriptor.name);
        match descriptor.template {
            None => self.byte(0),
            Some(arguments) => {
                self.byte(1);
                self.arguments(arguments);
            }
        }
        self.str(descriptor.module_path);
        self.str(descriptor.file);
        self.u32(descriptor.line);
        self.u32(descriptor.column);
        self.bounds(&descriptor.bounds);
        self.u16(descriptor.params.len());
        let mut i = 0;
        while i < descriptor.params.len() {
            self.param(&descriptor.params[i]);
            i += 1;
        }
        match &descriptor.result {
            None => self.byte(0),
            Some(result) => {
                self.byte(1);
                self.param(result);
            }
        }
    }
}
