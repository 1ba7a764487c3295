//! Rust and CUDA C++ that call each other: every byte of every argument and result is checked by the other language.
//!
//! `ptx-abi-tests` made the code from random signatures; here it is linked by the driver, or comes linked by nvlink.

use std::ffi::CString;
use std::path::Path;

use ptx::cudarc::driver::sys;
use serde_json::{Value, json};

use crate::gpu::Gpu;
use crate::launcher::Loaded;
use crate::record::{Test, recorded};

/// What one function's reports are about, in order.
const ROLES: [&str; 4] = [
    "Rust's function, what C++ passed",
    "Rust's function, what came back to C++",
    "C++'s function, what Rust passed",
    "C++'s function, what came back to Rust",
];

/// The number that stands for the result in a report.
const RESULT: u32 = 255;

/// A test for each way to link what is in the folder.
pub fn tests(folder: &Path) -> Vec<Test> {
    let (first, second) = (folder.to_owned(), folder.to_owned());
    vec![
        recorded("abi round trips, linked by nvlink", move |gpu| {
            let cubin = read(&first, "linked.cubin");
            round_trips(gpu, &first, &cubin)
        }),
        recorded("abi round trips, linked by the driver", move |gpu| {
            gpu.device.context().bind_to_thread().expect("the device's context");
            let cubin = link(&[&read(&second, "rust.ptx"), &read(&second, "cxx.ptx")]);
            round_trips(gpu, &second, &cubin)
        }),
    ]
}

fn read(folder: &Path, name: &str) -> Vec<u8> {
    let path = folder.join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The driver's linker on PTX texts.
fn link(texts: &[&[u8]]) -> Vec<u8> {
    let mut state = std::ptr::null_mut();
    let none = || (std::ptr::null_mut(), std::ptr::null_mut());
    let (options, values) = none();
    // SAFETY: a context is current; no options.
    unsafe { sys::cuLinkCreate_v2(0, options, values, &mut state) }.result().expect("the driver's linker");
    for text in texts {
        let text = CString::new(*text).expect("PTX has no NUL");
        let (options, values) = none();
        // SAFETY: the text ends in NUL, which its length counts.
        let added = unsafe {
            let (data, len) = (text.as_ptr().cast_mut().cast(), text.as_bytes_with_nul().len());
            sys::cuLinkAddData_v2(
                state,
                sys::CUjitInputType::CU_JIT_INPUT_PTX,
                data,
                len,
                c"ptx".as_ptr(),
                0,
                options,
                values,
            )
        };
        added.result().unwrap_or_else(|error| panic!("the driver's linker takes no such PTX: {error:?}"));
    }
    let (mut cubin, mut len) = (std::ptr::null_mut(), 0);
    // SAFETY: the linker is alive.
    unsafe { sys::cuLinkComplete(state, &mut cubin, &mut len) }
        .result()
        .unwrap_or_else(|error| panic!("linking: {error:?}"));
    // SAFETY: the driver keeps so many bytes there until the linker is destroyed.
    let linked = unsafe { std::slice::from_raw_parts(cubin.cast::<u8>(), len) }.to_vec();
    // SAFETY: not in use any more.
    unsafe { sys::cuLinkDestroy(state) }.result().expect("the linker ends");
    linked
}

/// Runs every batch and compares the reports with what was expected.
fn round_trips(gpu: &Gpu, folder: &Path, cubin: &[u8]) -> Value {
    let description: Value = serde_json::from_slice(&read(folder, "cases.json")).expect("our own JSON");
    let cases = description["cases"].as_array().expect("a list of cases");
    let count = cases.len() * ROLES.len();
    let mut reports = gpu.device.zeroed::<u32>(count * 2).expect("memory for the reports");
    let code = Loaded::new(gpu, cubin);
    let mut address = ptx::DevicePointer::of_mut(&mut reports, gpu.device.stream()).as_ptr();
    // SAFETY: `abi_begin` takes the address of the reports, the others nothing.
    unsafe { code.run("abi_begin", 1, 1, &mut [(&raw mut address).cast()]) };
    for batch in 0..description["batches"].as_u64().expect("a number") {
        for side in ["cxx", "rust"] {
            // SAFETY: as above.
            unsafe { code.run(&format!("abi_{side}_{batch}"), 1, 1, &mut []) };
        }
    }
    let reports = gpu.device.download(&reports).expect("the reports");

    let (mut wrong, mut bytes) = (Vec::new(), 0);
    for (case, reports) in cases.iter().zip(reports.chunks(2 * ROLES.len())) {
        for (role, report) in ROLES.iter().zip(reports.chunks(2)) {
            let index = ROLES.iter().position(|other| other == role).unwrap_or_default();
            let expected = case["bytes"][index].as_u64().expect("a number");
            bytes += u64::from(report[0]);
            if let Some(what) = judge(report[0], report[1], expected) {
                wrong.push(format!("{} ({role}): {what}", case["signature"].as_str().unwrap_or_default()));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} checks failed:\n{}", wrong.len(), wrong.join("\n"));
    json!({ "signatures": cases.len(), "calls": cases.len() * 2, "bytes checked": bytes, "mismatches": wrong.len() })
}

/// What is wrong, if anything is.
fn judge(checked: u32, bad: u32, expected: u64) -> Option<String> {
    if bad != 0 {
        let (param, byte) = ((bad - 1) >> 16, (bad - 1) & 0xffff);
        let place = if param == RESULT { "result".to_string() } else { format!("parameter {param}") };
        return Some(if byte == 0xffff {
            format!("{place}: wrong length")
        } else {
            format!("{place}: byte {byte} is wrong")
        });
    }
    (u64::from(checked) != expected).then(|| format!("{checked} bytes were checked, not {expected}"))
}
