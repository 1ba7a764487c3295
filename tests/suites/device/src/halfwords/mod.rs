//! Thousands of chains of 8- and 16-bit instructions compute what the CPU does: ptxas has compiled some of them wrongly
//! (see `workarounds.rs` of the compiler). They run as machine code of the ptxas that was there, and as PTX that the
//! driver compiles.

use ptx::cudarc::driver::{DevicePtr, DevicePtrMut};

use chains::{Chain, EDGES, IN_KERNEL, IN_MODULE, Operand, Step};

use crate::float::launch::{Twin, launch};
use crate::gpu::{Gpu, random};
use crate::record::{Test, skippable};

mod chains;
#[macro_use]
mod list;

// The functions of rows of the three tables, which have PTX first.
type FromWord = fn(u32) -> u16;
type Between = fn(u16, u16) -> u16;
type ToResult = fn(u16, u16) -> u64;

macro_rules! rows {
    ($($ptx:literal |$($operand:ident),*| $body:expr;)*) => { &[$(($ptx, |$($operand),*| $body)),*] };
}
const SOURCES: &[(&str, FromWord)] = for_each_source!(rows);
const OPERATIONS: &[(&str, Between)] = for_each_operation!(rows);
const ENDS: &[(&str, ToResult)] = for_each_end!(rows);

/// PTX and, where there was a ptxas, cubin of each module.
const MODULES: &[(&str, Option<&[u8]>)] = include!(concat!(env!("OUT_DIR"), "/halfwords.rs"));

/// Threads, each with two words.
const THREADS: usize = 1024;

pub fn tests() -> Vec<Test> {
    vec![
        skippable("chains of halfwords by ptxas", |gpu| {
            run(gpu, |number| MODULES[number].1.map(<[u8]>::to_vec).ok_or("ptxas was not found".to_string()))
        }),
        skippable("chains of halfwords by the driver", |gpu| {
            run(gpu, |number| Ok([MODULES[number].0.as_bytes(), b"\0"].concat()))
        }),
    ]
}

/// Runs every module, of which `code` gives a form, and compares.
fn run(gpu: &Gpu, code: impl Fn(usize) -> Result<Vec<u8>, String>) -> Result<(), String> {
    if gpu.device.capability().0 != 9 {
        return Err(format!("the chains are for sm_90, this is {}", gpu.device.arch()));
    }
    let chains = chains::all(SOURCES.len(), OPERATIONS.len(), ENDS.len());
    let words = words();
    let device_words = gpu.device.upload(&words).unwrap();
    let stream = gpu.device.stream().clone();
    for (number, chains) in chains.chunks(IN_KERNEL * IN_MODULE).enumerate() {
        let module = Twin::load(gpu, &code(number)?).unwrap_or_else(|error| panic!("{error}"));
        for (kernel, chains) in chains.chunks(IN_KERNEL).enumerate() {
            let mut results = gpu.device.zeroed::<u64>(IN_KERNEL * THREADS).unwrap();
            {
                let (mut words, _words) = device_words.device_ptr(&stream);
                let (mut results, _results) = results.device_ptr_mut(&stream);
                let mut parameters = [(&raw mut words).cast(), (&raw mut results).cast()];
                let function = module.function(gpu, &format!("k{kernel}"));
                // SAFETY: the parameters that the build script writes; two words and a result of each chain a thread.
                unsafe { launch(gpu, function, (THREADS / 256) as u32, &mut parameters) };
            }
            let results = gpu.device.download(&results).unwrap();
            for (chain, results) in chains.iter().zip(results.chunks(THREADS)) {
                compare(chain, &words, results);
            }
        }
    }
    Ok(())
}

/// Words whose halves are edges, all of them in both, and others.
fn words() -> Vec<u32> {
    let edge = |index: usize| EDGES[index % EDGES.len()] as u16;
    let halves = (0..).map(|index| [edge(index), edge(index / EDGES.len())]);
    let edges = halves.take(EDGES.len().pow(2)).zip(random(3)).flat_map(|(halves, bits)| {
        let above = [bits as u16, if bits >> 32 & 1 == 0 { 0 } else { 0xffff }];
        [0, 1].map(|one| u32::from(halves[one]) | u32::from(above[one]) << 16)
    });
    edges.chain(random(4).map(|bits| bits as u32)).take(2 * THREADS).collect()
}

fn compare(chain: &Chain, words: &[u32], results: &[u64]) {
    for (words, result) in words.chunks(2).zip(results) {
        let expected = compute(chain, words);
        if *result != expected {
            let rows = chain.steps.iter().map(|step| (OPERATIONS[step.row].0, step.operands));
            let rows: Vec<_> = rows.chain([(ENDS[chain.end.row].0, chain.end.operands)]).collect();
            let sources = chain.sources.map(|row| SOURCES[row].0);
            panic!("{sources:?}, {rows:?} of {words:x?}: {result:#x} on the device, {expected:#x} on the host");
        }
    }
}

fn compute(chain: &Chain, words: &[u32]) -> u64 {
    let sources = [0, 1].map(|source| SOURCES[chain.sources[source]].1(words[source]));
    let mut values = Vec::new();
    let operands = |step: &Step, values: &[u16]| {
        step.operands.map(|operand| match operand {
            Operand::Source(source) => sources[source],
            Operand::Step(step) => values[step],
            Operand::Constant(value) => value as u16,
        })
    };
    for step in &chain.steps {
        let [a, b] = operands(step, &values);
        values.push(OPERATIONS[step.row].1(a, b));
    }
    let [a, b] = operands(&chain.end, &values);
    ENDS[chain.end.row].1(a, b)
}
