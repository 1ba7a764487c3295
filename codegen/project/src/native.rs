//! Asks NVIDIA's driver which GPUs this machine has.
//!
//! Not through cudarc, as the programs that launch kernels do: a build script's compiler would have to compile that first.

use std::ffi::{OsStr, c_int, c_uint};

use libloading::{Library, Symbol};
use ptx_codegen::arch::Arch;

/// The driver's library, in the folders where the system looks for libraries.
const LIBRARY: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };

/// CUDA driver API, `CUdevice_attribute`: the compute capability's numbers before and after the dot.
const CAPABILITY: [c_int; 2] = [75, 76];

/// The archs of the GPUs that the driver shows, as CUDA_VISIBLE_DEVICES has it; or why there are none.
pub fn archs() -> Result<Vec<Arch>, String> {
    let found = capabilities(LIBRARY.as_ref())?;
    found.into_iter().map(|(major, minor)| arch(major, minor)).collect()
}

/// The highest arch whose code runs on a GPU of that capability.
fn arch(major: u32, minor: u32) -> Result<Arch, String> {
    let number = major * 10 + minor;
    let plain = Arch::all().filter(|arch| arch.name().ends_with(|c: char| c.is_ascii_digit()));
    let below = plain.filter(|arch| arch.number() <= number).last();
    below.ok_or_else(|| format!("it is sm_{number}, older than sm_70, the oldest that LLVM supports"))
}

fn capabilities(library: &OsStr) -> Result<Vec<(u32, u32)>, String> {
    type Init = unsafe extern "C" fn(c_uint) -> c_int;
    type Count = unsafe extern "C" fn(*mut c_int) -> c_int;
    type Device = unsafe extern "C" fn(*mut c_int, c_int) -> c_int;
    type Attribute = unsafe extern "C" fn(*mut c_int, c_int, c_int) -> c_int;
    let said = |function: &str, code: c_int| match code {
        0 => Ok(()),
        // CUDA driver API, `CUresult`.
        100 => Err("the driver finds none".to_string()),
        _ => Err(format!("the driver's {function} gave the error {code}")),
    };
    // SAFETY: NVIDIA's driver may be loaded anywhere; a program that launches kernels does the same.
    let driver = unsafe { Library::new(library) }
        .map_err(|_| format!("NVIDIA's driver ({}) was not found", library.to_string_lossy()))?;
    let lacks = |e: libloading::Error| format!("the driver lacks a function: {e}");
    // SAFETY: cuda.h declares it so.
    let init: Symbol<'_, Init> = unsafe { driver.get(b"cuInit\0") }.map_err(lacks)?;
    // SAFETY: likewise.
    let count: Symbol<'_, Count> = unsafe { driver.get(b"cuDeviceGetCount\0") }.map_err(lacks)?;
    // SAFETY: likewise.
    let device: Symbol<'_, Device> = unsafe { driver.get(b"cuDeviceGet\0") }.map_err(lacks)?;
    // SAFETY: likewise.
    let attribute: Symbol<'_, Attribute> = unsafe { driver.get(b"cuDeviceGetAttribute\0") }.map_err(lacks)?;
    // SAFETY: no flags are defined.
    said("cuInit", unsafe { init(0) })?;
    let mut number = 0;
    // SAFETY: it writes one number.
    said("cuDeviceGetCount", unsafe { count(&mut number) })?;
    let mut found = Vec::new();
    for index in 0..number {
        let mut handle = 0;
        // SAFETY: it writes one number.
        said("cuDeviceGet", unsafe { device(&mut handle, index) })?;
        let mut capability = [0; 2];
        for (value, which) in capability.iter_mut().zip(CAPABILITY) {
            // SAFETY: it writes one number; the device is one that the driver gave.
            said("cuDeviceGetAttribute", unsafe { attribute(value, which, handle) })?;
        }
        found.push((capability[0].unsigned_abs(), capability[1].unsigned_abs()));
    }
    if found.is_empty() { Err("the driver finds none".into()) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use super::*;

    /// A driver with one GPU for each pair, or one whose `cuInit` fails.
    fn driver(folder: &Path, init: c_int, gpus: &[(u32, u32)]) -> PathBuf {
        let text = format!(
            "const GPUS: &[(i32, i32)] = &{gpus:?};\n\
             #[unsafe(no_mangle)] extern \"C\" fn cuInit(_: u32) -> i32 {{ {init} }}\n\
             #[unsafe(no_mangle)] extern \"C\" fn cuDeviceGetCount(n: &mut i32) -> i32 {{ *n = GPUS.len() as i32; 0 }}\n\
             #[unsafe(no_mangle)] extern \"C\" fn cuDeviceGet(d: &mut i32, i: i32) -> i32 {{ *d = i + 7; 0 }}\n\
             #[unsafe(no_mangle)] extern \"C\" fn cuDeviceGetAttribute(v: &mut i32, which: i32, d: i32) -> i32 {{\n\
             let gpu = GPUS[d as usize - 7]; *v = if which == 75 {{ gpu.0 }} else {{ gpu.1 }}; 0 }}\n"
        );
        let (source, library) = (folder.join("cuda.rs"), folder.join("libcuda.so"));
        std::fs::write(&source, text).unwrap();
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let mut command = Command::new(rustc);
        command.args(["--edition=2024", "--crate-type=cdylib", "--cap-lints=allow", "-o"]).arg(&library).arg(&source);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        library
    }

    #[test]
    fn the_driver_is_asked() {
        let temp = tempfile::tempdir().unwrap();
        let library = driver(temp.path(), 0, &[(9, 0), (12, 0)]);
        assert_eq!(capabilities(library.as_os_str()).unwrap(), [(9, 0), (12, 0)]);
        for (init, expected) in [(100, "finds none"), (999, "cuInit gave the error 999"), (0, "finds none")] {
            let folder = temp.path().join(format!("{init}"));
            std::fs::create_dir(&folder).unwrap();
            let error = capabilities(driver(&folder, init, &[]).as_os_str()).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        let error = capabilities("/nonexistent/libcuda.so".as_ref()).unwrap_err();
        assert!(error.contains("NVIDIA's driver") && error.contains("not found"), "{error}");
    }

    #[test]
    fn a_gpu_gets_the_highest_arch_that_runs_there() {
        for (capability, expected) in [((9, 0), "sm_90"), ((8, 1), "sm_80"), ((12, 1), "sm_121"), ((99, 0), "sm_121")] {
            assert_eq!(arch(capability.0, capability.1).unwrap().name(), expected, "{capability:?}");
        }
        assert!(arch(6, 1).unwrap_err().contains("older than sm_70"));
    }
}
