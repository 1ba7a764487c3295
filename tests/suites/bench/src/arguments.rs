//! A row's arguments on the device.

use std::ffi::c_void;

use anyhow::{Context, Result};
use ptx::CudaSlice;
use ptx::cudarc::driver::{DevicePtr, result};
use ptx_abi::extents;
use ptx_bench_table::{Argument, Data, Role, Tolerance, with_vector};

use crate::gpu::Gpu;

/// Memory and values that both kernels of a row are launched with.
pub struct Arguments {
    slices: Vec<Slice>,
    /// A value, an address or a length a parameter.
    cells: Vec<u64>,
}

struct Slice {
    before: Data,
    role: Role,
    address: u64,
    /// It stays as long as its address is used.
    _memory: CudaSlice<u8>,
}

impl Arguments {
    /// Allocates memory for the arguments and fills it.
    pub fn new(gpu: &Gpu, arguments: Vec<Argument>) -> Result<Self> {
        let mut this = Self { slices: Vec::new(), cells: Vec::new() };
        for argument in arguments {
            match argument {
                Argument::Value(_, bytes) => {
                    let mut cell = [0; 8];
                    cell[..bytes.len()].copy_from_slice(&bytes);
                    this.cells.push(u64::from_ne_bytes(cell));
                }
                Argument::Slice { data: before, lanes, role, columns } => {
                    let bytes = with_vector!(&before, vector => size_of_val(vector.as_slice()));
                    let memory = gpu.device.zeroed::<u8>(bytes)?;
                    let address = memory.device_ptr(gpu.device.stream()).0;
                    let len = before.len() / lanes;
                    let plane = |width: usize| extents::pack_2d(width as u32, (len / width) as u32);
                    this.cells.extend([address, columns.map_or(len as u64, plane)]);
                    let slice = Slice { before, role, address, _memory: memory };
                    slice.fill()?;
                    this.slices.push(slice);
                }
            }
        }
        Ok(this)
    }

    /// A pointer to each parameter. The driver reads as many bytes of a cell as the parameter has: the first ones, which on
    /// the machines that have these GPUs are the lowest.
    pub fn parameters(&mut self) -> Vec<*mut c_void> {
        self.cells.iter_mut().map(|cell| std::ptr::from_mut(cell).cast()).collect()
    }

    /// Makes what kernels write as it was before the first launch.
    pub fn reset(&self) -> Result<()> {
        self.slices.iter().filter(|slice| slice.role != Role::Input).try_for_each(Slice::fill)
    }

    /// What the kernels wrote, slice by slice.
    pub fn results(&self) -> Result<Vec<Data>> {
        self.slices.iter().filter(|slice| slice.role != Role::Input).map(Slice::read).collect()
    }

    /// Compares results with each other, and with what was there before: a kernel that writes nothing agrees with any other
    /// that writes nothing.
    pub fn compare(&self, results: [&[Data]; 2], names: [&str; 2], tolerance: Tolerance) -> Result<(), String> {
        let outputs = self.slices.iter().filter(|slice| slice.role != Role::Input);
        for (index, ((left, right), slice)) in results[0].iter().zip(results[1]).zip(outputs).enumerate() {
            for (name, result) in names.iter().zip([left, right]) {
                if *result == slice.before {
                    return Err(format!("result {index}: the kernel in {name} changed nothing"));
                }
            }
            tolerance.compare(left, right).map_err(|difference| {
                let [left, right] = names;
                format!("result {index}, {left} against {right}: {difference}")
            })?;
        }
        Ok(())
    }
}

impl Slice {
    fn fill(&self) -> Result<()> {
        with_vector!(&self.before, vector => {
            // SAFETY: the memory has as many bytes as the vector.
            unsafe { result::memcpy_htod_sync(self.address, vector) }.context("copying an argument to the device")
        })
    }

    fn read(&self) -> Result<Data> {
        let mut data = self.before.clone();
        with_vector!(&mut data, vector => {
            // SAFETY: the memory has as many bytes as the vector, and every bit pattern is a number.
            unsafe { result::memcpy_dtoh_sync(vector, self.address) }.context("copying a result from the device")
        })?;
        Ok(data)
    }
}
