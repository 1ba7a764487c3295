//! Panics that end their thread alone: the context lives, the next wait returns the panic, and nothing hangs that is said not
//! to. Each claim has a process of its own with a limit of time, so that one that hangs fails alone.

use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use ptx::cudarc::driver::sys;
use ptx::prelude::*;
use ptx::{Error, GridError, Image, Panic};
use ptx_panic_kernels::{NAMES, panics};
use ptx_stack_kernels::recurse;
use ptx_survive_kernels as kernels;
use serde_json::{Value, json};

use crate::children;
use crate::panics::{BLOCK, THREAD, VALUES, describe, number, on_cpu};
use crate::record::{Test, test};
use crate::split;

/// (name, code)
static IMAGES: [(&str, Image); 3] = [
    ("release, full", ptx::image!("survive_release_full")),
    ("release, location", ptx::image!("survive_release_location")),
    ("debug, full", ptx::image!("survive_debug_full")),
];

/// Every kind of panic, by name and whether messages are kept.
static KINDS: [(&str, bool, Image); 3] = [
    ("debug, full", true, ptx::image!("panics_debug_full_exit")),
    ("release, full", true, ptx::image!("panics_release_full_exit")),
    ("release, location", false, ptx::image!("panics_release_location_exit")),
];

static STACK: Image = ptx::image!("stack_release_exit");

/// Begins the names of this module's children.
const CHILD: &str = "survive";

/// Launches that panic in one process.
const MANY: u32 = 1000;

type Claim = fn(&Image) -> ptx::Result<()>;

/// What must hold of each image.
const CLAIMS: [(&str, Claim); 17] = [
    ("1,000 panicking launches between good ones", many),
    ("the first in full and the number of the others", others),
    ("loops that threads leave in different rounds, or by a panic", lists),
    ("streams, memory and modules live", all_lives),
    ("a panic is reported once, and by a wait alone", once),
    ("a message made on the device, of the same thread again", formatted_again),
    ("a barrier after a thread has left", |image| meets(image, false, 7, 8)),
    ("a barrier after a warp has left", |image| meets(image, false, 32, 64)),
    ("a barrier whose waiting threads a thread leaves", |image| meets(image, true, 7, 8)),
    ("a barrier whose waiting threads a warp leaves", |image| meets(image, true, 32, 64)),
    ("operations of a warp that a lane has left", votes),
    ("a cluster's barrier after a thread has left", |image| clusters(image, 7, 8)),
    ("a cluster's barrier after a block has left", |image| clusters(image, 0, 64)),
    ("a grid's barrier that a thread leaves", grids),
    ("a loop that looks whether somebody panicked", spins_and_looks),
    ("a loop that does not look, and a deadline", |image| {
        let device = Device::first()?;
        let module = device.load(image)?;
        let (mut go, mut out) = (device.zeroed::<u32>(1)?, device.zeroed::<u32>(64)?);
        kernels::spins(0, &mut go, &mut out).launch(&module, Grid::new(2, 32))?;
        hangs(&device, "spins")
    }),
    ("a barrier with a count, and a deadline", |image| {
        let device = Device::first()?;
        let module = device.load(image)?;
        kernels::waits_for_a_count().launch(&module, Grid::new(1, 64))?;
        hangs(&device, "waits_for_a_count")
    }),
];

pub fn tests() -> Vec<Test> {
    let child = |name: String, child: String| {
        test(&format!("panics that end a thread: {name}"), move |_| {
            let found = children::one(&child);
            assert_eq!(found, json!("held"), "{found}");
        })
    };
    let mut tests = Vec::new();
    for (at, (image, _)) in IMAGES.iter().enumerate() {
        for (claim, (name, _)) in CLAIMS.iter().enumerate() {
            tests.push(child(format!("{name}, {image}"), format!("{CHILD} {at} {claim}")));
        }
    }
    for (at, (image, ..)) in KINDS.iter().enumerate() {
        tests.push(child(format!("all kinds in one process, {image}"), format!("{CHILD} kinds {at}")));
    }
    tests.push(child("stacks that overflow".into(), format!("{CHILD} stack 0")));
    tests.push(child("split barriers that a thread leaves".into(), format!("{CHILD} split 0")));
    tests
}

/// Tries a claim, and prints whether it held; none if the name is another's.
pub fn child(name: &str) -> Option<ExitCode> {
    let mut words = name.strip_prefix(CHILD)?.split_whitespace();
    let (first, second) = (words.next()?, words.next()?.parse::<usize>().ok()?);
    let result = match first {
        "kinds" => kinds(KINDS[second].1, &KINDS[second].2),
        "stack" => overflows(),
        "split" => Device::first().and_then(|device| split::panics(&device)),
        image => CLAIMS[second].1(&IMAGES[image.parse::<usize>().ok()?].1),
    };
    let found = result.map_or_else(|error| json!({ "failed": error.to_string() }), |()| json!("held"));
    println!("{found}");
    _ = std::io::stdout().flush();
    // Of a kernel that hangs, only the end of the process frees the device, and nothing may wait for it on the way.
    std::process::abort()
}

/// The panic that a wait returned.
fn panicked(result: ptx::Result<()>) -> Panic {
    match result {
        Err(Error::Panic(panic)) => *panic,
        other => panic!("no panic: {other:?}"),
    }
}

/// Whether a launch without panics gives what it should.
fn good(device: &Device, module: &Module, more: u32) -> ptx::Result<()> {
    let values: Vec<u32> = (0..1000).map(|at| at * 3).collect();
    let mut out = device.zeroed::<u32>(values.len())?;
    kernels::adds(more, &device.upload(&values)?, &mut out).launch(module, Grid::cover(values.len(), 128))?;
    assert!(
        device.download(&out)?.into_iter().eq(values.iter().map(|value| value + more)),
        "a good launch after {more}"
    );
    Ok(())
}

fn many(image: &Image) -> ptx::Result<()> {
    let device = Device::first()?;
    let module = device.load(image)?;
    let values = device.upload(&VALUES)?;
    let mut out = device.zeroed::<u32>(256)?;
    let mut before = 0;
    for round in 0..MANY {
        kernels::panics_from(round % 256, 1000, &values, &mut out).launch(&module, Grid::new(2, 128))?;
        let panic = panicked(device.synchronize());
        let (block, thread) = (round % 256 / 128, round % 128);
        assert_eq!((panic.block.x, panic.thread.x, panic.others), (block, thread, 0), "round {round}: {panic}");
        assert_eq!((panic.context_lost, panic.kernels), (false, vec!["panics_from".to_string()]), "round {round}");
        assert!(panic.file.ends_with("survive/src/lib.rs") && panic.line > 0, "{}", panic.file);
        if let Some(message) = panic.message {
            assert_eq!(message, format!("index out of bounds: the len is 4 but the index is {}", round % 256 % 4 + 4));
        }
        good(&device, &module, round)?;
        if round == 10 {
            before = allocated(&device);
        }
    }
    assert_eq!(allocated(&device), before);
    Ok(())
}

/// Bytes that this process has of the device's default pool; what others have says nothing of this one.
fn allocated(device: &Device) -> u64 {
    let (mut pool, mut bytes) = (std::ptr::null_mut(), 0_u64);
    let attribute = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT;
    // SAFETY: the device exists, and the attribute is a `u64`.
    unsafe {
        sys::cuDeviceGetDefaultMemPool(&mut pool, device.context().cu_device()).result().expect("the device has one");
        let value = (&raw mut bytes).cast();
        sys::cuMemPoolGetAttribute(pool, attribute, value).result().expect("the pool has the attribute");
    }
    bytes
}

fn others(image: &Image) -> ptx::Result<()> {
    let device = Device::first()?;
    let module = device.load(image)?;
    let values = device.upload(&VALUES)?;
    let mut out = device.zeroed::<u32>(4096)?;
    // All threads, every seventh, those of the last block, one.
    for (first, step) in [(0, 1), (3, 7), (3968, 1), (4095, 1)] {
        kernels::panics_from(first, step, &values, &mut out).launch(&module, Grid::new(32, 128))?;
        let panic = panicked(device.synchronize());
        let all = (4096 - first).div_ceil(step);
        assert_eq!(panic.others, all - 1, "from {first}, {step} apart: {panic}");
        let number = panic.block.x * 128 + panic.thread.x;
        assert!(number >= first && (number - first).is_multiple_of(step), "thread {number} did not panic");
        // All threads that have no panic did what they do.
        let found = device.download(&out)?;
        let panics = |number: usize| number as u32 >= first && (number as u32 - first).is_multiple_of(step);
        let expected = |number: usize| if panics(number) { 0 } else { VALUES[number % 4] };
        assert!((0..4096).all(|number| found[number] == expected(number)), "from {first}, {step} apart");
        out = device.zeroed(4096)?;
    }
    good(&device, &module, 1)
}

/// Lists of 0 to 6 values a thread, of which every 9th names what is not there.
fn lists(image: &Image) -> ptx::Result<()> {
    const THREADS: u32 = 256;
    let device = Device::first()?;
    let module = device.load(image)?;
    let values: Vec<u32> = (0..32).map(|at| at % 5).collect();
    let len = |thread: u32| thread * 5 % 7;
    let of = |thread: u32| (0..len(thread)).map(move |at| (thread * 11 + at * 3) % 32);
    let panics = |thread: u32| thread % 9 == 4 && len(thread) > 2;
    let mut bounds = vec![0];
    let mut lists = Vec::new();
    for thread in 0..THREADS {
        lists.extend(of(thread));
        if let Some(last) = lists.last_mut().filter(|_| panics(thread)) {
            *last = 1000 + thread;
        }
        bounds.push(lists.len() as u32);
    }
    let mut out = device.zeroed::<u32>(THREADS as usize)?;
    let (bounds, lists, of_all) = (device.upload(&bounds)?, device.upload(&lists)?, device.upload(&values)?);
    kernels::sums_of_lists(&bounds, &lists, &of_all, &mut out).launch(&module, Grid::cover(THREADS as usize, 64))?;
    let panic = panicked(device.synchronize());
    let who = panic.block.x * 64 + panic.thread.x;
    assert!(panics(who), "thread {who} of {panic:?}");
    let told = format!("index out of bounds: the len is 32 but the index is {}", 1000 + who);
    assert!(panic.message.as_deref().is_none_or(|message| message == told), "{panic:?}");
    let count = (0..THREADS).filter(|thread| panics(*thread)).count();
    assert_eq!(panic.others as usize + 1, count, "{panic:?}");
    let sums = device.download(&out)?;
    for thread in 0..THREADS {
        let each = |at: u32| (0..values[at as usize]).map(move |round| (at + round) as usize % 32);
        let sum: u32 = of(thread).flat_map(each).map(|at| values[at]).sum();
        assert_eq!(sums[thread as usize], if panics(thread) { 0 } else { sum + 1 }, "thread {thread}");
    }
    Ok(())
}

fn all_lives(image: &Image) -> ptx::Result<()> {
    let device = Device::first()?;
    let (module, other) = (device.load(image)?, device.load(image)?);
    let streams = [device.new_stream()?, device.new_stream()?];
    let values = device.upload(&VALUES)?;
    let kept = device.upload(&[5_u32; 64])?;
    let mut out = [device.zeroed::<u32>(64)?, device.zeroed::<u32>(64)?];
    for round in 0..20 {
        for (stream, out) in streams.iter().zip(&mut out) {
            kernels::panics_from(round, 1, &values, out).launch_on(&module, stream, Grid::new(1, 64))?;
            kernels::adds(round, &kept, out).launch_on(&other, stream, Grid::new(1, 64))?;
        }
        // What comes behind it on the stream runs.
        let panic = panicked(device.synchronize());
        assert_eq!(panic.kernels, ["panics_from", "adds"]);
        for out in &out {
            assert_eq!(device.download(out)?, [5 + round; 64]);
        }
        // A panic that was written while another was reported is not lost, and nothing else is left.
        while device.synchronize().is_err() {}
    }
    drop((module, streams));
    good(&device, &other, 9)
}

fn once(image: &Image) -> ptx::Result<()> {
    let device = Device::first()?;
    let module = device.load(image)?;
    let values = device.upload(&VALUES)?;
    let mut out = device.zeroed::<u32>(64)?;
    device.check()?;
    kernels::panics_from(0, 64, &values, &mut out).launch(&module, Grid::new(1, 64))?;
    // Launches and uploads do not wait, so they go through; cudarc's wait knows nothing of panics.
    kernels::adds(1, &values, &mut out).launch(&module, Grid::new(1, 64))?;
    device.stream().synchronize().expect("the context lives");
    panicked(device.check());
    device.check()?;
    device.synchronize()?;
    kernels::panics_from(0, 64, &values, &mut out).launch(&module, Grid::new(1, 64))?;
    panicked(device.download(&out).map(drop));
    device.download(&out).map(drop)
}

fn formatted_again(image: &Image) -> ptx::Result<()> {
    let device = Device::first()?;
    let module = device.load(image)?;
    let values = device.upload(&VALUES)?;
    let mut out = device.zeroed::<u32>(64)?;
    for round in 0..50 {
        kernels::formats(&values, &mut out).launch(&module, Grid::new(2, 32))?;
        let panic = panicked(device.synchronize());
        assert_eq!((panic.thread.x, panic.others), (3, 0), "round {round}: {panic}");
        if let Some(message) = panic.message {
            assert_eq!(message, "all of [0, 1, 2, 3]");
        }
        // Thread 3 loses the race against the others; that is not its second panic.
        kernels::panics_from(0, 1, &values, &mut out).launch(&module, Grid::new(2, 32))?;
        let panic = panicked(device.synchronize());
        assert!(!panic.message.is_some_and(|message| message.contains("Display")), "round {round}");
        assert_eq!(panic.others, 63, "round {round}");
    }
    Ok(())
}

/// Threads from `first` up to `end` leave blocks of 128, some while the others wait already.
fn meets(image: &Image, late: bool, first: u32, end: u32) -> ptx::Result<()> {
    let device = Device::first()?;
    let module = device.load(image)?;
    let mut out = device.zeroed::<u32>(256)?;
    let kernel = if late { kernels::leaves_late } else { kernels::meets_without };
    kernel(first, end, &mut out).launch(&module, Grid::new(2, 128))?;
    let panic = panicked(device.synchronize());
    assert!(panic.thread.x >= first && panic.thread.x < end && panic.others == (end - first) * 2 - 1, "{panic}");
    let expected = |at: u32| if at % 128 >= first && at % 128 < end { 0 } else { 128 - (end - first) };
    let found = device.download(&out)?;
    assert!(found.iter().copied().eq((0..256).map(expected)), "{found:?}");
    good(&device, &module, 1)
}

fn votes(image: &Image) -> ptx::Result<()> {
    let device = Device::first()?;
    let module = device.load(image)?;
    for lane in [0, 5, 31] {
        let mut out = device.zeroed::<[u32; 2]>(64)?;
        kernels::votes_without(lane, &mut out).launch(&module, Grid::new(1, 64))?;
        let panic = panicked(device.synchronize());
        assert_eq!((panic.thread.x % 32, panic.others), (lane, 1), "{panic}");
        let expected = |at: u32| if at % 32 == lane { [0; 2] } else { [!(1 << lane), if lane == 0 { 8 } else { 7 }] };
        let found = device.download(&out)?;
        assert!(found.iter().copied().eq((0..64).map(expected)), "lane {lane}: {found:?}");
    }
    good(&device, &module, 1)
}

fn clusters(image: &Image, first: u32, end: u32) -> ptx::Result<()> {
    let device = Device::first()?;
    let module = device.load(image)?;
    let mut out = device.zeroed::<u32>(512)?;
    let launched = kernels::clusters_without(first, end, &mut out).cluster(2).launch(&module, Grid::new(8, 64));
    if device.capability() < (9, 0) {
        assert!(matches!(launched, Err(Error::Grid { reason: GridError::Newer { .. }, .. })), "{launched:?}");
        return Ok(());
    }
    launched?;
    let panic = panicked(device.synchronize());
    assert_eq!((panic.block.x % 2, panic.others), (1, (end - first) * 4 - 1), "{panic}");
    let left = |at: u32| at / 64 % 2 == 1 && at % 64 >= first && at % 64 < end;
    let found = device.download(&out)?;
    assert!(found.iter().copied().eq((0..512).map(|at| if left(at) { 0 } else { 2 })), "{found:?}");
    good(&device, &module, 1)
}

fn grids(image: &Image) -> ptx::Result<()> {
    const ROUNDS: u32 = 50;
    const NOBODY: u32 = u32::MAX;
    let device = Device::first()?;
    let module = device.load(image)?;
    let blocks = module.resident_blocks("rounds", 64, 0)?.min(64) as u32;
    let grid = Grid::new(blocks, 64);
    let mut barrier = device.zeroed::<u32>(1)?;
    let threads = blocks * 64;
    // A thread of the first block, one that waits for all, and one of the last block; the first thread of a block, too.
    for (leaver, after) in [(NOBODY, 0), (5, 20), (0, 0), (threads - 64, 7), (threads - 1, 49), (NOBODY, 0)] {
        let (mut counts, mut out) = (device.zeroed::<u32>(ROUNDS as usize)?, device.zeroed::<u32>(threads as usize)?);
        let launch = kernels::rounds(ROUNDS, leaver, after, &mut barrier, &mut counts, &mut out).cooperative();
        launch.launch(&module, grid)?;
        if leaver == NOBODY {
            assert!(device.download(&out)?.into_iter().all(|right| right == ROUNDS), "all see all");
        } else {
            let panic = panicked(device.synchronize());
            assert_eq!((panic.block.x * 64 + panic.thread.x, panic.others), (leaver, 0), "{panic}");
            barrier = device.zeroed(1)?;
        }
    }
    // More blocks than there is room for.
    let most = module.resident_blocks("rounds", 64, 0)?;
    let (mut counts, mut out) = (device.zeroed::<u32>(ROUNDS as usize)?, device.zeroed::<u32>(64)?);
    let launch = kernels::rounds(ROUNDS, NOBODY, 0, &mut barrier, &mut counts, &mut out).cooperative();
    match launch.launch(&module, Grid::new(most as u32 + 1, 64)) {
        Err(Error::Grid { reason: GridError::Cooperative { blocks, limit }, .. }) => {
            assert_eq!((blocks, limit), (most + 1, most));
        }
        other => panic!("{other:?}"),
    }
    good(&device, &module, 1)
}

fn spins_and_looks(image: &Image) -> ptx::Result<()> {
    let device = Device::first()?;
    let module = device.load(image)?;
    let (mut go, mut out) = (device.zeroed::<u32>(1)?, device.zeroed::<u32>(256)?);
    kernels::spins(1, &mut go, &mut out).launch(&module, Grid::new(8, 32))?;
    let panic = panicked(device.synchronize());
    assert_eq!((panic.block.x, panic.thread.x, panic.others), (0, 0, 0), "{panic}");
    assert!(device.download(&out)?.into_iter().enumerate().all(|(at, left)| left == u32::from(at > 0)));
    good(&device, &module, 1)
}

/// A launch that never ends: the wait does, and says why.
fn hangs(device: &Device, kernel: &str) -> ptx::Result<()> {
    let limit = Duration::from_millis(700);
    let begin = Instant::now();
    device.set_deadline(Some(limit));
    for _ in 0..2 {
        match device.synchronize() {
            Err(Error::Deadline { kernels, panic: Some(panic), .. }) => {
                assert_eq!((&*kernels, &panic.kernels[..]), (&[kernel.to_string()][..], &[kernel.to_string()][..]));
                assert!(panic.line > 0, "{panic}");
            }
            other => panic!("it came to an end: {other:?}"),
        }
    }
    assert!(begin.elapsed() >= 2 * limit && begin.elapsed() < 20 * limit, "{:?}", begin.elapsed());
    Ok(())
}

/// Every kind of panic, one after the other in one context, has the CPU's text and place.
fn kinds(has_messages: bool, image: &Image) -> ptx::Result<()> {
    let device = Device::first()?;
    device.set_heap_size(64 << 20)?;
    let module = device.load(image)?;
    let values = device.upload(&VALUES)?;
    for (kind, name) in (0..).zip(NAMES) {
        let mut out = device.zeroed::<u32>(1)?;
        let grid = Grid::new((3, 3, 1), (32, 2, 2));
        panics(kind, &values, number(BLOCK), number(THREAD), &mut out).launch(&module, grid)?;
        let gpu = describe(&device.synchronize());
        let cpu = on_cpu(kind);
        let message = if has_messages { cpu["message"].clone() } else { Value::Null };
        let place = |side: &Value| json!([side["file"], side["line"], side["column"]]);
        assert_eq!((&gpu["message"], place(&gpu)), (&message, place(&cpu)), "{name}: {gpu}");
        assert_eq!((&gpu["block"], &gpu["thread"]), (&json!(BLOCK), &json!(THREAD)), "{name}");
        device.synchronize()?;
    }
    Ok(())
}

fn overflows() -> ptx::Result<()> {
    let device = Device::first()?;
    let module = device.load(&STACK)?;
    for round in 0..10 {
        let mut out = device.zeroed::<u32>(64)?;
        recurse(0, 1_000_000, &mut out).launch(&module, Grid::new(1, 64))?;
        let panic = panicked(device.synchronize());
        let message = panic.message.unwrap_or_default();
        assert!(message.starts_with("stack overflow in "), "round {round}: {message}");
        assert_eq!(panic.others, 63, "round {round}");
        recurse(0, 1, &mut out).launch(&module, Grid::new(1, 64))?;
        let expected = (0..64).map(|seed| ptx_stack_kernels::run(0, 1, seed));
        assert!(device.download(&out)?.into_iter().eq(expected), "round {round}");
    }
    Ok(())
}
