//! Statics of device code, written and read by name: what CUDA's `cudaMemcpyToSymbol` and `cudaMemcpyFromSymbol` do.

use std::mem::MaybeUninit;

use cudarc::driver::result;
use cudarc::driver::sys::CUdeviceptr;
use ptx_abi::bits::Plain;
use ptx_device::DeviceStatic;

use crate::driver::Doing;
use crate::error::{Error, Result};
use crate::module::Module;

impl Module {
    /// Gives a static of `#[ptx::constant]` or `#[ptx::global]` another value in this module; on the next launch, kernels
    /// see it. It waits for all work on the device first.
    ///
    /// CUDA: `cudaMemcpyToSymbol`.
    ///
    /// # Errors
    /// If no kernel of the module uses the static, if the device code has it with another size, or if the device is lost.
    pub fn write_static<S: DeviceStatic>(&mut self, place: &S, value: &S::Value) -> Result<()> {
        let address = self.address_of(place)?;
        // No kernel may see it change. No other thread can launch one: that takes a reference to the module.
        self.device().synchronize()?;
        // SAFETY: the value's own bytes; no more are read than it has.
        let bytes =
            unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast::<u8>(), size_of::<S::Value>()) };
        // SAFETY: the static is that large, and nobody uses it.
        unsafe { result::memcpy_htod_sync(address, bytes) }.doing(|| format!("writing the static `{}`", place.path()))
    }

    /// The value that a static of `#[ptx::global]` or `#[ptx::constant]` has in this module. It waits for all work on the
    /// device first.
    ///
    /// CUDA: `cudaMemcpyFromSymbol`.
    ///
    /// # Errors
    /// As of [`Module::write_static`].
    pub fn read_static<S: DeviceStatic<Value: Plain>>(&self, place: &S) -> Result<S::Value> {
        let address = self.address_of(place)?;
        self.device().synchronize()?;
        let mut value = MaybeUninit::<S::Value>::zeroed();
        // SAFETY: the bytes are those of `value`, and are initialised.
        let bytes = unsafe { std::slice::from_raw_parts_mut(value.as_mut_ptr().cast::<u8>(), size_of::<S::Value>()) };
        // SAFETY: the static is that large.
        unsafe { result::memcpy_dtoh_sync(bytes, address) }
            .doing(|| format!("reading the static `{}`", place.path()))?;
        // SAFETY: any bits are a value, also those of a kernel that somebody else has launched meanwhile.
        Ok(unsafe { value.assume_init() })
    }

    /// Where the static lies; the context is current then.
    fn address_of<S: DeviceStatic>(&self, place: &S) -> Result<CUdeviceptr> {
        let path = place.path();
        let symbol: String = ptx_abi::symbol_of_static(path).collect();
        let Some((address, device)) = self.symbol(&symbol)? else {
            return Err(Error::UnknownStatic { path, image: self.images() });
        };
        let host = size_of::<S::Value>();
        if device != host {
            return Err(Error::StaticSize { path, device, host });
        }
        Ok(address)
    }
}
