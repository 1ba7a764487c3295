//! Statics that the host writes and reads by name: in constant memory, and in global memory.

use core::cell::UnsafeCell;
use core::fmt;
use core::ops::Deref;

use ptx_abi::AbiType;
use ptx_abi::bits::Plain;

use crate::atomic::{Atomic, AtomicValue, Device};

macro_rules! at_the_host {
    ($name:ident, $bound:path) => {
        impl<T> $name<T> {
            /// With a first value, which every module has when it is loaded.
            pub const fn new(value: T) -> Self {
                Self {
                    #[cfg(not(target_arch = "nvptx64"))]
                    path: "",
                    value: UnsafeCell::new(value),
                }
            }

            /// The static at that path.
            #[doc(hidden)]
            #[must_use]
            pub const fn __at(self, path: &'static str) -> Self {
                #[cfg(target_arch = "nvptx64")]
                let _ = path;
                #[cfg(not(target_arch = "nvptx64"))]
                let mut this = self;
                #[cfg(not(target_arch = "nvptx64"))]
                {
                    this.path = path;
                }
                #[cfg(target_arch = "nvptx64")]
                let this = self;
                this
            }

            /// The address of the value.
            #[inline(always)]
            pub const fn as_ptr(&self) -> *mut T {
                self.value.get()
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }

        impl<T: $bound> DeviceStatic for $name<T> {
            type Value = T;

            #[cfg(not(target_arch = "nvptx64"))]
            fn path(&self) -> &'static str {
                self.path
            }
        }

        impl<T: $bound> sealed::Sealed for $name<T> {}
    };
}

/// A static in constant memory whose value the host may change between launches: CUDA's `__constant__`, with
/// `cudaMemcpyToSymbol`.
///
/// `#[ptx::constant]` declares one. In kernels it dereferences to the value, which no kernel can change; the load is
/// `ld.const`, fast where all threads of a warp read the same address. The host calls `Module::write_static`. A module
/// has 64 KiB of constant memory for all of its statics.
///
/// ```
/// use ptx::Constant;
/// use ptx::prelude::*;
///
/// #[ptx::constant]
/// pub static WEIGHTS: Constant<[f32; 4]> = Constant::new([0.25; 4]);
///
/// #[kernel]
/// pub fn weigh(x: &[f32], mut y: DisjointSlice<f32>) {
///     let i = thread::index_1d();
///     if let Some(y) = y.get_mut(i) {
///         *y = WEIGHTS[i.get() % 4] * x[i.get()];
///     }
/// }
///
/// # #[cfg(not(target_arch = "nvptx64"))]
/// fn prepare(module: &mut ptx::Module) -> ptx::Result<()> {
///     module.write_static(&WEIGHTS, &[0.1, 0.2, 0.3, 0.4])
/// }
/// ```
///
/// On the host, and where the CPU runs a kernel, it has its first value.
pub struct Constant<T> {
    #[cfg(not(target_arch = "nvptx64"))]
    path: &'static str,
    value: UnsafeCell<T>,
}

// SAFETY: nobody changes the value while a kernel runs: the host needs the module for itself to write it, and waits.
unsafe impl<T: AbiType> Sync for Constant<T> {}

at_the_host!(Constant, AbiType);

impl<T: AbiType> Deref for Constant<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: it is initialised, and nobody changes it while a kernel runs.
        unsafe { &*self.value.get() }
    }
}

/// A static in global memory that kernels change and the host reads and writes by name: CUDA's `__device__` variable,
/// with `cudaMemcpyFromSymbol` and `cudaMemcpyToSymbol`.
///
/// `#[ptx::global]` declares one. It lives as long as the module, from launch to launch. Its threads reach it by
/// [`atomic`](Global::atomic) and [`atomics`](Global::atomics), or by `unsafe` through [`as_ptr`](Global::as_ptr). The
/// host calls `Module::read_static` and `Module::write_static`.
///
/// ```
/// use ptx::Global;
/// use ptx::atomic::Ordering;
/// use ptx::prelude::*;
///
/// #[ptx::global]
/// pub static NEGATIVE: Global<u32> = Global::new(0);
///
/// #[kernel]
/// pub fn count(x: &[f32]) {
///     if x.get(thread::index_1d().get()).is_some_and(|x| *x < 0.0) {
///         NEGATIVE.atomic().fetch_add(1, Ordering::Relaxed);
///     }
/// }
///
/// # #[cfg(not(target_arch = "nvptx64"))]
/// fn counted(module: &ptx::Module) -> ptx::Result<u32> {
///     module.read_static(&NEGATIVE)
/// }
/// ```
///
/// Its type is one that any bits are a value of ([`Plain`]).
pub struct Global<T> {
    #[cfg(not(target_arch = "nvptx64"))]
    path: &'static str,
    value: UnsafeCell<T>,
}

// SAFETY: safe access is atomic; the rest is the business of those who write `unsafe`.
unsafe impl<T: Plain> Sync for Global<T> {}

at_the_host!(Global, Plain);

impl<T: Plain + AtomicValue> Global<T> {
    /// The value as an atomic of the GPU's threads.
    #[inline(always)]
    pub const fn atomic(&self) -> &Atomic<T, Device> {
        // SAFETY: the layouts are equal, and all other safe access is atomic as well, or the host's, who waits for kernels.
        unsafe { &*self.value.get().cast() }
    }
}

impl<T: Plain + AtomicValue, const N: usize> Global<[T; N]> {
    /// The elements as atomics of the GPU's threads.
    #[inline(always)]
    pub const fn atomics(&self) -> &[Atomic<T, Device>; N] {
        // SAFETY: as above.
        unsafe { &*self.value.get().cast() }
    }
}

/// A static that the host finds by its path: [`Constant`] or [`Global`].
pub trait DeviceStatic: sealed::Sealed {
    /// What it holds.
    type Value: Copy + 'static;

    /// As in `my_crate::module::NAME`.
    #[cfg(not(target_arch = "nvptx64"))]
    #[doc(hidden)]
    fn path(&self) -> &'static str;
}

mod sealed {
    /// Keeps the trait to this file's types.
    pub trait Sealed {}
}
