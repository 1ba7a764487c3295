//! `cargo ptx`: new, build, run, inspect, doctor, setup, explain.

fn main() -> std::process::ExitCode {
    // A device build passes this program to rustc as the linker.
    ptx_project::linker::become_linker_if_asked();
    cargo_ptx::cli::main(std::env::args_os())
}
