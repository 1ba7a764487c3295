//! Layouts against C++ compilers: bit-fields against g++ on the CPU and nvcc's device data, vectors against nvcc, and
//! the C++ header of `tests/kernels/exports` against both.

use std::process::ExitCode;

use ptx_tests::{run, trial};

mod bitfields;
mod generate;
mod header;
mod vectors;

fn main() -> ExitCode {
    run(|| {
        vec![
            trial("bitfields_gxx", bitfields::gxx),
            trial("bitfields_nvcc", bitfields::nvcc),
            trial("header_gxx", header::gxx),
            trial("header_nvcc", header::nvcc),
            trial("vectors_nvcc", vectors::nvcc),
        ]
    })
}
