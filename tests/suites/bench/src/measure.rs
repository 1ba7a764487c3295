//! One kernel: both results compared, both times measured in turn.

use anyhow::{Context, Result, ensure};
use ptx_bench_table::statistics::{median, quantile};
use ptx_bench_table::{Row, Style, fits};
use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::gpu::{Gpu, Kernel, RUST, Shape};

/// Samples of each kernel.
const PAIRS: usize = 21;

/// Microseconds that a sample takes at least, so that the clock and the first launch count for little.
const SAMPLE: f64 = 1_500.0;

/// The most launches of a sample.
const MOST: usize = 500;

/// Compares, measures and describes.
pub fn measure(row: &Row) -> Result<Value> {
    let record = RUST.kernel(row.name).context("the image has no such kernel")?;
    if let Err(fault) = fits(row, record.signature) {
        anyhow::bail!("{fault}");
    }
    let gpu = Gpu::open()?;
    let bench =
        Bench { gpu: &gpu, kernels: [gpu.rust(row.name)?, gpu.cuda(row.twin)?], shape: (row.blocks, row.threads) };
    let mut arguments = Arguments::new(&gpu, (row.arguments)())?;

    let mut results = Vec::new();
    for kernel in &bench.kernels {
        arguments.reset()?;
        bench.launch(kernel, &mut arguments, 1)?;
        kernel.wait()?;
        results.push(arguments.results()?);
    }
    let difference = arguments.compare(&results[0], &results[1], row.tolerance).err();
    drop(results);
    arguments.reset()?;

    let [rust, cuda] = bench.times(&mut arguments)?;
    let ratios: Vec<f64> = rust.iter().zip(&cuda).map(|(rust, cuda)| cuda / rust).collect();
    let side = |kernel: &Kernel<'_>, times: &[f64]| -> Result<Value> {
        let mut side = kernel.resources()?;
        side["us"] = json!(median(times));
        Ok(side)
    };
    Ok(json!({
        "name": row.name,
        "twin": row.twin,
        "field": row.field,
        "style": if row.style == Style::Safe { "safe" } else { "raw" },
        "blocks": [row.blocks.0, row.blocks.1],
        "threads": [row.threads.0, row.threads.1],
        "bytes": row.work.bytes,
        "flops": row.work.flops,
        "flops_f64": row.work.flops_f64,
        "rust": side(&bench.kernels[0], &rust)?,
        "cuda": side(&bench.kernels[1], &cuda)?,
        "ratio": median(&cuda) / median(&rust),
        "quartiles": [quantile(&ratios, 0.25), quantile(&ratios, 0.75)],
        "error": difference.map(|difference| format!("the results differ: {difference}")),
    }))
}

/// Both kernels of a row with their launch.
struct Bench<'a> {
    gpu: &'a Gpu,
    kernels: [Kernel<'a>; 2],
    shape: Shape,
}

impl Bench<'_> {
    /// Puts launches on the stream.
    fn launch(&self, kernel: &Kernel<'_>, arguments: &mut Arguments, times: usize) -> Result<()> {
        let mut parameters = arguments.parameters();
        for _ in 0..times {
            // SAFETY: the arguments fit the Rust kernel's signature, whose parameters its twin has too; the table gives
            // memory of the sizes that the kernels ask for.
            unsafe { kernel.launch(self.shape, &mut parameters)? };
        }
        Ok(())
    }

    /// Microseconds a launch, of so many launches.
    fn sample(&self, kernel: &Kernel<'_>, arguments: &mut Arguments, times: usize) -> Result<f64> {
        Ok(self.gpu.time(|| self.launch(kernel, arguments, times))? / times as f64)
    }

    /// The samples of both, taken in turn; who is first changes, too.
    fn times(&self, arguments: &mut Arguments) -> Result<[Vec<f64>; 2]> {
        let mut launches = [1; 2];
        for (kernel, launches) in self.kernels.iter().zip(&mut launches) {
            self.sample(kernel, arguments, 3)?;
            let one = self.sample(kernel, arguments, 3)?;
            ensure!(one > 0.0, "the device's clock stands still");
            *launches = ((SAMPLE / one).ceil() as usize).clamp(1, MOST);
        }
        let mut times = [Vec::new(), Vec::new()];
        for pair in 0..=PAIRS {
            for turn in 0..2 {
                let which = (pair + turn) % 2;
                let time = self.sample(&self.kernels[which], arguments, launches[which])?;
                // The first pair warms up.
                if pair > 0 {
                    times[which].push(time);
                }
            }
        }
        Ok(times)
    }
}
