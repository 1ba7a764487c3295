//! Stands between cargo and rustc in the device build, to tell the kernels where their package really is.
//!
//! cargo sets `CARGO_MANIFEST_DIR` to the folder of the manifest that it builds, which is a generated one, and lets no
//! configuration change it. `include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/table.bin"))` must work in kernels
//! too, so this program is also cargo's `RUSTC_WORKSPACE_WRAPPER`: it sets the variable and becomes rustc.
//!
//! A nightly rustc is told here to keep what it knows of the package's crate, so that it compiles again only what has changed.
//! cargo would have it do that for debug builds alone, or for every build by a variable, and the crate is divided in another
//! way then: the PTX must not depend on that, so rustc always does it where it optimises for speed. There it also works on
//! several cores, which leaves what it writes as it is.
//!
//! For `cargo ptx run` it is the `RUSTC_WRAPPER` of the host's build as well, and notes of ours stand under
//! rustc's errors about device memory and launches.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};

use ptx_codegen::request::TARGET;

use crate::notes::with_host_note;

/// The environment variable with the package's real folder.
pub const VARIABLE: &str = "RUST_PTX_MANIFEST_DIR";

/// The environment variable with Clippy's driver, where that is to check in rustc's place.
pub const CLIPPY_VARIABLE: &str = "RUST_PTX_CLIPPY";

/// The environment variable with the workspace's root, where rustc is to show paths from there: in a check, whose rustc cargo
/// gives no flags of its own.
pub const ROOT_VARIABLE: &str = "RUST_PTX_ROOT";

/// The environment variable with the folder in which rustc keeps what it knows of the package's crate.
pub const INCREMENTAL_VARIABLE: &str = "RUST_PTX_INCREMENTAL";

/// rustc inlines what is small before LLVM does, at the levels 2 and 3, but not in a crate that it compiles incrementally.
/// Passes of ours would meet other loops.
const INLINE: &str = "-Zinline-mir=yes";

/// On how many cores rustc works at most: with more it gains little.
const MOST_THREADS: usize = 4;

/// rustc's exit status if the crate has errors.
const HAS_ERRORS: i32 = 1;

/// The code of a cycle among what rustc asks itself.
const CYCLE: &[u8] = b"E0391";

/// The environment variable that names the program which adds notes to rustc's messages in a host build.
pub const NOTES_VARIABLE: &str = "RUST_PTX_NOTES";

/// What says to cargo which rustc to run, and with what before it: there our notes have no place.
const OTHERS: [&str; 6] = [
    "RUSTC",
    WRAPPER_VARIABLE,
    "RUSTC_WORKSPACE_WRAPPER",
    "CARGO_BUILD_RUSTC",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER",
];

/// cargo's variable for what is run before every rustc.
pub const WRAPPER_VARIABLE: &str = "RUSTC_WRAPPER";

/// Has a cargo that builds for the host show our notes under rustc's errors: this program is called in place of rustc. Not
/// where variables, or cargo's configuration for this folder, name another rustc or a wrapper.
pub fn add_notes(cargo: &mut Command, folder: &Path) {
    let configured = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let configured = configured.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let folders = folder.ancestors().map(|folder| folder.join(".cargo")).chain(configured);
    let is_taken = OTHERS.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    if is_taken || folders.into_iter().any(|folder| names_rustc(&folder)) {
        return;
    }
    if let Ok(program) = std::env::current_exe() {
        cargo.env(WRAPPER_VARIABLE, &program).env(NOTES_VARIABLE, program);
    }
}

/// Whether cargo's configuration in that folder names a rustc.
fn names_rustc(folder: &Path) -> bool {
    let text = ["config.toml", "config"].iter().find_map(|name| std::fs::read_to_string(folder.join(name)).ok());
    let config: Option<toml::Table> = text.and_then(|text| text.parse().ok());
    let build = config.as_ref().and_then(|config| config.get("build")?.as_table());
    build.is_some_and(|build| build.keys().any(|key| key == "rustc" || key.ends_with("wrapper")))
}

/// If cargo calls this program so, so with rustc as the first argument, runs rustc and ends the process.
pub fn become_rustc_with_notes_if_asked() {
    let asked = std::env::var_os(NOTES_VARIABLE).map(PathBuf::from);
    if asked.is_none() || asked != std::env::current_exe().ok() {
        return;
    }
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    let Some((rustc, args)) = args.split_first().filter(|(first, _)| is_rustc(first)) else { return };
    // cargo shows nobody the warnings of other packages, and asks rustc for its version, too.
    let is_shown = std::env::var_os("CARGO_PRIMARY_PACKAGE").is_some();
    let mut command = Command::new(rustc);
    command.args(args);
    let status = if is_shown { with_notes(&mut command) } else { command.status() };
    end(rustc, status)
}

/// Runs rustc, and hands on its messages with our notes among them.
fn with_notes(command: &mut Command) -> std::io::Result<ExitStatus> {
    let mut child = command.stderr(Stdio::piped()).spawn()?;
    let mut own = std::io::stderr();
    for line in child.stderr.take().into_iter().flat_map(|stderr| BufReader::new(stderr).split(b'\n')) {
        let mut line = line?;
        if let Some(noted) = std::str::from_utf8(&line).ok().and_then(with_host_note) {
            line = noted.into_bytes();
        }
        line.push(b'\n');
        own.write_all(&line)?;
    }
    child.wait()
}

/// Has rustc show paths below a folder as seen from there, in messages and in `file!()`.
pub fn remap(root: &str) -> [String; 2] {
    [format!("--remap-path-prefix={root}/="), "--remap-path-scope=macro,diagnostics".into()]
}

/// If cargo calls this program as the wrapper, so with rustc as the first argument, runs rustc and ends the process.
pub fn become_rustc_if_asked(args: &[OsString]) {
    let Some(dir) = std::env::var_os(VARIABLE) else { return };
    let Some((rustc, args)) = args.split_first().filter(|(first, _)| is_rustc(first)) else { return };
    // cargo describes a package, unless it asks rustc for its version.
    let is_package = std::env::var_os("CARGO_MANIFEST_DIR").is_some();
    let is_primary = std::env::var_os("CARGO_PRIMARY_PACKAGE").is_some();
    let kept = std::env::var_os(INCREMENTAL_VARIABLE).filter(|_| is_package);
    let command = || {
        let clippy = std::env::var_os(CLIPPY_VARIABLE).filter(|_| is_primary);
        let mut command = Command::new(clippy.as_ref().unwrap_or(rustc));
        // Clippy's driver is a wrapper of rustc itself.
        command.args(clippy.is_some().then_some(rustc)).args(args);
        // Not of a host's rustc that a build script of the device build runs.
        command.env_remove(ptx_abi::DEVICE_ONLY_VARIABLE);
        if is_for_device(args) {
            command.env(ptx_abi::DEVICE_ONLY_VARIABLE, "1");
        }
        if is_package {
            command.env("CARGO_MANIFEST_DIR", &dir);
            let root = std::env::var(ROOT_VARIABLE);
            command.args(root.iter().flat_map(|root| remap(root)));
        }
        if let Some(folder) = &kept {
            command.args(incrementally(args, is_primary.then_some(folder)));
        }
        command
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = kept.as_ref().filter(|_| is_primary).and_then(|_| threads(args, cores));
    end(rustc, threads.map_or_else(|| command().status(), |threads| on_threads(command, &threads)))
}

/// Runs rustc on several threads; once more on one, if it breaks off, or says what only several threads may have it say: that is
/// its bug, and no error of the crate.
fn on_threads(command: impl Fn() -> Command, threads: &str) -> std::io::Result<ExitStatus> {
    let Output { status, stderr, .. } =
        command().arg(threads).stdout(Stdio::inherit()).stderr(Stdio::piped()).output()?;
    let is_of_threads = !status.success()
        && (status.code() != Some(HAS_ERRORS) || stderr.windows(CYCLE.len()).any(|part| part == CYCLE));
    if is_of_threads {
        return command().status();
    }
    std::io::stderr().write_all(&stderr)?;
    Ok(status)
}

/// What tells rustc to work on several cores, if nobody said on how many.
fn threads(args: &[OsString], cores: usize) -> Option<String> {
    let mut args_of_z = args.iter().filter_map(|arg| arg.to_str()).map(|arg| arg.strip_prefix("-Z").unwrap_or(arg));
    let is_said = args_of_z.any(|arg| arg.starts_with("threads="));
    (is_fast(args) && !is_said && cores > 1).then(|| format!("-Zthreads={}", cores.min(MOST_THREADS)))
}

/// Whether rustc compiles for the device: cargo has it compile build scripts and macros, too.
fn is_for_device(args: &[OsString]) -> bool {
    args.windows(2).any(|pair| pair[0] == "--target" && pair[1] == TARGET)
}

/// What rustc is told beside what cargo told it: of the package's crate, which is kept in the folder, or another.
fn incrementally(args: &[OsString], folder: Option<&OsString>) -> Vec<OsString> {
    if !is_fast(args) {
        return Vec::new();
    }
    let own = match (codegen_option(args, "incremental"), folder) {
        (Some(_), _) => None,
        (None, Some(folder)) => Some([OsStr::new("-Cincremental="), folder.as_os_str()].into_iter().collect()),
        (None, None) => return Vec::new(),
    };
    own.into_iter().chain([INLINE.into()]).collect()
}

/// Whether rustc optimises for speed.
fn is_fast(args: &[OsString]) -> bool {
    matches!(codegen_option(args, "opt-level"), Some("2" | "3"))
}

/// The last value of an option such as `-Copt-level=3`.
fn codegen_option<'a>(args: &'a [OsString], name: &str) -> Option<&'a str> {
    let args = args.iter().filter_map(|arg| arg.to_str());
    args.filter_map(|arg| arg.strip_prefix("-C").unwrap_or(arg).strip_prefix(name)?.strip_prefix('=')).next_back()
}

/// Ends this process as rustc ended.
fn end(rustc: &OsStr, status: std::io::Result<ExitStatus>) -> ! {
    let code = match status {
        Ok(status) => status.code().unwrap_or(101),
        Err(error) => {
            eprintln!("error: cannot run `{}`: {error}", rustc.display());
            101
        }
    };
    std::process::exit(code);
}

/// rustc gives its linker options and objects, never a program called rustc.
fn is_rustc(first: &OsStr) -> bool {
    Path::new(first).file_stem().is_some_and(|stem| stem == "rustc")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configured_rustc_is_seen() {
        for (text, expected) in [
            ("[build]\nrustc-wrapper = \"sccache\"\n", true),
            ("[build]\nrustc = \"own\"\n", true),
            ("[build]\nrustc-workspace-wrapper = \"own\"\n", true),
            ("[build]\nbuild-dir = \"own\"\nrustflags = []\n", false),
            ("build = 1\n", false),
            ("[build", false),
        ] {
            let folder = tempfile::tempdir().expect("a temporary folder");
            assert!(!names_rustc(folder.path()));
            std::fs::write(folder.path().join("config.toml"), text).expect("our own folder");
            assert_eq!(names_rustc(folder.path()), expected, "{text}");
        }
    }

    #[test]
    fn macros_and_build_scripts_are_not_for_the_device() {
        let args = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert!(is_for_device(&args("--crate-name k --target nvptx64-nvidia-cuda -Clinker=x")));
        assert!(!is_for_device(&args("--crate-name build_script_build --crate-type bin")));
        assert!(!is_for_device(&args("--crate-name k --target x86_64-unknown-linux-gnu")));
    }

    #[test]
    fn the_crate_is_compiled_incrementally_where_it_is_made_fast() {
        let folder = OsString::from("/kept");
        for (args, is_primary, expected) in [
            ("-C opt-level=3", true, "-Cincremental=/kept -Zinline-mir=yes"),
            ("-Copt-level=2", true, "-Cincremental=/kept -Zinline-mir=yes"),
            ("-C opt-level=3 -C incremental=/cargo", true, "-Zinline-mir=yes"),
            ("-C opt-level=3 -C incremental=/cargo", false, "-Zinline-mir=yes"),
            ("-C opt-level=3", false, ""),
            ("-C opt-level=3 -Copt-level=s", true, ""),
            ("-C opt-level=1 -C incremental=/cargo", true, ""),
            ("-C debuginfo=2", true, ""),
        ] {
            let args: Vec<OsString> = args.split(' ').map(Into::into).collect();
            let own = incrementally(&args, is_primary.then_some(&folder));
            assert_eq!(own.join(OsStr::new(" ")), OsStr::new(expected), "{args:?}");
        }
    }

    #[test]
    fn several_cores_are_used_where_nobody_said_how_many() {
        for (args, cores, expected) in [
            ("-C opt-level=3", 2, Some("-Zthreads=2")),
            ("-Copt-level=2", 64, Some("-Zthreads=4")),
            ("-Copt-level=3", 1, None),
            ("-Copt-level=1", 8, None),
            ("-Copt-level=3 -Zthreads=1", 8, None),
            ("-Copt-level=3 -Z threads=8", 8, None),
        ] {
            let args: Vec<OsString> = args.split(' ').map(Into::into).collect();
            assert_eq!(threads(&args, cores).as_deref(), expected, "{args:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn rustc_is_run_again_on_one_thread_if_it_breaks_off() {
        let rustc = |script: &'static str| {
            move || {
                let mut command = Command::new("sh");
                command.args(["-c", script, "rustc"]);
                command
            }
        };
        let code = |script| on_threads(rustc(script), "-Zthreads=2").expect("a shell").code();
        assert_eq!(code("exit $#"), Some(HAS_ERRORS), "errors of the crate are said once");
        assert_eq!(code("[ $# = 0 ] || exit 101"), Some(0));
        assert_eq!(code("[ $# = 0 ] || kill -ABRT $$"), Some(0));
        assert_eq!(code("[ $# = 0 ] && exit 3; exit 0"), Some(0));
        assert_eq!(code("exit 101"), Some(101));
        assert_eq!(code("[ $# = 0 ] && exit 0; echo 'error[E0391]: a cycle' >&2; exit 1"), Some(0), "with one thread");
    }

    #[test]
    fn only_rustc_is_rustc() {
        for (first, expected) in [
            ("/t/bin/rustc", true),
            ("rustc", true),
            ("rustc.exe", true),
            ("--export-symbol", false),
            ("/t/rustc-x.o", false),
        ] {
            assert_eq!(is_rustc(OsStr::new(first)), expected, "{first}");
        }
    }
}
