//! Packages compiled at a debug level, and CUDA C++ by nvcc.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use ptx_codegen::request::{DebugLevel, Emit};
use ptx_project::build;
use ptx_project::options::Settings;
use ptx_project::progress::Progress;
use ptx_project::tools;
use ptx_tests::Sample;
use ptx_tests::folders::{root, target_dir};
use ptx_tests::kernels;

/// The GPU that everything is compiled for.
pub const ARCH: &str = "sm_90";

/// The package that holds [`crate::twin`]'s kernels.
pub const KERNELS: &str = "tests/kernels/debug_info";

/// Packages that ptxas takes minutes for: only a run of the whole looks at them.
const LONG: [&str; 2] = ["tests/kernels/basics", "tests/kernels/syscalls"];

/// What a build wrote.
pub struct Built {
    pub ptx: String,
    pub cubin: Vec<u8>,
}

/// Compiles a package with a profile; or says why not. Every output is made once.
pub fn package(folder: &str, profile: &str, level: DebugLevel) -> Result<Built, String> {
    if links(folder) && tools::find().nvcc().is_none() {
        return Err("nvcc was not found, and this package is linked with CUDA C++".into());
    }
    manifest(&root().join(folder).join("Cargo.toml"), &folder.replace('/', "-"), profile, level)
}

/// The same by its `Cargo.toml` and a name for the output.
pub fn manifest(manifest: &Path, name: &str, profile: &str, level: DebugLevel) -> Result<Built, String> {
    static ONE: Mutex<()> = Mutex::new(());
    if tools::find().ptxas().is_none() {
        return Err("ptxas was not found".into());
    }
    // Builds share a target folder; and cargo would wait for the lock anyway.
    let _guard = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let target = target_dir();
    let out_dir = target.join("debug-tests").join(format!("{name}-{profile}-{level:?}"));
    let settings =
        Settings { arch: vec![ARCH.into()], emit: vec![Emit::Cubin], debug_level: Some(level), ..Settings::default() };
    let mut build =
        kernels::device_build(manifest.to_owned(), settings, out_dir.clone(), target.join("debug-tests/cargo"));
    build.profile = profile.into();
    build::report(&build, &Progress::quiet()).unwrap_or_else(|failure| panic!("{failure}"));
    let read = |extension: &str| {
        let entries = fs::read_dir(&out_dir).expect("the build made it").flatten().map(|entry| entry.path());
        let suffix = format!(".{ARCH}.{extension}");
        let path = entries.into_iter().find(|path| path.to_string_lossy().ends_with(&suffix)).expect("just written");
        fs::read(path).expect("just written")
    };
    Ok(Built { ptx: String::from_utf8(read("ptx")).expect("PTX is text"), cubin: read("cubin") })
}

/// The cubin that nvcc makes of twin.cu with `-g -G`.
pub fn twin() -> Option<Vec<u8>> {
    let tools = tools::find();
    let nvcc = tools.nvcc()?;
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let output = scratch.path().join("twin.cubin");
    let mut command = Command::new(&nvcc.path);
    command.args(["-cubin", "-g", "-G", &format!("-arch={ARCH}"), "-o"]).arg(&output);
    let run = command.arg(root().join(KERNELS).join("twin.cu")).output().expect("nvcc starts");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    Some(fs::read(output).expect("just written"))
}

/// The packages to look at, of the examples and the kernels of the tests, as folders.
pub fn folders() -> Vec<String> {
    let (sample, mut folders) = (Sample::asked(), all_folders());
    folders.retain(|folder| sample.whole || !LONG.contains(&folder.as_str()));
    sample.keeping("packages that do not take minutes", folders, 3, |folder| folder == KERNELS)
}

fn all_folders() -> Vec<String> {
    let mut folders = vec![
        KERNELS.to_string(),
        "tests/kernels/basics".into(),
        "tests/kernels/signatures".into(),
        "tests/kernels/syscalls".into(),
    ];
    find_kernels(&root().join("examples"), &mut folders);
    folders
}

fn find_kernels(folder: &Path, found: &mut Vec<String>) {
    let library = fs::read_to_string(folder.join("src/lib.rs")).unwrap_or_default();
    if folder.join("Cargo.toml").is_file() && library.contains("#[kernel") {
        found.push(folder.strip_prefix(root()).unwrap_or(folder).display().to_string());
    }
    let mut folders: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    folders.sort();
    folders.iter().filter(|path| path.is_dir()).for_each(|path| find_kernels(path, found));
}

fn links(folder: &str) -> bool {
    let manifest = fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap_or_default();
    manifest.lines().any(|line| line.starts_with("link = "))
}
