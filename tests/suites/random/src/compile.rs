//! Compiles crates of random programs: for the CPU to a program that prints digests, for the GPU to a cubin.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ptx_codegen::request::TARGET;
use ptx_codegen::tool::Name;
use ptx_project::linker::LINKER_VARIABLE;
use ptx_project::tools;
use ptx_random::inputs::THREADS;
use ptx_random::rust;
use ptx_tests::folders::target_dir;
use ptx_tests::library;

/// What machine code is made for.
pub const ARCH: &str = "sm_90";

/// An optimisation level of rustc.
pub type Level = u32;

/// The digests of all threads of one program.
pub type Digests = Vec<u32>;

/// Where generated sources are kept, to be looked at.
pub fn folder(name: &str) -> PathBuf {
    target_dir().join("random").join(name)
}

/// Compiles the programs for the CPU and runs them.
pub fn on_host(programs: &[String], folder: &Path, name: &str, level: Level) -> Result<Vec<Digests>, String> {
    let source = write(folder, &format!("{name}.host.rs"), &rust::host_crate(programs))?;
    let program = source.with_extension("");
    let mut rustc = rustc(&source, &program, level);
    run(&mut rustc)?;
    let text = run(&mut Command::new(&program))?;
    _ = fs::remove_file(&program);
    let line = |line: &str| line.split(' ').map(|word| u32::from_str_radix(word, 16)).collect::<Result<Digests, _>>();
    let digests: Vec<Digests> = text.lines().map(line).collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    let all = digests.len() == programs.len() && digests.iter().all(|digests| digests.len() == THREADS);
    if all { Ok(digests) } else { Err(format!("{}: digests are missing", program.display())) }
}

/// Compiles the programs for the GPU: PTX and, where ptxas is found, a cubin beside it. Returns the PTX's path.
pub fn for_device(programs: &[String], folder: &Path, name: &str, level: Level) -> Result<PathBuf, String> {
    let library = library::device()?;
    let name = format!("{name}_o{level}");
    let source = rust::device_crate(programs);
    let source = write(folder, &format!("{name}.rs"), &source)?;
    let output = folder.join(format!("{name}.ptx"));
    let linker = std::env::var_os(LINKER).map(PathBuf::from);
    let linker = linker.map_or_else(std::env::current_exe, Ok).map_err(|error| error.to_string())?;
    let mut rustc = rustc(&source, &output, level);
    rustc.args(&library.args).args(["--target", TARGET, "--crate-type=cdylib", "-Cpanic=abort"]);
    rustc.arg(format!("-Clinker={}", linker.display())).env(LINKER_VARIABLE, &linker);
    for option in [&format!("arch={ARCH}"), "fmad=false", "ptxas=off"] {
        rustc.arg(format!("-Clink-arg=--{option}"));
    }
    if level == 0 {
        // Without optimisation, all of `core::fmt` would be in every module.
        rustc.arg("-Clink-arg=--panic=trap");
    }
    run(&mut rustc)?;
    Ok(output)
}

/// Assembles PTX to a cubin, and returns its path. Without optimisation functions are compiled once and then linked: else
/// ptxas compiles all that a kernel may reach again for each kernel.
pub fn assemble(ptx: &Path, level: Level) -> Result<PathBuf, String> {
    let tools = tools::find();
    let tool = |name: Name| tools.get(name).map(|tool| tool.path.clone()).ok_or(format!("{name} was not found"));
    let (cubin, object) = (ptx.with_extension("cubin"), ptx.with_extension("o"));
    let mut ptxas = Command::new(tool(Name::Ptxas)?);
    ptxas.args(["-arch", ARCH, &format!("-O{level}")]).arg(ptx).arg("-o");
    if level > 0 {
        run(ptxas.arg(&cubin))?;
        return Ok(cubin);
    }
    run(ptxas.arg(&object).arg("-c"))?;
    run(Command::new(tool(Name::Nvlink)?).arg(format!("-arch={ARCH}")).arg(&object).arg("-o").arg(&cubin))?;
    _ = fs::remove_file(&object);
    Ok(cubin)
}

/// A variable that names another linker than this program, such as an optimised one.
const LINKER: &str = "RANDOM_PROGRAMS_LINKER";

fn rustc(source: &Path, output: &Path, level: Level) -> Command {
    let mut rustc = Command::new("rustc");
    rustc.args([
        "--edition=2024",
        "--cap-lints=allow",
        "--crate-name=programs",
        "-Ccodegen-units=1",
        "-Cdebuginfo=0",
        "-Coverflow-checks=off",
        "-Cdebug-assertions=off",
    ]);
    rustc.arg(format!("-Copt-level={level}")).arg("-o").arg(output).arg(source);
    rustc
}

fn write(folder: &Path, name: &str, text: &str) -> Result<PathBuf, String> {
    let path = folder.join(name);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, text));
    written.map(|()| path.clone()).map_err(|error| format!("{}: {error}", path.display()))
}

fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)))
}
