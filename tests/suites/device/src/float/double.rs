//! Functions of double precision: ten million inputs each, against nvcc's results and against MPFR.
//!
//! MPFR takes microseconds for most functions, and judges all inputs of those. For the others polynomials through its values
//! judge all inputs (tests/support/float_reference/src/fast.rs), and MPFR judges the worst again, and checks a sample of the
//! polynomials' own results.

use ptx::Module;
use serde_json::{Value, json};

use super::images::{DOUBLE, flags, loaded, twins};
use super::launch::{Twin, apply, apply_twin};
use super::table::{Function, arguments, functions};
use crate::gpu::Gpu;
use crate::record::{Test, skippable_recorded};
use ptx_float_reference::Format;

/// Where CUDA's own function is known to break its bound, and ours, which is the same code, with it.
#[cfg(feature = "mpfr")]
#[derive(Debug)]
pub struct Deviation {
    function: &'static str,
    reason: &'static str,
    /// Whether a result for these arguments is one.
    is: fn(&[f64], f64) -> bool,
}

/// All that are known. One that is gone fails its test.
#[cfg(feature = "mpfr")]
const DEVIATIONS: &[Deviation] = &[Deviation {
    function: "jn",
    reason: "libdevice gives NaN for n = 128 and small x, 2^-52 and below among them, where the result is below 1e-300; so does nvcc",
    is: |arguments, got| arguments[0] == 128.0 && arguments[1].abs() < 5.4e-5 && got.is_nan(),
}];

/// Inputs a function.
const ROWS: usize = 10_000_000;

pub fn tests() -> Vec<Test> {
    let mut tests = Vec::new();
    for function in functions() {
        let title = function.title(false);
        tests.push(skippable_recorded(&format!("float as nvcc: {title}"), move |gpu| as_nvcc(gpu, &function)));
        if function.bound(false).is_some_and(|bound| bound.bound != ptx::compare::cuda::Bound::None) {
            tests.push(skippable_recorded(&format!("float accuracy: {title}"), move |gpu| accuracy(gpu, &function)));
        }
    }
    tests
}

fn module(gpu: &Gpu, index: usize) -> &'static Module {
    loaded!(DOUBLE)(gpu, index)
}

fn twin(gpu: &Gpu, index: usize) -> Result<&'static Twin, String> {
    twins!(DOUBLE, "/double_cubins.rs")(gpu, index)
}

fn as_nvcc(gpu: &Gpu, function: &Function) -> Result<Value, String> {
    twin(gpu, 0)?;
    let columns = arguments::<f64>(function, ROWS);
    let inputs: Vec<_> = columns.iter().map(|column| gpu.device.upload(column).unwrap()).collect();
    let mut results = gpu.device.zeroed::<f64>(ROWS).unwrap();
    let mut failures = Vec::new();
    for (index, (modes, _)) in DOUBLE.iter().enumerate() {
        apply(gpu, module(gpu, index), function.kernel, 0, &inputs, &mut results);
        let ours = gpu.device.download(&results).unwrap();
        apply_twin(gpu, twin(gpu, index)?, function.kernel, &inputs, &mut results);
        let nvcc = gpu.device.download(&results).unwrap();
        let mut different = (0..ROWS).filter(|&i| !ours[i].same(nvcc[i])).peekable();
        if let Some(&at) = different.peek() {
            let row: Vec<_> =
                columns.iter().map(|column| format!("{:e} ({:#018x})", column[at], column[at].to_bits())).collect();
            failures.push(format!(
                "options {}: {} of {ROWS} differ, as for {}: {:e} instead of nvcc's {:e}",
                flags(modes),
                different.count(),
                row.join(", "),
                ours[at],
                nvcc[at],
            ));
        }
    }
    assert!(failures.is_empty(), "not as nvcc's:\n{}", failures.join("\n"));
    let modes: Vec<_> = DOUBLE.iter().map(|(modes, _)| flags(modes)).collect();
    Ok(json!({ "function": function.title(false), "inputs": ROWS, "identical_with": modes }))
}

#[cfg(not(feature = "mpfr"))]
fn accuracy(_: &Gpu, _: &Function) -> Result<Value, String> {
    Err("built without MPFR, which is the reference".into())
}

#[cfg(feature = "mpfr")]
fn accuracy(gpu: &Gpu, function: &Function) -> Result<Value, String> {
    let reference = function.reference().ok_or("MPFR lacks it")?;
    let bound = function.bound(false).expect("only those are tested");
    let columns = arguments::<f64>(function, ROWS);
    let inputs: Vec<_> = columns.iter().map(|column| gpu.device.upload(column).unwrap()).collect();
    let mut results = gpu.device.zeroed::<f64>(ROWS).unwrap();
    apply(gpu, module(gpu, 0), function.kernel, 0, &inputs, &mut results);
    let results = gpu.device.download(&results).unwrap();
    let deviation = DEVIATIONS.iter().find(|deviation| deviation.function == function.cuda);
    let judge = Judge { columns: &columns, results: &results, bound, deviation };
    let polynomials = ptx_float_reference::fast(function.name());
    let (worst, done, by_mpfr) = match &polynomials {
        None => {
            let (worst, done) = judge.all(&reference);
            (worst, done, done)
        }
        Some(polynomials) => {
            let (found, done) = judge.all(&|x: &[f64]| polynomials.value(x));
            let sample = judge.check(polynomials, done);
            assert!(found.outside <= found.outside_at.len(), "{} of {done} outside of {bound}", found.outside);
            let again: Vec<usize> =
                found.top.iter().map(|(_, at)| *at).chain(found.outside_at.iter().copied()).collect();
            let mut worst = judge.some(&again, &reference);
            // What MPFR did not judge again.
            worst.absolute = worst.absolute.max(found.absolute);
            worst.deviating += found.deviating;
            (worst, done, again.len() + sample)
        }
    };
    let row = |at: usize| {
        let numbers = columns.iter().map(|column| format!("{:e} ({:#018x})", column[at], column[at].to_bits()));
        numbers.collect::<Vec<_>>().join(", ")
    };
    if let Some(&at) = worst.outside_at.iter().min() {
        let exact = reference(&columns.iter().map(|column| column[at]).collect::<Vec<_>>());
        let (outside, got) = (worst.outside, results[at]);
        panic!("{outside} of {done} outside of {bound}, as for {}: got {got:e}, exactly {:e}", row(at), exact.high);
    }
    assert!(done >= 100_000.min(ROWS), "only {done} inputs were judged in time");
    let deviation = deviation.map(|Deviation { reason, .. }| {
        assert!(worst.deviating > 0, "the known deviation is gone, so take it out of the list: {reason}");
        format!("{} inputs: {reason}", worst.deviating)
    });
    Ok(json!({
        "function": function.title(false), "bound": bound.to_string(), "inputs": done, "all": false,
        "ulps": worst.ulps, "error": worst.error, "absolute": worst.absolute, "worst": worst.at.map(row),
        "judged_by_mpfr": by_mpfr, "double": true, "deviation": deviation,
    }))
}

#[cfg(feature = "mpfr")]
use judging::Judge;

#[cfg(feature = "mpfr")]
mod judging {
    use std::time::Duration;

    use ptx::compare::cuda::Entry;
    use ptx::compare::{Exact, ulp_distance, ulp_error};
    use ptx_float_reference::inputs::Random;
    use ptx_float_reference::{ACCURACY, FLOOR, Reference, parallel};

    use super::Deviation;

    /// The most time that one function has.
    const LIMIT: Duration = Duration::from_secs(45);

    /// The largest errors that are judged again, and results outside the bound.
    const KEPT: usize = 512;

    /// Results of the polynomials that MPFR checks.
    const SAMPLE: usize = 20_000;

    /// The largest errors of a part.
    #[derive(Clone, Debug, Default)]
    pub struct Worst {
        /// Whole units in the last place from the correctly rounded result.
        pub ulps: u64,
        /// Units in the last place from the exact result, and where that is.
        pub error: f64,
        pub at: Option<usize>,
        /// The largest errors, and where they are.
        pub top: Vec<(f64, usize)>,
        /// The largest absolute error where the bound is one.
        pub absolute: f64,
        /// Results outside the bound, and the first few of them.
        pub outside: usize,
        pub outside_at: Vec<usize>,
        /// Results that deviate as is known.
        pub deviating: usize,
    }

    impl Worst {
        fn add(&mut self, in_ulps: bool, allowed: impl Fn(f64) -> bool, at: usize, got: f64, exact: Exact) {
            let rounded: f64 = exact.round();
            if !allowed(rounded) {
                self.outside += 1;
                self.outside_at.extend((self.outside_at.len() < KEPT).then_some(at));
            }
            if in_ulps {
                let error = ulp_error(got, exact);
                self.ulps = self.ulps.max(ulp_distance(got, rounded));
                if error > self.error || self.at.is_none() {
                    (self.error, self.at) = (error, Some(at));
                }
                self.top.push((error, at));
                if self.top.len() >= 4 * KEPT {
                    self.keep_top();
                }
            } else {
                let difference = (got - exact.high).abs();
                self.absolute = self.absolute.max(if difference.is_finite() { difference } else { 0.0 });
            }
        }

        fn keep_top(&mut self) {
            self.top.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            self.top.truncate(KEPT);
        }

        fn merge(mut self, other: Self) -> Self {
            if other.error > self.error || self.at.is_none() {
                (self.error, self.at) = (other.error, other.at.or(self.at));
            }
            self.ulps = self.ulps.max(other.ulps);
            self.absolute = self.absolute.max(other.absolute);
            self.outside += other.outside;
            self.outside_at.extend(other.outside_at);
            self.outside_at.truncate(KEPT);
            self.deviating += other.deviating;
            self.top.extend(other.top);
            self.keep_top();
            self
        }
    }

    /// Results, and what they are judged by.
    #[derive(Clone, Copy)]
    pub struct Judge<'a> {
        pub columns: &'a [Vec<f64>],
        pub results: &'a [f64],
        pub bound: &'a Entry,
        pub deviation: Option<&'a Deviation>,
    }

    impl Judge<'_> {
        /// Compares all results with a reference on all cores; also says how many there was time for.
        pub fn all(&self, reference: &(dyn Fn(&[f64]) -> Exact + Sync)) -> (Worst, usize) {
            let work = |range: std::ops::Range<usize>| self.judge(range, reference);
            let (worst, done) = parallel::run(self.results.len(), LIMIT, work, Worst::merge);
            (worst.unwrap_or_default(), done)
        }

        /// The same of some.
        pub fn some(&self, places: &[usize], reference: &(dyn Fn(&[f64]) -> Exact + Sync)) -> Worst {
            self.judge(places.iter().copied(), reference)
        }

        /// Compares a sample of the polynomials' results with MPFR's; says how many.
        pub fn check(&self, polynomials: &Reference, count: usize) -> usize {
            let work = |range: std::ops::Range<usize>| {
                let mut random = Random::new(range.start as u64);
                for _ in range {
                    let arguments = self.arguments((random.bits() % count as u64) as usize);
                    let Some(tolerance) = self.bound.tolerance(&arguments) else { continue };
                    let (got, expected) = (polynomials.value(&arguments), polynomials.exact()(&arguments));
                    if got == expected || (got.high.is_nan() && expected.high.is_nan()) {
                        continue;
                    }
                    let error = ((expected.high - got.high) + (expected.low - got.low)).abs();
                    let floor = if tolerance.in_ulps().is_some() { 0.0 } else { FLOOR };
                    let accepted = (expected.high.abs() * ACCURACY).max(floor);
                    assert!(error <= accepted, "the polynomial at {arguments:?}: {got:?}, but MPFR has {expected:?}");
                }
            };
            parallel::run(SAMPLE, LIMIT, work, |(), ()| ()).1
        }

        fn arguments(&self, at: usize) -> Vec<f64> {
            self.columns.iter().map(|column| column[at]).collect()
        }

        fn judge(&self, places: impl Iterator<Item = usize>, reference: &(dyn Fn(&[f64]) -> Exact + Sync)) -> Worst {
            let mut worst = Worst::default();
            let mut arguments = vec![0.0; self.columns.len()];
            for at in places {
                for (argument, column) in arguments.iter_mut().zip(self.columns) {
                    *argument = column[at];
                }
                // MPFR need not find what nothing is compared with.
                let Some(tolerance) = self.bound.tolerance(&arguments) else { continue };
                let (got, exact) = (self.results[at], reference(&arguments));
                let deviates = |deviation: &Deviation| (deviation.is)(&arguments, got) && !exact.high.is_nan();
                if self.deviation.is_some_and(deviates) {
                    worst.deviating += 1;
                } else {
                    let allowed = |rounded| tolerance.allows(got, rounded);
                    worst.add(tolerance.in_ulps().is_some(), allowed, at, got, exact);
                }
            }
            worst
        }
    }
}
