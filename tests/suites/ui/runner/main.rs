//! Compiles every file in `cases/` as a user's crate and checks what comes out.
//!
//! `cases/pass` compile for the device, and their checks hold (see [`ptx_test_cases::checks`]); ptxas must accept their PTX.
//! `cases/run` are of the same kind, and a GPU runs them from the device bundle. `cases/fail` must not compile for the
//! device, `cases/host` not for the host; what rustc and our linker say is compared with the `.stderr` file beside the
//! case, which `cargo xtask bless [FILTER]` writes.
//!
//! In a case, `//~ ERROR: text` marks the line of an error, `//~^ ERROR: text` the line above. The directives
//! ([`ptx_test_cases::directives`]) stand each on a line of its own, optionally for some revisions (`//@[a,b] arch: sm_90`).
//! What is misspelt, and a case that checks nothing, is an error. The contributors' guide describes all of it.
//!
//! With `UI_TESTS_CASES=FOLDER` the cases are those of another folder: so `self_test` runs bad ones.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ptx_tests::Sample;
use ui_test::color_eyre::eyre::Result;
use ui_test::custom_flags::edition::Edition;
use ui_test::spanned::Spanned;
use ui_test::status_emitter::StatusEmitter;
use ui_test::{Args, Config, default_file_filter, run_tests_generic};

mod crates;
mod cubin;
mod diagnostics;
mod dump;
mod flags;
mod outcome;
mod self_test;

fn main() -> Result<()> {
    ptx_project::linker::become_linker_if_asked();
    let args = Args::test()?;
    let device = crates::device()?;
    let host = crates::host()?;
    let tools = [("ptxas", cubin::ptxas()), ("nvdisasm", cubin::nvdisasm())];
    for (name, _) in tools.iter().filter(|(_, tool)| tool.is_none()) {
        println!("skipped: what needs {name}: it was not found; `cargo xtask setup` installs it");
    }
    println!("skipped: launches of `cases/run`: they need a GPU, and are in the device bundle");
    let other = std::env::var_os(crates::CASES);
    let folder = PathBuf::from(other.as_deref().unwrap_or("cases".as_ref()));
    Sample::begin(!args.filters.is_empty() || args.bless || args.list || other.is_some());
    let chosen = choose(&folder)?;
    let mut configs = Vec::new();
    for (name, compiles) in [("pass", true), ("run", true), ("fail", false)] {
        let mut config = config(&folder.join(name), &device);
        flags::compile_for_device(&mut config, compiles);
        configs.push(config);
    }
    configs.push(config(&folder.join("host"), &host));
    configs.iter_mut().for_each(|config| config.with_args(&args));
    let emitter: Box<dyn StatusEmitter> = args.format.into();
    // Dependencies of a case become rlibs without our doing.
    let crate_type = |config: &mut Config, _: &Spanned<_>| config.program.args.push("--crate-type=cdylib".into());
    let cases = run_tests_generic(configs, |path, config| file_filter(path, config, &chosen), crate_type, emitter);
    // A run of another folder is one of the harness's own tests; and filters are for cases.
    if other.is_none() && args.filters.is_empty() && !args.list {
        self_test::run()?;
    }
    cases
}

/// What all cases of a folder have in common.
fn config(folder: &Path, built: &crates::Built) -> Config {
    let mut config = Config::rustc(folder);
    config.target = built.target.map(str::to_string);
    config.out_dir = crates::out_dir();
    config.bless_command = Some("cargo xtask bless".into());
    config.diagnostic_extractor = diagnostics::extract;
    config.program.args.extend(built.args.iter().map(Into::into));
    // Line numbers of our own sources in the margin, and the terminal's width, would change what is compared.
    config.program.args.extend(["-Zui-testing", "--diagnostic-width=120"].map(Into::into));
    let defaults = config.comment_defaults.base();
    defaults.set_custom("edition", Edition("2024".into()));
    defaults.custom.remove("rustfix");
    flags::refuse(&mut config);
    let defaults = config.comment_defaults.base();
    for (path, name) in &built.paths {
        defaults.normalize_stderr.push((path.as_path().into(), name.as_bytes().to_vec()));
    }
    config.stderr_filter(r"((?:\$[A-Z_]+|runtime|codegen)/[^: ]+\.rs):\d+:\d+", "$1:LL:CC");
    config.stderr_filter("[0-9a-f]{16}", "$$HASH");
    config
}

/// The cases to run, by their folders.
fn choose(folder: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut chosen = BTreeSet::new();
    for (name, part) in [("pass", 22), ("run", 5), ("fail", 30), ("host", 5)] {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder.join(name))? {
            files.extend(Some(entry?.path()).filter(|path| path.extension().is_some_and(|end| end == "rs")));
        }
        files.sort();
        chosen.extend(Sample::asked().of(&format!("cases in cases/{name}"), files, part));
    }
    Ok(chosen)
}

/// Chosen cases; files in `auxiliary` are parts of cases.
fn file_filter(path: &Path, config: &Config, chosen: &BTreeSet<PathBuf>) -> Option<bool> {
    let is_part = path.components().any(|part| part.as_os_str() == "auxiliary");
    if is_part || !chosen.contains(path) { None } else { default_file_filter(path, config) }
}
