//! Sees to it that threads have the stack that their kernel needs, and tells device code where it ends.
//!
//! The driver gives every thread `CU_LIMIT_STACK_SIZE` bytes, or what ptxas says that the kernel needs, if that is more. ptxas
//! cannot say for kernels with recursion. For those the compiler says what one turn needs, and has functions look for
//! the end of the stack: `ptx_abi::stack`.

use std::ffi::CString;
use std::sync::{Mutex, PoisonError};

use cudarc::driver::sys::{self, CUdeviceptr, CUmodule, CUresult};
use cudarc::driver::{DriverError, result};
use ptx_abi::stack::{Bounds, SYMBOL};

use crate::device::Device;
use crate::driver::Doing;
use crate::error::{Error, Result};
use crate::image::{KernelRecord, Recursion, ResourceRecord};

/// Bytes that a thread has unless somebody asks for more: the driver's `CU_LIMIT_STACK_SIZE`.
pub(crate) const DEFAULT: u64 = 1 << 10;

/// Bytes that a thread has at least where nobody knows how deep calls go.
const LEAST: u64 = 8 << 10;

/// Turns of recursion for which there is room before anybody asks for more.
const TURNS: u64 = 64;

/// As many times the longest way there is room for where only calls through pointers come back: formatting calls itself for
/// the parts of what it formats, and seldom deeper.
const WAYS: u64 = 4;

/// The part of the device's memory that stacks take at most unless a kernel needs more for one turn.
const PART_OF_MEMORY: u64 = 16;

/// What a kernel asks of `CU_LIMIT_STACK_SIZE`, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Need {
    /// It cannot run with less.
    must: u64,
    /// It should have so much, if the device has room.
    should: u64,
    /// What must be free where a function looks for the end; none if that is not known.
    reserve: Option<u64>,
}

impl Need {
    /// Of a kernel whose code was compiled for `arch`, if it is known which; `unknown` if it calls code that nobody counted.
    /// None if the driver knows all.
    pub(crate) fn of(record: &KernelRecord, arch: Option<&str>, unknown: bool) -> Option<Self> {
        let fits = |used: &&ResourceRecord| arch.is_none_or(|arch| arch == used.arch);
        let recursive = record.resources.iter().filter(fits).filter_map(|used| Some((used.stack, used.recursion?)));
        let needs = recursive.map(|(stack, Recursion { level, reserve })| {
            let must = u64::from(stack) + u64::from(reserve);
            let more = (TURNS * u64::from(level)).max(WAYS * u64::from(stack));
            Self { must, should: must + more, reserve: Some(u64::from(reserve)) }
        });
        let need = needs.max_by_key(|need| need.must);
        let is_unknown = unknown || record.resources.is_empty();
        let need = need.or_else(|| is_unknown.then(Self::default))?;
        Some(Self { should: need.should.max(LEAST), ..need })
    }

    /// With the compiler's estimate where nobody counted: below the kernel's own frame, of `own` bytes, there must be room up
    /// to the first function that looks for the end. It looks when its frame is made, and registers are saved in it.
    pub(crate) fn or_estimated(self, own: u64, told: Option<&Told>) -> Self {
        match (self.reserve, told) {
            (None, Some(told)) => self.below(own + told.reserve),
            _ => self,
        }
    }

    fn below(self, must: u64) -> Self {
        Self { must: self.must.max(must), should: self.should.max(must + LEAST), ..self }
    }
}

/// The bounds in a module's memory.
#[derive(Debug)]
pub(crate) struct Told {
    address: CUdeviceptr,
    /// What is needed until the next check, where no kernel's record says.
    reserve: u64,
    /// What the device was told last.
    bounds: Mutex<Bounds>,
}

impl Told {
    /// Those of a module with recursion. The context must be current.
    pub(crate) fn of(module: CUmodule) -> Result<Option<Self>, DriverError> {
        let name = CString::new(SYMBOL).expect("a symbol has no NUL");
        let (mut address, mut size) = (0, 0);
        // SAFETY: the module is loaded, and its context current.
        let found = unsafe { sys::cuModuleGetGlobal_v2(&mut address, &mut size, module, name.as_ptr()) };
        if found != CUresult::CUDA_SUCCESS || size != size_of::<Bounds>() {
            return Ok(None);
        }
        let mut words = [0_u64; size_of::<Bounds>() / 8];
        // SAFETY: the module's global has this size.
        unsafe { result::memcpy_dtoh_sync(&mut words, address) }?;
        let [least, size, reserve] = words;
        Ok(Some(Self { address, reserve, bounds: Mutex::new(Bounds { least, size, reserve }) }))
    }

    /// Tells the device where the stack of `size` bytes ends.
    fn tell(&self, device: &Device, size: u64, reserve: u64) -> Result<()> {
        let mut told = self.bounds.lock().unwrap_or_else(PoisonError::into_inner);
        let least = device.stack_top()?.saturating_sub(size) + reserve;
        let bounds = Bounds { least, size, reserve: self.reserve };
        if *told == bounds {
            return Ok(());
        }
        if told.least != 0 {
            // Kernels may run that have another stack.
            device.synchronize()?;
        }
        // SAFETY: the module's global has this size, and nothing that runs reads it.
        unsafe { result::memcpy_htod_sync(self.address, &[bounds.least, bounds.size, bounds.reserve]) }
            .doing(|| "telling device code where the stack ends".to_owned())?;
        *told = bounds;
        Ok(())
    }
}

/// Gives threads what the kernel needs, and tells its module. The context must be current.
pub(crate) fn prepare(device: &Device, kernel: &str, need: Need, told: Option<&Told>) -> Result<()> {
    let mut size = device.stack_size()? as u64;
    let aim = if device.has_chosen_stack() { need.must } else { need.should.min(room(device)?).max(need.must) };
    if size < aim {
        raise(device, kernel, aim, need.must)?;
        size = device.stack_size()? as u64;
    }
    told.map_or(Ok(()), |told| told.tell(device, size, need.reserve.unwrap_or(told.reserve)))
}

/// Raises the limit to `aim` bytes; where the device has no room for that, to `must`.
fn raise(device: &Device, kernel: &str, aim: u64, must: u64) -> Result<()> {
    let set = |bytes: u64| device.limit_stack(usize::try_from(bytes).unwrap_or(usize::MAX));
    // So much the driver rounds up to.
    let aim = aim.next_multiple_of(16);
    if set(aim).is_ok() || must < aim && device.stack_size()? as u64 >= must {
        return Ok(());
    }
    set(must.next_multiple_of(16)).map_err(|error| match error {
        Error::Driver { .. } | Error::OutOfMemory { .. } => no_room(device, kernel, must),
        other => other,
    })
}

/// The device has no memory for stacks of so many bytes.
pub(crate) fn no_room(device: &Device, kernel: &str, bytes: u64) -> Error {
    let threads = device.resident_threads().unwrap_or(0);
    Error::Stack { kernel: kernel.to_owned(), bytes, device: device.name().to_owned(), threads }
}

/// Bytes a thread of the part of the device's memory that stacks may take.
fn room(device: &Device) -> Result<u64> {
    Ok(device.total_memory()? / PART_OF_MEMORY / device.resident_threads()?.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn used(arch: &'static str, stack: u32, recursion: Option<Recursion>) -> ResourceRecord {
        ResourceRecord {
            arch,
            registers: 24,
            stack,
            recursion,
            spill_stores: 0,
            spill_loads: 0,
            shared: 0,
            constant: None,
        }
    }

    fn need(resources: &'static [ResourceRecord], arch: Option<&str>, unknown: bool) -> Option<Need> {
        let record = KernelRecord { name: "k", path: "k", signature: "k()", abi_hash: 0, resources };
        Need::of(&record, arch, unknown)
    }

    #[test]
    fn what_ptxas_counted_is_the_drivers_to_give() {
        static PLAIN: [ResourceRecord; 1] = [used("sm_90", 200_000, None)];
        assert_eq!(need(&PLAIN, Some("sm_90"), false), None);
        let unknown = Need { must: 0, should: LEAST, reserve: None };
        assert_eq!(need(&PLAIN, Some("sm_90"), true), Some(unknown));
        assert_eq!(need(&[], Some("sm_90"), false), Some(unknown));
    }

    #[test]
    fn what_nobody_counted_has_room_for_the_estimate() {
        let unknown = Need { must: 0, should: LEAST, reserve: None };
        assert_eq!(unknown.below(2000), Need { must: 2000, should: 2000 + LEAST, reserve: None });
        let counted = Need { must: 70, should: 9000, reserve: Some(50) };
        assert_eq!(counted.or_estimated(2000, None), counted);
        assert_eq!(unknown.or_estimated(2000, None), unknown, "a module without recursion");
    }

    #[test]
    fn recursion_has_room_for_its_turns() {
        static DEEP: [ResourceRecord; 2] = [
            used("sm_80", 100, Some(Recursion { level: 8, reserve: 50 })),
            used("sm_90", 1000, Some(Recursion { level: 200, reserve: 500 })),
        ];
        let deep = Some(Need { must: 1500, should: 1500 + 64 * 200, reserve: Some(500) });
        assert_eq!(need(&DEEP, Some("sm_90"), false), deep);
        assert_eq!(need(&DEEP, Some("sm_80"), false), Some(Need { must: 150, should: LEAST, reserve: Some(50) }));
        static FORMATS: [ResourceRecord; 1] = [used("sm_90", 3000, Some(Recursion { level: 0, reserve: 4000 }))];
        let formats = Some(Need { must: 7000, should: 7000 + 4 * 3000, reserve: Some(4000) });
        assert_eq!(need(&FORMATS, Some("sm_90"), false), formats);
        // Where it is not known which was taken, what is enough for all.
        assert_eq!(need(&DEEP, None, false), deep);
    }
}
