//! Kernels that launch kernels on the device: CUDA's dynamic parallelism, as of CUDA 12 ("CDP2").
//!
//! | CUDA C++ in a kernel | here |
//! |---|---|
//! | `child<<<grid, block, bytes, cudaStreamFireAndForget>>>(a, b)` | `child::launch(children.fire_and_forget(), ChildGrid::new(grid, block).shared_bytes(bytes), a, b)?` |
//! | `cudaStreamTailLaunch` | [`children.tail()`](Children::tail) |
//! | the NULL stream | [`children.in_order()`](Children::in_order) |
//! | `cudaGetLastError()` | the `Result` |
//!
//! A kernel that others launch is a `#[kernel(child)]`: beside the function there is a type of its name, whose function
//! `launch` takes a stream, the grid, and then the kernel's arguments with the kernel's own types. A kernel that launches has
//! a parameter `#[children] children: Children<'grid>`, which the host does not pass.
//!
//! ```
//! use ptx::atomic::{AtomicSlice, Ordering};
//! use ptx::children::{ChildGrid, Children};
//! use ptx::prelude::*;
//!
//! /// Counts the threads of all grids.
//! #[kernel(child)]
//! pub fn count<'grid>(depth: u32, sum: AtomicSlice<'grid, u32>, #[children] children: Children<'grid>) {
//!     sum[0].fetch_add(1, Ordering::Relaxed);
//!     if depth > 0 && thread::thread_idx_x() == 0 {
//!         let launched = count::launch(children.fire_and_forget(), ChildGrid::new(1, 32), depth - 1, sum);
//!         launched.expect("the device has room for a few launches");
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! # Why this is sound
//! 1. *Memory lives.* A grid has ended, for the host and for other streams, only when all grids have that it launched. So what
//!    the host lends for a launch, it lends to the children, too. `'grid` is a lifetime that no local variable has, because it
//!    is longer than the function, and no other lifetime is taken for it, because [`Children`] is invariant: what a child
//!    gets by reference is the host's, a static, or leaked on the heap.
//! 2. *Memory is there.* A child cannot reach the shared and local memory of its parent. References with `'grid` into shared
//!    memory exist, as of a static [`Shared`](crate::Shared) of atomics; so a launch looks at each pointer, and panics.
//! 3. *Nobody else writes.* A child of [`Children::fire_and_forget`] or [`Children::in_order`] runs beside the grid that launched
//!    it. It can get what all may share: values, `&T`, `&[T]`, [`AtomicSlice`](crate::atomic::AtomicSlice), raw pointers.
//!    Giving it a `DisjointSlice` is a compile error, because other threads have the same slice. A child of
//!    [`Children::tail`] runs when the whole grid has ended, and all others that it launched, and before the next such child. It
//!    can get anything. [`Stream::assume_alone`] is `unsafe`, and says what must hold then.
//!
//! What a thread wrote before it launches is visible to the child. What children write is visible to children of the tail, and
//! to the host when it has waited; a kernel cannot wait for a child.
//!
//! Children have the module's panics: the host's error is the same whichever grid panicked.

use core::fmt;
use core::marker::PhantomData;

use ptx_abi::{Access, DeviceParam, Type};

use crate::dim::Dim3;

/// A kernel's right to launch kernels: the parameter `#[children] children: Children<'grid>`.
///
/// `'grid` lasts until this grid and all its children have ended. Parameters that children are to get have it:
/// `x: &'grid [f32]`.
#[derive(Clone, Copy)]
pub struct Children<'grid> {
    grid: Invariant<'grid>,
}

type Invariant<'grid> = PhantomData<fn(&'grid ()) -> &'grid ()>;

impl<'grid> Children<'grid> {
    /// For children that begin at any time from now on, in any order: CUDA's `cudaStreamFireAndForget`.
    #[inline(always)]
    #[must_use]
    pub fn fire_and_forget(self) -> Stream<'grid, Beside> {
        Stream::new(4)
    }

    /// For children that run one after another once this grid and all its other children have ended, in the order in which
    /// they were launched: CUDA's `cudaStreamTailLaunch`. Such a child may launch itself again, and so on.
    #[inline(always)]
    #[must_use]
    pub fn tail(self) -> Stream<'grid, Alone> {
        Stream::new(3)
    }

    /// For children of which those that one block launches run one after another, beside this grid: CUDA's NULL stream in a
    /// kernel.
    #[inline(always)]
    #[must_use]
    pub fn in_order(self) -> Stream<'grid, Beside> {
        Stream::new(0)
    }
}

impl fmt::Debug for Children<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Children")
    }
}

/// Where children are launched; [`Children`] makes it. `W` says what they may get: [`Beside`] or [`Alone`].
#[derive(Clone, Copy)]
pub struct Stream<'grid, W> {
    handle: u64,
    grid: Invariant<'grid>,
    with: PhantomData<W>,
}

impl<W> fmt::Debug for Stream<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stream").field(&self.handle).finish()
    }
}

/// Children run beside the grid that launched them, and beside each other: they get what all may share.
#[derive(Clone, Copy, Debug)]
pub enum Beside {}

/// Children have what they get for themselves.
#[derive(Clone, Copy, Debug)]
pub enum Alone {}

mod sealed {
    /// Whether children have what they get for themselves.
    pub trait With: Copy {
        /// Whether they have.
        const IS_ALONE: bool;
    }
    impl With for super::Beside {
        const IS_ALONE: bool = false;
    }
    impl With for super::Alone {
        const IS_ALONE: bool = true;
    }
}
pub use sealed::With;

impl<'grid, W> Stream<'grid, W> {
    #[inline(always)]
    fn new(handle: u64) -> Self {
        Self { handle, grid: PhantomData, with: PhantomData }
    }
}

impl<'grid> Stream<'grid, Beside> {
    /// The same for children that get a `DisjointSlice` or another exclusive view.
    ///
    /// # Safety
    /// From the launch until the child and all that it launches have ended, no other thread may reach the elements that the
    /// child reaches through the view: no thread of this grid, and no other child.
    #[inline(always)]
    #[must_use]
    pub unsafe fn assume_alone(self) -> Stream<'grid, Alone> {
        Stream::new(self.handle)
    }
}

/// How many blocks and threads a child has: CUDA's `<<<blocks, threads, shared_bytes>>>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChildGrid {
    /// The number of blocks in each dimension.
    pub blocks: Dim3,
    /// The number of threads of a block in each dimension.
    pub threads: Dim3,
    /// The dynamic shared memory of each block, in bytes. What `#[shared(dynamic)]` parameters need is added by itself.
    pub shared_bytes: u32,
}

impl ChildGrid {
    /// So many blocks of so many threads, each a number, a pair or a triple.
    #[inline]
    pub fn new(blocks: impl Into<Dim3>, threads: impl Into<Dim3>) -> Self {
        Self { blocks: blocks.into(), threads: threads.into(), shared_bytes: 0 }
    }

    /// As many blocks of `threads` threads as `items` threads need, at least one.
    #[inline]
    pub fn cover(items: u32, threads: u32) -> Self {
        Self::new(items.div_ceil(threads).max(1), threads)
    }

    /// With so much dynamic shared memory, in bytes.
    #[inline]
    #[must_use]
    pub fn shared_bytes(self, shared_bytes: u32) -> Self {
        Self { shared_bytes, ..self }
    }

    /// With at least so much.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub fn with_at_least(self, bytes: u64) -> Self {
        // What does not fit is more than any GPU has, and the launch says so.
        self.shared_bytes(self.shared_bytes.max(u32::try_from(bytes).unwrap_or(u32::MAX)))
    }
}

/// Why a child was not launched: a `cudaError_t` of CUDA's device runtime.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChildError(u32);

impl ChildError {
    /// `cudaErrorMemoryAllocation`: there is no memory for the child's parameters.
    pub const OUT_OF_MEMORY: Self = Self(2);
    /// `cudaErrorInvalidConfiguration`: the GPU has no such grid: too many threads in a block, too much shared memory, a
    /// dimension that is zero, or a block whose threads need more registers than there are, as in debug builds.
    pub const INVALID_GRID: Self = Self(9);
    /// `cudaErrorLaunchMaxDepthExceeded`: children of children of children, too deep.
    pub const TOO_DEEP: Self = Self(65);
    /// `cudaErrorLaunchPendingCountExceeded`: more launches wait than there is room for, 2,048 unless the host makes more
    /// (`cudaLimitDevRuntimePendingLaunchCount`).
    pub const TOO_MANY_WAIT: Self = Self(69);
    /// `cudaErrorLaunchOutOfResources`: the child needs more registers or shared memory than the GPU has.
    pub const OUT_OF_RESOURCES: Self = Self(701);

    /// CUDA's number, of the enum `cudaError`.
    #[inline]
    #[must_use]
    pub fn code(self) -> u32 {
        self.0
    }
}

impl fmt::Display for ChildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CUDA error {} where a kernel launched a kernel", self.0)
    }
}

impl fmt::Debug for ChildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChildError({})", self.0)
    }
}

impl core::error::Error for ChildError {}

/// A `#[children]` parameter of a kernel.
///
/// # Safety
/// None but [`Children`] implements it.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a `#[children]` parameter",
    label = "it is not what kernels launch kernels with",
    note = "write `#[children] children: ptx::children::Children<'grid>`, and `<'grid>` behind the kernel's name"
)]
pub unsafe trait ChildrenParam {
    /// The object of this thread.
    ///
    /// # Safety
    /// Only a kernel's entry may call it, for a `'grid` that its other parameters with that lifetime outlast.
    unsafe fn make() -> Self;
}

// SAFETY: it is the type itself.
unsafe impl ChildrenParam for Children<'_> {
    #[inline(always)]
    unsafe fn make() -> Self {
        Self { grid: PhantomData }
    }
}

/// The most bytes of a child's parameters (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism": the parameter buffer).
const MOST_BYTES: u64 = 4096;

/// Whether a child may have a parameter of this type: beside its parent nothing exclusive.
#[doc(hidden)]
pub const fn may_have<W: With>(ty: &Type) -> bool {
    match ty.pointee {
        Some(pointee) => W::IS_ALONE || matches!(pointee.access, Access::Raw | Access::Shared),
        None => true,
    }
}

/// The most alignment of a child's parameter: ptxas places those of more by their address in constant memory, where parameters
/// begin at one that is a multiple of 16 on all GPUs, and of no more on sm_90. So offsets would depend on the GPU, and what
/// nvcc 13.0 makes of `<<<…>>>` gets them wrong.
const MOST_ALIGN: u64 = 16;

/// Whether a parameter of this type has the same place on every GPU.
#[doc(hidden)]
pub const fn has_a_place(ty: &Type) -> bool {
    ty.align <= MOST_ALIGN
}

/// Whether parameters of these types fit.
#[doc(hidden)]
pub const fn fit(types: &[Type]) -> bool {
    let (mut index, mut bytes) = (0, 0_u64);
    while index < types.len() {
        let Type { size, align, .. } = types[index];
        bytes = bytes.next_multiple_of(align) + if size == 0 { align } else { size };
        index += 1;
    }
    bytes <= MOST_BYTES
}

/// An argument on its way to a child.
#[doc(hidden)]
pub struct Crossing<T: DeviceParam>(T::Raw);

impl<T: DeviceParam> Clone for Crossing<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: DeviceParam> Copy for Crossing<T> {}

impl<T: DeviceParam> Crossing<T> {
    /// The argument again.
    ///
    /// # Safety
    /// As for [`DeviceParam::from_raw`].
    #[cfg(not(target_arch = "nvptx64"))]
    pub unsafe fn read(self) -> T {
        // SAFETY: the caller's promise.
        unsafe { T::from_raw(self.0) }
    }
}

impl<'grid, W: With> Stream<'grid, W> {
    /// Takes an argument that lives as long as the child.
    ///
    /// # Panics
    /// If it points to shared or local memory.
    #[doc(hidden)]
    #[inline(always)]
    #[track_caller]
    pub fn cross<T: DeviceParam + 'grid>(self, argument: T) -> Crossing<T> {
        let raw = argument.into_raw();
        if T::TYPE.pointee.is_some() {
            // SAFETY: pointers and slices have the address in front, as `DeviceParam` asks.
            let address = unsafe { (&raw const raw).cast::<*const u8>().read() };
            assert!(
                !crate::memory::is_shared(address) && !crate::memory::is_local(address),
                "a child cannot reach its parent's shared or local memory"
            );
        }
        Crossing(raw)
    }
}

#[cfg(target_arch = "nvptx64")]
mod device {
    use super::{ChildError, ChildGrid, Crossing, Stream, With};
    use crate::syscalls::{
        __cudaCDP2GetLastError, __cudaCDP2GetParameterBufferV2, __cudaCDP2LaunchDeviceV2, ParameterDim3,
    };
    use ptx_abi::{DeviceParam, Type};

    /// A launch whose parameters are written one after another, each at its alignment, as the entry point reads them.
    #[derive(Debug)]
    pub struct Launching {
        buffer: *mut u8,
        at: u64,
        handle: u64,
    }

    impl Launching {
        /// # Safety
        /// `entry` must be the address of an entry point.
        #[inline(always)]
        pub unsafe fn begin<W: With>(
            entry: *const (),
            stream: Stream<'_, W>,
            grid: ChildGrid,
        ) -> Result<Self, ChildError> {
            // SAFETY: the caller's promise; the runtime checks the grid.
            let buffer = unsafe {
                __cudaCDP2GetParameterBufferV2(
                    entry,
                    ParameterDim3::from(grid.blocks),
                    ParameterDim3::from(grid.threads),
                    grid.shared_bytes,
                )
            };
            if buffer.is_null() {
                return Err(match __cudaCDP2GetLastError() {
                    0 => ChildError::OUT_OF_MEMORY,
                    code => ChildError(code),
                });
            }
            Ok(Self { buffer, at: 0, handle: stream.handle })
        }

        /// # Safety
        /// It must be the entry point's next parameter.
        #[inline(always)]
        pub unsafe fn push<T: DeviceParam>(&mut self, argument: Crossing<T>) {
            let Type { size, align, .. } = T::TYPE;
            self.at = self.at.next_multiple_of(align);
            // SAFETY: the buffer is as long as the entry point's parameters, and as aligned.
            unsafe { self.buffer.add(self.at as usize).cast::<T::Raw>().write(argument.0) };
            // In C++, an empty struct has bytes.
            self.at += if size == 0 { align } else { size };
        }

        /// # Safety
        /// All parameters must have been pushed.
        #[inline(always)]
        pub unsafe fn launch(self) -> Result<(), ChildError> {
            // SAFETY: the buffer is the runtime's, and whole.
            match unsafe { __cudaCDP2LaunchDeviceV2(self.buffer, self.handle) } {
                0 => Ok(()),
                code => Err(ChildError(code)),
            }
        }
    }
}
#[cfg(target_arch = "nvptx64")]
#[doc(hidden)]
pub use device::Launching;

/// What a launch does where the CPU runs kernels: the child runs when its parent has ended.
///
/// # Safety
/// `body` must be sound to call in each of the child's threads until the host's launch ends.
#[cfg(not(target_arch = "nvptx64"))]
#[doc(hidden)]
#[track_caller]
pub unsafe fn launch_on_cpu<'grid, W: With>(
    kernel: &'static str,
    stream: Stream<'grid, W>,
    grid: ChildGrid,
    body: impl Fn() + 'grid,
) -> Result<(), ChildError> {
    let body: std::boxed::Box<dyn Fn() + 'grid> = std::boxed::Box::new(body);
    // SAFETY: children run before the host's launch ends, and with it `'grid`; those that do not are dropped then.
    let body: std::boxed::Box<dyn Fn()> = unsafe { core::mem::transmute(body) };
    let is_tail = stream.handle == 3;
    let ChildGrid { blocks, threads, shared_bytes } = grid;
    crate::cpu::launch_child(crate::cpu::Child { kernel, blocks, threads, shared_bytes, is_tail, body });
    Ok(())
}

/// What a launch does where nothing runs kernels.
#[cfg(not(target_arch = "nvptx64"))]
#[doc(hidden)]
#[track_caller]
pub fn launch_nowhere() -> Result<(), ChildError> {
    crate::cpu::only_on_the_gpu()
}
