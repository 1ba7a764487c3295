//! The device build: cargo compiles a package's library for the GPU, with this program as rustc's linker.
//!
//! One package may hold the kernels and the host program. cargo would build everything in it for the device, so it
//! gets a manifest of our own ([`manifest`]) in the target folder, with the workspace's lock file beside it.

mod aim;
mod cargo;
mod harness;
mod lock;
mod locked;
pub mod manifest;
mod messages;
mod needs_std;
mod package;
mod profile;
mod request;
mod shelf;
mod sources;

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::options::{Settings, arch, near_misses};
use crate::progress::Progress;
use crate::sysroot;
use ptx_codegen::arch::{Arch, PtxVersion};
use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Failure, Level, Result};
use ptx_codegen::files::{absolute, normalized, write_if_changed};
use ptx_codegen::hash;
use ptx_codegen::report::{self, LinkedFile, Report};
use ptx_codegen::request::TARGET;
use ptx_codegen::timings::{self, Timings};

use aim::Aim;
use manifest::{DeviceManifest, OnDisk};
use shelf::Shelf;

pub use harness::checkout;
pub use package::Package;
pub use request::{CargoFlags, DeviceBuild, Features, Show};

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
/// The result is our own warnings.
pub fn check(build: &DeviceBuild, progress: &Progress) -> Result<Vec<Diagnostic>> {
    prepared(build, Aim::Check, progress, |run| run.check())
}

/// Has Clippy check it, with these arguments.
pub fn clippy(build: &DeviceBuild, args: &[String], progress: &Progress) -> Result<Vec<Diagnostic>> {
    let driver = sysroot::rustc(&build.rustc)?.beside("clippy-driver").ok_or_else(|| {
        Diagnostic::error(Code::CargoFailed, "the toolchain has no Clippy").help("run `rustup component add clippy`")
    })?;
    prepared(build, Aim::Clippy { driver, args: args.to_vec() }, progress, |run| run.check())
}

/// Documents the library as code for the device, with these options of `cargo doc`; the result is the page to begin with.
pub fn doc(build: &DeviceBuild, args: &[String], progress: &Progress) -> Result<PathBuf> {
    prepared(build, Aim::Doc { args: args.to_vec() }, progress, |run| {
        run.check()?;
        let library = run.package.library_name();
        Ok(run.build.target_dir.join(TARGET).join("doc").join(library).join("index.html"))
    })
}

/// The library's source for the device with macros expanded, as rustfmt writes it where that is there.
pub fn expand(build: &DeviceBuild, progress: &Progress) -> Result<String> {
    let rustc = sysroot::rustc(&build.rustc)?;
    if !rustc.is_nightly() {
        return Err(Diagnostic::error(Code::Usage, format!("rustc {} shows no expanded code", rustc.release))
            .help("use a nightly rustc, as in `cargo +nightly ptx expand`")
            .into());
    }
    let folder = tempfile::tempdir().map_err(|e| lock::failure(&std::env::temp_dir(), "write", &e))?;
    let to = folder.path().join("expanded.rs");
    prepared(build, Aim::Expand { to: to.clone() }, progress, |run| run.check())?;
    if let Some(rustfmt) = rustc.beside("rustfmt") {
        // Where it cannot, the text stands as rustc wrote it.
        let _ = std::process::Command::new(rustfmt).args(["--edition", "2024", "--quiet"]).arg(&to).output();
    }
    Ok(std::fs::read_to_string(&to).map_err(|e| lock::failure(&to, "read", &e))?)
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
    settings.arch = arch::archs(&settings.arch)?.into_iter().map(|arch| arch.name().into()).collect();
    if let Some(version) = &settings.ptx_version {
        version.parse::<PtxVersion>().map_err(|reason| Diagnostic::error(Code::Usage, reason))?;
    }
    let mut warnings = near_misses(&package.manifest);
    if package.root_manifest != package.manifest {
        warnings.extend(near_misses(&package.root_manifest));
    }
    let rustc = sysroot::rustc(&build.rustc)?;
    let sysroot = {
        let _span = timings::begin("sysroot");
        sysroot::ensure(&rustc, build.sysroot.as_deref(), progress)?
    };

    let device = device_manifest(build, &package, &settings.host_only)?;
    let shares_root = device.has_crates_below(package.root());
    let build = &DeviceBuild { target_dir: target_dir(build, &aim, &package, shares_root), ..build.clone() };

    // Always in this order, so that two builds cannot wait for each other.
    let _target_lock = lock::lock(&build.target_dir, progress)?;
    let _out_lock = lock::lock(&build.out_dir, progress)?;
    let dropped = device.dropped.clone();
    let device = OnDisk { manifest: write_manifest(build, &package, device)?, dropped, shares_root };
    if build.flags.locked {
        locked::check(build, &package, &device.manifest)?;
    }
    let link_args = link_args(build, &package, &settings);
    let args = cargo::arguments(build, &aim, &package, &device, &sysroot.path, &rustc, &link_args)?;
    // Nobody else is at work in the folder.
    let measured = (aim == Aim::TimedBuild).then(|| build.target_dir.join(".ptx-timings"));
    // What is compiled with one workspace's root in its flags is of no use to others.
    let is_shared = aim.links() && !build.tests && !shares_root;
    let shelf = || is_shared.then(|| Shelf::of(&device.manifest, &build.profile, &rustc, &sysroot.path)).flatten();
    // Not of a folder in which crates of several builds lie.
    let is_new = !build.target_dir.join(TARGET).exists();
    let known = shelf().filter(|_| is_new);
    if let Some(shelf) = &known {
        shelf.fill(&build.target_dir);
    }
    let done = run(&Run {
        build,
        package: &package,
        manifest: &device.manifest,
        args: &args,
        keeps: rustc.is_nightly(),
        aim: &aim,
        warnings,
        measured,
        progress,
    })?;
    // cargo has written the lock file where there was none.
    if is_new && let Some(shelf) = known.or_else(shelf) {
        shelf.keep(&build.target_dir);
    }
    Ok(done)
}

/// Where cargo compiles for the device: what is compiled with one workspace's root in its flags stands apart, or cargo would
/// compile it anew at every change of workspace in one target folder. It gives both the same name.
fn target_dir(build: &DeviceBuild, aim: &Aim, package: &Package, shares_root: bool) -> PathBuf {
    let key = hash::stable([package.root().as_os_str().as_encoded_bytes()]);
    let folder = match shares_root {
        true => build.target_dir.join("workspaces").join(format!("{key:016x}")),
        false => build.target_dir.clone(),
    };
    // cargo does not see that Clippy's messages are not rustc's.
    if matches!(aim, Aim::Clippy { .. }) { folder.join("clippy") } else { folder }
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
    aim: &'a Aim,
    /// Whether rustc keeps what it knows of the package's crate.
    keeps: bool,
    /// Of our own, about the manifest.
    warnings: Vec<Diagnostic>,
    /// Where the linker's measurements go, if they are wanted.
    measured: Option<PathBuf>,
    progress: &'a Progress,
}

impl Run<'_> {
    fn check(&self) -> Result<Vec<Diagnostic>> {
        let outcome = self.cargo()?;
        self.show(&outcome);
        if outcome.success { Ok(self.warnings.clone()) } else { Err(self.failure(outcome)) }
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
        report.diagnostics.extend(self.warnings.iter().cloned());
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
        // cargo says whether there is anything to do.
        let step = self.progress.silent();
        let _span = timings::begin("cargo");
        let begun = Instant::now();
        let mut outcome =
            cargo::run(self.build, self.aim, self.package, self.args, self.keeps, self.measured.as_deref(), &step)?;
        self.name_the_package(&mut outcome);
        drop(step);
        if let Some(file) = &self.measured {
            crate::timings::of_cargo(begun, outcome.dependencies, file);
        }
        Ok(outcome)
    }

    /// Users know their manifest, not the one that cargo was given.
    fn name_the_package(&self, outcome: &mut cargo::Outcome) {
        let folder = |manifest: &Path| manifest.parent().unwrap_or(manifest).display().to_string();
        let (generated, own) = (folder(self.manifest), folder(&self.package.manifest));
        let rename = |text: &mut String| {
            if text.contains(&generated) {
                *text = text.replace(&generated, &own);
            }
        };
        rename(&mut outcome.stderr);
        for message in &mut outcome.messages.rustc {
            [&mut message.rendered, &mut message.short, &mut message.json].into_iter().for_each(rename);
        }
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
            // rustc warns of the file that expanded code goes to.
            let is_of_expand = matches!(self.aim, Aim::Expand { .. }) && message.level != Some(Level::Error);
            let is_noise = messages.without_std.contains(&message.of) || is_of_expand;
            match (self.build.show, message.level) {
                (Show::Json, _) => println!("{}", message.json),
                _ if is_noise => {}
                // cargo shows warnings only of a script that succeeds.
                (Show::BuildScript, Some(Level::Warning)) if outcome.success => {
                    println!("cargo::warning={}", message.short);
                }
                (Show::BuildScript, Some(Level::Warning) | None) => {}
                _ if self.build.short => eprintln!("{}", message.rendered.trim_end_matches('\n')),
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
        diagnostics.extend(self.warnings.iter().cloned());
        self.shorten_paths(&mut diagnostics);
        Failure { diagnostics, source_base: self.package.root().to_path_buf() }
    }
}

/// Cargo's own error, without its progress.
fn cargo_error(stderr: &str) -> String {
    let from = stderr.find("error").unwrap_or(0);
    format!("cargo said: {}", stderr[from..].trim())
}
