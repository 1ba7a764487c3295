//! Debug information: what stands in cubins is complete, agrees with nvcc's, and changes no code.

use std::process::ExitCode;

mod build;
mod cases;
mod host_elf;
mod input;
mod lines;
mod printers;
mod twin;
mod types;
mod verify;

fn main() -> ExitCode {
    ptx_tests::run(|| {
        let mut trials = verify::trials();
        trials.extend(twin::trials());
        trials.extend(types::trials());
        trials.extend(lines::trials());
        trials.extend(cases::trials());
        trials.extend(printers::trials());
        trials.extend(input::trials());
        trials
    })
}
