//! Clocks, power, temperature and errors of memory, by NVIDIA's management library (NVML).

use std::ffi::{CStr, OsStr};
use std::sync::OnceLock;

use cudarc::driver::sys;
use nvml_wrapper::Nvml;
use nvml_wrapper::enum_wrappers::device::{Clock, EccCounter, MemoryError, TemperatureSensor};
use nvml_wrapper::error::NvmlError;

use crate::device::Device;
use crate::driver::Doing;
use crate::error::{Error, Result};

/// What the driver's package installs; the name without the number is the toolkit's.
const LIBRARY: &str = if cfg!(windows) { "nvml.dll" } else { "libnvidia-ml.so.1" };

/// How a device is, as `nvidia-smi` shows it. None is what this device does not measure.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Health {
    /// The multiprocessors' clock, in MHz: `nvmlDeviceGetClockInfo(NVML_CLOCK_SM)`.
    pub clock: Option<u32>,
    /// The memory's clock, in MHz: `nvmlDeviceGetClockInfo(NVML_CLOCK_MEM)`.
    pub memory_clock: Option<u32>,
    /// The power that the whole board takes, in watts: `nvmlDeviceGetPowerUsage`.
    pub watts: Option<f64>,
    /// The chip's temperature, in degrees Celsius: `nvmlDeviceGetTemperature`.
    pub celsius: Option<u32>,
    /// Errors of memory that were corrected since the driver was loaded: `nvmlDeviceGetTotalEccErrors`.
    pub corrected: Option<u64>,
    /// Those that were not.
    pub uncorrected: Option<u64>,
}

impl Device {
    /// How the device is now. With the feature `nvml`.
    ///
    /// # Errors
    /// [`Error::Health`] if the management library is missing, as in some containers, or does not know the device.
    pub fn health(&self) -> Result<Health> {
        let refused = |reason: String| Error::Health { device: self.name().to_owned(), library: LIBRARY, reason };
        let mut text = [0_u8; 32];
        // SAFETY: the text has so many bytes, and the device is open.
        unsafe { sys::cuDeviceGetPCIBusId(text.as_mut_ptr().cast(), text.len() as i32, self.context().cu_device()) }
            .result()
            .doing(|| "asking where the device is on the bus".to_owned())?;
        let place = CStr::from_bytes_until_nul(&text).unwrap_or_default().to_string_lossy();
        let device = library()
            .map_err(|error| refused(error.to_string()))?
            .device_by_pci_bus_id(&*place)
            .map_err(|error| refused(error.to_string()))?;
        let errors = |kind| device.total_ecc_errors(kind, EccCounter::Volatile).ok();
        Ok(Health {
            clock: device.clock_info(Clock::SM).ok(),
            memory_clock: device.clock_info(Clock::Memory).ok(),
            watts: device.power_usage().ok().map(|milliwatts| f64::from(milliwatts) / 1e3),
            celsius: device.temperature(TemperatureSensor::Gpu).ok(),
            corrected: errors(MemoryError::Corrected),
            uncorrected: errors(MemoryError::Uncorrected),
        })
    }
}

/// The library, which stays loaded.
fn library() -> std::result::Result<&'static Nvml, &'static NvmlError> {
    static NVML: OnceLock<std::result::Result<Nvml, NvmlError>> = OnceLock::new();
    NVML.get_or_init(|| Nvml::builder().lib_path(OsStr::new(LIBRARY)).init()).as_ref()
}
