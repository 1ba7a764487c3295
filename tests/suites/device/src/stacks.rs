//! Stacks: recursion that goes too deep panics with the function's name, at every size of the stack, and never writes over
//! memory; what kernels need otherwise they have by default.

use std::process::{Command, ExitCode};
use std::sync::{Arc, OnceLock};

use ptx::prelude::*;
use ptx::{Error, Image, Recursion};
use ptx_stack_kernels::{SHAPES, flat, huge, panics, queue, queues, recurse, run, sort, text, texts};
use serde_json::{Value, json};

use crate::children;
use crate::record::{Test, test};

static PROFILES: [(&str, Image); 3] = [
    ("debug", ptx::image!("stack_debug")),
    ("release", ptx::image!("stack_release")),
    (JUST_IN_TIME, ptx::image!("stack_ptx")),
];

/// PTX alone: the driver compiles it, and nobody has counted what its frames take.
const JUST_IN_TIME: &str = "compiled by the driver";

/// What a thread may have of stack, in bytes; 0 is whatever a launch gives by itself.
const SIZES: [usize; 5] = [0, 1024, 5000, 32 << 10, 80 << 10];

/// Deeper than any stack.
const TOO_DEEP: u32 = 10_000;

/// Threads that recurse at once.
const BLOCKS: u32 = 4;
const THREADS: u32 = 32;

/// Begins the names of this module's children.
const CHILD: &str = "stack";

/// Processes at once. Each has a context of its own, whose stacks take up to 22 GiB of an H200's memory. With four, all of
/// which end in a trap, an H200 was twice reset by its driver in the middle of this suite.
const AT_ONCE: usize = 1;

pub fn tests() -> Vec<Test> {
    let mut tests = Vec::new();
    for (profile, (name, _)) in PROFILES.iter().enumerate() {
        for (size, bytes) in SIZES.into_iter().enumerate() {
            let results: Arc<OnceLock<Vec<Value>>> = Arc::default();
            for (shape, (kind, function)) in SHAPES.iter().enumerate() {
                let results = results.clone();
                let size_name = if bytes == 0 { "the default".to_string() } else { format!("{bytes} bytes") };
                tests.push(test(&format!("stack: {kind}, {name}, {size_name}"), move |_| {
                    let found = &results.get_or_init(|| {
                        let names: Vec<_> = (0..SHAPES.len()).map(|shape| child_name(profile, size, shape)).collect();
                        children::all(&names, AT_ONCE)
                    })[shape];
                    // Nobody has counted how large its frames are, so that even the shallow launch may need more.
                    if !(*name == JUST_IN_TIME && panicked(found)) {
                        check(found, function, bytes);
                    }
                }));
            }
        }
        for (number, (what, _)) in BY_DEFAULT.iter().enumerate() {
            tests.push(test(&format!("stack: {what} by default, {name}"), move |_| {
                let found = start(profile, 0, SHAPES.len() + 1 + number);
                let is_fine = found == json!({ "equal": true }) || *name == JUST_IN_TIME && panicked(&found);
                assert!(is_fine, "{found}");
            }));
        }
        // The rest asks for what ptxas has counted.
        if *name == JUST_IN_TIME {
            continue;
        }
        tests.push(test(&format!("stack: as deep as it is large, {name}"), move |_| {
            let found = start(profile, 0, SHAPES.len());
            assert_eq!(found, json!({ "equal": true }), "{found}");
        }));
        tests.push(test(&format!("stack: more than there is memory for, {name}"), move |_| {
            let found = start(profile, 0, SHAPES.len() + 1 + BY_DEFAULT.len());
            let error = found["error"].as_str().unwrap_or_else(|| panic!("no error: {found}"));
            assert!(error.starts_with("kernel `huge` needs ") && error.contains(" bytes of stack a thread"), "{found}");
            assert_eq!(found["after"], json!(true), "{found}");
        }));
        tests.push(test(&format!("stack: within the text of a panic, {name}"), move |_| {
            let found = start(profile, 0, SHAPES.len() + 2 + BY_DEFAULT.len());
            assert_eq!(found["short"]["message"], json!("Some(Node { value: 1, next: None })"), "{found}");
            let message = found["long"]["message"].as_str().unwrap_or_else(|| panic!("no panic: {found}"));
            // It takes the place of what was written of the list. Any function that formatting calls may be the one.
            assert!(message.starts_with("stack overflow in `"), "{found}");
        }));
    }
    tests
}

/// A launch that must give the CPU's results.
type Run = fn(&Image) -> ptx::Result<bool>;

/// Kinds of programs that overflowed the stack that the driver gives (issue 14), with what a launch gives by itself.
const BY_DEFAULT: [(&str, Run); 3] = [("sorting", sorts), ("a queue", queues_equal), ("writing text", texts_equal)];

/// Whether a launch that was to succeed said that its stack is too small.
fn panicked(found: &Value) -> bool {
    let message = found["failed"].as_str().unwrap_or_default();
    message.contains("stack overflow in `") && message.contains("Device::set_stack_size")
}

/// A shallow launch must succeed, a deep one must panic with the name, the place and the size.
pub fn check(found: &Value, function: &str, bytes: usize) {
    assert_eq!(found["shallow"], json!(true), "{found}");
    let message = found["message"].as_str().unwrap_or_else(|| panic!("no panic: {found}"));
    let (name, rest) = message
        .strip_prefix("stack overflow in `")
        .and_then(|rest| rest.split_once("`: every thread has "))
        .unwrap_or_else(|| panic!("another panic: {found}"));
    assert!(name.contains(function), "{found}");
    let said: usize = rest.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0);
    assert_eq!(json!(said), found["size"], "{found}");
    assert!(said >= bytes, "{found}");
    assert!(rest.contains("Device::set_stack_size"), "{found}");
    // Release builds know no places in `core`.
    if name.starts_with("ptx_stack_kernels::") {
        assert!(found["file"].as_str().is_some_and(|file| file.ends_with("shapes.rs")), "{found}");
        assert!(found["line"].as_u64().is_some_and(|line| line > 0), "{found}");
    }
}

/// What the child of this number printed: of a shape, or what comes after them.
fn start(profile: usize, size: usize, number: usize) -> Value {
    children::one(&child_name(profile, size, number))
}

fn child_name(profile: usize, size: usize, number: usize) -> String {
    format!("{CHILD} {profile} {size} {number}")
}

/// Goes too deep, and prints what came of it; none if the name is another's.
pub fn child(name: &str) -> Option<ExitCode> {
    let mut numbers = name.strip_prefix(CHILD)?.split_whitespace().map(str::parse::<usize>);
    let (Some(Ok(profile)), Some(Ok(size)), Some(Ok(shape))) = (numbers.next(), numbers.next(), numbers.next()) else {
        return None;
    };
    let image = &PROFILES[profile].1;
    let found = match shape.checked_sub(SHAPES.len()) {
        None => overflow(image, SIZES[size], shape as u32),
        Some(0) => deepest(image),
        Some(number) => match BY_DEFAULT.get(number - 1) {
            Some((_, run)) => run(image).map(|equal| json!({ "equal": equal })),
            None if number == 1 + BY_DEFAULT.len() => too_large(image),
            None => within_a_panic(image),
        },
    };
    println!("{}", found.unwrap_or_else(|error| json!({ "failed": error.to_string() })));
    Some(ExitCode::SUCCESS)
}

/// Launches with so many turns, and says whether all results are the CPU's.
pub fn equal(device: &Device, module: &Module, shape: u32, depth: u32) -> ptx::Result<bool> {
    let threads = BLOCKS * THREADS;
    let mut out = device.zeroed::<u32>(threads as usize)?;
    recurse(shape, depth, &mut out).launch(module, Grid::new(BLOCKS, THREADS))?;
    let found = device.download(&out)?;
    Ok(found == (0..threads).map(|seed| run(shape, depth, seed)).collect::<Vec<_>>())
}

fn overflow(image: &Image, bytes: usize, shape: u32) -> ptx::Result<Value> {
    let device = Device::first()?;
    // The lists of all threads at once.
    device.set_heap_size(2 << 30)?;
    if bytes > 0 {
        device.set_stack_size(bytes)?;
    }
    let module = device.load(image)?;
    let shallow = equal(&device, &module, shape, 1)?;
    let size = device.stack_size()?;
    let deep = equal(&device, &module, shape, TOO_DEEP);
    Ok(match deep {
        Err(Error::Panic(panic)) => json!({
            "shallow": shallow, "size": size, "message": panic.message, "file": panic.file, "line": panic.line,
        }),
        other => json!({ "shallow": shallow, "size": size, "other": format!("{other:?}") }),
    })
}

/// As many turns as the record says that there is room for, in every thread at once: no thread's stack may reach into
/// another's.
fn deepest(image: &Image) -> ptx::Result<Value> {
    let device = Device::first()?;
    let size = 60_000_usize;
    device.set_stack_size(size)?;
    let module = device.load(image)?;
    let record = image.kernel("recurse").expect("the image has it");
    let most = record.resources.iter().filter_map(|used| Some((used.stack, used.recursion?)));
    let (stack, Recursion { level, reserve }) = most.max_by_key(|(_, recursion)| recursion.level).unwrap_or_default();
    // `level` is that of the shape with the largest frames.
    let turns = (size as u32 - stack - reserve) / level;
    let mut all = true;
    for shape in 0..SHAPES.len() as u32 - 2 {
        all &= equal(&device, &module, shape, turns)?;
    }
    Ok(json!({ "equal": all && turns > 10 }))
}

fn sorts(image: &Image) -> ptx::Result<bool> {
    let device = Device::first()?;
    let module = device.load(image)?;
    let arrays: Vec<[u32; 96]> =
        (0..512_u32).map(|seed| std::array::from_fn(|at| (at as u32 ^ seed).wrapping_mul(0x9E37_79B9))).collect();
    let mut numbers = device.upload(&arrays)?;
    sort(&mut numbers).launch(&module, Grid::cover(512, 64))?;
    let found = device.download(&numbers)?;
    let expected = arrays.into_iter().map(|mut array| {
        array.sort_by_key(|number| number.reverse_bits());
        array
    });
    Ok(found.into_iter().eq(expected))
}

/// Threads of programs that take what a launch gives.
const MANY: u32 = 512;

fn queues_equal(image: &Image) -> ptx::Result<bool> {
    let device = Device::first()?;
    let mut out = device.zeroed::<u32>(MANY as usize)?;
    queues(&mut out).launch(&device.load(image)?, Grid::cover(MANY as usize, 64))?;
    Ok(device.download(&out)?.into_iter().eq((0..MANY).map(queue)))
}

fn texts_equal(image: &Image) -> ptx::Result<bool> {
    let device = Device::first()?;
    let mut out = device.zeroed::<u32>(MANY as usize)?;
    texts(&mut out).launch(&device.load(image)?, Grid::cover(MANY as usize, 64))?;
    Ok(device.download(&out)?.into_iter().eq((0..MANY).map(text)))
}

/// Launches a kernel whose stacks do not fit into what memory is left, and then one that needs none.
fn too_large(image: &Image) -> ptx::Result<Value> {
    let device = Device::first()?;
    let module = device.load(image)?;
    let (free, _) = device.context().mem_get_info().expect("the driver knows its memory");
    let left = 4 << 30;
    // SAFETY: nobody reads it.
    let _taken = unsafe { device.stream().alloc::<u8>(free.saturating_sub(left)) }.expect("it is free");
    let mut out = device.zeroed::<u32>(64)?;
    let error = huge(&mut out).launch(&module, Grid::new(1, 64)).err();
    flat(&device.upload(&[5_u32; 64])?, &mut out).launch(&module, Grid::new(1, 64))?;
    let after = device.download(&out)? == [15; 64];
    Ok(json!({ "error": error.map(|error| error.to_string()), "after": after }))
}

/// What a panic says that shows a short list, and one that shows a list too long for the stack.
fn within_a_panic(image: &Image) -> ptx::Result<Value> {
    let show = |length| {
        let device = Device::first()?;
        device.set_heap_size(1 << 30)?;
        panics(length).launch(&device.load(image)?, Grid::new(1, 1))?;
        Ok(match device.synchronize() {
            Err(Error::Panic(panic)) => json!({ "message": panic.message }),
            other => json!({ "other": format!("{other:?}") }),
        })
    };
    // The context is lost after a panic: the short list is shown by a process of its own.
    match std::env::var_os(SHORT) {
        Some(_) => show(1),
        None => {
            let program = std::env::current_exe().expect("a running program has a path");
            let mut child = Command::new(program);
            let arguments: Vec<_> = std::env::args_os().skip(1).collect();
            let short = child.args(arguments).env(SHORT, "1").output().expect("it starts");
            let short: Option<Value> =
                String::from_utf8_lossy(&short.stdout).lines().last().and_then(|line| serde_json::from_str(line).ok());
            let long: ptx::Result<Value> = show(TOO_DEEP);
            Ok(json!({ "short": short, "long": long? }))
        }
    }
}

/// Asks a child for the short list.
const SHORT: &str = "PTX_STACKS_SHORT";
