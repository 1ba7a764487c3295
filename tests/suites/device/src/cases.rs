//! The user-interface tests that run: what `ui-tests` compiled (`//@ run`), launched and compared with `//@ expect`.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::gpu::Gpu;
use crate::launcher::Loaded;
use crate::record::{Test, skippable};

/// What every element is before the launch, so that none is right by not being written.
const UNWRITTEN: u32 = 0xcdcd_cdcd;

/// A test for every case in the folder.
pub fn tests(folder: &Path) -> Vec<Test> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut cases: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    cases.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    cases.sort();
    assert!(!cases.is_empty(), "there are no cases in {}", folder.display());
    let test = |path: std::path::PathBuf| {
        // Revisions are parts of the name.
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        skippable(&format!("ui: {name}"), move |gpu| run(gpu, &path))
    };
    cases.into_iter().map(test).collect()
}

fn run(gpu: &Gpu, path: &Path) -> Result<(), String> {
    let read = |path: &Path| fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let case: Value = serde_json::from_slice(&read(path)).expect("our own JSON");
    let number =
        |value: &Value| value.as_u64().and_then(|value| u32::try_from(value).ok()).expect("a number of 32 bits");
    let arch = case["arch"].as_str().expect("a text");
    let expected: Vec<u32> = case["expect"].as_array().expect("a list").iter().map(number).collect();
    let (grid, block) = (number(&case["grid"]), number(&case["block"]));

    // Machine code runs on GPUs of its generation, PTX on those that are no older.
    let capability = arch.trim_start_matches("sm_").parse::<u32>().map(|digits| (digits / 10, digits % 10));
    let (major, minor) = gpu.device.capability();
    let extension = match capability {
        Ok(least) if (major, minor) < least => return Err(format!("it is for {arch}, newer than this GPU")),
        Ok((generation, _)) if generation == major => "cubin",
        Ok(_) => "ptx",
        Err(_) if gpu.device.arch() == arch.trim_end_matches('a') => "cubin",
        Err(_) => return Err(format!("it is for {arch} alone")),
    };
    let code = Loaded::new(gpu, &read(&path.with_extension(extension)));

    let mut out = gpu.device.upload(&vec![UNWRITTEN; expected.len()]).expect("memory for the results");
    let mut address = ptx::DevicePointer::of_mut(&mut out, gpu.device.stream()).as_ptr();
    let mut len = expected.len() as u64;
    // SAFETY: the packer saw that the kernel has two parameters of 64 bits, a slice's address and length, and `out` is one.
    unsafe { code.run("case", grid, block, &mut [(&raw mut address).cast(), (&raw mut len).cast()]) };
    let found = gpu.device.download(&out).expect("the results");
    assert!(found == expected, "expected {expected:?}, found {found:?}");
    Ok(())
}
