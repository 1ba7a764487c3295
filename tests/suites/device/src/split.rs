//! Barriers in memory, the memory of a cluster's other blocks, and policies of the cache L2.

use ptx::prelude::*;
use ptx::vec::UInt4;
use ptx::{DevicePointer, Image, Panic};
use ptx_memory_kernels::clusters::{cluster_histogram, rotate, send, send_in_the_background};
use ptx_memory_kernels::split as kernels;

use crate::gpu::{Gpu, random, same};
use crate::record::{Test, test};

static IMAGE: Image = ptx::image!("ptx-memory-kernels");

/// The same kernels, of which a panic ends its thread alone.
static SURVIVING: Image = ptx::image!("memory_exit");

pub fn tests() -> Vec<Test> {
    let run = |name: &str, body: fn(&Gpu) -> ptx::Result<()>| {
        test(name, move |gpu| body(gpu).unwrap_or_else(|error| panic!("{error}")))
    };
    vec![
        run("split barriers: a tile between arrival and wait", rounds),
        run("split barriers: threads that leave", leavers),
        run("split barriers: bytes", bytes),
        run("split barriers: copies in the background arrive, with zeros", copies),
        run("clusters: tiles of other blocks", rotates),
        run("clusters: atomics in other blocks", histogram),
        run("clusters: stores and arrivals in the other block", sends),
        run("clusters: stores and reductions in the background", in_the_background),
        run("policies of L2: loads and stores", policies),
        run("policies of L2: windows", windows),
    ]
}

fn rounds(gpu: &Gpu) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    // The last block's threads leave, but for some.
    for (n, rounds) in [(64 * 300, 1), (64 * 300, 2), (64 * 7, 1001), (64 * 300, 0)] {
        let mut host: Vec<u32> = random(41).map(|bits| bits as u32).take(n).collect();
        let mut data = gpu.device.upload(&host)?;
        kernels::split_rounds(rounds, &mut data).launch(&module, Grid::new(n.div_ceil(64) as u32 + 1, 64))?;
        host.chunks_mut(64).for_each(|block| kernels::after_split_rounds(rounds, block));
        same(&gpu.device.download(&data)?, host);
    }
    Ok(())
}

fn leavers(gpu: &Gpu) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    for threads in [1, 31, 32, 64, 250, 1024] {
        let mut out = gpu.device.zeroed::<u32>(20 * threads as usize)?;
        kernels::split_leavers(&mut out).launch(&module, Grid::new(20, threads))?;
        same(&gpu.device.download(&out)?, (0..20 * threads).map(|i| kernels::stays(i % threads) - 1));
    }
    Ok(())
}

fn bytes(gpu: &Gpu) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    for threads in [1, 32, 100, 1024] {
        let mut out = gpu.device.zeroed::<[u32; 4]>(threads as usize)?;
        // SAFETY: an element for each thread.
        unsafe { kernels::split_bytes(&mut out) }.launch(&module, Grid::new(1, threads))?;
        same(&gpu.device.download(&out)?, (0..threads).map(|i| [0, 1, u32::from(i == 0), 0]));
    }
    Ok(())
}

fn vectors(n: usize) -> Vec<UInt4> {
    let mut numbers = random(42).map(|bits| bits as u32);
    let mut next = || numbers.next().unwrap_or(0);
    (0..n).map(|_| UInt4::new(next(), next(), next(), next())).collect()
}

fn copies(gpu: &Gpu) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    let (n, blocks) = (64 * 99 + 17, 101_u32);
    let host = vectors(n);
    let from = gpu.device.upload(&host)?;
    let mut to = gpu.device.zeroed::<UInt4>(64 * blocks as usize)?;
    let stream = gpu.device.stream();
    let (source, target) = (DevicePointer::of(&from, stream), DevicePointer::of_mut(&mut to, stream));
    // SAFETY: `n` elements, and one for each thread.
    unsafe { kernels::split_copies(source, n, target) }.launch(&module, Grid::new(blocks, 64))?;
    let expected = (0..64 * blocks as usize).map(|i| kernels::copied(&host, i / 64 * 64 + 63 - i % 64));
    same(&gpu.device.download(&to)?, expected);
    Ok(())
}

fn rotates(gpu: &Gpu) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    for rounds in [1, 2, 3, 101] {
        let n = 64 * 4 * 50;
        let host: Vec<u32> = (0..n).collect();
        let mut data = gpu.device.upload(&host)?;
        rotate(rounds, &mut data).launch(&module, Grid::new(n / 64, 64))?;
        let from = |i: u32| i / 256 * 256 + (i % 256 / 64 + rounds) % 4 * 64 + i % 64;
        same(&gpu.device.download(&data)?, (0..n).map(from));
    }
    Ok(())
}

fn histogram(gpu: &Gpu) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    let data: Vec<u8> = random(43).take(100_000).map(|bits| bits as u8).collect();
    let mut expected = vec![0; 256];
    data.iter().for_each(|byte| expected[usize::from(*byte)] += 1);
    let on_device = gpu.device.upload(&data)?;
    for threads in [32_u32, 96, 512] {
        let mut counts = gpu.device.zeroed::<u32>(256)?;
        let blocks = 100_000_u32.div_ceil(threads).next_multiple_of(2);
        cluster_histogram(&on_device, &mut counts).launch(&module, Grid::new(blocks, threads))?;
        same(&gpu.device.download(&counts)?, expected.clone());
    }
    Ok(())
}

fn sends(gpu: &Gpu) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    let blocks = 40_u32;
    let mut out = gpu.device.zeroed::<[u32; 4]>(64 * blocks as usize)?;
    let pointer = DevicePointer::of_mut(&mut out, gpu.device.stream());
    // SAFETY: an element for each thread.
    unsafe { send(pointer) }.launch(&module, Grid::new(blocks, 64))?;
    let expected = (0..64 * blocks).map(|i| {
        let other = 1 - i / 64 % 2;
        [i ^ 64, other, other, 1]
    });
    same(&gpu.device.download(&out)?, expected);
    Ok(())
}

fn in_the_background(gpu: &Gpu) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    let blocks = 40_u64;
    let mut out = gpu.device.zeroed::<[u64; 5]>(64 * blocks as usize)?;
    let pointer = DevicePointer::of_mut(&mut out, gpu.device.stream());
    // SAFETY: an element for each thread.
    unsafe { send_in_the_background(pointer) }.launch(&module, Grid::new(blocks as u32, 64))?;
    let expected = (0..64 * blocks).map(|i| {
        let (there, own) = (i ^ 64, i % 64);
        // The threads from 32 on leave in the first round, those from 16 on in the second, and so on.
        let rounds = 6 - own.checked_ilog2().unwrap_or(0);
        [there, !there, 63 * 64 / 2, 100, rounds.into()]
    });
    same(&gpu.device.download(&out)?, expected);
    Ok(())
}

fn policies(gpu: &Gpu) -> ptx::Result<()> {
    by_policies(gpu, |launch| launch)
}

/// Copies and sums by all policies.
fn by_policies(gpu: &Gpu, with: impl Fn(ptx::Launch<'_>) -> ptx::Launch<'_>) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    let host = vectors(10_007);
    let from = gpu.device.upload(&host)?;
    let (mut to, mut sum) = (gpu.device.zeroed::<UInt4>(host.len())?, gpu.device.zeroed::<u32>(1)?);
    let stream = gpu.device.stream();
    let (source, target) = (DevicePointer::of(&from, stream), DevicePointer::of_mut(&mut to, stream));
    // SAFETY: both have so many elements.
    let launch = unsafe { kernels::by_policies(source, target, host.len(), &mut sum) };
    with(launch).launch(&module, Grid::cover(host.len(), 256))?;
    let all = host.iter().fold(0_u32, |sum, value| sum.wrapping_add(value.x).wrapping_add(value.w));
    same(&gpu.device.download(&sum)?, [all.wrapping_mul(6)]);
    same(&gpu.device.download(&to)?, host);
    Ok(())
}

/// A window changes no result; what is set is what is asked for afterwards.
fn windows(gpu: &Gpu) -> ptx::Result<()> {
    let most = gpu.device.max_persisting_l2()?;
    assert!(most > 0, "every GPU from sm_80 on has it");
    let before = gpu.device.persisting_l2()?;
    gpu.device.set_persisting_l2(most / 2)?;
    // The driver rounds up.
    let set = gpu.device.persisting_l2()?;
    assert!((most / 2..=most).contains(&set), "{set} of {most}");
    let table = gpu.device.upload(&vectors(50_000))?;
    let window = gpu.device.l2_window(&table)?;
    assert_eq!(window.bytes(), 800_000);
    by_policies(gpu, |launch| launch.l2_window(window.share(0.5)))?;
    let stream = gpu.device.stream();
    window.set_on(stream)?;
    by_policies(gpu, |launch| launch)?;
    gpu.device.clear_l2_window(stream)?;
    gpu.device.reset_persisting_l2()?;
    gpu.device.set_persisting_l2(before)?;
    assert!(gpu.device.set_persisting_l2(usize::MAX).is_err(), "no cache is so large");
    Ok(())
}

/// Threads that wait at a barrier in memory for one that panics end, too, and the launch with them.
pub fn panics(device: &Device) -> ptx::Result<()> {
    let module = device.load(&SURVIVING)?;
    for (leaver, after) in [(0, 0), (5, 3), (127, 9)] {
        let mut out = device.zeroed::<u32>(128)?;
        kernels::split_without(leaver, after, &mut out).launch(&module, Grid::new(2, 64))?;
        let panic = match device.synchronize() {
            Err(ptx::Error::Panic(panic)) => panic,
            other => panic!("thread {leaver} did not panic: {other:?}"),
        };
        let Panic { block, thread, others, .. } = *panic;
        assert_eq!((block.x * 64 + thread.x, others), (leaver, 0), "{panic}");
        // The other block has no thread that panics; its threads may see that somebody has.
        let own = leaver / 64;
        let gone = device.download(&out)?.into_iter().skip(64 * own as usize).take(64).all(|end| end == 0);
        assert!(gone, "nobody gets past a thread that is missing");
    }
    let mut out = device.zeroed::<u32>(128)?;
    kernels::split_without(u32::MAX, 0, &mut out).launch(&module, Grid::new(2, 64))?;
    assert!(device.download(&out)?.into_iter().all(|end| end == 1));
    Ok(())
}
