//! `cargo ptx`: new, build, run, test, inspect, doctor, setup, explain.

fn main() -> std::process::ExitCode {
    // A device build passes this program to rustc as the linker.
    ptx_project::linker::become_linker_if_asked();
    // `cargo ptx test` runs tests in a process that is this program again.
    #[cfg(feature = "test")]
    if let Some(code) = ptx_test_runner::become_worker_if_asked() {
        return code;
    }
    cargo_ptx::cli::main(std::env::args_os())
}
