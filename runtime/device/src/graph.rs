//! The conditions of graphs: what a kernel decides of the launches behind it, without the host.
//!
//! | CUDA C++ | here |
//! |---|---|
//! | `cudaGraphConditionalHandle` as a parameter | [`Condition`] |
//! | `cudaGraphSetConditional(handle, value)` by one thread | [`Condition::set`], [`Condition::set_from_this_thread`] |
//!
//! The host makes a condition by `GraphBuilder::condition`, and adds what depends on it by `add_if`, `add_while` and
//! `add_switch`. It needs a driver of CUDA 12.3 or later. `cudaGraphSetConditional` is one of the driver's own functions, as
//! `vprintf` is: ptxas leaves it undefined in the cubin, and nothing has to be linked.

use core::fmt;
use core::marker::PhantomData;

use ptx_abi::cxx::{Cxx, Definition};
use ptx_abi::{Class, CxxType, DeviceParam, Type};

use crate::ffi::ULongLong;

/// The condition of a graph's `if`, `while` or `switch`, which this kernel may set: CUDA's `cudaGraphConditionalHandle`, in C++
/// `unsigned long long`.
///
/// On the host the argument is `&GraphCondition`, and only a launch that is added to the graph takes it.
///
/// ```
/// use ptx::graph::Condition;
/// use ptx::prelude::*;
///
/// /// Halves all, and has the loop go on while the first is above the limit.
/// #[kernel]
/// pub fn halve(limit: f32, mut go_on: Condition<'_>, mut x: DisjointSlice<f32>) {
///     let i = thread::index_1d();
///     if let Some(x) = x.get_mut(i) {
///         *x *= 0.5;
///         if i.get() == 0 {
///             go_on.set(u32::from(*x > limit));
///         }
///     }
/// }
/// ```
pub struct Condition<'a> {
    handle: u64,
    graph: PhantomData<&'a mut ()>,
}

impl Condition<'_> {
    /// Sets the condition, if this is the first thread of the grid, and does nothing in all others: CUDA's
    /// `cudaGraphSetConditional`. The value of its last call counts, for what the graph does behind this kernel.
    ///
    /// An `if` and a `while` take 0 for false and anything else for true, a `switch` the number of the case.
    ///
    /// # Panics
    /// On the host: graphs need a GPU.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn set(&mut self, value: u32) {
        let (thread, block) = (crate::thread::thread_idx(), crate::thread::block_idx());
        if (thread.x | thread.y | thread.z | block.x | block.y | block.z) == 0 {
            // SAFETY: there is one such thread.
            unsafe { self.set_from_this_thread(value) };
        }
    }

    /// Sets the condition, whichever thread this is: CUDA's `cudaGraphSetConditional`. For kernels where another thread than the
    /// first decides, such as the last block of a reduction.
    ///
    /// # Safety
    /// No other thread may set the same condition in this launch: calls that may meet are undefined behaviour (CUDA Runtime API,
    /// "cudaGraphSetConditional").
    ///
    /// # Panics
    /// As of [`set`](Self::set).
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub unsafe fn set_from_this_thread(&mut self, value: u32) {
        #[cfg(target_arch = "nvptx64")]
        // SAFETY: the host gave the handle of a graph of this context, and the caller's promise.
        unsafe {
            crate::syscalls::cudaGraphSetConditional(self.handle, value);
        }
        #[cfg(not(target_arch = "nvptx64"))]
        panic!("a condition needs a graph, and the CPU has none: {value} was to be set");
    }
}

// SAFETY: the handle, as `unsigned long long`.
unsafe impl DeviceParam for Condition<'_> {
    type Raw = u64;
    const TYPE: Type = Type::scalar::<u64>(Class::Unsigned);
    const CXX: Cxx<'static> = <ULongLong as CxxType>::CXX;
    const DEFINITION: &'static Definition<'static> = <ULongLong as CxxType>::DEFINITION;
    #[inline(always)]
    unsafe fn from_raw(handle: u64) -> Self {
        Self { handle, graph: PhantomData }
    }
    #[inline(always)]
    fn into_raw(self) -> u64 {
        self.handle
    }
}

impl fmt::Debug for Condition<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Condition({:#x})", self.handle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "a condition needs a graph, and the CPU has none: 1 was to be set")]
    fn a_condition_needs_a_gpu() {
        // SAFETY: the host never uses the handle.
        let mut condition = unsafe { Condition::from_raw(0) };
        // SAFETY: there is one thread.
        unsafe { condition.set_from_this_thread(1) };
    }
}
