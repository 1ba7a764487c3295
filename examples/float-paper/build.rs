//! Compiles the library for the GPU, and embeds the result.

fn main() {
    // Only optimised code fuses products and sums, with nvcc too.
    println!("cargo::rustc-check-cfg=cfg(optimised)");
    if std::env::var("OPT_LEVEL").is_ok_and(|level| level != "0") {
        println!("cargo::rustc-cfg=optimised");
    }
    // A first run on a new machine has the PTX checked, too.
    ptx_build::Builder::new().install_tools().build();
}
