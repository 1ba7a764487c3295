//! NVIDIA's command-line tools as data: which there are, where they lie, and what they say of themselves.
//!
//! Whoever asks for a compilation says where they are; nothing here looks for them.

mod version;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use serde::Serialize;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};

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
    /// Shows a cubin's machine code as text (SASS).
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
    /// By an option on the command line or in the manifest.
    Asked,
    /// By an environment variable of ours.
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
            Self::Asked => "set by an option",
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
    /// Which of NVIDIA's tools it is.
    pub name: Name,
    /// The executable, such as `/usr/local/cuda/bin/ptxas`.
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

    /// The archs that a ptxas knows, as in `sm_90a`.
    pub fn archs(&self) -> Result<&[String]> {
        let archs = self.archs.get_or_init(|| match version::archs(&self.ask("--help")?) {
            none if none.is_empty() => Err(self.failed("`--help` lists no archs".into()).into()),
            archs => Ok(archs),
        });
        archs.as_deref().map_err(Clone::clone)
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

    /// The error that it does not work.
    pub fn failed(&self, why: String) -> Diagnostic {
        let message = format!("{} at `{}` does not work: {why}", self.name, self.path.display());
        let code = if self.name == Name::Ptxas { Code::PtxasMissing } else { Code::ToolFailed };
        Diagnostic::error(code, message).help(match self.origin {
            Origin::Asked => {
                let name = self.name;
                format!("give the path of a {name} with `--{name}=PATH`, or leave the option out to have it found")
            }
            Origin::Explicit => format!("let {} name a {} that works, or unset it", self.name.variable(), self.name),
            Origin::Installed => "remove the folder `tools` of the cache and run `cargo ptx setup`".to_string(),
            _ => {
                "install the CUDA toolkit again, or run `cargo ptx setup` and unset CUDA_HOME and CUDA_PATH".to_string()
            }
        })
    }
}

/// NVIDIA's library of mathematical functions, LLVM bitcode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Libdevice {
    /// The bitcode file, which NVIDIA names `libdevice.10.bc`.
    pub path: PathBuf,
    /// How it was found.
    pub origin: Origin,
}

/// The tools that a compilation may call.
#[derive(Clone, Debug, Default)]
pub struct Tools {
    /// Those that are there.
    pub found: BTreeMap<Name, Tool>,
    /// The maths library, if it is there.
    pub libdevice: Option<Libdevice>,
    /// CUDA's device runtime, `libcudadevrt.a`, if it is there: kernels that launch kernels are linked with it.
    pub device_runtime: Option<PathBuf>,
}

impl Tools {
    /// One of them.
    pub fn get(&self, name: Name) -> Option<&Tool> {
        self.found.get(&name)
    }

    /// The assembler of PTX, where it was found.
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

    /// The disassembler of machine code, where it was found.
    pub fn nvdisasm(&self) -> Option<&Tool> {
        self.get(Name::Nvdisasm)
    }

    /// The printer of cubins and fatbins.
    pub fn cuobjdump(&self) -> Option<&Tool> {
        self.get(Name::Cuobjdump)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_work_says_who_named_it() {
        for (origin, help) in [
            (Origin::Asked, "with `--ptxas=PATH`"),
            (Origin::Explicit, "RUST_PTX_PTXAS"),
            (Origin::Installed, "cargo ptx setup"),
        ] {
            let error = Tool::at(Name::Ptxas, "/mine/ptxas", origin).version().unwrap_err().to_string();
            for part in ["PTX0012", "ptxas at `/mine/ptxas` does not work: cannot run it", help] {
                assert!(error.contains(part), "`{part}` is not in:\n{error}");
            }
        }
        let error = Tool::at(Name::Nvcc, "/mine/nvcc", Origin::Path).archs().unwrap_err().to_string();
        assert!(error.contains("PTX0022"), "{error}");
    }
}
