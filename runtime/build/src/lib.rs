//! Compiles kernels for the GPU from a build script, and embeds them in the host program.
//!
//! ```no_run
//! // In build.rs of a package whose library holds the kernels:
//! ptx_build::build();
//! ```
//!
//! ```no_run
//! // In build.rs of a host program whose kernels are a crate of their own:
//! ptx_build::Builder::new().kernels("../kernels").arch("sm_80").arch("sm_90a").build();
//! ```
//!
//! The host program then says `ptx::image!()`, or `ptx::image!("kernels")` for another crate's kernels.
//!
//! The script may do anything else before and after. What compiles is another program, `cargo-ptx` of the same version: the one
//! that `RUST_PTX_COMPILER` names, else the one that `cargo install cargo-ptx` installed, else one that is built into the
//! user's cache the first time, which takes about a minute, and serves all packages from then on. The program and the rustc
//! in force must be of one toolchain, or the next one is tried.
//!
//! Under `cargo check`, `clippy` and `doc`, and so in an editor, nothing is compiled for the GPU, and the image is empty: no
//! program is made that could use it. (Linux only, where cargo's command line can be read; `RUST_PTX_CHECK_ONLY=1` says so
//! anywhere, and `=0` the opposite.) `cargo ptx check` shows what rustc says of device code.
//!
//! The script runs again when a source file, a manifest or the lock file of the kernels changes, or one of the variables
//! below, and not otherwise. Errors are shown as cargo shows a build script's; warnings as warnings of the package.
//!
//! | Variable | Meaning |
//! |---|---|
//! | `RUST_PTX_ARCH` | architectures, as in `sm_80,sm_90a`; wins over the build script and the manifest |
//! | `RUST_PTX_FLOAT` | floating-point modes, as in `fmad=false,ftz=true`; wins likewise, mode by mode |
//! | `RUST_PTX_PANIC` | what panics leave behind, and what they end, as in `location,sha2=full,after-panic=exit`; wins likewise, crate by crate |
//! | `RUST_PTX_SYSROOT` | a ready device sysroot, or the `library` folder of Rust's sources |
//! | `RUST_PTX_CACHE` | where the compiler, the device sysroot and NVIDIA's tools are kept |
//! | `RUST_PTX_COMPILER` | the `cargo-ptx` that compiles |
//! | `RUST_PTX_CHECK_ONLY` | whether to compile nothing for the GPU: `1` or `0` |
//! | `CUDA_HOME`, `CUDA_PATH` | where NVIDIA's tools are looked for first |

mod check;
#[doc(hidden)]
pub mod compiler;
mod values;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use ptx_setup::sysroot::TARGET;

pub use values::{AfterPanic, DebugLevel, LoadCache, Output, PanicStrategy, StoreCache};

/// Compiles this package's library for the GPU, with the settings in `[package.metadata.ptx]`.
pub fn build() {
    Builder::new().build();
}

/// How the kernels are compiled. What is not said here comes from `[package.metadata.ptx]` of the kernels' package.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    kernels: Option<PathBuf>,
    archs: Vec<String>,
    emit: Vec<Output>,
    /// By the option's name.
    strings: BTreeMap<&'static str, String>,
    /// By the option's name.
    flags: BTreeMap<&'static str, bool>,
    panic_for: Vec<(String, PanicStrategy)>,
    link: Vec<PathBuf>,
    link_at_load: bool,
    nvcc_flags: Vec<String>,
    host_only: Vec<String>,
    features: Option<Vec<String>>,
    no_default_features: bool,
    name: Option<String>,
    install_tools: bool,
}

impl Builder {
    /// Kernels in this package's own library.
    pub fn new() -> Self {
        Self::default()
    }

    /// Kernels in another package: its folder, relative to this package's.
    #[must_use]
    pub fn kernels(mut self, folder: impl Into<PathBuf>) -> Self {
        self.kernels = Some(folder.into());
        self
    }

    /// One more GPU architecture, as in `sm_90a`.
    #[must_use]
    pub fn arch(mut self, arch: impl Into<String>) -> Self {
        self.archs.push(arch.into());
        self
    }

    /// One more kind of output. Cubins are made anyway where ptxas is found.
    #[must_use]
    pub fn emit(mut self, output: Output) -> Self {
        self.emit.push(output);
        self
    }

    /// How much debug information the device code has; the profile's `debug` otherwise.
    #[must_use]
    pub fn debug_level(mut self, level: DebugLevel) -> Self {
        self.strings.insert("debug-level", level.name().into());
        self
    }

    /// Which maths library: `auto`, `off` (the crate libm) or the path of a libdevice.10.bc.
    #[must_use]
    pub fn libdevice(mut self, libdevice: impl Into<String>) -> Self {
        self.strings.insert("libdevice", libdevice.into());
        self
    }

    /// Which ptxas: `auto`, `off` or a path.
    #[must_use]
    pub fn ptxas(mut self, ptxas: impl Into<String>) -> Self {
        self.strings.insert("ptxas", ptxas.into());
        self
    }

    /// What caches do with global and generic loads that do not say it: ptxas's `--def-load-cache` (`-dlcm`). It holds in
    /// cubins; PTX that the driver compiles has the driver's default.
    #[must_use]
    pub fn def_load_cache(mut self, operator: LoadCache) -> Self {
        self.strings.insert("def-load-cache", operator.name().into());
        self
    }

    /// The same for stores: ptxas's `--def-store-cache` (`-dscm`).
    #[must_use]
    pub fn def_store_cache(mut self, operator: StoreCache) -> Self {
        self.strings.insert("def-store-cache", operator.name().into());
        self
    }

    /// A PTX ISA version, as in `8.0`, instead of the lowest that suffices.
    #[must_use]
    pub fn ptx_version(mut self, version: impl Into<String>) -> Self {
        self.strings.insert("ptx-version", version.into());
        self
    }

    /// Whether multiplications and additions may be fused: `nvcc --fmad`, on by default.
    #[must_use]
    pub fn fmad(mut self, fused: bool) -> Self {
        self.flags.insert("fmad", fused);
        self
    }

    /// Whether subnormal numbers of single precision are zero: `nvcc --ftz`, off by default.
    #[must_use]
    pub fn ftz(mut self, flushed: bool) -> Self {
        self.flags.insert("ftz", flushed);
        self
    }

    /// Whether divisions and reciprocals of single precision are correctly rounded: `nvcc --prec-div`, on by default.
    #[must_use]
    pub fn prec_div(mut self, rounded: bool) -> Self {
        self.flags.insert("prec-div", rounded);
        self
    }

    /// Whether square roots of single precision are correctly rounded: `nvcc --prec-sqrt`, on by default.
    #[must_use]
    pub fn prec_sqrt(mut self, rounded: bool) -> Self {
        self.flags.insert("prec-sqrt", rounded);
        self
    }

    /// `nvcc --use_fast_math`: flushes subnormal numbers, and approximates division, square root and the functions of single
    /// precision. Off by default.
    #[must_use]
    pub fn use_fast_math(mut self, fast: bool) -> Self {
        self.flags.insert("use-fast-math", fast);
        self
    }

    /// What a panic leaves behind: message and place, the place alone, or nothing. [`PanicStrategy::Full`] by default.
    #[must_use]
    pub fn panic(mut self, strategy: PanicStrategy) -> Self {
        self.strings.insert("panic", strategy.name().into());
        self
    }

    /// The same for the panics of one crate, named as in Rust code: the one that calls what panics.
    #[must_use]
    pub fn panic_for(mut self, name: impl Into<String>, strategy: PanicStrategy) -> Self {
        self.panic_for.push((name.into(), strategy));
        self
    }

    /// What a panic ends: its thread, or the launch and with it the context.
    #[must_use]
    pub fn after_panic(mut self, after: AfterPanic) -> Self {
        self.strings.insert("after-panic", after.name().into());
        self
    }

    /// One more file to link with: CUDA C++ (`.cu`), PTX, a relocatable object (`.cubin`, `.o`), an archive (`.a`), a fatbin
    /// or LTO-IR (`.ltoir`), relative to this package's folder. The image then holds linked machine code, which runs on
    /// GPUs of the architectures' major versions; PTX cannot be linked, so there is nothing for later ones.
    #[must_use]
    pub fn link(mut self, file: impl Into<PathBuf>) -> Self {
        self.link.push(file.into());
        self
    }

    /// Leaves undefined symbols to `Device::linker`, which links when the program runs.
    #[must_use]
    pub fn link_at_load(mut self) -> Self {
        self.link_at_load = true;
        self
    }

    /// One more option for nvcc, where it compiles `.cu` files, as in `-std=c++20`.
    #[must_use]
    pub fn nvcc_flag(mut self, flag: impl Into<String>) -> Self {
        self.nvcc_flags.push(flag.into());
        self
    }

    /// One more dependency that only the host uses.
    #[must_use]
    pub fn host_only(mut self, dependency: impl Into<String>) -> Self {
        self.host_only.push(dependency.into());
        self
    }

    /// The features of the kernels' package, `default` besides them. Kernels in this package otherwise have the features
    /// it is being built with.
    #[must_use]
    pub fn features<S: Into<String>>(mut self, features: impl IntoIterator<Item = S>) -> Self {
        self.features.get_or_insert_default().extend(features.into_iter().map(Into::into));
        self
    }

    /// Leaves the feature `default` of the kernels' package off.
    #[must_use]
    pub fn no_default_features(mut self) -> Self {
        self.features.get_or_insert_default();
        self.no_default_features = true;
        self
    }

    /// A cargo profile for the device code instead of the host's: `release` makes kernels fast in a debug build.
    #[must_use]
    pub fn profile(mut self, profile: impl Into<String>) -> Self {
        self.strings.insert("profile", profile.into());
        self
    }

    /// A name for the image instead of the package's, as in `ptx::image!("name")`: for kernels that are compiled several
    /// times, each in another way.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Installs NVIDIA's tools into the cache where ptxas is not found: with Python 3 from PyPI, over 100 MB. Cubins, the
    /// check of the PTX and the resource figures need it. Where that fails the build warns, and goes on without.
    #[must_use]
    pub fn install_tools(mut self) -> Self {
        self.install_tools = true;
        self
    }

    /// Compiles, and writes what `ptx::image!()` includes. Ends the build script with a message if that fails.
    pub fn build(self) {
        if let Err(message) = self.run() {
            eprintln!("{message}");
            std::process::exit(1);
        }
    }

    fn run(self) -> Result<(), String> {
        let get = |name: &str| {
            std::env::var_os(name)
                .ok_or_else(|| format!("error: `{name}` is not set: ptx_build runs in a build script, called by cargo"))
        };
        if get("TARGET")? == TARGET {
            // `cargo build --target nvptx64-nvidia-cuda`: this *is* the device build.
            println!("cargo::rerun-if-changed=build.rs");
            return Ok(());
        }
        for variable in [compiler::VARIABLE, check::VARIABLE] {
            println!("cargo::rerun-if-env-changed={variable}");
        }
        if check::is_only_a_check() {
            let package = PathBuf::from(get("CARGO_MANIFEST_DIR")?).join(self.kernels.unwrap_or_default());
            return check::stand_in(&package, self.name, get("OUT_DIR")?.as_ref()).map_err(|e| format!("error: {e}"));
        }
        let compiler = compiler::find(self.install_tools).map_err(|reason| format!("error: {reason}"))?;
        for path in &compiler.watched {
            println!("cargo::rerun-if-changed={}", path.display());
        }
        // It writes for cargo and for the user by itself.
        let status = Command::new(&compiler.program)
            .args(self.arguments())
            .args(check::wants_short_messages().then_some("--short"))
            .status()
            .map_err(|e| format!("error: cannot run `{}`: {e}", compiler.program.display()))?;
        match status.code() {
            Some(0) => Ok(()),
            Some(code) => std::process::exit(code),
            None => Err(format!("error: `{}` ended with {status}", compiler.program.display())),
        }
    }

    /// The compiler's command line; the rest it takes from the environment that cargo gives a build script.
    #[doc(hidden)]
    pub fn arguments(&self) -> Vec<OsString> {
        let mut args: Vec<OsString> = vec!["build-script".into()];
        let mut add = |option: &str, value: OsString| {
            let mut arg = OsString::from(format!("--{option}="));
            arg.push(value);
            args.push(arg);
        };
        for arch in &self.archs {
            add("arch", arch.into());
        }
        for output in &self.emit {
            add("emit", output.name().into());
        }
        for (option, value) in &self.strings {
            add(option, value.into());
        }
        for (option, value) in &self.flags {
            add(option, value.to_string().into());
        }
        for (name, strategy) in &self.panic_for {
            add("panic-for", format!("{name}={}", strategy.name()).into());
        }
        for file in &self.link {
            add("link", file.into());
        }
        for flag in &self.nvcc_flags {
            add("nvcc-flag", flag.into());
        }
        for dependency in &self.host_only {
            add("host-only", dependency.into());
        }
        if let Some(folder) = &self.kernels {
            add("kernels", folder.into());
        }
        if let Some(name) = &self.name {
            add("name", name.into());
        }
        for feature in self.features.iter().flatten() {
            add("feature", feature.into());
        }
        let flags = [
            ("--link-at-load", self.link_at_load),
            ("--only-these-features", self.features.is_some()),
            ("--no-default-features", self.no_default_features),
            ("--install-tools", self.install_tools),
        ];
        args.extend(flags.into_iter().filter(|(_, set)| *set).map(|(flag, _)| flag.into()));
        args
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_twice_counts_once() {
        let args = Builder::new().fmad(true).ptxas("off").fmad(false).ptxas("auto").link("a b.cu").arguments();
        assert_eq!(args, ["build-script", "--ptxas=auto", "--fmad=false", "--link=a b.cu"]);
    }

    #[test]
    fn features_are_the_packages_own_unless_named() {
        assert_eq!(Builder::new().arguments(), ["build-script"]);
        let none: [&str; 0] = [];
        assert_eq!(Builder::new().features(none).arguments(), ["build-script", "--only-these-features"]);
        let args = Builder::new().features(["a", "b"]).no_default_features().arguments();
        assert_eq!(args[1..], ["--feature=a", "--feature=b", "--only-these-features", "--no-default-features"]);
    }
}
