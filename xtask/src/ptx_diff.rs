//! `cargo xtask ptx-diff BASE`: whether the compiler writes other PTX than it did at a commit, from the same bitcode.
//!
//! The kernels are those of BASE, because arguments of an old linker are understood by a new one, not the reverse.
//! BASE's `cargo-ptx` compiles them with this program as rustc's wrapper, which puts this program in the linker's place;
//! as the linker, it keeps what rustc hands over. Then the linkers of both trees get exactly that.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::shell;

/// The variables that make this program rustc's wrapper, and its linker; they hold the folder for what is captured.
const WRAPPER: &str = "RUST_PTX_CAPTURE_WRAPPER";
const LINKER: &str = "RUST_PTX_CAPTURE_LINKER";

/// What kernels are compiled for.
const TARGET: &str = "nvptx64-nvidia-cuda";

/// The file with the captured arguments, as JSON.
const LINK: &str = "link.json";

/// The most lines of a difference that are shown.
const SHOWN: usize = 20;

/// What helps where BASE cannot link a package as it is: some use what their suite defines, or what old GPUs lack.
const FALLBACKS: &[&str] = &["--link-at-load", "--arch=sm_90"];

/// Compares every PTX file of every kernel package.
pub fn run(base: &str) -> Result<ExitCode> {
    let commit = shell::output(Command::new("git").args(["rev-parse", "--verify", &format!("{base}^{{commit}}")]))?;
    let target = std::path::absolute(shell::target_dir()?)?;
    let work = target.join("ptx-diff");
    let tree = work.join(commit.trim());
    if !tree.exists() {
        // By force: git still knows a work tree that went with the target folder.
        let add = ["worktree", "add", "--quiet", "--force", "--detach"];
        shell::run(Command::new("git").args(add).args([tree.as_os_str(), commit.trim().as_ref()]))?;
    }
    let old = programs(shell::cargo().current_dir(&tree).env("CARGO_INCREMENTAL", "0"), &tree.join("target"))?;
    let linkers = [old, programs(&mut shell::cargo(), &target)?].map(|programs| programs.join("ptx-linker"));
    let metadata =
        shell::output(shell::cargo().current_dir(&tree).args(["metadata", "--no-deps", "--format-version=1"]))?;
    let mut counts = [0; 4];
    for name in kernel_packages(&serde_json::from_str(&metadata)?, &tree) {
        for profile in ["release", "dev"] {
            println!("-- {name}, {profile}");
            let folder = work.join("links").join(format!("{name}-{profile}"));
            let link = captured(&tree, &name, profile, &folder)?;
            for change in replay(&linkers, &link, &folder, FALLBACKS)? {
                counts[change as usize] += 1;
            }
        }
    }
    let [equal, blank, widened, differ] = counts;
    println!("{equal} equal, {blank} but for blank lines, {widened} but for workarounds, {differ} different");
    Ok(if differ == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Builds `cargo-ptx` and `ptx-linker`, and returns the folder that they are in.
fn programs(cargo: &mut Command, target: &Path) -> Result<PathBuf> {
    let build = ["build", "--quiet", "--bin", "cargo-ptx", "--bin", "ptx-linker"];
    shell::run(cargo.args(build).env("CARGO_TARGET_DIR", target))?;
    Ok(target.join("debug"))
}

/// Libraries among the examples and tests that use `ptx` and, of this repository, nothing but the runtime.
fn kernel_packages(metadata: &Value, tree: &Path) -> Vec<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let is_below =
        |path: &Value, folder: &str| path.as_str().is_some_and(|path| Path::new(path).starts_with(tree.join(folder)));
    let is_kernel = |package: &Value| {
        let mut used = list(&package["dependencies"]);
        // Those with a target's condition are the host's.
        used.retain(|dependency| dependency["kind"].is_null() && dependency["target"].is_null());
        ["examples", "tests"].iter().any(|folder| is_below(&package["manifest_path"], folder))
            && list(&package["targets"]).iter().any(|target| list(&target["kind"]).contains(&"lib".into()))
            && used.iter().any(|dependency| dependency["name"] == "ptx")
            && used.iter().all(|dependency| dependency["path"].is_null() || is_below(&dependency["path"], "runtime"))
    };
    let packages = list(&metadata["packages"]).into_iter().filter(is_kernel);
    packages.filter_map(|package| Some(package["name"].as_str()?.to_string())).collect()
}

/// Compiles a package up to the call of the linker, and returns the linker's arguments.
fn captured(tree: &Path, name: &str, profile: &str, folder: &Path) -> Result<Vec<String>> {
    empty(folder)?;
    let mut build = Command::new(tree.join("target/debug/cargo-ptx"));
    build.args(["ptx", "build", "--package", name, "--profile", profile]).current_dir(tree);
    build.env("CARGO_TARGET_DIR", tree.join("target"));
    build.env("RUSTC_WRAPPER", std::env::current_exe()?).env(WRAPPER, folder);
    // It fails, because `capture` does.
    let output = build.output().with_context(|| format!("cannot run {build:?}"))?;
    let Ok(link) = fs::read_to_string(folder.join(LINK)) else {
        bail!("rustc did not come to link {name}:\n{}", String::from_utf8_lossy(&output.stderr));
    };
    Ok(serde_json::from_str(&link)?)
}

fn empty(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    Ok(fs::create_dir_all(folder)?)
}

/// Ends the process as rustc's wrapper or linker, if a variable asks for it.
pub fn act_if_asked() -> Option<Result<ExitCode>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(folder) = std::env::var_os(LINKER) {
        return Some(capture(&args, Path::new(&folder)));
    }
    std::env::var_os(WRAPPER).map(|folder| {
        let (rustc, args) = args.split_first().context("rustc's wrapper needs rustc")?;
        let ours = std::env::current_exe()?;
        let mut command = Command::new(rustc);
        match with_linker(args, &format!("linker={}", ours.display())) {
            Some(args) => command.args(args).env(LINKER, folder),
            None => command.args(args),
        };
        Err(command.exec().into())
    })
}

/// rustc's arguments with another linker, if they name one for the GPU.
fn with_linker(args: &[String], linker: &str) -> Option<Vec<String>> {
    let at = args.windows(2).position(|pair| pair[0] == "-C" && pair[1].starts_with("linker="))? + 1;
    let mut args = args.to_vec();
    args[at] = linker.to_string();
    args.iter().any(|arg| arg == TARGET).then_some(args)
}

/// Keeps the linker's inputs, and fails: cargo then links again the next time.
fn capture(args: &[String], folder: &Path) -> Result<ExitCode> {
    let mut link = comparable(args)?;
    for (number, arg) in link.iter_mut().enumerate() {
        let input = PathBuf::from(&*arg);
        if let Some(name) = input.file_name().filter(|_| input.is_file()) {
            let copy = folder.join("inputs").join(number.to_string()).join(name);
            fs::create_dir_all(copy.parent().context("a file is in a folder")?)?;
            // rustc replaces files, so a second name keeps the content.
            fs::hard_link(&input, &copy).or_else(|_| fs::copy(&input, &copy).map(drop))?;
            *arg = copy.display().to_string();
        }
    }
    fs::write(folder.join(LINK), serde_json::to_string(&link)?)?;
    Ok(ExitCode::FAILURE)
}

/// The arguments that decide about PTX. Files to link with do not, and need tools.
fn comparable(args: &[String]) -> Result<Vec<String>> {
    const OTHERS: &str = "--out-dir --dump-dir --ptxas --emit --link --nvcc-flag --linker-id --message-format";
    let mut kept = vec!["--ptxas=off".to_string()];
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "-o" {
            args.next();
        } else if let Some(settings) = arg.strip_prefix("--settings=") {
            let mut settings: Value = serde_json::from_str(settings)?;
            let own = settings[0].as_object_mut().context("`--settings` is no list of settings")?;
            own.retain(|name, _| name != "emit" && name != "link");
            kept.push(format!("--settings={settings}"));
        } else if !OTHERS.split(' ').any(|other| other == name_of(arg)) {
            kept.push(arg.clone());
        }
    }
    Ok(kept)
}

/// How two PTX texts differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    None,
    BlankLines,
    /// Only in instructions that `workarounds.rs` writes otherwise.
    Widened,
    Text,
}

impl Change {
    fn between(old: &str, new: &str) -> Self {
        if old == new {
            return Self::None;
        }
        let [old, new] = [old, new].map(|text| text.lines().filter(|line| !line.trim().is_empty()).collect::<Vec<_>>());
        let is_widened = |(old, new): (&&str, &&str)| {
            let (operation, rest) = old.trim_start().split_once('.').unwrap_or_default();
            let narrow = ["neg", "abs", "sub", "min", "max"].contains(&operation)
                && rest.get(1..).is_some_and(|width| width.starts_with("16"));
            let absolute = operation == "abs" && new.starts_with("\t{ .reg .b") && new.contains(" %negative;");
            let equality = |text: &str| {
                ["b32", "u32", "b64", "u64"].iter().fold(text.to_string(), |text, ty| {
                    let signed = ty.replace(['b', 'u'], "s");
                    text.replace(&format!("setp.eq.{ty}"), &format!("setp.eq.{signed}"))
                        .replace(&format!("setp.ne.{ty}"), &format!("setp.ne.{signed}"))
                })
            };
            old == new
                || narrow && new.starts_with("\t{ .reg .b32 %wide")
                || absolute
                || operation == "setp" && equality(old) == **new
        };
        match () {
            () if old == new => Self::BlankLines,
            () if old.len() == new.len() && old.iter().zip(&new).all(is_widened) => Self::Widened,
            () => Self::Text,
        }
    }
}

/// `--arch` of `--arch=sm_80`.
fn name_of(arg: &str) -> &str {
    arg.split('=').next().unwrap_or(arg)
}

/// The arguments with this option in place of the same with another value.
fn with_option(link: &[String], option: &str) -> Vec<String> {
    let others = link.iter().filter(|arg| name_of(arg) != name_of(option)).cloned();
    others.chain([option.to_string()]).collect()
}

/// Links with both linkers and compares what they write.
fn replay(linkers: &[PathBuf; 2], link: &[String], folder: &Path, fallbacks: &[&str]) -> Result<Vec<Change>> {
    let folders = ["old", "new"].map(|name| folder.join(name));
    let start = |at: usize| -> Result<Child> {
        empty(&folders[at])?;
        let mut command = Command::new(&linkers[at]);
        command.args(link).arg("-o").arg(folders[at].join("output"));
        // The settings in a manifest are among the arguments; what cargo says here is of xtask's.
        command.arg(format!("--out-dir={}", folders[at].display())).env_remove("CARGO_MANIFEST_PATH");
        command.stderr(Stdio::piped()).spawn().with_context(|| format!("cannot run {}", linkers[at].display()))
    };
    let (old, new) = (start(0)?, start(1)?);
    let (old, new) = (old.wait_with_output()?, new.wait_with_output()?);
    if let Some((option, others)) = fallbacks.split_first().filter(|_| !old.status.success()) {
        println!("with {option}");
        return replay(linkers, &with_option(link, option), folder, others);
    }
    ensure!(old.status.success(), "BASE's linker failed:\n{}", String::from_utf8_lossy(&old.stderr));
    if !new.status.success() {
        println!("the linker failed:\n{}", String::from_utf8_lossy(&new.stderr));
        return Ok(vec![Change::Text]);
    }
    let mut names = BTreeSet::new();
    for entry in folders.iter().map(fs::read_dir).collect::<Result<Vec<_>, _>>()?.into_iter().flatten() {
        names.extend(entry?.file_name().into_string().ok().filter(|name| name.ends_with(".ptx")));
    }
    ensure!(!names.is_empty(), "the linkers wrote no PTX into {}", folder.display());
    names.iter().map(|name| compare(&folders.each_ref().map(|folder| folder.join(name)))).collect()
}

/// Compares two files, and shows where a difference begins.
fn compare(files: &[PathBuf; 2]) -> Result<Change> {
    let name = files[1].file_name().unwrap_or_default().display();
    let [Ok(old), Ok(new)] = files.each_ref().map(fs::read_to_string) else {
        println!("{name}: written by one linker only");
        return Ok(Change::Text);
    };
    let change = Change::between(&old, &new);
    if change == Change::Text {
        let mut diff = Command::new("git");
        diff.args(["diff", "--no-index", "--no-ext-diff", "--no-color", "--ignore-blank-lines", "--unified=1"]);
        let text = String::from_utf8(diff.args(files).output()?.stdout)?;
        let lines: Vec<&str> = text.lines().skip(2).collect();
        println!("{name}:\n{}", lines[..lines.len().min(SHOWN)].join("\n"));
        println!("({} more lines)", lines.len().saturating_sub(SHOWN));
    }
    Ok(change)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(args: &[&str]) -> Vec<String> {
        args.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn arguments_that_do_not_touch_ptx_are_left_out() {
        let args =
            ["a.o", "-o", "k.ptx", "-O3", "--arch=sm_80", "--ptxas=auto", "--out-dir=o", "--linker-id=1", "--ftz=true"];
        assert_eq!(comparable(&strings(&args)).unwrap(), ["--ptxas=off", "a.o", "-O3", "--arch=sm_80", "--ftz=true"]);
        let args = ["--link=a.cu", "--nvcc-flag=-I.", "--link=b.o", "--emit=cubin", "-O0"];
        assert_eq!(comparable(&strings(&args)).unwrap(), ["--ptxas=off", "-O0"]);
    }

    #[test]
    fn settings_lose_the_same() {
        let args = strings(&[r#"--settings=[{"arch":["sm_80"],"emit":["cubin"],"link":["a.cu"]},{}]"#]);
        assert_eq!(comparable(&args).unwrap(), ["--ptxas=off", r#"--settings=[{"arch":["sm_80"]},{}]"#]);
    }

    #[test]
    fn an_option_takes_the_place_of_its_like() {
        let link = strings(&["a.o", "--arch=sm_75,sm_90", "-O3"]);
        assert_eq!(with_option(&link, "--arch=sm_90"), ["a.o", "-O3", "--arch=sm_90"]);
        assert_eq!(with_option(&link[..1], "--link-at-load"), ["a.o", "--link-at-load"]);
    }

    #[test]
    fn only_the_gpus_linker_is_replaced() {
        let gpu = strings(&["--target", "nvptx64-nvidia-cuda", "-C", "linker=x", "-C", "link-arg=linker=y"]);
        let expected = ["--target", "nvptx64-nvidia-cuda", "-C", "linker=ours", "-C", "link-arg=linker=y"];
        assert_eq!(with_linker(&gpu, "linker=ours").unwrap(), expected);
        assert_eq!(with_linker(&strings(&["-C", "linker=clang"]), "linker=ours"), None);
        assert_eq!(with_linker(&gpu[..2], "linker=ours"), None, "a library");
    }

    #[test]
    fn known_changes_are_told_from_others() {
        assert_eq!(Change::between("ret;\n", "ret;\n"), Change::None);
        assert_eq!(Change::between("a;\n\t\nb;\n", "a;\nb;\n\n"), Change::BlankLines);
        assert_eq!(Change::between("a;\nb;\n", "b;\na;\n"), Change::Text);
        assert_eq!(Change::between("a;\n", ""), Change::Text);
        let wide = "\t{ .reg .b32 %wide<3>; cvt.s32.s16 %wide1, %rs1; }";
        assert_eq!(Change::between("\n\tsub.s16 %rs0, %rs1, %rs2;\nret;", &format!("{wide}\nret;")), Change::Widened);
        let [unsigned, signed] = ["b32", "s32"].map(|ty| format!("\tsetp.ne.{ty} %p1, %r1, 0;"));
        assert_eq!(Change::between(&unsigned, &signed), Change::Widened);
        let maximum = "\t{ .reg .b32 %negative; neg.s32 %negative, %r1; max.s32 %r2, %r1, %negative; }";
        assert_eq!(Change::between("\tabs.s32 %r2, %r1;", maximum), Change::Widened);
        assert_eq!(Change::between("\tsub.s32 %r0, %r1, %r2;", wide), Change::Text);
        assert_eq!(Change::between("\tsub.s16 %rs0, %rs1, %rs2;\nret;", wide), Change::Text);
    }

    #[test]
    fn packages_with_kernels_are_found() {
        let package = |name: &str, folder: &str, kind: &str, uses: &[&Value]| {
            serde_json::json!({ "name": name, "manifest_path": format!("/t/{folder}/Cargo.toml"),
                "targets": [{ "kind": [kind] }], "dependencies": uses })
        };
        let ptx = serde_json::json!({ "name": "ptx", "kind": null, "target": null, "path": "/t/runtime/ptx" });
        let tool = serde_json::json!({ "name": "tool", "kind": null, "target": null, "path": "/t/codegen" });
        let host = serde_json::json!({ "name": "host", "kind": null, "target": "cfg(unix)", "path": "/t/tests/host" });
        let metadata = serde_json::json!({ "packages": [
            package("kernels", "tests/kernels", "lib", &[&ptx]),
            package("example", "examples/a", "lib", &[&ptx, &host]),
            package("suite", "tests/suite", "lib", &[&ptx, &tool]),
            package("program", "tests/program", "bin", &[&ptx]),
            package("plain", "tests/plain", "lib", &[]),
            package("runtime", "runtime/host", "lib", &[&ptx]),
        ] });
        assert_eq!(kernel_packages(&metadata, Path::new("/t")), ["kernels", "example"]);
    }
}
