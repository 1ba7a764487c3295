//! The command line of `cargo ptx`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use ptx_codegen::request::MessageFormat;
use ptx_project::build::Features;
use ptx_project::options::Settings;
use ptx_project::options::float::FloatSettings;
use ptx_project::options::panics::PanicSettings;

use super::script::ScriptArgs;

/// `cargo ptx …`
#[derive(Parser, Debug)]
#[command(name = "cargo ptx", bin_name = "cargo ptx", version, about = "Compiles Rust kernels for NVIDIA GPUs")]
#[command(args_conflicts_with_subcommands = true, subcommand_required = false, arg_required_else_help = true)]
#[command(after_help = "Start with `cargo ptx new NAME`. `cargo ptx doctor` says what is missing on this machine.")]
pub struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    pub verb: Option<Verb>,
    /// Explain a message by its code, as rustc does; the same as `explain CODE`.
    #[arg(long, value_name = "CODE", exclusive = true)]
    pub explain: Option<String>,
    /// Show no progress.
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

/// What to do.
#[derive(Subcommand, Debug)]
pub enum Verb {
    /// Make a package with a kernel and a program that launches it.
    New(NewArgs),
    /// Compile a package's kernels; print the files and what every kernel uses.
    Build(TimedBuildArgs),
    /// Have rustc check a package's kernels for the GPU, without compiling them; an editor can show what it says.
    Check(BuildArgs),
    /// Build and run the host program, as `cargo run` does.
    Run(RunArgs),
    /// Run a package's `#[test]`s on the GPU, one launch of one thread each.
    #[cfg(feature = "test")]
    Test(TestArgs),
    /// Build the host program without optimisation and start it in cuda-gdb, with pretty printers and sources.
    Debug(DebugArgs),
    /// Write the C++ header of the exported functions, the kernels and their types.
    #[command(mut_arg("out", |out| out.value_name("FILE").help("Where the header goes; it is printed by default")))]
    Header(BuildArgs),
    /// Show what became of the kernels: ABI, LLVM IR, PTX, machine code, floating-point modes, resources.
    Inspect(InspectArgs),
    /// Say what was found on this machine, what is missing, and what to do.
    Doctor {
        /// How to print it.
        #[arg(long, value_enum, default_value_t)]
        message_format: MessageFormat,
    },
    /// Build the device sysroot and install NVIDIA's tools, where they are missing.
    Setup {
        /// Leave NVIDIA's tools out.
        #[arg(long)]
        no_tools: bool,
    },
    /// Explain a message by its code, such as PTX0006.
    Explain {
        /// The code; all are listed without one.
        code: Option<String>,
    },
    /// What `ptx_build` runs in a build script.
    #[command(hide = true)]
    BuildScript(Box<ScriptArgs>),
}

impl Verb {
    /// How messages are printed.
    pub fn message_format(&self) -> MessageFormat {
        match self {
            Self::Build(args) => args.build.message_format,
            #[cfg(feature = "test")]
            Self::Test(args) => args.build.message_format,
            Self::Check(args) | Self::Header(args) => args.message_format,
            Self::Inspect(args) => args.build.message_format,
            Self::Doctor { message_format } => *message_format,
            _ => MessageFormat::Human,
        }
    }
}

/// `cargo ptx new`
#[derive(Args, Debug)]
pub struct NewArgs {
    /// The folder to make.
    pub path: PathBuf,
    /// The package's name; the folder's by default.
    #[arg(long)]
    pub name: Option<String>,
}

/// Which package, how, and where to.
#[derive(Args, Debug)]
pub struct BuildArgs {
    /// The package with the kernels; the one in this folder, or the only one that uses `ptx`, by default.
    #[arg(short, long, value_name = "NAME")]
    pub package: Option<String>,
    /// How cargo builds it.
    #[command(flatten)]
    pub cargo: CargoArgs,
    /// Where the files go; a folder in the target folder by default.
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Where to write the IR after every stage.
    #[arg(long, value_name = "DIR")]
    pub dump_dir: Option<PathBuf>,
    /// How to print messages and results.
    #[arg(long, value_enum, default_value_t)]
    pub message_format: MessageFormat,
    /// The linker's options.
    #[command(flatten)]
    pub settings: Settings,
}

/// `cargo ptx build`
#[derive(Args, Debug)]
pub struct TimedBuildArgs {
    /// How it is built.
    #[command(flatten)]
    pub build: BuildArgs,
    /// Say which stage took how long, and draw it.
    #[arg(long)]
    pub timings: bool,
}

/// What cargo builds, and how: its own options.
#[derive(Args, Debug)]
pub struct CargoArgs {
    /// A package's manifest instead of the one in this folder.
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,
    /// Compile with the profile `release`.
    #[arg(short, long, conflicts_with = "profile")]
    pub release: bool,
    /// Compile with this profile.
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Features of the package, separated by commas or spaces.
    #[arg(short = 'F', long, value_delimiter = ',')]
    pub features: Vec<String>,
    /// Leave the feature `default` off.
    #[arg(long)]
    pub no_default_features: bool,
    /// Every feature.
    #[arg(long)]
    pub all_features: bool,
    /// Where cargo keeps what it compiles.
    #[arg(long, value_name = "DIR")]
    pub target_dir: Option<PathBuf>,
}

impl CargoArgs {
    /// cargo's name of the profile.
    pub fn profile(&self) -> &str {
        match &self.profile {
            _ if self.release => "release",
            Some(name) if name == "debug" => "dev",
            Some(name) => name,
            None => "dev",
        }
    }

    /// As the device build takes them.
    pub fn features(&self) -> Features {
        let names = self.features.iter().flat_map(|names| names.split_whitespace()).map(str::to_string).collect();
        Features { names, default: !self.no_default_features, all: self.all_features }
    }
}

/// `cargo ptx run`
#[derive(Args, Debug)]
pub struct RunArgs {
    /// How the kernels are compiled.
    #[command(flatten)]
    pub device: DeviceArgs,
    /// What `cargo run` takes: --release, --bin NAME, …, -- and the program's arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    pub cargo: Vec<OsString>,
}

/// `cargo ptx test`
#[derive(Args, Debug)]
#[command(after_help = "\
What stands after `--` is for the tests: --list, --exact, --skip NAME, --ignored, --include-ignored, --nocapture,
--format pretty|terse|json, --deadline SECONDS. `cargo ptx test -- --help` lists them.")]
#[cfg(feature = "test")]
pub struct TestArgs {
    /// Only tests whose names contain this.
    pub filter: Option<String>,
    /// Compile the tests, but run none.
    #[arg(long)]
    pub no_run: bool,
    /// How they are built.
    #[command(flatten)]
    pub build: BuildArgs,
    /// Arguments for the tests.
    #[arg(last = true, value_name = "ARGS")]
    pub tests: Vec<OsString>,
}

/// `cargo ptx debug`
#[derive(Args, Debug)]
pub struct DebugArgs {
    /// Which program, and how it is built.
    #[command(flatten)]
    pub build: ProgramArgs,
    /// The debugger, instead of the one that CUDA_GDB, CUDA_HOME or PATH has.
    #[arg(long, value_name = "PATH")]
    pub cuda_gdb: Option<PathBuf>,
    /// A command for cuda-gdb before it reads from the terminal, as in `-e 'break lib.rs:12' -e run`.
    #[arg(short, long, value_name = "COMMAND")]
    pub execute: Vec<String>,
    /// End after the commands.
    #[arg(long)]
    pub batch: bool,
    /// Print cuda-gdb's command line instead of starting it.
    #[arg(long)]
    pub print_command: bool,
    /// Write the script that makes cuda-gdb ready, print its path, and build and start nothing: for IDEs.
    #[arg(long, conflicts_with = "print_command")]
    pub setup: bool,
    /// The program's arguments.
    #[arg(last = true, value_name = "ARGS")]
    pub program: Vec<OsString>,
}

/// Which host program, and how it is built: cargo's options.
#[derive(Args, Debug)]
pub struct ProgramArgs {
    /// The package that the program is in, as for `cargo run`.
    #[arg(short, long, value_name = "NAME")]
    pub package: Option<String>,
    /// The program, where the package has several.
    #[arg(long, value_name = "NAME", conflicts_with = "example")]
    pub bin: Option<String>,
    /// An example of the package, in place of a program.
    #[arg(long, value_name = "NAME")]
    pub example: Option<String>,
    /// How cargo builds it.
    #[command(flatten)]
    pub cargo: CargoArgs,
    /// How the kernels are compiled.
    #[command(flatten)]
    pub device: DeviceArgs,
}

/// What the build script is told of the kernels, through the environment.
#[derive(Args, Debug)]
pub struct DeviceArgs {
    /// GPU architectures, such as sm_80,sm_90a; the package's own choice by default.
    #[arg(long, value_delimiter = ',')]
    pub arch: Vec<String>,
    /// Floating-point modes of the kernels.
    #[command(flatten)]
    pub float: FloatSettings,
    /// What panics leave behind.
    #[command(flatten)]
    pub panic: PanicSettings,
}

impl ProgramArgs {
    /// As cargo takes them.
    pub fn to_cargo(&self) -> Vec<OsString> {
        let mut args: Vec<OsString> = Vec::new();
        let named = [
            ("--package", self.package.as_ref()),
            ("--bin", self.bin.as_ref()),
            ("--example", self.example.as_ref()),
            ("--profile", self.cargo.profile.as_ref()),
        ];
        for (option, value) in named {
            args.extend(value.into_iter().flat_map(|value| [option.into(), value.into()]));
        }
        for (option, path) in [("--manifest-path", &self.cargo.manifest_path), ("--target-dir", &self.cargo.target_dir)]
        {
            args.extend(path.iter().flat_map(|path| [option.into(), path.into()]));
        }
        let flags = [
            ("--release", self.cargo.release),
            ("--no-default-features", self.cargo.no_default_features),
            ("--all-features", self.cargo.all_features),
        ];
        args.extend(flags.into_iter().filter(|(_, set)| *set).map(|(flag, _)| flag.into()));
        if !self.cargo.features.is_empty() {
            args.extend(["--features".into(), self.cargo.features.join(",").into()]);
        }
        args
    }
}

/// `cargo ptx inspect`
#[derive(Args, Debug)]
pub struct InspectArgs {
    /// What to show.
    pub what: What,
    /// Of this kernel only.
    pub kernel: Option<String>,
    /// With `abi`: how a type of every kind is passed, without building anything.
    #[arg(long)]
    pub types: bool,
    /// How it is built.
    #[command(flatten)]
    pub build: BuildArgs,
}

/// What `inspect` shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// Every parameter: Rust type, size, alignment, PTX parameters.
    Abi,
    /// Optimised LLVM IR.
    Llvm,
    /// The PTX that ptxas or the driver compiles.
    Ptx,
    /// Machine code, by NVIDIA's disassembler.
    Sass,
    /// The floating-point modes of every kernel.
    Float,
    /// Registers, stack, spills, shared and constant memory, as ptxas reports them.
    Resources,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use ptx_codegen::request::{DebugLevel, Emit};

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
        let args = build(
            "build --arch sm_80,sm_90a --emit ptx,cubin,llvm-ir --out o -p k --features a,b --no-default-features",
        );
        assert_eq!(args.settings.arch, ["sm_80", "sm_90a"]);
        assert_eq!(args.settings.emit, [Emit::Ptx, Emit::Cubin, Emit::LlvmIr]);
        assert_eq!((args.out, args.package.as_deref()), (Some("o".into()), Some("k")));
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
    fn run_passes_arguments_on() {
        for (line, arch, cargo) in [
            ("run --release --bin x -- --flag 1", &[][..], &["--release", "--bin", "x", "--", "--flag", "1"][..]),
            ("run --arch sm_80 -p k", &["sm_80"], &["-p", "k"]),
            ("run --ftz=true --release", &[], &["--release"]),
            ("run --panic=location --panic-for sha2=trap --release", &[], &["--release"]),
            ("run", &[], &[]),
        ] {
            let Verb::Run(args) = parse(line).unwrap() else { panic!("{line}") };
            assert_eq!(args.device.arch, arch, "{line}");
            assert_eq!(args.cargo, cargo, "{line}");
        }
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
    fn timings_are_asked_for_without_a_value() {
        let Verb::Build(args) = parse("build --timings --release").unwrap() else { panic!() };
        assert!(args.timings && args.build.cargo.release);
        assert!(parse("build --timings=html").unwrap_err().contains("unexpected value 'html' for '--timings'"));
        assert!(parse("inspect ptx --timings").unwrap_err().contains("unexpected argument '--timings'"));
    }

    #[test]
    fn header_takes_a_file() {
        let Verb::Header(args) = parse("header -o include/k.h -p k").unwrap() else { panic!() };
        assert_eq!((args.out, args.package.as_deref()), (Some("include/k.h".into()), Some("k")));
        assert!(parse("header --help").unwrap_err().contains("--out <FILE>"));
    }

    #[test]
    fn inspect_takes_a_kernel_and_builds_options() {
        let Verb::Inspect(args) = parse("inspect ptx saxpy --arch sm_80 --release").unwrap() else { panic!() };
        assert_eq!((args.what, args.kernel.as_deref(), args.build.cargo.release), (What::Ptx, Some("saxpy"), true));
        assert!(parse("inspect elf").unwrap_err().contains("possible values: abi, llvm, ptx, sass, float, resources"));
    }
}
