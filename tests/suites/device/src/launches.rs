//! What a launch can ask for beside its grid, and what a device refuses by a typed error.

use ptx::prelude::*;
use ptx::{CudaContext, Error, GridError, Image};
use ptx_survive_kernels as kernels;

use crate::gpu::Gpu;
use crate::record::{Test, test};

static IMAGE: Image = ptx::image!("survive_release_full");

type Body = fn(&Gpu) -> ptx::Result<()>;

pub fn tests() -> Vec<Test> {
    let all: [(&str, Body); 7] = [
        ("blocks by occupancy", occupancy),
        ("prepared", prepared),
        ("two contexts in turn", contexts),
        ("priorities", priorities),
        ("clusters", clusters),
        ("begins early", early),
        ("many parameters' values", values),
    ];
    let tests = all.map(|(name, body)| {
        test(&format!("launches: {name}"), move |gpu| body(gpu).unwrap_or_else(|error| panic!("{error}")))
    });
    tests.into()
}

/// Why a launch was refused.
fn refused(result: ptx::Result<()>) -> GridError {
    match result {
        Err(Error::Grid { reason, .. }) => reason,
        other => panic!("it was not refused: {other:?}"),
    }
}

fn occupancy(gpu: &Gpu) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    for count in [0, 1, 1000, 100_000] {
        let values = gpu.device.upload(&vec![3_u32; count.max(1)])?;
        let mut out = gpu.device.zeroed::<u32>(count.max(1))?;
        let mut launch = kernels::adds(4, &values, &mut out).prepare(&module, Grid::items(count))?;
        let grid = launch.grid();
        assert!(grid.threads.x.is_multiple_of(32) && grid.threads.volume() >= 64, "{grid}");
        assert_eq!(grid.blocks.x as usize, count.div_ceil(grid.threads.x as usize).max(1), "{grid}");
        let at_once = module.resident_blocks("adds", grid.threads, 0)?;
        assert!(at_once >= 1, "{at_once}");
        launch.launch()?;
        drop(launch);
        assert!(gpu.device.download(&out)?.into_iter().all(|value| value == 7), "{count} items");
    }
    Ok(())
}

fn prepared(gpu: &Gpu) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    let stream = gpu.device.new_stream()?;
    let values = gpu.device.upload(&[1_u32; 256])?;
    let mut count = gpu.device.zeroed::<u32>(1)?;
    let mut launch = kernels::counts_after(&values, &mut count).prepare(&module, Grid::new(2, 128))?;
    for round in 0..1000 {
        // Streams that use the same memory wait for each other, as with any launch.
        if round % 3 == 0 { launch.launch_on(&stream)? } else { launch.launch()? }
    }
    drop(launch);
    assert_eq!(gpu.device.download(&count)?, [256_000]);
    let refused = kernels::counts_after(&values, &mut count).prepare(&module, Grid::new(1, 2048)).map(drop);
    assert!(matches!(refused, Err(Error::Grid { .. })), "{refused:?}");
    Ok(())
}

/// A launch asks for the current context only where the driver refuses it: in contexts in turn, in one thread and in others,
/// each kernel runs once, and in its own.
fn contexts(_: &Gpu) -> ptx::Result<()> {
    const ROUNDS: u32 = 200;
    let open = || Device::from_context(CudaContext::new_non_primary(0, 0).expect("there may be several"));
    let devices = [open()?, open()?];
    let modules = [devices[0].load(&IMAGE)?, devices[1].load(&IMAGE)?];
    let values = [devices[0].upload(&[1_u32; 64])?, devices[1].upload(&[1_u32; 64])?];
    let mut counts = [devices[0].zeroed::<u32>(1)?, devices[1].zeroed::<u32>(1)?];
    let grid = Grid::new(1, 64);
    for _ in 0..ROUNDS {
        for ((module, values), count) in modules.iter().zip(&values).zip(&mut counts) {
            kernels::counts_after(values, count).launch(module, grid)?;
        }
    }
    let [first, second] = &mut counts;
    let mut prepared = [
        kernels::counts_after(&values[0], first).prepare(&modules[0], grid)?,
        kernels::counts_after(&values[1], second).prepare(&modules[1], grid)?,
    ];
    for _ in 0..ROUNDS {
        prepared.iter_mut().try_for_each(|launch| launch.launch())?;
    }
    drop(prepared);
    // A thread that has no context at all.
    std::thread::scope(|scope| {
        let threads = modules.iter().zip(&values).zip(&mut counts).map(|((module, values), count)| {
            scope.spawn(move || (0..ROUNDS).try_for_each(|_| kernels::counts_after(values, count).launch(module, grid)))
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("it does not panic"))
    })?;
    for (device, count) in devices.iter().zip(&counts) {
        assert_eq!(device.download(count)?, [3 * ROUNDS * 64]);
    }
    Ok(())
}

fn priorities(gpu: &Gpu) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    let (first, last) = gpu.device.priorities()?.into_inner();
    assert!(first <= last, "{first} to {last}");
    let values = gpu.device.upload(&[1_u32; 64])?;
    let mut out = gpu.device.zeroed::<u32>(64)?;
    for priority in first..=last {
        let stream = gpu.device.new_stream_with_priority(priority)?;
        let launch = kernels::adds(priority.unsigned_abs(), &values, &mut out).priority(priority);
        launch.launch_on(&module, &stream, Grid::new(1, 64))?;
        assert_eq!(gpu.device.download(&out)?, [1 + priority.unsigned_abs(); 64]);
    }
    for priority in [first - 1, last + 1] {
        let launch = kernels::adds(0, &values, &mut out).priority(priority);
        let reason = refused(launch.launch(&module, Grid::new(1, 64)));
        assert_eq!(reason, GridError::Priority { priority, first, last });
    }
    Ok(())
}

fn clusters(gpu: &Gpu) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    let mut out = gpu.device.zeroed::<u32>(64 * 32)?;
    let mut launch = |cluster: u32, blocks: u32| {
        // Nobody leaves: no thread has a number from 64 on.
        kernels::clusters_without(64, 65, &mut out).cluster(cluster).launch(&module, Grid::new(blocks, 64))?;
        gpu.device.download(&out)
    };
    if gpu.device.capability() < (9, 0) {
        assert!(matches!(refused(launch(2, 32).map(drop)), GridError::Newer { .. }));
        return Ok(());
    }
    for cluster in [1, 2, 4, 8] {
        assert!(launch(cluster, 32)?.into_iter().all(|count| count == cluster), "clusters of {cluster}");
    }
    // More than eight blocks are the device's choice.
    match launch(16, 32) {
        Ok(counts) => assert!(counts.into_iter().all(|count| count == 16), "clusters of 16"),
        Err(error) => assert!(matches!(refused(Err(error)), GridError::ClusterSize { limit: 8.., .. })),
    }
    match refused(launch(32, 32).map(drop)) {
        GridError::ClusterSize { cluster, limit } => assert!(cluster.x == 32 && (8..32).contains(&limit), "{limit}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(refused(launch(3, 32).map(drop)), GridError::ClusterParts { axis: 'x', blocks: 32, cluster: 3 });
    assert_eq!(refused(launch(0, 32).map(drop)), GridError::Zero("cluster"));
    Ok(())
}

fn early(gpu: &Gpu) -> ptx::Result<()> {
    const COUNT: usize = 4096;
    let module = gpu.device.load(&IMAGE)?;
    let mut count = gpu.device.zeroed::<u32>(1)?;
    for round in 1..=20 {
        let mut values = gpu.device.zeroed::<u32>(COUNT)?;
        kernels::writes_late(&mut values).launch(&module, Grid::cover(COUNT, 128))?;
        // SAFETY: every thread waits for the launch before, and only then reads what that wrote.
        let launch = unsafe { kernels::counts_after(&values, &mut count).begins_early() };
        let launched = launch.launch(&module, Grid::cover(COUNT, 128));
        if gpu.device.capability() < (9, 0) {
            assert!(matches!(refused(launched), GridError::Newer { .. }));
            return Ok(());
        }
        launched?;
        assert_eq!(gpu.device.download(&count)?, [round * COUNT as u32], "round {round}");
    }
    Ok(())
}

/// More arguments than a launch has room for.
fn values(gpu: &Gpu) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    let mut out = gpu.device.zeroed::<u64>(1)?;
    let wide = std::array::from_fn(|at| at as u64);
    kernels::adds_many(1, 2, wide, 3, wide, 4, wide, 5, 6, &mut out).launch(&module, Grid::new(1, 1))?;
    assert_eq!(gpu.device.download(&out)?, [21 + 3 * (0..24).sum::<u64>()]);
    Ok(())
}
