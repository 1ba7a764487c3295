//! `cargo ptx`: new, build, run, inspect, doctor, setup, explain.

fn main() -> std::process::ExitCode {
    // A device build passes this program to rustc as the linker.
    ptx_codegen::become_linker_if_asked();
    ptx_codegen::cli::main(std::env::args_os())
}
