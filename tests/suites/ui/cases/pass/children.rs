//! A kernel that launches kernels asks the device runtime for a buffer, writes the arguments into it as the entry point reads
//! them, and launches, as nvcc's code does.
#![no_std]
use ptx::atomic::{AtomicSlice, Device, Ordering};
use ptx::children::{ChildGrid, Children};
use ptx::prelude::*;

#[derive(Clone, Copy, AbiType)]
#[repr(C)]
pub struct Pair {
    pub small: u8,
    pub large: u64,
}

#[kernel(child)]
pub fn child(small: u8, pair: Pair, out: AtomicSlice<'_, u64, Device>) {
    if let Some(out) = out.get(thread::index_1d().get()) {
        out.store(pair.large + u64::from(pair.small) + u64::from(small), Ordering::Relaxed);
    }
}

#[kernel]
pub fn parent<'grid>(#[children] children: Children<'grid>, pair: Pair, out: AtomicSlice<'grid, u64, Device>) {
    let grid = ChildGrid::new((2, 3), 32).shared_bytes(64);
    if child::launch(children.tail(), grid, 5, pair, out).is_err() {
        ptx::control::exit();
    }
}

// CHECK: .extern .func (.param .b64 func_retval0) __cudaCDP2GetParameterBufferV2
// CHECK: .entry parent
// CHECK: mov.b64 [[CHILD:%rd[0-9]+]], child;
// CHECK: st.param.b64 [param0], [[CHILD]];
// CHECK: call.uni (retval0), __cudaCDP2GetParameterBufferV2
// CHECK: ld.param.b64 [[BUFFER:%rd[0-9]+]], [retval0];
// CHECK: st.b8 {{\[}}[[BUFFER]]], 5;
// CHECK: st.b64 {{\[}}[[BUFFER]]+16],
// CHECK: st.b64 {{\[}}[[BUFFER]]+24],
// CHECK: st.b64 {{\[}}[[BUFFER]]+32],
// CHECK: st.param.b64 [param1], 3;
// CHECK: call.uni (retval0), __cudaCDP2LaunchDeviceV2

#[kernel(child, instantiate(u32, f64))]
pub fn fill<T: AbiType>(value: T, mut x: DisjointSlice<T>) {
    if let Some(x) = x.get_mut(thread::index_1d()) {
        *x = value;
    }
}

// The instance that the value's type tells.
// CHECK: .entry parent_of_instance
// CHECK: mov.b64 [[CHILD:%rd[0-9]+]], fill_f64;
// CHECK: st.param.b64 [param0], [[CHILD]];
// CHECK: call.uni (retval0), __cudaCDP2GetParameterBufferV2
// CHECK: call.uni (retval0), __cudaCDP2LaunchDeviceV2
#[kernel]
pub fn parent_of_instance<'grid>(#[children] children: Children<'grid>, x: DisjointSlice<'grid, f64>) {
    if fill::launch(children.tail(), ChildGrid::new(2, 32), 1.5, x).is_err() {
        ptx::control::exit();
    }
}
