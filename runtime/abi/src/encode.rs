//! Descriptors to bytes, at compile time.
//!
//! Little-endian. Strings and lists are a `u16` length and what they hold. What may be absent is one byte (0 absent, 1
//! present) and its fields; what has cases is one byte for the case and its fields.

use crate::cxx::{Argument, Body, Cxx, Definition, Field};
use crate::descriptor::{Entry, LaunchBounds, Type};

/// What a device build's macros say of a function, which is its encoded descriptor when it stands in one row.
///
/// What the macros know is in bytes already (`pieces`), and what a type says is encoded once for all functions that
/// have it: rustc interprets what remains for every function.
#[derive(Debug)]
pub struct Described<'a> {
    /// Magic number, version, kind, mangling, namespace and name.
    pub head: &'a [u8],
    /// See [`crate::Descriptor::template`].
    pub template: Option<&'a [Argument<'a>]>,
    /// `module_path!()` of the definition.
    pub module_path: &'a str,
    /// `file!()` of the definition.
    pub file: &'a str,
    /// `line!()` and `column!()` of the definition.
    pub place: [u32; 2],
    /// The limits that the kernel was compiled for, if it has any.
    pub bounds: Option<&'a LaunchBounds>,
    /// Name and type in the source of each parameter, and what the type says.
    pub params: &'a [(&'a [u8], &'a EncodedType<'a>)],
    /// The same of the result of a device function that has one.
    pub result: Option<(&'a [u8], &'a EncodedType<'a>)>,
}

/// What a type says of itself, with its encoded form.
#[derive(Debug)]
pub struct EncodedType<'a> {
    ty: Type,
    cxx: Cxx<'a>,
    definition: &'a Definition<'a>,
    encoder: Encoder<TYPE_LEN>,
}

/// A descriptor with its encoded form.
#[derive(Debug)]
pub struct Encoded<'a> {
    described: &'a Described<'a>,
    encoder: Encoder<LEN>,
}

/// The length of all but very long descriptors; those are encoded again, into an array of their own length.
const LEN: usize = 2048;

/// The same for types.
const TYPE_LEN: usize = 256;

/// The length of bounds, of which all bytes are 0 where none are given: eight numbers and a truth value.
const NO_BOUNDS: usize = size_of::<[u32; 8]>() + 1;

/// Counts what it is given, and keeps it as far as it fits.
#[derive(Debug)]
pub struct Encoder<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<'a> EncodedType<'a> {
    /// What a parameter of the type, or a result, says after its name.
    pub const fn of(ty: Type, cxx: Cxx<'a>, definition: &'a Definition<'a>) -> Self {
        let mut encoder = Encoder::new();
        encoder.ty(&ty);
        encoder.cxx(&cxx);
        encoder.definition(definition);
        Self { ty, cxx, definition, encoder }
    }
}

impl<'a> Encoded<'a> {
    /// The descriptor as bytes.
    pub const fn of(described: &'a Described<'a>) -> Self {
        let mut encoder = Encoder::new();
        encoder.descriptor(described);
        Self { described, encoder }
    }

    /// In bytes.
    #[expect(clippy::len_without_is_empty, reason = "no descriptor is empty")]
    pub const fn len(&self) -> usize {
        self.encoder.len
    }

    /// The bytes beside the function that they describe; `N` must be [`Encoded::len`].
    pub const fn entry<const N: usize>(&self, shim: *const ()) -> Entry<N> {
        assert!(N == self.encoder.len, "N is not the encoded length");
        let bytes = match self.encoder.bytes.first_chunk() {
            Some(bytes) => *bytes,
            None => {
                let mut encoder = Encoder::new();
                encoder.descriptor(self.described);
                encoder.bytes
            }
        };
        Entry { shim, bytes }
    }
}

impl<const N: usize> Encoder<N> {
    const fn new() -> Self {
        Self { bytes: [0; N], len: 0 }
    }

    // Calls cost the interpreter most: bytes are not copied one by one, nor with a slice's methods.
    const fn bytes(&mut self, bytes: &[u8]) {
        let len = self.len + bytes.len();
        if len <= N {
            let place = (&raw mut self.bytes).cast::<u8>();
            // SAFETY: there is room behind what is there already; the slice is none of our bytes, which are borrowed.
            unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), place.add(self.len), bytes.len()) };
        }
        self.len = len;
    }

    const fn byte(&mut self, byte: u8) {
        if self.len < N {
            self.bytes[self.len] = byte;
        }
        self.len += 1;
    }

    const fn u16(&mut self, value: usize) {
        assert!(value <= u16::MAX as usize, "a name or a list in a kernel's descriptor is over 65,535 long");
        self.bytes(&[value as u8, (value >> 8) as u8]);
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

    const fn param(&mut self, (name, ty): (&[u8], &EncodedType<'_>)) {
        self.bytes(name);
        match ty.encoder.bytes.split_at_checked(ty.encoder.len) {
            Some((bytes, _)) => self.bytes(bytes),
            None => {
                self.ty(&ty.ty);
                self.cxx(&ty.cxx);
                self.definition(ty.definition);
            }
        }
    }

    const fn bounds(&mut self, bounds: Option<&LaunchBounds>) {
        let Some(bounds) = bounds else { return self.bytes(&[0; NO_BOUNDS]) };
        let [x, y, z] = bounds.cluster;
        let LaunchBounds { max_threads, min_blocks, max_registers, dimensions, max_cluster, .. } = *bounds;
        let numbers = [max_threads, min_blocks, max_registers, dimensions, x, y, z, max_cluster];
        let mut i = 0;
        while i < numbers.len() {
            self.u32(numbers[i]);
            i += 1;
        }
        self.byte(bounds.is_cooperative as u8);
    }

    const fn descriptor(&mut self, described: &Described<'_>) {
        self.bytes(described.head);
        match described.template {
            None => self.byte(0),
            Some(arguments) => {
                self.byte(1);
                self.arguments(arguments);
            }
        }
        self.str(described.module_path);
        self.str(described.file);
        self.u32(described.place[0]);
        self.u32(described.place[1]);
        self.bounds(described.bounds);
        self.u16(described.params.len());
        let mut i = 0;
        while i < described.params.len() {
            self.param(described.params[i]);
            i += 1;
        }
        match described.result {
            None => self.byte(0),
            Some(result) => {
                self.byte(1);
                self.param(result);
            }
        }
    }
}
