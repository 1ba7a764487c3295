//! What the house is like: the tables that the rules compare the sources with.

/// A floor's name, and the modules on it: files or folders, without `.rs`.
pub type Floor = (&'static str, &'static [&'static str]);

/// The most lines that a Rust file may have.
pub const MAX_LINES: usize = 800;

/// The most lines that the README may have.
pub const MAX_README_LINES: usize = 110;

/// The most lines that the page of the architecture may have.
pub const MAX_ARCHITECTURE_LINES: usize = 60;

/// The most columns that a line of prose may have.
pub const MAX_COLUMNS: usize = 120;

/// Folders of one machine; a path below one of them must not be written down.
pub const MACHINE_FOLDERS: [&str; 5] = ["home/", "root/", "tmp/", "work/", "Users/"];

/// Where the compiler's sources are.
pub const COMPILER: &str = "codegen/compiler/src";

/// Where the book's pages are.
pub const BOOK: &str = "docs/src";

/// The crates whose names the page "From CUDA C++" has.
pub const USERS_CRATES: [&str; 5] =
    ["runtime/device/src", "runtime/host/src", "runtime/macros/src", "runtime/ptx/src", "runtime/rand/src"];

/// Names of Rust's, and of what users write themselves, that the page has.
pub const NOT_OURS: [&str; 2] = ["UnifiedSlice", "unreachable_unchecked"];

/// Where the kernels are that use crates of crates.io.
pub const CRATE_KERNELS: &str = "tests/kernels/crates";

/// The page that lists the pipeline's phases.
pub const ARCHITECTURE: &str = "docs/src/architecture.md";

/// Where imports may make no loop.
pub const NO_LOOPS_IN: [&str; 4] = ["codegen", "runtime", "tests", "xtask"];

/// Files that take from their own children what these take back from them, each with the reason.
pub const PARENTS: &[(&str, &str)] = &[
    ("runtime/abi/src/lib.rs", "a macro with `#[macro_export]` has the crate's root as its path, wherever it stands"),
    ("runtime/device/src/atomic/mod.rs", "it re-exports its child `AtomicSlice`, which is a slice of its own `Atomic`"),
    ("tests/suites/device/build.rs", "the kernels' list is a child's, and its macros have `#[macro_export]`"),
    ("tests/suites/float/main.rs", "the kernels' list is a child's, and its macros have `#[macro_export]`"),
];

/// Packages whose tests alone need a package above theirs, each with the reason.
pub const TESTS_TAKE_FROM_ABOVE: &[(&str, &str, &str)] =
    &[("ptx-device", "ptx", "documentation tests name the one crate that users name")];

/// The compiler's modules from the ground up: each takes only from its own floor and from those before it.
pub const FLOORS: &[Floor] = &[
    (
        "ground data",
        &[
            "arch",
            "artifact",
            "cache",
            "codes",
            "diagnostic",
            "files",
            "graph",
            "hash",
            "limits",
            "ptx_text",
            "random",
            "request",
            "scratch",
            "timings",
            "tool",
            "version",
        ],
    ),
    ("LLVM", &["llvm"]),
    ("marks", &["marks", "settled"]),
    ("reading", &["harness", "interface", "input"]),
    (
        "stages",
        &[
            "abi",
            "addresses",
            "barriers",
            "callers",
            "checks",
            "cold",
            "conditions",
            "copies",
            "debuginfo",
            "differences",
            "divisions",
            "emit",
            "float",
            "groups",
            "header",
            "hints",
            "indices",
            "intrinsics",
            "layers",
            "libdevice",
            "loops",
            "memory",
            "multiples",
            "offsets",
            "optimize",
            "panics",
            "parities",
            "portions",
            "products",
            "registers",
            "remainders",
            "stacks",
            "verify",
            "windows",
            "workarounds",
        ],
    ),
    ("results", &["dump", "report"]),
    ("NVIDIA's tools", &["ptxas", "device_link"]),
    ("outputs", &["output"]),
    ("pipeline", &["phases"]),
    ("driver", &["driver", "lib"]),
];

/// The floors whose functions are stages of the pipeline.
pub const STAGES: &[&str] = &["reading", "stages", "NVIDIA's tools"];

/// Where reading the environment needs a reason.
pub const ENVIRONMENT_RULES_IN: [&str; 2] = ["codegen", "runtime"];

/// Files and folders that read the environment, each with the reason.
pub const ENVIRONMENT: &[(&str, &str)] = &[
    ("codegen/cargo-ptx/src/cli/environment.rs", "cargo says which cargo and rustc it is"),
    ("codegen/cargo-ptx/src/cli/output.rs", "whether colours are wanted"),
    ("codegen/cargo-ptx/src/cli/doctor.rs", "it reports what others read"),
    ("codegen/cargo-ptx/src/cli/script/environment.rs", "a build script is told by cargo's variables what to build"),
    ("codegen/cargo-ptx/src/debugger", "where cuda-gdb lies"),
    ("codegen/compiler/src/random.rs", "for how long tests make random functions"),
    ("codegen/project/src/build/cargo.rs", "the device build's cargo must not see the outer one's variables"),
    ("codegen/project/src/build/profile.rs", "cargo's profiles can be set by variables"),
    ("codegen/project/src/linker.rs", "whether this program is to be rustc's linker"),
    ("codegen/project/src/options", "settings come from variables, too"),
    ("codegen/project/src/timings.rs", "whether the linker's measurements are wanted"),
    ("codegen/project/src/tools.rs", "where NVIDIA's tools lie"),
    ("codegen/project/src/wrapper.rs", "whether this program is to be rustc's wrapper"),
    ("codegen/setup/src/cache.rs", "where the cache lies"),
    ("codegen/setup/src/tools.rs", "where NVIDIA's tools lie, and Python's packages"),
    (
        "runtime/build/src",
        "a build script is told by cargo's variables where its compiler is, and where its output goes",
    ),
    ("runtime/macros/src", "a macro learns from cargo's variables which package it is in"),
    ("runtime/host/src/linker/nvjitlink.rs", "where NVIDIA's library lies"),
    ("runtime/host/src/nvtx.rs", "a tool that starts the program names its library"),
];
