//! Every kind of panic leaves on the host what the same code leaves on the CPU; each in a process of its own, because a panic
//! loses the device.

use std::panic::catch_unwind;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use ptx::prelude::*;
use ptx::{Error, Image, Lost, Panic};
use ptx_panic_kernels::{NAMES, panics, run};
use serde_json::{Value, json};

use crate::record::{Test, test};

/// (profile, strategy, code)
static VARIANTS: [(&str, &str, Image); 6] = [
    ("debug", "full", ptx::image!("panics_debug_full")),
    ("debug", "location", ptx::image!("panics_debug_location")),
    ("debug", "trap", ptx::image!("panics_debug_trap")),
    ("release", "full", ptx::image!("panics_release_full")),
    ("release", "location", ptx::image!("panics_release_location")),
    ("release", "trap", ptx::image!("panics_release_trap")),
];

/// Begins the names of this module's children.
const CHILD: &str = "panic";

/// What runs on the CPU and on the GPU.
pub const VALUES: [u32; 4] = [0, 1, 2, 3];

/// The block and the thread that panic.
pub const BLOCK: [u32; 3] = [1, 2, 0];
pub const THREAD: [u32; 3] = [5, 1, 1];

/// Processes at once. Each has a context of its own.
const AT_ONCE: usize = 8;

/// What the children of a variant said, by kind.
type Results = Vec<Result<Value, String>>;

pub fn tests() -> Vec<Test> {
    let mut tests = Vec::new();
    for (index, (profile, strategy, _)) in VARIANTS.iter().enumerate() {
        let results: Arc<OnceLock<Results>> = Arc::default();
        for (kind, name) in NAMES.iter().enumerate() {
            let results = results.clone();
            tests.push(test(&format!("panic: {name}, {profile}, {strategy}"), move |_| {
                let all = results.get_or_init(|| children(index));
                let found = all[kind].as_ref().unwrap_or_else(|error| panic!("{error}"));
                check(found, strategy, [BLOCK, THREAD]);
            }));
        }
        tests.push(test(&format!("panic: in every thread, {profile}, {strategy}"), move |_| {
            let found = start(index, NAMES.len()).unwrap_or_else(|error| panic!("{error}"));
            let at =
                ["block", "thread"].map(|what| serde_json::from_value(found["gpu"][what].clone()).unwrap_or_default());
            check(&found, strategy, at);
        }));
    }
    tests
}

/// Compares what the GPU left with what the CPU did.
fn check(found: &Value, strategy: &str, [block, thread]: [[u32; 3]; 2]) {
    let (cpu, gpu) = (&found["cpu"], &found["gpu"]);
    assert_ne!(cpu["line"], Value::Null, "it does not panic on the CPU: {found}");
    if strategy == "trap" {
        assert_eq!(*gpu, json!({ "lost": "trap" }), "{found}");
    } else {
        let message = if strategy == "full" { cpu["message"].clone() } else { Value::Null };
        let place = |side: &Value| json!([side["file"], side["line"], side["column"]]);
        assert_eq!((&gpu["message"], place(gpu)), (&message, place(cpu)), "{found}");
        assert_eq!((&gpu["block"], &gpu["thread"]), (&json!(block), &json!(thread)), "{found}");
    }
    // The error stays, and nothing is the worse for it but the context.
    assert_eq!(found["again"], *gpu, "{found}");
    assert_eq!(found["reopened"], json!("ContextLost"), "{found}");
}

/// Has every kind panic.
fn children(variant: usize) -> Results {
    let results: Vec<OnceLock<_>> = NAMES.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let kind = next.fetch_add(1, Ordering::Relaxed);
                    let Some(result) = results.get(kind) else { break };
                    _ = result.set(start(variant, kind));
                }
            });
        }
    });
    results.into_iter().map(|result| result.into_inner().expect("every kind was taken once")).collect()
}

/// The last line that a child printed. One that ends in another way than by itself fails.
fn start(variant: usize, kind: usize) -> Result<Value, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(program)
        .args(["--child", &format!("{CHILD} {variant} {kind}")])
        .output()
        .map_err(|error| error.to_string())?;
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let value = stdout.lines().last().and_then(|line| serde_json::from_str(line).ok());
    value.filter(|_| output.status.success()).ok_or_else(|| format!("{}:\n{stdout}\n{stderr}", output.status))
}

/// Panics on the CPU and on the GPU, and prints both; none if the name is another's.
pub fn child(name: &str) -> Option<ExitCode> {
    let mut numbers = name.strip_prefix(CHILD)?.split_whitespace().map(str::parse);
    let (Some(Ok(variant)), Some(Ok(kind))) = (numbers.next(), numbers.next()) else { return None };
    let (variant, kind): (usize, usize) = (variant, kind);
    let all = kind == NAMES.len();
    let kind = if all { 0 } else { kind as u32 };
    let found = launch(variant, kind, all).unwrap_or_else(|error| json!({ "failed": error.to_string() }));
    let mut found = found.as_object().cloned().unwrap_or_default();
    // Memory, module and device are gone by now.
    let reopened = Device::first().and_then(|device| device.zeroed::<u32>(1).map(drop));
    found.insert("reopened".into(), json!(kind_of(&reopened)));
    found.insert("cpu".into(), on_cpu(kind));
    println!("{}", Value::Object(found));
    Some(ExitCode::SUCCESS)
}

fn kind_of(result: &ptx::Result<()>) -> &'static str {
    match result {
        Ok(()) => "nothing",
        Err(Error::ContextLost { .. }) => "ContextLost",
        Err(Error::Panic(_)) => "Panic",
        Err(_) => "another error",
    }
}

/// As the kernel takes a block or a thread.
pub fn number([x, y, z]: [u32; 3]) -> u32 {
    x | y << 8 | z << 16
}

fn launch(variant: usize, kind: u32, all: bool) -> ptx::Result<Value> {
    // The memory of the shared device is not touched: a context is lost as a whole.
    let device = Device::first()?;
    let module = device.load(&VARIANTS[variant].2)?;
    let values = device.upload(&VALUES)?;
    let other = device.new_stream()?;
    let mut out = device.zeroed::<u32>(1)?;
    let block = if all { u32::MAX } else { number(BLOCK) };
    let grid = Grid::new((3, 3, 1), (32, 2, 2));
    panics(kind, &values, block, number(THREAD), &mut out).launch(&module, grid)?;
    let first = device.synchronize();
    let again = device.download(&out).map(drop);
    let loaded = device.load(&VARIANTS[variant].2).map(drop);
    drop((out, other, values, module));
    // Whatever is asked next says the same.
    let same = describe(&loaded) == describe(&again);
    let again = if same { describe(&again) } else { json!([describe(&again), describe(&loaded)]) };
    Ok(json!({ "gpu": describe(&first), "again": again }))
}

pub fn describe(result: &ptx::Result<()>) -> Value {
    let numbers = |at: ptx::Dim3| json!([at.x, at.y, at.z]);
    match result {
        Err(Error::Panic(panic)) => {
            let Panic { message, file, line, column, block, thread, .. } = &**panic;
            json!({
                "message": message, "file": name_of(file), "line": line, "column": column,
                "block": numbers(*block), "thread": numbers(*thread),
            })
        }
        Err(Error::ContextLost { reason: Lost::Instruction(_), .. }) => json!({ "lost": "trap" }),
        other => json!({ "other": format!("{other:?}") }),
    }
}

/// A file as both sides have it: the CPU's standard library and the GPU's lie in different folders.
fn name_of(file: &str) -> &str {
    file.find("library/core/").map_or(file, |at| &file[at..])
}

pub fn on_cpu(kind: u32) -> Value {
    static SEEN: Mutex<Value> = Mutex::new(Value::Null);
    std::panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let message = payload.downcast_ref::<String>().map(String::as_str);
        let message = message.or_else(|| payload.downcast_ref::<&str>().copied());
        let place = info.location().map(|place| (name_of(place.file()).to_string(), place.line(), place.column()));
        let (file, line, column) = place.unwrap_or_default();
        *SEEN.lock().expect("nobody panics with the lock") =
            json!({ "message": message, "file": file, "line": line, "column": column });
    }));
    _ = catch_unwind(|| run(kind, &VALUES));
    _ = std::panic::take_hook();
    SEEN.lock().expect("nobody panics with the lock").clone()
}
