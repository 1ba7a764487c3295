//! `cargo ptx doctor`: what was found on this machine, what is missing, and what to do.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Serialize;

use ptx_codegen::libdevice::Library;
use ptx_codegen::tool::{Name, Origin, Tool, Tools};
use ptx_codegen::{LLVM_VERSION, RUSTC_RELEASE};
use ptx_project::cache;
use ptx_project::sysroot::{self, Rustc};
use ptx_project::tools;

use super::output::Format;

/// How something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// There, and as it should be.
    Ok,
    /// Works, but not for everything.
    Warning,
    /// Not there.
    Missing,
    /// Kernels cannot be compiled.
    Error,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Missing => "missing",
            Self::Error => "error",
        })
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// What it is.
    pub subject: String,
    /// How it stands.
    pub state: State,
    /// Version, place, or what is wrong.
    pub text: String,
    /// What to do, unless all is well.
    pub remedy: Option<String>,
}

impl Finding {
    fn new(subject: &str, state: State, text: impl Into<String>) -> Self {
        Self { subject: subject.into(), state, text: text.into(), remedy: None }
    }

    fn ok(subject: &str, text: impl Into<String>) -> Self {
        Self::new(subject, State::Ok, text)
    }

    fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

/// Everything that was looked at.
#[derive(Clone, Debug, Serialize)]
pub struct Examination {
    /// Whether kernels can be compiled to PTX.
    pub can_compile: bool,
    /// In the order in which they are needed.
    pub findings: Vec<Finding>,
}

/// Looks at everything; changes nothing.
pub fn examine(rustc: &Path) -> Examination {
    let mut findings = Vec::new();
    let cache = cache_finding();
    match sysroot::rustc(rustc) {
        Ok(rustc) => {
            findings.extend([rustc_finding(&rustc), llvm_finding(&rustc)]);
            findings.extend(sysroot_findings(&rustc));
        }
        Err(failure) => findings.push(failed("rustc", State::Error, &failure)),
    }
    findings.push(cache);
    let tools = tools::find();
    findings.extend(tool_findings(&tools));
    findings.push(libdevice_finding(&tools));
    findings.extend(tools.nvcc().map(host_compiler_finding));
    findings.push(driver_finding());
    findings.push(gpu_finding());
    findings.push(python_finding());
    Examination { can_compile: findings.iter().all(|finding| finding.state != State::Error), findings }
}

/// The verb: prints what was found; the result is whether kernels can be compiled.
pub fn run(rustc: &Path, format: Format) -> bool {
    let examination = examine(rustc);
    match format.is_json().then(|| serde_json::to_string(&examination)) {
        None => print!("{examination}"),
        Some(Ok(text)) => println!("{text}"),
        Some(Err(e)) => eprintln!("{e}"),
    }
    examination.can_compile
}

impl fmt::Display for Examination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.findings.iter().map(|finding| finding.subject.len()).max().unwrap_or(0);
        for finding in &self.findings {
            writeln!(f, "{:<8} {:<width$}  {}", finding.state, finding.subject, finding.text)?;
            if let Some(remedy) = &finding.remedy {
                writeln!(f, "{:<8} {:<width$}  -> {remedy}", "", "")?;
            }
        }
        writeln!(f)?;
        writeln!(f, "Kernels {} be compiled to PTX on this machine.", if self.can_compile { "can" } else { "cannot" })
    }
}

/// What a failure says, in the columns of a finding.
fn failed(subject: &str, state: State, failure: &ptx_codegen::Failure) -> Finding {
    let Some(diagnostic) = failure.diagnostics.first() else { return Finding::new(subject, state, "failed") };
    let finding = Finding::new(subject, state, &diagnostic.message);
    match &diagnostic.help[..] {
        [] => finding,
        help => finding.remedy(help.join("; ")),
    }
}

fn rustc_finding(rustc: &Rustc) -> Finding {
    let text = format!("{} in {}", rustc.release, rustc.sysroot.display());
    if rustc.is_nightly() {
        Finding::ok("rustc", text)
    } else {
        Finding::new("rustc", State::Warning, text)
            .remedy("nightly is the toolchain that is tested: `cargo +nightly …`")
    }
}

fn llvm_finding(rustc: &Rustc) -> Finding {
    if rustc.llvm == LLVM_VERSION {
        return Finding::ok("LLVM", format!("{LLVM_VERSION}, rustc's and ours"));
    }
    let major = |version: &str| version.split('.').next().map(str::to_string);
    let text = format!("rustc has {}, this program was built with {LLVM_VERSION} (rustc {RUSTC_RELEASE})", rustc.llvm);
    let state = if major(&rustc.llvm) == major(LLVM_VERSION) { State::Warning } else { State::Error };
    Finding::new("LLVM", state, text)
        .remedy("build this program again with the toolchain that compiles the kernels: `cargo install --force`")
}

fn sysroot_findings(rustc: &Rustc) -> Vec<Finding> {
    let mut findings = Vec::new();
    let place = sysroot::place(rustc, None);
    let built = place.as_ref().is_ok_and(|place| place.is_dir());
    findings.push(match sysroot::find_source(rustc, None) {
        Ok(library) => Finding::ok("library", format!("{} in {}", library.source, library.path.display())),
        // What is built already needs them no more.
        Err(failure) => failed("library", if built { State::Warning } else { State::Error }, &failure),
    });
    findings.push(match place {
        Ok(place) if built => Finding::ok("sysroot", place.display().to_string()),
        Ok(_) => Finding::new("sysroot", State::Missing, "not built yet; the first build takes less than a minute")
            .remedy("nothing: it is built when it is needed, or now by `cargo ptx setup`"),
        Err(failure) => failed("sysroot", State::Error, &failure),
    });
    let own = sysroot::place(rustc, None).ok();
    for (path, record) in sysroot::list().unwrap_or_default().into_iter().filter(|(path, _)| Some(path) != own.as_ref())
    {
        let text = format!("of rustc {}, {} MB in {}", record.release, cache::size(&path) / 1_000_000, path.display());
        findings.push(
            Finding::ok("other sysroot", text)
                .remedy("remove the folder if that rustc or version of ours is not used any more"),
        );
    }
    findings
}

fn cache_finding() -> Finding {
    let root = match cache::root() {
        Ok(root) => root,
        Err(failure) => return failed("cache", State::Error, &failure),
    };
    let text = format!("{} ({} MB)", root.display(), cache::size(&root) / 1_000_000);
    let nearest = root.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    match tempfile::tempfile_in(nearest) {
        Ok(_) => Finding::ok("cache", text),
        Err(e) => Finding::new("cache", State::Error, format!("{text} cannot be written: {e}"))
            .remedy(format!("make it writable, or set {} to a folder that is", cache::CACHE_VARIABLE)),
    }
}

fn tool_findings(tools: &Tools) -> Vec<Finding> {
    let toolkit = tools.ptxas().and_then(|ptxas| ptxas.version().ok());
    let mut findings: Vec<Finding> = Name::ALL
        .into_iter()
        .map(|name| {
            let Some(tool) = tools.get(name) else {
                let what = match name {
                    Name::Ptxas => "not found: PTX is not checked, and no cubins or fatbins can be written",
                    Name::Fatbinary => "not found: no fatbins can be written",
                    Name::Nvdisasm | Name::Cuobjdump => "not found: machine code cannot be shown",
                    Name::Nvlink => "not found: kernels cannot be linked with CUDA C++ when they are built",
                    Name::Nvcc => "not found: kernels cannot be linked with `.cu` files",
                };
                let remedy = "run `cargo ptx setup`, or install the CUDA toolkit and set CUDA_HOME";
                return Finding::new(name.command(), State::Missing, what).remedy(remedy);
            };
            let version = match tool.version() {
                Ok(version) => version,
                Err(failure) => return failed(name.command(), State::Warning, &failure),
            };
            let text = format!("{version}, {}, {}", tool.path.display(), tool.origin);
            match toolkit {
                Some(toolkit) if name.is_of_the_toolkit() && version != toolkit => {
                    Finding::new(name.command(), State::Warning, format!("{text}; ptxas is {toolkit}"))
                        .remedy("use tools of one CUDA release: set CUDA_HOME to one toolkit")
                }
                _ if tool.origin == Origin::Explicit => {
                    Finding::ok(name.command(), format!("{text} ({})", name.variable()))
                }
                _ => Finding::ok(name.command(), text),
            }
        })
        .collect();
    if let Some(Ok(archs)) = tools.ptxas().map(Tool::archs) {
        findings.push(Finding::ok("ptxas archs", archs.join(" ")));
    }
    findings
}

/// Which library computes mathematical functions.
fn libdevice_finding(tools: &Tools) -> Finding {
    let subject = "libdevice";
    let Some(found) = &tools.libdevice else {
        return Finding::new(
            subject,
            State::Missing,
            "not found: the crate `libm` serves, slower, and without `erfinv`, `normcdf` and a few others",
        )
        .remedy("run `cargo ptx setup`, or install the CUDA toolkit and set CUDA_HOME");
    };
    let variable =
        if found.origin == Origin::Explicit { format!(" ({})", tools::LIBDEVICE_VARIABLE) } else { String::new() };
    let text = format!("{}, {}{variable}", found.path.display(), found.origin);
    match Library::check(&found.path) {
        Ok(()) => Finding::ok(subject, text),
        // What `--libdevice=auto` finds must be usable.
        Err(failure) => failed(subject, State::Error, &failure),
    }
}

/// nvcc has the host compiler preprocess `.cu` files, so it is asked to.
fn host_compiler_finding(nvcc: &Tool) -> Finding {
    let subject = "host compiler";
    let named = std::env::var_os("NVCC_CCBIN").map(PathBuf::from);
    let remedy = "to link kernels with `.cu` files, install g++, or name another one by the variable NVCC_CCBIN";
    let try_it = || {
        let file = tempfile::Builder::new().suffix(".cu").tempfile()?;
        Command::new(&nvcc.path).arg("-E").arg(file.path()).output()
    };
    match try_it() {
        Ok(output) if output.status.success() => {
            let name = named.map_or_else(|| "the default one (g++)".into(), |path| path.display().to_string());
            Finding::ok(subject, format!("nvcc works with {name}"))
        }
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stderr);
            let reason = text.lines().next().unwrap_or("nvcc says nothing").trim();
            Finding::new(subject, State::Missing, format!("nvcc cannot use it: {reason}")).remedy(remedy)
        }
        Err(e) => Finding::new(subject, State::Missing, format!("cannot be tried: {e}")).remedy(remedy),
    }
}

fn driver_finding() -> Finding {
    let listed = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let usual = ["lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu", "lib64", "lib", "lib/wsl/lib"];
    let usual = usual.into_iter().map(|folder| Path::new("/usr").join(folder));
    let found: Option<PathBuf> = std::env::split_paths(&listed)
        .chain(usual)
        .map(|folder| folder.join("libcuda.so.1"))
        .find(|file| file.exists());
    match found {
        Some(file) => Finding::ok("driver", file.display().to_string()),
        None => Finding::new("driver", State::Missing, "libcuda.so.1 not found: kernels can be compiled, but not run")
            .remedy("to run kernels, install NVIDIA's driver on a machine with an NVIDIA GPU"),
    }
}

fn gpu_finding() -> Finding {
    let missing = |text: String| {
        Finding::new("GPU", State::Missing, text).remedy("kernels can be compiled here and run on a machine with a GPU")
    };
    let query = ["--query-gpu=name,compute_cap,driver_version", "--format=csv,noheader"];
    match Command::new("nvidia-smi").args(query).output() {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout);
            let gpus: Vec<String> = text.lines().filter_map(describe_gpu).collect();
            if gpus.is_empty() { missing("nvidia-smi lists none".into()) } else { Finding::ok("GPU", gpus.join("; ")) }
        }
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout);
            missing(format!("nvidia-smi: {}", text.lines().next().unwrap_or("failed")))
        }
        Err(_) => missing("not found (there is no nvidia-smi)".into()),
    }
}

/// `NVIDIA H200 (sm_90, driver 580.65.06)` for nvidia-smi's `NVIDIA H200, 9.0, 580.65.06`.
fn describe_gpu(line: &str) -> Option<String> {
    let mut fields = line.rsplitn(3, ", ");
    let (driver, capability, name) = (fields.next()?, fields.next()?, fields.next()?);
    Some(format!("{name} (sm_{}, driver {driver})", capability.replace('.', "")))
}

fn python_finding() -> Finding {
    match tools::python_with_pip() {
        Ok(program) => Finding::ok("Python", format!("{program}, with pip; `cargo ptx setup` uses it")),
        Err(failure) => failed("Python", State::Missing, &failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_are_described() {
        assert_eq!(describe_gpu("NVIDIA H200, 9.0, 580.65.06").unwrap(), "NVIDIA H200 (sm_90, driver 580.65.06)");
        assert_eq!(describe_gpu("A, B, 12.0, 580").unwrap(), "A, B (sm_120, driver 580)");
        assert_eq!(describe_gpu("no devices"), None);
    }

    #[test]
    fn only_what_compiling_needs_is_an_error() {
        let examination = examine(Path::new("/nonexistent/rustc"));
        assert!(!examination.can_compile);
        let errors: Vec<_> =
            examination.findings.iter().filter(|f| f.state == State::Error).map(|f| f.subject.as_str()).collect();
        assert_eq!(errors, ["rustc"]);
        for finding in examination.findings.iter().filter(|finding| finding.state != State::Ok) {
            assert!(finding.remedy.is_some(), "{finding:?}");
        }
        let text = examination.to_string();
        assert!(text.contains("cannot be compiled") && text.contains("/nonexistent/rustc"), "{text}");
    }

    #[test]
    fn a_missing_host_compiler_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let nvcc = dir.path().join("nvcc");
        std::fs::write(&nvcc, "#!/bin/sh\necho 'gcc: No such file or directory' >&2\nexit 1\n").unwrap();
        std::fs::set_permissions(&nvcc, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let finding = host_compiler_finding(&Tool::at(Name::Nvcc, nvcc, Origin::Path));
        assert_eq!(finding.state, State::Missing);
        assert!(finding.text.contains("gcc: No such file") && finding.remedy.unwrap().contains("g++"));
    }

    #[test]
    fn the_compiler_that_built_this_can_compile() {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let examination = examine(Path::new(&rustc));
        let state = |subject: &str| examination.findings.iter().find(|f| f.subject == subject).map(|f| f.state);
        assert_eq!(state("LLVM"), Some(State::Ok), "{examination}");
        assert_eq!(state("library"), Some(State::Ok), "{examination}");
    }
}
