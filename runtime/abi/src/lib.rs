//! The contract that rust-ptx's macros, compiler and host runtime share: what a descriptor says and how it is laid out
//! in bytes, and how names are mangled.
//!
//! `#[kernel]` and `#[device]` put an [`Entry`] for every function into the section [`SECTION`]; the compiler decodes
//! it and derives the whole ABI from it (PTX Writer's Guide to Interoperability 12.8, §2.3), so that ABI decisions rest
//! on Rust's own layout and not on what rustc's lowering left of it.
#![no_std]

#[cfg(any(feature = "decode", feature = "pieces", test))]
extern crate alloc;

pub mod atomic;
pub mod bits;
pub mod cxx;
#[cfg(any(feature = "decode", test))]
pub mod decode;
mod descriptor;
mod encode;
pub mod extents;
pub mod float;
pub mod harness;
pub mod panic;
#[cfg(any(feature = "pieces", test))]
pub mod pieces;
pub mod place;
pub mod stack;

#[cfg(any(feature = "decode", test))]
pub mod mangle;
#[cfg(any(feature = "decode", test))]
pub mod owned;
mod types;
mod wrappers;

pub use descriptor::{
    Access, Class, Descriptor, Entry, Kind, LaunchBounds, MAGIC, Mangling, Param, Pointee, Type, VERSION,
};
pub use encode::{arguments_len, encode_arguments, encode_bounds, encode_type, type_len};
pub use types::{AbiType, CxxType, DeviceParam, RawSlice, RawSliceMut, Referent, TemplateParameter};

/// The section that holds every [`Entry`]; the compiler removes it from the output.
pub const SECTION: &str = ".ptx.interface";

/// The environment variable by which cargo-ptx tells the macros that rustc compiles for the device, so that nothing of the
/// host's side is read.
pub const DEVICE_ONLY_VARIABLE: &str = "RUST_PTX_DEVICE_ONLY";

/// The section of statics that lie in a block's shared memory.
pub const SHARED_SECTION: &str = ".ptx.shared";

/// The name of a block's dynamic shared memory.
pub const DYNAMIC_SHARED: &str = "__ptx_dynamic_shared";

/// Its alignment, and the most that a type in it may have.
pub const DYNAMIC_SHARED_ALIGN: u32 = 128;

/// The section of statics that lie in constant memory.
pub const CONSTANT_SECTION: &str = ".ptx.constant";

/// The section of statics in constant memory that the host writes.
pub const HOST_CONSTANT_SECTION: &str = ".ptx.constant.host";

/// The section of statics in global memory that the host writes and reads.
pub const GLOBAL_SECTION: &str = ".ptx.global";

/// The symbol of a static that the host finds by its path: `a$b$NAME` for `a::b::NAME`. PTX has no other sign that Rust's
/// names lack (PTX ISA, "Identifiers").
pub fn symbol_of_static(path: &str) -> impl Iterator<Item = char> {
    let mut parts = path.split("::");
    let first = parts.next().unwrap_or_default().chars();
    let rest = parts.flat_map(|part| core::iter::once('$').chain(part.chars()));
    first.chain(rest).map(|c| if c.is_ascii_alphanumeric() || c == '$' { c } else { '_' })
}

/// The name of the function that the macros put around the user's for the compiler to call.
pub const SHIM: &str = "__ptx_shim";

/// Prefix of the external functions that the compiler replaces by device intrinsics. What follows it is looked
/// up in the compiler's intrinsic table.
pub const INTRINSIC_PREFIX: &str = "__ptx_";

/// What the macros declare to have a kernel's address: this and the kernel's name. The compiler puts the kernel in its place.
pub const ENTRY_PREFIX: &str = "__ptx_entry_of_";

/// What the functions of CUDA's device runtime begin with that launch kernels on the device (`cuda_device_runtime_api.h`,
/// "CDP2 endpoints"). They are in the library `libcudadevrt.a`.
pub const LAUNCH_PREFIX: &str = "__cudaCDP2";

/// Prefix of the device runtime's functions that the compiler calls by name; they are never exported.
pub const RUNTIME_PREFIX: &str = "__ptx_rt_";

/// How the crate `ptx` names C's mathematical functions, as in `__ptx_math_sinf`: the compiler puts libdevice's in
/// their place.
pub const MATH_PREFIX: &str = "__ptx_math_";

/// What the crate `ptx` defines with the crate `libm` begins with this: it serves where there is no libdevice.
pub const MATH_FALLBACK_PREFIX: &str = "__ptx_rt_math_";

/// The functions that may stay undefined: the driver supplies them (guide, chapter 3).
pub const SYSTEM_CALLS: [&str; 4] = ["vprintf", "malloc", "free", "__assertfail"];

/// The function of the driver's that sets the condition of a graph's conditional node, from CUDA 12.3 on
/// (`cuda_device_runtime_api.h`). It may stay undefined, too: nvlink makes the same cubin with CUDA's device runtime and
/// without.
pub const GRAPH_CALL: &str = "cudaGraphSetConditional";

/// Largest alignment that a parameter may have (guide §2.3, note D).
pub const MAX_PARAM_ALIGN: u64 = 128;
