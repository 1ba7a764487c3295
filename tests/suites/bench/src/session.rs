//! All kernels, each in a process of its own, and the record of them.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use ptx_bench_table::{record, rows};
use serde_json::{Value, json};

/// What a session is told.
#[derive(clap::Args)]
pub struct Options {
    /// Where the record goes.
    #[arg(long)]
    json: Option<PathBuf>,
    /// End after so many seconds, with what has been measured by then.
    #[arg(long)]
    limit: Option<u64>,
    /// Figures of the kernels' code, as `cargo xtask bench kernels --static` writes them, for the record.
    #[arg(long)]
    code: Option<PathBuf>,
    /// What was built, for the record.
    #[arg(long)]
    commit: Option<String>,
    /// The day, for the record.
    #[arg(long)]
    date: Option<String>,
    /// Only kernels whose names contain one of these.
    filters: Vec<String>,
}

/// Longer than any kernel takes.
const PATIENCE: Duration = Duration::from_secs(90);

/// Measures every kernel; fails if one fails.
pub fn run(options: &Options) -> Result<ExitCode> {
    let begin = Instant::now();
    let end = options.limit.map(|seconds| begin + Duration::from_secs(seconds));
    let code = match &options.code {
        Some(path) => {
            let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))?
        }
        None => Value::Null,
    };
    // Before all kernels fail for this one reason.
    ptx::Device::count()?;
    let ceilings = child(&["--ceilings"], end);
    println!("{ceilings}");
    let launches = child(&["--launches"], end);
    println!("{launches}");
    println!("{:20} {:>10} {:>10}      nvcc/Rust trap/full", "", "Rust", "nvcc");
    let mut kernels: Vec<Value> = Vec::new();
    let wanted = |name: &str| options.filters.is_empty() || options.filters.iter().any(|part| name.contains(&**part));
    for row in rows().iter().filter(|row| wanted(row.name)) {
        let mut kernel = child(&["--only", row.name], end);
        if kernel["name"].is_null() {
            let style = if row.style == ptx_bench_table::Style::Safe { "safe" } else { "raw" };
            kernel = json!({ "name": row.name, "field": row.field, "style": style, "error": kernel["error"] });
        }
        record::achieved(&mut kernel, &ceilings);
        if !code.is_null() {
            kernel["code"] = code["kernels"][row.name].clone();
        }
        println!("{}", record::line(&kernel));
        kernels.push(kernel);
        write(options, &ceilings, &launches, &kernels, begin.elapsed())?;
    }
    let failed = kernels.iter().filter(|kernel| !kernel["error"].is_null()).count();
    for (what, style, ratio) in [
        ("nvcc/Rust, safe", "safe", "ratio"),
        ("nvcc/Rust, raw", "raw", "ratio"),
        ("trap/full, safe", "safe", "trap_ratio"),
        ("exit/trap after a panic, safe", "safe", "exit_ratio"),
    ] {
        if let Some(mean) = record::mean(&kernels, style, ratio) {
            println!("geometric mean, {what}: {mean:.3}");
        }
    }
    println!("{} measured, {failed} failed, {:.0} s", kernels.len() - failed, begin.elapsed().as_secs_f64());
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn write(options: &Options, ceilings: &Value, launches: &Value, kernels: &[Value], elapsed: Duration) -> Result<()> {
    let Some(path) = &options.json else { return Ok(()) };
    let record = json!({
        "format": 2,
        "commit": options.commit,
        "date": options.date,
        "driver": driver_release(),
        "device": ceilings,
        "launches": launches,
        "seconds": elapsed.as_secs(),
        "geometric_mean": {
            "safe": record::mean(kernels, "safe", "ratio"),
            "raw": record::mean(kernels, "raw", "ratio"),
            "trap": record::mean(kernels, "safe", "trap_ratio"),
            "exit": record::mean(kernels, "safe", "exit_ratio"),
        },
        "kernels": kernels,
    });
    // Whole or not at all: the machine may be taken away at any time.
    let unfinished = path.with_extension("unfinished");
    std::fs::write(&unfinished, format!("{record:#}\n"))
        .and_then(|()| std::fs::rename(&unfinished, path))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// What this program prints as JSON with these arguments; an object with `error` if it fails or takes too long.
fn child(arguments: &[&str], end: Option<Instant>) -> Value {
    let failed = |error: String| json!({ "error": error });
    let patience = end.map_or(PATIENCE, |end| end.saturating_duration_since(Instant::now()).min(PATIENCE));
    if patience.is_zero() {
        return failed("not run: the time was up".into());
    }
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return failed(format!("this program's path is not known: {error}")),
    };
    let started = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) => return failed(format!("it does not start: {error}")),
    };
    // Read meanwhile: a full pipe would stop it.
    let output = child.stdout.take().map(|pipe| std::thread::spawn(move || text(pipe)));
    let errors = child.stderr.take().map(|pipe| std::thread::spawn(move || text(pipe)));
    let status = wait(&mut child, patience);
    let join = |reader: Option<std::thread::JoinHandle<String>>| {
        reader.and_then(|reader| reader.join().ok()).unwrap_or_default()
    };
    let (output, errors) = (join(output), join(errors));
    let printed = output.lines().last().and_then(|line| serde_json::from_str::<Value>(line).ok());
    match (status, printed) {
        (Ok(true), Some(printed)) => printed,
        (Ok(true), None) => failed(format!("it printed no JSON: {}", output.trim())),
        (Ok(false), _) => failed(match errors.trim() {
            "" => "it failed without a message".into(),
            errors => errors.trim_start_matches("error: ").into(),
        }),
        (Err(why), _) => failed(format!("{why}. {}", errors.trim())),
    }
}

fn text(mut pipe: impl Read) -> String {
    let mut bytes = Vec::new();
    // What was read before an error is still worth showing.
    let _ = pipe.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether it ended well; an error if it had to be ended.
fn wait(child: &mut Child, patience: Duration) -> Result<bool, String> {
    let begin = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.success()),
            Ok(None) if begin.elapsed() >= patience => {
                // It may have ended just now.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("it was ended after {} seconds", patience.as_secs()));
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(5)),
            Err(error) => return Err(format!("its end is not known: {error}")),
        }
    }
}

/// As in `580.65.06`, where the driver tells.
fn driver_release() -> Option<String> {
    let text = std::fs::read_to_string("/proc/driver/nvidia/version").ok()?;
    text.split_whitespace()
        .find(|word| word.split('.').count() >= 2 && word.starts_with(|c: char| c.is_ascii_digit()))
        .map(str::to_string)
}
