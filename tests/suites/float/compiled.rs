//! The table's expressions under every set of modes, by both compilers, each compiled once.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::thread;

use libtest_mimic::Trial;
use ptx_project::tools;
use ptx_tests::trial;

use crate::compile::{self, Crate};
use crate::generate::{self, Place};
use crate::instructions::{self, Kernels};
use crate::modes::SETS;
use crate::table::rows;

/// The kernels under every set of modes, in the order of [`SETS`].
pub type Compiled = Vec<Kernels>;

/// A test that needs nvcc.
pub fn with_nvcc(name: impl Into<String>, body: impl FnOnce() + Send + 'static) -> Trial {
    trial(name, move || {
        if tools::find().nvcc().is_none() {
            return Some("nvcc was not found".into());
        }
        body();
        None
    })
}

/// The file with our PTX under a set of modes.
pub fn ours_ptx(set: &str) -> Result<PathBuf, String> {
    try_ours()?;
    let path = compile::folder().join("rows").join(format!("{set}.ptx"));
    if path.exists() { Ok(path) } else { Err(format!("there is no set {set}")) }
}

/// The file with nvcc's PTX under a set of modes.
pub fn nvcc_ptx(set: &str) -> PathBuf {
    both();
    compile::folder().join("nvcc").join(format!("{set}.ptx"))
}

/// Our kernels of [`rows`], compiled by the first call; panics if they do not compile.
pub fn ours() -> &'static Compiled {
    try_ours().unwrap_or_else(|error| panic!("{error}"))
}

fn try_ours() -> Result<&'static Compiled, &'static String> {
    static OURS: OnceLock<Result<Compiled, String>> = OnceLock::new();
    let compile = || {
        let krate =
            Crate::new("rows", &format!("{}{}", generate::PREAMBLE, generate::rust(rows(), "", Place::Function, "")))?;
        let kernels = |ptx: String| instructions::of_ptx(&ptx);
        SETS.iter().map(|set| krate.link(set.name, set.ours).map(kernels)).collect()
    };
    OURS.get_or_init(compile).as_ref()
}

fn nvcc() -> Result<Compiled, String> {
    let source = generate::cuda();
    SETS.iter().map(|set| compile::nvcc(set.name, &source, set.nvcc).map(|ptx| instructions::of_ptx(&ptx))).collect()
}

/// Ours and nvcc's.
pub fn both() -> (&'static Compiled, &'static Compiled) {
    static NVCC: OnceLock<Result<Compiled, String>> = OnceLock::new();
    let nvcc = NVCC.get_or_init(|| {
        thread::scope(|scope| {
            scope.spawn(try_ours);
            nvcc()
        })
    });
    (ours(), nvcc.as_ref().unwrap_or_else(|error| panic!("{error}")))
}
