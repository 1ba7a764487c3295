//! `cargo ptx init`: a package in a folder that is there; with `--linker`, the configuration with which plain cargo compiles
//! kernels.
//!
//! ```toml
//! [target.nvptx64-nvidia-cuda]
//! linker = "ptx-linker"
//! rustflags = ["-L", "…/lib/rustlib/nvptx64-nvidia-cuda/lib", "-C", "target-cpu=sm_75", "-C", "linker-plugin-lto"]
//! ```
//!
//! rustc finds `core` and `alloc` by `-L`, not by `--sysroot`, which it takes only once: `cargo ptx` passes its own, and so
//! both work in one package. Of several folders rustc takes the one whose crates it can read.

use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use ptx_codegen::arch::Arch;
use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result};
use ptx_codegen::files::{absolute, normalized, publish};
use ptx_codegen::request::TARGET;
use ptx_codegen::{LLVM_VERSION, RUSTC_RELEASE};
use ptx_project::options::arch;
use ptx_project::progress::Progress;
use ptx_project::sysroot::{self, Rustc};

use super::arguments::InitArgs;
use super::{environment, new, output};

/// The lines between which the file is ours.
const BEGIN: &str = "# Written by `cargo ptx init --linker`, which writes these lines anew for another toolchain.";
const END: &str = "# End of what `cargo ptx init --linker` wrote.";

/// Makes the package, or writes the configuration.
pub fn run(args: &InitArgs, progress: &Progress) -> Result<()> {
    let dir = normalized(&absolute(&args.path)?);
    if args.linker { linker(args, &dir, progress) } else { new::here(&dir, &args.package) }
}

fn linker(args: &InitArgs, dir: &Path, progress: &Progress) -> Result<()> {
    let rustc = sysroot::rustc(&environment::rustc())?;
    let major = |version: &str| version.split('.').next().map(str::to_string);
    if major(&rustc.llvm) != major(LLVM_VERSION) {
        let message = format!("rustc {} has LLVM {}, and ptx-linker LLVM {LLVM_VERSION}", rustc.release, rustc.llvm);
        return Err(Diagnostic::error(Code::Usage, message)
            .help(format!("use rustc {RUSTC_RELEASE}, or build `cargo-ptx` again with this rustc"))
            .into());
    }
    let file = dir.join(".cargo/config.toml");
    let before = fs::read_to_string(&file).unwrap_or_default();
    let chosen = args.arch.clone().or_else(|| earlier_arch(&before));
    let mut archs = [chosen.unwrap_or_else(|| Arch::portable().name().into())];
    arch::check(&mut archs, arch::From::Argument)?;
    let arch = *arch::archs(&archs)?.last().expect("an arch was named");
    let old = dir.join(".cargo/config");
    if old.is_file() && !old.is_symlink() {
        return Err(Diagnostic::error(Code::Usage, format!("cargo would read `{}` alone", old.display()))
            .help("rename it to `config.toml`, which is its name since cargo 1.39, and run the command again")
            .into());
    }
    let program = program()?;
    let sysroot = sysroot::ensure(&rustc, None, progress)?;
    let mut libraries =
        vec![Library { folder: sysroot::library_folder(&sysroot.path), is_nightly: rustc.is_nightly() }];
    libraries.extend(earlier(&before, &rustc.release));
    let lines = lines(&program, &libraries, arch);
    let after = with(&before, &lines).map_err(|reason| {
        Diagnostic::error(Code::Usage, format!("`{}` {reason}", file.display()))
            .note(format!("these lines are needed there:\n{lines}"))
            .help("write them by hand, or remove what stands there and run the command again")
    })?;
    let failed = |e| ptx_codegen::files::failed("create", &dir.join(".cargo"), &e, "name a folder that can be written");
    fs::create_dir_all(dir.join(".cargo")).map_err(failed)?;
    publish(&file, after.as_bytes())?;
    println!("Wrote {}, for rustc {} and {arch}", output::path(&file), rustc.release);
    println!("Compile a library of kernels:  cargo rustc --release --lib --crate-type cdylib --target {TARGET}");
    println!("The PTX:                       target/{TARGET}/release/NAME.ptx");
    println!("Before another toolchain compiles here, run this command with it; the file then serves both.");
    Ok(())
}

/// The linker beside this program: by its name where PATH leads there.
fn program() -> Result<String> {
    let name = format!("ptx-linker{}", std::env::consts::EXE_SUFFIX);
    let own = std::env::current_exe().unwrap_or_default();
    let linker = own.with_file_name(&name);
    if !linker.is_file() {
        return Err(Diagnostic::error(Code::Usage, format!("`{}` is not there", linker.display()))
            .help("install it by `cargo install`, with cargo-ptx; in a clone, `cargo build -p cargo-ptx` makes both")
            .into());
    }
    let is_same =
        |found: PathBuf| found.canonicalize().ok().zip(linker.canonicalize().ok()).is_some_and(|(a, b)| a == b);
    if environment::on_path(&name).is_some_and(is_same) {
        Ok("ptx-linker".into())
    } else {
        Ok(linker.to_string_lossy().into_owned())
    }
}

/// `core` and `alloc` of one rustc.
struct Library {
    folder: PathBuf,
    is_nightly: bool,
}

/// The flags for rustc that we wrote.
fn earlier_flags(before: &str) -> Vec<Value> {
    let ours = ours(before).and_then(|(begin, end)| before[begin..end].parse::<Table>().ok());
    let flags = ours.and_then(|table| Some(table.get("target")?.get(TARGET)?.get("rustflags")?.as_array()?.clone()));
    flags.unwrap_or_default()
}

/// The arch among them: another toolchain's is the same.
fn earlier_arch(before: &str) -> Option<String> {
    let flags = earlier_flags(before);
    flags.iter().find_map(|flag| Some(flag.as_str()?.strip_prefix("target-cpu=")?.to_string()))
}

/// Those that stand there for other rustcs.
fn earlier(before: &str, release: &str) -> Vec<Library> {
    let known = sysroot::list().unwrap_or_default();
    let of_another = |flag: &Value| {
        let folder = PathBuf::from(flag.as_str()?);
        let (_, record) = known.iter().find(|(path, _)| folder.starts_with(path))?;
        let is_nightly = Rustc::is_nightly_release(&record.release);
        (record.release != release && folder.is_dir()).then_some(Library { folder, is_nightly })
    };
    earlier_flags(before).iter().filter_map(of_another).collect()
}

fn lines(program: &str, libraries: &[Library], arch: Arch) -> String {
    let folders =
        libraries.iter().flat_map(|library| ["-L".to_string(), library.folder.to_string_lossy().into_owned()]);
    let others = ["-C".to_string(), format!("target-cpu={arch}"), "-C".into(), "linker-plugin-lto".into()];
    // As in builds of `cargo ptx`; stable rustc does not know it.
    let unstable = libraries.iter().all(|library| library.is_nightly).then(|| sysroot::NO_COPIES.to_string());
    let flags = Value::Array(folders.chain(others).chain(unstable).map(Value::from).collect());
    format!("{BEGIN}\n[target.{TARGET}]\nlinker = {}\nrustflags = {flags}\n{END}\n", Value::from(program))
}

/// Where our lines begin and end.
fn ours(text: &str) -> Option<(usize, usize)> {
    let begin = text.find(BEGIN)?;
    Some((begin, begin + text[begin..].find(END)? + END.len()))
}

/// The file with our lines: in place of older ones of ours, else at the end. Somebody else's for the target are no business
/// of ours.
fn with(before: &str, lines: &str) -> std::result::Result<String, String> {
    let (head, tail) = ours(before).map_or((before, ""), |(begin, end)| (&before[..begin], &before[end..]));
    let rest = format!("{head}{tail}");
    let table: Table = rest.parse().map_err(|e: toml::de::Error| format!("cannot be read: {}", e.message()))?;
    if table.get("target").and_then(|targets| targets.get(TARGET)).is_some() {
        return Err(format!("has a `[target.{TARGET}]` already"));
    }
    let gap = if head.is_empty() || head.ends_with("\n\n") {
        ""
    } else if head.ends_with('\n') {
        "\n"
    } else {
        "\n\n"
    };
    Ok(format!("{head}{gap}{lines}{}", tail.strip_prefix('\n').unwrap_or(tail)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(arch: &str) -> String {
        of(arch, true)
    }

    fn of(arch: &str, is_nightly: bool) -> String {
        let library = |is_nightly| Library { folder: "/the cache/lib".into(), is_nightly };
        lines("ptx-linker", &[library(true), library(is_nightly)], arch.parse().unwrap())
    }

    #[test]
    fn the_lines_are_a_table_of_cargos() {
        let table: Table = written("sm_80").parse().unwrap();
        let target = &table["target"][TARGET];
        assert_eq!(target["linker"].as_str(), Some("ptx-linker"));
        let flags: Vec<_> = target["rustflags"].as_array().unwrap().iter().map(|flag| flag.as_str().unwrap()).collect();
        assert_eq!(flags[..2], ["-L", "/the cache/lib"]);
        assert!(flags.contains(&"target-cpu=sm_80") && !flags.contains(&"--sysroot"), "{flags:?}");
        assert!(flags.contains(&sysroot::NO_COPIES) && !of("sm_80", false).contains("-Z"), "{flags:?}");
    }

    #[test]
    fn a_file_that_is_there_keeps_what_others_wrote() {
        let others = "# mine\n[build]\njobs = 2";
        let first = with(others, &written("sm_80")).unwrap();
        assert!(first.starts_with("# mine\n[build]\njobs = 2\n\n# Written by"), "{first}");
        let more = first.clone() + "\n[alias]\nk = \"build\"\n";
        let second = with(&more, &written("sm_90")).unwrap();
        assert_eq!(second.replace("sm_90", "sm_80"), more, "written twice, or lost");
        assert_eq!(with("", &written("sm_80")).unwrap(), written("sm_80"));
        // Once a second toolchain set it back to the default.
        assert_eq!(earlier_arch(&second).as_deref(), Some("sm_90"));
        assert_eq!(earlier_arch(others), None);
        let error = with("[target.nvptx64-nvidia-cuda]\nlinker = \"x\"\n", &written("sm_80")).unwrap_err();
        assert!(error.contains("has a `[target.nvptx64-nvidia-cuda]` already"), "{error}");
        assert!(with("[target", &written("sm_80")).unwrap_err().contains("cannot be read"));
    }
}
