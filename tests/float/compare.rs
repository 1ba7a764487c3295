//! Every expression under every set of modes: our instructions are nvcc's.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::thread;

use libtest_mimic::Trial;
use ptx_codegen::tools;
use ptx_tests::trial;

use crate::compile::{self, Crate};
use crate::deviations::{self, Difference};
use crate::generate::{self, Place};
use crate::instructions::{self, Instructions, Kernels};
use crate::modes::SETS;
use crate::table::{Row, rows};

/// The kernels under every set of modes, in the order of [`SETS`].
pub type Compiled = Vec<Kernels>;

/// A test for every row, and one for every deviation.
pub fn trials() -> Vec<Trial> {
    let rows = rows().map(|row| with_nvcc(format!("{} is nvcc's", row.name), move || check(row)));
    let deviations = deviations::ALL.iter().enumerate();
    rows.chain(deviations.map(|(index, one)| {
        with_nvcc(format!("deviation {index} is still there: {}", one.reason), move || one.persists(both()))
    }))
    .collect()
}

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

/// Ours.
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

/// A row's differences by set.
pub fn differences(row: &Row, (ours, nvcc): (&Compiled, &Compiled)) -> BTreeMap<&'static str, Difference> {
    let kernel = |kernels: &Kernels| -> Instructions {
        let found = kernels.get(row.name).unwrap_or_else(|| panic!("no kernel {}", row.name));
        let mut found = instructions::without_names(found);
        if row.repeats {
            found.values_mut().for_each(|count| *count = 1);
        }
        found
    };
    let pairs = SETS.iter().zip(ours.iter().zip(nvcc));
    pairs
        .map(|(set, (ours, nvcc))| (set.name, Difference::between(&kernel(ours), &kernel(nvcc))))
        .filter(|(_, difference)| !difference.is_empty())
        .collect()
}

fn check(row: &Row) {
    let found = differences(row, both());
    let unexpected: Vec<_> = found
        .iter()
        .filter(|(_, difference)| !deviations::ALL.iter().any(|known| known.explains(row.name, difference)))
        .map(|(set, difference)| format!("  {set}: {difference}"))
        .collect();
    assert!(unexpected.is_empty(), "`{}`, in CUDA C++ `{}`:\n{}", row.rust, row.cuda, unexpected.join("\n"));
}
