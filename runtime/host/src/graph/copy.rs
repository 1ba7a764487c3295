//! Copies in a graph: between memory of the device, and to and from page-locked memory of the host.

use std::ffi::c_void;

use cudarc::driver::sys::{self, CUDA_MEMCPY3D, CUmemorytype};

use super::memory::{GraphHostMemory, GraphMemory};
use super::parts::Node;
use super::steps::Steps;
use crate::error::{Error, Result};
use crate::memory::DeviceMemory;

const STEP: &str = "a copy";

/// One side of a copy.
pub(super) struct Side {
    kind: CUmemorytype,
    address: u64,
    len: usize,
    slot: usize,
}

impl Steps<'_, '_> {
    pub(super) fn of_device<T>(&self, memory: &GraphMemory<T>) -> Result<Side> {
        self.own(STEP, memory)?;
        let (address, len) = (memory.address, memory.len());
        Ok(Side { kind: CUmemorytype::CU_MEMORYTYPE_DEVICE, address, len, slot: memory.slot.number })
    }

    pub(super) fn of_host<T>(&self, memory: &GraphHostMemory<T>) -> Result<Side> {
        if memory.slot.graph != self.common.number {
            let reason =
                "it is given memory that this graph has not taken: give the memory to `GraphBuilder::keep_host`";
            return Err(Error::GraphStep { step: STEP, reason: reason.to_owned() });
        }
        let (address, len) = (memory.address, memory.len());
        Ok(Side { kind: CUmemorytype::CU_MEMORYTYPE_HOST, address, len, slot: memory.slot.number })
    }

    /// Adds a copy of elements of so many bytes.
    pub(super) fn copy(&mut self, from: &Side, to: &Side, size: usize) -> Result<Node> {
        if from.len != to.len {
            let reason = format!("it is of {} elements, and goes to {}", from.len, to.len);
            return Err(Error::GraphStep { step: STEP, reason });
        }
        let bytes = from.len * size;
        let slots = [(from.slot, false), (to.slot, true)];
        self.put("adding a copy to a graph", &slots, |node, graph, before, context| {
            if bytes == 0 {
                // SAFETY: the nodes are the graph's.
                return unsafe { sys::cuGraphAddEmptyNode(node, graph, before.as_ptr(), before.len()) };
            }
            let params = params(from, to, bytes);
            // SAFETY: both sides have so many bytes, and live as long as the graph.
            unsafe { sys::cuGraphAddMemcpyNode(node, graph, before.as_ptr(), before.len(), &params, context.cu_ctx()) }
        })
    }
}

/// One row, of one layer.
fn params(from: &Side, to: &Side, bytes: usize) -> CUDA_MEMCPY3D {
    let host = |side: &Side| match side.kind {
        CUmemorytype::CU_MEMORYTYPE_HOST => std::ptr::with_exposed_provenance_mut::<c_void>(side.address as usize),
        _ => std::ptr::null_mut(),
    };
    let device = |side: &Side| match side.kind {
        CUmemorytype::CU_MEMORYTYPE_DEVICE => side.address,
        _ => 0,
    };
    CUDA_MEMCPY3D {
        srcXInBytes: 0,
        srcY: 0,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: from.kind,
        srcHost: host(from).cast_const(),
        srcDevice: device(from),
        srcArray: std::ptr::null_mut(),
        reserved0: std::ptr::null_mut(),
        srcPitch: bytes,
        srcHeight: 1,
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: to.kind,
        dstHost: host(to),
        dstDevice: device(to),
        dstArray: std::ptr::null_mut(),
        reserved1: std::ptr::null_mut(),
        dstPitch: bytes,
        dstHeight: 1,
        WidthInBytes: bytes,
        Height: 1,
        Depth: 1,
    }
}
