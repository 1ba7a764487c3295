//! CUDA kernels in ordinary Rust.
//!
//! This crate serves both sides. Compiled for `nvptx64-nvidia-cuda`, it has what kernels call; compiled for the host,
//! it has typed launches on cudarc.
//!
//! ```
//! use ptx::prelude::*;
//!
//! /// y = a x + y
//! #[kernel]
//! pub fn saxpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
//!     let i = thread::index_1d();
//!     if let Some(y) = y.get_mut(i) {
//!         *y += a * x[i.get()];
//!     }
//! }
//!
//! # #[cfg(not(target_arch = "nvptx64"))]
//! fn run(image: &ptx::Image) -> ptx::Result<Vec<f32>> {
//!     let device = Device::first()?;
//!     let module = device.load(image)?; // image: &ptx::image!()
//!     let x = device.upload(&[1.0_f32; 1000])?;
//!     let mut y = device.upload(&[2.0_f32; 1000])?;
//!     saxpy(3.0, &x, &mut y).launch(&module, Grid::cover(1000, 256))?;
//!     device.download(&y)
//! }
//! ```
#![cfg_attr(target_arch = "nvptx64", no_std)]

#[cfg(feature = "half")]
pub use half::{bf16, f16};
pub use ptx_abi::bits::Plain;
pub use ptx_abi::{AbiType, CxxType, DeviceParam, MAX_PARAM_ALIGN};
pub use ptx_device::ffi::{self, SamplerObject, SurfaceObject, TextureObject};
pub use ptx_device::{
    Constant, DeviceFn, DeviceStatic, Dim3, Disjoint2d, Disjoint3d, DisjointParts, DisjointRows, DisjointSlice,
    DisjointStrided, DisjointTiles, Global, InPlace, PerBlock, PerThread, PerWarp, RowsPerBlock, RowsPerThread,
    RowsPerWarp, Shared, SharedAtomics, Transposed, arch, atomic, bits, block, children, cluster, control, cooperative,
    disjoint, float, graph, hint, math, mbarrier, memory, shared, sync, sync_threads, thread, vec, warp,
};
#[cfg(not(target_arch = "nvptx64"))]
pub use ptx_host::*;
#[cfg(not(target_arch = "nvptx64"))]
pub use ptx_macros::image;
pub use ptx_macros::{AbiType, CxxType, bitfields, constant, device, float, global, kernel, shared};

#[cfg(feature = "random")]
pub use ptx_rand as random;

pub mod texture;

/// Prints a line. On the device it prints the text of `std::println!` by one call of the driver's `vprintf`, so that
/// the lines of different threads do not mix. On the host it is `std::println!`.
///
/// The host prints the line on its standard output when it next waits for the device. The book's page "Printing" says
/// how each kind of value is printed.
///
/// ```
/// use ptx::prelude::*;
///
/// #[kernel]
/// pub fn show(x: &[f32]) {
///     let i = thread::index_1d();
///     ptx::println!("x[{}] = {:.3}", i.get(), x[i.get()]);
/// }
/// ```
#[cfg(target_arch = "nvptx64")]
#[macro_export]
macro_rules! println {
    ($($arguments:tt)*) => { $crate::__private::__print!($crate, $crate::__private::print::print, true; $($arguments)*) };
}

/// Prints as [`println!`] does, without ending the line.
#[cfg(target_arch = "nvptx64")]
#[macro_export]
macro_rules! print {
    ($($arguments:tt)*) => { $crate::__private::__print!($crate, $crate::__private::print::print, false; $($arguments)*) };
}

#[cfg(not(target_arch = "nvptx64"))]
pub use std::{print, println};

/// Inline PTX: instructions that have no function here. CUDA C++'s `asm volatile`.
///
/// The text comes first, one string literal or several that become its lines, and then operands:
///
/// | operand | |
/// |---|---|
/// | `in(TYPE) value` | goes in |
/// | `out(TYPE) place` | the result; `_` leaves it out |
/// | `inout(TYPE) place`, `inout(TYPE) value => place` | both, in one register |
/// | `name = in(TYPE) value` | the same with a name |
///
/// The type chooses the class of registers: `i16`, `u16` are `.b16`, `i32`, `u32` `.b32`, `i64`, `u64`, `isize`, `usize`
/// and raw pointers `.b64`, `f32` and `f64` `.f32` and `.f64`. The text names operands as format strings do, by `{}`,
/// `{0}` or `{name}`; PTX's own braces are `{{` and `}}`.
///
/// It is volatile, and may read and write all memory. `options(pure, nomem)` says that the results depend on nothing but
/// the operands, so that equal ones are computed once, and unused ones not at all; `nomem`, `readonly`,
/// `preserves_flags` and `nostack` are taken as promises. ptxas checks the text when kernels are built: its message names
/// the line of the `asm!`.
///
/// On the host it panics.
///
/// # Safety
/// The text must be right: it must end what it begins, write to no operand that only goes in, and keep to Rust's rules
/// for the memory that it reads and writes.
///
/// ```
/// use ptx::prelude::*;
///
/// /// 32 bits of `a * b`, from bit `shift` on.
/// #[kernel]
/// pub fn middle(a: &[u32], b: u32, shift: u32, mut out: DisjointSlice<u32>) {
///     let i = thread::index_1d();
///     if let Some(out) = out.get_mut(i) {
///         // SAFETY: these compute a result, and nothing else.
///         unsafe {
///             ptx::asm!(
///                 "{{.reg .b32 low, high;",
///                 "mul.lo.u32 low, {a}, {b}; mul.hi.u32 high, {a}, {b};",
///                 "shf.r.wrap.b32 {middle}, low, high, {shift};}}",
///                 a = in(u32) a[i.get()],
///                 b = in(u32) b,
///                 shift = in(u32) shift,
///                 middle = out(u32) *out,
///                 options(pure, nomem),
///             );
///         }
///     }
/// }
/// ```
#[macro_export]
macro_rules! asm {
    ($($arguments:tt)*) => { $crate::__private::__asm!($crate; $($arguments)*) };
}

/// A closure that a kernel can take by value with what it has captured: CUDA C++'s function object, or extended lambda.
///
/// It makes a struct with the captured values as its fields, which derives [`AbiType`], `Clone` and `Copy`, and
/// implements [`DeviceFn`]. `struct` as in a closure with a name:
///
/// ```
/// use ptx::prelude::*;
/// use ptx::{DeviceFn, device_fn};
///
/// device_fn! {
///     /// `x` between two values.
///     pub struct Clamp { low: f32, high: f32 } = |x: f32| -> f32 { x.max(low).min(high) }
/// }
///
/// /// Applies `f` to each element.
/// #[kernel(instantiate(Clamp))]
/// pub fn apply<F: DeviceFn<(f32,), Output = f32>>(f: F, mut x: DisjointSlice<f32>) {
///     if let Some(x) = x.get_mut(thread::index_1d()) {
///         *x = f.call((*x,));
///     }
/// }
///
/// # #[cfg(not(target_arch = "nvptx64"))]
/// fn run(module: &Module, x: &mut CudaSlice<f32>) -> ptx::Result<()> {
///     apply(Clamp { low: 0.0, high: 1.0 }, x).launch(module, Grid::items(1000))
/// }
/// ```
///
/// A closure of Rust cannot cross: its type has no name for `instantiate`, its layout is not fixed, and the program that
/// has it is not compiled for the device.
#[macro_export]
macro_rules! device_fn {
    (
        $(#[$attribute:meta])* $vis:vis struct $name:ident { $($capture:ident: $captured:ty),* $(,)? }
        = || -> $output:ty $body:block
    ) => {
        $crate::device_fn! { $(#[$attribute])* $vis struct $name { $($capture: $captured),* } = | | -> $output $body }
    };
    (
        $(#[$attribute:meta])* $vis:vis struct $name:ident { $($capture:ident: $captured:ty),* $(,)? }
        = |$($argument:ident: $ty:ty),* $(,)?| -> $output:ty $body:block
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, $crate::AbiType)]
        #[repr(C)]
        $vis struct $name {
            $(
                #[doc = "Captured."]
                $vis $capture: $captured,
            )*
        }

        impl $crate::DeviceFn<($($ty,)*)> for $name {
            type Output = $output;

            #[inline(always)]
            fn call(&self, ($($argument,)*): ($($ty,)*)) -> $output {
                let Self { $($capture),* } = *self;
                $body
            }
        }
    };
}

/// The module of this crate's device code on a device: `ptx::module!(device)?`, or `ptx::module!(device, "name")?` for an image
/// with a name, as [`image!`] takes it.
///
/// It is loaded once for each device, when it is first asked for, wherever in the program that is; and stays loaded until the
/// program ends: a `&'static Module`.
///
/// ```ignore
/// fn double(device: &Device, x: &mut CudaSlice<f32>) -> ptx::Result<()> {
///     let grid = Grid::items(x.len());
///     kernels::double(x).launch(ptx::module!(device)?, grid)
/// }
/// ```
#[cfg(not(target_arch = "nvptx64"))]
#[macro_export]
macro_rules! module {
    ($device:expr $(, $name:literal)? $(,)?) => { $device.module(&$crate::image!($($name)?)) };
}

/// What a kernel's launcher has only where the CPU can run the kernel.
#[cfg(all(feature = "cpu", not(target_arch = "nvptx64")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __on_cpu {
    ($($code:tt)*) => { $($code)* };
}

/// What a kernel's launcher has only where the CPU can run the kernel.
#[cfg(not(all(feature = "cpu", not(target_arch = "nvptx64"))))]
#[doc(hidden)]
#[macro_export]
macro_rules! __on_cpu {
    ($($code:tt)*) => {};
}

/// The names that most kernels and host programs need: `use ptx::prelude::*;`.
pub mod prelude {
    pub use crate::math::Math as _;
    pub use crate::{AbiType, DisjointSlice, device, kernel, sync_threads, thread};
    #[cfg(not(target_arch = "nvptx64"))]
    pub use crate::{CudaSlice, Device, Grid, Module};
}

/// What the macros' expansions use. Not part of the public interface.
#[doc(hidden)]
pub mod __private {
    pub use crate::__on_cpu;
    #[cfg(feature = "bytemuck")]
    pub use bytemuck;
    pub use core;
    pub use ptx_abi::harness;
    pub use ptx_abi::{
        AbiType, Class, CxxType, Descriptor, DeviceParam, Entry, Kind, LaunchBounds, Mangling, Param,
        TemplateParameter, Type, arguments_len, bits, cxx, encode_arguments, encode_bounds, encode_type, type_len,
    };
    pub use ptx_device::children;
    #[cfg(target_arch = "nvptx64")]
    pub use ptx_device::float::scope::__ptx_float_modes;
    pub use ptx_device::float::scope::{Scoped, scope};
    #[cfg(target_arch = "nvptx64")]
    pub use ptx_device::index::assume_dimensions;
    pub use ptx_device::print;
    pub use ptx_device::shared::parameter::{DynamicParam, SharedParam, barriers};
    pub use ptx_device::statics::{Shared, SharedStatic, may_be_constant};
    #[cfg(feature = "half")]
    pub use ptx_device::{
        half_forms, half_operations, half_to_integer_conversions, half_to_integral_conversions, to_half_conversions,
        to_half_forms, to_packed_conversions,
    };
    pub use ptx_device::{
        rounding_operations, single_operations, to_float_conversions, to_integer_conversions,
        to_integer_flushing_conversions, to_integral_conversions, to_single_conversions,
    };
    #[cfg(not(target_arch = "nvptx64"))]
    pub use ptx_host::cudarc::driver::{DeviceRepr, ValidAsZeroBits};
    #[cfg(not(target_arch = "nvptx64"))]
    pub use ptx_host::{HostParam, Launch};
    pub use ptx_macros::{__asm, __print};

    /// What `asm!` does on the host.
    ///
    /// # Safety
    /// None is needed; callers of `asm!` write `unsafe` for the device.
    #[cfg(not(target_arch = "nvptx64"))]
    #[track_caller]
    pub unsafe fn assembly_on_host<T>() -> T {
        panic!("`ptx::asm!` is for GPUs: there is no PTX on the host");
    }

    /// The bytes of a struct that are no field's.
    #[derive(Debug)]
    pub struct Padding<const BYTES: usize>;

    /// Whether there are none.
    #[diagnostic::on_unimplemented(
        message = "a struct with padding cannot be `bytemuck::Pod`",
        label = "it has bytes that are no field's",
        note = "make them a field: `pub padding: [u8; 3]`"
    )]
    pub trait NoPadding {}

    impl NoPadding for Padding<0> {}
}
