//! Litmus tests: a million tries each, in which strong orders show no outcome that they forbid.
//!
//! How often the same programs show it with relaxed orders is recorded. Three of the four must at device scope, or else the
//! tests could not see what they look for; within one block, no GPU so far has shown any.

use ptx::prelude::*;
use ptx::{CudaSlice, Launch};
use ptx_test_kernels::litmus::{self as kernels, RESULTS, STRIDE, THREADS};
use serde_json::json;

use crate::gpu::Gpu;
use crate::record::{Test, recorded};

/// Blocks of a launch.
const BLOCKS: usize = 256;

/// Programs of a launch.
const PROGRAMS: usize = BLOCKS * THREADS;

/// Launches, for more than a million programs.
const LAUNCHES: usize = 16;

/// The results that the strong orders forbid; a program with two results ignores the others.
type Forbidden = fn(&[u32]) -> bool;

/// Where a program's locations and partners are.
type Place = (&'static str, for<'a> fn(&'a mut Memory, u32) -> Launch<'a>);

/// The locations of all programs, and their results.
struct Memory {
    places: CudaSlice<u32>,
    results: CudaSlice<u32>,
}

/// Tries the programs, and counts the forbidden outcomes.
fn tries(gpu: &Gpu, forbidden: Forbidden, launch: for<'a> fn(&'a mut Memory, u32) -> Launch<'a>) -> usize {
    let mut count = 0;
    for seed in 0..LAUNCHES {
        let mut memory = Memory {
            places: gpu.device.zeroed(2 * STRIDE * PROGRAMS).unwrap(),
            results: gpu.device.upload(&vec![u32::MAX; RESULTS * PROGRAMS]).unwrap(),
        };
        gpu.run_as(launch(&mut memory, seed as u32 * 7), Grid::new(BLOCKS as u32, THREADS as u32));
        let results = gpu.device.download(&memory.results).unwrap();
        assert!(results.contains(&1), "nobody saw a write: the programs did not run together");
        count += results.chunks(RESULTS).filter(|results| forbidden(results)).count();
    }
    count
}

macro_rules! programs {
    ($($name:literal, $weak:ident, $strong:ident, $forbidden:expr;)*) => {
        vec![$(($name, $forbidden as Forbidden, $weak(), $strong())),*]
    };
}

macro_rules! places {
    ($($module:ident: $device:ident $system:ident $block:ident $shared:ident;)*) => {$(
        fn $module() -> [Place; 4] {
            use kernels::$module::{$block, $device, $shared, $system};
            [
                ("device scope", |m, seed| $device(&mut m.places, seed, &mut m.results)),
                ("system scope", |m, seed| $system(&mut m.places, seed, &mut m.results)),
                ("block scope", |m, seed| $block(&mut m.places, seed, &mut m.results)),
                ("block scope, shared memory", |m, seed| $shared(seed, &mut m.results)),
            ]
        }
    )*};
}

places! {
    message_passing_weak: mp_weak_device mp_weak_system mp_weak_block mp_weak_shared;
    message_passing: mp_device mp_system mp_block mp_shared;
    store_buffering_weak: sb_weak_device sb_weak_system sb_weak_block sb_weak_shared;
    store_buffering: sb_device sb_system sb_block sb_shared;
    load_buffering_weak: lb_weak_device lb_weak_system lb_weak_block lb_weak_shared;
    load_buffering: lb_device lb_system lb_block lb_shared;
    independent_reads_weak: iriw_weak_device iriw_weak_system iriw_weak_block iriw_weak_shared;
    independent_reads: iriw_device iriw_system iriw_block iriw_shared;
}

fn all() -> Vec<(&'static str, Forbidden, [Place; 4], [Place; 4])> {
    programs! {
        "message passing", message_passing_weak, message_passing, |r| r[0] == 1 && r[1] == 0;
        "store buffering", store_buffering_weak, store_buffering, |r| r[0] == 0 && r[1] == 0;
        "load buffering", load_buffering_weak, load_buffering, |r| r[0] == 1 && r[1] == 1;
        "independent reads", independent_reads_weak, independent_reads, |r| r[..4] == [1, 0, 1, 0];
    }
}

pub fn tests() -> Vec<Test> {
    let mut tests = Vec::new();
    for (name, forbidden, _, strong) in all() {
        for (place, launch) in strong {
            tests.push(recorded(&format!("litmus: {name}, {place}"), move |gpu| {
                let found = tries(gpu, forbidden, launch);
                assert_eq!(found, 0, "forbidden outcomes in {} tries", LAUNCHES * PROGRAMS);
                json!({ "tries": LAUNCHES * PROGRAMS, "forbidden": found })
            }));
        }
    }
    tests.push(recorded("litmus: relaxed programs show what the others forbid", |gpu| {
        let mut counts = serde_json::Map::new();
        for (name, forbidden, weak, _) in all() {
            for (place, launch) in weak {
                counts.insert(format!("{name}, {place}"), json!(tries(gpu, forbidden, launch)));
            }
        }
        let seen = |name: &str| counts[&format!("{name}, device scope")].as_u64() > Some(0);
        let seen = all().iter().filter(|(name, ..)| seen(name)).count();
        assert!(seen >= 3, "the tests cannot see reordering: {counts:?}");
        json!({ "tries": LAUNCHES * PROGRAMS, "weak outcomes": counts })
    }));
    tests
}
