//! Finds the program that compiles for the GPU, `cargo-ptx` of this version and for the rustc in force; builds it into the
//! user's cache where there is none.

mod identity;
mod make;
mod old;
mod sources;
mod terminal;

use std::env;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::thread::JoinHandle;
use std::time::Instant;

use ptx_setup::cache::{self, Partial};
use ptx_setup::sysroot::{self, Pace};
use ptx_setup::{Failure, Rustc, hash, tools};

use identity::Identity;
use terminal::Terminal;

pub use sources::Checkout;

/// The environment variable that names the program.
pub const VARIABLE: &str = "RUST_PTX_COMPILER";

/// The program's name.
const PROGRAM: &str = "cargo-ptx";

/// A program that fits.
#[derive(Clone, Debug)]
pub struct Compiler {
    /// What is run.
    pub program: PathBuf,
    /// What changes when another would be found.
    pub watched: Vec<PathBuf>,
}

/// Finds it, once for a build script, or says why there is none: the program that [`VARIABLE`] names; else one on `PATH`, in
/// cargo's folder for programs or, of a clone, in the folder in which cargo builds; else the one in the cache.
///
/// While it is built, so is what it needs next: `with_tools`, NVIDIA's tools too are installed, where there are none.
pub fn find(with_tools: bool) -> Result<&'static Compiler, &'static str> {
    static FOUND: OnceLock<Result<Compiler, String>> = OnceLock::new();
    FOUND.get_or_init(|| search(with_tools)).as_ref().map_err(String::as_str)
}

fn search(with_tools: bool) -> Result<Compiler, String> {
    let rustc = Rustc::query(&given("RUSTC").map_or_else(|| "rustc".into(), PathBuf::from))
        .map_err(|failure| failure.to_string())?;
    let checkout = Checkout::find()?;
    let wanted = Identity {
        version: env!("CARGO_PKG_VERSION").into(),
        rustc: rustc.release.clone(),
        llvm: rustc.llvm.clone(),
        sources: checkout.as_ref().map(|checkout| checkout.digest.clone()),
    };
    if let Some(program) = given(VARIABLE).map(PathBuf::from) {
        // From whatever sources: it was asked for.
        let wanted = Identity { sources: None, ..wanted };
        return match Identity::of(&program).map(|found| found.misfit(&wanted)) {
            Ok(None) => Ok(Compiler { watched: vec![program.clone()], program }),
            Ok(Some(reason)) | Err(reason) => {
                Err(format!("{VARIABLE} names `{}`, which cannot be used: {reason}", program.display()))
            }
        };
    }
    let mut watched: Vec<PathBuf> = checkout.iter().flat_map(Checkout::parts).collect();
    let fits = |program: &PathBuf| Identity::of(program).is_ok_and(|found| found.misfit(&wanted).is_none());
    if let Some(program) = candidates(checkout.is_some()).into_iter().find(fits) {
        watched.push(program.clone());
        return Ok(Compiler { program, watched });
    }
    Ok(Compiler { program: cached(&rustc, checkout.as_ref(), with_tools)?, watched })
}

/// Programs of that name which are there, in the order in which they are tried.
fn candidates(in_clone: bool) -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = env::split_paths(&path).collect();
    folders.extend(given("CARGO_HOME").map(|home| PathBuf::from(home).join("bin")));
    if in_clone && let Some(out_dir) = given("OUT_DIR") {
        // `<target>[/<triple>]/<profile>/build/<package>/out`
        let above = Path::new(&out_dir).ancestors().skip(2).take(5);
        folders.extend(above.flat_map(|folder| [folder.join("release"), folder.join("debug")]));
    }
    let program = format!("{PROGRAM}{}", env::consts::EXE_SUFFIX);
    let mut found: Vec<PathBuf> = Vec::new();
    for program in folders.into_iter().map(|folder| folder.join(&program)) {
        if program.is_file() && !found.contains(&program) {
            found.push(program);
        }
    }
    found
}

/// The one in the cache; built if it is not there.
fn cached(rustc: &Rustc, checkout: Option<&Checkout>, with_tools: bool) -> Result<PathBuf, String> {
    let version = env!("CARGO_PKG_VERSION");
    let text = |failure: Failure| failure.to_string();
    let compilers = cache::root().map_err(text)?.join("compiler");
    let of_rustc = format!("{version}-{}-{}", rustc.release, rustc.digest());
    let of_clone = checkout.map(|checkout| format!("{of_rustc}-{:08x}-", hash::stable([root(checkout)]) as u32));
    let folder = compilers.join(match (checkout, &of_clone) {
        (Some(checkout), Some(of_clone)) => format!("{of_clone}{}", checkout.digest),
        _ => of_rustc.clone(),
    });
    let terminal = Terminal::of_cargo();
    let waiting = || terminal.line("Waiting", "for another build of rust-ptx's compiler");
    if let Some(partial) = Partial::begin(&folder, waiting).map_err(text)? {
        let cargo = given("CARGO").map_or_else(|| "cargo".into(), PathBuf::from);
        let what = format!("rust-ptx's compiler {version} for rustc {}", rustc.release);
        terminal.line("Building", &format!("{what}, once for all packages"));
        let begun = Instant::now();
        // Who has a clone changes it, and then only what changed is compiled.
        let scratch = match checkout {
            Some(_) => compilers.join(format!("{of_rustc}-target")),
            None => partial.path().join("target"),
        };
        let meanwhile = [sysroot_meanwhile(rustc), tools_meanwhile(with_tools)];
        make::make(&cargo, rustc, checkout, partial.path(), &scratch).map_err(|reason| {
            format!("cannot build {what}\n{reason}\n\nhelp: {VARIABLE} may name a built {PROGRAM}")
        })?;
        if checkout.is_none() {
            cache::remove(&scratch).map_err(text)?;
        }
        partial.publish().map_err(text)?;
        terminal.line("Built", &format!("{what} in {:.1} s", begun.elapsed().as_secs_f64()));
        // What went wrong there goes wrong again in the compiler, which says so.
        meanwhile.into_iter().flatten().for_each(|thread| drop(thread.join()));
    }
    if let Some(of_clone) = of_clone {
        old::remove(&folder, &of_clone);
    }
    Ok(folder.join("bin").join(format!("{PROGRAM}{}", env::consts::EXE_SUFFIX)))
}

/// Builds the device's `core` and `alloc`, with what the compiler's build leaves idle: rustc compiles them on one core, as it
/// does the last crates of the compiler.
fn sysroot_meanwhile(rustc: &Rustc) -> Option<JoinHandle<()>> {
    let rustc = rustc.clone();
    let build = move || drop(sysroot::ensure(&rustc, None, Pace::Meanwhile, &mut |_| {}));
    given("RUST_PTX_SYSROOT").is_none().then(|| std::thread::spawn(build))
}

/// Installs NVIDIA's tools, which takes the network more than the processor.
fn tools_meanwhile(wanted: bool) -> Option<JoinHandle<()>> {
    let say = |event| {
        if let tools::Event::Begun(what) = event {
            Terminal::of_cargo().line("Downloading", what.lines().next().unwrap_or_default());
        }
    };
    let install = move || drop(tools::install(&mut { say }));
    (wanted && !tools::has_ptxas()).then(|| std::thread::spawn(install))
}

fn root(checkout: &Checkout) -> &[u8] {
    checkout.root.as_os_str().as_encoded_bytes()
}

fn given(variable: &str) -> Option<std::ffi::OsString> {
    env::var_os(variable).filter(|value| !value.is_empty())
}
