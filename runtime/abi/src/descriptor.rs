//! What a descriptor says, as Rust types that exist at compile time only.

use crate::cxx::{Argument, Cxx, Definition};

/// First bytes of every encoded descriptor.
pub const MAGIC: [u8; 4] = *b"PTXI";

/// Version of the encoding. The compiler refuses any other.
pub const VERSION: u16 = 5;

/// A static in the section [`crate::SECTION`]: the code that the descriptor is about, then the descriptor's pieces, which
/// the compiler reads as if they were one.
///
/// Pieces, because rustc need not interpret what is a literal already, nor what it has for the same type elsewhere.
///
/// The shim takes a pointer for each parameter, to a value of `<P as DeviceParam>::Raw`, in order; for a result, a
/// pointer to its place comes first. For kernels and exports the macro defines the shim, and the compiler writes the
/// real function around it. For imports the macro declares it, and the compiler writes its body: the call.
#[repr(C)]
pub struct Entry {
    /// The shim function.
    pub shim: *const (),
    /// What the macro knows: [`crate::pieces`].
    pub own: &'static [u8],
    /// `module_path!()`, `file!()`, `line!()` and `column!()` of the definition, a NUL behind each.
    pub place: &'static str,
    /// As far as there are such: template arguments, bounds, each parameter's type, the result's type.
    pub parts: &'static [&'static [u8]],
}

// SAFETY: nobody reads an `Entry` at run time; the pointer is a function's address.
unsafe impl Sync for Entry {}

/// What the compiler makes of an [`Entry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// An `.entry`, launched from the host.
    Kernel = 0,
    /// A `.func` that other device code may call.
    Export = 1,
    /// A `.func` that other device code defines.
    Import = 2,
}

/// How the symbol in the PTX is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Mangling {
    /// The name as it is, as `extern "C"` in CUDA C++.
    C = 0,
    /// The Itanium C++ ABI's, as nvcc mangles (guide, chapter 7).
    Cxx = 1,
}

/// The class of a parameter, which decides its PTX type (guide §2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// Unsigned integer, `bool` and `char`: `.u8` to `.u64`.
    Unsigned = 0,
    /// Signed integer: `.s8` to `.s64`.
    Signed = 1,
    /// `f32`, `f64`: `.f32`, `.f64`.
    Float = 2,
    /// Reference or raw pointer, a generic address: `.u64`.
    Pointer = 3,
    /// `&[T]` and kin: a pointer and a length in elements, two `.u64` parameters.
    Slice = 4,
    /// Struct, union, array, 128-bit integer: `.align A .b8 name[N]`.
    Aggregate = 5,
}

/// What the callee may do through a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Access {
    /// Raw pointer: anything.
    Raw = 0,
    /// `&T` without interior mutability: only read, by anyone, while the kernel runs.
    Shared = 1,
    /// `DisjointSlice`, `&mut T`: no other parameter reaches the same memory.
    Exclusive = 2,
    /// As `Exclusive`, and the second word holds a width and a height ([`crate::extents`]).
    Plane = 3,
    /// As `Exclusive`, and the second word holds a width, a height and a depth.
    Volume = 4,
    /// As `Exclusive`, and the second word holds a length and a stride.
    Strided = 5,
}

/// What a pointer or slice points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointee {
    /// Size of one element in bytes.
    pub size: u64,
    /// Alignment of one element in bytes.
    pub align: u64,
    /// What may be done through it.
    pub access: Access,
}

/// Class, size and alignment of a type as Rust laid it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    /// Decides the PTX type.
    pub class: Class,
    /// In bytes; of a slice, that of pointer and length together.
    pub size: u64,
    /// In bytes, a power of two.
    pub align: u64,
    /// For pointers and slices.
    pub pointee: Option<Pointee>,
}

impl Type {
    /// A scalar of type `T`.
    pub const fn scalar<T>(class: Class) -> Self {
        Self { class, size: size_of::<T>() as u64, align: align_of::<T>() as u64, pointee: None }
    }

    /// An aggregate of type `T`.
    pub const fn aggregate<T>() -> Self {
        Self::scalar::<T>(Class::Aggregate)
    }

    /// A thin pointer to `T`.
    pub const fn pointer<T>(access: Access) -> Self {
        Self { class: Class::Pointer, size: 8, align: 8, pointee: Some(Pointee::of::<T>(access)) }
    }

    /// A slice of `T`.
    pub const fn slice<T>(access: Access) -> Self {
        Self { class: Class::Slice, size: 16, align: 8, pointee: Some(Pointee::of::<T>(access)) }
    }
}

impl Pointee {
    /// Elements of type `T`.
    pub const fn of<T>(access: Access) -> Self {
        Self { size: size_of::<T>() as u64, align: align_of::<T>() as u64, access }
    }
}

/// One source-level parameter, or the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param<'a> {
    /// Its name in the source.
    pub name: &'a str,
    /// Its type as written in the source, for messages.
    pub rust_type: &'a str,
    /// The type's class, size and alignment.
    pub ty: Type,
    /// Its type in C++; of a slice, that of its pointer, which a `size_t` follows.
    pub cxx: Cxx<'a>,
    /// What the named type in `cxx` holds.
    pub definition: &'a Definition<'a>,
}

/// What `#[kernel(launch_bounds(..), ..)]` asked for; 0 stands for "not given".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchBounds {
    /// Most threads in a block: `.maxntid`.
    pub max_threads: u32,
    /// Fewest resident blocks on a multiprocessor: `.minnctapersm`.
    pub min_blocks: u32,
    /// Most registers a thread: `.maxnreg`.
    pub max_registers: u32,
    /// Most dimensions of a launch, which the host checks.
    pub dimensions: u32,
    /// The blocks of a cluster in each dimension, none of them 0 if they are given: `.reqnctapercluster`.
    pub cluster: [u32; 3],
    /// Most blocks of a cluster: `.maxclusterrank`.
    pub max_cluster: u32,
    /// Whether all blocks of a launch run at once.
    pub is_cooperative: bool,
}

/// Everything that the compiler needs to know about one kernel or device function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor<'a> {
    /// Kernel or device function.
    pub kind: Kind,
    /// How `name` becomes a symbol.
    pub mangling: Mangling,
    /// The C++ namespace, as in `a::b`; empty at the top.
    pub namespace: &'a str,
    /// The function's name.
    pub name: &'a str,
    /// Of an instance of a function template; `None` for what is no template.
    pub template: Option<&'a [Argument<'a>]>,
    /// `module_path!()` of the definition.
    pub module_path: &'a str,
    /// `file!()` of the definition.
    pub file: &'a str,
    /// `line!()` of the definition.
    pub line: u32,
    /// `column!()` of the definition.
    pub column: u32,
    /// The limits that the kernel was compiled for.
    pub bounds: LaunchBounds,
    /// Parameters in order.
    pub params: &'a [Param<'a>],
    /// The result of a device function that has one.
    pub result: Option<Param<'a>>,
}

impl Descriptor<'_> {
    /// A number that is equal when kernel and launcher agree on every parameter (FNV-1a over name and layouts).
    pub const fn abi_hash(&self) -> u64 {
        let mut hash = self.bounds.hash(Type::hash_name(self.name));
        let mut i = 0;
        while i < self.params.len() {
            hash = self.params[i].ty.hash(hash);
            i += 1;
        }
        hash
    }
}

impl LaunchBounds {
    /// What is no kernel asks for nothing.
    pub const NONE: Self = Self {
        max_threads: 0,
        min_blocks: 0,
        max_registers: 0,
        dimensions: 0,
        cluster: [0; 3],
        max_cluster: 0,
        is_cooperative: false,
    };

    /// The most blocks of a cluster on any GPU (CUDA C++ Programming Guide, "Thread Block Clusters").
    pub const MOST_CLUSTER: u32 = 16;

    /// The blocks of a cluster together; 0 if they are not given.
    pub const fn cluster_blocks(&self) -> u32 {
        let [x, y, z] = self.cluster;
        x.saturating_mul(y).saturating_mul(z)
    }

    /// A kernel that relies on the dimensions must not be launched by a host that does not know of them.
    pub(crate) const fn hash(&self, before: u64) -> u64 {
        if self.dimensions == 0 { before } else { fnv(before, &self.dimensions.to_le_bytes()) }
    }
}

impl Type {
    pub(crate) const fn hash_name(name: &str) -> u64 {
        fnv(0xcbf2_9ce4_8422_2325, name.as_bytes())
    }

    pub(crate) const fn hash(&self, before: u64) -> u64 {
        let mut hash = fnv(before, &[self.class as u8]);
        hash = fnv(hash, &self.size.to_le_bytes());
        hash = fnv(hash, &self.align.to_le_bytes());
        if let Some(pointee) = &self.pointee {
            hash = fnv(hash, &[pointee.access as u8]);
            hash = fnv(hash, &pointee.size.to_le_bytes());
            hash = fnv(hash, &pointee.align.to_le_bytes());
        }
        hash
    }
}

const fn fnv(mut hash: u64, bytes: &[u8]) -> u64 {
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        i += 1;
    }
    hash
}
