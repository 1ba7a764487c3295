//! One kernel in Rust, in CUDA C++, and in Rust with `panic = "trap"` and with `after-panic = "exit"`: results compared, times measured in turn.

use anyhow::{Context, Result, ensure};
use ptx_bench_table::statistics::{median, quantile};
use ptx_bench_table::{Data, Row, Style, fits};
use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::gpu::{Gpu, Kernel, RUST, Shape};

/// Samples of each side.
const ROUNDS: usize = 21;

/// Which side is measured when, in one round after another: who follows whom changes, too.
const ORDERS: [[usize; 4]; 6] = [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1], [0, 2, 1, 3], [3, 1, 2, 0]];

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
    let kernels = [gpu.rust(row.name)?, gpu.cuda(row.twin)?, gpu.trap(row.name)?, gpu.exit(row.name)?];
    let bench = Bench { gpu: &gpu, kernels, shape: (row.blocks, row.threads) };
    let mut arguments = Arguments::new(&gpu, (row.arguments)())?;

    let [in_rust, in_cuda, with_trap, with_exit] = &bench.kernels;
    let rust = bench.results(in_rust, &mut arguments)?;
    let cuda = bench.results(in_cuda, &mut arguments)?;
    let mut difference = arguments.compare([&rust, &cuda], ["Rust", "CUDA C++"], row.tolerance).err();
    for (kernel, name) in [(with_trap, "Rust with `trap`"), (with_exit, "Rust with `exit`")] {
        if difference.is_none() {
            let results = bench.results(kernel, &mut arguments)?;
            difference = arguments.compare([&rust, &results], ["Rust", name], row.tolerance).err();
        }
    }
    drop((rust, cuda));
    arguments.reset()?;

    let [rust, cuda, trap, exit] = bench.times(&mut arguments)?;
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
        "rust": side(in_rust, &rust)?,
        "cuda": side(in_cuda, &cuda)?,
        "trap": side(with_trap, &trap)?,
        "exit": side(with_exit, &exit)?,
        "ratio": median(&cuda) / median(&rust),
        "quartiles": [quantile(&ratios, 0.25), quantile(&ratios, 0.75)],
        "trap_ratio": median(&trap) / median(&rust),
        "exit_ratio": median(&exit) / median(&rust),
        "error": difference.map(|difference| format!("the results differ: {difference}")),
    }))
}

/// The kernels of a row with their launch.
struct Bench<'a> {
    gpu: &'a Gpu,
    kernels: [Kernel<'a>; 4],
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

    /// What one launch writes.
    fn results(&self, kernel: &Kernel<'_>, arguments: &mut Arguments) -> Result<Vec<Data>> {
        arguments.reset()?;
        self.launch(kernel, arguments, 1)?;
        kernel.wait()?;
        arguments.results()
    }

    /// Microseconds a launch, of so many launches.
    fn sample(&self, kernel: &Kernel<'_>, arguments: &mut Arguments, times: usize) -> Result<f64> {
        Ok(self.gpu.time(|| self.launch(kernel, arguments, times))? / times as f64)
    }

    /// The samples of all, taken in turn.
    fn times(&self, arguments: &mut Arguments) -> Result<[Vec<f64>; 4]> {
        let mut launches = [1; 4];
        for (kernel, launches) in self.kernels.iter().zip(&mut launches) {
            self.sample(kernel, arguments, 3)?;
            let one = self.sample(kernel, arguments, 3)?;
            ensure!(one > 0.0, "the device's clock stands still");
            *launches = ((SAMPLE / one).ceil() as usize).clamp(1, MOST);
        }
        let mut times = [const { Vec::new() }; 4];
        for round in 0..=ROUNDS {
            for which in ORDERS[round % ORDERS.len()] {
                let time = self.sample(&self.kernels[which], arguments, launches[which])?;
                // The first round warms up.
                if round > 0 {
                    times[which].push(time);
                }
            }
        }
        Ok(times)
    }
}
