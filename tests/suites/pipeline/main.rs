//! The PTX of kernels against NVIDIA's tools: ptxas takes all of it, and nvcc has the same signatures.

use std::process::ExitCode;

mod assemble;
mod atomics;
mod cold;
mod counterparts;
mod float_intrinsics;
mod frames;
mod machine_code;
mod mathematics;
mod maxima;
mod operations;
mod packages;
mod panics;
mod signatures;
mod stores;
mod system_calls;

fn main() -> ExitCode {
    ptx_tests::run(|| {
        let built = packages::all();
        let mut trials = assemble::trials(&built);
        trials.extend(signatures::trials());
        trials.extend(atomics::trials());
        trials.extend(operations::trials());
        trials.extend(counterparts::trials());
        trials.extend(system_calls::trials());
        trials.extend(mathematics::trials());
        trials.extend(float_intrinsics::trials());
        trials.extend(panics::trials());
        trials.extend(cold::trials());
        trials.extend(frames::trials());
        trials.extend(maxima::trials());
        trials.extend(stores::trials());
        trials
    })
}
