//! Litmus tests: a million tries of each row of the table in each scope, space and width. What the memory model forbids must
//! never be seen; how often the rest is seen is recorded.
//!
//! Of the programs without any order, most must show their outcome at device scope, or else the tests could not see what they
//! look for. Within one block, no GPU so far has shown any.

use std::sync::OnceLock;

use ptx::prelude::*;
use ptx::{CudaSlice, Image, Launch};
use ptx_litmus::{READS, RESULTS, ROWS, Row, Verdict};
use ptx_litmus_kernels::{self as kernels, PERIOD, STRIDE, THREADS};
use serde_json::{Map, json};

use crate::gpu::Gpu;
use crate::record::{Test, recorded};

static IMAGE: Image = ptx::image!("ptx-litmus-kernels");

/// Blocks of a launch that try.
const BLOCKS: usize = 256;

/// Tries of a launch.
const TRIES: usize = BLOCKS * THREADS;

/// Launches, for more than a million tries.
const LAUNCHES: usize = 16;

/// Between two locations in global memory, in words, in turn: neighbours, the cache's unit, its line.
const STRIDES: [usize; 4] = [2, STRIDE, 4 * STRIDE, STRIDE];

/// Words that the blocks in between load.
const NOISE: usize = 1 << 16;

/// What a launch works on.
struct Memory {
    locations: CudaSlice<u32>,
    noise: CudaSlice<u32>,
    results: CudaSlice<u32>,
}

/// A row's number, how many threads share tries, the stride, and a seed.
type Of = [u32; 4];

/// A scope, space and width.
struct Place {
    name: &'static str,
    /// Whether the threads of a try are in one block.
    in_a_block: bool,
    launch: for<'a> fn(&'a mut Memory, Of) -> Launch<'a>,
}

macro_rules! places {
    ($($name:literal $in_a_block:literal $kernel:ident;)*) => {
        [$(Place {
            name: $name,
            in_a_block: $in_a_block,
            launch: |m, [row, count, stride, seed]| {
                kernels::$kernel(row, count, stride, seed, &mut m.locations, &mut m.noise, &mut m.results)
            },
        },)*
        Place {
            name: "block, shared memory",
            in_a_block: true,
            launch: |m, [row, _, _, seed]| kernels::of_shared(row, seed, &mut m.noise, &mut m.results),
        }]
    };
}

const PLACES: [Place; 9] = places! {
    "device" false of_device;
    "system" false of_system;
    "block" true of_block;
    "cluster" true of_cluster;
    "device and system" false device_system;
    "block and device" true block_device;
    "device, 64 and 8 bits" false wide_narrow;
    "device, 16 and 64 bits" false narrow_wide;
};

/// The kernels, loaded once.
fn module(gpu: &Gpu) -> &'static Module {
    static MODULE: OnceLock<Module> = OnceLock::new();
    MODULE.get_or_init(|| gpu.device.load(&IMAGE).unwrap_or_else(|error| panic!("{error}")))
}

/// Tries a row, and counts its outcome.
fn tries(gpu: &Gpu, number: usize, place: &Place) -> usize {
    let row = &ROWS[number];
    let module = module(gpu);
    let run = |launch: Launch<'_>, blocks: usize| {
        launch.launch(module, Grid::new(blocks as u32, THREADS as u32)).unwrap_or_else(|error| panic!("{error}"));
    };
    let count = if place.in_a_block { THREADS } else { TRIES };
    let (mut seen, mut met) = (0, false);
    for seed in 0..LAUNCHES {
        let stride = STRIDES[seed % STRIDES.len()];
        let mut memory = Memory {
            locations: gpu.device.zeroed(2 * stride * TRIES).unwrap(),
            noise: gpu.device.zeroed(NOISE).unwrap(),
            results: gpu.device.upload(&vec![u32::MAX; RESULTS * TRIES]).unwrap(),
        };
        let of = [number, count, stride, seed * 7].map(|number| number as u32);
        run((place.launch)(&mut memory, of), BLOCKS / (PERIOD - 1) * PERIOD);
        if place.name != "block, shared memory" {
            run(kernels::last(of[1], of[2], &mut memory.locations, &mut memory.results), BLOCKS);
        }
        let results = gpu.device.download(&memory.results).unwrap();
        for results in results.chunks(RESULTS) {
            let read = (0..row.threads.len()).flat_map(|t| &results[t * READS..][..row.reads_of(t)]);
            assert!(read.clone().all(|value| *value <= 2), "{}: nobody noted what was read: {results:?}", place.name);
            met |= read.into_iter().any(|value| *value > 0);
            seen += usize::from(row.is_outcome(results));
        }
    }
    // Nobody reads what it writes itself, but for a thread alone.
    assert!(met || row.threads.len() == 1 || row.reads.is_empty(), "{}: nobody saw a write", place.name);
    seen
}

/// Where a row is tried.
fn places_of(row: &Row) -> impl Iterator<Item = &'static Place> {
    let of_a_block = row.is_of_a_block();
    PLACES.iter().filter(move |place| place.in_a_block || !of_a_block)
}

pub fn tests() -> Vec<Test> {
    let mut tests = Vec::new();
    for (number, row) in ROWS.iter().enumerate() {
        let verdict = if row.verdict == Verdict::Forbidden { "forbidden" } else { "allowed" };
        tests.push(recorded(&format!("litmus, {verdict}: {}", row.name), move |gpu| {
            let mut seen = Map::new();
            for place in places_of(row) {
                let count = tries(gpu, number, place);
                assert!(count == 0 || row.verdict == Verdict::Allowed, "seen {count} times, scope {}", place.name);
                seen.insert(place.name.into(), json!(count));
            }
            json!({ "tries of each": LAUNCHES * TRIES, "seen": seen })
        }));
    }
    tests.push(recorded("litmus: programs without orders show what the others forbid", |gpu| {
        let plain = ["MP", "SB", "LB", "IRIW", "S", "R", "2+2W"];
        let number = |name: &str| ROWS.iter().position(|row| row.name == name).expect("the table has it");
        let counts = plain.map(|name| (name, tries(gpu, number(name), &PLACES[0])));
        let seen = counts.iter().filter(|(_, count)| *count > 0).count();
        assert!(seen >= 3, "the tests cannot see reordering: {counts:?}");
        json!({ "tries of each": LAUNCHES * TRIES, "seen": counts.map(|(name, count)| json!([name, count])) })
    }));
    tests.push(recorded("litmus, forbidden: MP, cp.async and barriers", |gpu| {
        for seed in 0..LAUNCHES as u32 {
            let mut memory = gpu.device.zeroed::<u32>(TRIES).unwrap();
            let mut out = gpu.device.upload(&vec![u32::MAX; TRIES]).unwrap();
            let launch = kernels::copied(seed * 7, &mut memory, &mut out);
            launch.launch(module(gpu), Grid::new(BLOCKS as u32, THREADS as u32)).unwrap();
            let copied = gpu.device.download(&out).unwrap();
            let wrong = copied.iter().zip(kernels::expected(seed * 7, TRIES)).filter(|(a, b)| **a != *b).count();
            assert_eq!(wrong, 0, "old values, of {TRIES}");
        }
        json!({ "tries": LAUNCHES * TRIES, "seen": 0 })
    }));
    tests
}
