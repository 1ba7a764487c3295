//! The values that [`Builder`](crate::Builder) takes, by the names that the compiler's command line has for them.

/// A kind of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Output {
    /// PTX text, a file an arch; always written.
    Ptx,
    /// Machine code by ptxas, a file an arch.
    Cubin,
    /// One file with the cubins of all archs and the PTX of the highest.
    Fatbin,
    /// Optimised LLVM IR as text, a file an arch.
    LlvmIr,
    /// Optimised LLVM bitcode, a file an arch.
    LlvmBc,
    /// One C++ header with the exported functions, the kernels and their types.
    Header,
}

impl Output {
    /// As in options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ptx => "ptx",
            Self::Cubin => "cubin",
            Self::Fatbin => "fatbin",
            Self::LlvmIr => "llvm-ir",
            Self::LlvmBc => "llvm-bc",
            Self::Header => "header",
        }
    }

    /// Extension of the file.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Ptx => "ptx",
            Self::Cubin => "cubin",
            Self::Fatbin => "fatbin",
            Self::LlvmIr => "ll",
            Self::LlvmBc => "bc",
            Self::Header => "h",
        }
    }
}

/// How much debug information the output carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum DebugLevel {
    /// Kernels have no lines and no variables.
    #[default]
    None,
    /// `.loc` lines with the calls that were inlined, for profilers and sanitizers.
    LineTables,
    /// For cuda-gdb: every variable and type. Optimised code gets `.loc` lines.
    Full,
}

impl DebugLevel {
    /// As in options.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::LineTables => "line-tables",
            Self::Full => "full",
        }
    }
}

/// What a panic ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AfterPanic {
    /// Its thread: the context lives, and the host's next wait returns the panic.
    Exit,
    /// The launch, and with it the context: debuggers stop there.
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

/// What a panic leaves behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

/// What caches do with loads that name no cache operator (PTX ISA, "Cache Operators").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// As in options.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// As in options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wb => "wb",
            Self::Cg => "cg",
            Self::Cs => "cs",
            Self::Wt => "wt",
        }
    }
}
