//! Descriptors to bytes, at compile time.
//!
//! Little-endian. Strings are a `u16` length and UTF-8. A pointee is one byte (0 absent, 1 present) and its fields.

use crate::descriptor::{Descriptor, Param, Type};
use crate::{MAGIC, VERSION};

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

    const fn param(self, param: &Param<'_>) -> Self {
        self.str(param.name).str(param.rust_type).ty(&param.ty)
    }

    const fn descriptor(self, descriptor: &Descriptor<'_>) -> Self {
        let mut this = self
            .bytes(&MAGIC)
            .u16(VERSION as usize)
            .bytes(&[descriptor.kind as u8, descriptor.mangling as u8])
            .str(descriptor.name)
            .str(descriptor.module_path)
            .str(descriptor.file)
            .bytes(&descriptor.line.to_le_bytes())
            .bytes(&descriptor.column.to_le_bytes())
            .bytes(&descriptor.bounds.max_threads.to_le_bytes())
            .bytes(&descriptor.bounds.min_blocks.to_le_bytes())
            .bytes(&descriptor.bounds.max_registers.to_le_bytes())
            .u16(descriptor.params.len());
        let mut i = 0;
        while i < descriptor.params.len() {
            this = this.param(&descriptor.params[i]);
            i += 1;
        }
        this
    }
}
