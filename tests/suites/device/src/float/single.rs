//! Functions of single precision: all 2^32 inputs of those with one argument, and random ones of the others. The GPU judges
//! them, by CUDA's functions of double precision; MPFR judges the worst again.

use ptx::Module;
use ptx::compare::cuda::{Bound, Entry};
use ptx::compare::{Exact, ulp_distance, ulp_error};
use serde_json::{Value, json};

use super::images::{SINGLE, flags, loaded, twins};
use super::launch::KEPT;
use super::launch::{Outcome, Twin, apply, judge};
use super::table::{Function, approximations, arguments, functions, judge_bound};
use crate::gpu::Gpu;
use crate::record::{Test, skippable_recorded};

/// Results at once: 1 GiB.
const CHUNK: usize = 1 << 28;

/// Random rows for functions of several arguments.
const ROWS: usize = 10_000_000;

pub fn tests() -> Vec<Test> {
    let mut tests = Vec::new();
    for function in functions().chain(approximations()) {
        let title = function.title(true);
        tests.push(skippable_recorded(&format!("float as nvcc: {title}"), move |gpu| as_nvcc(gpu, &function)));
        if function.bound(true).is_some_and(|bound| judge_bound(Some(bound)).kind != super::launch::UNBOUNDED) {
            tests.push(skippable_recorded(&format!("float accuracy: {title}"), move |gpu| accuracy(gpu, &function)));
        }
    }
    tests
}

fn module(gpu: &Gpu, index: usize) -> &'static Module {
    loaded!(SINGLE)(gpu, index)
}

fn twin(gpu: &Gpu, index: usize) -> Result<&'static Twin, String> {
    twins!(SINGLE, "/single_cubins.rs")(gpu, index)
}

/// Runs Rust's kernel and the judge over all inputs.
fn run(gpu: &Gpu, function: &Function, modes: usize, bounded: bool) -> Result<Outcome, String> {
    let twin = twin(gpu, modes)?;
    let module = module(gpu, modes);
    let bound = judge_bound(function.bound(true).filter(|_| bounded));
    let mut outcome = Outcome::new();
    if function.arity == 1 {
        let mut results = gpu.device.zeroed::<f32>(CHUNK).map_err(|error| error.to_string())?;
        for first in (0..1_u64 << 32).step_by(CHUNK) {
            let first = first as u32;
            apply(gpu, module, function.kernel, first, &[], &mut results);
            judge(gpu, twin, function.kernel, first, &[], &results, bound, &mut outcome);
        }
    } else {
        let columns = arguments::<f32>(function, ROWS);
        let inputs: Vec<_> = columns.iter().map(|column| gpu.device.upload(column).unwrap()).collect();
        let mut results = gpu.device.zeroed::<f32>(ROWS).unwrap();
        apply(gpu, module, function.kernel, 0, &inputs, &mut results);
        judge(gpu, twin, function.kernel, 0, &inputs, &results, bound, &mut outcome);
    }
    Ok(outcome)
}

/// The arguments at a judge's index.
fn input(function: &Function, columns: &[Vec<f32>], index: u64) -> Vec<f32> {
    if function.arity == 1 {
        return vec![f32::from_bits(index as u32)];
    }
    columns.iter().map(|column| column[index as usize]).collect()
}

fn columns(function: &Function) -> Vec<Vec<f32>> {
    if function.arity == 1 { Vec::new() } else { arguments(function, ROWS) }
}

fn as_nvcc(gpu: &Gpu, function: &Function) -> Result<Value, String> {
    let mut checked = 0;
    let mut failures = Vec::new();
    for (index, (modes, _)) in SINGLE.iter().enumerate() {
        let outcome = run(gpu, function, index, false)?;
        checked = outcome.checked();
        if outcome.different() > 0 {
            let at = input(function, &columns(function), outcome.first_different());
            let bits: Vec<_> = at.iter().map(|x| format!("{x:e} ({:#010x})", x.to_bits())).collect();
            let (modes, different) = (flags(modes), outcome.different());
            failures.push(format!("options {modes}: {different} of {checked} differ, as for {}", bits.join(", ")));
        }
    }
    assert!(failures.is_empty(), "not as nvcc's:\n{}", failures.join("\n"));
    let modes: Vec<_> = SINGLE.iter().map(|(modes, _)| flags(modes)).collect();
    Ok(json!({ "function": function.title(true), "inputs": checked, "identical_with": modes }))
}

fn accuracy(gpu: &Gpu, function: &Function) -> Result<Value, String> {
    let outcome = run(gpu, function, 0, true)?;
    let bound = function.bound(true).expect("only those are tested");
    let candidates = outcome.candidates();
    let columns = columns(function);
    let inputs: Vec<Vec<f32>> = candidates.iter().map(|&index| input(function, &columns, index)).collect();
    let results = again(gpu, function, &inputs);
    let Some(reference) = function.reference() else {
        assert_eq!(outcome.outside(), 0, "results outside of {bound}, by CUDA's function of double precision");
        let missing = if cfg!(feature = "mpfr") { "MPFR lacks it" } else { "the reference was built without MPFR" };
        return Err(format!("{missing}: all results are within the bound, but the largest error was not measured"));
    };
    assert!(
        outcome.outside() <= KEPT as u64,
        "{} results outside of {bound}, as {:?}",
        outcome.outside(),
        inputs.first()
    );
    let mut worst = Worst::default();
    for (arguments, got) in inputs.iter().zip(results) {
        let exact = reference(&arguments.iter().map(|x| f64::from(*x)).collect::<Vec<_>>());
        worst.add(bound, arguments, got, exact);
    }
    let Worst { ulps, error, absolute, relative, at, outside } = worst;
    let shown = outside.len().min(100);
    assert!(outside.is_empty(), "{} outside of {bound}:\n{}", outside.len(), outside[..shown].join("\n"));
    Ok(json!({
        "function": function.title(true), "bound": bound.to_string(), "inputs": outcome.checked(),
        "all": function.arity == 1, "ulps": ulps, "error": error, "absolute": absolute, "relative": relative,
        "worst": at, "judged_by_mpfr": candidates.len(), "double": false,
    }))
}

/// The results for a few inputs once more.
fn again(gpu: &Gpu, function: &Function, inputs: &[Vec<f32>]) -> Vec<f32> {
    if inputs.is_empty() {
        return Vec::new();
    }
    let column = |argument: usize| inputs.iter().map(|row| row[argument]).collect::<Vec<_>>();
    let uploaded: Vec<_> = (0..function.arity).map(|argument| gpu.device.upload(&column(argument)).unwrap()).collect();
    let mut results = gpu.device.zeroed::<f32>(inputs.len()).unwrap();
    apply(gpu, module(gpu, 0), function.kernel, 0, &uploaded, &mut results);
    gpu.device.download(&results).unwrap()
}

/// The largest errors by MPFR.
#[derive(Default)]
struct Worst {
    ulps: u64,
    error: f64,
    absolute: f64,
    relative: f64,
    at: Option<String>,
    outside: Vec<String>,
}

impl Worst {
    fn add(&mut self, bound: &Entry, arguments: &[f32], got: f32, exact: Exact) {
        let rounded: f32 = exact.round();
        let (ulps, error) = (ulp_distance(got, rounded), ulp_error(got, exact));
        let wide: Vec<f64> = arguments.iter().map(|x| f64::from(*x)).collect();
        let Some(tolerance) = bound.tolerance(&wide) else { return };
        let text: Vec<_> = arguments.iter().map(|x| format!("{x:e} ({:#010x})", x.to_bits())).collect();
        let text = text.join(", ");
        if !tolerance.allows(got, rounded) {
            self.outside.push(format!("{text}: got {got:e}, exactly {:e}, {ulps} ulp", exact.high));
        }
        if tolerance.in_ulps().is_some() {
            if error > self.error || self.at.is_none() {
                self.at = Some(text);
                self.error = error;
            }
            self.ulps = self.ulps.max(ulps);
        } else {
            let difference = (f64::from(got) - exact.high).abs();
            if matches!(bound.bound, Bound::Relative(_)) {
                self.relative = self.relative.max(difference / exact.high.abs());
            } else {
                self.absolute = self.absolute.max(difference);
            }
        }
    }
}
