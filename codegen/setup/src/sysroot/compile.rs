//! Compiles `core`, `compiler_builtins` and `alloc` for the device.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Library, Source};
use crate::failure::Text;
use crate::{Failure, Rustc, cache, hash};

/// The target that kernels are compiled for.
pub const TARGET: &str = "nvptx64-nvidia-cuda";

/// How far a build is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Another process builds it.
    Waiting,
    /// It begins, with sources from there.
    Begun(Source),
    /// This crate's turn, of [`CRATES`].
    Compiling(&'static str),
    /// It is there.
    Built(Source),
}

/// How fast a build is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Somebody waits for it.
    Full,
    /// While something else is built, and with what that leaves of the processor.
    Meanwhile,
}

/// What is built, in this order.
pub const CRATES: [&str; 3] = ["core", "compiler_builtins", "alloc"];

/// Counts changes of what a sysroot holds that neither [`OPTIONS`] nor [`BUILTINS`] shows.
const FORMAT: u32 = 2;

/// How much `core` gives way to the compiler that is built beside it. It must be done when the compiler is: with `nice`'s own 10
/// it gets a tenth of a processor, and is waited for; with 0 the compiler's last crates, one after the other, have a
/// processor more than they can use.
const NICE: [&str; 2] = ["-n", "5"];

/// The crate that stands for `compiler_builtins`, carried along so that an installed program has it.
const BUILTINS: &[(&str, &str)] = &[
    ("lib.rs", include_str!("builtins/lib.rs")),
    ("float.rs", include_str!("builtins/float.rs")),
    ("int.rs", include_str!("builtins/int.rs")),
    ("mem.rs", include_str!("builtins/mem.rs")),
];

/// How the crates are compiled. Several codegen units: on two cores `core` takes two thirds of the time of one. No
/// debug information: it would double the bitcode that every link reads, and generic and inline functions, which are most
/// of what kernels use, get theirs from the user's crate.
const OPTIONS: &[&str] = &[
    "--crate-type=rlib",
    "-Copt-level=3",
    "-Cpanic=abort",
    "-Cembed-bitcode=yes",
    "-Ccodegen-units=16",
    // Its items are the library's own: users cannot name those that are unstable.
    "-Zforce-unstable-if-unmarked",
    "--cap-lints=allow",
];

/// The folder name of a sysroot: changes whenever it would come out differently.
pub fn key(rustc: &Rustc, explicit: Option<&Path>) -> String {
    let format = FORMAT.to_string();
    let commit = rustc.commit_hash.as_deref().unwrap_or_default();
    let explicit = explicit.map_or(&[][..], |path| path.as_os_str().as_encoded_bytes());
    let mut parts = vec![&*format, &rustc.release, commit, &rustc.host, TARGET];
    parts.extend(OPTIONS);
    parts.extend(BUILTINS.iter().flat_map(|(name, text)| [name, text]));
    let key = hash::stable(parts.into_iter().map(str::as_bytes).chain([explicit]));
    format!("{}-{key:016x}", rustc.release)
}

/// Fills the folder `sysroot`.
pub fn build(
    rustc: &Rustc,
    library: &Library,
    sysroot: &Path,
    pace: Pace,
    hear: &mut dyn FnMut(Event),
) -> Result<(), Failure> {
    hear(Event::Begun(library.source));
    let scratch = sysroot.join("scratch");
    let folder = library_folder(sysroot);
    let builtins = scratch.join("compiler_builtins");
    for folder in [&scratch, &folder, &builtins] {
        fs::create_dir_all(folder).map_err(Failure::cache("create", folder))?;
    }
    for (name, text) in BUILTINS {
        let file = builtins.join(name);
        fs::write(&file, text).map_err(Failure::cache("write", &file))?;
    }
    let sources = library.unpack(&scratch.join("library"))?;
    let build = Build { rustc, pace, sources: &sources, sysroot };
    for name in CRATES {
        hear(Event::Compiling(name));
        let folder = if name == "compiler_builtins" { builtins.clone() } else { sources.join(name).join("src") };
        build.compile(name, &folder.join("lib.rs"))?;
    }
    cache::remove(&scratch)?;
    hear(Event::Built(library.source));
    Ok(())
}

struct Build<'a> {
    rustc: &'a Rustc,
    pace: Pace,
    sources: &'a Path,
    sysroot: &'a Path,
}

impl Build<'_> {
    fn command(&self) -> Command {
        let compiler = self.rustc.compiler();
        match self.pace {
            Pace::Full => Command::new(compiler),
            // POSIX has it; where it is missing, the compiler builds the sysroot when it needs it.
            Pace::Meanwhile => {
                let mut command = Command::new("nice");
                command.args(NICE).arg(compiler);
                command
            }
        }
    }

    fn compile(&self, name: &str, root: &Path) -> Result<(), Failure> {
        let mut command = self.command();
        command.args(["--crate-name", name, "--edition=2024", "--target", TARGET]).args(OPTIONS);
        command.arg(root).arg("--out-dir").arg(library_folder(self.sysroot)).arg("--sysroot").arg(self.sysroot);
        // The names that rustc's own libraries have in panics and debug information, wherever the sources lie here.
        let library = self.rustc.library();
        let remap = |from: &Path, to: &str| format!("--remap-path-prefix={}={library}{to}", from.display());
        command.arg(remap(self.sources, ""));
        command.arg(remap(&self.sysroot.join("scratch/compiler_builtins"), "/compiler_builtins"));
        // Only here: the library is written in unstable Rust.
        if !self.rustc.is_nightly() {
            command.env("RUSTC_BOOTSTRAP", "1");
        }
        let output = command.output().map_err(|e| {
            let message = format!("cannot run `{}`: {e}", self.rustc.compiler().display());
            Failure::Library(Text::new(message).help("install the toolchain again"))
        })?;
        if output.status.success() {
            return Ok(());
        }
        let messages = String::from_utf8_lossy(&output.stderr);
        let message = format!("rustc {} could not compile `{name}` for the device", self.rustc.release);
        let full = messages.contains("No space left on device") || messages.contains("Disk quota exceeded");
        if full {
            let disk = format!("{message}: the disk with `{}` is full", self.sysroot.display());
            return Err(Failure::Full(Text::new(disk)));
        }
        Err(Failure::Library(
            Text::new(message)
                .note(shorten(&messages))
                .help("use the nightly toolchain; where it fails on that too, please report it"),
        ))
    }
}

/// The first error and the last lines: a broken library gives thousands.
fn shorten(messages: &str) -> String {
    const LINES: usize = 40;
    let lines: Vec<&str> = messages.lines().collect();
    match lines.get(..LINES) {
        Some(first) => format!("{}\n… and {} more lines", first.join("\n"), lines.len() - LINES),
        None => lines.join("\n"),
    }
}

/// Where rustc looks for the device's libraries.
pub fn library_folder(sysroot: &Path) -> PathBuf {
    sysroot.join("lib/rustlib").join(TARGET).join("lib")
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// What `nice` says of itself, run so.
    fn niceness(command: &mut Command) -> i32 {
        let output = command.output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
    }

    #[test]
    fn what_nobody_waits_for_gives_way() {
        let temp = tempfile::tempdir().unwrap();
        let bin = temp.path().join("bin");
        let sources = temp.path().join("library");
        fs::create_dir(&bin).unwrap();
        // Instead of a library, the "rustc" writes how nice it is.
        let program = bin.join("rustc");
        let script = "#!/bin/sh\nwhile [ $1 != --out-dir ]; do [ $1 = --crate-name ] && name=$2; shift; done\n\
                      nice > \"$2/$name\"\n";
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let rustc = Rustc {
            path: program,
            release: "1.97.0-nightly".into(),
            commit_hash: None,
            host: "x86_64-unknown-linux-gnu".into(),
            llvm: "22.1.4".into(),
            sysroot: temp.path().into(),
        };
        let library = Library { path: sources, source: Source::Explicit };
        for (pace, expected) in [
            (Pace::Full, niceness(&mut Command::new("nice"))),
            (Pace::Meanwhile, niceness(Command::new("nice").args(NICE).arg("nice"))),
        ] {
            let sysroot = temp.path().join(format!("{pace:?}"));
            let mut heard = Vec::new();
            build(&rustc, &library, &sysroot, pace, &mut |event| heard.push(event)).unwrap();
            for name in CRATES {
                let written = fs::read_to_string(library_folder(&sysroot).join(name)).unwrap();
                assert_eq!(written.trim().parse(), Ok(expected), "{name}, {pace:?}");
            }
            let [core, builtins, alloc] = CRATES.map(Event::Compiling);
            let (begun, built) = (Event::Begun(Source::Explicit), Event::Built(Source::Explicit));
            assert_eq!(heard, [begun, core, builtins, alloc, built]);
        }
    }
}
