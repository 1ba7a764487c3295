//! Command lines, and what is read from them.

use clap::CommandFactory;

use super::*;
use ptx_codegen::request::{DebugLevel, Emit};
use ptx_project::build::Features;

fn parse(line: &str) -> Result<Verb, String> {
    let args = std::iter::once("cargo-ptx").chain(line.split(' '));
    CommandLine::try_parse_from(args).map(|line| line.verb.expect("a verb is given")).map_err(|e| e.to_string())
}

fn build(line: &str) -> BuildArgs {
    match parse(line).unwrap() {
        Verb::Build(args) => args.build,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_command_line_is_sound() {
    CommandLine::command().debug_assert();
}

#[test]
fn build_takes_cargos_options_and_ours() {
    let args =
        build("build --arch sm_80,sm_90a --emit ptx,cubin,llvm-ir --out o -p k --features a,b --no-default-features");
    assert_eq!(args.settings.arch, ["sm_80", "sm_90a"]);
    assert_eq!(args.settings.emit, [Emit::Ptx, Emit::Cubin, Emit::LlvmIr]);
    assert_eq!((args.out, args.packages.package), (Some("o".into()), vec!["k".to_string()]));
    let args =
        build("build --debug-level line-tables --ptxas off --ptx-version 8.0 --features a,b --no-default-features");
    assert_eq!(args.settings.debug_level, Some(DebugLevel::LineTables));
    assert_eq!(args.settings.ptx_version.as_deref(), Some("8.0"));
    assert_eq!(args.cargo.features(), Features { names: vec!["a".into(), "b".into()], default: false, all: false });
}

#[test]
fn profiles_are_cargos() {
    for (line, profile) in [
        ("build", "dev"),
        ("build --release", "release"),
        ("build -r", "release"),
        ("build --profile fast", "fast"),
        ("build --profile debug", "dev"),
    ] {
        assert_eq!(build(line).cargo.profile(), profile, "{line}");
    }
    assert!(parse("build --release --profile fast").unwrap_err().contains("cannot be used with"));
}

#[test]
fn run_takes_cargos_options_and_ours_in_any_order() {
    for (line, arch, cargo, program) in [
        ("run --release --bin x -- --flag 1", &[][..], &["--bin", "x", "--release"][..], &["--flag", "1"][..]),
        ("run --release --arch sm_80 -p k", &["sm_80"], &["--package", "k", "--release"], &[]),
        ("run -r --ftz=true one --release", &[], &["--release"], &["one", "--release"]),
        ("run --locked --offline --panic=location -j 2", &[], &["--offline", "--jobs", "2", "--locked"], &[]),
        ("run --frozen --example e", &[], &["--example", "e", "--offline", "--locked"], &[]),
        ("run", &[], &[], &[]),
    ] {
        let Verb::Run(args) = parse(line).unwrap() else { panic!("{line}") };
        assert_eq!(args.build.device.arch, arch, "{line}");
        assert_eq!(args.build.to_cargo(), cargo, "{line}");
        assert_eq!(args.program, program, "{line}");
    }
    assert!(parse("run --relase").unwrap_err().contains("'--release'"));
}

#[test]
fn device_builds_get_what_says_how_cargo_works() {
    let args = build("build --offline --locked -j 3 --keep-going --config a.b=1 --config c=2 -Z unstable-options -F x");
    let flags = args.cargo.flags();
    let expected =
        ["--offline", "--config", "a.b=1", "--config", "c=2", "-Z", "unstable-options", "--jobs", "3", "--keep-going"];
    assert_eq!((flags.args.as_slice(), flags.locked), (expected.map(String::from).as_slice(), true));
    assert_eq!(flags.args_of_all(), expected[..7], "what compiles nothing has no jobs");
}

#[test]
fn a_configuration_file_is_found_from_every_folder() {
    let file = tempfile::NamedTempFile::new_in(".").unwrap();
    let name = file.path().file_name().unwrap().to_str().unwrap();
    let args = build(&format!("build --config {name}")).cargo.common.shared();
    assert!(args[1].starts_with('/') && args[1].ends_with(name), "{args:?}");
}

#[test]
fn packages_are_named_one_by_one_or_all() {
    assert_eq!(build("build -p a -p b").packages.package, ["a", "b"]);
    let args = build("build --workspace --exclude a").packages;
    assert!(args.workspace && args.exclude == ["a"]);
    assert!(parse("build --exclude a").unwrap_err().contains("--workspace"));
    assert!(parse("build --workspace -p a").unwrap_err().contains("cannot be used with"));
}

#[test]
fn global_options_stand_anywhere() {
    for line in ["-v build --color never", "build -v --color=never", "--color never -v b"] {
        let args = std::iter::once("cargo-ptx").chain(line.split(' '));
        let line = CommandLine::try_parse_from(args).unwrap();
        assert_eq!((line.verbose, line.color, line.quiet), (1, Some(Color::Never), false));
    }
    assert!(parse("build -q -v").unwrap_err().contains("cannot be used with"));
}

#[test]
fn verbs_of_cargos_have_its_short_names() {
    assert!(matches!(parse("c --message-format short").unwrap(), Verb::Check(args) if args.message_format.is_short()));
    assert!(matches!(parse("clippy -- -D warnings").unwrap(), Verb::Clippy(args) if args.clippy == ["-D", "warnings"]));
    assert!(matches!(parse("d --no-deps --open").unwrap(), Verb::Doc(args) if args.no_deps && args.open));
    assert!(matches!(parse("r -r").unwrap(), Verb::Run(args) if args.build.cargo.release));
    assert!(matches!(parse("clean -n").unwrap(), Verb::Clean(args) if args.dry_run));
    assert!(parse("buidl").unwrap_err().contains("'build'"));
}

#[test]
fn debug_takes_cargos_options_its_own_and_the_programs() {
    let line = "debug --bin x -p k --release --features a,b -e run --cuda-gdb /g --batch -- --flag -e";
    let Verb::Debug(args) = parse(line).unwrap() else { panic!() };
    assert_eq!(args.build.to_cargo(), ["--package", "k", "--bin", "x", "--release", "--features", "a,b"]);
    assert_eq!((args.execute, args.cuda_gdb), (vec!["run".to_string()], Some("/g".into())));
    assert_eq!((args.batch, args.program), (true, vec!["--flag".into(), "-e".into()]));
    assert!(parse("debug --bin x --example y").unwrap_err().contains("cannot be used with"));
    assert!(parse("debug stray").unwrap_err().contains("unexpected argument"));
}

#[test]
fn a_folder_becomes_a_package_or_gets_a_configuration() {
    let Verb::Init(args) = parse("init --linker --arch sm_90").unwrap() else { panic!() };
    assert!(args.linker && args.path.as_os_str() == "." && args.arch.as_deref() == Some("sm_90"));
    assert!(parse("init --arch sm_90").unwrap_err().contains("--linker"));
    assert!(parse("init --linker --name a").unwrap_err().contains("cannot be used with"));
}

#[test]
fn timings_are_asked_for_without_a_value() {
    let Verb::Build(args) = parse("build --timings --release").unwrap() else { panic!() };
    assert!(args.timings && args.build.cargo.release);
    assert!(parse("build --timings=html").unwrap_err().contains("unexpected value 'html' for '--timings'"));
    assert!(parse("inspect ptx --timings").unwrap_err().contains("unexpected argument '--timings'"));
}

#[test]
fn header_takes_a_file() {
    let Verb::Header(args) = parse("header -o include/k.h -p k").unwrap() else { panic!() };
    assert_eq!((args.out, args.packages.package), (Some("include/k.h".into()), vec!["k".to_string()]));
    assert!(parse("header --help").unwrap_err().contains("--out <FILE>"));
}

#[test]
fn inspect_takes_a_kernel_and_builds_options() {
    let Verb::Inspect(args) = parse("inspect ptx saxpy --arch sm_80 --release").unwrap() else { panic!() };
    assert_eq!((args.what, args.kernel.as_deref(), args.build.cargo.release), (What::Ptx, Some("saxpy"), true));
    assert!(parse("inspect elf").unwrap_err().contains("possible values: abi, llvm, ptx, sass, float, resources"));
}
