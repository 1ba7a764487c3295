//! `#[kernel]`, `#[shared]`, `#[constant]`, `#[derive(AbiType)]` and `image!()`.
//!
//! They emit descriptors and thin shims, nothing else: whatever needs knowledge of PTX is the compiler's business.

mod abi_type;
mod arguments;
mod function;
mod image;
mod kernel;
mod place;
mod text;

use proc_macro::TokenStream;

/// Makes a function a kernel.
///
/// In the device's compilation the function stays what it is, can be called as such, and gets an entry point of its
/// name in the PTX. In the host's compilation it becomes a function of the same name that takes the host's side of
/// every parameter and returns a [`Launch`](../ptx/struct.Launch.html):
///
/// | parameter | what the host passes |
/// |---|---|
/// | `f32`, `u64`, … or a type with `#[derive(AbiType)]` | the value |
/// | `&[T]` | `&CudaSlice<T>` or a view |
/// | `&T` | the same; its first element is meant |
/// | `DisjointSlice<T>` | `&mut CudaSlice<T>` or a mutable view |
/// | `*const T`, `*mut T` | `DevicePointer<T>` |
///
/// Options, in parentheses: `name = "…"` gives the entry point another name; `launch_bounds(max_threads)` or
/// `launch_bounds(max_threads, min_blocks)` and `max_registers = N` are CUDA's `__launch_bounds__` and `__maxnreg__`;
/// `crate = path` says where the crate `ptx` is, for crates that re-export it.
#[proc_macro_attribute]
pub fn kernel(arguments: TokenStream, item: TokenStream) -> TokenStream {
    kernel::expand(arguments.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Gives a `#[repr(C)]` or `#[repr(transparent)]` struct or union, or an enum without fields and with an integer
/// `repr`, a defined device layout, so that it can be passed to kernels by value and stand in device memory.
///
/// Every field must have one too. Alignments go up to 128, the most that a kernel's parameter may have.
#[proc_macro_derive(AbiType)]
pub fn derive_abi_type(item: TokenStream) -> TokenStream {
    abi_type::expand(item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// The device code that `ptx_build` made in this package's build script: `image!()` for the package's own kernels,
/// `image!("kernels")` for those of the crate `kernels`.
#[proc_macro]
pub fn image(arguments: TokenStream) -> TokenStream {
    image::expand(arguments.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Puts a static into the shared memory of a block: `#[ptx::shared] static TILE: Shared<[f32; 256]>;`.
///
/// It has no value to begin with. See [`Shared`](../ptx/struct.Shared.html).
#[proc_macro_attribute]
pub fn shared(arguments: TokenStream, item: TokenStream) -> TokenStream {
    place::shared(arguments.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Puts a static into constant memory, which is fast where all threads of a warp read the same address:
/// `#[ptx::constant] static TABLE: [f32; 4] = [1.0, 2.0, 3.0, 4.0];`. CUDA's `__constant__`, but the host cannot change it.
///
/// Its type must have a defined device layout ([`AbiType`](../ptx/trait.AbiType.html)), and all of a module's take up at
/// most 64 KiB.
#[proc_macro_attribute]
pub fn constant(arguments: TokenStream, item: TokenStream) -> TokenStream {
    place::constant(arguments.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
