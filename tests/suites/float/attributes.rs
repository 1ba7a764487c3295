//! `#[ptx::float(..)]` gives the same instructions as the build's option, on functions and on blocks, and wins over the build.

use std::sync::OnceLock;

use libtest_mimic::Trial;
use ptx_tests::trial;

use crate::compile::Crate;
use crate::compiled::ours;
use crate::generate::{self, Place};
use crate::instructions::{self, Kernels};
use crate::modes::{SETS, Set};
use crate::row::Row;
use crate::table::rows;

/// The sets that kernels get by attribute: one mode, several, all, and all that is not the default taken back.
const NAMED: [&str; 4] = ["fmad_off", "ftz_prec_off", "fast_math", "everything_named"];

/// What [`NAMED`]'s last must win over.
const OPPOSITE: [&str; 1] = ["--use-fast-math"];

/// A test for every set and place.
pub fn trials() -> Vec<Trial> {
    let place = |place: Place, text: &'static str| {
        NAMED.map(move |set| trial(format!("{set} on {text}"), move || check(set, place, &compiled()[0])))
    };
    let mut trials: Vec<_> = place(Place::Function, "functions").into_iter().collect();
    trials.extend(place(Place::Block, "blocks"));
    for (place, text) in [(Place::Function, "functions"), (Place::Block, "blocks")] {
        trials.push(trial(format!("modes of {text} win over the build's"), move || {
            check("everything_named", place, &compiled()[1])
        }));
    }
    trials
}

/// In a build without options, and in one with [`OPPOSITE`].
fn compiled() -> &'static [Kernels] {
    static COMPILED: OnceLock<Result<Vec<Kernels>, String>> = OnceLock::new();
    let compile = || {
        let kernels = NAMED.iter().flat_map(|name| {
            [Place::Function, Place::Block]
                .map(|place| generate::rust(compared(), set(name).attribute, place, &suffix(name, place)))
        });
        let source: String = std::iter::once(generate::PREAMBLE.to_string()).chain(kernels).collect();
        let krate = Crate::new("attributes", &source)?;
        let linked = [krate.link("default", &[])?, krate.link("opposite", &OPPOSITE)?];
        Ok(linked.iter().map(|ptx| instructions::of_ptx(ptx)).collect())
    };
    COMPILED.get_or_init(compile).as_ref().unwrap_or_else(|error| panic!("{error}"))
}

/// Without those of libdevice, which take long to compile.
fn compared() -> impl Iterator<Item = &'static Row> {
    rows().filter(|row| !row.repeats)
}

fn set(name: &str) -> &'static Set {
    SETS.iter().find(|set| set.name == name).expect("a set's name")
}

fn suffix(set: &str, place: Place) -> String {
    format!("_{}_{set}", if place == Place::Function { "function" } else { "block" })
}

/// Beside functions that fuse, what must not be fused is kept from LLVM (`codegen/compiler/src/float/separate.rs`), and so from its
/// change of `a - b * k` to `a + b * -k`, and of `a * 2` to `a + a`: the same value by other instructions. Only in the set `fmad_off`.
const NOT_REWRITTEN: [&str; 7] = [
    "mul_sub_half_f64",
    "mul_sub_double_f64",
    "sub_half_f32",
    "mul_sub_reciprocal_product_f64",
    "square_sum_f64",
    "times_two_f32",
    "times_two_plus_f32",
];

fn check(name: &str, place: Place, found: &Kernels) -> Option<String> {
    let index = SETS.iter().position(|set| set.name == name).expect("a set's name");
    let mut wrong = Vec::new();
    for row in compared() {
        let kernel = format!("{}{}", row.name, suffix(name, place));
        // A block whose `ftz` is not the kernel's stays a function.
        let found = instructions::with_callees(found, &kernel).unwrap_or_else(|| panic!("no kernel {kernel}"));
        let expected = &ours()[index][row.name];
        let deviates = name == "fmad_off" && NOT_REWRITTEN.contains(&row.name);
        if (found != *expected) != deviates {
            wrong.push(format!("{kernel} has {found:?}; with the build's option it has {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    None
}
