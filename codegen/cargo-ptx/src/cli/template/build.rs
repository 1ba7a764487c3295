//! Compiles the kernels in src/lib.rs for the GPU and embeds them in the program.

fn main() {
    ptx_build::build();
}
