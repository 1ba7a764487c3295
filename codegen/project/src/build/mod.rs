//! The device build: cargo compiles a package's library for the GPU, with this program as rustc's linker.
//!
//! One package may hold the kernels and the host program. cargo would build everything in it for the device, so it
//! gets a manifest of our own ([`manifest`]) in the target folder, with the workspace's lock file beside it.

mod cargo;
mod harness;
mod lock;
pub mod manifest;
mod messages;
mod needs_std;
mod notes;
mod package;
mod profile;
mod request;
mod sources;

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::options::Settings;
use crate::progress::Progress;
use crate::sysroot::{self, Rustc};
use ptx_codegen::arch::{Arch, PtxVersion};
use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Failure, Level, Result};
use ptx_codegen::files::{absolute, normalized, write_if_changed};
use ptx_codegen::hash;
use ptx_codegen::report::{self, LinkedFile, Report};
use ptx_codegen::timings::{self, Timings};

use manifest::{DeviceManifest, OnDisk};

pub use harness::checkout;
pub use package::Package;
pub use request::{DeviceBuild, Features, Show};

/// What a device build made.
#[derive(Clone, Debug)]
pub struct Built {
    /// What the linker reported.
    pub report: Report,
    /// The files it was made from.
    pub sources: Vec<PathBuf>,
    /// Whether everything was there already.
    pub fresh: bool,
    /// What relative paths in messages are relative to.
    pub source_base: PathBuf,
}

/// Builds and returns the linker's report.
pub fn report(build: &DeviceBuild, progress: &Progress) -> Result<Report> {
    Ok(run(build, progress)?.report)
}

/// Builds. rustc's messages have been shown when this returns; the linker's stand in the report or in the failure.
pub fn run(build: &DeviceBuild, progress: &Progress) -> Result<Built> {
    prepared(build, Aim::Build, progress, |run| run.run())
}

/// The same, and how long what took. Stages of the compiler are there if it ran, not if all was there already.
pub fn timed(build: &DeviceBuild, progress: &Progress) -> Result<(Built, Timings)> {
    timings::take();
    let built = prepared(build, Aim::TimedBuild, progress, |run| run.run())?;
    Ok((built, timings::take()))
}

/// Has rustc check the library for the device, without compiling it; its messages have been shown when this returns.
pub fn check(build: &DeviceBuild, progress: &Progress) -> Result<()> {
    prepared(build, Aim::Check, progress, |run| run.check())
}

/// What cargo is run for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aim {
    Build,
    TimedBuild,
    Check,
}

/// Decides everything, and lets `run` do it.
fn prepared<T>(
    build: &DeviceBuild,
    aim: Aim,
    progress: &Progress,
    run: impl FnOnce(&Run<'_>) -> Result<T>,
) -> Result<T> {
    let build = &DeviceBuild {
        out_dir: normalized(&absolute(&build.out_dir)?),
        target_dir: normalized(&absolute(&build.target_dir)?),
        dump_dir: build.dump_dir.as_deref().map(absolute).transpose()?,
        ..build.clone()
    };
    let package = Package::load(&build.manifest, &build.cargo)?;
    let mut settings = build.settings.clone().or(Settings::of_manifest(&package.manifest)?);
    if settings.arch.is_empty() {
        // rustc would name its own default, sm_70, which ptxas knows no more.
        settings.arch = vec![Arch::portable().name().into()];
    }
    // Before cargo runs: a wrong name should not cost a build.
    crate::options::parse_archs(&settings.arch)?;
    if let Some(version) = &settings.ptx_version {
        version.parse::<PtxVersion>().map_err(|reason| Diagnostic::error(Code::Usage, reason))?;
    }
    let rustc = Rustc::query(&build.rustc)?;
    let sysroot = {
        let _span = timings::begin("sysroot");
        sysroot::ensure(&rustc, build.sysroot.as_deref(), progress)?
    };

    let device = device_manifest(build, &package, &settings.host_only)?;
    // cargo has no flags for the last crate of a check alone.
    let shares_root = aim == Aim::Check || device.has_crates_below(package.root());
    let build = &DeviceBuild { target_dir: target_dir(build, &package, shares_root), ..build.clone() };

    // Always in this order, so that two builds cannot wait for each other.
    let _target_lock = lock::lock(&build.target_dir, progress)?;
    let _out_lock = lock::lock(&build.out_dir, progress)?;
    let dropped = device.dropped.clone();
    let device = OnDisk { manifest: write_manifest(build, &package, device)?, dropped, shares_root };
    let features = build.features.names.iter().filter(|name| !device.dropped.contains(*name)).cloned();
    let link_args = (aim != Aim::Check).then(|| link_args(build, &package, &settings));
    let features: Vec<_> = features.collect();
    let args = cargo::arguments(build, &package, &device, &sysroot.path, &rustc, &features, link_args.as_deref())?;
    // Nobody else is at work in the folder.
    let measured = (aim == Aim::TimedBuild).then(|| build.target_dir.join(".ptx-timings"));
    run(&Run { build, package: &package, manifest: &device.manifest, args: &args, aim, measured, progress })
}

/// Where cargo compiles for the device: what is compiled with one workspace's root in its flags stands apart, or cargo would
/// compile it anew at every change of workspace in one target folder. It gives both the same name.
fn target_dir(build: &DeviceBuild, package: &Package, shares_root: bool) -> PathBuf {
    if !shares_root {
        return build.target_dir.clone();
    }
    let key = hash::stable([package.root().as_os_str().as_encoded_bytes()]);
    build.target_dir.join("workspaces").join(format!("{key:016x}"))
}

fn device_manifest(build: &DeviceBuild, package: &Package, host_only: &[String]) -> Result<DeviceManifest> {
    let library = package.library()?;
    let source = manifest::Source {
        package: &package.table,
        dir: package.dir(),
        root: &package.root_table,
        root_dir: package.root(),
        library: &library,
        host_only,
        tests: build.tests.then_some(&*build.profile),
    };
    Ok(DeviceManifest::generate(&source)
        .map_err(|reason| Diagnostic::error(Code::Usage, format!("`{}`: {reason}", package.manifest.display())))?)
}

fn write_manifest(build: &DeviceBuild, package: &Package, mut device: DeviceManifest) -> Result<PathBuf> {
    if build.tests {
        let dependencies = device.table.entry("dependencies").or_insert_with(|| toml::Table::new().into());
        harness::add(dependencies.as_table_mut().expect("it was made as a table"), &build.target_dir)?;
    }
    let key = hash::stable([package.manifest.as_os_str().as_encoded_bytes()]);
    let dir = build.target_dir.join("manifests").join(format!(
        "{}{}-{key:016x}",
        package.name,
        if build.tests { "-tests" } else { "" }
    ));
    std::fs::create_dir_all(&dir).map_err(|e| lock::failure(&dir, "create the folder", &e))?;
    let manifest = dir.join("Cargo.toml");
    let text = format!("# Written by rust-ptx from {}\n{}", package.manifest.display(), device.table);
    let changed = write_if_changed(&manifest, &text)?;
    if let Some(lock) = package.lock() {
        // cargo removes from the copy what the device does not need, so the copy says nothing about whether the
        // workspace's lock file has changed since.
        let content = std::fs::read_to_string(&lock).map_err(|e| lock::failure(&lock, "read", &e))?;
        if write_if_changed(&dir.join("Cargo.lock.workspace"), &content)? || changed {
            write_if_changed(&dir.join("Cargo.lock"), &content)?;
        }
    }
    Ok(manifest)
}

fn link_args(build: &DeviceBuild, package: &Package, settings: &Settings) -> Vec<String> {
    let debug_level = settings.debug_level.unwrap_or_else(|| profile::debug_level(&package.root_table, &build.profile));
    let mut args = vec![Settings { debug_level: Some(debug_level), ..settings.clone() }.to_link_arg()];
    args.push(format!("--out-dir={}", build.out_dir.display()));
    args.push(format!("--name={}", build.name.as_ref().unwrap_or(&package.name).replace('-', "_")));
    args.push(format!("--source-base={}", package.root().display()));
    args.push("--message-format=json".into());
    args.push(format!("--linker-id={}", cargo::linker_id()));
    args.extend(build.dump_dir.as_ref().map(|dir| format!("--dump-dir={}", dir.display())));
    args
}

/// One build with everything decided.
struct Run<'a> {
    build: &'a DeviceBuild,
    package: &'a Package,
    manifest: &'a Path,
    args: &'a [String],
    aim: Aim,
    /// Where the linker's measurements go, if they are wanted.
    measured: Option<PathBuf>,
    progress: &'a Progress,
}

impl Run<'_> {
    fn check(&self) -> Result<()> {
        let outcome = self.cargo()?;
        self.show(&outcome);
        if outcome.success { Ok(()) } else { Err(self.failure(outcome)) }
    }

    fn run(&self) -> Result<Built> {
        let mut outcome = self.cargo()?;
        let is_fresh = |outcome: &cargo::Outcome| outcome.messages.artifact(self.manifest).is_some_and(|a| a.fresh);
        let mut report = self.read_report();
        let is_current =
            |report: &Report| self.is_of_these_arguments() && !report.linked.iter().any(LinkedFile::has_changed);
        if outcome.success && is_fresh(&outcome) && !report.as_ref().is_some_and(is_current) {
            // cargo has the library, but the output folder holds another build's files, or none, or what the library was
            // linked with has changed, of which cargo does not know.
            cargo::forget(self.build, self.package, self.manifest)?;
            outcome = self.cargo()?;
            report = self.read_report();
        }
        self.show(&outcome);
        if !outcome.success {
            return Err(self.failure(outcome));
        }
        let mut report = report.ok_or_else(|| {
            Diagnostic::error(Code::CargoFailed, format!("the linker left no report in `{}`", self.build.out_dir.display()))
                .help("see that no `linker` is set for nvptx64-nvidia-cuda by `[target]` in cargo's configuration or RUSTFLAGS")
        })?;
        write_if_changed(&self.stamp(), &self.args.join("\n"))?;
        self.shorten_paths(&mut report.diagnostics);
        let sources = sources::of(self.package, self.manifest, &self.build.target_dir, &outcome.messages.artifacts);
        Ok(Built {
            sources: sources.into_iter().chain(report.linked.iter().map(|file| file.path.clone())).collect(),
            report,
            fresh: is_fresh(&outcome),
            source_base: self.package.root().to_path_buf(),
        })
    }

    fn cargo(&self) -> Result<cargo::Outcome> {
        let verb = if self.aim == Aim::Check { "Checking" } else { "Compiling" };
        let step = self.progress.step(format!("{verb} {} for the GPU", self.package.name));
        let _span = timings::begin("cargo");
        let begun = Instant::now();
        let outcome = cargo::run(self.build, self.package, self.args, self.measured.as_deref(), &step)?;
        drop(step);
        if let Some(file) = &self.measured {
            crate::timings::of_cargo(begun, outcome.dependencies, file);
        }
        Ok(outcome)
    }

    /// Says which arguments the files in the output folder came from.
    fn stamp(&self) -> PathBuf {
        self.build.out_dir.join(".ptx-arguments")
    }

    fn is_of_these_arguments(&self) -> bool {
        std::fs::read_to_string(self.stamp()).is_ok_and(|text| text == self.args.join("\n"))
    }

    /// The report, if all files in it are there.
    fn read_report(&self) -> Option<Report> {
        let text = std::fs::read_to_string(self.build.out_dir.join(report::FILE_NAME)).ok()?;
        let report: Report = serde_json::from_str(&text).ok()?;
        report.outputs.iter().all(|output| output.path.is_file()).then_some(report)
    }

    /// Shows rustc's messages. What rustc says after it did not find `std` is noise: our own message explains it.
    fn show(&self, outcome: &cargo::Outcome) {
        let messages = &outcome.messages;
        for message in &messages.rustc {
            let is_noise = messages.without_std.contains(&message.of);
            match (self.build.show, message.level) {
                (Show::Json, _) => println!("{}", message.json),
                _ if is_noise => {}
                // cargo shows warnings only of a script that succeeds.
                (Show::BuildScript, Some(Level::Warning)) if outcome.success => {
                    println!("cargo::warning={}", message.short);
                }
                (Show::BuildScript, Some(Level::Warning) | None) => {}
                _ => eprintln!("{}\n", message.rendered.trim_end_matches('\n')),
            }
        }
    }

    /// Paths below the workspace as rustc's messages have them.
    fn shorten_paths(&self, diagnostics: &mut [Diagnostic]) {
        for (span, _) in diagnostics.iter_mut().flat_map(|diagnostic| &mut diagnostic.spans) {
            if let Ok(path) = span.file.strip_prefix(self.package.root()) {
                span.file = path.to_path_buf();
            }
        }
    }

    /// Why cargo failed: our linker's errors, crates that need `std`, rustc's errors, or cargo's own.
    fn failure(&self, outcome: cargo::Outcome) -> Failure {
        let messages = outcome.messages;
        let mut diagnostics = messages.linker;
        if diagnostics.iter().all(|d| d.level == Level::Warning)
            && let Some(text) = messages.linker_text
        {
            diagnostics.push(
                Diagnostic::error(Code::CargoFailed, "the linker ended without a message of its own")
                    .note(text)
                    .help("this is a fault of rust-ptx: please report it, with the kernel if you can"),
            );
        }
        let lock = std::fs::read_to_string(self.manifest.with_file_name("Cargo.lock")).unwrap_or_default();
        let mut needs_std: Vec<Diagnostic> = messages
            .without_std
            .iter()
            .map(|found| needs_std::explain(found, self.package, self.manifest, &lock))
            .collect();
        // One dependency may bring several such crates: one message is enough.
        needs_std.dedup_by(|a, b| a.spans == b.spans && !a.spans.is_empty());
        diagnostics.extend(needs_std);
        if !diagnostics.iter().any(|d| d.level == Level::Error) {
            let errors = messages.rustc.iter().filter(|message| message.level == Some(Level::Error)).count();
            let message = format!("package `{}` could not be compiled for the GPU", self.package.name);
            let diagnostic = Diagnostic::error(Code::CargoFailed, message);
            diagnostics.push(match errors {
                0 => diagnostic.note(cargo_error(&outcome.stderr)),
                1 => diagnostic.note("rustc's error stands above"),
                _ => diagnostic.note(format!("rustc's {errors} errors stand above")),
            });
        }
        self.shorten_paths(&mut diagnostics);
        Failure { diagnostics, source_base: self.package.root().to_path_buf() }
    }
}

/// Cargo's own error, without its progress.
fn cargo_error(stderr: &str) -> String {
    let from = stderr.find("error").unwrap_or(0);
    format!("cargo said: {}", stderr[from..].trim())
}
