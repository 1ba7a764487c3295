//! Has both programs find LLVM's library where the compiler was linked with it, and know which sources they were built from.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if let Ok(lib) = std::env::var("DEP_RUST_PTX_LLVM_LIB") {
        println!("cargo::rustc-link-arg-bins=-Wl,-rpath,{lib}");
    }
    // Of a clone; a program from a registry has a version that says it all.
    let sources = ptx_build::compiler::Checkout::find().unwrap_or_else(|message| {
        println!("cargo::error={message}");
        None
    });
    for part in sources.iter().flat_map(|sources| sources.parts()) {
        println!("cargo::rerun-if-changed={}", part.display());
    }
    println!("cargo::rustc-env=PTX_SOURCES={}", sources.map(|sources| sources.digest).unwrap_or_default());
}
