//! Memory that one stream uses: what a round of copies and launches calls of the driver, what waits for what, and what is refused.

use std::sync::Arc;

use ptx::prelude::*;
use ptx::{CudaStream, Error, PinnedHostSlice, StreamHostMemory, StreamMemory};

use crate::driver::{Driver, device, driver, module_of};
use crate::launches::saxpy;

const LEN: usize = 32;
const STREAMS: usize = 4;
const KERNELS: u64 = 4;

/// Calls of the driver: all, those that say which context is current, waits for events, and records of them.
type Calls = [u64; 4];

fn calls(driver: &Driver, work: &mut dyn FnMut()) -> Calls {
    let count = || {
        let named = ["cuCtxGetCurrent", "cuStreamWaitEvent", "cuEventRecord"].map(|name| driver.calls(name));
        [driver.all_calls(), named[0], named[1], named[2]]
    };
    let before = count();
    work();
    let after = count();
    std::array::from_fn(|at| after[at] - before[at])
}

struct Lane {
    stream: Arc<CudaStream>,
    x: StreamMemory<f32>,
    y: StreamMemory<f32>,
    input: StreamHostMemory<f32>,
    output: StreamHostMemory<f32>,
}

fn lane(device: &Device) -> Lane {
    let stream = device.new_stream().unwrap();
    let memory = || device.bind(device.zeroed::<f32>(LEN).unwrap(), &stream).unwrap();
    let host = || device.bind_host(device.pinned_zeroed::<f32>(LEN).unwrap(), &stream).unwrap();
    Lane { x: memory(), y: memory(), input: host(), output: host(), stream: stream.clone() }
}

/// The benchmark's round, `overlap.rs`: a copy, four launches and a copy on each of four streams. CUDA C++ calls the driver six
/// times for each; and so does this, but for asking which context is current. With cudarc's own memory there are 70 calls, of which
/// 29 are about events, and 35 ask.
#[test]
fn a_round_on_four_streams_calls_the_driver_as_cuda_does() {
    let driver = driver();
    let device = device(&driver);
    let grid = Grid::new(1, LEN as u32);
    let mut lanes: Vec<Lane> = (0..STREAMS).map(|_| lane(&device)).collect();
    let Lane { x, y, .. } = &mut lanes[0];
    let module = module_of(&device, &saxpy(1.0, x, y));
    let mut round = || {
        for Lane { stream, x, y, input, output } in &mut lanes {
            x.upload(input).unwrap();
            for _ in 0..KERNELS {
                saxpy(1.0, x, y).launch_on(&module, stream, grid).unwrap();
            }
            y.download(output).unwrap();
        }
    };
    round();
    let work = STREAMS as u64 * (KERNELS + 2);
    assert_eq!(calls(&driver, &mut round), [2 * work, work, 0, 0]);

    // Prepared, a launch asks for no context.
    let [first, ..] = &mut lanes[..] else { panic!("there are four") };
    let mut prepared = saxpy(1.0, &first.x, &mut first.y).prepare(&module, grid).unwrap();
    prepared.launch_on(&first.stream).unwrap();
    let stream = &first.stream;
    assert_eq!(calls(&driver, &mut || prepared.launch_on(stream).unwrap()), [1, 0, 0, 0]);
    drop(prepared);

    // The same with cudarc's memory.
    let stream = device.new_stream().unwrap();
    let (mut x, mut y) = (device.zeroed::<f32>(LEN).unwrap(), device.zeroed::<f32>(LEN).unwrap());
    let (input, mut output) = (device.pinned_zeroed::<f32>(LEN).unwrap(), device.pinned_zeroed::<f32>(LEN).unwrap());
    let mut round = || {
        stream.memcpy_htod(&input, &mut x).unwrap();
        for _ in 0..KERNELS {
            saxpy(1.0, &x, &mut y).launch_on(&module, &stream, grid).unwrap();
        }
        stream.memcpy_dtoh(&y, &mut output).unwrap();
    };
    round();
    let [all, current, waits, records] = calls(&driver, &mut round);
    assert_eq!(all, current + waits + records + KERNELS + 2);
    assert_eq!((all, current), (70, 35));
    // Two events for each launch, two for each copy; three waits for each launch and for the copy there, two for that back.
    assert_eq!((waits, records), (3 * KERNELS + 5, 2 * KERNELS + 4));
}

#[test]
fn parts_of_one_buffer_are_on_several_streams() {
    let driver = driver();
    let alive = ["memory", "host", "event"].map(|kind| driver.alive(kind));
    {
        let device = device(&driver);
        let (left, right) = (device.new_stream().unwrap(), device.new_stream().unwrap());
        let x = device.bind(device.zeroed::<f32>(LEN).unwrap(), &left).unwrap();
        let mut low = device.bind(device.upload(&[1.0_f32; LEN]).unwrap(), &left).unwrap();
        let module = module_of(&device, &saxpy(1.0, &x, &mut low));
        let grid = Grid::new(1, 16);
        // The other stream waits for the first, once.
        let mut high = None;
        let split = calls(&driver, &mut || high = Some(low.split_off(16, &right).unwrap()));
        assert_eq!(split[2..], [1, 1]);
        let mut high = high.unwrap();
        assert_eq!((low.len(), high.len(), low.is_empty()), (16, 16, false));
        assert!(Arc::ptr_eq(high.stream(), &right));
        let y = device.bind(device.zeroed::<f32>(LEN).unwrap(), &right).unwrap();
        // The first launch looks the kernel up.
        saxpy(1.0, &x, &mut low).launch_on(&module, &left, grid).unwrap();
        let both = calls(&driver, &mut || {
            saxpy(1.0, &x, &mut low).launch_on(&module, &left, grid).unwrap();
            saxpy(1.0, &y, &mut high).launch_on(&module, &right, grid).unwrap();
        });
        assert_eq!(both, [4, 2, 0, 0], "neither waits");

        // On another stream it is a mistake, and so is a launch with memory of two streams.
        let text = saxpy(1.0, &x, &mut low).launch_on(&module, &right, grid).unwrap_err().to_string();
        assert_eq!(
            text,
            "the memory for parameter `x` of kernel `saxpy` is bound to another stream: use it on that one, or call `move_to`"
        );
        let error = saxpy(1.0, &x, &mut high).launch_on(&module, &left, grid).unwrap_err();
        assert!(matches!(&error, Error::OtherStream { what } if what.contains("`y`")), "{error}");
        let mut prepared = saxpy(1.0, &x, &mut low).prepare(&module, grid).unwrap();
        let text = prepared.launch().unwrap_err().to_string();
        assert!(text.starts_with("memory of the prepared launch of kernel `saxpy` is bound"), "{text}");
        prepared.launch_on(&left).unwrap();
        drop(prepared);

        // Back on one stream, it waits once for the other.
        assert_eq!(calls(&driver, &mut || high.move_to(&left).unwrap())[2..], [1, 1]);
        assert_eq!(calls(&driver, &mut || high.move_to(&left).unwrap())[2..], [0, 0]);
        saxpy(1.0, &x, &mut high).launch_on(&module, &left, grid).unwrap();
        // Beside memory that is not bound, only that is noted: whoever reads it may do so at the same time.
        let z = device.zeroed::<f32>(LEN).unwrap();
        let mixed = calls(&driver, &mut || saxpy(1.0, &z, &mut high).launch_on(&module, &left, grid).unwrap());
        assert_eq!(mixed[2..], [1, 1]);

        assert!(low.into_slice().is_none(), "there is another part");
        let whole = high.into_slice().expect("it is the last part");
        assert_eq!(device.download(&whole).unwrap(), [1.0; LEN]);

        let other = Device::open(1).unwrap();
        let far = other.zeroed::<f32>(1).unwrap();
        let text = device.bind(far, &left).unwrap_err().to_string();
        assert!(text.starts_with("the memory belongs to a context of device 1"), "{text}");
        let error = device.bind(whole, other.stream()).unwrap_err();
        assert!(matches!(error, Error::OtherDevice { .. }), "{error}");
        let mut bound = device.bind(device.zeroed::<f32>(4).unwrap(), &left).unwrap();
        let text = bound.move_to(other.stream()).unwrap_err().to_string();
        assert!(text.starts_with("the stream belongs to a context of device 1"), "{text}");
        for (call, doing) in [
            ("cuEventCreate", "moving memory to another stream failed"),
            ("cuEventRecord", "moving memory to another stream failed"),
            ("cuStreamWaitEvent", "binding memory to a stream failed"),
        ] {
            driver.fail(call, 1);
            let failed = match call {
                "cuStreamWaitEvent" => device.bind(device.zeroed::<f32>(4).unwrap(), &left).map(drop),
                _ => bound.split_off(2, &right).map(drop),
            };
            let text = failed.unwrap_err().to_string();
            assert!(text.starts_with(doing), "{text}");
        }
        assert_eq!(bound.len(), 4, "what could not be split is whole");
    }
    assert_eq!(["memory", "host", "event"].map(|kind| driver.alive(kind)), alive);
}

#[test]
fn copies_are_on_the_stream_of_both() {
    let driver = driver();
    let alive = ["memory", "host", "event"].map(|kind| driver.alive(kind));
    {
        let device = device(&driver);
        let Lane { stream, mut x, mut input, mut output, .. } = lane(&device);
        input.as_mut_slice().unwrap().fill(3.0);
        x.upload(&input).unwrap();
        x.download(&mut output).unwrap();
        let waited = driver.calls("cuStreamSynchronize");
        assert_eq!(output.as_slice().unwrap(), [3.0; LEN]);
        assert_eq!(driver.calls("cuStreamSynchronize") - waited, 1);
        assert!(!input.is_empty() && input.len() == LEN);

        let mut far = lane(&device);
        let text = x.upload(&far.input).unwrap_err().to_string();
        assert!(text.starts_with("memory of the host for a copy is bound to another stream"), "{text}");
        let error = x.download(&mut far.output).unwrap_err();
        assert!(matches!(error, Error::OtherStream { .. }), "{error}");
        let pinned = || device.pinned_zeroed::<f32>(LEN + 1).unwrap();
        let long = device.bind_host(pinned(), &stream).unwrap();
        let text = x.upload(&long).unwrap_err().to_string();
        assert_eq!(text, "a copy of 33 elements goes to memory of 32: both must have as many");
        for (call, doing) in [
            ("cuMemcpyHtoDAsync_v2", "copying to the device failed"),
            ("cuMemcpyDtoHAsync_v2", "copying from the device failed"),
            ("cuStreamSynchronize", "waiting for the stream of memory of the host failed"),
            ("cuStreamWaitEvent", "binding memory of the host to a stream failed"),
        ] {
            driver.fail(call, 1);
            let failed = match call {
                "cuMemcpyHtoDAsync_v2" => x.upload(&input),
                "cuMemcpyDtoHAsync_v2" => x.download(&mut output),
                "cuStreamSynchronize" => output.as_slice().map(drop),
                _ => device.bind_host(pinned(), &stream).map(drop),
            };
            let text = failed.unwrap_err().to_string();
            assert!(text.starts_with(doing), "{text}");
        }

        // Taken back, or dropped, its event stands for what the stream still does.
        let recorded = driver.calls("cuEventRecord");
        let pinned: PinnedHostSlice<f32> = output.into_pinned();
        assert_eq!(driver.calls("cuEventRecord") - recorded, 1);
        assert_eq!(pinned.as_slice().unwrap(), [3.0; LEN]);
        drop(input);
        assert_eq!(driver.calls("cuEventRecord") - recorded, 2);
        let second = Device::open(1).unwrap();
        let text = second.bind_host(pinned, second.stream()).unwrap_err().to_string();
        assert!(text.starts_with("the memory of the host belongs to a context of device 0"), "{text}");
    }
    assert_eq!(["memory", "host", "event"].map(|kind| driver.alive(kind)), alive);
}

#[test]
#[should_panic(expected = "there are 4 elements, and they are to be split at 5")]
fn a_split_behind_the_end_is_a_mistake_of_the_program() {
    let driver = driver();
    let device = device(&driver);
    let stream = device.new_stream().unwrap();
    let mut memory = device.bind(device.zeroed::<f32>(4).unwrap(), &stream).unwrap();
    _ = memory.split_off(5, &stream);
}
