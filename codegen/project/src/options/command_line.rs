//! The only reader of the linker's arguments.
//!
//! rustc calls the linker of an `llbc` target with objects, rlibs, `-L`, `--target`, `--target-cpu`, `--export-symbol`,
//! `-o`, `-O`, `--debug` and whatever stands in `-C link-arg=`. Options of our own come from there or from
//! `[package.metadata.ptx]` in the package's manifest; an argument wins over the manifest.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::Parser;
use ptx_codegen::arch::Arch;
use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result};
use ptx_codegen::request::{Caches, DebugLevel, Libdevice, MessageFormat, OptLevel, Options, Ptxas, TARGET};

use super::settings::Settings;
use super::{arch, float};
use crate::{cache, timings, tools};

/// The command line that rustc gives an `llbc` linker.
#[derive(Parser, Debug)]
#[command(
    name = "ptx-linker",
    version,
    about = "Links rustc's bitcode for nvptx64-nvidia-cuda into PTX",
    args_override_self = true
)]
struct CommandLine {
    /// Objects, bitcode, rlibs and archives.
    inputs: Vec<PathBuf>,
    /// Where the PTX goes.
    #[arg(short = 'o', long, required_unless_present = "explain")]
    output: Option<PathBuf>,
    /// Library folders; rustc passes them, rlibs come by full path.
    #[arg(short = 'L', hide = true)]
    _library_path: Vec<PathBuf>,
    /// Must be nvptx64-nvidia-cuda.
    #[arg(long, default_value = TARGET)]
    target: String,
    /// `-C target-cpu`; `--arch` wins.
    #[arg(long)]
    target_cpu: Option<String>,
    /// `-C target-feature`; PTX versions are chosen by `--ptx-version`.
    #[arg(long, hide = true)]
    target_feature: Option<String>,
    /// Symbols to keep.
    #[arg(long)]
    export_symbol: Vec<String>,
    /// 0, 1, 2, 3, s or z.
    #[arg(short = 'O', default_value = "0", value_parser = parse_opt_level)]
    opt_level: OptLevel,
    /// The bitcode has debug information to keep.
    #[arg(long)]
    debug: bool,
    /// Stem of the files in the output folder; the output's by default.
    #[arg(long)]
    name: Option<String>,
    /// Where outputs besides the PTX of the first arch go.
    #[arg(long)]
    out_dir: Option<PathBuf>,
    /// Where to write the IR after every stage.
    #[arg(long)]
    dump_dir: Option<PathBuf>,
    /// How to print messages.
    #[arg(long, value_enum, default_value_t)]
    message_format: MessageFormat,
    /// What relative source paths in messages are relative to.
    #[arg(long)]
    source_base: Option<PathBuf>,
    /// Changes whenever the linker does, so that cargo links again.
    #[arg(long, hide = true)]
    linker_id: Option<String>,
    #[command(flatten)]
    settings: Settings,
    /// All settings of a device build at once; those that are named one by one win.
    #[arg(long = "settings", hide = true, value_parser = Settings::of_link_arg)]
    of_build: Option<Settings>,
    /// Explain a message by its code, such as PTX0006.
    #[arg(long, value_name = "CODE", exclusive = true)]
    explain: Option<String>,
}

fn parse_opt_level(text: &str) -> Result<OptLevel, String> {
    Ok(match text {
        "0" => OptLevel::O0,
        "1" => OptLevel::O1,
        "2" => OptLevel::O2,
        "3" => OptLevel::O3,
        "s" => OptLevel::Os,
        "z" => OptLevel::Oz,
        _ => return Err(format!("`{text}` is not an optimisation level (0, 1, 2, 3, s, z)")),
    })
}

/// What the arguments ask for.
#[derive(Debug)]
pub enum Request {
    /// To link.
    Link(Box<Options>),
    /// To print help, the version or an explanation.
    Print(String),
}

/// Reads a command line without the program's name, and `[package.metadata.ptx]` of the package that cargo
/// builds (`CARGO_MANIFEST_PATH`).
pub fn from_args(args: impl IntoIterator<Item = OsString>) -> Result<Request> {
    let args = expand_response_files(args)?;
    let program = OsString::from("ptx-linker");
    let line = match CommandLine::try_parse_from(std::iter::once(program).chain(float::with_two_dashes(args))) {
        Ok(line) => line,
        Err(error) if !error.use_stderr() => return Ok(Request::Print(error.to_string())),
        Err(error) => return Err(from_clap(&error).into()),
    };
    if let Some(code) = line.explain {
        return Ok(Request::Print(Diagnostic::explain(&code)?));
    }
    // clap sees to it that there is an output.
    let output = line.output.unwrap_or_default();
    if line.target != TARGET {
        return Err(usage(format!("target `{}` is not {TARGET}", line.target)).into());
    }
    let manifest = match std::env::var_os("CARGO_MANIFEST_PATH") {
        Some(manifest) => Settings::of_manifest(Path::new(&manifest))?,
        None => Settings::default(),
    };
    let current = std::env::current_dir().unwrap_or_default();
    let mut own = line.settings;
    arch::check(&mut own.arch, arch::From::LinkArgument)?;
    let given = own.or(line.of_build.unwrap_or_default());
    let mut settings = given.linking_below(&current).or(manifest.linking_below(&current));
    if settings.link_at_load && !settings.link.is_empty() {
        return Err(usage("files to link with and `link-at-load` exclude each other")
            .help("name the files when the program links, as in `device.linker().file(path)`, or leave `link-at-load` out")
            .into());
    }
    if settings.arch.is_empty() {
        settings.arch = vec![line.target_cpu.unwrap_or_else(|| Arch::portable().name().into())];
        arch::check(&mut settings.arch, arch::From::TargetCpu)?;
    }
    let name = match line.name {
        Some(name) => name,
        None => output.file_stem().and_then(OsStr::to_str).unwrap_or("kernels").to_string(),
    };
    Ok(Request::Link(Box::new(Options {
        inputs: line.inputs,
        output,
        out_dir: line.out_dir,
        name,
        archs: arch::archs(&settings.arch)?,
        emit: settings.emit,
        opt_level: line.opt_level,
        debug: match settings.debug_level.unwrap_or(if line.debug { DebugLevel::Full } else { DebugLevel::None }) {
            // ptxas debugs unoptimised code alone; of the rest it takes the lines.
            DebugLevel::Full if line.opt_level != OptLevel::O0 => DebugLevel::LineTables,
            level => level,
        },
        // rustc exports every `#[no_mangle]` function of every crate, our own runtime's too.
        exports: line.export_symbol.into_iter().filter(|name| !name.starts_with(ptx_abi::RUNTIME_PREFIX)).collect(),
        ptxas: match settings.ptxas.as_deref() {
            None | Some("auto") => Ptxas::Auto,
            Some("off") => Ptxas::Off,
            Some(path) => Ptxas::Path(path.into()),
        },
        caches: Caches { load: settings.def_load_cache, store: settings.def_store_cache },
        libdevice: match settings.libdevice.as_deref() {
            None | Some("auto") => Libdevice::Auto,
            Some("off") => Libdevice::Off,
            Some(path) => Libdevice::Path(path.into()),
        },
        ptx_version: settings.ptx_version.map(|text| text.parse().map_err(usage::<String>)).transpose()?,
        dump_dir: line.dump_dir,
        message_format: line.message_format,
        source_base: line.source_base.unwrap_or_default(),
        link: settings.link,
        link_at_load: settings.link_at_load,
        nvcc_flags: settings.nvcc_flags,
        float: settings.float.modes()?,
        panics: settings.panic.panics(),
        tools: tools::find(),
        // Without a cache folder all is made each time.
        ptxas_cache: cache::root().ok().map(|root| root.join(cache::PTXAS)),
        groups_cache: cache::root().ok().map(|root| root.join(cache::GROUPS)),
        timings: timings::are_wanted(),
    })))
}

/// clap's message without its usage line, and its tip as our help.
fn from_clap(error: &clap::Error) -> Diagnostic {
    let text = error.to_string();
    let mut paragraphs = text.split("\n\n").map(str::trim).take_while(|part| !part.starts_with("Usage:"));
    let reason = paragraphs.next().unwrap_or_default().trim_start_matches("error: ");
    let diagnostic = usage(reason.lines().map(str::trim).collect::<Vec<_>>().join(" "));
    paragraphs
        .fold(diagnostic, |diagnostic, part| diagnostic.help(part.trim_start_matches("tip: ")))
        .help("`ptx-linker --help` lists the options")
}

fn usage<S: Into<String>>(reason: S) -> Diagnostic {
    Diagnostic::error(Code::Usage, reason)
}

/// Puts the contents of `@file` in its place, as rustc writes it when a command line is too long: an argument a line,
/// backslash before space and backslash.
fn expand_response_files(args: impl IntoIterator<Item = OsString>) -> Result<Vec<OsString>> {
    let mut expanded = Vec::new();
    for arg in args {
        let Some(path) = arg.to_str().and_then(|arg| arg.strip_prefix('@')) else {
            expanded.push(arg);
            continue;
        };
        let text =
            std::fs::read_to_string(path).map_err(|e| usage(format!("cannot read the response file {path}: {e}")))?;
        expanded.extend(text.lines().filter(|line| !line.is_empty()).map(|line| unescape(line).into()));
    }
    Ok(expanded)
}

fn unescape(line: &str) -> String {
    let mut chars = line.chars();
    let mut text = String::with_capacity(line.len());
    while let Some(c) = chars.next() {
        text.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::float::FloatSettings;
    use crate::options::panics::{PanicFor, PanicSettings};
    use ptx_codegen::arch::PtxVersion;
    use ptx_codegen::request::{AfterPanic, Emit, LoadCache, Modes, PanicStrategy, StoreCache};

    fn parse(args: &[&str]) -> Result<Options> {
        match from_args(args.iter().map(OsString::from))? {
            Request::Link(options) => Ok(*options),
            Request::Print(text) => panic!("printed {text}"),
        }
    }

    #[test]
    fn rustcs_command_line_is_understood() {
        let options = parse(&[
            "--export-symbol",
            "foo",
            "a.o",
            "libcore.rlib",
            "-L",
            "/x",
            "--target",
            TARGET,
            "--target-cpu",
            "sm_90",
            "-o",
            "out/k.ptx",
            "-O3",
            "--debug",
            "--arch=sm_90a,sm_80",
        ])
        .unwrap();
        assert_eq!(options.inputs, [PathBuf::from("a.o"), "libcore.rlib".into()]);
        assert_eq!(options.exports, ["foo"]);
        assert_eq!(options.archs.iter().map(|a| a.name()).collect::<Vec<_>>(), ["sm_80", "sm_90a"]);
        assert_eq!(options.opt_level, OptLevel::O3);
        assert_eq!(options.debug, DebugLevel::LineTables, "optimised code has no more");
        assert_eq!(options.name, "k");
        assert_eq!(parse(&["--debug", "-o", "k.ptx"]).unwrap().debug, DebugLevel::Full);
        assert_eq!(parse(&["--debug-level=full", "-o", "k.ptx"]).unwrap().debug, DebugLevel::Full);
        assert_eq!(parse(&["--debug-level=none", "--debug", "-o", "k.ptx"]).unwrap().debug, DebugLevel::None);
    }

    #[test]
    fn response_files_are_expanded() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("args");
        std::fs::write(&file, "a\\ b.o\n-o\nk.ptx\n").unwrap();
        let options = parse(&[&format!("@{}", file.display())]).unwrap();
        assert_eq!(options.inputs, [PathBuf::from("a b.o")]);
        assert!(parse(&["@/nonexistent"]).unwrap_err().to_string().contains("response file"));
    }

    #[test]
    fn settings_survive_the_way_through_link_args() {
        let settings = Settings {
            arch: vec!["sm_80".into(), "sm_90a".into()],
            emit: vec![Emit::Cubin, Emit::LlvmIr],
            debug_level: Some(DebugLevel::LineTables),
            ptxas: Some("off".into()),
            def_load_cache: Some(LoadCache::Cg),
            def_store_cache: Some(StoreCache::Wt),
            libdevice: Some("off".into()),
            ptx_version: Some("8.0".into()),
            host_only: vec![],
            link: vec!["/a/twin.cu".into()],
            link_at_load: false,
            nvcc_flags: vec!["-I/x".into()],
            float: FloatSettings { fmad: Some(false), prec_sqrt: Some(false), ..FloatSettings::default() },
            panic: PanicSettings {
                panic: Some(PanicStrategy::Location),
                panic_for: vec![PanicFor { name: "sha2".into(), strategy: PanicStrategy::Trap }],
                after_panic: Some(AfterPanic::Exit),
            },
        };
        let arg = settings.to_link_arg();
        let options = parse(&[&arg, "-o", "k.ptx"]).unwrap();
        assert_eq!(parse(&[&arg, "-o", "k.ptx", "--ptxas=auto"]).unwrap().ptxas, Ptxas::Auto, "what is named wins");
        assert!(parse(&["--settings=[]", "-o", "k.ptx"]).unwrap_err().to_string().contains("PTX0001"));
        assert_eq!(options.emit, [Emit::Cubin, Emit::LlvmIr]);
        assert_eq!(options.debug, DebugLevel::LineTables);
        assert_eq!((options.ptxas, options.libdevice), (Ptxas::Off, Libdevice::Off));
        let caches = ["--def-load-cache=cg", "--def-store-cache=wt"];
        assert_eq!(options.caches.arguments().collect::<Vec<_>>(), caches);
        assert_eq!(options.float, Modes { fmad: false, prec_sqrt: false, ..Modes::DEFAULT });
        assert_eq!(options.panics.default, PanicStrategy::Location);
        assert_eq!(options.panics.of(Some("sha2")), PanicStrategy::Trap);
        assert_eq!(options.panics.after, AfterPanic::Exit);
        assert_eq!(options.ptx_version, Some(PtxVersion { major: 8, minor: 0 }));
        assert_eq!((options.link, options.nvcc_flags), (vec![PathBuf::from("/a/twin.cu")], vec!["-I/x".to_string()]));
    }

    #[test]
    fn files_to_link_with_add_up() {
        let dir = tempfile::tempdir().unwrap();
        let manifest = dir.path().join("Cargo.toml");
        let text = "[package.metadata.ptx]\nlink = [\"kernels/../twin.cu\", \"b.o\"]\n";
        std::fs::write(&manifest, text).unwrap();
        let manifest = Settings::of_manifest(&manifest).unwrap();
        let ours = Settings { link: vec![dir.path().join("b.o"), "/c.a".into()], ..Settings::default() };
        assert_eq!(
            ours.or(manifest).link,
            [dir.path().join("b.o"), "/c.a".into(), dir.path().join("twin.cu")],
            "each file once, and those of the manifest below its folder"
        );
        let error = parse(&["-o", "k.ptx", "--link=a.cu", "--allow-undefined"]).unwrap_err().to_string();
        assert!(error.contains("exclude each other"), "{error}");
    }

    #[test]
    fn an_arguments_mode_wins_over_the_manifests() {
        let dir = tempfile::tempdir().unwrap();
        let manifest = dir.path().join("Cargo.toml");
        let of = |text: &str| {
            std::fs::write(&manifest, format!("[package.metadata.ptx]\n{text}\n")).unwrap();
            Settings::of_manifest(&manifest)
        };
        let given = of("fmad = false\nprec_div = false\narch = [\"sm_90\"]").unwrap();
        let ours =
            Settings { float: FloatSettings { fmad: Some(true), ..FloatSettings::default() }, ..Settings::default() };
        let both = ours.or(given);
        assert_eq!(both.arch, ["sm_90"]);
        let error = of("use-fast-math = true\nftz = false").unwrap_err().to_string();
        assert!(error.contains("`use-fast-math=true` means `ftz=true`") && error.contains("Cargo.toml"), "{error}");
        assert_eq!(both.float.modes().unwrap(), Modes { prec_div: false, ..Modes::DEFAULT });
        for (text, expected) in [
            ("ftz = \"on\"", "expected a boolean"),
            ("fmda = true", "there is no option `fmda`"),
            ("panic = \"silent\"", "unknown variant `silent`, expected one of `full`, `location`, `trap`"),
            ("panic = 3", "toml: `panic`: expected a string"),
            ("panic-for = { sha2 = \"silent\" }", "toml: `panic-for.sha2`: unknown variant `silent`"),
            ("panic-for = [\"sha2\"]", "`panic-for`: invalid type: sequence, expected a table, as in"),
            (
                "debug-level = \"ful\"",
                "`debug-level`: unknown variant `ful`, expected one of `none`, `line-tables`, `full`",
            ),
            ("emit = [\"ptxx\"]", "`emit`: unknown variant `ptxx`, expected one of `ptx`, `cubin`"),
            ("arch = \"sm_80\"", "`arch`: invalid type: string \"sm_80\", expected a list, as in `[\"…\"]`"),
        ] {
            let error = of(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn nvccs_spellings_of_modes_are_understood() {
        for (args, expected) in [
            (&["--use-fast-math"][..], Modes::FAST_MATH),
            (&["--use_fast_math=true"], Modes::FAST_MATH),
            (&["--use-fast-math=false", "--fmad=false"], Modes { fmad: false, ..Modes::DEFAULT }),
            (&["--ftz", "true"], Modes { ftz: true, ..Modes::DEFAULT }),
            (&["-fmad=false"], Modes { fmad: false, ..Modes::DEFAULT }),
            (&["--prec-sqrt=false", "--prec_div=false"], Modes { prec_div: false, prec_sqrt: false, ..Modes::DEFAULT }),
        ] {
            let args: Vec<&str> = args.iter().copied().chain(["-o", "k.ptx"]).collect();
            assert_eq!(parse(&args).unwrap().float, expected, "{args:?}");
        }
    }

    #[test]
    fn codes_are_explained() {
        let explain = |code: &str| from_args(["--explain", code].map(OsString::from));
        match explain("PTX0012").unwrap() {
            Request::Print(text) => assert!(text.contains("ptxas not found\n\nCubins, fatbins"), "{text}"),
            Request::Link(_) => panic!("it links"),
        }
        assert!(explain("PTX9999").unwrap_err().to_string().contains("there is no message"));
    }

    #[test]
    fn the_last_of_several_values_counts() {
        let options = parse(&["-o", "k.ptx", "--ptxas=off", "--debug-level=full", "--ptxas=auto"]).unwrap();
        assert_eq!((options.ptxas, options.debug), (Ptxas::Auto, DebugLevel::Full));
    }

    #[test]
    fn bad_options_say_what_is_wrong() {
        for (args, expected) in [
            (&["-o", "k.ptx", "--arch", "sm_61"][..], "older than sm_70"),
            (&["-o", "k.ptx", "--frobnicate"], "--frobnicate"),
            (&["a.o"], "--output"),
            (&["-o", "k.ptx", "-O9"], "optimisation level"),
            (&["-o", "k.ptx", "--target", "x86_64-unknown-linux-gnu"], "is not nvptx64"),
            (&["-o", "k.ptx", "--ptx-version", "eight"], "not a PTX ISA version"),
            (&["-o", "k.ptx", "--ftz=maybe"], "[possible values: true, false]"),
            (&["-o", "k.ptx", "--panic=silent"], "[possible values: full, location, trap]"),
            (&["-o", "k.ptx", "--panic-for=sha2"], "write `sha2=full`"),
            (&["-o", "k.ptx", "--after-panic=abort"], "[possible values: exit, trap]"),
            (&["-o", "k.ptx", "--fmda=true"], "'--fmad'"),
            (&["-o", "k.ptx", "--use-fast-math", "--fmad=false"], "`fmad=false` contradicts it"),
        ] {
            let error = parse(args).unwrap_err().to_string();
            assert!(error.contains(expected), "{args:?}: {error}");
        }
    }
}
