//! Graphs by hand: which launch comes after which, what an update may change, and what is refused.

use ptx::Error;
use ptx::prelude::*;

use crate::driver::{device, driver, module_of};
use crate::launches::saxpy;

#[test]
fn launches_come_after_those_whose_memory_they_use() {
    let driver = driver();
    let before = ["graph", "exec", "memory"].map(|kind| driver.alive(kind));
    {
        let device = device(&driver);
        let (x, mut y) = (device.upload(&[1.0_f32; 32]).unwrap(), device.zeroed(32).unwrap());
        let module = module_of(&device, &saxpy(1.0, &x, &mut y));
        let grid = Grid::new(1, 32);
        let mut graph = device.graph().unwrap();
        let x = graph.keep(x);
        let (mut y, mut z) = (graph.keep(y), graph.keep(device.zeroed(32).unwrap()));
        let edges = |added: ptx::Result<ptx::Node>| (added.unwrap(), driver.edges());
        let (first, count) = edges(graph.add(saxpy(1.0, &x, &mut y), &module, grid));
        assert_eq!(count, 0);
        // They read the same, and write another.
        assert_eq!(edges(graph.add(saxpy(1.0, &x, &mut z), &module, grid)).1, 0);
        // It reads what the first wrote and writes what the second wrote.
        assert_eq!(edges(graph.add(saxpy(1.0, &y, &mut z), &module, grid)).1, 2);
        // It writes what the third has read since the first wrote it.
        assert_eq!(edges(graph.add_zeros(&mut y)).1, 2);
        // The zeros stand for all before them.
        assert_eq!(edges(graph.add(saxpy(1.0, &x, &mut y), &module, grid)).1, 1);
        let mut graph = graph.finish().unwrap();
        let launched = driver.launches();
        let stream = device.new_stream().unwrap();
        for _ in 0..3 {
            graph.launch().unwrap();
            graph.launch_on(&stream).unwrap();
        }
        assert_eq!(driver.launches() - launched, 6 * 4);
        graph.update(first, saxpy(5.0, &x, &mut y), Grid::new(2, 16)).unwrap();
        assert_eq!(device.download(graph.memory(&y)).unwrap(), [0.0; 32]);
        device.stream().memcpy_htod(&[3.0; 32], graph.memory_mut(&z)).unwrap();
        assert_eq!(device.download(graph.memory(&z)).unwrap(), [3.0; 32]);

        let refused = |result: ptx::Result<()>, part: &str| match result {
            Err(error @ Error::Graph { .. }) => {
                let text = error.to_string();
                assert!(text.starts_with("kernel `saxpy` of a graph: ") && text.contains(part), "{text}");
            }
            other => panic!("{other:?}"),
        };
        refused(graph.update(first, saxpy(5.0, &x, &mut z), grid), "other memory");
        let loose = device.upload(&[1.0_f32; 32]).unwrap();
        refused(graph.update(first, saxpy(5.0, &loose, &mut y), grid), "GraphBuilder::keep");
        refused(saxpy(5.0, &x, &mut y).launch(&module, grid), "Graph::memory");
        refused(saxpy(5.0, &x, &mut y).prepare(&module, grid).map(drop), "Graph::memory");
        let mut other = device.graph().unwrap();
        refused(other.add(saxpy(5.0, &x, &mut y), &module, grid).map(drop), "GraphBuilder::keep");
        let (a, mut b) = (other.keep(loose), other.keep(device.zeroed::<f32>(32).unwrap()));
        // SAFETY: nothing runs.
        let early = unsafe { saxpy(5.0, &a, &mut b).begins_early() };
        refused(other.add(early, &module, grid).map(drop), "do not begin early");
        let foreign = other.add(saxpy(5.0, &a, &mut b), &module, grid).unwrap();
        refused(graph.update(foreign, saxpy(5.0, &x, &mut y), grid), "no launch of this graph");
        let error = other.add_zeros(&mut y).unwrap_err();
        assert!(matches!(error, Error::GraphStep { .. }), "{error}");
        // The grid is checked as in any launch.
        let error = other.add(saxpy(5.0, &a, &mut b), &module, Grid::new(0, 32)).unwrap_err();
        assert!(matches!(error, Error::Grid { .. }), "{error}");
        for (call, doing) in [
            ("cuGraphAddKernelNode_v2", "adding kernel `saxpy` as 1x1x1 blocks of 32x1x1 threads to a graph failed"),
            ("cuGraphAddMemsetNode", "adding zeros to a graph failed"),
            ("cuGraphLaunch", "launching a graph of 5 nodes failed"),
            ("cuGraphExecKernelNodeSetParams_v2", "updating kernel `saxpy` as 1x1x1 blocks"),
            ("cuGraphInstantiateWithFlags", "making a graph of 0 nodes ready failed"),
            ("cuGraphCreate", "making a graph failed"),
        ] {
            driver.fail(call, 1);
            let result = match call {
                "cuGraphAddKernelNode_v2" => other.add(saxpy(5.0, &a, &mut b), &module, grid).map(drop),
                "cuGraphAddMemsetNode" => other.add_zeros(&mut b).map(drop),
                "cuGraphLaunch" => graph.launch(),
                "cuGraphExecKernelNodeSetParams_v2" => graph.update(first, saxpy(5.0, &x, &mut y), grid),
                "cuGraphInstantiateWithFlags" => device.graph().unwrap().finish().map(drop),
                _ => device.graph().map(drop),
            };
            let text = result.unwrap_err().to_string();
            assert!(text.starts_with(doing), "{text}");
        }
    }
    assert_eq!(["graph", "exec", "memory"].map(|kind| driver.alive(kind)), before);
}

#[test]
#[should_panic(expected = "the memory is another graph's")]
fn memory_of_another_graph_is_a_mistake_of_the_program() {
    let driver = driver();
    let device = device(&driver);
    let memory = device.graph().unwrap().keep(device.zeroed::<u32>(1).unwrap());
    device.graph().unwrap().finish().unwrap().memory(&memory);
}
