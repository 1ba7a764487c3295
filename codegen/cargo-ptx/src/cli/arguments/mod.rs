//! The command line of `cargo ptx`.

mod cargo;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

use ptx_project::options::Settings;
use ptx_project::options::float::FloatSettings;
use ptx_project::options::panics::PanicSettings;

use super::environment::{Color, Terminal};
use super::output::Format;
use super::script::ScriptArgs;

pub use cargo::{CargoArgs, CommonArgs, PackageArgs};

/// `cargo ptx …`
#[derive(Parser, Debug)]
#[command(name = "cargo ptx", bin_name = "cargo ptx", version, about = "Compiles Rust kernels for NVIDIA GPUs")]
#[command(subcommand_required = false, arg_required_else_help = true)]
#[command(after_help = "Start with `cargo ptx new NAME`. `cargo ptx doctor` says what is missing on this machine.")]
pub struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    pub verb: Option<Verb>,
    /// Explain a message by its code, as rustc does; the same as `explain CODE`.
    #[arg(long, value_name = "CODE", exclusive = true)]
    pub explain: Option<String>,
    /// Show no progress.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Show what cargo says too; `-vv` more of it.
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
    /// When text is coloured.
    #[arg(long, global = true, value_name = "WHEN", value_enum)]
    pub color: Option<Color>,
}

impl CommandLine {
    /// How much is printed.
    pub fn terminal(&self) -> Terminal {
        Terminal { quiet: self.quiet, verbose: self.verbose, color: self.color }
    }
}

/// What to do.
#[derive(Subcommand, Debug)]
pub enum Verb {
    /// Make a package with a kernel and a program that launches it.
    New(NewArgs),
    /// Make such a package in a folder that is there, or with `--linker` have plain cargo compile kernels below it.
    Init(InitArgs),
    /// Compile a package's kernels; print the files and what every kernel uses.
    #[command(visible_alias = "b")]
    Build(TimedBuildArgs),
    /// Have rustc check a package's kernels for the GPU, without compiling them; an editor can show what it says.
    #[command(visible_alias = "c")]
    Check(BuildArgs),
    /// Have Clippy check a package's kernels as code for the GPU.
    Clippy(ClippyArgs),
    /// Build the documentation of a package's library as code for the GPU.
    #[command(visible_alias = "d")]
    Doc(DocArgs),
    /// Show the code for the GPU after its macros have been expanded; needs a nightly rustc.
    Expand(BuildArgs),
    /// Build and run the host program, as `cargo run` does.
    #[command(visible_alias = "r")]
    Run(RunArgs),
    /// Run a package's `#[test]`s on the GPU, one launch of one thread each.
    #[cfg(feature = "test")]
    #[command(visible_alias = "t")]
    Test(TestArgs),
    /// Build the host program without optimisation and start it in cuda-gdb, with pretty printers and sources.
    Debug(DebugArgs),
    /// Build the host program and run it under NVIDIA's compute-sanitizer, which looks for bad addresses and races.
    Sanitize(SanitizeArgs),
    /// Build the host program, run it under NVIDIA's Nsight Compute, and print by source line what its kernels wait for.
    #[cfg(feature = "profile")]
    Profile(ProfileArgs),
    /// Write the C++ header of the exported functions, the kernels and their types.
    #[command(mut_arg("out", |out| out.value_name("FILE").help("Where the header goes; it is printed by default")))]
    Header(BuildArgs),
    /// Show what became of the kernels: ABI, LLVM IR, PTX, machine code, floating-point modes, resources.
    Inspect(InspectArgs),
    /// Write an HTML page with the kernels' figures, and their source, PTX and machine code side by side.
    Report(BuildArgs),
    /// Remove what `cargo ptx` and build scripts compiled for the GPU in the target folder.
    Clean(CleanArgs),
    /// Say what was found on this machine, what is missing, and what to do.
    Doctor {
        /// How to print it.
        #[arg(long, value_enum, default_value_t)]
        message_format: Format,
    },
    /// Build the device sysroot and install NVIDIA's tools, where they are missing.
    Setup(SetupArgs),
    /// Explain a message by its code, such as PTX0006.
    Explain {
        /// The code; all are listed without one.
        code: Option<String>,
    },
    /// Print what has a shell complete the command line.
    #[cfg(feature = "manual")]
    Completions {
        /// Whose command line is completed.
        shell: clap_complete::Shell,
    },
    /// Write the pages for `man`.
    #[cfg(feature = "manual")]
    Man {
        /// The folder that they go to, such as ~/.local/share/man/man1.
        dir: PathBuf,
    },
    /// What `ptx_build` runs in a build script.
    #[command(hide = true)]
    BuildScript(Box<ScriptArgs>),
}

impl Verb {
    /// How messages are printed.
    pub fn message_format(&self) -> Format {
        match self {
            Self::Build(args) => args.build.message_format,
            #[cfg(feature = "test")]
            Self::Test(args) => args.build.message_format,
            Self::Check(args) | Self::Header(args) | Self::Expand(args) | Self::Report(args) => args.message_format,
            Self::Clippy(args) => args.build.message_format,
            Self::Doc(args) => args.build.message_format,
            Self::Inspect(args) => args.build.message_format,
            Self::Doctor { message_format } => *message_format,
            Self::BuildScript(args) if args.short => Format::Short,
            _ => Format::Human,
        }
    }
}

/// `cargo ptx new`
#[derive(Args, Debug)]
pub struct NewArgs {
    /// The folder to make.
    pub path: PathBuf,
    /// How it is made.
    #[command(flatten)]
    pub package: MadeArgs,
}

/// How a package is made.
#[derive(Args, Debug)]
pub struct MadeArgs {
    /// The package's name; the folder's by default.
    #[arg(long)]
    pub name: Option<String>,
    /// The version control system; git by default, unless the folder lies in a repository.
    #[arg(long, value_enum)]
    pub vcs: Option<Vcs>,
}

/// A version control system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Vcs {
    /// A new repository of git's.
    Git,
    /// Files alone.
    None,
}

/// `cargo ptx init`
#[derive(Args, Debug)]
pub struct InitArgs {
    /// The folder; this one by default.
    #[arg(default_value = ".")]
    pub path: PathBuf,
    /// Write .cargo/config.toml, with which `cargo build --target nvptx64-nvidia-cuda` works, and no package.
    #[arg(long, conflicts_with_all = ["name", "vcs"])]
    pub linker: bool,
    /// With `--linker`: the GPU architecture of packages that name none; the one in the file, or sm_75, by default.
    #[arg(long, value_name = "ARCH", requires = "linker")]
    pub arch: Option<String>,
    /// How it is made.
    #[command(flatten)]
    pub package: MadeArgs,
}

/// Which package, how, and where to.
#[derive(Args, Debug)]
pub struct BuildArgs {
    /// What is compiled.
    #[command(flatten)]
    pub packages: PackageArgs,
    /// Where the files go; a folder in the target folder by default.
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Where to write the IR after every stage.
    #[arg(long, value_name = "DIR")]
    pub dump_dir: Option<PathBuf>,
    /// How to print messages and results.
    #[arg(long, value_enum, default_value_t)]
    pub message_format: Format,
    /// The linker's options.
    #[command(flatten)]
    pub settings: Settings,
    /// How cargo builds it.
    #[command(flatten)]
    pub cargo: CargoArgs,
}

/// `cargo ptx build`
#[derive(Args, Debug)]
pub struct TimedBuildArgs {
    /// Say which stage took how long, and draw it.
    #[arg(long)]
    pub timings: bool,
    /// How it is built.
    #[command(flatten)]
    pub build: BuildArgs,
}

/// `cargo ptx clippy`
#[derive(Args, Debug)]
pub struct ClippyArgs {
    /// How it is built.
    #[command(flatten)]
    pub build: BuildArgs,
    /// Arguments for Clippy, as in `-- -D warnings`.
    #[arg(last = true, value_name = "ARGS")]
    pub clippy: Vec<String>,
}

/// `cargo ptx doc`
#[derive(Args, Debug)]
pub struct DocArgs {
    /// Leave dependencies out.
    #[arg(long)]
    pub no_deps: bool,
    /// Document private items.
    #[arg(long)]
    pub document_private_items: bool,
    /// Open it in a browser.
    #[arg(long)]
    pub open: bool,
    /// How it is built.
    #[command(flatten)]
    pub build: BuildArgs,
}

/// `cargo ptx run`
#[derive(Args, Debug)]
pub struct RunArgs {
    /// The program and its build.
    #[command(flatten)]
    pub build: ProgramArgs,
    /// How cargo prints messages.
    #[arg(long, value_name = "FORMAT", help_heading = "cargo's options")]
    pub message_format: Option<String>,
    /// The program's arguments.
    #[arg(trailing_var_arg = true, value_name = "ARGS")]
    pub program: Vec<OsString>,
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
    /// Which program, and how it is built.
    #[command(flatten)]
    pub build: ProgramArgs,
    /// The program's arguments.
    #[arg(last = true, value_name = "ARGS")]
    pub program: Vec<OsString>,
}

/// `cargo ptx sanitize`
#[derive(Args, Debug)]
pub struct SanitizeArgs {
    /// What is looked for.
    #[arg(long, value_enum, default_value_t)]
    pub tool: Sanitizer,
    /// The program, instead of the one that CUDA_HOME, CUDA_PATH or PATH has.
    #[arg(long, value_name = "PATH")]
    pub compute_sanitizer: Option<PathBuf>,
    /// Another flag for compute-sanitizer, as in `--flag=--leak-check=full`.
    #[arg(long = "flag", value_name = "FLAG", allow_hyphen_values = true)]
    pub flags: Vec<String>,
    /// Which program, and how it is built.
    #[command(flatten)]
    pub build: ProgramArgs,
    /// The program's arguments.
    #[arg(last = true, value_name = "ARGS")]
    pub program: Vec<OsString>,
}

/// `cargo ptx profile`
#[cfg(feature = "profile")]
#[derive(Args, Debug)]
pub struct ProfileArgs {
    /// Only this kernel, or `regex:…`; as ncu's `--kernel-name`.
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
    /// How many launches are profiled: each runs several times, so that all counters can be read.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub launches: u32,
    /// How many launches go before them.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub skip: u32,
    /// Only launches within the NVTX range of this name.
    #[arg(long, value_name = "NAME")]
    pub range: Option<String>,
    /// How many lines of a kernel are shown.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub lines: usize,
    /// Keep ncu's own report in this file, which ends with `.ncu-rep`.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// The program, instead of the one that CUDA_HOME, CUDA_PATH or PATH has.
    #[arg(long, value_name = "PATH")]
    pub ncu: Option<PathBuf>,
    /// Another flag for ncu, as in `--flag=--set=full`.
    #[arg(long = "flag", value_name = "FLAG", allow_hyphen_values = true)]
    pub flags: Vec<String>,
    /// Which program, and how it is built: by default with the profile `release`.
    #[command(flatten)]
    pub build: ProgramArgs,
    /// The program's arguments.
    #[arg(last = true, value_name = "ARGS")]
    pub program: Vec<OsString>,
}

/// A tool of compute-sanitizer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Sanitizer {
    /// Addresses outside of what was allocated, misaligned ones, leaks.
    #[default]
    Memcheck,
    /// Races on shared memory.
    Racecheck,
    /// Reads of global memory that nobody wrote.
    Initcheck,
    /// Barriers that not all threads reach.
    Synccheck,
}

impl Sanitizer {
    /// NVIDIA's name of it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Memcheck => "memcheck",
            Self::Racecheck => "racecheck",
            Self::Initcheck => "initcheck",
            Self::Synccheck => "synccheck",
        }
    }
}

/// Which host program, and how it is built.
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
    /// The host's target, where it is not this machine's.
    #[arg(long, value_name = "TRIPLE")]
    pub target: Option<String>,
    /// How the kernels are compiled.
    #[command(flatten)]
    pub device: DeviceArgs,
    /// How cargo builds it.
    #[command(flatten)]
    pub cargo: CargoArgs,
}

/// What the build script is told of the kernels, through the environment.
#[derive(Args, Debug)]
pub struct DeviceArgs {
    /// GPU architectures, such as sm_80,sm_90a, or `native`; the package's own choice by default.
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
        let named = [
            ("--package", &self.package),
            ("--bin", &self.bin),
            ("--example", &self.example),
            ("--target", &self.target),
        ];
        let named = named.into_iter().flat_map(|(option, value)| Some([option.into(), value.as_ref()?.into()]));
        named.flatten().chain(self.cargo.to_cargo()).collect()
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

/// `cargo ptx clean`
#[derive(Args, Debug)]
pub struct CleanArgs {
    /// Where cargo keeps what it compiles.
    #[arg(long, value_name = "DIR")]
    pub target_dir: Option<PathBuf>,
    /// Say what would be removed, and remove nothing.
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// What every command of cargo's takes.
    #[command(flatten)]
    pub common: CommonArgs,
}

/// `cargo ptx setup`
#[derive(Args, Debug)]
pub struct SetupArgs {
    /// Download nothing: leave NVIDIA's tools out.
    #[arg(long)]
    pub no_tools: bool,
    /// Say what would be built and downloaded, and do nothing.
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}
