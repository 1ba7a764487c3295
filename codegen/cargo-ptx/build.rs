//! Has both programs find LLVM's library where the compiler was linked with it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if let Ok(lib) = std::env::var("DEP_RUST_PTX_LLVM_LIB") {
        println!("cargo::rustc-link-arg-bins=-Wl,-rpath,{lib}");
    }
}
