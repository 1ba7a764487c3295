//! `cargo xtask bench page`: the book's page of speed from the record of a run.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use ptx_bench_table::statistics::geometric_mean;
use serde_json::Value;

use super::chart::{self, Bar};

const BOOK: &str = "docs/src";
const PAGE: &str = "speed.md";
const CHART: &str = "speed.svg";

/// The page before ours in the summary.
const BEFORE: &str = "- [Comparison](comparison.md)\n";

/// Where a kernel counts as slower, and where as much slower.
const SLOWER: f64 = 0.95;
const SLOW: f64 = 0.90;

/// Writes the page, its chart, and its line in the summary.
pub fn run(path: &Path) -> Result<()> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let record: Value = serde_json::from_str(&text).with_context(|| format!("{} is not a record", path.display()))?;
    let (page, svg) = (page(&record)?, svg(&record)?);
    let book = Path::new(BOOK);
    let summary = book.join("SUMMARY.md");
    let list = fs::read_to_string(&summary)?;
    fs::write(book.join(PAGE), page)?;
    fs::write(book.join(CHART), svg)?;
    fs::write(&summary, listed(&list)?)?;
    println!("{} and {}", book.join(PAGE).display(), book.join(CHART).display());
    Ok(())
}

/// The summary with our page.
fn listed(list: &str) -> Result<String> {
    if list.contains(&format!("({PAGE})")) {
        return Ok(list.into());
    }
    ensure!(list.contains(BEFORE), "the summary lacks the line {}", BEFORE.trim());
    Ok(list.replace(BEFORE, &format!("{BEFORE}- [Speed]({PAGE})\n")))
}

/// The kernels that were measured and agree with their twins.
fn measured(record: &Value) -> Result<Vec<&Value>> {
    let kernels = record["kernels"].as_array().context("the record has no kernels")?;
    let good = kernels.iter().filter(|kernel| kernel["error"].is_null() && kernel["ratio"].is_number());
    let good: Vec<&Value> = good.collect();
    ensure!(!good.is_empty(), "no kernel of the record was measured");
    Ok(good)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("unknown")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

fn svg(record: &Value) -> Result<String> {
    let kernels = measured(record)?;
    let bar = |kernel: &&'_ Value| -> (String, String, f64) {
        (text(&kernel["field"]).into(), text(&kernel["name"]).into(), number(&kernel["ratio"]))
    };
    let bars: Vec<_> = kernels.iter().map(bar).collect();
    let bars: Vec<_> = bars.iter().map(|(field, name, ratio)| Bar { field, name, ratio: *ratio }).collect();
    let title =
        format!("nvcc's time / Rust's time on an {}: longer is better for Rust", text(&record["device"]["gpu"]));
    Ok(chart::draw(&title, &bars))
}

fn page(record: &Value) -> Result<String> {
    let kernels = measured(record)?;
    let device = &record["device"];
    let mut page = format!(
        "# Speed\n\n\
         `cargo xtask bench kernels` compares kernels in Rust, in default settings, with the same kernels in CUDA C++\n\
         (`nvcc -O3`): same algorithm, same grid, same memory. Results are compared first. Times are medians of samples that\n\
         both take in turn, measured by events, each kernel in a process of its own. The kernels are in\n\
         `tests/kernels/bench`. `cargo xtask bench page` writes this page from the record of a run.\n\n\
         The run: {}, driver {} (CUDA {}), commit {}, {}.\n\n",
        text(&device["gpu"]),
        text(&record["driver"]),
        text(&device["cuda"]),
        text(&record["commit"]).chars().take(12).collect::<String>(),
        text(&record["date"]),
    );
    page += &format!(
        "What this device does at most, in the same run: copies {:.0} GB/s (read and written), {:.1} TFLOP/s in single and\n\
         {:.1} TFLOP/s in double precision.\n\n",
        number(&device["copy_gb_s"]),
        number(&device["f32_gflop_s"]) / 1e3,
        number(&device["f64_gflop_s"]) / 1e3,
    );
    page += "| | kernels | geometric mean | below 0.95 | below 0.90 |\n|---|---|---|---|---|\n";
    for (style, what) in [("safe", "slices, iterators, `DisjointSlice`"), ("raw", "raw pointers")] {
        let ratios: Vec<f64> =
            kernels.iter().filter(|kernel| kernel["style"] == style).map(|kernel| number(&kernel["ratio"])).collect();
        let Some(mean) = geometric_mean(&ratios) else { continue };
        let below = |limit: f64| ratios.iter().filter(|ratio| **ratio < limit).count();
        _ = writeln!(page, "| {what} | {} | **{mean:.2}** | {} | {} |", ratios.len(), below(SLOWER), below(SLOW));
    }
    page += &format!(
        "\nnvcc's time over Rust's: above 1, Rust is faster.\n\n![A bar for each kernel]({CHART})\n\n## All kernels\n\n\
         *Achieved* is what the Rust kernel reads, writes or computes in a second, and how much of the device's most that is,\n\
         whichever share is larger. Bytes count once, whatever a cache saves. Then come registers and bytes of local memory\n\
         of a thread, and machine instructions, in Rust and in CUDA C++.\n"
    );
    let mut field = "";
    for kernel in &kernels {
        if text(&kernel["field"]) != field {
            field = text(&kernel["field"]);
            page += &heading(field);
        }
        page += &line(kernel, device);
    }
    page += &slower(&kernels);
    let all = record["kernels"].as_array().map_or(&[][..], Vec::as_slice);
    let failed: Vec<&Value> = all.iter().filter(|kernel| !kernel["error"].is_null()).collect();
    if !failed.is_empty() {
        page += "\n## Not measured\n\n| kernel | why |\n|---|---|\n";
        for kernel in failed {
            let reason = text(&kernel["error"]).lines().next().unwrap_or_default();
            _ = writeln!(page, "| `{}` | {} |", text(&kernel["name"]), reason.replace('|', "\\|"));
        }
    }
    Ok(page)
}

fn heading(field: &str) -> String {
    let mut letters = field.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    format!(
        "\n### {first}{}\n\n| kernel | Rust, µs | nvcc, µs | nvcc / Rust | achieved | registers | local | instructions |\n\
         |---|---|---|---|---|---|---|---|\n",
        letters.as_str()
    )
}

fn line(kernel: &Value, device: &Value) -> String {
    let (rust, cuda) = (&kernel["rust"], &kernel["cuda"]);
    let pair = |what: &str| format!("{} / {}", rust[what], cuda[what]);
    format!(
        "| `{}` | {:.1} | {:.1} | {:.2} | {} | {} | {} | {} |\n",
        text(&kernel["name"]),
        number(&rust["us"]),
        number(&cuda["us"]),
        number(&kernel["ratio"]),
        achieved(rust),
        pair("registers"),
        pair("local"),
        instructions(kernel, device),
    )
}

fn achieved(side: &Value) -> String {
    let Some(share) = side["share"].as_f64() else { return String::new() };
    let (rate, unit) = if side["of"] == "copy_gb_s" { (&side["gb_s"], "GB/s") } else { (&side["gflop_s"], "GFLOP/s") };
    format!("{:.0} {unit}, {:.0} %", number(rate), 100.0 * share)
}

/// Of the code for the device's arch, where the record has it.
fn instructions(kernel: &Value, device: &Value) -> String {
    let capability = &device["compute_capability"];
    let code = &kernel["code"][format!("sm_{}{}", capability[0], capability[1])];
    if code.is_null() {
        return String::new();
    }
    format!("{} / {}", code["rust"]["sass"], code["cuda"]["sass"])
}

/// The kernels in which Rust is slower, the slowest first.
fn slower(kernels: &[&Value]) -> String {
    let mut slower: Vec<&&Value> = kernels.iter().filter(|kernel| number(&kernel["ratio"]) < SLOWER).collect();
    if slower.is_empty() {
        return format!("\nNo kernel is below {SLOWER:.2}.\n");
    }
    slower.sort_by(|a, b| number(&a["ratio"]).total_cmp(&number(&b["ratio"])));
    let mut text = format!(
        "\n## Slower than nvcc\n\nBelow {SLOWER:.2}, the slowest first, with the quartiles of the ratio.\n\n| kernel | nvcc / Rust | quartiles |\n|---|---|---|\n"
    );
    for kernel in slower {
        let quartile = |index: usize| number(&kernel["quartiles"][index]);
        _ = writeln!(
            text,
            "| `{}` | {:.2} | {:.2} to {:.2} |",
            kernel["name"].as_str().unwrap_or_default(),
            number(&kernel["ratio"]),
            quartile(0),
            quartile(1)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A record of three kernels that were measured and one that was not.
    fn record() -> Value {
        let kernel = |name: &str, style: &str, ratio: f64| {
            json!({
                "name": name, "twin": "k", "field": "first field", "style": style, "ratio": ratio,
                "quartiles": [ratio - 0.01, ratio + 0.01], "error": null,
                "rust": { "us": 10.0, "registers": 50, "local": 176, "gb_s": 1000.0, "share": 0.25, "of": "copy_gb_s" },
                "cuda": { "us": 10.0 * ratio, "registers": 12, "local": 0, "gb_s": 2000.0, "share": 0.5, "of": "copy_gb_s" },
                "code": { "sm_90": { "rust": { "sass": 900 }, "cuda": { "sass": 24 } } },
            })
        };
        json!({
            "format": 1, "commit": "0123456789abcdef", "date": "2000-01-02", "driver": "1.2.3",
            "device": { "gpu": "Some GPU", "compute_capability": [9, 0], "cuda": "13.0", "copy_gb_s": 4000.0,
                        "f32_gflop_s": 50_000.0, "f64_gflop_s": 25_000.0 },
            "kernels": [
                kernel("slow", "safe", 0.5), kernel("fast", "safe", 2.0), kernel("pointers", "raw", 0.94),
                { "name": "broken", "field": "other", "style": "safe", "error": "it | broke\nbadly" },
            ]
        })
    }

    #[test]
    fn the_page_has_means_kernels_and_what_is_slower() {
        let page = page(&record()).unwrap();
        for part in [
            "Some GPU, driver 1.2.3 (CUDA 13.0), commit 0123456789ab, 2000-01-02",
            "| slices, iterators, `DisjointSlice` | 2 | **1.00** | 1 | 1 |",
            "| raw pointers | 1 | **0.94** | 1 | 0 |",
            "### First field",
            "| `slow` | 10.0 | 5.0 | 0.50 | 1000 GB/s, 25 % | 50 / 12 | 176 / 0 | 900 / 24 |",
            "| `slow` | 0.50 | 0.49 to 0.51 |\n| `pointers` | 0.94 |",
            "| `broken` | it \\| broke |",
            "![A bar for each kernel](speed.svg)",
        ] {
            assert!(page.contains(part), "{part}\n{page}");
        }
        assert!(page.lines().all(|line| line.starts_with('|') || line.chars().count() <= 120), "{page}");
    }

    #[test]
    fn the_chart_has_the_kernels_that_were_measured() {
        let svg = svg(&record()).unwrap();
        assert!(svg.contains(">fast<") && svg.contains(">0.50<") && !svg.contains("broken"), "{svg}");
    }

    #[test]
    fn a_record_without_measurements_is_refused() {
        assert!(page(&json!({})).is_err());
        assert!(page(&json!({ "kernels": [{ "name": "k", "error": "no GPU" }] })).is_err());
    }

    #[test]
    fn the_page_is_put_into_the_summary_once() {
        let list = format!("- [A](a.md)\n{BEFORE}- [B](b.md)\n");
        let with = listed(&list).unwrap();
        assert!(with.contains(&format!("{BEFORE}- [Speed](speed.md)\n- [B]")), "{with}");
        assert_eq!(listed(&with).unwrap(), with);
        assert!(listed("- [A](a.md)\n").is_err());
    }
}
