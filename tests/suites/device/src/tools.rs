//! What other programs and libraries of NVIDIA's say of this GPU, where they are: NVML by `Device::health`, and Nsight Compute with
//! the options and the reader of `cargo ptx profile`. compute-sanitizer has cases of its own, in `debugger.rs`.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use ptx::prelude::*;
use ptx::{Error, Image};
use ptx_survive_kernels as kernels;
use serde_json::{Value, json};

use crate::gpu::Gpu;
use crate::record::{Test, skippable_recorded};

#[path = "../../../../codegen/cargo-ptx/src/profile/mod.rs"]
mod profile;

static IMAGE: Image = ptx::image!("survive_lines");

/// The name of the child that ncu watches, and how often that launches.
const CHILD: &str = "launches for ncu";
const LAUNCHES: usize = 3;

/// Where NVIDIA's own packages put ncu, below a folder of the version.
const INSTALLED: &str = "/opt/nvidia/nsight-compute";

pub fn tests() -> Vec<Test> {
    vec![
        skippable_recorded("tools: the device's health by NVML", health),
        skippable_recorded("tools: ncu's tables as `cargo ptx profile` reads them", ncu),
    ]
}

fn health(gpu: &Gpu) -> Result<Value, String> {
    let health = match gpu.device.health() {
        Ok(health) => health,
        // The text says what is missing.
        Err(error @ Error::Health { .. }) => return Err(error.to_string()),
        Err(error) => panic!("{error}"),
    };
    let within =
        |value: Option<u32>, most: u32| assert!(value.is_none_or(|value| (1..=most).contains(&value)), "{health:?}");
    within(health.clock, 5_000);
    within(health.memory_clock, 20_000);
    within(health.celsius, 120);
    assert!(health.watts.is_none_or(|watts| (1.0..3_000.0).contains(&watts)), "{health:?}");
    assert!(health.clock.is_some() || health.celsius.is_some() || health.watts.is_some(), "{health:?}");
    Ok(json!({
        "clock": health.clock,
        "memory_clock": health.memory_clock,
        "watts": health.watts,
        "celsius": health.celsius,
        "corrected": health.corrected,
        "uncorrected": health.uncorrected,
    }))
}

fn ncu(gpu: &Gpu) -> Result<Value, String> {
    let ncu = find().ok_or("ncu was not found in PATH, in /usr/local/cuda/bin and in /opt/nvidia/nsight-compute")?;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (report, log) = (folder.path().join("profile.ncu-rep"), folder.path().join("log"));
    let program = std::env::current_exe().expect("a running program has a path");
    let mut command = Command::new(&ncu);
    command.args(["--force-overwrite", "--export"]).arg(&report).arg("--log-file").arg(&log);
    command.args(profile::measured()).args(["--launch-count", "2", "--kernel-name", "adds"]);
    let output = command.arg(program).args(["--child", CHILD]).output().expect("ncu starts");
    let said = std::fs::read_to_string(&log).unwrap_or_default();
    if said.contains(profile::NO_PERMISSION) {
        return Err(format!("this user may not read the GPU's counters ({})", profile::NO_PERMISSION));
    }
    assert!(output.status.success(), "{}\n{said}{}", output.status, String::from_utf8_lossy(&output.stderr));
    let lines = table(&ncu, &report, &profile::SOURCE);
    let details = table(&ncu, &report, &profile::DETAILS);
    let mut found: Vec<profile::Kernel> = profile::lines(&lines);
    profile::details(&details, &mut found);
    let [kernel] = &found[..] else { panic!("one kernel was to be found, and not {found:?}: {details}") };
    assert_eq!((kernel.name.as_str(), kernel.launches.len()), ("adds", 2), "{details}");
    for launch in &kernel.launches {
        assert!(launch.duration.is_some_and(|duration| (100.0..1e9).contains(&duration)), "{launch:?}: {details}");
        let share = |part: Option<f64>| part.is_some_and(|part| (0.0..=101.0).contains(&part));
        assert!(share(launch.compute) && share(launch.memory) && share(launch.occupancy), "{launch:?}: {details}");
    }
    // Of PTX that the driver has compiled there are no lines: what is built in is for one arch.
    if gpu.device.capability() == (9, 0) {
        assert!(kernel.lines.iter().any(|line| line.file.ends_with("survive/src/lib.rs")), "{lines}");
        assert!(kernel.lines.iter().map(|line| line.executed).sum::<f64>() > 0.0, "{lines}");
    }
    Ok(json!({ "ncu": version(&ncu), "text": profile::text(&found, 5, |file| file.to_owned()) }))
}

fn table(ncu: &Path, report: &Path, page: &[&str]) -> String {
    let mut command = Command::new(ncu);
    let output = command.arg("--import").arg(report).args(profile::TABLE).args(page).output().expect("ncu starts");
    assert!(output.status.success(), "{page:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn version(ncu: &Path) -> String {
    let output = Command::new(ncu).arg("--version").output().expect("ncu starts");
    String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_owned()
}

fn find() -> Option<PathBuf> {
    let of_versions =
        std::fs::read_dir(INSTALLED).into_iter().flatten().flatten().map(|entry| entry.path().join("ncu"));
    let mut all: Vec<PathBuf> = vec!["ncu".into(), "/usr/local/cuda/bin/ncu".into()];
    all.extend(of_versions);
    all.into_iter()
        .find(|path| Command::new(path).arg("--version").output().is_ok_and(|output| output.status.success()))
}

/// Launches what ncu is to measure.
pub fn child(name: &str) -> Option<ExitCode> {
    if name != CHILD {
        return None;
    }
    let result = (|| -> ptx::Result<()> {
        let device = Device::first()?;
        let module = device.load(&IMAGE)?;
        let x = device.upload(&vec![1_u32; 1 << 20])?;
        let mut y = device.zeroed::<u32>(1 << 20)?;
        (0..LAUNCHES).try_for_each(|_| kernels::adds(1, &x, &mut y).launch(&module, Grid::cover(1 << 20, 256)))?;
        device.synchronize()
    })();
    result.unwrap_or_else(|error| panic!("{error}"));
    Some(ExitCode::SUCCESS)
}
