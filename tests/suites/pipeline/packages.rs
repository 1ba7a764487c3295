//! Packages with kernels, each compiled once for every GPU.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use ptx_project::options::Settings;
use ptx_project::options::float::FloatSettings;
use ptx_tests::folders::{root, target_dir};
use ptx_tests::{Sample, kernels};

/// Every GPU that a user is told of.
pub const ARCHS: [&str; 9] = ["sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_120"];

/// Oldest, widest and newest: ptxas takes the better part of a minute over the many kernels of the tests.
const FEW: [&str; 4] = ["sm_70", "sm_75", "sm_90a", "sm_120"];

/// libdevice asks for no other difference than that of sm_75.
const OF_MATHEMATICS: [&str; 4] = ["sm_75", "sm_80", "sm_90", "sm_120"];

/// A package that is compiled when the first test asks for it.
pub struct Package {
    /// Its folder, relative to the repository.
    pub folder: String,
    /// The GPUs that it is compiled for.
    pub archs: Vec<&'static str>,
    /// Of its outputs.
    name: String,
    float: FloatSettings,
    out: OnceLock<Result<PathBuf, String>>,
}

/// The examples, and the kernels of the tests.
pub fn all() -> Vec<Arc<Package>> {
    let examples = root().join("examples");
    let mut folders = vec![
        "tests/kernels/basics".to_string(),
        "tests/kernels/math".to_string(),
        "tests/kernels/signatures".to_string(),
    ];
    find_kernels(&examples, &mut folders);
    let package = |folder: String| {
        let (archs, name) = (archs(&folder), folder.replace('/', "-"));
        Arc::new(Package { folder, archs, name, float: FloatSettings::default(), out: OnceLock::new() })
    };
    folders.into_iter().map(package).collect()
}

/// The package of that folder, for one GPU.
pub fn one(folder: &str, arch: &'static str) -> Package {
    with(folder, arch, FloatSettings::default())
}

/// The same, compiled with floating-point modes.
pub fn with(folder: &str, arch: &'static str, float: FloatSettings) -> Package {
    let modes = if float == FloatSettings::default() { "" } else { "/modes" };
    let name = format!("{}/{arch}{modes}", folder.replace('/', "-"));
    Package { folder: folder.into(), archs: vec![arch], name, float, out: OnceLock::new() }
}

/// The GPUs for which ptxas is asked about a package.
fn archs(folder: &str) -> Vec<&'static str> {
    let (all, part) = match folder {
        "tests/kernels/basics" => (&FEW[..], 1),
        "tests/kernels/math" => (&OF_MATHEMATICS[..], 1),
        // What is linked goes through ptxas, which does not know the first.
        _ if links(folder) => (&ARCHS[1..], 2),
        _ => (&ARCHS[..], 2),
    };
    // Without those for which nothing but the PTX can be tested.
    let known = all.iter().copied().filter(|arch| *arch != "sm_70");
    let sample = Sample::asked();
    if sample.whole { all.to_vec() } else { sample.of("GPUs for a package, by ptxas -O0", known, part) }
}

/// Whether CUDA C++ is linked into the package.
fn links(folder: &str) -> bool {
    let manifest = fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap_or_default();
    manifest.lines().any(|line| line.starts_with("link = "))
}

/// Packages below `folder` whose library has kernels.
fn find_kernels(folder: &Path, found: &mut Vec<String>) {
    let library = fs::read_to_string(folder.join("src/lib.rs")).unwrap_or_default();
    if folder.join("Cargo.toml").is_file() && library.contains("#[kernel") {
        let name = folder.strip_prefix(root()).unwrap_or(folder);
        found.push(name.display().to_string());
    }
    let mut folders: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    folders.sort();
    folders.iter().filter(|path| path.is_dir()).for_each(|path| find_kernels(path, found));
}

impl Package {
    /// Whether CUDA C++ is linked in.
    pub fn links(&self) -> bool {
        links(&self.folder)
    }

    /// The PTX for one GPU.
    pub fn ptx(&self, arch: &str) -> PathBuf {
        let out = self.out.get_or_init(|| self.build()).as_ref().unwrap_or_else(|error| panic!("{error}"));
        let suffix = format!(".{arch}.ptx");
        let entries = fs::read_dir(out).expect("the build made it").flatten().map(|entry| entry.path());
        let mut named = entries.filter(|path| path.to_string_lossy().ends_with(&suffix));
        named.next().unwrap_or_else(|| panic!("no PTX for {arch} in {}", out.display()))
    }

    fn build(&self) -> Result<PathBuf, String> {
        let arch = self.archs.iter().map(ToString::to_string).collect();
        let ptxas = if self.links() { None } else { Some("off".into()) };
        let settings = Settings { arch, ptxas, float: self.float, ..Settings::default() };
        build(&self.folder, &self.name, settings, &[])
    }
}

/// Compiles the package in `folder`, into an output folder of that name.
pub fn build(folder: &str, name: &str, settings: Settings, features: &[&str]) -> Result<PathBuf, String> {
    let out_dir = target_dir().join("pipeline").join(name);
    kernels::build(folder, &out_dir, settings, features)?;
    Ok(out_dir)
}
