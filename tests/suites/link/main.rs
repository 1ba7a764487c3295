//! Rust linked with CUDA C++: nvcc compiles the twin in every form, and the linked machine code must have both sides.

use std::process::ExitCode;

mod cuda;
mod forms;
mod jit;
mod launches;
mod options;
mod refusals;
mod rust;

fn main() -> ExitCode {
    ptx_tests::run(|| {
        [forms::trials(), jit::trials(), launches::trials(), options::trials(), refusals::trials()]
            .into_iter()
            .flatten()
            .collect()
    })
}
