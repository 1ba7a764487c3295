//! cuda-gdb: where it is, the script that makes it ready for Rust kernels, and its command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result};
use ptx_codegen::files::write_if_changed;

/// Pretty printers for Rust's types and ours.
pub const PRINTERS: &str = include_str!("ptx.py");

/// The environment variable that names the debugger's file.
pub const VARIABLE: &str = "CUDA_GDB";

/// The script's file name; the printers stand beside it.
const SETUP: &str = "setup.gdb";

/// The debugger: `explicit`, what `CUDA_GDB` names, or the first on `CUDA_HOME`, `CUDA_PATH`, `PATH`, /usr/local/cuda.
pub fn find(explicit: Option<&Path>) -> Result<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let given = explicit.map(|path| (path.to_path_buf(), "--cuda-gdb"));
    if let Some((path, by)) = given.or(variable(VARIABLE).map(|path| (path.into(), VARIABLE))) {
        return named(path, by, &folders(variable("PATH")));
    }
    let toolkits = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(variable).map(|root| Path::new(&root).join("bin"));
    let mut places: Vec<PathBuf> = toolkits.collect();
    places.extend(folders(variable("PATH")));
    places.push("/usr/local/cuda/bin".into());
    let found = places.iter().map(|folder| folder.join("cuda-gdb")).find(|path| path.is_file());
    Ok(found.ok_or_else(|| {
        Diagnostic::error(Code::DebuggerMissing, "cuda-gdb was not found")
            .note("looked in the folder bin below CUDA_HOME and CUDA_PATH, in PATH and in /usr/local/cuda/bin")
            .help("install it with the CUDA toolkit (https://developer.nvidia.com/cuda-downloads, package cuda-gdb-13-0), or name its file by `--cuda-gdb` or CUDA_GDB")
    })?)
}

/// The file that an option or variable names; a name alone is looked for on PATH.
fn named(path: PathBuf, by: &str, folders: &[PathBuf]) -> Result<PathBuf> {
    let is_name = path.components().count() == 1 && !path.is_absolute();
    let found = match is_name {
        true => folders.iter().map(|folder| folder.join(&path)).find(|path| path.is_file()),
        false => path.is_file().then(|| path.clone()),
    };
    Ok(found.ok_or_else(|| {
        let message = format!("`{}`, which {by} names as cuda-gdb, is not there", path.display());
        Diagnostic::error(Code::DebuggerMissing, message)
            .help(format!("let {by} name the debugger's file, or leave it out: CUDA_HOME and PATH are looked through"))
    })?)
}

fn folders(path: Option<OsString>) -> Vec<PathBuf> {
    path.map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}

/// Writes the printers and the script that loads them into `folder`; gives the script's path. Sources named below the
/// first path of a pair are read below the second.
pub fn write_setup(folder: &Path, sources: &[(String, PathBuf)]) -> Result<PathBuf> {
    let failed = |path: &Path, e: std::io::Error| {
        Diagnostic::error(Code::OutputFailed, format!("cannot write `{}`: {e}", path.display()))
            .help("name a folder that may be written by `--target-dir`")
    };
    std::fs::create_dir_all(folder).map_err(|e| failed(folder, e))?;
    let printers = folder.join("ptx.py");
    write_if_changed(&printers, PRINTERS)?;
    let script = folder.join(SETUP);
    write_if_changed(&script, &setup(&printers, sources))?;
    Ok(script)
}

fn setup(printers: &Path, sources: &[(String, PathBuf)]) -> String {
    let mut text = String::from("# Makes cuda-gdb ready for Rust kernels; written by `cargo ptx debug`.\n");
    // The kernels' code is loaded by the program when it runs: until then no breakpoint in them has a place.
    text += "set breakpoint pending on\n";
    text += &format!("source {}\n", printers.display());
    for (from, to) in sources {
        text += &format!("set substitute-path {} {}\n", quoted(from), quoted(&to.display().to_string()));
    }
    text
}

/// As gdb splits arguments.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The debugger's arguments: script, commands, program and its arguments.
pub fn arguments(
    script: &Path,
    commands: &[String],
    batch: bool,
    program: &Path,
    program_args: &[OsString],
) -> Vec<OsString> {
    let mut args: Vec<OsString> = vec!["-q".into()];
    if batch {
        args.push("-batch".into());
    }
    args.extend(["-x".into(), script.into()]);
    args.extend(commands.iter().flat_map(|command| ["-ex".into(), command.into()]));
    args.extend(["--args".into(), program.into()]);
    args.extend_from_slice(program_args);
    args
}

/// A command line as a shell takes it.
pub fn shell(program: &Path, args: &[OsString]) -> String {
    let words = std::iter::once(program.as_os_str()).chain(args.iter().map(OsString::as_os_str));
    words.map(|word| for_shell(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

/// One word of it.
pub fn for_shell(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text.into() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_debugger_must_be_there() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join("my-gdb"), "").unwrap();
        let folders = [temp.path().to_path_buf()];
        assert_eq!(named("my-gdb".into(), "CUDA_GDB", &folders).unwrap(), temp.path().join("my-gdb"));
        assert_eq!(named(temp.path().join("my-gdb"), "CUDA_GDB", &[]).unwrap(), temp.path().join("my-gdb"));
        for path in [PathBuf::from("no-gdb"), temp.path().join("no-gdb")] {
            let error = named(path, "--cuda-gdb", &folders).unwrap_err().to_string();
            assert!(error.contains("PTX0050") && error.contains("no-gdb`, which --cuda-gdb names"), "{error}");
        }
    }

    #[test]
    fn the_script_loads_the_printers_and_maps_the_sources() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().join("a folder");
        let script = write_setup(&folder, &[("/rustc/0/library".into(), "/my sources/library".into())]).unwrap();
        let text = std::fs::read_to_string(&script).unwrap();
        assert!(text.contains("set substitute-path \"/rustc/0/library\" \"/my sources/library\"\n"), "{text}");
        assert!(text.contains(&format!("source {}\n", folder.join("ptx.py").display())), "{text}");
        assert_eq!(std::fs::read_to_string(folder.join("ptx.py")).unwrap(), PRINTERS);
    }

    #[test]
    fn a_command_line_can_be_pasted() {
        let args =
            arguments(Path::new("/t/s.gdb"), &["break lib.rs:3".into()], true, Path::new("/t/p"), &["it's".into()]);
        let expected = r"cuda-gdb -q -batch -x /t/s.gdb -ex 'break lib.rs:3' --args /t/p 'it'\''s'";
        assert_eq!(shell(Path::new("cuda-gdb"), &args), expected);
    }
}
