//! Functions of double precision: ten million inputs each, against nvcc's results and against MPFR.
//!
//! MPFR takes microseconds for most functions and far more for some. Each has a few seconds on all cores, and the record says
//! how many inputs that was enough for.

use ptx::Module;
use serde_json::{Value, json};

use super::launch::{Twin, apply, apply_twin};
use super::table::{Function, arguments, functions};
use super::{DOUBLE, flags, loaded, twins};
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
    let reference = reference(function).ok_or("MPFR lacks it")?;
    let bound = function.bound(false).expect("only those are tested");
    let columns = arguments::<f64>(function, ROWS);
    let inputs: Vec<_> = columns.iter().map(|column| gpu.device.upload(column).unwrap()).collect();
    let mut results = gpu.device.zeroed::<f64>(ROWS).unwrap();
    apply(gpu, module(gpu, 0), function.kernel, 0, &inputs, &mut results);
    let results = gpu.device.download(&results).unwrap();
    let deviation = DEVIATIONS.iter().find(|deviation| deviation.function == function.cuda);
    let (worst, done) = judge(&columns, &results, bound, reference, deviation);
    let worst = worst.expect("there are inputs");
    let row = |at: usize| {
        let numbers = columns.iter().map(|column| format!("{:e} ({:#018x})", column[at], column[at].to_bits()));
        numbers.collect::<Vec<_>>().join(", ")
    };
    if let Some(at) = worst.first_outside {
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
        "judged_by_mpfr": done, "double": true, "deviation": deviation,
    }))
}

#[cfg(feature = "mpfr")]
pub use judging::{judge, reference};

#[cfg(feature = "mpfr")]
mod judging {
    use std::time::Duration;

    use ptx::compare::cuda::Entry;
    use ptx::compare::{Exact, ulp_distance, ulp_error};

    use ptx_float_reference::parallel;

    use super::{Deviation, Function};

    /// The most time that MPFR has for one function.
    const LIMIT: Duration = Duration::from_millis(4500);

    /// The function's reference: MPFR's, or Rust's where the result is exact.
    pub fn reference(function: &Function) -> Option<ptx_float_reference::Function> {
        let exact: ptx_float_reference::Function = match function.cuda {
            "trunc" => |x| x[0].trunc().into(),
            "floor" => |x| x[0].floor().into(),
            "ceil" => |x| x[0].ceil().into(),
            "round" => |x| x[0].round().into(),
            "rint" | "nearbyint" => |x| x[0].round_ties_even().into(),
            "op_add" => |x| (x[0] + x[1]).into(),
            "op_mul" => |x| (x[0] * x[1]).into(),
            "op_div" => |x| (x[0] / x[1]).into(),
            "op_rcp" => |x| (1.0 / x[0]).into(),
            _ => return ptx_float_reference::function(function.name()),
        };
        Some(exact)
    }

    /// The largest errors of a part.
    #[derive(Clone, Debug, Default)]
    pub struct Worst {
        /// Whole units in the last place from the correctly rounded result.
        pub ulps: u64,
        /// Units in the last place from the exact result, and where that is.
        pub error: f64,
        pub at: Option<usize>,
        /// The largest absolute error where the bound is one.
        pub absolute: f64,
        /// Results outside the bound, and the first of them.
        pub outside: usize,
        pub first_outside: Option<usize>,
        /// Results that deviate as is known.
        pub deviating: usize,
    }

    impl Worst {
        fn add(&mut self, bound: &Entry, at: usize, arguments: &[f64], got: f64, exact: Exact) {
            let Some(tolerance) = bound.tolerance(arguments) else { return };
            if !tolerance.allows(got, exact.high) {
                self.outside += 1;
                self.first_outside = self.first_outside.or(Some(at));
            }
            if tolerance.in_ulps().is_some() {
                let error = ulp_error(got, exact);
                self.ulps = self.ulps.max(ulp_distance(got, exact.high));
                if error > self.error || self.at.is_none() {
                    (self.error, self.at) = (error, Some(at));
                }
            } else {
                let difference = (got - exact.high).abs();
                self.absolute = self.absolute.max(if difference.is_finite() { difference } else { 0.0 });
            }
        }

        fn merge(self, other: Self) -> Self {
            let (larger, smaller) =
                if other.error > self.error || self.at.is_none() { (&other, &self) } else { (&self, &other) };
            Self {
                ulps: self.ulps.max(other.ulps),
                error: larger.error,
                at: larger.at.or(smaller.at),
                absolute: self.absolute.max(other.absolute),
                outside: self.outside + other.outside,
                deviating: self.deviating + other.deviating,
                first_outside: match (self.first_outside, other.first_outside) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (a, b) => a.or(b),
                },
            }
        }
    }

    /// Compares results with the reference on all cores; also says how many there was time for.
    pub fn judge(
        columns: &[Vec<f64>],
        results: &[f64],
        bound: &Entry,
        reference: ptx_float_reference::Function,
        deviation: Option<&Deviation>,
    ) -> (Option<Worst>, usize) {
        let work = |range: std::ops::Range<usize>| {
            let mut worst = Worst::default();
            let mut arguments = vec![0.0; columns.len()];
            for at in range {
                for (argument, column) in arguments.iter_mut().zip(columns) {
                    *argument = column[at];
                }
                let exact = reference(&arguments);
                let deviates = |deviation: &Deviation| (deviation.is)(&arguments, results[at]) && !exact.high.is_nan();
                if deviation.is_some_and(deviates) {
                    worst.deviating += 1;
                } else {
                    worst.add(bound, at, &arguments, results[at], exact);
                }
            }
            worst
        };
        parallel::run(results.len(), LIMIT, work, Worst::merge)
    }
}
