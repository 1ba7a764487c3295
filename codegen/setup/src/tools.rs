//! Where NVIDIA's tools are looked for; and their installation from the Python package index into our cache, with Python's
//! own installer.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache::{self, Partial};
use crate::failure::Text;
use crate::{Failure, hash};

/// What is installed. Versions are pinned: tools of two CUDA releases do not fit each other. The last two have no
/// release for 13.0, and read what 13.0 writes.
pub const PACKAGES: [(&str, &str); 7] = [
    ("nvidia-cuda-nvcc", "13.0.88"),
    ("nvidia-nvvm", "13.0.88"),
    ("nvidia-cuda-crt", "13.0.88"),
    ("nvidia-cuda-runtime", "13.0.96"),
    ("nvidia-cuda-cccl", "13.0.85"),
    ("nvidia-cuda-cuobjdump", "13.2.51"),
    ("nvidia-cuda-nvdisasm", "13.2.51"),
];

/// What the packages take, in MB: as wheels for Linux on x86-64, and unpacked.
const SIZE: [u32; 2] = [110, 280];

/// The terms for all of them; each wheel has them in a file, too.
pub const LICENCE: &str = "https://docs.nvidia.com/cuda/eula/";

/// Where every package puts its files.
const ROOT: &str = "nvidia/cu13";

/// How far an installation is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Another process installs them.
    Waiting,
    /// What is fetched, as [`download`] says it.
    Begun(String),
    /// The packages are there.
    Downloaded,
    /// This package's turn.
    Unpacking(String),
    /// All is there.
    Installed,
}

/// What a folder with tools is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// `CUDA_HOME` or `CUDA_PATH` names it.
    Toolkit,
    /// In `PATH`.
    Path,
    /// Where NVIDIA's installer puts them.
    Usual,
    /// In our cache.
    Installed,
}

/// The folders in which tools are looked for, in this order, whether they are there or not.
pub fn places() -> Vec<(Place, PathBuf)> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let mut places = Vec::new();
    for root in ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(variable) {
        places.push((Place::Toolkit, PathBuf::from(root).join("bin")));
    }
    let path = variable("PATH").unwrap_or_default();
    places.extend(std::env::split_paths(&path).map(|folder| (Place::Path, folder)));
    places.push((Place::Usual, "/usr/local/cuda/bin".into()));
    if let Ok(root) = place() {
        places.push((Place::Installed, root.join("bin")));
    }
    places
}

/// Whether one of the places has a ptxas, or `RUST_PTX_PTXAS` names one.
pub fn has_ptxas() -> bool {
    let ptxas = format!("ptxas{}", std::env::consts::EXE_SUFFIX);
    std::env::var_os("RUST_PTX_PTXAS").is_some_and(|value| !value.is_empty())
        || places().iter().any(|(_, folder)| folder.join(&ptxas).is_file())
}

/// Where tools are or would be installed: a folder like a CUDA toolkit's, with `bin`, `include`, `lib` and `nvvm`.
pub fn place() -> Result<PathBuf, Failure> {
    Ok(folder()?.join(ROOT))
}

fn folder() -> Result<PathBuf, Failure> {
    let key = hash::stable(PACKAGES.into_iter().flat_map(<[&str; 2]>::from)) as u32;
    Ok(cache::root()?.join("tools").join(format!("cuda-{}-{key:08x}", PACKAGES[0].1)))
}

/// Says what [`install`] fetches: what, how much, from where, to where, and under which terms.
pub fn download() -> Result<String, Failure> {
    described(Python::find().ok())
}

fn described(python: Option<Python>) -> Result<String, Failure> {
    let names: Vec<String> = PACKAGES.iter().map(|(name, version)| format!("{name} {version}")).collect();
    let [packed, unpacked] = SIZE;
    Ok(format!(
        "NVIDIA's CUDA tools, about {packed} MB ({unpacked} MB unpacked), by pip from {}\n  \
         packages: {}\n  \
         to:       {}\n  \
         licence:  NVIDIA's, not this project's: {LICENCE}\n  \
         `cargo ptx setup --no-tools` leaves them out; a CUDA toolkit that CUDA_HOME names does as well",
        index(python),
        names.join(", "),
        folder()?.display(),
    ))
}

/// The package index that pip asks, without a password.
fn index(python: Option<Python>) -> String {
    let configured = || {
        let output =
            Command::new(python?.program).args(["-m", "pip", "config", "get", "global.index-url"]).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
    };
    let url = std::env::var("PIP_INDEX_URL").ok().or_else(configured).filter(|url| !url.is_empty());
    url.map_or_else(|| "https://pypi.org/simple".into(), |url| without_user(&url))
}

/// `https://host/path` of `https://user:password@host/path`.
fn without_user(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.into() };
    let (host, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    format!("{scheme}://{}{path}", host.rsplit('@').next().unwrap_or(host))
}

/// Installs the tools unless they are installed, and says what it fetches; the result is [`place`].
pub fn install(hear: &mut dyn FnMut(Event)) -> Result<PathBuf, Failure> {
    if let Some(partial) = Partial::begin(&folder()?, || hear(Event::Waiting))? {
        let python = Python::find()?;
        hear(Event::Begun(described(Some(python))?));
        let wheels = partial.path().join("wheels");
        python.download(&wheels)?;
        hear(Event::Downloaded);
        for wheel in files(&wheels)? {
            let file = wheel.file_name().unwrap_or_default().to_string_lossy();
            hear(Event::Unpacking(file.split('-').next().unwrap_or_default().replace('_', "-")));
            python.unpack(&wheel, partial.path())?;
        }
        cache::remove(&wheels)?;
        for folder in ["bin", "nvvm/bin"] {
            make_executable(&partial.path().join(ROOT).join(folder))?;
        }
        partial.publish()?;
        hear(Event::Installed);
    }
    place()
}

/// The command of a Python 3 that has pip.
pub fn python_with_pip() -> Result<&'static str, Failure> {
    Ok(Python::find()?.program)
}

#[derive(Clone, Copy)]
struct Python {
    program: &'static str,
}

impl Python {
    /// A Python 3 that has pip.
    fn find() -> Result<Self, Failure> {
        let answers = |program: &str, args: &[&str]| {
            Command::new(program).args(args).output().is_ok_and(|output| output.status.success())
        };
        let is_python_3 = ["-c", "import sys; sys.exit(sys.version_info < (3, 8))"];
        let Some(program) = ["python3", "python"].into_iter().find(|program| answers(program, &is_python_3)) else {
            return Err(Failure::Tools(missing("Python 3.8 or later was not found").help("install Python 3")));
        };
        // Running pip would take ten times as long.
        if !answers(program, &["-c", "import pip"]) {
            return Err(Failure::Tools(missing("Python has no pip").help(format!(
                "run `{program} -m ensurepip`, or install your system's package python3-pip, or make an environment with \
                 pip (`{program} -m venv DIR`) and put its `bin` first on PATH"
            ))));
        }
        Ok(Self { program })
    }

    /// All by one call: starting pip takes it longer than a small package.
    fn download(&self, to: &Path) -> Result<(), Failure> {
        let mut command = Command::new(self.program);
        command.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--no-input"]);
        command.args(["--disable-pip-version-check", "--dest"]).arg(to);
        command.args(PACKAGES.map(|(name, version)| format!("{name}=={version}")));
        self.run(command, "cannot download the packages")
    }

    fn unpack(&self, wheel: &Path, to: &Path) -> Result<(), Failure> {
        let mut command = Command::new(self.program);
        command.args(["-m", "zipfile", "-e"]).arg(wheel).arg(to);
        self.run(command, &format!("cannot unpack `{}`", wheel.display()))
    }

    fn run(&self, mut command: Command, what: &str) -> Result<(), Failure> {
        let output = command.output().map_err(|e| Failure::Tools(missing(&format!("{what}: {e}"))))?;
        if output.status.success() { Ok(()) } else { Err(explain(what, &String::from_utf8_lossy(&output.stderr))) }
    }
}

/// What pip's failure means.
fn explain(what: &str, text: &str) -> Failure {
    let text = text.trim();
    let lines: Vec<&str> = text.lines().collect();
    let last = lines[lines.len().saturating_sub(6)..].join("\n");
    if text.contains("No space left") || text.contains("Disk quota") {
        return Failure::Full(missing(what).note(last));
    }
    // pip says "no matching distribution" both where the index cannot be reached and where it lacks this system.
    Failure::Tools(
        missing(what)
            .note(last)
            .help("see that the network and pip's package index can be reached, and try again")
            .help("there are builds for Linux and Windows on x86-64, and for Linux on AArch64"),
    )
}

fn missing(message: &str) -> Text {
    Text::new(format!("NVIDIA's tools cannot be installed: {message}"))
        .note("a CUDA toolkit does as well, if CUDA_HOME names it; PTX alone needs none of the tools")
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = fs::read_dir(folder).map_err(Failure::cache("read", folder))?;
    Ok(entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect())
}

/// Python's unzip drops permissions.
#[cfg(unix)]
fn make_executable(folder: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt;
    for file in files(folder)? {
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).map_err(Failure::cache("write", &file))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> Result<(), Failure> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_pip_say_what_to_do() {
        let offline = "ERROR: Could not find a version that satisfies the requirement a==1 (from versions: none)\n\
                       ERROR: No matching distribution found for a==1\n";
        let text = explain("cannot download the packages", offline).to_string();
        assert!(text.contains("cannot download the packages"), "{text}");
        assert!(text.contains("No matching distribution") && text.contains("index can be reached"), "{text}");

        let full = format!("{}OSError: [Errno 28] No space left on device\n", "Traceback\n".repeat(50));
        let failure = explain("cannot download a 1", &full);
        let text = failure.to_string();
        assert!(matches!(failure, Failure::Full(_)), "{text}");
        assert!(text.matches("Traceback").count() < 10, "{text}");
    }

    #[test]
    fn what_is_fetched_is_said() {
        let text = download().unwrap();
        for part in ["about 110 MB", "280 MB unpacked", "nvidia-nvvm 13.0.88", "cuda/eula", "--no-tools", "CUDA_HOME"] {
            assert!(text.contains(part), "`{part}` is not in:\n{text}");
        }
        assert_eq!(without_user("https://me:secret@host.org/simple"), "https://host.org/simple");
        assert_eq!(without_user("https://host.org"), "https://host.org");
    }

    #[test]
    fn the_place_names_the_release() {
        let place = place().unwrap();
        assert!(place.ends_with(ROOT) && place.to_string_lossy().contains("cuda-13.0.88-"), "{}", place.display());
    }
}
