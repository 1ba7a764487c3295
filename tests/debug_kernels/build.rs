//! Compiles the kernels for the GPU with everything that cuda-gdb needs, whatever the profile of the host program.

fn main() {
    ptx_build::Builder::new().profile("dev").build();
}
