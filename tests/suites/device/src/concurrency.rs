//! Streams at the same time, futures, functions of the host, times, graphs, pools, memory of the host, and what is left when
//! contexts, modules and memory go while kernels run.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use ptx::cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use ptx::prelude::*;
use ptx::{CudaContext, DevicePointer, Error, Image, Pitch};
use ptx_survive_kernels as kernels;

use crate::gpu::Gpu;
use crate::record::{Test, skippable, test};

static IMAGE: Image = ptx::image!("survive_release_full");

type Body = fn(&Gpu) -> ptx::Result<()>;

pub fn tests() -> Vec<Test> {
    let all: [(&str, Body); 13] = [
        ("two streams at the same time", at_once),
        ("a writer waits for all readers", readers),
        ("futures", futures),
        ("functions of the host", functions),
        ("times", times),
        ("memory of the host", host_memory),
        ("pools", pools),
        ("ranges of one buffer", ranges),
        ("boxes of rows and layers", boxes),
        ("graphs by hand", graphs),
        ("graphs by capture", captures),
        ("contexts and memory go in flight", in_flight),
        ("ten thousand modules", modules),
    ];
    let mut tests: Vec<Test> = all
        .map(|(name, body)| {
            test(&format!("concurrency: {name}"), move |gpu| body(gpu).unwrap_or_else(|error| panic!("{error}")))
        })
        .into();
    tests.push(skippable("concurrency: one set of kernels on all devices", |_| {
        let devices = Device::all().map_err(|error| error.to_string())?;
        if devices.len() < 2 {
            return Err("this machine has one GPU".to_owned());
        }
        several(&devices).unwrap_or_else(|error| panic!("{error}"));
        Ok(())
    }));
    tests
}

/// The smallest executor.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut task = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut task) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// The first waits for what the second does, which comes later.
fn at_once(gpu: &Gpu) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    let (first, second) = (gpu.device.new_stream()?, gpu.device.new_stream()?);
    let mut memory = gpu.device.zeroed::<u32>(1)?;
    let mut out = gpu.device.zeroed::<u32>(1)?;
    let flag = DevicePointer::of_mut(&mut memory, &first);
    // SAFETY: the flag is one, and lives as long as this function.
    unsafe { load_both(&module, flag, &mut out) }?;
    assert_eq!(gpu.device.download(&out)?, [1]);
    lower(gpu, &mut memory)?;
    // SAFETY: as above.
    unsafe {
        kernels::waits_for_flag(flag, &mut out).launch_on(&module, &first, Grid::new(1, 1))?;
        kernels::raises(flag).launch_on(&module, &second, Grid::new(1, 1))?;
    }
    gpu.device.synchronize()?;
    assert_eq!(gpu.device.download(&out)?, [1], "the second kernel came only after the first had ended");
    Ok(())
}

/// Runs both kernels of a flag, one after the other: the driver loads a kernel at its first launch, and may wait for all
/// others then.
///
/// # Safety
/// It must be a flag that nobody else uses until both have ended.
pub unsafe fn load_both(module: &Module, flag: DevicePointer<u32>, out: &mut CudaSlice<u32>) -> ptx::Result<()> {
    // SAFETY: the caller's.
    unsafe {
        kernels::raises(flag).launch(module, Grid::new(1, 1))?;
        kernels::waits_for_flag(flag, out).launch(module, Grid::new(1, 1))
    }
}

/// Makes the flag 0, and waits.
fn lower(gpu: &Gpu, flag: &mut CudaSlice<u32>) -> ptx::Result<()> {
    gpu.device.stream().memset_zeros(flag).expect("the memory is the device's");
    gpu.device.synchronize()
}

/// Two streams read at the same time, the first for longer; a third writes. cudarc's own event would be the second's alone.
fn readers(gpu: &Gpu) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    let streams = [gpu.device.new_stream()?, gpu.device.new_stream()?, gpu.device.new_stream()?];
    let mut memory = gpu.device.zeroed::<u32>(1)?;
    let mut values = gpu.device.upload(&[7_u32; 64])?;
    let others = gpu.device.upload(&[100_u32; 64])?;
    let (mut late, mut early) = (gpu.device.zeroed::<u32>(64)?, gpu.device.zeroed::<u32>(64)?);
    let flag = DevicePointer::of_mut(&mut memory, &streams[0]);
    let grid = Grid::new(1, 64);
    // All kernels once, as above.
    // SAFETY: the flag is one, and lives as long as this function.
    unsafe {
        kernels::raises(flag).launch(&module, Grid::new(1, 1))?;
        kernels::copies_after_flag(flag, &others, &mut late).launch(&module, grid)?;
        kernels::adds(1, &others, &mut early).launch(&module, grid)?;
    }
    lower(gpu, &mut memory)?;
    // SAFETY: as above.
    unsafe { kernels::copies_after_flag(flag, &values, &mut late).launch_on(&module, &streams[0], grid)? };
    kernels::adds(1, &values, &mut early).launch_on(&module, &streams[1], grid)?;
    kernels::adds(1, &others, &mut values).launch_on(&module, &streams[2], grid)?;
    // The second reader waits for nobody. The writer has time to be too early.
    streams[1].synchronize().expect("it ends");
    std::thread::sleep(Duration::from_millis(100));
    // SAFETY: as above.
    unsafe { kernels::raises(flag).launch_on(&module, &streams[1], Grid::new(1, 1))? };
    gpu.device.synchronize()?;
    assert_eq!(gpu.device.download(&late)?, [7; 64], "it was written while it was read");
    assert_eq!(gpu.device.download(&early)?, [8; 64]);
    assert_eq!(gpu.device.download(&values)?, [101; 64]);
    Ok(())
}

fn futures(gpu: &Gpu) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    let streams = [gpu.device.new_stream()?, gpu.device.new_stream()?];
    for round in 0..20 {
        let mut values = gpu.device.zeroed::<u32>(256)?;
        let stream = &streams[round % 2];
        kernels::writes_late(&mut values).launch_on(&module, stream, Grid::new(2, 128))?;
        let download = gpu.device.download_later(&values, stream)?;
        assert_eq!(block_on(download)?, [1; 256], "round {round}");
        block_on(gpu.device.finished(stream)?)?;
    }
    let values = gpu.device.upload(&[0_u32, 1, 2])?;
    let mut out = gpu.device.zeroed::<u32>(64)?;
    kernels::panics_from(7, 64, &values, &mut out).launch_on(&module, &streams[0], Grid::new(1, 64))?;
    match block_on(gpu.device.finished(&streams[0])?) {
        Err(Error::Panic(panic)) => assert_eq!((panic.thread.x, panic.others), (7, 0), "{panic}"),
        other => panic!("{other:?}"),
    }
    block_on(gpu.device.finished(&streams[0])?)
}

fn functions(gpu: &Gpu) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    let stream = gpu.device.new_stream()?;
    let calls = Arc::new(AtomicU32::new(0));
    let mut count = gpu.device.zeroed::<u32>(1)?;
    let ones = gpu.device.upload(&[1_u32; 64])?;
    for number in 0..100 {
        kernels::counts_after(&ones, &mut count).launch_on(&module, &stream, Grid::new(1, 64))?;
        let calls = calls.clone();
        gpu.device.call_after(&stream, move || {
            _ = calls.compare_exchange(number, number + 1, Ordering::Relaxed, Ordering::Relaxed);
        })?;
    }
    gpu.device.synchronize()?;
    assert_eq!(calls.load(Ordering::Relaxed), 100, "they came in another order");
    assert_eq!(gpu.device.download(&count)?, [6400]);
    Ok(())
}

fn times(gpu: &Gpu) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    let mut values = gpu.device.zeroed::<u32>(32)?;
    for stream in [gpu.device.stream().clone(), gpu.device.new_stream()?] {
        let time = gpu.device.time(&stream, || {
            (0..10).try_for_each(|_| kernels::writes_late(&mut values).launch_on(&module, &stream, Grid::new(1, 32)))
        })?;
        // Each waits 200 us by the device's own clock, which may count in larger steps; how long it may take in a machine with
        // other work is open.
        assert!(time >= Duration::from_millis(1) && time < Duration::from_secs(5), "{time:?}");
    }
    Ok(())
}

fn host_memory(gpu: &Gpu) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    let stream = gpu.device.new_stream()?;
    let driver = |result: Result<(), _>| result.expect("the driver reads its own memory");
    let mut pinned = gpu.device.pinned_zeroed::<u32>(1000)?;
    let mut managed = gpu.device.managed_zeroed::<u32>(1000)?;
    for round in 0..20_u32 {
        driver(pinned.as_mut_slice().map(|slice| slice.fill(round)));
        // From memory of the host into managed memory, and back; the host waits for neither by itself.
        kernels::adds(1, &pinned, &mut managed).launch_on(&module, &stream, Grid::cover(1000, 128))?;
        driver(managed.as_slice().map(|slice| assert!(slice.iter().all(|value| *value == round + 1), "round {round}")));
        driver(managed.as_mut_slice().map(|slice| slice[7] = 70));
        kernels::adds(2, &managed, &mut pinned).launch(&module, Grid::cover(1000, 128))?;
        let slice = pinned.as_slice().expect("as above");
        assert!(
            slice.iter().enumerate().all(|(at, value)| *value == if at == 7 { 72 } else { round + 3 }),
            "{slice:?}"
        );
    }
    gpu.device.synchronize()
}

fn pools(gpu: &Gpu) -> ptx::Result<()> {
    const LEN: usize = 1 << 22;
    let module = gpu.device.load(&IMAGE)?;
    let stream = gpu.device.new_stream()?;
    let pool = gpu.device.new_pool()?;
    for keep in [0, u64::MAX] {
        pool.keep(keep)?;
        for round in 0..10 {
            let values = pool.zeroed::<u32>(&stream, LEN)?;
            let mut out = pool.zeroed::<u32>(&stream, LEN)?;
            kernels::adds(round, &values, &mut out).launch_on(&module, &stream, Grid::items(LEN))?;
            assert!(pool.used()? >= 8 * LEN as u64);
            assert_eq!(gpu.device.download(&out.slice(LEN - 3..))?, [round; 3]);
        }
        gpu.device.synchronize()?;
        assert_eq!(pool.used()?, 0);
        assert!(keep == 0 || pool.reserved()? >= 8 * LEN as u64, "nothing was kept");
        pool.trim(0)?;
        assert_eq!(pool.reserved()?, 0);
    }
    let memory = pool.zeroed::<u32>(&stream, 5)?;
    drop(pool);
    assert_eq!(gpu.device.download(&memory)?, [0; 5]);
    Ok(())
}

/// Copies of boxes, beside plain loops.
fn boxes(gpu: &Gpu) -> ptx::Result<()> {
    for [width, height, depth] in [[1, 1, 1], [33, 1, 1], [5, 7, 1], [257, 31, 1], [13, 9, 5], [640, 48, 3]] {
        let (row, rows, start) = (width + 3, height + 2, 7);
        let (to_row, to_rows, to_start) = (width + 1, height + 1, 2);
        let host: Vec<u32> = (0..(row * rows * depth + start) as u32).collect();
        let mut expected = vec![0_u32; to_row * to_rows * depth + to_start];
        for (z, y, x) in (0..depth).flat_map(|z| (0..height).flat_map(move |y| (0..width).map(move |x| (z, y, x)))) {
            expected[(z * to_rows + y) * to_row + x + to_start] = host[(z * rows + y) * row + x + start];
        }
        let extent = (width as u32, height as u32, depth as u32);
        let from = Pitch::rows(row).layers(rows).at(start);
        let to = Pitch::rows(to_row).layers(to_rows).at(to_start);
        let whole = gpu.device.upload(&host)?;
        let (mut uploaded, mut copied) =
            (gpu.device.zeroed::<u32>(expected.len())?, gpu.device.zeroed::<u32>(expected.len())?);
        let mut downloaded = vec![0; expected.len()];
        gpu.device.upload_box((&host, from), (&mut uploaded, to), extent)?;
        gpu.device.copy_box((&whole, from), (&mut copied, to), extent)?;
        gpu.device.download_box((&whole, from), (&mut downloaded, to), extent)?;
        for found in [gpu.device.download(&uploaded)?, gpu.device.download(&copied)?, downloaded] {
            assert!(found == expected, "{width} by {height} by {depth}");
        }
    }
    Ok(())
}

/// Both halves at the same time, each on its own stream.
fn ranges(gpu: &Gpu) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    let streams = [gpu.device.new_stream()?, gpu.device.new_stream()?];
    let values = gpu.device.upload(&[10_u32; 1000])?;
    let mut out = gpu.device.zeroed::<u32>(1000)?;
    for round in 0..50 {
        let (mut low, mut high) = out.split_at_mut(300);
        kernels::adds(round, &values, &mut low).launch_on(&module, &streams[0], Grid::cover(300, 64))?;
        kernels::adds(round + 1, &values, &mut high).launch_on(&module, &streams[1], Grid::cover(700, 64))?;
    }
    let expected = (0..1000).map(|at| if at < 300 { 59 } else { 60 });
    assert!(gpu.device.download(&out)?.into_iter().eq(expected));
    Ok(())
}

fn graphs(gpu: &Gpu) -> ptx::Result<()> {
    const LEN: usize = 1000;
    let module = gpu.device.load(&IMAGE)?;
    let stream = gpu.device.new_stream()?;
    let grid = Grid::cover(LEN, 128);
    let mut graph = gpu.device.graph()?;
    let x = graph.keep(gpu.device.upload(&[1_u32; LEN])?);
    let mut made = || gpu.device.zeroed::<u32>(LEN).map(|memory| graph.keep(memory));
    let (mut y, mut z, mut w) = (made()?, made()?, made()?);
    let mut count = graph.keep(gpu.device.zeroed::<u32>(1)?);
    let first = graph.add(kernels::adds(1, &x, &mut y), &module, grid)?;
    graph.add(kernels::adds(10, &x, &mut w), &module, grid)?;
    graph.add(kernels::adds(100, &y, &mut z), &module, grid)?;
    graph.add_zeros(&mut y)?;
    graph.add(kernels::adds(1000, &z, &mut y), &module, grid)?;
    graph.add(kernels::counts_after(&x, &mut count), &module, grid)?;
    let mut graph = graph.finish()?;
    for round in 0..100 {
        if round % 3 == 0 { graph.launch_on(&stream)? } else { graph.launch()? }
    }
    assert_eq!(gpu.device.download(graph.memory(&y))?, [1102; LEN]);
    assert_eq!(gpu.device.download(graph.memory(&z))?, [102; LEN]);
    assert_eq!(gpu.device.download(graph.memory(&w))?, [11; LEN]);
    assert_eq!(gpu.device.download(graph.memory(&count))?, [100 * LEN as u32]);
    // Other values and another grid, then other contents of the memory.
    graph.update(first, kernels::adds(5, &x, &mut y), Grid::cover(LEN, 64))?;
    graph.launch_on(&stream)?;
    assert_eq!(gpu.device.download(graph.memory(&y))?, [1106; LEN]);
    let ones = gpu.device.upload(&[9_u32; LEN])?;
    gpu.device.copy(&ones, graph.memory_mut(&x))?;
    graph.launch()?;
    assert_eq!(gpu.device.download(graph.memory(&y))?, [1114; LEN]);
    // It goes while it runs.
    for _ in 0..20 {
        graph.launch_on(&stream)?;
    }
    drop(graph);
    gpu.device.synchronize()
}

/// cudarc's own graphs, with typed launches in them.
fn captures(gpu: &Gpu) -> ptx::Result<()> {
    let context = gpu.device.context();
    let module = gpu.device.load(&IMAGE)?;
    let stream = gpu.device.new_stream()?;
    let one = gpu.device.upload(&[1_u32; 64])?;
    let mut count = gpu.device.zeroed::<u32>(1)?;
    // The driver looks a kernel up at its first launch, which nothing captured may wait for.
    kernels::counts_after(&one, &mut count).launch_on(&module, &stream, Grid::new(1, 64))?;
    gpu.device.synchronize()?;
    // SAFETY: all that follows is on one stream, until tracking is on again.
    unsafe { context.disable_event_tracking() };
    let graph = (|| {
        stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
        let launched = kernels::counts_after(&one, &mut count).launch_on(&module, &stream, Grid::new(1, 64));
        let ended = stream.end_capture(CUgraphInstantiate_flags(0));
        launched.expect("it is only noted");
        ended
    })();
    let graph = graph.expect("the driver has captured it").expect("there is something in it");
    for _ in 0..10 {
        graph.launch().expect("it can be launched");
    }
    gpu.device.synchronize()?;
    // SAFETY: the memory of this test has been noted before; that made meanwhile is gone.
    unsafe { context.enable_event_tracking() };
    assert_eq!(gpu.device.download(&count)?, [64 * 11]);
    Ok(())
}

/// Handles of files that this process has open.
fn files() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

fn free_memory(gpu: &Gpu) -> usize {
    gpu.device.context().mem_get_info().expect("the driver knows").0
}

/// Nothing is lost but what the driver itself keeps after the first round. Other processes take memory of the GPU meanwhile, so
/// one round of four without a loss will do: a leak is in each.
fn lasting(gpu: &Gpu, mut round: impl FnMut() -> ptx::Result<()>) -> ptx::Result<()> {
    let mut state = || -> ptx::Result<(usize, usize)> {
        round()?;
        gpu.device.synchronize()?;
        gpu.device.pool()?.trim(0)?;
        Ok((files(), free_memory(gpu)))
    };
    let mut before = state()?;
    let mut lost = Vec::new();
    for _ in 0..4 {
        let after = state()?;
        lost.push((after.0.saturating_sub(before.0), before.1.saturating_sub(after.1) >> 20));
        if lost.last().is_some_and(|(files, memory)| *files <= 2 && *memory < 64) {
            return Ok(());
        }
        before = after;
    }
    panic!("each round loses files and MiB: {lost:?}");
}

fn in_flight(gpu: &Gpu) -> ptx::Result<()> {
    lasting(gpu, || {
        for round in 0..500 {
            // The primary context once more.
            let device = Device::first()?;
            let module = device.load(&IMAGE)?;
            let stream = if round % 2 == 0 { device.new_stream()? } else { device.stream().clone() };
            let mut values = device.zeroed::<u32>(1 << 16)?;
            if round % 16 == 0 {
                kernels::writes_late(&mut values).launch_on(&module, &stream, Grid::cover(1 << 16, 128))?;
            }
            let from = device.upload(&[1_u32; 256])?;
            kernels::adds(1, &from, &mut values).launch_on(&module, &stream, Grid::cover(256, 128))?;
            // All of it goes while the kernels run.
        }
        for _ in 0..3 {
            // A context of its own.
            let context = CudaContext::new_non_primary(0, 0).expect("there may be several");
            let device = Device::from_context(context)?;
            let module = device.load(&IMAGE)?;
            let from = device.upload(&[1_u32; 256])?;
            let mut values = device.zeroed::<u32>(256)?;
            kernels::adds(1, &from, &mut values).launch(&module, Grid::cover(256, 128))?;
            assert_eq!(device.download(&values)?, [2; 256]);
        }
        // The host panics with kernels in flight.
        let panicked = std::panic::catch_unwind(|| {
            let module = gpu.device.load(&IMAGE).expect("it was loaded before");
            let mut values = gpu.device.zeroed::<u32>(256).expect("there is memory");
            let stream = gpu.device.new_stream().expect("there are streams");
            kernels::writes_late(&mut values).launch_on(&module, &stream, Grid::cover(256, 128)).expect("it starts");
            kernels::writes_late(&mut values).launch(&module, Grid::new(0, 1)).expect("the grid is empty");
        });
        assert!(panicked.is_err());
        Ok(())
    })
}

fn modules(gpu: &Gpu) -> ptx::Result<()> {
    // Once a program.
    let once = ptx::module!(gpu.device, "survive_release_full")?;
    assert!(std::ptr::eq(once, ptx::module!(Device::first()?, "survive_release_full")?));
    // The driver's compiler would take minutes.
    let count = if gpu.device.load(&IMAGE)?.loaded().contains("cubin") { 5000 } else { 50 };
    let from = gpu.device.upload(&[1_u32; 256])?;
    let mut values = gpu.device.zeroed::<u32>(256)?;
    lasting(gpu, || {
        for round in 0..count {
            let module = gpu.device.load(&IMAGE)?;
            if round % 10 == 0 {
                kernels::adds(round, &from, &mut values).launch(&module, Grid::cover(256, 128))?;
            }
        }
        Ok(())
    })
}

fn several(devices: &[Device]) -> ptx::Result<()> {
    const LEN: usize = 1 << 20;
    let modules = devices.iter().map(|device| device.load(&IMAGE)).collect::<ptx::Result<Vec<_>>>()?;
    let mut parts = Vec::new();
    for (device, module) in devices.iter().zip(&modules) {
        let from = device.upload(&vec![device.number() as u32; LEN])?;
        let mut out = device.zeroed::<u32>(LEN)?;
        kernels::adds(100, &from, &mut out).launch(module, Grid::items(LEN))?;
        parts.push(out);
    }
    // Copies with and without access to each other.
    for reaches in [false, true] {
        for (at, other) in devices.iter().enumerate().skip(1) {
            if reaches && devices[0].can_reach(other)? {
                devices[0].reach(other)?;
                other.reach(&devices[0])?;
            }
            let mut copied = devices[0].zeroed::<u32>(LEN)?;
            devices[0].copy(&parts[at], &mut copied)?;
            let expected = 100 + other.number() as u32;
            assert!(devices[0].download(&copied)?.into_iter().all(|value| value == expected), "device {at}");
        }
    }
    Ok(())
}
