//! Compiles the kernels of random numbers, and CURAND's twins of them where its headers are.

use std::path::{Path, PathBuf};
use std::process::Command;

use ptx_build::Builder;

/// The arch of the twins, as of the kernels.
const ARCH: &str = "sm_90";

/// Where `cargo xtask device-bundle` has put CURAND's headers.
const INCLUDE: &str = "CURAND_INCLUDE";

/// Writes `curand.rs`: the twins' cubin, or why there is none.
pub fn build(nvcc: Option<&Path>) {
    Builder::new().kernels("../../kernels/rand").profile("release").build();
    println!("cargo::rerun-if-env-changed={INCLUDE}");
    let out_dir = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let twins = match (nvcc, std::env::var_os(INCLUDE)) {
        (Some(nvcc), Some(include)) => {
            let source = "../../kernels/rand/cuda/curand.cu";
            println!("cargo::rerun-if-changed={source}");
            let cubin = out_dir.join("curand.cubin");
            let mut command = Command::new(nvcc);
            command.args(["-cubin", &format!("-arch={ARCH}"), "-I"]).arg(include).arg("-o").arg(&cubin).arg(source);
            let run = command.output().expect("nvcc starts");
            assert!(run.status.success(), "{command:?}: {}", String::from_utf8_lossy(&run.stderr));
            format!("Ok(include_bytes!({:?}) as &[u8])", cubin.display().to_string())
        }
        (None, _) => "Err(\"nvcc was not there\")".into(),
        (_, None) => "Err(\"CURAND's headers were not there\")".into(),
    };
    std::fs::write(out_dir.join("curand.rs"), twins).expect("our own folder");
}
