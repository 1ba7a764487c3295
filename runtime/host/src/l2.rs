//! The part of the cache L2 that keeps what it has: how large it is, and whose memory may lie there.

use std::ffi::c_void;

use cudarc::driver::CudaStream;
use cudarc::driver::sys::{
    self, CUaccessPolicyWindow, CUaccessProperty, CUdevice_attribute as Attribute, CUlimit, CUstreamAttrValue,
};

use crate::device::Device;
use crate::driver::Doing as _;
use crate::error::Result;
use crate::memory::DeviceRead;

/// Memory of which L2 keeps a share when kernels use it: CUDA's `cudaAccessPolicyWindow`. [`Device::l2_window`] makes one.
///
/// It is a hint, and changes no result; [`Device::set_persisting_l2`] gives it room. For single loads and stores a kernel has
/// [policies](ptx_device::memory::CachePolicy).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct L2Window {
    base: u64,
    bytes: usize,
    share: f32,
}

impl L2Window {
    /// How many bytes it has: those of the memory, or as many as the device allows.
    pub fn bytes(self) -> usize {
        self.bytes
    }

    /// The same window with another share: the part of its accesses, from 0 to 1, whose memory is kept; what is beyond counts
    /// as used once. CUDA's `hitRatio`. What does not lie between 0 and 1 is taken for the nearer of them.
    #[must_use]
    pub fn share(self, share: f32) -> Self {
        // Not a number is 0.
        Self { share: if share > 0.0 { share.min(1.0) } else { 0.0 }, ..self }
    }

    /// Has all launches on the stream from now on use the window, in place of the one before:
    /// `cuStreamSetAttribute(CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW)`. [`Device::clear_l2_window`] takes it back.
    pub fn set_on(self, stream: &CudaStream) -> Result<()> {
        let doing = || "giving a stream a window of L2".to_owned();
        stream.context().bind_to_thread().doing(doing)?;
        let value = CUstreamAttrValue { accessPolicyWindow: self.of_driver() };
        let id = sys::CUstreamAttrID::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW;
        // SAFETY: it reads the value; the stream lives.
        unsafe { sys::cuStreamSetAttribute(stream.cu_stream(), id, &value) }.result().doing(doing)
    }

    /// As the driver takes it.
    pub(crate) fn of_driver(self) -> CUaccessPolicyWindow {
        CUaccessPolicyWindow {
            base_ptr: std::ptr::without_provenance_mut::<c_void>(self.base as usize),
            num_bytes: self.bytes,
            hitRatio: self.share,
            hitProp: if self.bytes == 0 {
                CUaccessProperty::CU_ACCESS_PROPERTY_NORMAL
            } else {
                CUaccessProperty::CU_ACCESS_PROPERTY_PERSISTING
            },
            missProp: if self.bytes == 0 {
                CUaccessProperty::CU_ACCESS_PROPERTY_NORMAL
            } else {
                CUaccessProperty::CU_ACCESS_PROPERTY_STREAMING
            },
        }
    }
}

impl Device {
    /// How many bytes of L2 keep what is marked so: `cuCtxGetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE)`. 0 at first.
    pub fn persisting_l2(&self) -> Result<usize> {
        let doing = || "asking how much of L2 keeps what it has".to_owned();
        self.context().get_limit(CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE).doing(doing)
    }

    /// Sets [`persisting_l2`](Self::persisting_l2), at most [`max_persisting_l2`](Self::max_persisting_l2) bytes; the driver
    /// rounds up. From sm_80. `cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE)`.
    pub fn set_persisting_l2(&self, bytes: usize) -> Result<()> {
        let doing = || format!("having {bytes} bytes of L2 keep what they have");
        self.context().set_limit(CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE, bytes).doing(doing)
    }

    /// The most bytes of L2 that can keep what they have; 0 before sm_80.
    /// `CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE`.
    pub fn max_persisting_l2(&self) -> Result<usize> {
        self.l2_attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE)
    }

    /// Has L2 treat all that it keeps as everything else: `cuCtxResetPersistingL2Cache`. Do so when a kernel that needed it has
    /// ended, because the kernels behind it get less of the cache otherwise.
    pub fn reset_persisting_l2(&self) -> Result<()> {
        let doing = || "having L2 keep nothing any more".to_owned();
        self.context().bind_to_thread().doing(doing)?;
        // SAFETY: it has no arguments, and the context is current.
        unsafe { sys::cuCtxResetPersistingL2Cache() }.result().doing(doing)
    }

    /// A window on that memory, or on as much of it from the beginning as the device allows; of no bytes before sm_80. Its share
    /// is all of it: give less by [`L2Window::share`] if it is more than [`persisting_l2`](Self::persisting_l2), or accesses
    /// drive each other out of the cache (CUDA C++ Programming Guide, "Tuning the Access Window Hit-Ratio").
    ///
    /// The window is an address range: freeing the memory is allowed, and what comes to lie there then is kept.
    pub fn l2_window<T>(&self, memory: &(impl DeviceRead<T> + ?Sized)) -> Result<L2Window> {
        let most = self.l2_attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE)?;
        let (base, _guard) = memory.read_on(self.stream());
        Ok(L2Window { base, bytes: (memory.len() * size_of::<T>()).min(most), share: 1.0 })
    }

    /// Takes the window of a stream back: launches on it treat all memory alike from now on.
    pub fn clear_l2_window(&self, stream: &CudaStream) -> Result<()> {
        L2Window { base: 0, bytes: 0, share: 0.0 }.set_on(stream)
    }

    fn l2_attribute(&self, attribute: Attribute) -> Result<usize> {
        let value = self.context().attribute(attribute).doing(|| "asking what L2 can keep".to_owned())?;
        Ok(usize::try_from(value).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_between_nothing_and_all() {
        let window = L2Window { base: 0x1000, bytes: 64, share: 1.0 };
        for (asked, share) in [(0.5, 0.5), (-1.0, 0.0), (7.0, 1.0), (f32::NAN, 0.0)] {
            assert_eq!(window.share(asked).of_driver().hitRatio, share);
        }
        let of_driver = window.of_driver();
        assert_eq!((of_driver.base_ptr.addr(), of_driver.num_bytes), (0x1000, 64));
        assert_eq!(of_driver.hitProp, CUaccessProperty::CU_ACCESS_PROPERTY_PERSISTING);
    }

    #[test]
    fn a_window_of_nothing_keeps_nothing() {
        let nothing = L2Window { base: 0, bytes: 0, share: 0.0 }.of_driver();
        assert_eq!(nothing.hitProp, CUaccessProperty::CU_ACCESS_PROPERTY_NORMAL);
        assert_eq!(nothing.missProp, CUaccessProperty::CU_ACCESS_PROPERTY_NORMAL);
    }
}
