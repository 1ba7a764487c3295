//! Finds NVIDIA's command-line tools, and installs them where there are none.

use std::path::{Path, PathBuf};

use ptx_codegen::diagnostic::Result;
use ptx_codegen::tool::{Libdevice, Name, Origin, Tool, Tools};
use ptx_setup::tools::{self, Event, Place};

use crate::cache::diagnostic;
use crate::progress::Progress;

pub use ptx_setup::tools::{LICENCE, PACKAGES};

/// The environment variable that names libdevice's file.
pub const LIBDEVICE_VARIABLE: &str = "RUST_PTX_LIBDEVICE";

/// Where it lies, from the folder with ptxas: in toolkits, and as Debian packs them.
const LIBDEVICES: [&str; 2] =
    ["../nvvm/libdevice/libdevice.10.bc", "../lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc"];

/// Where CUDA's device runtime lies, from the same folder: in NVIDIA's packages for Python, in toolkits, and as Debian packs it.
const DEVICE_RUNTIMES: [&str; 4] = [
    "../lib/libcudadevrt.a",
    "../lib64/libcudadevrt.a",
    "../targets/x86_64-linux/lib/libcudadevrt.a",
    "../lib/x86_64-linux-gnu/libcudadevrt.a",
];

/// Looks for every tool, and runs none.
///
/// A variable such as `RUST_PTX_PTXAS` names one tool. The others come from the first of these places that has
/// ptxas, so that they fit each other, and from the next ones only where it lacks them: `CUDA_HOME` or `CUDA_PATH`,
/// `PATH`, /usr/local/cuda, our cache.
pub fn find() -> Tools {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let origin = |place| match place {
        Place::Toolkit => Origin::Toolkit,
        Place::Path => Origin::Path,
        Place::Usual => Origin::Usual,
        Place::Installed => Origin::Installed,
    };
    let places: Vec<_> = tools::places().into_iter().map(|(place, folder)| (origin(place), folder)).collect();
    let explicit = variable(LIBDEVICE_VARIABLE).map(|path| Libdevice { path: path.into(), origin: Origin::Explicit });
    let tools = find_in(&places, |name| variable(&name.variable()).map(PathBuf::from));
    Tools { libdevice: explicit.or(tools.libdevice), ..tools }
}

/// Where tools are or would be installed: a folder like a CUDA toolkit's, with `bin`, `include`, `lib` and `nvvm`.
pub fn place() -> Result<PathBuf> {
    Ok(tools::place().map_err(diagnostic)?)
}

/// Says what [`install`] fetches: what, how much, from where, to where, and under which terms.
pub fn download() -> Result<String> {
    Ok(tools::download().map_err(diagnostic)?)
}

/// The command of a Python 3 that has pip.
pub fn python_with_pip() -> Result<&'static str> {
    Ok(tools::python_with_pip().map_err(diagnostic)?)
}

/// Installs the tools unless they are installed, and says what it fetches; the result is [`place`].
pub fn install(progress: &Progress) -> Result<PathBuf> {
    let mut step = None;
    let mut hear = |event| match (event, &step) {
        (Event::Waiting, _) => progress.line("Waiting for another installation of NVIDIA's tools"),
        (Event::Begun(what), _) => {
            progress.line(&format!("Downloading {what}"));
            step = Some(progress.bar("Downloading NVIDIA's tools", 1 + PACKAGES.len() as u64));
        }
        (Event::Downloaded, Some(step)) => step.advance(1),
        (Event::Unpacking(package), Some(step)) => {
            step.message(&format!("Unpacking {package}"));
            step.advance(1);
        }
        (Event::Installed, Some(_)) => step.take().into_iter().for_each(|step| step.finish("Installed NVIDIA's tools")),
        (_, None) => {}
    };
    Ok(tools::install(&mut hear).map_err(diagnostic)?)
}

fn find_in(places: &[(Origin, PathBuf)], explicit: impl Fn(Name) -> Option<PathBuf>) -> Tools {
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
    let below = |folder: &Path, files: &[&str]| {
        files.iter().map(|below| ptx_codegen::files::normalized(&folder.join(below))).find(|path| path.is_file())
    };
    let libdevice = toolkit
        .into_iter()
        .chain(places)
        .find_map(|(origin, folder)| Some(Libdevice { path: below(folder, &LIBDEVICES)?, origin: origin.clone() }));
    let device_runtime = toolkit.into_iter().chain(places).find_map(|(_, folder)| below(folder, &DEVICE_RUNTIMES));
    Tools { found: found.map(|tool| (tool.name, tool)).collect(), libdevice, device_runtime }
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
        let tools = find_in(&places, |_| None);
        assert_eq!(tools.ptxas().unwrap().path, b.join("ptxas"));
        assert_eq!(tools.fatbinary().unwrap().path, b.join("fatbinary"));
        assert_eq!(tools.nvlink().unwrap().origin, Origin::Installed);
        assert_eq!(tools.nvdisasm().unwrap().path, a.join("nvdisasm"));
        assert_eq!(tools.nvcc().unwrap().origin, Origin::Path);
        assert!(tools.cuobjdump().is_none() && tools.device_runtime.is_none());

        touch(temp.path().join("lib64/libcudadevrt.a"));
        assert_eq!(find_in(&places, |_| None).device_runtime.unwrap(), temp.path().join("lib64/libcudadevrt.a"));

        let tools = find_in(&places, |name| (name == Name::Ptxas).then(|| "/mine/ptxas".into()));
        assert_eq!(tools.ptxas().unwrap().path, Path::new("/mine/ptxas"));
        assert_eq!(tools.ptxas().unwrap().origin, Origin::Explicit);
    }
}
