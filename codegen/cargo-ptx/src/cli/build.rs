//! `cargo ptx build`: compiles a package's kernels and says what came out.

use ptx_codegen::diagnostic::Result;
use ptx_codegen::report::Report;
use ptx_codegen::request::Emit;
use ptx_project::build::{Built, DeviceBuild};
use ptx_project::options::float::FloatSettings;
use ptx_project::options::{Settings, arch};
use ptx_project::progress::Progress;

use super::arguments::{BuildArgs, TimedBuildArgs};
use super::select::{self, Selected};
use super::{output, timings};

/// Builds and prints the files and resources, and what took how long if that is asked for.
pub fn run(TimedBuildArgs { build: args, timings: timed }: &TimedBuildArgs, progress: &Progress) -> Result<()> {
    for (index, device_build) in device_builds(args)?.iter().enumerate() {
        if index > 0 && !args.message_format.is_json() {
            println!();
        }
        one(args, device_build, *timed, progress)?;
    }
    if args.message_format.is_json() {
        output::json("build-finished", "success", &true);
    }
    Ok(())
}

fn one(args: &BuildArgs, device_build: &DeviceBuild, timed: bool, progress: &Progress) -> Result<()> {
    let (built, measured) = if timed {
        let (built, measured) = ptx_project::build::timed(device_build, progress)?;
        (built, Some(measured))
    } else {
        (ptx_project::build::run(device_build, progress)?, None)
    };
    output::diagnostics(&built.report.diagnostics, args.message_format, &built.source_base);
    let drawn = measured.as_ref().map(|measured| timings::write(measured, &device_build.out_dir)).transpose()?;
    if args.message_format.is_json() {
        output::json("ptx-report", "report", &built.report);
        if let Some(measured) = measured {
            output::json("ptx-timings", "timings", &measured);
        }
        return Ok(());
    }
    print!("{}", summary(&built.report));
    if let Some((measured, paths)) = measured.zip(drawn) {
        println!("\n{}\n{}", timings::table(&measured), paths.map(|path| output::path(&path)).join("\n"));
    }
    Ok(())
}

/// Builds one package with `also` among the outputs, and prints warnings.
pub fn build(args: &BuildArgs, also: &[Emit], progress: &Progress) -> Result<Built> {
    let built = ptx_project::build::run(&device_build(args, also)?, progress)?;
    output::diagnostics(&built.report.diagnostics, args.message_format, &built.source_base);
    Ok(built)
}

/// What the arguments ask for, one build a package.
pub fn device_builds(args: &BuildArgs) -> Result<Vec<DeviceBuild>> {
    let selected = select::select(&args.packages, &args.cargo)?;
    let several = selected.len() > 1;
    selected.into_iter().map(|selected| of_package(args, selected, &[], several)).collect()
}

/// What the arguments ask for of one package, with `also` among the outputs.
pub fn device_build(args: &BuildArgs, also: &[Emit]) -> Result<DeviceBuild> {
    of_package(args, select::one(&args.packages, &args.cargo)?, also, false)
}

fn of_package(args: &BuildArgs, selected: Selected, also: &[Emit], several: bool) -> Result<DeviceBuild> {
    let mut settings = args.settings.clone().linking_below(&super::environment::current_dir());
    arch::check(&mut settings.arch, arch::From::Argument)?;
    if settings.arch.is_empty() {
        settings.arch = arch::of_variable()?.unwrap_or_default();
    }
    settings.float = settings.float.or(FloatSettings::of_variable()?);
    // Before anything is compiled; the linker asks again.
    settings.float.or(Settings::of_manifest(&selected.manifest)?.float).modes()?;
    if !also.is_empty() {
        let given = settings.or(Settings::of_manifest(&selected.manifest)?);
        settings = Settings { emit: given.emit.iter().chain(also).copied().collect(), ..given };
    }
    Ok(DeviceBuild {
        settings,
        profile: args.cargo.profile().to_string(),
        features: args.cargo.features(),
        tests: false,
        name: None,
        out_dir: match &args.out {
            Some(out) if several => out.join(&selected.name),
            Some(out) => out.clone(),
            None => selected.target_dir.join("ptx/out").join(args.cargo.profile()).join(&selected.name),
        },
        target_dir: selected.build_dir.join("ptx"),
        manifest: selected.manifest,
        cargo: super::environment::cargo(),
        rustc: super::environment::rustc(),
        sysroot: std::env::var_os("RUST_PTX_SYSROOT").filter(|path| !path.is_empty()).map(Into::into),
        dump_dir: args.dump_dir.clone(),
        show: args.message_format.show(),
        color: args.message_format.is_colored(),
        short: args.message_format.is_short(),
        flags: args.cargo.flags(),
    })
}

fn summary(report: &Report) -> String {
    let mut text = String::new();
    for file in &report.outputs {
        text += &format!("{}\n", output::path(&file.path));
    }
    if report.kernels.is_empty() {
        return text + "\nno kernel, only exported functions\n";
    }
    text + "\n" + &output::resources(report, report.kernels.iter())
}
