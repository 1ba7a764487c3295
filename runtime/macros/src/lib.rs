//! `#[kernel]`, `#[device]`, `#[float]`, `#[shared]`, `#[constant]`, `#[derive(AbiType)]` and `image!()`.
//!
//! They emit descriptors and thin shims, nothing else: whatever needs knowledge of PTX is the compiler's business.

mod abi_type;
mod arguments;
mod asm;
mod attribute;
mod bitfields;
mod child;
mod descriptor;
mod device;
mod errors;
mod float;
mod function;
mod generic;
mod image;
mod instances;
mod kernel;
mod place;
mod print;
mod shared_params;
mod template;
mod text;

use proc_macro::TokenStream;

/// Makes a function a kernel.
///
/// When the crate is compiled for the device, the function stays an ordinary function, and gets an entry point of its
/// name in the PTX. When it is compiled for the host, it becomes a function of the same name that takes the host's side
/// of every parameter and returns a [`Launch`](../ptx/struct.Launch.html):
///
/// | parameter | what the host passes |
/// |---|---|
/// | `f32`, `u64`, … or a type with `#[derive(AbiType)]` | the value |
/// | `&[T]` | `&CudaSlice<T>` or a view |
/// | `&T` | the same; its first element is meant |
/// | `DisjointSlice<T>` | `&mut CudaSlice<T>` or a mutable view |
/// | `*const T`, `*mut T` | `DevicePointer<T>` |
/// | `#[shared] SharedTile<T>` | nothing: every block has its own, in [shared memory](../ptx/shared/index.html) |
/// | `#[shared(dynamic)] SharedTile<[T]>` | `[u32; N]`: how many elements its parts have |
/// | `#[children] Children<'grid>` | nothing: with it the kernel [launches kernels](../ptx/children/index.html) |
///
/// Options, in parentheses: `name = "…"` gives the entry point another name; `launch_bounds(max_threads)`,
/// `launch_bounds(max_threads, min_blocks)` or, with the most blocks of a cluster, `launch_bounds(max_threads, min_blocks,
/// max_cluster)`, and `max_registers = N` are CUDA's `__launch_bounds__` and `__maxnreg__`;
/// `cluster(x, y, z)` is `__cluster_dims__`, for sm_90 and later: every launch has such clusters; `cooperative` makes every
/// launch cooperative, as `cudaLaunchCooperativeKernel` does;
/// `child` makes a type of the kernel's name, by whose function `launch` other kernels [launch it](../ptx/children/index.html);
/// `instantiate(f32, f64)` says which instances of a generic kernel the device gets, with several parameters
/// `instantiate((f32, 16), (f64, 8))`: the host launches `scale::<f32>(…)`, and the symbol is `scale_f32`;
/// `dimensions = N` says that launches have at most `N` dimensions and fewer than 2^32 threads in the first, so that
/// `thread::index_1d()` and its kin need not check that in the kernel. The host checks it at the launch; a host in
/// another language must keep to it, as it must pass as many elements as it says;
/// `export = "C++"` mangles the entry point's name as nvcc does, and `namespace = "a::b"` puts it into a namespace;
/// `crate = path` says where the crate `ptx` is, for crates that re-export it.
#[proc_macro_attribute]
pub fn kernel(arguments: TokenStream, item: TokenStream) -> TokenStream {
    attribute::expand(arguments.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Exports a function to device code in another language, or declares functions that such code defines.
///
/// `#[device(export)]` on a function gives it a symbol and NVIDIA's device ABI (PTX Writer's Guide to Interoperability
/// 12.8, §2.3): device code in CUDA C++ calls it as an `extern "C" __device__` function. With `export = "C++"` the
/// symbol is mangled as nvcc mangles that of the same C++ declaration, and `namespace = "a::b"` puts it into a
/// namespace. The function stays what it is in Rust. `cargo ptx header` writes the C++ declarations.
///
/// `#[device(import)]` on an `unsafe extern "C"` block (or `extern "C++"`, or `import = "C++"`) declares functions that
/// other device code defines. Calls follow the same ABI, aggregates, vectors and all. On one function of the block
/// `#[ptx(name = "…", namespace = "…")]` gives its C++ name, `#[link_name = "…"]` its symbol as it is, and
/// `#[ptx(instantiate(f32, 4))]` makes a generic declaration one instance of a function template.
///
/// | Rust | PTX | C++ |
/// |---|---|---|
/// | `u8` … `u32`, `i8` … `i32`, `bool`, `char`, C-like enums | `.b32`, extended by sign | `unsigned char` … `int`, `bool`, `char32_t`, `enum class` |
/// | `u64`, `i64`, pointers, references, function pointers | `.b64` | `unsigned long`, `T*`, `T&`, `R (*)(A)` |
/// | `f32`, `f64` | `.b32`, `.b64` | `float`, `double` |
/// | `&[T]`, `&mut [T]` | two `.b64` | pointer and `size_t` |
/// | types that derive `AbiType`, vectors, 128-bit integers, `f16`, `bf16` | `.align A .b8[N]` | the struct or union of that name |
///
/// `crate = path` says where the crate `ptx` is.
#[proc_macro_attribute]
pub fn device(arguments: TokenStream, item: TokenStream) -> TokenStream {
    device::expand(arguments.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Says which floating-point modes hold in a function and in all that it calls:
/// `#[ptx::float(fmad = false, ftz = true)]`.
///
/// | mode | nvcc | default | on |
/// |---|---|---|---|
/// | `fmad` | `--fmad` | on | a multiplication and an addition may become one fused multiply-add |
/// | `ftz` | `--ftz` | off | subnormal `f32` are zero |
/// | `prec_div` | `--prec-div` | on | `f32` divisions and reciprocals are correctly rounded |
/// | `prec_sqrt` | `--prec-sqrt` | on | `f32` square roots are correctly rounded |
/// | `use_fast_math` | `--use_fast_math` | off | `ftz`, no `prec_div`, no `prec_sqrt`, and fast `sinf`, `expf` and so on |
///
/// It stands on a function or a method (with `#[kernel]` or `#[device(export)]` before or after it, if they are there),
/// on an `impl` block, a trait or a module with braces, for all functions in it that have none of their own, and on a
/// block within a function that has `#[kernel]`, `#[device(export)]` or `#[ptx::float()]`:
///
/// ```ignore
/// #[kernel]
/// pub fn dot(a: [f32; 2], b: [f32; 2], mut out: DisjointSlice<f32>) {
///     let exact = #[ptx::float(fmad = false)]
///     {
///         a[0] * b[0] + a[1] * b[1]
///     };
///     if let Some(out) = out.get_mut(thread::index_1d()) {
///         *out = exact;
///     }
/// }
/// ```
///
/// A mode that is not named stays as it is in the build or in the surrounding function. A function that is called has
/// the caller's modes, inlined or not, unless it sets its own. `return`, `?`, `break` and `continue` cannot leave a
/// block with modes. On the host nothing changes. `crate = path` says where the crate `ptx` is.
#[proc_macro_attribute]
pub fn float(arguments: TokenStream, item: TokenStream) -> TokenStream {
    float::expand(arguments.into(), item.into()).into()
}

/// Gives a `#[repr(C)]` or `#[repr(transparent)]` struct or union, or an enum without fields and with an integer
/// `repr`, a defined device layout, so that it can be passed to kernels by value and be in device memory.
///
/// On the host the type is cudarc's `DeviceRepr`; a struct or union for all of whose fields zeros are a value is `ValidAsZeroBits`, so
/// that `Device::zeroed` makes memory of it. With the feature `bytemuck` of the crate `ptx` it has that crate's traits, too:
/// `Zeroable` and `Pod` where all fields do (`Pod` only without padding, and of generic types only `#[repr(transparent)]`
/// ones), and an enum `NoUninit` and `CheckedBitPattern`.
///
/// Every field must have one too. Alignments go up to 128, the most that a parameter may have (PTX Writer's Guide to
/// Interoperability 12.8, §2.3, note D).
///
/// In C++, as in mangled names and in the header that `cargo ptx header` writes, the type has the same name at the top
/// level; `#[ptx(name = "…", namespace = "a::b")]` gives it another. A generic type is an instance of a class template,
/// a `#[repr(transparent)]` one is its field.
#[proc_macro_derive(AbiType, attributes(ptx))]
pub fn derive_abi_type(item: TokenStream) -> TokenStream {
    let item = proc_macro2::TokenStream::from(item);
    let refused =
        |error: syn::Error| [error.into_compile_error(), abi_type::placeholder(item.clone())].into_iter().collect();
    abi_type::expand(item.clone()).unwrap_or_else(refused).into()
}

/// Gives a type a name in C++, so that pointers to it can cross the device boundary. Its layout stays Rust's own.
/// `#[ptx(name = "…", namespace = "a::b")]` chooses the name.
#[proc_macro_derive(CxxType, attributes(ptx))]
pub fn derive_cxx_type(item: TokenStream) -> TokenStream {
    abi_type::expand_name(item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Gives a `#[repr(C)]` struct or union C's bit-fields, with nvcc's layout (PTX Writer's Guide to Interoperability
/// 12.8, §1.3).
///
/// ```ignore
/// #[ptx::bitfields]
/// #[repr(C)]
/// pub struct Flags {
///     #[bits(3)]
///     pub kind: u32,  // unsigned int kind : 3;
///     #[bits(5)]
///     pub shift: i8,  // signed char shift : 5;
///     #[bits(0)]
///     _end: u32,      // unsigned int : 0;
///     pub size: u16,  // unsigned short size;
/// }
/// ```
/// A bit-field has an integer type, `bool`, or `CChar`, `LongLong`, `ULongLong` of `ptx::ffi`, and at most that type's
/// bits. One whose name begins with `_` is unnamed in C++: it takes place and does not affect the alignment;
/// `#[bits(0)]` moves what follows to the next boundary of its type. Other members share storage units with bit-fields;
/// their types are numbers, raw pointers, vectors, arrays of these and types with bit-fields
/// ([`Plain`](../ptx/trait.Plain.html)).
///
/// In Rust the type is opaque bytes. `new()` has zero everywhere; `kind()` reads a member, `set_kind(v)` writes it and
/// `with_kind(v)` returns the value with it written. As in C++, a bit-field keeps the lowest bits of what is written.
/// The type is `Clone`, `Copy`, `Debug`, `Default`; other derives, such as `PartialEq`, see its bytes, unnamed bits and
/// all. It has what `#[derive(AbiType)]` gives, with `#[ptx(name = "…", namespace = "…")]`.
#[proc_macro_attribute]
pub fn bitfields(arguments: TokenStream, item: TokenStream) -> TokenStream {
    bitfields::expand(arguments.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// The device code that `ptx_build` made in this package's build script: `image!()` for the package's own kernels,
/// `image!("kernels")` for those of the crate `kernels`.
#[proc_macro]
pub fn image(arguments: TokenStream) -> TokenStream {
    image::expand(arguments.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Puts a static into the shared memory of a block: `#[ptx::shared] static TILE: Shared<[f32; 256]>;`.
///
/// The static has no initial value. See [`Shared`](../ptx/struct.Shared.html).
#[proc_macro_attribute]
pub fn shared(arguments: TokenStream, item: TokenStream) -> TokenStream {
    place::shared(arguments.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Puts a static into constant memory, which is fast if all threads of a warp read the same address: `#[ptx::constant]
/// static TABLE: [f32; 4] = [1.0, 2.0, 3.0, 4.0];`. It is CUDA's `__constant__`. The host changes those of the type
/// [`Constant`](../ptx/struct.Constant.html): `static TABLE: Constant<[f32; 4]> = Constant::new([0.0; 4]);`.
///
/// The type must have a defined device layout ([`AbiType`](../ptx/trait.AbiType.html)). All constant statics of a
/// module together take up at most 64 KiB.
#[proc_macro_attribute]
pub fn constant(arguments: TokenStream, item: TokenStream) -> TokenStream {
    place::constant(arguments.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Gives a static in global memory a symbol, by which the host reads and writes it: `#[ptx::global] static COUNT:
/// Global<u32> = Global::new(0);`. It is CUDA's `__device__` variable. See [`Global`](../ptx/struct.Global.html).
///
/// What no kernel uses is not in the code. The static stands in a module, not in a function.
#[proc_macro_attribute]
pub fn global(arguments: TokenStream, item: TokenStream) -> TokenStream {
    place::global(arguments.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// What `ptx::println!` and `ptx::print!` expand to on the device. Not part of the public interface.
#[doc(hidden)]
#[proc_macro]
pub fn __print(arguments: TokenStream) -> TokenStream {
    print::expand(arguments.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// What `ptx::asm!` expands to. Not part of the public interface.
#[doc(hidden)]
#[proc_macro]
pub fn __asm(arguments: TokenStream) -> TokenStream {
    asm::expand(arguments.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
