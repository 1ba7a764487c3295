//! Finds NVIDIA's command-line tools, and installs them where there are none.

mod install;
mod version;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde::Serialize;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};

pub use install::{PACKAGES, install, place, python_with_pip};

/// A tool of NVIDIA's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Name {
    /// The assembler: PTX to machine code.
    Ptxas,
    /// Packs machine code and PTX for several archs in one file.
    Fatbinary,
    /// The linker of relocatable device code.
    Nvlink,
    /// The CUDA C++ compiler.
    Nvcc,
    /// The disassembler.
    Nvdisasm,
    /// Prints what cubins and fatbins hold.
    Cuobjdump,
}

impl Name {
    /// Every tool; those that must be of one version first.
    pub const ALL: [Self; 6] =
        [Self::Ptxas, Self::Fatbinary, Self::Nvlink, Self::Nvcc, Self::Nvdisasm, Self::Cuobjdump];

    /// As on the command line.
    pub fn command(self) -> &'static str {
        match self {
            Self::Ptxas => "ptxas",
            Self::Fatbinary => "fatbinary",
            Self::Nvlink => "nvlink",
            Self::Nvcc => "nvcc",
            Self::Nvdisasm => "nvdisasm",
            Self::Cuobjdump => "cuobjdump",
        }
    }

    /// The environment variable that names the file, as in `RUST_PTX_PTXAS`.
    pub fn variable(self) -> String {
        format!("RUST_PTX_{}", self.command().to_uppercase())
    }

    /// Whether it must be of ptxas's version: the readers of machine code are apart, newer ones read older code.
    pub fn is_of_the_toolkit(self) -> bool {
        !matches!(self, Self::Nvdisasm | Self::Cuobjdump)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.command())
    }
}

/// How a tool was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// By an option or environment variable of ours.
    Explicit,
    /// By `CUDA_HOME` or `CUDA_PATH`.
    Toolkit,
    /// On `PATH`.
    Path,
    /// In the usual place, /usr/local/cuda.
    Usual,
    /// In our cache, from `cargo ptx setup`.
    Installed,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Explicit => "set by the environment",
            Self::Toolkit => "from CUDA_HOME or CUDA_PATH",
            Self::Path => "on PATH",
            Self::Usual => "in /usr/local/cuda",
            Self::Installed => "installed by `cargo ptx setup`",
        })
    }
}

/// A tool that was found. What it says of itself is asked when it is first wanted.
#[derive(Clone, Debug)]
pub struct Tool {
    /// Which.
    pub name: Name,
    /// The file.
    pub path: PathBuf,
    /// How it was found.
    pub origin: Origin,
    version: OnceLock<Result<String>>,
    archs: OnceLock<Result<Vec<String>>>,
}

impl Tool {
    /// A tool at a known place.
    pub fn at(name: Name, path: impl Into<PathBuf>, origin: Origin) -> Self {
        Self { name, path: path.into(), origin, version: OnceLock::new(), archs: OnceLock::new() }
    }

    /// As in `13.0.88`.
    pub fn version(&self) -> Result<&str> {
        let version = self.version.get_or_init(|| {
            let text = self.ask("--version")?;
            version::parse(&text)
                .ok_or_else(|| self.failed(format!("`--version` names no version: {}", text.trim())).into())
        });
        version.as_deref().map_err(Clone::clone)
    }

    fn ask(&self, arg: &str) -> Result<String> {
        let output =
            Command::new(&self.path).arg(arg).output().map_err(|e| self.failed(format!("cannot run it: {e}")))?;
        if !output.status.success() {
            let err = String::from_utf8_lossy(&output.stderr);
            return Err(self.failed(format!("`{arg}` ended with {}: {}", output.status, err.trim())).into());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn failed(&self, why: String) -> Diagnostic {
        let message = format!("{} at `{}` does not work: {why}", self.name, self.path.display());
        Diagnostic::error(Code::ToolFailed, message).help(match self.origin {
            Origin::Explicit => format!("let {} name a {} that works, or unset it", self.name.variable(), self.name),
            Origin::Installed => "remove the folder `tools` of the cache and run `cargo ptx setup`".to_string(),
            _ => {
                "install the CUDA toolkit again, or run `cargo ptx setup` and unset CUDA_HOME and CUDA_PATH".to_string()
            }
        })
    }
}

/// The archs that a ptxas knows, as in `sm_90a`.
pub fn known_archs(ptxas: &Tool) -> Result<Vec<String>> {
    ptxas.archs.get_or_init(|| Ok(version::archs(&ptxas.ask("--help")?))).clone()
}

/// NVIDIA's library of mathematical functions, LLVM bitcode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Libdevice {
    /// The file.
    pub path: PathBuf,
    /// How it was found.
    pub origin: Origin,
}

/// The environment variable that names libdevice's file.
pub const LIBDEVICE_VARIABLE: &str = "RUST_PTX_LIBDEVICE";

/// Where it lies, from the folder with ptxas: in toolkits, and as Debian packs them.
const LIBDEVICES: [&str; 2] =
    ["../nvvm/libdevice/libdevice.10.bc", "../lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc"];

/// The tools of this machine.
#[derive(Clone, Debug, Default)]
pub struct Tools {
    found: BTreeMap<Name, Tool>,
    libdevice: Option<Libdevice>,
}

impl Tools {
    /// Looks for every tool, and runs none.
    ///
    /// A variable such as `RUST_PTX_PTXAS` names one tool. The others come from the first of these places that has
    /// ptxas, so that they fit each other, and from the next ones only where it lacks them: `CUDA_HOME` or `CUDA_PATH`,
    /// `PATH`, /usr/local/cuda, our cache.
    pub fn find() -> Self {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let mut places = Vec::new();
        for root in ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(variable) {
            places.push((Origin::Toolkit, PathBuf::from(root).join("bin")));
        }
        let path = variable("PATH").unwrap_or_default();
        places.extend(std::env::split_paths(&path).map(|folder| (Origin::Path, folder)));
        places.push((Origin::Usual, "/usr/local/cuda/bin".into()));
        if let Ok(root) = place() {
            places.push((Origin::Installed, root.join("bin")));
        }
        let explicit =
            variable(LIBDEVICE_VARIABLE).map(|path| Libdevice { path: path.into(), origin: Origin::Explicit });
        let mut tools = Self::find_in(&places, |name| variable(&name.variable()).map(PathBuf::from));
        tools.libdevice = explicit.or(tools.libdevice);
        tools
    }

    fn find_in(places: &[(Origin, PathBuf)], explicit: impl Fn(Name) -> Option<PathBuf>) -> Self {
        let file = |folder: &Path, name: Name| {
            let file = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
            file.is_file().then_some(file)
        };
        let toolkit = places.iter().find(|(_, folder)| file(folder, Name::Ptxas).is_some());
        let found = Name::ALL.into_iter().filter_map(|name| {
            if let Some(path) = explicit(name) {
                return Some(Tool::at(name, path, Origin::Explicit));
            }
            let mut places = toolkit.into_iter().chain(places);
            places.find_map(|(origin, folder)| Some(Tool::at(name, file(folder, name)?, origin.clone())))
        });
        let libdevice = toolkit.into_iter().chain(places).find_map(|(origin, folder)| {
            let path = LIBDEVICES
                .iter()
                .map(|below| crate::project::normalized(&folder.join(below)))
                .find(|path| path.is_file());
            Some(Libdevice { path: path?, origin: origin.clone() })
        });
        Self { found: found.map(|tool| (tool.name, tool)).collect(), libdevice }
    }

    /// One of them.
    pub fn get(&self, name: Name) -> Option<&Tool> {
        self.found.get(&name)
    }

    /// The assembler.
    pub fn ptxas(&self) -> Option<&Tool> {
        self.get(Name::Ptxas)
    }

    /// The packer of fatbins.
    pub fn fatbinary(&self) -> Option<&Tool> {
        self.get(Name::Fatbinary)
    }

    /// The linker of relocatable device code.
    pub fn nvlink(&self) -> Option<&Tool> {
        self.get(Name::Nvlink)
    }

    /// The CUDA C++ compiler.
    pub fn nvcc(&self) -> Option<&Tool> {
        self.get(Name::Nvcc)
    }

    /// The disassembler.
    pub fn nvdisasm(&self) -> Option<&Tool> {
        self.get(Name::Nvdisasm)
    }

    /// The maths library.
    pub fn libdevice(&self) -> Option<&Libdevice> {
        self.libdevice.as_ref()
    }

    /// The printer of cubins and fatbins.
    pub fn cuobjdump(&self) -> Option<&Tool> {
        self.get(Name::Cuobjdump)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(path: PathBuf) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }

    #[test]
    fn tools_come_from_the_place_of_ptxas() {
        let temp = tempfile::tempdir().unwrap();
        let [a, b] = ["a", "b"].map(|name| temp.path().join(name));
        // What stands on PATH alone must not be mixed with the toolkit behind it.
        for file in ["fatbinary", "nvdisasm", "nvcc"] {
            touch(a.join(file));
        }
        for file in ["ptxas", "fatbinary", "nvlink"] {
            touch(b.join(file));
        }
        let places = [(Origin::Path, a.clone()), (Origin::Installed, b.clone())];
        let tools = Tools::find_in(&places, |_| None);
        assert_eq!(tools.ptxas().unwrap().path, b.join("ptxas"));
        assert_eq!(tools.fatbinary().unwrap().path, b.join("fatbinary"));
        assert_eq!(tools.nvlink().unwrap().origin, Origin::Installed);
        assert_eq!(tools.nvdisasm().unwrap().path, a.join("nvdisasm"));
        assert_eq!(tools.nvcc().unwrap().origin, Origin::Path);
        assert!(tools.cuobjdump().is_none());

        let tools = Tools::find_in(&places, |name| (name == Name::Ptxas).then(|| "/mine/ptxas".into()));
        assert_eq!(tools.ptxas().unwrap().path, Path::new("/mine/ptxas"));
        assert_eq!(tools.ptxas().unwrap().origin, Origin::Explicit);
        let error = tools.ptxas().unwrap().version().unwrap_err().to_string();
        assert!(error.contains("/mine/ptxas") && error.contains("RUST_PTX_PTXAS"), "{error}");
    }
}
