//! `cargo xtask bench build`: how long the device build of the benchmark's kernels takes, as ratios to nvcc on their twins.
//!
//! Both make a cubin for one arch, in turn. Neither finds what ptxas made before: the cache of this build is empty each
//! time, but for the kernels that LLVM has optimised where one of them is changed, and for the crates below the kernels
//! where only the target folder is new. Builds for an image, and those where nobody
//! asks for a cubin, have ptxas work on parts, of which it finds those that have not changed. All are compiled in a folder of
//! their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use ptx_project::{cache, tools};
use xtask::{ARCH, shell};

use crate::code::TWINS;

/// How often each is measured, in turn; the least counts.
const ROUNDS: usize = 5;

/// How often a build with all crates that the kernels need is measured; it takes long.
const COLD_ROUNDS: usize = 2;

/// The file with the kernel that is changed, and the line of it.
const CHANGED: (&str, &str) = ("src/streams.rs", "*y += a * x[i.get()];");

/// What is asked of the device build.
#[derive(Clone, Copy)]
enum Form {
    /// Machine code in one file.
    Cubin,
    /// What ptxas says, of parts of the program.
    Parts,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Self::Cubin => "cubin",
            Self::Parts => "parts",
        }
    }
}

/// Seconds on the clock, and of all cores together.
#[derive(Clone, Copy, Debug)]
struct Time {
    wall: f64,
    cpu: f64,
}

impl Time {
    fn least(self, other: Self) -> Self {
        Self { wall: self.wall.min(other.wall), cpu: self.cpu.min(other.cpu) }
    }
}

/// Measures and prints a table, then where the time after a change goes; fails if a target is missed.
pub fn run() -> Result<ExitCode> {
    shell::run(shell::cargo().args(["build", "--release", "--quiet", "--package", "cargo-ptx", "--bins"]))?;
    let bench = Build::prepare()?;
    let (mut twins, mut first) = (bench.nvcc()?, bench.first()?);
    for _ in 1..COLD_ROUNDS {
        first = first.least(bench.first()?);
    }
    let mut cold = bench.cold()?;
    let (mut kernels, mut touched, mut unchanged) = (bench.kernels()?, bench.touched(0)?, bench.unchanged()?);
    // Once for the crates below.
    bench.parts()?;
    let (mut parts, mut touched_part) = (bench.parts()?, bench.touched_part(0)?);
    for round in 1..ROUNDS {
        twins = twins.least(bench.nvcc()?);
        cold = cold.least(bench.cold()?);
        kernels = kernels.least(bench.kernels()?);
        parts = parts.least(bench.parts()?);
        touched_part = touched_part.least(bench.touched_part(round)?);
        touched = touched.least(bench.touched(round)?);
        unchanged = unchanged.least(bench.unchanged()?);
    }
    let rows = [
        ("nvcc, twins to cubin", twins, None),
        ("the first with a rustc, all crates, sysroot ready", first, None),
        ("a new target folder", cold, Some(1.0)),
        ("the kernels' crate, those below it ready", kernels, Some(1.0)),
        ("after a change to one kernel", touched, Some(0.5)),
        ("the kernels' crate, ptxas on parts", parts, Some(1.0)),
        ("after a change to one kernel, ptxas on its part", touched_part, Some(0.5)),
        ("after a change that leaves the PTX as it was", unchanged, None),
    ];
    println!("\n{:50} {:>8} {:>8} {:>9} {:>9}   target", ARCH, "wall, s", "CPU, s", "wall, ×", "CPU, ×");
    let mut holds = true;
    for (what, time, target) in rows {
        let ratio = time.wall / twins.wall;
        let verdict = target.map_or(String::new(), |target| {
            let held = ratio <= target;
            holds &= held;
            format!("at most {target} ×{}", if held { "" } else { " MISSED" })
        });
        println!("{what:50} {:8.2} {:8.2} {ratio:9.2} {:9.2}   {verdict}", time.wall, time.cpu, time.cpu / twins.cpu,);
    }
    println!("\n{}", bench.timings()?);
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A copy of the kernels, and the programs that are measured.
struct Build {
    scratch: tempfile::TempDir,
    cargo_ptx: PathBuf,
    nvcc: PathBuf,
    source: String,
}

impl Build {
    fn prepare() -> Result<Self> {
        let tools = tools::find();
        let nvcc = tools.nvcc().context("nvcc is needed to compare with: `cargo xtask setup` installs it")?;
        let scratch = tempfile::tempdir_in(shell::target_dir()?)?;
        let root = std::env::current_dir()?;
        let package = scratch.path().join("kernels");
        fs::create_dir_all(package.join("src"))?;
        for entry in fs::read_dir("tests/kernels/bench/src")? {
            let path = entry?.path();
            fs::copy(&path, package.join("src").join(path.file_name().context("a file has a name")?))?;
        }
        fs::copy("Cargo.lock", package.join("Cargo.lock"))?;
        fs::write(
            package.join("Cargo.toml"),
            format!(
                "[package]\nname = \"ptx-bench-kernels\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
                 [dependencies]\nptx = {{ path = {:?} }}\n\n[workspace]\n",
                root.join("runtime/ptx")
            ),
        )?;
        let source = fs::read_to_string(package.join(CHANGED.0))?;
        ensure!(source.contains(CHANGED.1), "{} has no line `{}`", CHANGED.0, CHANGED.1);
        let cargo_ptx = std::path::absolute(shell::target_dir()?)?.join("release/cargo-ptx");
        Ok(Self { scratch, cargo_ptx, nvcc: nvcc.path.clone(), source })
    }

    /// A folder of a form's own.
    fn of(&self, form: Form, name: &str) -> PathBuf {
        self.path(&format!("{name}-{}", form.name()))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    fn nvcc(&self) -> Result<Time> {
        let mut command = Command::new(&self.nvcc);
        command.args(["-O3", "-cubin", &format!("-arch={ARCH}"), "-o"]).arg(self.path("twins.cubin")).arg(TWINS);
        timed(&mut command)
    }

    /// With all crates that the kernels need, which are those of the macros, too.
    fn first(&self) -> Result<Time> {
        remove(&self.of(Form::Cubin, "cache").join(cache::CRATES))?;
        self.cold()
    }

    /// With nothing in the target folder.
    fn cold(&self) -> Result<Time> {
        remove(&self.of(Form::Cubin, "target"))?;
        self.forget_groups(Form::Cubin)?;
        self.build(Form::Cubin, &self.source)
    }

    /// The kernels' own crate.
    fn kernels(&self) -> Result<Time> {
        self.whole(Form::Cubin)
    }

    /// The same, and nobody asks for one cubin.
    fn parts(&self) -> Result<Time> {
        self.whole(Form::Parts)
    }

    fn whole(&self, form: Form) -> Result<Time> {
        // Whitespace is a change to cargo alone.
        self.build(form, &format!("{}\n", self.source))?;
        self.forget_groups(form)?;
        let kept = self.of(form, "target").join("ptx/incremental");
        fs::remove_dir_all(&kept).with_context(|| format!("rustc kept nothing in `{}`", kept.display()))?;
        self.build(form, &self.source)
    }

    fn touched(&self, round: usize) -> Result<Time> {
        self.build(Form::Cubin, &self.changed(round))
    }

    /// What ptxas made of the other parts is there.
    fn touched_part(&self, round: usize) -> Result<Time> {
        fs::write(self.path("kernels").join(CHANGED.0), self.changed(round))?;
        timed(&mut self.command(Form::Parts, &self.of(Form::Parts, "target"))?)
    }

    fn changed(&self, round: usize) -> String {
        self.source.replacen(CHANGED.1, &format!("*y += (a + {round}.5) * x[i.get()];"), 1)
    }

    /// Has all kernels optimised the next time.
    fn forget_groups(&self, form: Form) -> Result<()> {
        remove(&self.of(form, "cache").join(cache::GROUPS))
    }

    /// What ptxas made before is there.
    fn unchanged(&self) -> Result<Time> {
        self.build(Form::Cubin, &self.source)?;
        fs::write(self.path("kernels").join(CHANGED.0), format!("{}\n// A comment.\n", self.source))?;
        timed(&mut self.command(Form::Cubin, &self.of(Form::Cubin, "target"))?)
    }

    /// With nothing that ptxas made before.
    fn build(&self, form: Form, source: &str) -> Result<Time> {
        self.write(form, source)?;
        timed(&mut self.command(form, &self.of(form, "target"))?)
    }

    /// The changed source, and an empty cache.
    fn write(&self, form: Form, source: &str) -> Result<()> {
        remove(&self.of(form, "cache").join(cache::PTXAS))?;
        Ok(fs::write(self.path("kernels").join(CHANGED.0), source)?)
    }

    fn command(&self, form: Form, target: &Path) -> Result<Command> {
        let cache = self.of(form, "cache");
        fs::create_dir_all(&cache)?;
        // The user's, but for what is made of kernels and of the crates below them.
        for entry in fs::read_dir(cache::root().map_err(|failure| anyhow::anyhow!("{failure}"))?)? {
            let entry = entry?;
            let link = cache.join(entry.file_name());
            if ![cache::PTXAS, cache::GROUPS, cache::CRATES].iter().any(|own| entry.file_name() == *own)
                && !link.exists()
            {
                std::os::unix::fs::symlink(entry.path(), link)?;
            }
        }
        let mut command = Command::new(&self.cargo_ptx);
        let emit = match form {
            Form::Cubin => "ptx,cubin",
            Form::Parts => "ptx",
        };
        command.args(["ptx", "build", "--quiet", "--release", "--emit", emit, "--arch", ARCH, "--out"]);
        command.arg(self.of(form, "out")).args(["--target-dir".as_ref(), target.as_os_str()]);
        command.env(cache::CACHE_VARIABLE, cache).env("CARGO_INCREMENTAL", "0").current_dir(self.path("kernels"));
        command.stdout(Stdio::null());
        Ok(command)
    }

    /// Where the time goes after a change.
    fn timings(&self) -> Result<String> {
        let mut text = String::new();
        // Once before, because ptxas is asked in another way where its kernels are timed.
        for added in ["a", "2.0 * a"] {
            let source = self.source.replacen("+= a", &format!("+= {added}"), 1);
            fs::write(self.path("kernels").join(CHANGED.0), source)?;
            let mut command = self.command(Form::Parts, &self.of(Form::Parts, "target"))?;
            text = shell::output(command.arg("--timings").stdout(Stdio::piped()))?;
        }
        let table = text.split("\nstage ").nth(1).context("no table of stages")?;
        Ok(format!("stage {}", table.split("\n\n/").next().unwrap_or(table)))
    }
}

fn remove(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    Ok(())
}

/// How long a command takes, with everything that it starts.
fn timed(command: &mut Command) -> Result<Time> {
    let before = cpu_of_children()?;
    let start = Instant::now();
    shell::run(command)?;
    Ok(Time { wall: start.elapsed().as_secs_f64(), cpu: cpu_of_children()? - before })
}

/// Seconds of all processes that this one waited for, and of those that they waited for (man 5 proc: cutime, cstime).
fn cpu_of_children() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The name before may have spaces.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok()).context("no such field");
    // Linux tells user space of 100 ticks a second on every machine.
    Ok((ticks(13)? + ticks(14)?) / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_children_is_counted() {
        let busy = timed(Command::new("sh").args(["-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"])).unwrap();
        assert!(busy.cpu > 0.02 && busy.wall > 0.02, "{busy:?}");
        assert_eq!(busy.least(Time { wall: 0.0, cpu: 9.0 }).wall, 0.0);
    }
}
