//! What a compilation is asked for, as plain data; who reads it from arguments, environment and manifest is no business of
//! the compiler's.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::ValueEnum;
pub use ptx_abi::float::Modes;
use serde::{Deserialize, Serialize};

use crate::arch::{Arch, PtxVersion};
use crate::tool::Tools;

/// The one target.
pub const TARGET: &str = "nvptx64-nvidia-cuda";

/// A kind of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Emit {
    /// PTX text, a file an arch; always written.
    Ptx,
    /// Machine code by ptxas, a file an arch.
    Cubin,
    /// The same for an image, which may have it in several files an arch: kernels that have nothing in common with those of
    /// the others, so that after a change ptxas compiles few of them. Build scripts ask for it.
    #[value(skip)]
    CubinParts,
    /// One file with the cubins of all archs and the PTX of the highest.
    Fatbin,
    /// Optimised LLVM IR as text, a file an arch.
    LlvmIr,
    /// Optimised LLVM bitcode, a file an arch.
    LlvmBc,
    /// One C++ header with the exported functions, the kernels and their types.
    Header,
}

impl Emit {
    /// Extension of the file.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Ptx => "ptx",
            Self::Cubin | Self::CubinParts => "cubin",
            Self::Fatbin => "fatbin",
            Self::LlvmIr => "ll",
            Self::LlvmBc => "bc",
            Self::Header => "h",
        }
    }
}

/// How much debug information the output carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum DebugLevel {
    /// None. The bitcode's line tables still serve our own messages.
    #[default]
    None,
    /// `.loc` lines with the calls that were inlined, for profilers and sanitizers.
    LineTables,
    /// For cuda-gdb: every variable and type. Optimised code gets `.loc` lines.
    Full,
}

/// LLVM's optimisation pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OptLevel {
    /// `default<O0>`
    O0,
    /// `default<O1>`
    O1,
    /// `default<O2>`
    O2,
    /// `default<O3>`
    #[default]
    O3,
    /// `default<Os>`
    Os,
    /// `default<Oz>`
    Oz,
}

impl OptLevel {
    /// Whether speed counts above size and above the time that compiling takes.
    pub fn is_for_speed(self) -> bool {
        matches!(self, Self::O2 | Self::O3)
    }

    /// As in `O3`.
    pub fn name(self) -> &'static str {
        match self {
            Self::O0 => "O0",
            Self::O1 => "O1",
            Self::O2 => "O2",
            Self::O3 => "O3",
            Self::Os => "Os",
            Self::Oz => "Oz",
        }
    }
}

/// Which ptxas checks and assembles the PTX.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Ptxas {
    /// The one that is found, if any; needed only for cubins and fatbins.
    #[default]
    Auto,
    /// None.
    Off,
    /// This one; it must work.
    Path(PathBuf),
}

/// Where the bodies of mathematical functions come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Libdevice {
    /// NVIDIA's libdevice where it is found, else the crate `libm`.
    #[default]
    Auto,
    /// The crate `libm`.
    Off,
    /// This libdevice; it must be readable.
    Path(PathBuf),
}

/// What caches do with loads that name no cache operator (PTX ISA, "Cache Operators").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum LoadCache {
    /// Cached in L1 and L2.
    Ca,
    /// Cached in L2 alone.
    Cg,
    /// Used once.
    Cs,
    /// Used for the last time.
    Lu,
    /// Fetched again.
    Cv,
}

impl LoadCache {
    /// As in options, ours and ptxas's.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ca => "ca",
            Self::Cg => "cg",
            Self::Cs => "cs",
            Self::Lu => "lu",
            Self::Cv => "cv",
        }
    }
}

/// What caches do with stores that name no cache operator (PTX ISA, "Cache Operators").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum StoreCache {
    /// Written back to memory when L2 likes.
    Wb,
    /// Cached in L2.
    Cg,
    /// Used once.
    Cs,
    /// Through L2 to the system's memory.
    Wt,
}

impl StoreCache {
    /// As in options, ours and ptxas's.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wb => "wb",
            Self::Cg => "cg",
            Self::Cs => "cs",
            Self::Wt => "wt",
        }
    }
}

/// What ptxas is to write for global and generic loads and stores without a cache operator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caches {
    /// `--def-load-cache`; ptxas's choice without it.
    pub load: Option<LoadCache>,
    /// `--def-store-cache`; likewise.
    pub store: Option<StoreCache>,
}

impl Caches {
    /// The options for ptxas, which have our options' names.
    pub fn arguments(self) -> impl Iterator<Item = String> {
        let load = self.load.map(|load| format!("--def-load-cache={}", load.name()));
        let store = self.store.map(|store| format!("--def-store-cache={}", store.name()));
        load.into_iter().chain(store)
    }
}

/// How messages are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MessageFormat {
    /// In rustc's shape.
    #[default]
    Human,
    /// One JSON object a line.
    Json,
}

/// What a run is to do.
#[derive(Clone, Debug)]
pub struct Options {
    /// Objects, bitcode files, rlibs and archives.
    pub inputs: Vec<PathBuf>,
    /// Where the PTX of the first arch goes.
    pub output: PathBuf,
    /// Where every other output and the report go; none are written without it.
    pub out_dir: Option<PathBuf>,
    /// Stem of the files in `out_dir`.
    pub name: String,
    /// At least one.
    pub archs: Vec<Arch>,
    /// What to write besides PTX.
    pub emit: Vec<Emit>,
    /// How to optimise.
    pub opt_level: OptLevel,
    /// What debug information to keep.
    pub debug: DebugLevel,
    /// Functions to keep besides kernels.
    pub exports: Vec<String>,
    /// Which ptxas checks the PTX, or that none does.
    pub ptxas: Ptxas,
    /// What ptxas makes of loads and stores without a cache operator.
    pub caches: Caches,
    /// The maths library.
    pub libdevice: Libdevice,
    /// NVIDIA's tools on this machine; the compiler looks for none.
    pub tools: Tools,
    /// A PTX ISA version instead of the lowest that suffices.
    pub ptx_version: Option<PtxVersion>,
    /// Where the IR after every stage goes.
    pub dump_dir: Option<PathBuf>,
    /// How messages are printed.
    pub message_format: MessageFormat,
    /// What relative source paths in messages are relative to.
    pub source_base: PathBuf,
    /// Files with device code to link with, absolute.
    pub link: Vec<PathBuf>,
    /// Whether undefined symbols are left to a linker at run time.
    pub link_at_load: bool,
    /// Options for nvcc.
    pub nvcc_flags: Vec<String>,
    /// The floating-point modes of functions that have none of their own.
    pub float: Modes,
    /// What panics leave behind.
    pub panics: Panics,
    /// Where what ptxas made is kept for the next time; nowhere without it.
    pub ptxas_cache: Option<PathBuf>,
    /// The same for groups of kernels that are optimised on their own.
    pub groups_cache: Option<PathBuf>,
    /// Whether ptxas is to say how long each kernel takes, for which it works on one at a time.
    pub timings: bool,
}

impl Options {
    /// Where the device code is linked with other device code.
    pub fn linking(&self) -> Linking {
        match (self.link_at_load, self.link.is_empty()) {
            (true, _) => Linking::AtLoad,
            (false, false) => Linking::AtBuild,
            (false, true) => Linking::None,
        }
    }
}

/// Where device code is linked with other device code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Linking {
    /// Nowhere: PTX and cubins are whole.
    #[default]
    None,
    /// Here: cubins are linked, and the PTX alone is not whole.
    AtBuild,
    /// Where the program runs: cubins are relocatable, and the PTX has undefined symbols.
    AtLoad,
}

/// What a panic leaves behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum PanicStrategy {
    /// Message, file, line and column, block and thread.
    #[default]
    Full,
    /// The same without the message: no text formatting in the code, and no call.
    Location,
    /// Nothing: the launch fails.
    Trap,
}

impl PanicStrategy {
    /// As in options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Location => "location",
            Self::Trap => "trap",
        }
    }
}

/// What a panic ends, once it has left behind what it leaves. [`PanicStrategy::Trap`], which leaves nothing, always traps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum AfterPanic {
    /// The thread: `exit`. The launch goes on without it, and the context lives.
    Exit,
    /// The launch, and with it the context: `trap`. Debuggers stop there.
    #[default]
    Trap,
}

impl AfterPanic {
    /// As in options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exit => "exit",
            Self::Trap => "trap",
        }
    }
}

/// The strategies of a build.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Panics {
    /// Of crates that are not named.
    pub default: PanicStrategy,
    /// Of those that are.
    pub crates: BTreeMap<String, PanicStrategy>,
    /// What all of them end.
    pub after: AfterPanic,
}

impl Panics {
    /// Whether all crates leave all that there is.
    pub fn are_full(&self) -> bool {
        self.default == PanicStrategy::Full && self.crates.is_empty()
    }

    /// That of a crate.
    pub fn of(&self, name: Option<&str>) -> PanicStrategy {
        name.and_then(|name| self.crates.get(name)).copied().unwrap_or(self.default)
    }
}
