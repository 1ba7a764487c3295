//! The C++ header: nvcc accepts it with all its asserts, and declares every function as our PTX defines it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs};

use ptx_codegen::request::Emit;
use ptx_project::build::{self, CargoFlags, DeviceBuild, Features, Show};
use ptx_project::options::Settings;
use ptx_project::progress::Progress;
use ptx_project::tools;
use ptx_tests::Skip;
use ptx_tests::folders::{root, target_dir};

const ARCH: &str = "sm_90";

/// Header and PTX of `tests/kernels/exports`.
fn built() -> &'static (PathBuf, String) {
    static BUILT: OnceLock<(PathBuf, String)> = OnceLock::new();
    BUILT.get_or_init(|| {
        let target = target_dir();
        let build = DeviceBuild {
            manifest: folder().join("Cargo.toml"),
            settings: Settings {
                arch: vec![ARCH.into()],
                emit: vec![Emit::Header],
                ptxas: Some("off".into()),
                ..Settings::default()
            },
            profile: "release".into(),
            features: Features::default(),
            tests: false,
            name: None,
            out_dir: target.join("layout/exports"),
            target_dir: target.join("layout/cargo"),
            cargo: env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from),
            rustc: "rustc".into(),
            sysroot: None,
            dump_dir: None,
            show: Show::Rendered,
            color: false,
            short: false,
            flags: CargoFlags::default(),
        };
        let report = build::run(&build, &Progress::quiet()).unwrap_or_else(|error| panic!("{error}")).report;
        let header = report.output(Emit::Header, None).expect("it was asked for").path.clone();
        let ptx = &report.output(Emit::Ptx, Some(ARCH)).expect("always written").path;
        (header, fs::read_to_string(ptx).expect("just written"))
    })
}

fn folder() -> PathBuf {
    root().join("tests/kernels/exports")
}

/// nvcc compiles the twin, and what it says of each function is what our PTX says.
pub fn nvcc() -> Skip {
    let tools = tools::find();
    let Some(nvcc) = tools.nvcc() else { return Some("nvcc was not found".into()) };
    let (header, ours) = built();
    let scratch = tempfile::tempdir().expect("a temporary folder");
    fs::copy(header, scratch.path().join("exports.h")).expect("a fresh file");
    let ptx = scratch.path().join("exports.ptx");
    let mut command = Command::new(&nvcc.path);
    command.args(["-std=c++17", "-Werror=all-warnings", &format!("-arch={ARCH}"), "-ptx", "-rdc=true", "-I"]);
    command.arg(scratch.path()).arg("-o").arg(&ptx).arg(folder().join("exports.cu"));
    run(&mut command);
    let theirs = signatures(&fs::read_to_string(&ptx).expect("just written"), ".extern .func");
    let mut ours = signatures(ours, ".visible .func");
    ours.retain(|name, _| name != "members");
    assert!(ours.len() >= 65, "only {} exports", ours.len());
    let names = |map: &BTreeMap<String, String>| map.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&ours), names(&theirs), "symbols: ours, nvcc's");
    for (name, signature) in &ours {
        assert_eq!(signature, &theirs[name], "{name}: ours, nvcc's");
    }
    None
}

/// The host's compiler accepts the types.
pub fn gxx() -> Skip {
    let tools = tools::find();
    let Some(nvcc) = tools.nvcc() else { return Some("CUDA's headers, which come with nvcc, were not found".into()) };
    if Command::new("g++").arg("--version").output().is_err() {
        return Some("g++ was not found".into());
    }
    let include = nvcc.path.parent().and_then(Path::parent).expect("nvcc lies in bin").join("include");
    let mut command = Command::new("g++");
    command
        .args(["-std=c++17", "-fsyntax-only", "-Wall", "-Werror", "-x", "c++", "-isystem"])
        .arg(include)
        .arg(&built().0);
    run(&mut command);
    None
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}:\n{}", String::from_utf8_lossy(&output.stderr));
}

/// Every function that begins with `start`: its symbol; result and parameters without their names.
fn signatures(ptx: &str, start: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for text in ptx.split(start).skip(1) {
        let end = text.find([';', '{']).expect("a declaration ends");
        let mut text = text[..end].trim();
        let mut result = String::new();
        if let Some(rest) = text.strip_prefix('(') {
            let (inside, rest) = rest.split_once(')').expect("a result ends");
            result = params(inside);
            text = rest.trim();
        }
        let (name, list) = text.split_once('(').unwrap_or((text, ""));
        let list = params(list.split(')').next().unwrap_or_default());
        let name = name.split_whitespace().next().expect("a name").to_string();
        found.insert(name, format!("({result}) ({list})"));
    }
    found
}

/// `.param .align 4 .b8 name[8], .param .b32 name` as `.param .align 4 .b8[8], .param .b32`.
fn params(list: &str) -> String {
    let one = |param: &str| {
        let (words, name) = param.trim().rsplit_once(char::is_whitespace).expect("a type and a name");
        let size = name.find('[').map_or("", |at| &name[at..]);
        words.split_whitespace().collect::<Vec<_>>().join(" ") + size
    };
    list.split(',').filter(|param| !param.trim().is_empty()).map(one).collect::<Vec<_>>().join(", ")
}
