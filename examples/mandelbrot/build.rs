//! Compiles the library for the GPU, and embeds the result.

fn main() {
    // A first run on a new machine has the PTX checked, too.
    ptx_build::Builder::new().install_tools().build();
}
