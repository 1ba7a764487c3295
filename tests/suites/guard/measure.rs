//! What ptxas makes of the benchmark's kernels now.

use std::collections::BTreeMap;
use std::process::Command;

use ptx_bench_table::guard::{Arch, Figures, Key};
use ptx_bench_table::rows;
use ptx_bench_table::sass::{Listing, loops};
use ptx_codegen::report::Report;
use ptx_codegen::request::Emit;
use ptx_codegen::tool::Tool;
use ptx_project::options::Settings;
use ptx_project::tools;
use ptx_tests::folders::target_dir;
use ptx_tests::kernels;

const FOLDER: &str = "tests/kernels/bench";

/// ptxas, which the figures depend on, and nvdisasm.
pub struct Tools {
    /// `13.0.88`.
    pub ptxas: String,
    nvdisasm: Tool,
}

impl Tools {
    /// Finds them, or says what is missing.
    pub fn find() -> Result<Self, String> {
        let tools = tools::find();
        let ptxas = tools.ptxas().ok_or("ptxas was not found")?.version().map_err(|error| error.to_string())?;
        let nvdisasm = tools.nvdisasm().ok_or("nvdisasm was not found")?.clone();
        Ok(Self { ptxas: ptxas.into(), nvdisasm })
    }

    /// Compiles all kernels for these archs by one device build, in default settings, and reads the code.
    pub fn measure(&self, archs: &[Arch]) -> Result<BTreeMap<Key, Figures>, String> {
        let names: Vec<&str> = archs.iter().map(|arch| arch.name()).collect();
        let settings = Settings {
            arch: names.iter().map(ToString::to_string).collect(),
            emit: vec![Emit::Ptx, Emit::Cubin],
            ..Settings::default()
        };
        let report = kernels::build(FOLDER, &target_dir().join("guard").join(names.join("-")), settings, &[])?;
        let mut figures = BTreeMap::new();
        for arch in archs {
            let listing = self.listing(&report, arch.name())?;
            for row in rows() {
                figures.insert((row.name.to_string(), *arch), figures_of(&report, &listing, row.name, arch.name())?);
            }
        }
        Ok(figures)
    }

    fn listing(&self, report: &Report, arch: &str) -> Result<Listing, String> {
        let cubin = &report.output(Emit::Cubin, Some(arch)).ok_or_else(|| format!("no cubin for {arch}"))?.path;
        let output = Command::new(&self.nvdisasm.path).arg("--print-code").arg(cubin).output();
        let output = output.map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        Ok(Listing::parse(&String::from_utf8_lossy(&output.stdout)))
    }
}

fn figures_of(report: &Report, listing: &Listing, name: &str, arch: &str) -> Result<Figures, String> {
    let resources = report.kernel(name).and_then(|kernel| kernel.resources.get(arch));
    let resources = resources.ok_or_else(|| format!("ptxas says nothing of `{name}` for {arch}"))?;
    let number = |number: usize| u32::try_from(number).expect("a kernel fits into memory");
    Ok(Figures {
        registers: resources.registers,
        stack: resources.stack,
        loops: number(loops(listing, name)?.iter().sum()),
        code: number(listing.opcodes(name).count()),
    })
}
