//! Compiles the library for the GPU, and embeds the result.

fn main() {
    ptx_build::build();
}
