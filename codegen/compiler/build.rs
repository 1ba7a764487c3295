//! Links the LLVM of the rustc that builds this crate, so that bitcode and reader can never disagree.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=LLVM_CONFIG");
    if let Err(message) = run() {
        println!("cargo::error={message}");
    }
}

fn run() -> Result<(), String> {
    let rustc = Rustc::query()?;
    let wanted = wanted_major()?;
    println!("cargo::rustc-env=PTX_LLVM_VERSION={}", rustc.llvm);
    println!("cargo::rustc-env=PTX_RUSTC_RELEASE={}", rustc.release);
    if rustc.llvm_major() != wanted {
        return Err(format!(
            "ptx-codegen was configured for LLVM {wanted} but rustc {} has LLVM {}: build with \
             `--no-default-features --features llvm-{}`, or use a toolchain whose LLVM is {wanted}",
            rustc.release,
            rustc.llvm,
            rustc.llvm_major(),
        ));
    }
    if env::var_os("CARGO_FEATURE_SYSTEM_LLVM").is_some() { link_system(wanted) } else { link_rustc(&rustc) }
}

/// The LLVM major version that the enabled features bind.
fn wanted_major() -> Result<String, String> {
    let enabled: Vec<&str> = ["21", "22", "23"]
        .into_iter()
        .filter(|major| env::var_os(format!("CARGO_FEATURE_LLVM_{major}")).is_some())
        .collect();
    match enabled[..] {
        [major] => Ok(major.to_string()),
        [] => Err("enable one of ptx-codegen's features llvm-21, llvm-22 and llvm-23".into()),
        _ => Err("enable only one of ptx-codegen's features llvm-21, llvm-22 and llvm-23".into()),
    }
}

struct Rustc {
    release: String,
    llvm: String,
    sysroot: PathBuf,
}

impl Rustc {
    fn query() -> Result<Self, String> {
        let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let output = |args: &[&str]| {
            let output = Command::new(&rustc).args(args).output().map_err(|e| format!("cannot run rustc: {e}"))?;
            String::from_utf8(output.stdout).map_err(|e| format!("rustc printed no text: {e}"))
        };
        let verbose = output(&["-vV"])?;
        let field = |name: &str| {
            verbose
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .map(|value| value.trim().to_string())
                .ok_or_else(|| format!("`rustc -vV` does not print `{name}`: a rustc with the LLVM backend is needed"))
        };
        Ok(Self {
            release: field("release:")?,
            llvm: field("LLVM version:")?,
            sysroot: output(&["--print", "sysroot"])?.trim().into(),
        })
    }

    fn llvm_major(&self) -> &str {
        self.llvm.split('.').next().unwrap_or_default()
    }
}

fn link_rustc(rustc: &Rustc) -> Result<(), String> {
    let lib = rustc.sysroot.join("lib");
    let name = find_shared_llvm(&lib).ok_or_else(|| {
        format!(
            "no shared LLVM library in {} (rustc {} has LLVM {}): enable the feature `system-llvm` and set LLVM_CONFIG \
             to the llvm-config of an LLVM {} installation",
            lib.display(),
            rustc.release,
            rustc.llvm,
            rustc.llvm_major(),
        )
    })?;
    println!("cargo::rustc-link-search=native={}", lib.display());
    println!("cargo::rustc-link-lib=dylib={name}");
    // The library stays where it is: programs find it there, those of dependents if their build scripts say so.
    // Dependents' build scripts themselves run under cargo, which rustup starts with the toolchain's library path.
    println!("cargo::rustc-link-arg=-Wl,-rpath,{}", lib.display());
    println!("cargo::metadata=lib={}", lib.display());
    Ok(())
}

/// `LLVM-22-rust-1.97.0-nightly` for a file `libLLVM-22-rust-1.97.0-nightly.so`.
fn find_shared_llvm(lib: &Path) -> Option<String> {
    fs::read_dir(lib).ok()?.flatten().find_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let stem = name
            .strip_prefix("lib")?
            .strip_suffix(".so")
            .or_else(|| name.strip_prefix("lib")?.strip_suffix(".dylib"))?;
        stem.starts_with("LLVM-").then(|| stem.to_string())
    })
}

fn link_system(wanted: String) -> Result<(), String> {
    let config = env::var_os("LLVM_CONFIG").unwrap_or_else(|| "llvm-config".into());
    let ask = |arg: &str| {
        let output = Command::new(&config)
            .arg(arg)
            .output()
            .map_err(|e| format!("cannot run {}: {e}; set LLVM_CONFIG", config.to_string_lossy()))?;
        Ok::<_, String>(String::from_utf8_lossy(&output.stdout).trim().to_string())
    };
    let version = ask("--version")?;
    if version.split('.').next() != Some(&wanted) {
        return Err(format!("llvm-config is of LLVM {version}, rustc needs LLVM {wanted}: set LLVM_CONFIG"));
    }
    let lib = ask("--libdir")?;
    println!("cargo::rustc-link-search=native={lib}");
    println!("cargo::rustc-link-lib=dylib=LLVM-{wanted}");
    println!("cargo::rustc-link-arg=-Wl,-rpath,{lib}");
    println!("cargo::metadata=lib={lib}");
    Ok(())
}
