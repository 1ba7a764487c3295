//! `cargo ptx build`: compiles a package's kernels and says what came out.

use ptx_codegen::diagnostic::Result;
use ptx_codegen::report::Report;
use ptx_codegen::request::{Emit, MessageFormat};
use ptx_project::build::{Built, DeviceBuild, Show};
use ptx_project::options::Settings;
use ptx_project::options::float::FloatSettings;
use ptx_project::progress::Progress;

use super::arguments::{BuildArgs, TimedBuildArgs};
use super::{output, select, timings};

/// Builds and prints the files and resources, and what took how long if that is asked for.
pub fn run(TimedBuildArgs { build: args, timings: timed }: &TimedBuildArgs, progress: &Progress) -> Result<()> {
    let device_build = device_build(args, &[])?;
    let (built, measured) = if *timed {
        let (built, measured) = ptx_project::build::timed(&device_build, progress)?;
        (built, Some(measured))
    } else {
        (ptx_project::build::run(&device_build, progress)?, None)
    };
    output::diagnostics(&built.report.diagnostics, args.message_format, &built.source_base);
    let drawn = measured.as_ref().map(|measured| timings::write(measured, &device_build.out_dir)).transpose()?;
    match args.message_format {
        MessageFormat::Human => {
            print!("{}", summary(&built.report));
            if let Some((measured, paths)) = measured.zip(drawn) {
                println!("\n{}\n{}", timings::table(&measured), paths.map(|path| output::path(&path)).join("\n"));
            }
        }
        MessageFormat::Json => {
            output::json("ptx-report", "report", &built.report);
            if let Some(measured) = measured {
                output::json("ptx-timings", "timings", &measured);
            }
            output::json("build-finished", "success", &true);
        }
    }
    Ok(())
}

/// Builds with `also` among the outputs, and prints warnings.
pub fn build(args: &BuildArgs, also: &[Emit], progress: &Progress) -> Result<Built> {
    let built = ptx_project::build::run(&device_build(args, also)?, progress)?;
    output::diagnostics(&built.report.diagnostics, args.message_format, &built.source_base);
    Ok(built)
}

/// What the arguments ask for, with `also` among the outputs.
pub fn device_build(args: &BuildArgs, also: &[Emit]) -> Result<DeviceBuild> {
    let selected = select::select(args)?;
    let mut settings = args.settings.clone().linking_below(&super::environment::current_dir());
    if settings.arch.is_empty()
        && let Ok(archs) = std::env::var("RUST_PTX_ARCH")
    {
        settings.arch = archs.split(',').map(|arch| arch.trim().to_string()).filter(|arch| !arch.is_empty()).collect();
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
        out_dir: args
            .out
            .clone()
            .unwrap_or_else(|| selected.target_dir.join("ptx/out").join(args.cargo.profile()).join(&selected.name)),
        target_dir: selected.build_dir.join("ptx"),
        manifest: selected.manifest,
        cargo: super::environment::cargo(),
        rustc: super::environment::rustc(),
        sysroot: std::env::var_os("RUST_PTX_SYSROOT").filter(|path| !path.is_empty()).map(Into::into),
        dump_dir: args.dump_dir.clone(),
        show: match args.message_format {
            MessageFormat::Human => Show::Rendered,
            MessageFormat::Json => Show::Json,
        },
        color: args.message_format == MessageFormat::Human && output::color(),
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
