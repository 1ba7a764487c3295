//! Compiles this package's library for the GPU, and the two that are linked with CUDA C++.

use ptx_build::Builder;

fn main() {
    Builder::new().install_tools().build();
    Builder::new().kernels("callee").build();
    Builder::new().kernels("caller").build();
}
