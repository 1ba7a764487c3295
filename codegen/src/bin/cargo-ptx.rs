//! `cargo ptx`: new, build, run, inspect, doctor.

fn main() {
    ptx_codegen::become_linker_if_asked();
}
