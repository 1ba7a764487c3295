//! Descriptors to bytes, at compile time: what the macros cannot know of a function, because only rustc knows its types.
//!
//! Little-endian. Strings and lists are a `u16` length and what they hold. What may be absent is one byte (0 absent, 1
//! present) and its fields; what has cases is one byte for the case and its fields.
//!
//! rustc interprets this, at every build: once for each type, and not again for each function that has it.

use core::marker::PhantomData;

use crate::cxx::{Argument, Body, Cxx, Definition, Field};
use crate::descriptor::{LaunchBounds, Type};

/// What is encoded of a type: the constants of `DeviceParam`.
pub(crate) trait Describe {
    const TYPE: Type;
    const CXX: Cxx<'static>;
    const DEFINITION: &'static Definition<'static>;
}

/// What a parameter of the type, or a result, says after its name: `DeviceParam::ENCODED`.
pub(crate) const fn of<T: Describe + ?Sized>() -> &'static [u8] {
    Of::<T>::within_256()
}

/// The encoded form of a type. An array's length must be known before what it holds, so it is as long as most need, and
/// longer where that is not enough: what is not called is not interpreted.
struct Of<T: ?Sized>(PhantomData<T>);

impl<T: Describe + ?Sized> Of<T> {
    const IN_256: Encoder<256> = Self::encoder();
    const IN_4_KIB: Encoder<4096> = Self::encoder();
    const IN_64_KIB: Encoder<65_536> = Self::encoder();
    const IN_1_MIB: Encoder<1_048_576> = Self::encoder();

    const fn encoder<const N: usize>() -> Encoder<N> {
        let mut encoder = Encoder::new();
        encoder.described(&T::TYPE, &T::CXX, T::DEFINITION);
        encoder
    }

    const fn within_256() -> &'static [u8] {
        match (const { &Self::IN_256 }).whole() {
            Some(bytes) => bytes,
            None => Self::within_4_kib(),
        }
    }

    const fn within_4_kib() -> &'static [u8] {
        match (const { &Self::IN_4_KIB }).whole() {
            Some(bytes) => bytes,
            None => Self::within_64_kib(),
        }
    }

    const fn within_64_kib() -> &'static [u8] {
        match (const { &Self::IN_64_KIB }).whole() {
            Some(bytes) => bytes,
            None => Self::within_1_mib(),
        }
    }

    const fn within_1_mib() -> &'static [u8] {
        (const { &Self::IN_1_MIB }).whole().expect("a type in a signature takes over 1 MiB to describe")
    }
}

/// The length of [`encode_type`]'s bytes.
pub const fn type_len(ty: &Type, cxx: &Cxx<'_>, definition: &Definition<'_>) -> usize {
    let mut encoder = Encoder::<0>::new();
    encoder.described(ty, cxx, definition);
    encoder.len
}

/// As `DeviceParam::ENCODED`, of what is no type's; `N` must be [`type_len`].
pub const fn encode_type<const N: usize>(ty: &Type, cxx: &Cxx<'_>, definition: &Definition<'_>) -> [u8; N] {
    let mut encoder = Encoder::new();
    encoder.described(ty, cxx, definition);
    encoder.all()
}

/// The length of [`encode_arguments`]'s bytes.
pub const fn arguments_len(arguments: &[Argument<'_>]) -> usize {
    let mut encoder = Encoder::<0>::new();
    encoder.arguments(arguments);
    encoder.len
}

/// The arguments of an instance of a function template; `N` must be [`arguments_len`].
pub const fn encode_arguments<const N: usize>(arguments: &[Argument<'_>]) -> [u8; N] {
    let mut encoder = Encoder::new();
    encoder.arguments(arguments);
    encoder.all()
}

/// The length of [`encode_bounds`]'s bytes: eight numbers and a truth value.
pub const BOUNDS_LEN: usize = size_of::<[u32; 8]>() + 1;

/// What a kernel was compiled for.
pub const fn encode_bounds(bounds: &LaunchBounds) -> [u8; BOUNDS_LEN] {
    let mut encoder = Encoder::new();
    encoder.bounds(bounds);
    encoder.all()
}

/// Counts what it is given, and keeps it as far as it fits.
#[derive(Debug)]
struct Encoder<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Encoder<N> {
    const fn new() -> Self {
        Self { bytes: [0; N], len: 0 }
    }

    /// What it was given, if that fits.
    const fn whole(&self) -> Option<&[u8]> {
        match self.bytes.split_at_checked(self.len) {
            Some((bytes, _)) => Some(bytes),
            None => None,
        }
    }

    /// What it was given, which must be as long as there is room.
    const fn all(self) -> [u8; N] {
        assert!(self.len == N, "N is not the encoded length");
        self.bytes
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

    const fn described(&mut self, ty: &Type, cxx: &Cxx<'_>, definition: &Definition<'_>) {
        self.ty(ty);
        self.cxx(cxx);
        self.definition(definition);
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

    const fn bounds(&mut self, bounds: &LaunchBounds) {
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
}
