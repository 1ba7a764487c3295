//! Copies between arrays and memory: `cuMemcpy3DAsync`.

use std::ffi::c_void;

use cudarc::driver::sys::{self, CUDA_MEMCPY3D, CUarray, CUdeviceptr, CUmemorytype};
use cudarc::driver::{CudaStream, DriverError};

use super::extents::Extents;

/// Memory whose rows lie one behind the other.
#[derive(Clone, Copy, Debug)]
pub(super) enum Memory {
    FromHost(*const c_void),
    ToHost(*mut c_void),
    FromDevice(CUdeviceptr),
    ToDevice(CUdeviceptr),
}

/// Puts a copy of a whole array on the stream.
///
/// # Safety
/// The memory must hold all of the array's elements, each of `size` bytes, until the copy is done, and nobody else access
/// what is written or write what is read. The context must be current.
pub(super) unsafe fn copy(
    array: CUarray,
    extents: Extents,
    size: usize,
    memory: Memory,
    stream: &CudaStream,
) -> Result<(), DriverError> {
    let copy = describe(array, extents, size, memory);
    // SAFETY: the caller's promise.
    unsafe { sys::cuMemcpy3DAsync_v2(&copy, stream.cu_stream()) }.result()
}

fn describe(array: CUarray, extents: Extents, size: usize, memory: Memory) -> CUDA_MEMCPY3D {
    let (host, device, of_array) =
        (CUmemorytype::CU_MEMORYTYPE_HOST, CUmemorytype::CU_MEMORYTYPE_DEVICE, CUmemorytype::CU_MEMORYTYPE_ARRAY);
    let width = extents.width * size;
    let mut copy = CUDA_MEMCPY3D {
        srcXInBytes: 0,
        srcY: 0,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: of_array,
        srcHost: std::ptr::null(),
        srcDevice: 0,
        srcArray: std::ptr::null_mut(),
        reserved0: std::ptr::null_mut(),
        srcPitch: 0,
        srcHeight: 0,
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: of_array,
        dstHost: std::ptr::null_mut(),
        dstDevice: 0,
        dstArray: std::ptr::null_mut(),
        reserved1: std::ptr::null_mut(),
        dstPitch: 0,
        dstHeight: 0,
        WidthInBytes: width,
        Height: extents.height.max(1),
        Depth: extents.depth.max(1),
    };
    match memory {
        Memory::FromHost(from) => (copy.srcMemoryType, copy.srcHost) = (host, from),
        Memory::ToHost(to) => (copy.dstMemoryType, copy.dstHost) = (host, to),
        Memory::FromDevice(from) => (copy.srcMemoryType, copy.srcDevice) = (device, from),
        Memory::ToDevice(to) => (copy.dstMemoryType, copy.dstDevice) = (device, to),
    }
    let rows = (width, extents.height.max(1));
    if matches!(memory, Memory::FromHost(_) | Memory::FromDevice(_)) {
        copy.dstArray = array;
        (copy.srcPitch, copy.srcHeight) = rows;
    } else {
        copy.srcArray = array;
        (copy.dstPitch, copy.dstHeight) = rows;
    }
    copy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_lie_one_behind_the_other() {
        let array = std::ptr::without_provenance_mut(0x10);
        let layers = Extents { width: 5, height: 0, depth: 3 };
        let to = describe(array, layers, 8, Memory::FromDevice(0x1000));
        assert_eq!((to.srcPitch, to.srcHeight, to.WidthInBytes, to.Height, to.Depth), (40, 1, 40, 1, 3));
        assert_eq!((to.srcDevice, to.dstArray, to.srcArray.is_null()), (0x1000, array, true));
        assert_eq!((to.srcMemoryType as u32, to.dstMemoryType as u32), (2, 3));
        let plane = Extents { width: 4, height: 6, depth: 0 };
        let from = describe(array, plane, 2, Memory::ToHost(std::ptr::without_provenance_mut(0x20)));
        assert_eq!((from.dstPitch, from.dstHeight, from.Height, from.Depth), (8, 6, 6, 1));
        assert_eq!((from.srcArray, from.srcMemoryType as u32, from.dstMemoryType as u32), (array, 3, 1));
    }
}
