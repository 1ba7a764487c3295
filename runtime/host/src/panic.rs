//! Reads what a kernel that panicked left behind, whether the context lives on or is lost.
//!
//! `ptx_abi::panic` says what and where. Every context has one record in this program's own memory, registered with the
//! driver: no call to the driver is needed to read it, and all of them fail where the context is lost. Where it lives, every
//! wait looks at the record, and clears it for the next panic.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::{CString, c_void};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use cudarc::driver::sys::{self, CUcontext, CUdeviceptr, CUmodule, CUresult};
use cudarc::driver::{CudaContext, DriverError, result};
use ptx_abi::panic::{FILE_LEN, IS_OWN, OWN, PARTS, PLACE, Parts, Position, Record, SYMBOL, WORDS};
use ptx_abi::place::Place;
use ptx_device::Dim3;

use crate::error::Panic;
use crate::image::Code;
use crate::places::Places;
use crate::watch;

const PAGE: usize = 4096;

/// `CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP`
const MAPPED: u32 = 1 | 2;

/// Of a record, whose pages the driver maps.
const LAYOUT: Layout = match Layout::from_size_align(size_of::<Record>(), PAGE) {
    Ok(layout) => layout,
    Err(_) => unreachable!(),
};

/// The records of all contexts, while somebody holds them.
static RECORDS: Mutex<Vec<Weak<PanicRecord>>> = Mutex::new(Vec::new());

/// A context's record.
#[derive(Debug)]
pub(crate) struct PanicRecord {
    memory: NonNull<Record>,
    address: CUdeviceptr,
    context: Arc<CudaContext>,
    /// Of those that the record counts as others, how many were reported. Locked while the record is cleared.
    reported: Mutex<()>,
    others: AtomicU32,
    /// Of all code that was loaded in the context: a panic may be told of after its module is gone.
    places: Mutex<Places>,
}

// SAFETY: the memory is shared with the device anyway, and read through volatile and atomic accesses.
unsafe impl Send for PanicRecord {}
// SAFETY: as above.
unsafe impl Sync for PanicRecord {}

/// Makes the kernels of a module, which is this code, write into their context's record. There is none if they cannot panic,
/// or if the driver cannot share memory with the device; a panic is then an error without a text.
pub(crate) fn attach(
    context: &Arc<CudaContext>,
    module: CUmodule,
    code: &Code<'_>,
) -> Result<Option<Arc<PanicRecord>>, DriverError> {
    let name = CString::new(SYMBOL).expect("a symbol has no NUL");
    let (mut address, mut size) = (0, 0);
    // SAFETY: the module is loaded, and its context current.
    let found = unsafe { sys::cuModuleGetGlobal_v2(&mut address, &mut size, module, name.as_ptr()) };
    if found != CUresult::CUDA_SUCCESS || size != size_of::<CUdeviceptr>() {
        return Ok(None);
    }
    let Some(record) = PanicRecord::of(context) else { return Ok(None) };
    // SAFETY: the module's global has the size of an address.
    unsafe { result::memcpy_htod_sync(address, &[record.address]) }?;
    record.places.lock().unwrap_or_else(PoisonError::into_inner).add(code);
    Ok(Some(record))
}

/// The panic that a kernel of the current context left, if one panicked.
pub(crate) fn current() -> Option<Panic> {
    let mut context: CUcontext = std::ptr::null_mut();
    // SAFETY: writes one handle; this works in a lost context too.
    unsafe { sys::cuCtxGetCurrent(&mut context) }.result().ok()?;
    let panic = find(context)?.read()?;
    Some(Panic { kernels: watch::kernels_of(context), context_lost: true, ..panic })
}

/// The panic that a kernel of a context left that lives, without clearing the record: others may still write it.
pub(crate) fn left(context: CUcontext) -> Option<Panic> {
    let panic = find(context).filter(|record| record.is_ready())?.read()?;
    Some(Panic { kernels: watch::kernels_of(context), ..panic })
}

/// The panic that a kernel of a context left that lives, and room for the next. `is_idle` if nothing runs that was launched
/// before the record was last seen to be claimed.
pub(crate) fn take(context: CUcontext, is_idle: bool) -> Option<Panic> {
    find(context)?.take(is_idle)
}

/// Whether a thread claimed the record and has not finished it.
pub(crate) fn is_unfinished(context: CUcontext) -> bool {
    find(context).is_some_and(|record| record.is_claimed() && !record.is_ready())
}

fn find(context: CUcontext) -> Option<Arc<PanicRecord>> {
    let records = RECORDS.lock().unwrap_or_else(PoisonError::into_inner);
    records.iter().filter_map(Weak::upgrade).find(|record| record.context.cu_ctx() == context)
}

/// A panic of which only the message is known.
fn without_place(message: &str) -> Panic {
    Panic {
        message: Some(message.to_owned()),
        file: String::new(),
        line: 0,
        column: 0,
        block: Dim3::new(0, 0, 0),
        thread: Dim3::new(0, 0, 0),
        kernels: Vec::new(),
        others: 0,
        context_lost: false,
    }
}

/// What is known of a panic that did not get as far as to hand over anything.
fn unfinished() -> Panic {
    without_place(
        "the message is not known, because the launch ended while it was made. If the stack is too small for that, allow \
         more with Device::set_stack_size (cuCtxSetLimit, CU_LIMIT_STACK_SIZE)",
    )
}

/// The panic at a place, with these operands, one of which may stand `beside` the place's number.
fn known(place: Place<'_>, parts: &Parts, mut words: [u64; WORDS], beside: u64, at: &Panic) -> Panic {
    let slot = (place.beside as usize).checked_sub(1).and_then(|word| words.get_mut(word));
    if let Some(word) = slot {
        *word = beside;
    }
    Panic {
        message: place.template.map(|template| parts.shown_by(template, &words).to_string()),
        file: String::from_utf8_lossy(place.file).into_owned(),
        line: place.line,
        column: place.column,
        ..at.clone()
    }
}

/// The panic of the one place that has the number. Where several have it, all of them are named.
fn one_of(mut found: Vec<Panic>, number: u32, unknown: Panic) -> Panic {
    match found.len() {
        0 => {
            let message = format!("place {number:#010x}, which is not in the code that this program loaded");
            Panic { message: Some(message), ..unknown }
        }
        1 => found.remove(0),
        _ => {
            let places = found.iter().map(|Panic { message, file, line, column, .. }| {
                let message = message.as_deref().unwrap_or("a panic");
                format!("{message}, at {file}:{line}:{column}")
            });
            let message =
                format!("one of these, which have the same number: {}", places.collect::<Vec<_>>().join("; "));
            Panic { message: Some(message), ..unknown }
        }
    }
}

impl PanicRecord {
    /// The record of a context; none if memory cannot be shared.
    fn of(context: &Arc<CudaContext>) -> Option<Arc<Self>> {
        let mut records = RECORDS.lock().unwrap_or_else(PoisonError::into_inner);
        records.retain(|record| record.strong_count() > 0);
        let known = records.iter().filter_map(Weak::upgrade).find(|record| record.context.cu_ctx() == context.cu_ctx());
        if known.is_some() {
            return known;
        }
        let record = Arc::new(Self::new(context)?);
        records.push(Arc::downgrade(&record));
        Some(record)
    }

    fn new(context: &Arc<CudaContext>) -> Option<Self> {
        // SAFETY: the layout is not of size zero; zeros are an empty record.
        let memory = NonNull::new(unsafe { alloc_zeroed(LAYOUT) })?;
        let start: *mut c_void = memory.as_ptr().cast();
        let mut address = 0;
        // SAFETY: so many bytes were allocated just now, and are freed only after the driver gave them up.
        let shared = unsafe {
            sys::cuMemHostRegister_v2(start, size_of::<Record>(), MAPPED)
                .result()
                .and_then(|()| sys::cuMemHostGetDevicePointer_v2(&mut address, start, 0).result())
        };
        let (context, reported, others) = (context.clone(), Mutex::new(()), AtomicU32::new(0));
        let places = Mutex::default();
        let record = Self { memory: memory.cast(), address, context, reported, others, places };
        record.let_go();
        // Dropping it frees the memory, where it was not shared. The device knows the first thread by a bit of the address.
        (shared.is_ok() && address.is_multiple_of(align_of::<Record>() as u64)).then_some(record)
    }

    /// Has the next thread that panics take the record.
    fn let_go(&self) {
        // SAFETY: the memory is alive, and the device writes the field as an atomic.
        unsafe { (*self.memory.as_ptr()).free.store(self.address + OWN as u64, Ordering::Release) };
    }

    fn is_claimed(&self) -> bool {
        // SAFETY: as above.
        unsafe { (*self.memory.as_ptr()).free.load(Ordering::Acquire) == self.address }
    }

    fn is_ready(&self) -> bool {
        // SAFETY: as above.
        unsafe { (*self.memory.as_ptr()).ready.load(Ordering::Acquire) != 0 }
    }

    /// All threads that found the record taken, since it was made.
    fn all_others(&self) -> u32 {
        // SAFETY: as above.
        unsafe { (*self.memory.as_ptr()).others.load(Ordering::Relaxed) }
    }

    /// The panic that a kernel left which is over; after that there is none. What is not ready counts only if it can no
    /// longer become so.
    pub(crate) fn take(&self, is_idle: bool) -> Option<Panic> {
        // Three loads of our own memory: that is all that a wait costs where nothing panicked.
        if !self.is_claimed() && self.all_others() == self.others.load(Ordering::Relaxed) {
            return None;
        }
        let lock = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        let (is_claimed, is_ready) = (self.is_claimed(), self.is_ready());
        if is_claimed && !is_ready && !is_idle {
            return None;
        }
        let panic = self.read();
        if is_claimed {
            self.clear();
        }
        let all = self.all_others();
        let others = all.wrapping_sub(self.others.swap(all, Ordering::Relaxed));
        drop(lock);
        let kernels = watch::kernels_of(self.context.cu_ctx());
        match panic {
            Some(panic) => Some(Panic { kernels, others, ..panic }),
            // They panicked while the host had not yet cleared the record of another kernel's panic.
            None if others > 0 => {
                let message = "threads panicked while another kernel's panic was reported, so it is not known where";
                Some(Panic { kernels, others: others - 1, ..without_place(message) })
            }
            None => None,
        }
    }

    /// Makes room for the next panic. Only the device writes `others`, and `free` comes last: whoever takes the record finds
    /// it empty. Only others write `lost`, at any time.
    fn clear(&self) {
        // SAFETY: the memory is alive, and whoever claimed it writes no more: what it wrote is ready, or its kernel is over.
        unsafe {
            let record = self.memory.as_ptr();
            (&raw mut (*record).line).write_volatile(0);
            (&raw mut (*record).column).write_volatile(0);
            (&raw mut (*record).position).write_volatile(Position::new([0; 3], [0; 3]));
            (&raw mut (*record).detail).write_volatile(0);
            (&raw mut (*record).message_at).write_volatile(0);
            (&raw mut (*record).words).write_volatile([0; WORDS]);
            (&raw mut (*record).file).write_bytes(0, 1);
            (&raw mut (*record).message).write_bytes(0, 1);
            (*record).ready.store(0, Ordering::Relaxed);
            fence(Ordering::SeqCst);
        }
        self.let_go();
    }

    /// The panic that a kernel left. It is read only once it is ready, because the device then writes no more.
    fn read(&self) -> Option<Panic> {
        // SAFETY: the memory is alive. What the device may still write is read as atomic; the rest it wrote before. The texts
        // are not volatile: rustc reads a volatile array element by element, here 12,000 instructions of every program.
        unsafe {
            let record = self.memory.as_ptr();
            let ready = (*record).ready.load(Ordering::Acquire);
            if ready == 0 {
                return self.is_claimed().then(unfinished);
            }
            let file = (&raw const (*record).file).read();
            let message = (&raw const (*record).message).read();
            let number = |from: *const u32| from.read_volatile();
            let position = (&raw const (*record).position).read_volatile();
            let dim = |[x, y, z]: [u32; 3]| Dim3::new(x, y, z);
            let detail = (&raw const (*record).detail).read_volatile();
            let parts = || (&raw const (*record).message).cast::<Parts>().read();
            let words = (&raw const (*record).words).read_volatile();
            let panic = Panic { block: dim(position.block()), thread: dim(position.thread()), ..without_place("") };
            if ready & IS_OWN as u32 != 0 {
                let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
                let (number, beside) = (detail as u32, detail >> 32);
                let found = places.find(number).map(|place| known(place, &parts(), words, beside, &panic));
                return Some(one_of(found.collect(), number, panic.clone()));
            }
            let message = match ready {
                PLACE => None,
                // Read as what it is, of the same size.
                PARTS => Some(parts().shown(&words).to_string()),
                _ => {
                    let text = usize::try_from(detail).ok().and_then(|len| message.get(..len)).unwrap_or(&message);
                    Some(String::from_utf8_lossy(text).into_owned())
                }
            };
            let end = file.iter().position(|byte| *byte == 0).unwrap_or(FILE_LEN);
            Some(Panic {
                message,
                file: String::from_utf8_lossy(&file[..end]).into_owned(),
                line: number(&raw const (*record).line),
                column: number(&raw const (*record).column),
                ..panic
            })
        }
    }
}

impl Drop for PanicRecord {
    fn drop(&mut self) {
        if watch::is_overdue(self.context.cu_ctx()) {
            // A kernel that nobody can wait for may still write it.
            return;
        }
        let start: *mut c_void = self.memory.as_ptr().cast();
        let given_up = self.context.bind_to_thread().and_then(|()| {
            // SAFETY: registered by `new`. No kernel runs that knows it: modules hold the record, and wait before they go.
            unsafe { sys::cuMemHostUnregister(start) }.result()
        });
        // A lost context does not give it up; two pages then stay with the process, which can do nothing more with the device.
        let never_shared = DriverError(CUresult::CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
        if given_up.is_ok() || given_up == Err(never_shared) {
            // SAFETY: allocated by `new` with this layout, and nobody else has it.
            unsafe { dealloc(start.cast(), LAYOUT) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place<'_> =
        Place { file: b"src/lib.rs", line: 7, column: 9, beside: 2, template: Some(b"\xFFu of \xFFu") };

    fn at(place: Place<'_>, words: [u64; 2]) -> Panic {
        let parts = Parts { template: [0; _], text: [0; _] };
        let mut all = [0; WORDS];
        all[..2].copy_from_slice(&words);
        known(place, &parts, all, 5, &without_place(""))
    }

    #[test]
    fn a_word_may_stand_beside_the_number() {
        let panic = at(PLACE, [3, 0]);
        assert_eq!(panic.message.as_deref(), Some("3 of 5"));
        assert_eq!((&*panic.file, panic.line, panic.column), ("src/lib.rs", 7, 9));
        assert_eq!(at(Place { beside: 1, ..PLACE }, [0, 4]).message.as_deref(), Some("5 of 4"));
        assert_eq!(at(Place { beside: 0, ..PLACE }, [3, 4]).message.as_deref(), Some("3 of 4"));
        // What no compiler of ours writes.
        assert_eq!(at(Place { beside: u32::MAX, ..PLACE }, [3, 4]).message.as_deref(), Some("3 of 4"));
    }

    #[test]
    fn places_of_one_number_are_all_named() {
        let (one, other) = (at(PLACE, [3, 0]), at(Place { template: None, line: 8, ..PLACE }, [3, 0]));
        let of = |found: Vec<Panic>| one_of(found, 0x12, without_place("unknown"));
        assert_eq!(of(vec![one.clone()]), one);
        let message = of(vec![one, other]).message.unwrap();
        assert!(message.contains("3 of 5, at src/lib.rs:7:9; a panic, at src/lib.rs:8:9"), "{message}");
        let message = of(vec![]).message.unwrap();
        assert!(message.contains("0x00000012") && message.contains("not in the code"), "{message}");
    }
}
