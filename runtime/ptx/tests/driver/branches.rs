//! Copies, clusters, branches and loops of graphs: what comes after what, what runs, and what is refused.

use ptx::graph::Condition;
use ptx::prelude::*;
use ptx::{Error, GraphBody, GraphCondition};

use crate::driver::{device, driver, module_of};
use crate::launches::saxpy;

/// Has its condition hold.
#[kernel]
pub fn decides(value: u32, mut condition: Condition<'_>, mut out: DisjointSlice<f32>) {
    condition.set(value);
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = 1.0;
    }
}

#[test]
fn copies_are_ordered_and_done() {
    let driver = driver();
    let alive = ["graph", "exec", "memory", "host"].map(|kind| driver.alive(kind));
    {
        let device = device(&driver);
        let mut graph = device.graph().unwrap();
        // SAFETY: it is written before it is read.
        let pinned = || unsafe { device.context().alloc_pinned::<f32>(32) }.unwrap();
        let mut filled = pinned();
        filled.as_mut_slice().unwrap().fill(7.0);
        let input = graph.keep_host(filled).unwrap();
        let mut output = graph.keep_host(pinned()).unwrap();
        let (mut x, mut y) =
            (graph.keep(device.zeroed::<f32>(32).unwrap()), graph.keep(device.zeroed::<f32>(32).unwrap()));
        let edges = |added: ptx::Result<ptx::Node>| {
            added.unwrap();
            driver.edges()
        };
        assert_eq!(edges(graph.add_upload(&input, &mut x)), 0);
        assert_eq!(edges(graph.add_copy(&x, &mut y)), 1);
        assert_eq!(edges(graph.add_download(&y, &mut output)), 1);
        // It writes what the copy read and the upload wrote: the copy stands for both.
        assert_eq!(edges(graph.add_upload(&input, &mut x)), 2);
        let (none, mut nothing) =
            (graph.keep(device.zeroed::<f32>(0).unwrap()), graph.keep(device.zeroed::<f32>(0).unwrap()));
        graph.add_copy(&none, &mut nothing).unwrap();
        let mut short = graph.keep(device.zeroed::<f32>(31).unwrap());
        let text = graph.add_copy(&x, &mut short).unwrap_err().to_string();
        assert_eq!(text, "a copy in a graph: it is of 32 elements, and goes to 31");
        let mut other = device.graph().unwrap();
        let (far, mut far_host) = (other.keep(device.zeroed::<f32>(32).unwrap()), other.keep_host(pinned()).unwrap());
        let text = graph.add_copy(&far, &mut x).unwrap_err().to_string();
        assert!(text.starts_with("a copy in a graph: it is given memory") && text.ends_with("`GraphBuilder::keep`"));
        let text = graph.add_download(&x, &mut far_host).unwrap_err().to_string();
        assert!(text.ends_with("`GraphBuilder::keep_host`"), "{text}");
        for (call, doing) in [
            ("cuGraphAddMemcpyNode", "adding a copy to a graph failed"),
            ("cuGraphAddEmptyNode", "adding a copy to a graph failed"),
        ] {
            driver.fail(call, 1);
            let failed = match call {
                "cuGraphAddEmptyNode" => graph.add_copy(&none, &mut nothing),
                _ => graph.add_copy(&x, &mut y),
            };
            let text = failed.unwrap_err().to_string();
            assert!(text.starts_with(doing), "{text}");
        }
        let mut graph = graph.finish().unwrap();
        let recorded = driver.calls("cuEventRecord");
        graph.launch().unwrap();
        // The host may read its memory only behind the graph, also where there is one stream.
        assert_eq!(driver.calls("cuEventRecord") - recorded, 2);
        assert_eq!(graph.host(&output).as_slice().unwrap(), [7.0; 32]);
        graph.host_mut(&input).as_mut_slice().unwrap().fill(9.0);
        graph.launch().unwrap();
        assert_eq!(device.download(graph.memory(&y)).unwrap(), [9.0; 32]);
        // Memory of the host is of the graph's device.
        let second = Device::open(1).unwrap();
        let far = second.graph().unwrap().keep_host(pinned()).unwrap_err();
        assert!(matches!(far, Error::OtherDevice { .. }), "{far}");
        let far = graph_of(&second).add_zeros(&mut x).unwrap_err();
        assert!(matches!(far, Error::GraphStep { .. }), "{far}");
        let mut mixed = graph_of(&second);
        let mut far = mixed.keep(device.zeroed::<f32>(1).unwrap());
        let text = mixed.add_zeros(&mut far).unwrap_err().to_string();
        assert!(text.starts_with("the memory for zeros in a graph belongs to a context of device 0"), "{text}");
    }
    assert_eq!(["graph", "exec", "memory", "host"].map(|kind| driver.alive(kind)), alive);
}

fn graph_of(device: &Device) -> ptx::GraphBuilder<'static> {
    device.graph().unwrap()
}

#[test]
fn clusters_are_attributes_of_the_node() {
    let driver = driver();
    let device = device(&driver);
    let (x, mut y) = (device.upload(&[1.0_f32; 32]).unwrap(), device.zeroed(32).unwrap());
    let module = module_of(&device, &saxpy(1.0, &x, &mut y));
    let mut graph = device.graph().unwrap();
    let (x, mut y) = (graph.keep(x), graph.keep(y));
    let grid = Grid::new(4, 8);
    driver.attributes();
    let plain = graph.add(saxpy(1.0, &x, &mut y), &module, grid).unwrap();
    assert_eq!(driver.attributes(), 0);
    let clustered = graph.add(saxpy(1.0, &x, &mut y).cluster(2), &module, grid).unwrap();
    // CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION.
    assert_eq!(driver.attributes(), 1 << 4);
    graph.add(saxpy(1.0, &x, &mut y).cooperative().priority(-1), &module, grid).unwrap();
    // CU_LAUNCH_ATTRIBUTE_COOPERATIVE and CU_LAUNCH_ATTRIBUTE_PRIORITY.
    assert_eq!(driver.attributes(), 1 << 2 | 1 << 8);
    let text = graph.add(saxpy(1.0, &x, &mut y).cluster(3), &module, grid).unwrap_err().to_string();
    assert!(text.contains("no multiple of the cluster's 3"), "{text}");
    driver.fail("cuGraphKernelNodeSetAttribute", 1);
    let destroyed = driver.calls("cuGraphDestroyNode");
    let text = graph.add(saxpy(1.0, &x, &mut y).cluster(2), &module, grid).unwrap_err().to_string();
    assert!(text.starts_with("adding kernel `saxpy` as 4x1x1 blocks"), "{text}");
    assert_eq!(driver.calls("cuGraphDestroyNode") - destroyed, 1);
    let mut graph = graph.finish().unwrap();
    graph.update(clustered, saxpy(2.0, &x, &mut y).cluster(2), Grid::new(8, 8)).unwrap();
    let text = graph.update(plain, saxpy(2.0, &x, &mut y).cluster(2), grid).unwrap_err().to_string();
    assert!(text.contains("another cluster or priority"), "{text}");
}

/// What a test adds to a body: a launch that sets the condition and writes the memory.
fn fill<'m>(
    body: &mut GraphBody<'_, 'm>,
    module: &'m Module,
    condition: &GraphCondition,
    memory: &mut ptx::GraphMemory<f32>,
) -> ptx::Result<ptx::Node> {
    body.add(decides(0, condition, memory), module, Grid::new(1, 32))
}

#[test]
fn branches_and_loops_are_one_step() {
    let driver = driver();
    let alive = ["graph", "exec", "memory"].map(|kind| driver.alive(kind));
    {
        let device = device(&driver);
        let mut graph = device.graph().unwrap();
        let (x, mut y) =
            (graph.keep(device.upload(&[1.0_f32; 32]).unwrap()), graph.keep(device.zeroed::<f32>(32).unwrap()));
        let mut z = graph.keep(device.zeroed::<f32>(32).unwrap());
        let conditions = [1, 0, 1, 2].map(|first| graph.condition(first).unwrap());
        let [go_on, no, yes, case] = &conditions;
        let module = module_of(&device, &decides(0, go_on, &mut y));
        let adds = module_of(&device, &saxpy(1.0, &x, &mut y));
        let grid = Grid::new(1, 32);
        graph.add(decides(1, go_on, &mut y), &module, grid).unwrap();
        graph.add(saxpy(1.0, &x, &mut z), &adds, grid).unwrap();
        let node = graph
            .add_while(go_on, |body| {
                fill(body, &module, go_on, &mut y)?;
                assert_eq!(driver.edges(), 0, "a body begins anew");
                body.add(saxpy(1.0, &y, &mut z), &adds, grid)?;
                assert_eq!(driver.edges(), 1);
                // One in the other, with a condition of its own.
                let inner = body.condition(1)?;
                body.add_if(&inner, |body| body.add_zeros(&mut z).map(drop))?;
                assert_eq!(driver.edges(), 1, "it writes what the launch before it has written");
                Ok(())
            })
            .unwrap();
        // It sets the condition and `y` as the first, and writes `z` as the second.
        assert_eq!(driver.edges(), 2);
        graph.add(saxpy(1.0, &x, &mut y), &adds, grid).unwrap();
        assert_eq!(driver.edges(), 1, "the loop wrote it");
        graph.add_if(no, |body| body.add(saxpy(1.0, &x, &mut y), &adds, grid).map(drop)).unwrap();
        let mut called = Vec::new();
        graph
            .add_if_else(yes, |holds, body| {
                called.push(holds);
                let times = if holds { 3 } else { 1 };
                (0..times).try_for_each(|_| body.add(saxpy(1.0, &x, &mut y), &adds, grid).map(drop))
            })
            .unwrap();
        assert_eq!(called, [true, false]);
        graph
            .add_switch(case, 4, |case, body| {
                (0..10 * case).try_for_each(|_| body.add(saxpy(1.0, &x, &mut y), &adds, grid).map(drop))
            })
            .unwrap();
        let mut graph = graph.finish().unwrap();
        let launched = driver.launches();
        graph.launch().unwrap();
        // Outside 3, in the loop 2, under `no` none, under `yes` 3, in the second case 20.
        assert_eq!(driver.launches() - launched, 3 + 2 + 3 + 20);
        let text = graph.update(node, decides(0, go_on, &mut y), grid).unwrap_err().to_string();
        assert!(text.contains("no launch of this graph"), "{text}");
    }
    assert_eq!(["graph", "exec", "memory"].map(|kind| driver.alive(kind)), alive);
}

#[test]
fn conditions_that_cannot_be_are_refused() {
    let driver = driver();
    let device = device(&driver);
    let mut graph = device.graph().unwrap();
    let mut y = graph.keep(device.zeroed::<f32>(32).unwrap());
    let condition = graph.condition(1).unwrap();
    let module = module_of(&device, &decides(0, &condition, &mut y));
    let grid = Grid::new(1, 32);
    let says = |text: Result<ptx::Node, Error>, part: &str| {
        let text = text.unwrap_err().to_string();
        assert!(text.contains(part), "{text}");
    };
    let mut loose = device.zeroed::<f32>(32).unwrap();
    let launched = decides(0, &condition, &mut loose).launch(&module, grid).unwrap_err().to_string();
    assert_eq!(
        launched,
        "kernel `decides` of a graph: it is given a condition, which only a graph looks at: `GraphBuilder::add` takes it"
    );
    let mut other = device.graph().unwrap();
    let mut there = other.keep(device.zeroed::<f32>(32).unwrap());
    says(other.add(decides(0, &condition, &mut there), &module, grid), "another graph's condition");
    says(other.add_if(&condition, |_| Ok(())), "an `if` in a graph: its condition is another graph's");
    says(graph.add_switch(&condition, 0, |_, _| Ok(())), "a `switch` in a graph: it has no case");

    // Drivers that lack it.
    driver.version(12070);
    says(
        graph.add_switch(&condition, 2, |_, _| Ok(())),
        "a `switch` needs a driver of CUDA 12.8 or later, and this one is of CUDA 12.7",
    );
    says(graph.add_if_else(&condition, |_, _| Ok(())), "an `if` with an `else` needs a driver of CUDA 12.8");
    driver.version(12020);
    let text = graph.condition(1).unwrap_err().to_string();
    assert!(text.starts_with("a condition of a graph needs a driver of CUDA 12.3 or later, and this one is"), "{text}");
    says(graph.add_while(&condition, |_| Ok(())), "a `while` needs a driver of CUDA 12.3");
    driver.version(12030);

    // Calls of the driver that fail; devices without conditions fail so.
    driver.fail("cuGraphConditionalHandleCreate", 801);
    let text = graph.condition(1).unwrap_err().to_string();
    assert!(text.starts_with("making a condition of a graph failed") && text.contains("NOT_SUPPORTED"), "{text}");
    driver.fail("cuGraphAddNode_v2", 801);
    says(graph.add_if(&condition, |_| Ok(())), "adding an `if` to a graph failed");
    graph.add(decides(0, &condition, &mut y), &module, grid).unwrap();
    let destroyed = driver.calls("cuGraphDestroyNode");
    driver.fail("cuGraphAddDependencies_v2", 1);
    says(graph.add_while(&condition, |_| Ok(())), "adding a `while` to a graph failed");
    says(graph.add_while(&condition, |_| Ok(())), "its condition decides another step already");

    assert_eq!(driver.calls("cuGraphDestroyNode") - destroyed, 1, "it would not wait for what it must");
    // What a body says is handed on, and the next body is not filled.
    let second = graph.condition(0).unwrap();
    let mut filled = 0;
    let failed = graph.add_if_else(&second, |_, _| {
        filled += 1;
        Err(Error::GraphStep { step: "a test", reason: "it is one".to_owned() })
    });
    assert!(filled == 0 && failed.is_err(), "the driver is too old: {failed:?}");
    driver.version(13000);
    let failed = graph.add_if_else(&second, |_, _| {
        filled += 1;
        Err(Error::GraphStep { step: "a test", reason: "it is one".to_owned() })
    });
    assert_eq!((failed.unwrap_err().to_string().as_str(), filled), ("a test in a graph: it is one", 1));

    assert_eq!(driver.calls("cuGraphDestroyNode") - destroyed, 2);
    // A condition of one body is not another's, and one that decides nothing is a mistake.
    let third = graph.condition(0).unwrap();
    let (mut inside, mut update) = (None, None);
    graph
        .add_if(&third, |body| {
            inside = Some(body.condition(1)?);
            update = Some(fill(body, &module, &third, &mut y)?);
            Ok(())
        })
        .unwrap();
    says(graph.add_if(&inside.unwrap(), |_| Ok(())), "its condition was made in another body");
    let text = graph.finish().unwrap_err().to_string();
    assert_eq!(text, "a condition in a graph: no step depends on it: give it to `add_if`, `add_while` or `add_switch`");
    let mut other = other.finish().unwrap();
    let text = other.update(update.unwrap(), decides(0, &third, &mut there), grid).unwrap_err().to_string();
    assert!(text.contains("no launch of this graph"), "{text}");
}

#[test]
fn a_launch_in_a_body_stays_as_it_was_made() {
    let driver = driver();
    let device = device(&driver);
    let mut graph = device.graph().unwrap();
    let mut y = graph.keep(device.zeroed::<f32>(32).unwrap());
    let condition = graph.condition(1).unwrap();
    let module = module_of(&device, &decides(0, &condition, &mut y));
    let mut inside = None;
    graph
        .add_if(&condition, |body| {
            inside = Some(fill(body, &module, &condition, &mut y)?);
            Ok(())
        })
        .unwrap();
    let mut graph = graph.finish().unwrap();
    let launch = decides(0, &condition, &mut y);
    let text = graph.update(inside.unwrap(), launch, Grid::new(1, 32)).unwrap_err().to_string();
    assert!(text.ends_with("the node is in the body of a branch or a loop, which stays as it was made"), "{text}");
}

/// A graph's condition is no argument for the CPU, which has no graphs.
#[cfg(feature = "cpu")]
#[test]
fn the_cpu_has_no_conditions() {
    let driver = driver();
    let device = device(&driver);
    let condition = device.graph().unwrap().condition(1).unwrap();
    let mut out = ptx::CpuMemory::from(vec![0.0_f32; 4]);
    let text = decides(0, &condition, &mut out).launch_on_cpu(Grid::new(1, 4)).unwrap_err().to_string();
    assert_eq!(
        text,
        "parameter `condition` of kernel `decides` was given a condition of a graph: graphs need a GPU: add the launch to one"
    );
}
