//! Crates of crates.io, unchanged: what each makes of 256 seeds on the GPU is what it makes of them on the CPU; each in a
//! process of its own, because a panic loses the device.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use ptx::prelude::*;
use ptx::{Image, Launch};
use ptx_crate_kernels::{for_each_crate, run};
use serde_json::{Value, json};

use crate::children;
use crate::record::{Test, recorded};

/// How the note of a crate begins that computes something else for GPUs than for x86-64, by design.
const OTHER_RESULTS: &str = "other results";

/// Crates that are compiled together.
struct Group {
    /// Names and notes.
    crates: &'static [(&'static str, &'static str)],
    image: Image,
    on_cpu: fn(u32, u32) -> u64,
    on_gpu: for<'a> fn(u32, &'a mut CudaSlice<u64>) -> Launch<'a>,
}

macro_rules! groups {
    ($($group:ident $feature:literal { $($function:ident $name:literal $what:literal $note:literal;)* })*) => {
        static GROUPS: &[Group] = &[$(Group {
            crates: &[$(($name, $note)),*],
            image: ptx::image!($feature),
            on_cpu: run::$group,
            on_gpu: |number, out| ptx_crate_kernels::$group(number, out),
        }),*];
    };
}
for_each_crate!(groups);

/// Threads, each with its own number as the seed.
const SEEDS: u32 = 256;

/// What all threads may allocate together: a compressor takes a few hundred KiB a thread.
const HEAP: usize = 512 << 20;

/// Begins the names of this module's children.
const CHILD: &str = "crate";

/// Processes at once. Each has a context of its own.
const AT_ONCE: usize = 8;

pub fn tests() -> Vec<Test> {
    let results: Arc<OnceLock<Vec<Value>>> = Arc::default();
    let test = |(at, (group, number)): (usize, (usize, usize))| {
        let results = results.clone();
        let (name, note) = GROUPS[group].crates[number];
        recorded(&format!("crate: {name}, release"), move |_| {
            let found = &results.get_or_init(self::results)[at];
            let equal = found["equal"].as_u64().unwrap_or_else(|| panic!("{found}"));
            assert_eq!(equal == u64::from(SEEDS), !note.starts_with(OTHER_RESULTS), "{found}");
            found.clone()
        })
    };
    all().enumerate().map(test).collect()
}

/// Every crate: its group, and its number there.
fn all() -> impl Iterator<Item = (usize, usize)> {
    let numbers = |(index, group): (usize, &Group)| (0..group.crates.len()).map(move |number| (index, number));
    GROUPS.iter().enumerate().flat_map(numbers)
}

fn results() -> Vec<Value> {
    children::all(&all().map(|(group, number)| format!("{CHILD} {group} {number}")).collect::<Vec<_>>(), AT_ONCE)
}

/// Runs a crate on both sides, and prints how often they agree; none if the name is another's.
pub fn child(name: &str) -> Option<ExitCode> {
    let mut numbers = name.strip_prefix(CHILD)?.split_whitespace().map(str::parse::<usize>);
    let (Some(Ok(group)), Some(Ok(number))) = (numbers.next(), numbers.next()) else { return None };
    let found = compare(&GROUPS[group], number as u32);
    println!("{}", found.unwrap_or_else(|error| json!({ "failed": error.to_string() })));
    Some(ExitCode::SUCCESS)
}

fn compare(group: &Group, number: u32) -> ptx::Result<Value> {
    let on_cpu: Vec<u64> = (0..SEEDS).map(|seed| (group.on_cpu)(number, seed)).collect();
    // Or nothing would be shown.
    let distinct = on_cpu.iter().collect::<BTreeSet<_>>().len();
    assert!(distinct > SEEDS as usize / 4, "{distinct} results of {SEEDS} seeds");
    let device = Device::first()?;
    device.set_heap_size(HEAP)?;
    let module = device.load(&group.image)?;
    let mut out = device.zeroed::<u64>(SEEDS as usize)?;
    (group.on_gpu)(number, &mut out).launch(&module, Grid::cover(SEEDS as usize, 64))?;
    let on_gpu = device.download(&out)?;
    let differing: Vec<usize> = (0..SEEDS as usize).filter(|seed| on_gpu[*seed] != on_cpu[*seed]).collect();
    Ok(json!({
        "equal": SEEDS as usize - differing.len(), "distinct": distinct,
        "seeds_that_differ": &differing[..differing.len().min(8)], "stack": device.stack_size()?,
    }))
}
