//! Compiles the test kernels, which are packages of their own, for the GPU.

fn main() {
    for folder in ["../kernels", "../syscalls"] {
        ptx_build::Builder::new().kernels(folder).profile("release").build();
    }
}
