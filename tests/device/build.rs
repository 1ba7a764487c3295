//! Compiles the test kernels, which are a package of their own, for the GPU.

fn main() {
    ptx_build::Builder::new().kernels("../kernels").profile("release").build();
}
