//! Runs programs in this process, and prints a line for each: `ok`, or what differs.

use std::ffi::CString;
use std::fs;

use ptx::cudarc::driver::{CudaSlice, DevicePtr, DevicePtrMut, result, sys};
use ptx::prelude::*;
use ptx_random::inputs::{WORDS, inputs};

use crate::list::{List, Program};

/// For programs without optimisation, and for recursion.
const STACK: usize = 64 << 10;

/// What every result is before the launch, so that none is right by not being written.
const UNWRITTEN: u32 = 0xcdcd_cdcd;

/// Runs the list's programs from this place on.
pub fn run(list: &List, from: usize) -> Result<(), String> {
    let device = Device::first().map_err(text)?;
    device.set_stack_size(STACK).map_err(text)?;
    let inputs = inputs(list.threads).concat();
    let inputs = device.upload(&inputs).map_err(text)?;
    let mut loaded: Option<Loaded> = None;
    for program in list.programs().skip(from) {
        let key = (program.batch, program.level);
        if loaded.as_ref().is_none_or(|loaded| loaded.key != key) {
            // The one before is dropped first.
            drop(loaded.take());
            loaded = Some(Loaded::new(&device, list, key)?);
        }
        let found = loaded.as_ref().expect("it was just loaded").run(&device, list, &inputs, program)?;
        let at = program.place as usize * list.threads;
        let expected = &loaded.as_ref().expect("as above").expected[at..at + list.threads];
        println!("{}", compare(&found, expected));
    }
    Ok(())
}

fn compare(found: &[u32], expected: &[u32]) -> String {
    let different: Vec<usize> = (0..found.len()).filter(|thread| found[*thread] != expected[*thread]).collect();
    match different.first() {
        None => "ok".into(),
        Some(first) => format!(
            "{} of {} threads; thread {first}: {:#010x} on the device, {:#010x} on the host",
            different.len(),
            found.len(),
            found[*first],
            expected[*first]
        ),
    }
}

/// A batch's code at a level, and what it should compute.
struct Loaded {
    key: (u64, u32),
    module: sys::CUmodule,
    expected: Vec<u32>,
}

impl Loaded {
    fn new(device: &Device, list: &List, key: (u64, u32)) -> Result<Self, String> {
        let read = |name: String| {
            let path = list.folder.join(name);
            fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let cubin = read(format!("{}_o{}.cubin", key.0, key.1))?;
        let expected = read(format!("{}.expected", key.0))?;
        let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("chunks of four"));
        let expected = expected.chunks_exact(4).map(word).collect();
        device.context().bind_to_thread().map_err(text)?;
        // SAFETY: the context is current, and the cubin is whole.
        let module = unsafe { result::module::load_data(cubin.as_ptr().cast()) }.map_err(text)?;
        Ok(Self { key, module, expected })
    }

    fn run(&self, device: &Device, list: &List, inputs: &CudaSlice<u64>, program: Program) -> Result<Vec<u32>, String> {
        let name = CString::new(format!("k{}", program.place)).expect("names have no zeros");
        // SAFETY: the module is loaded, and its context current.
        let function = unsafe { result::module::get_function(self.module, name) }.map_err(text)?;
        let stream = device.stream().clone();
        let mut results = device.upload(&vec![UNWRITTEN; list.threads]).map_err(text)?;
        {
            let (mut from, _reading) = inputs.device_ptr(&stream);
            let (mut to, _writing) = results.device_ptr_mut(&stream);
            let (mut inputs, mut threads) = ((inputs.len() / WORDS) as u64, list.threads as u64);
            let mut parameters =
                [(&raw mut from).cast(), (&raw mut inputs).cast(), (&raw mut to).cast(), (&raw mut threads).cast()];
            let (blocks, block) = ((list.threads / list.block) as u32, list.block as u32);
            // SAFETY: every kernel of a pack takes two slices, inputs and results, each as address and length.
            unsafe {
                result::launch_kernel(function, (blocks, 1, 1), (block, 1, 1), 0, stream.cu_stream(), &mut parameters)
            }
            .map_err(text)?;
        }
        device.synchronize().map_err(text)?;
        device.download(&results).map_err(text)
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // SAFETY: nobody runs its code any more. If the context is gone, so is the module.
        _ = unsafe { result::module::unload(self.module) };
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
