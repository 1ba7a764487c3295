//! What graphs decide on the device: loops, branches and cases by conditions that kernels set; copies and clusters in graphs; and
//! memory that is bound to streams.

use ptx::prelude::*;
use ptx::{Error, Image};
use ptx_survive_kernels as kernels;

use crate::gpu::Gpu;
use crate::record::{Test, skippable, test};

static IMAGE: Image = ptx::image!("survive_release_full");

/// Not a multiple of a block.
const LEN: usize = 1000;

type Body = fn(&Gpu) -> ptx::Result<()>;

pub fn tests() -> Vec<Test> {
    let conditional: [(&str, Body); 4] = [
        ("a loop ends by its kernel", loops),
        ("an if that is decided by memory", ifs),
        ("if, else and cases", cases),
        ("one loop in the other", nested),
    ];
    let plain: [(&str, Body); 4] = [
        ("copies", copies),
        ("clusters", clusters),
        ("parts of one buffer at the same time", parts),
        ("copies and launches on bound memory", bound),
    ];
    let mut tests: Vec<Test> = conditional
        .map(|(name, body)| {
            skippable(&format!("graphs: {name}"), move |gpu| match body(gpu) {
                // The driver is older than what is tested, and says so.
                Err(error @ Error::OlderDriver { .. }) => Err(error.to_string()),
                result => {
                    result.unwrap_or_else(|error| panic!("{error}"));
                    Ok(())
                }
            })
        })
        .into();
    tests.extend(plain.map(|(name, body)| {
        test(&format!("graphs: {name}"), move |gpu| body(gpu).unwrap_or_else(|error| panic!("{error}")))
    }));
    tests
}

fn loops(gpu: &Gpu) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    let grid = Grid::cover(LEN, 128);
    let stream = gpu.device.new_stream()?;
    let mut graph = gpu.device.graph()?;
    let mut x = graph.keep(gpu.device.zeroed::<u32>(LEN)?);
    let mut copy = graph.keep(gpu.device.zeroed::<u32>(LEN)?);
    let go_on = graph.condition(1)?;
    graph.add_zeros(&mut x)?;
    graph.add_while(&go_on, |body| body.add(kernels::counts_up(100, &go_on, &mut x), &module, grid).map(drop))?;
    graph.add_copy(&x, &mut copy)?;
    let mut graph = graph.finish()?;
    for _ in 0..20 {
        // The condition is 1 again at each start.
        graph.launch_on(&stream)?;
    }
    assert_eq!(gpu.device.download(graph.memory(&copy))?, [100; LEN]);
    Ok(())
}

fn ifs(gpu: &Gpu) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    let grid = Grid::cover(LEN, 128);
    let mut graph = gpu.device.graph()?;
    let value = graph.keep(gpu.device.zeroed::<u32>(1)?);
    let one = graph.keep(gpu.device.upload(&[1_u32; LEN])?);
    let mut x = graph.keep(gpu.device.zeroed::<u32>(LEN)?);
    let holds = graph.condition(0)?;
    graph.add_zeros(&mut x)?;
    graph.add(kernels::decides(&value, &holds), &module, Grid::new(3, 64))?;
    graph.add_if(&holds, |body| body.add(kernels::adds(6, &one, &mut x), &module, grid).map(drop))?;
    let mut graph = graph.finish()?;
    for (decided, expected) in [(0_u32, 0), (1, 7), (0, 0), (u32::MAX, 7)] {
        gpu.device.copy(&gpu.device.upload(&[decided])?, graph.memory_mut(&value))?;
        graph.launch()?;
        assert_eq!(gpu.device.download(graph.memory(&x))?, [expected; LEN], "{decided}");
    }
    Ok(())
}

fn cases(gpu: &Gpu) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    let grid = Grid::cover(LEN, 128);
    let mut graph = gpu.device.graph()?;
    let value = graph.keep(gpu.device.zeroed::<u32>(1)?);
    let zero = graph.keep(gpu.device.zeroed::<u32>(LEN)?);
    let mut x = graph.keep(gpu.device.zeroed::<u32>(LEN)?);
    let mut y = graph.keep(gpu.device.zeroed::<u32>(LEN)?);
    let (case, holds) = (graph.condition(0)?, graph.condition(0)?);
    graph.add_zeros(&mut x)?;
    graph.add(kernels::decides(&value, &case), &module, Grid::new(1, 32))?;
    graph.add(kernels::decides(&value, &holds), &module, Grid::new(1, 32))?;
    graph.add_switch(&case, 3, |case, body| {
        body.add(kernels::adds(10 * (case + 1), &zero, &mut x), &module, grid).map(drop)
    })?;
    graph.add_if_else(&holds, |holds, body| {
        body.add(kernels::adds(if holds { 1 } else { 2 }, &zero, &mut y), &module, grid).map(drop)
    })?;
    let mut graph = graph.finish()?;
    for (decided, expected) in [(0_u32, (10, 2)), (1, (20, 1)), (2, (30, 1)), (3, (0, 1)), (0, (10, 2))] {
        gpu.device.copy(&gpu.device.upload(&[decided])?, graph.memory_mut(&value))?;
        graph.launch()?;
        assert_eq!(gpu.device.download(graph.memory(&x))?, [expected.0; LEN], "{decided}");
        assert_eq!(gpu.device.download(graph.memory(&y))?, [expected.1; LEN], "{decided}");
    }
    Ok(())
}

fn nested(gpu: &Gpu) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    let grid = Grid::cover(LEN, 128);
    let mut graph = gpu.device.graph()?;
    let mut inner_count = graph.keep(gpu.device.zeroed::<u32>(LEN)?);
    let mut outer_count = graph.keep(gpu.device.zeroed::<u32>(LEN)?);
    let mut all = graph.keep(gpu.device.zeroed::<u32>(LEN)?);
    let outer = graph.condition(1)?;
    let one = graph.keep(gpu.device.upload(&[1_u32])?);
    graph.add_while(&outer, |body| {
        let inner = body.condition(0)?;
        body.add_zeros(&mut inner_count)?;
        // The default is set when the whole graph is started, not for each turn.
        body.add(kernels::decides(&one, &inner), &module, Grid::new(1, 32))?;
        body.add_while(&inner, |body| {
            body.add(kernels::counts_up(5, &inner, &mut inner_count), &module, grid)?;
            body.add(kernels::adds_to(&inner_count, &mut all), &module, grid).map(drop)
        })?;
        body.add(kernels::counts_up(3, &outer, &mut outer_count), &module, grid).map(drop)
    })?;
    let mut graph = graph.finish()?;
    graph.launch()?;
    assert_eq!(gpu.device.download(graph.memory(&outer_count))?, [3; LEN]);
    // Three times 1 + 2 + 3 + 4 + 5.
    assert_eq!(gpu.device.download(graph.memory(&all))?, [45; LEN]);
    Ok(())
}

fn copies(gpu: &Gpu) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    let grid = Grid::cover(LEN, 128);
    let stream = gpu.device.new_stream()?;
    let mut graph = gpu.device.graph()?;
    let input = graph.keep_host(gpu.device.pinned_zeroed::<u32>(LEN)?)?;
    let mut output = graph.keep_host(gpu.device.pinned_zeroed::<u32>(LEN)?)?;
    let mut made = || gpu.device.zeroed::<u32>(LEN).map(|memory| graph.keep(memory));
    let (mut x, mut y, mut z) = (made()?, made()?, made()?);
    graph.add_upload(&input, &mut x)?;
    graph.add(kernels::adds(5, &x, &mut y), &module, grid)?;
    graph.add_copy(&y, &mut z)?;
    // The copy comes before what follows writes `y`.
    graph.add(kernels::adds(7, &x, &mut y), &module, grid)?;
    graph.add_download(&z, &mut output)?;
    let mut graph = graph.finish()?;
    for round in 0..20 {
        for (at, value) in graph.host_mut(&input).as_mut_slice().expect("it waits").iter_mut().enumerate() {
            *value = at as u32 + round;
        }
        if round % 2 == 0 {
            graph.launch_on(&stream)?
        } else {
            graph.launch()?
        }
        let output = graph.host(&output).as_slice().expect("it waits");
        assert!(output.iter().enumerate().all(|(at, value)| *value == at as u32 + round + 5), "{round}");
    }
    assert_eq!(gpu.device.download(graph.memory(&y))?[10], 10 + 19 + 7);
    Ok(())
}

fn clusters(gpu: &Gpu) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    let mut graph = gpu.device.graph()?;
    let mut x = graph.keep(gpu.device.zeroed::<u32>(8 * 32)?);
    let launch = kernels::ranks_in_clusters(&mut x).cluster(4);
    if gpu.device.capability() < (9, 0) {
        let text = graph.add(launch, &module, Grid::new(8, 32)).expect_err("it has no clusters").to_string();
        assert!(text.contains("a launch in clusters needs sm_90"), "{text}");
        return Ok(());
    }
    let node = graph.add(launch, &module, Grid::new(8, 32))?;
    let mut graph = graph.finish()?;
    let expected = |blocks: u32| (0..8 * 32).map(move |at| if at / 32 < blocks { 400 + at / 32 % 4 } else { 0 });
    graph.launch()?;
    assert!(gpu.device.download(graph.memory(&x))?.into_iter().eq(expected(8)));
    // Another grid, in the same clusters.
    gpu.device.stream().memset_zeros(graph.memory_mut(&x)).expect("it is the device's");
    graph.update(node, kernels::ranks_in_clusters(&mut x).cluster(4), Grid::new(4, 32))?;
    graph.launch()?;
    assert!(gpu.device.download(graph.memory(&x))?.into_iter().eq(expected(4)));
    Ok(())
}

fn parts(gpu: &Gpu) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    let streams = [gpu.device.new_stream()?, gpu.device.new_stream()?];
    let ones = gpu.device.bind(gpu.device.upload(&[1_u32; LEN])?, &streams[0])?;
    let twos = gpu.device.bind(gpu.device.upload(&[2_u32; LEN])?, &streams[1])?;
    let mut low = gpu.device.bind(gpu.device.zeroed::<u32>(LEN)?, &streams[0])?;
    let mut high = low.split_off(300, &streams[1])?;
    for round in 0..200 {
        kernels::adds(round, &ones, &mut low).launch_on(&module, &streams[0], Grid::cover(300, 64))?;
        kernels::adds(round, &twos, &mut high).launch_on(&module, &streams[1], Grid::cover(700, 64))?;
    }
    // The second stream goes on where the first was.
    low.move_to(&streams[1])?;
    let twos = twos.into_slice().expect("it is whole");
    kernels::adds(1000, &twos, &mut low).launch_on(&module, &streams[1], Grid::cover(10, 64))?;
    drop(low);
    let whole = high.into_slice().expect("it is the last part");
    let expected = (0..LEN).map(|at| match at {
        0..64 => 1002,
        64..300 => 200,
        _ => 201,
    });
    assert!(gpu.device.download(&whole)?.into_iter().eq(expected));
    // Freed while it is in use.
    let mut memory = gpu.device.bind(whole, &streams[0])?;
    for _ in 0..50 {
        kernels::adds(1, &ones, &mut memory).launch_on(&module, &streams[0], Grid::cover(LEN, 64))?;
    }
    drop(memory);
    gpu.device.synchronize()
}

fn bound(gpu: &Gpu) -> ptx::Result<()> {
    let module = gpu.device.load(&IMAGE)?;
    let streams = [gpu.device.new_stream()?, gpu.device.new_stream()?];
    let mut lanes = Vec::new();
    for stream in &streams {
        let memory = || gpu.device.bind(gpu.device.zeroed::<u32>(LEN)?, stream);
        let host = || gpu.device.bind_host(gpu.device.pinned_zeroed::<u32>(LEN)?, stream);
        lanes.push((stream, memory()?, memory()?, host()?, host()?));
    }
    for round in 0..50 {
        for (number, (stream, x, y, input, output)) in lanes.iter_mut().enumerate() {
            // Waits for this stream alone.
            input.as_mut_slice()?.fill(round + number as u32);
            x.upload(input)?;
            kernels::adds(3, x, y).launch_on(&module, stream, Grid::cover(LEN, 128))?;
            y.download(output)?;
        }
        for (number, (.., output)) in lanes.iter().enumerate() {
            assert_eq!(output.as_slice()?, [round + number as u32 + 3; LEN]);
        }
    }
    let (.., output) = lanes.swap_remove(0);
    assert_eq!(output.into_pinned().as_slice().expect("it waits"), [52; LEN]);
    Ok(())
}
