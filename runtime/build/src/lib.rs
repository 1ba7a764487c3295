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
//! The script may do anything else before and after. It is also what rustc calls as the linker, but is that before its `main`
//! begins, so that nothing is done twice.
//!
//! The script runs again when a source file, a manifest or the lock file of the kernels changes, or one of the variables
//! below, and not otherwise. Errors are shown as cargo shows a build script's; warnings as warnings of the package.
//!
//! | Variable | Meaning |
//! |---|---|
//! | `RUST_PTX_ARCH` | architectures, as in `sm_80,sm_90a`; wins over the build script and the manifest |
//! | `RUST_PTX_FLOAT` | floating-point modes, as in `fmad=false,ftz=true`; wins likewise, mode by mode |
//! | `RUST_PTX_PANIC` | what panics leave behind, as in `location,sha2=full`; wins likewise, crate by crate |
//! | `RUST_PTX_SYSROOT` | a ready device sysroot, or the `library` folder of Rust's sources |
//! | `RUST_PTX_CACHE` | where the device sysroot and NVIDIA's tools are kept |
//! | `CUDA_HOME`, `CUDA_PATH` | where NVIDIA's tools are looked for first |

mod environment;
mod hook;
mod image;

use std::path::{Path, PathBuf};

use ptx_codegen::request::Emit;
use ptx_codegen::{Diagnostic, Failure};
use ptx_project::build::{self, Built, DeviceBuild, Features, Show};
use ptx_project::options::Settings;
use ptx_project::options::float::FloatSettings;
use ptx_project::options::panics::{PanicFor, PanicSettings};
use ptx_project::progress::Progress;
use ptx_project::tools;

pub use ptx_codegen::request::PanicStrategy;
pub use ptx_codegen::request::{DebugLevel, Emit as Output};

use environment::Environment;

/// Compiles this package's library for the GPU, with the settings in `[package.metadata.ptx]`.
pub fn build() {
    Builder::new().build();
}

/// How the kernels are compiled. What is not said here comes from `[package.metadata.ptx]` of the kernels' package.
#[derive(Clone, Debug)]
pub struct Builder {
    kernels: Option<PathBuf>,
    settings: Settings,
    features: Option<Features>,
    profile: Option<String>,
    name: Option<String>,
    install_tools: bool,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// Kernels in this package's own library.
    pub fn new() -> Self {
        Self {
            kernels: None,
            settings: Settings::default(),
            features: None,
            profile: None,
            name: None,
            install_tools: false,
        }
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
        self.settings.arch.push(arch.into());
        self
    }

    /// One more kind of output. Cubins are made anyway where ptxas is found.
    #[must_use]
    pub fn emit(mut self, output: Output) -> Self {
        self.settings.emit.push(output);
        self
    }

    /// How much debug information the device code has; the profile's `debug` otherwise.
    #[must_use]
    pub fn debug_level(mut self, level: DebugLevel) -> Self {
        self.settings.debug_level = Some(level);
        self
    }

    /// Which maths library: `auto`, `off` (the crate libm) or the path of a libdevice.10.bc.
    #[must_use]
    pub fn libdevice(mut self, libdevice: impl Into<String>) -> Self {
        self.settings.libdevice = Some(libdevice.into());
        self
    }

    /// Which ptxas: `auto`, `off` or a path.
    #[must_use]
    pub fn ptxas(mut self, ptxas: impl Into<String>) -> Self {
        self.settings.ptxas = Some(ptxas.into());
        self
    }

    /// A PTX ISA version, as in `8.0`, instead of the lowest that suffices.
    #[must_use]
    pub fn ptx_version(mut self, version: impl Into<String>) -> Self {
        self.settings.ptx_version = Some(version.into());
        self
    }

    /// Whether multiplications and additions may be fused: `nvcc --fmad`, on by default.
    #[must_use]
    pub fn fmad(mut self, fused: bool) -> Self {
        self.settings.float.fmad = Some(fused);
        self
    }

    /// Whether subnormal numbers of single precision are zero: `nvcc --ftz`, off by default.
    #[must_use]
    pub fn ftz(mut self, flushed: bool) -> Self {
        self.settings.float.ftz = Some(flushed);
        self
    }

    /// Whether divisions and reciprocals of single precision are correctly rounded: `nvcc --prec-div`, on by default.
    #[must_use]
    pub fn prec_div(mut self, rounded: bool) -> Self {
        self.settings.float.prec_div = Some(rounded);
        self
    }

    /// Whether square roots of single precision are correctly rounded: `nvcc --prec-sqrt`, on by default.
    #[must_use]
    pub fn prec_sqrt(mut self, rounded: bool) -> Self {
        self.settings.float.prec_sqrt = Some(rounded);
        self
    }

    /// `nvcc --use_fast_math`: flushes subnormal numbers, and approximates division, square root and the functions of single
    /// precision. Off by default.
    #[must_use]
    pub fn use_fast_math(mut self, fast: bool) -> Self {
        self.settings.float.use_fast_math = Some(fast);
        self
    }

    /// What a panic leaves behind: message and place, the place alone, or nothing. [`PanicStrategy::Full`] by default.
    #[must_use]
    pub fn panic(mut self, strategy: PanicStrategy) -> Self {
        self.settings.panic.panic = Some(strategy);
        self
    }

    /// The same for the panics of one crate, named as in Rust code: the one that calls what panics.
    #[must_use]
    pub fn panic_for(mut self, name: impl Into<String>, strategy: PanicStrategy) -> Self {
        self.settings.panic.panic_for.push(PanicFor { name: name.into().replace('-', "_"), strategy });
        self
    }

    /// One more file to link with: CUDA C++ (`.cu`), PTX, a relocatable object (`.cubin`, `.o`), an archive (`.a`), a fatbin
    /// or LTO-IR (`.ltoir`), relative to this package's folder. The image then holds linked machine code, which runs on
    /// GPUs of the architectures' major versions; PTX cannot be linked, so there is nothing for later ones.
    #[must_use]
    pub fn link(mut self, file: impl Into<PathBuf>) -> Self {
        self.settings.link.push(file.into());
        self
    }

    /// Leaves undefined symbols to `Device::linker`, which links when the program runs.
    #[must_use]
    pub fn link_at_load(mut self) -> Self {
        self.settings.link_at_load = true;
        self
    }

    /// One more option for nvcc, where it compiles `.cu` files, as in `-std=c++20`.
    #[must_use]
    pub fn nvcc_flag(mut self, flag: impl Into<String>) -> Self {
        self.settings.nvcc_flags.push(flag.into());
        self
    }

    /// One more dependency that only the host uses.
    #[must_use]
    pub fn host_only(mut self, dependency: impl Into<String>) -> Self {
        self.settings.host_only.push(dependency.into());
        self
    }

    /// The features of the kernels' package, `default` besides them. Kernels in this package otherwise have the features
    /// it is being built with.
    #[must_use]
    pub fn features<S: Into<String>>(mut self, features: impl IntoIterator<Item = S>) -> Self {
        let all = self.features.get_or_insert_default();
        all.names.extend(features.into_iter().map(Into::into));
        self
    }

    /// Leaves the feature `default` of the kernels' package off.
    #[must_use]
    pub fn no_default_features(mut self) -> Self {
        self.features.get_or_insert_default().default = false;
        self
    }

    /// A cargo profile for the device code instead of the host's: `release` makes kernels fast in a debug build.
    #[must_use]
    pub fn profile(mut self, profile: impl Into<String>) -> Self {
        self.profile = Some(profile.into());
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
        let environment = match Environment::read() {
            Ok(environment) => environment,
            Err(message) => {
                eprintln!("error: {message}");
                std::process::exit(1);
            }
        };
        if environment.target == ptx_codegen::request::TARGET {
            // `cargo build --target nvptx64-nvidia-cuda`: this *is* the device build.
            println!("cargo::rerun-if-changed=build.rs");
            return;
        }
        if let Err(failure) = self.run(&environment) {
            for diagnostic in &failure.diagnostics {
                eprintln!("{}\n", diagnostic.render(&failure.source_base, false));
            }
            std::process::exit(1);
        }
    }

    fn run(self, environment: &Environment) -> Result<(), Failure> {
        if self.install_tools
            && tools::find().ptxas().is_none()
            && let Err(failure) = tools::install(&Progress::quiet())
        {
            failure.diagnostics.iter().for_each(|diagnostic| println!("cargo::warning={}", one_line(diagnostic)));
        }
        let mut build = self.device_build(environment);
        build.settings.float = FloatSettings::of_variable()?.or(build.settings.float);
        build.settings.panic = PanicSettings::of_variable()?.or(std::mem::take(&mut build.settings.panic));
        let built = build::run(&build, &Progress::quiet())?;
        let image = environment.out_dir.join(format!("{}.image.rs", built.report.name));
        ptx_codegen::files::write_if_changed(&image, &image::expression(&built.report))?;
        announce(&built, &environment.out_dir);
        Ok(())
    }

    fn device_build(mut self, environment: &Environment) -> DeviceBuild {
        if let Some(archs) = &environment.archs {
            self.settings.arch = archs.clone();
        }
        let own = self.kernels.is_none();
        let manifest = environment.manifest_dir.join(self.kernels.unwrap_or_default()).join("Cargo.toml");
        let features = match self.features {
            Some(features) => features,
            None if own => environment.features(&manifest),
            None => Features::default(),
        };
        let metadata = Settings::of_manifest(&manifest).unwrap_or_default();
        let settings = self.settings.linking_below(&environment.manifest_dir);
        let emit = if settings.emit.is_empty() { metadata.emit.clone() } else { settings.emit.clone() };
        let effective = settings.clone().or(metadata);
        DeviceBuild {
            settings: Settings { emit: with_cubins(emit, &effective), ..settings },
            profile: self.profile.unwrap_or_else(|| environment.profile.clone()),
            features,
            tests: false,
            // Below the script's own folder: two packages, or two profiles, do not meet there.
            out_dir: environment.out_dir.join(self.name.as_ref().map_or("ptx".into(), |name| format!("ptx-{name}"))),
            name: self.name,
            target_dir: environment.target_dir.join("ptx"),
            cargo: environment.cargo.clone(),
            rustc: environment.rustc.clone(),
            sysroot: environment.sysroot.clone(),
            dump_dir: None,
            show: Show::BuildScript,
            color: false,
            manifest,
        }
    }
}

/// Adds cubins where ptxas is there and knows every architecture: they load faster than PTX.
fn with_cubins(mut emit: Vec<Emit>, settings: &Settings) -> Vec<Emit> {
    let can = match settings.ptxas.as_deref() {
        Some("off") => false,
        None | Some("auto") => tools::find().ptxas().is_some_and(|ptxas| {
            ptxas.archs().is_ok_and(|known| settings.arch.iter().all(|arch| known.contains(arch)))
        }),
        Some(_) => true,
    };
    if can && !emit.contains(&Emit::Cubin) {
        emit.push(Emit::Cubin);
    }
    emit
}

/// Tells cargo when to run the script again, and passes the linker's warnings on. What the script itself makes in `out_dir`
/// is always newer than the script's last run.
fn announce(built: &Built, out_dir: &Path) {
    for variable in environment::variables() {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    for source in built.sources.iter().filter(|source| !source.starts_with(out_dir)) {
        println!("cargo::rerun-if-changed={}", source.display());
    }
    for diagnostic in &built.report.diagnostics {
        println!("cargo::warning={}", one_line(diagnostic));
    }
}

fn one_line(diagnostic: &Diagnostic) -> String {
    let place = diagnostic.spans.first().map_or_else(String::new, |(span, _)| format!("{span}: "));
    let notes = diagnostic.notes.iter().map(|note| format!("; {}", note.replace('\n', " ")));
    format!("{place}{} [{}]{}", diagnostic.message, diagnostic.code, notes.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_codegen::codes::Code;

    #[test]
    fn warnings_take_one_line() {
        let diagnostic = Diagnostic::warning(Code::Spill, "kernel `k` spills").note("8 bytes\nof stores");
        assert_eq!(one_line(&diagnostic), "kernel `k` spills [PTX0014]; 8 bytes of stores");
    }

    #[test]
    fn no_cubins_where_ptxas_is_off() {
        let settings = Settings { ptxas: Some("off".into()), ..Settings::default() };
        assert_eq!(with_cubins(vec![Emit::LlvmIr], &settings), [Emit::LlvmIr]);
        let settings = Settings { ptxas: Some("/some/ptxas".into()), ..Settings::default() };
        assert_eq!(with_cubins(vec![Emit::Cubin], &settings), [Emit::Cubin]);
    }
}
