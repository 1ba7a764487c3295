//! The record of a run: what each kernel achieves of what the device can do, and the means.

use serde_json::{Value, json};

use crate::statistics::geometric_mean;

/// Adds to a kernel's figures what both achieve, in billions a second, and the larger share of a ceiling.
pub fn achieved(kernel: &mut Value, ceilings: &Value) {
    let work =
        [("bytes", "copy_gb_s", "gb_s"), ("flops", "f32_gflop_s", "gflop_s"), ("flops_f64", "f64_gflop_s", "gflop_s")];
    for side in ["rust", "cuda"] {
        let Some(time) = kernel[side]["us"].as_f64().filter(|time| *time > 0.0) else { continue };
        let mut share = 0.0;
        for (amount, ceiling, rate) in work {
            let Some(amount) = kernel[amount].as_f64().filter(|amount| *amount > 0.0) else { continue };
            let achieved = amount / time / 1e3;
            kernel[side][rate] = json!(achieved);
            if let Some(most) = ceilings[ceiling].as_f64().filter(|most| *most > 0.0)
                && achieved / most > share
            {
                share = achieved / most;
                kernel[side]["share"] = json!(share);
                kernel[side]["of"] = json!(ceiling);
            }
        }
    }
}

/// The geometric mean of a ratio, of the kernels of one style whose results are right: `ratio` is nvcc's time over Rust's,
/// `trap_ratio` the time with `panic = "trap"` over that with messages.
pub fn mean(kernels: &[Value], style: &str, ratio: &str) -> Option<f64> {
    let counted = kernels.iter().filter(|kernel| kernel["style"] == style && kernel["error"].is_null());
    geometric_mean(&counted.filter_map(|kernel| kernel[ratio].as_f64()).collect::<Vec<_>>())
}

/// One line on a kernel.
pub fn line(kernel: &Value) -> String {
    let name = kernel["name"].as_str().unwrap_or_default();
    let number = |side: &str, what: &str| kernel[side][what].as_f64();
    let times = match (number("rust", "us"), number("cuda", "us"), kernel["ratio"].as_f64()) {
        (Some(rust), Some(cuda), Some(ratio)) => format!("{rust:10.1} {cuda:10.1} µs   {ratio:5.2}"),
        _ => "no times".into(),
    };
    let trap = kernel["trap_ratio"].as_f64().map_or(String::new(), |ratio| format!("   {ratio:5.2}"));
    let share = number("rust", "share").map_or(String::new(), |share| {
        format!("   {:3.0} % of {}", 100.0 * share, kernel["rust"]["of"].as_str().unwrap_or_default())
    });
    let error = kernel["error"].as_str().map_or(String::new(), |error| format!("   FAILED: {error}"));
    format!("{name:20} {times}{trap}{share}{error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel() -> Value {
        json!({
            "name": "k", "style": "safe", "bytes": 4e6, "flops": 1e6, "flops_f64": 0.0, "ratio": 0.5, "trap_ratio": 0.98, "error": null,
            "rust": { "us": 4.0 }, "cuda": { "us": 2.0 }
        })
    }

    #[test]
    fn the_larger_share_counts() {
        let mut kernel = kernel();
        achieved(&mut kernel, &json!({ "copy_gb_s": 4000.0, "f32_gflop_s": 5000.0 }));
        assert_eq!((&kernel["rust"]["gb_s"], &kernel["rust"]["gflop_s"]), (&json!(1000.0), &json!(250.0)));
        assert_eq!((&kernel["rust"]["share"], &kernel["rust"]["of"]), (&json!(0.25), &json!("copy_gb_s")));
        assert_eq!(kernel["cuda"]["share"], 0.5);
        assert!(line(&kernel).contains("0.50    0.98    25 % of copy_gb_s"), "{}", line(&kernel));
    }

    #[test]
    fn without_ceilings_or_times_nothing_is_claimed() {
        let mut measured = kernel();
        achieved(&mut measured, &Value::Null);
        assert!(measured["rust"]["share"].is_null());
        let mut failed = json!({ "name": "k", "error": "it broke" });
        achieved(&mut failed, &json!({ "copy_gb_s": 4000.0 }));
        assert!(failed["rust"].is_null() && line(&failed).contains("FAILED: it broke"));
    }

    #[test]
    fn kernels_that_fail_are_not_in_the_mean() {
        let mut wrong = kernel();
        wrong["error"] = json!("the results differ");
        wrong["ratio"] = json!(9.0);
        let mut fast = kernel();
        fast["ratio"] = json!(2.0);
        let mean = |style, ratio| mean(&[kernel(), wrong.clone(), fast.clone()], style, ratio);
        assert!((mean("safe", "ratio").unwrap() - 1.0).abs() < 1e-12 && mean("raw", "ratio").is_none());
        assert!((mean("safe", "trap_ratio").unwrap() - 0.98).abs() < 1e-12);
    }
}
