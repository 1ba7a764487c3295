//! `cargo-ptx build-script`, which `ptx_build` runs: compiles kernels for a host program, and tells the cargo above.
//!
//! `ptx_build` hands on the environment that cargo gave it. Standard output is the build script's, which cargo reads.

mod environment;
mod image;

use std::path::{Path, PathBuf};

use clap::Args;

use ptx_codegen::diagnostic::{Diagnostic, Result};
use ptx_codegen::request::Emit;
use ptx_project::build::{self, Built, CargoFlags, DeviceBuild, Features, Show};
use ptx_project::options::float::FloatSettings;
use ptx_project::options::panics::PanicSettings;
use ptx_project::options::{Settings, arch};
use ptx_project::progress::Progress;
use ptx_project::ready::sysroot_and_tools;
use ptx_project::sysroot;
use ptx_project::tools;

use environment::Environment;
#[cfg(feature = "profile")]
pub use environment::with_lines;

/// What `ptx_build::Builder` was told.
#[derive(Args, Debug)]
pub struct ScriptArgs {
    /// Say what this program was built of, and end.
    #[arg(long)]
    identity: bool,
    /// Print messages in one line each, as the cargo above does.
    #[arg(long)]
    pub short: bool,
    /// The folder of the kernels' package; this one by default.
    #[arg(long)]
    kernels: Option<PathBuf>,
    /// A cargo profile for the device code instead of the host's.
    #[arg(long)]
    profile: Option<String>,
    /// A name for the image instead of the package's.
    #[arg(long)]
    name: Option<String>,
    /// A feature of the kernels' package.
    #[arg(long = "feature")]
    features: Vec<String>,
    /// Leave the feature `default` off.
    #[arg(long)]
    no_default_features: bool,
    /// Not the features that the package is being built with.
    #[arg(long)]
    only_these_features: bool,
    /// A dependency that only the host uses.
    #[arg(long)]
    host_only: Vec<String>,
    /// Install NVIDIA's tools where there are none.
    #[arg(long)]
    install_tools: bool,
    /// The linker's options.
    #[command(flatten)]
    settings: Settings,
}

/// Compiles, and writes what `ptx::image!()` includes.
pub fn run(args: ScriptArgs) -> Result<()> {
    if args.identity {
        print!("{}", identity());
        return Ok(());
    }
    let environment = Environment::read()?;
    let mut args = args;
    arch::check(&mut args.settings.arch, arch::From::BuildScript)?;
    if args.install_tools && tools::find().ptxas().is_none() {
        let rustc = sysroot::rustc(&environment.rustc)?;
        let ready = sysroot_and_tools(&rustc, environment.sysroot.as_deref(), &Progress::quiet());
        if let Err(failure) = ready.tools {
            failure.diagnostics.iter().for_each(|diagnostic| println!("cargo::warning={}", one_line(diagnostic)));
        }
        ready.sysroot?;
    }
    let mut build = device_build(args, &environment);
    build.settings.debug_level = environment.debug_level.or(build.settings.debug_level);
    build.settings.float = FloatSettings::of_variable()?.or(build.settings.float);
    build.settings.panic = PanicSettings::of_variable()?.or(std::mem::take(&mut build.settings.panic));
    let built = build::run(&build, &Progress::quiet())?;
    let image = environment.out_dir.join(format!("{}.image.rs", built.report.name));
    ptx_codegen::files::write_if_changed(&image, &image::expression(&built.report))?;
    announce(&built, &environment.out_dir);
    Ok(())
}

/// What `ptx_build` compares with itself, its rustc and its sources.
fn identity() -> String {
    let (version, sources) = (env!("CARGO_PKG_VERSION"), env!("PTX_SOURCES"));
    let (rustc, llvm) = (ptx_codegen::RUSTC_RELEASE, ptx_codegen::LLVM_VERSION);
    format!("cargo-ptx: {version}\nrustc: {rustc}\nLLVM: {llvm}\nsources: {sources}\n")
}

fn device_build(args: ScriptArgs, environment: &Environment) -> DeviceBuild {
    let mut settings = Settings { host_only: args.host_only, ..args.settings };
    if let Some(archs) = &environment.archs {
        settings.arch = archs.clone();
    }
    let own = args.kernels.is_none();
    let manifest = environment.manifest_dir.join(args.kernels.unwrap_or_default()).join("Cargo.toml");
    let features = if args.only_these_features {
        Features { names: args.features, default: !args.no_default_features, all: false }
    } else if own {
        environment.features(&manifest)
    } else {
        Features::default()
    };
    let metadata = Settings::of_manifest(&manifest).unwrap_or_default();
    let settings = settings.linking_below(&environment.manifest_dir);
    let emit = if settings.emit.is_empty() { metadata.emit.clone() } else { settings.emit.clone() };
    let effective = settings.clone().or(metadata);
    DeviceBuild {
        settings: Settings { emit: with_cubins(emit, &effective), ..settings },
        profile: args.profile.unwrap_or_else(|| environment.profile.clone()),
        features,
        tests: false,
        // Below the script's own folder: two packages, or two profiles, do not meet there.
        out_dir: environment.out_dir.join(args.name.as_ref().map_or("ptx".into(), |name| format!("ptx-{name}"))),
        name: args.name,
        target_dir: environment.target_dir.join("ptx"),
        cargo: environment.cargo.clone(),
        rustc: environment.rustc.clone(),
        sysroot: environment.sysroot.clone(),
        dump_dir: None,
        show: Show::BuildScript,
        color: false,
        short: args.short,
        flags: CargoFlags::default(),
        manifest,
    }
}

/// Adds cubins where ptxas is there and knows every architecture: they load faster than PTX. In parts, because the image takes
/// them so, and fewer kernels are compiled again after a change.
fn with_cubins(mut emit: Vec<Emit>, settings: &Settings) -> Vec<Emit> {
    let can = match settings.ptxas.as_deref() {
        Some("off") => false,
        None | Some("auto") => tools::find().ptxas().is_some_and(|ptxas| {
            let archs = arch::archs(&settings.arch).unwrap_or_default();
            ptxas.archs().is_ok_and(|known| archs.iter().all(|arch| known.iter().any(|known| known == arch.name())))
        }),
        Some(_) => true,
    };
    if can && !emit.contains(&Emit::Cubin) {
        emit.push(Emit::CubinParts);
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
    use clap::Parser;
    use ptx_build::{AfterPanic, Builder, DebugLevel, LoadCache, Output, PanicStrategy, StoreCache};
    use ptx_codegen::codes::Code;
    use ptx_codegen::request;
    use ptx_project::options::panics::PanicFor;

    use super::*;
    use crate::cli::arguments::{CommandLine, Verb};

    fn parse(builder: &Builder) -> ScriptArgs {
        let args = std::iter::once("cargo-ptx".into()).chain(builder.arguments());
        match CommandLine::try_parse_from(args).unwrap().verb {
            Some(Verb::BuildScript(args)) => *args,
            other => panic!("{other:?}"),
        }
    }

    /// ptx-build writes the command line, and this crate reads it.
    #[test]
    fn everything_that_a_builder_is_told_arrives() {
        let builder = Builder::new()
            .kernels("../my kernels")
            .arch("sm_80")
            .arch("sm_90a")
            .debug_level(DebugLevel::LineTables)
            .libdevice("off")
            .ptxas("/t/ptxas")
            .def_load_cache(LoadCache::Cs)
            .def_store_cache(StoreCache::Cg)
            .ptx_version("8.0")
            .fmad(false)
            .ftz(true)
            .prec_div(false)
            .prec_sqrt(true)
            .use_fast_math(false)
            .panic(PanicStrategy::Trap)
            .panic_for("my-crate", PanicStrategy::Location)
            .after_panic(AfterPanic::Exit)
            .link("a b.cu")
            .link("-c.ptx")
            .link_at_load()
            .nvcc_flag("-std=c++20")
            .host_only("clap")
            .features(["a", "b,c"])
            .no_default_features()
            .profile("fast")
            .name("twice")
            .install_tools();
        let args = parse(&builder);
        let float = FloatSettings {
            fmad: Some(false),
            ftz: Some(true),
            prec_div: Some(false),
            prec_sqrt: Some(true),
            use_fast_math: Some(false),
            ..FloatSettings::default()
        };
        let panic_for = vec![PanicFor { name: "my_crate".into(), strategy: request::PanicStrategy::Location }];
        let expected = Settings {
            arch: vec!["sm_80".into(), "sm_90a".into()],
            debug_level: Some(request::DebugLevel::LineTables),
            libdevice: Some("off".into()),
            ptxas: Some("/t/ptxas".into()),
            def_load_cache: Some(request::LoadCache::Cs),
            def_store_cache: Some(request::StoreCache::Cg),
            ptx_version: Some("8.0".into()),
            link: vec!["a b.cu".into(), "-c.ptx".into()],
            link_at_load: true,
            nvcc_flags: vec!["-std=c++20".into()],
            float,
            panic: PanicSettings {
                panic: Some(request::PanicStrategy::Trap),
                panic_for,
                after_panic: Some(request::AfterPanic::Exit),
            },
            ..Settings::default()
        };
        assert_eq!(args.settings, expected);
        assert_eq!((args.kernels, args.profile.as_deref()), (Some("../my kernels".into()), Some("fast")));
        assert_eq!((args.name.as_deref(), args.features), (Some("twice"), vec!["a".into(), "b,c".into()]));
        assert!(args.no_default_features && args.only_these_features && args.install_tools && !args.identity);
        assert_eq!(args.host_only, ["clap"]);
        assert_eq!(parse(&Builder::new()).settings, Settings::default());
    }

    #[test]
    fn every_value_has_the_same_name_on_both_sides() {
        for (output, expected) in [
            (Output::Ptx, Emit::Ptx),
            (Output::Cubin, Emit::Cubin),
            (Output::Fatbin, Emit::Fatbin),
            (Output::LlvmIr, Emit::LlvmIr),
            (Output::LlvmBc, Emit::LlvmBc),
            (Output::Header, Emit::Header),
        ] {
            assert_eq!(parse(&Builder::new().emit(output)).settings.emit, [expected]);
            assert_eq!(output.extension(), expected.extension());
        }
        for (level, expected) in [
            (DebugLevel::None, request::DebugLevel::None),
            (DebugLevel::LineTables, request::DebugLevel::LineTables),
            (DebugLevel::Full, request::DebugLevel::Full),
        ] {
            assert_eq!(parse(&Builder::new().debug_level(level)).settings.debug_level, Some(expected));
        }
        for (strategy, expected) in [
            (PanicStrategy::Full, request::PanicStrategy::Full),
            (PanicStrategy::Location, request::PanicStrategy::Location),
            (PanicStrategy::Trap, request::PanicStrategy::Trap),
        ] {
            assert_eq!(parse(&Builder::new().panic(strategy)).settings.panic.panic, Some(expected));
        }
        for (load, expected) in [
            (LoadCache::Ca, request::LoadCache::Ca),
            (LoadCache::Cg, request::LoadCache::Cg),
            (LoadCache::Cs, request::LoadCache::Cs),
            (LoadCache::Lu, request::LoadCache::Lu),
            (LoadCache::Cv, request::LoadCache::Cv),
        ] {
            assert_eq!(parse(&Builder::new().def_load_cache(load)).settings.def_load_cache, Some(expected));
        }
        for (store, expected) in [
            (StoreCache::Wb, request::StoreCache::Wb),
            (StoreCache::Cg, request::StoreCache::Cg),
            (StoreCache::Cs, request::StoreCache::Cs),
            (StoreCache::Wt, request::StoreCache::Wt),
        ] {
            assert_eq!(parse(&Builder::new().def_store_cache(store)).settings.def_store_cache, Some(expected));
        }
        for (after, expected) in
            [(AfterPanic::Exit, request::AfterPanic::Exit), (AfterPanic::Trap, request::AfterPanic::Trap)]
        {
            assert_eq!(parse(&Builder::new().after_panic(after)).settings.panic.after_panic, Some(expected));
        }
    }

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
        assert_eq!(with_cubins(vec![Emit::Ptx], &settings), [Emit::Ptx, Emit::CubinParts]);
    }
}
