//! Futures of streams under a bare `block_on` and under tokio, functions of the host's behind kernels, and times.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use ptx::Error;
use ptx::prelude::*;

use crate::driver::{device, driver, module_of};
use crate::launches::saxpy;

/// The smallest executor: the thread sleeps until it is woken.
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

#[test]
fn a_bare_executor_waits_for_a_stream() {
    let driver = driver();
    let device = device(&driver);
    driver.latency(50);
    let stream = device.new_stream().unwrap();
    let x = device.upload(&[1.0_f32; 32]).unwrap();
    let mut y = device.upload(&[2.0_f32; 32]).unwrap();
    let module = module_of(&device, &saxpy(1.0, &x, &mut y));
    let begin = Instant::now();
    saxpy(1.0, &x, &mut y).launch_on(&module, &stream, Grid::new(1, 32)).unwrap();
    let finished = device.finished(&stream).unwrap();
    assert!(!finished.is_finished());
    block_on(finished).unwrap();
    assert!(begin.elapsed() >= Duration::from_millis(50));
    let values = block_on(device.download_later(&y, &stream).unwrap()).unwrap();
    assert_eq!(values, [2.0; 32]);
    // A future that nobody awaits leaves the work alone.
    drop(device.finished(&stream).unwrap());
    device.synchronize().unwrap();
}

#[test]
fn tokio_waits_for_many_streams_at_once() {
    let driver = driver();
    let device = device(&driver);
    driver.latency(100);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let begin = Instant::now();
    runtime.block_on(async {
        let tasks: Vec<_> = (0..8)
            .map(|_| {
                let (device, stream) = (device.clone(), device.new_stream().unwrap());
                tokio::spawn(async move { device.finished(&stream)?.await })
            })
            .collect();
        for task in tasks {
            task.await.unwrap().unwrap();
        }
    });
    // Eight waits of 100 ms, none behind the other.
    assert!(begin.elapsed() < Duration::from_millis(600), "{:?}", begin.elapsed());
}

#[test]
fn a_lost_context_ends_the_wait() {
    let driver = driver();
    let device = device(&driver);
    driver.latency(50);
    let stream = device.new_stream().unwrap();
    let finished = device.finished(&stream).unwrap();
    driver.lose(700);
    let error = block_on(finished).unwrap_err();
    assert!(matches!(error, Error::ContextLost { .. }), "{error}");
    let error = device.finished(&stream).map(drop).unwrap_err();
    assert!(matches!(error, Error::ContextLost { .. }), "{error}");
    driver.lose(0);
}

#[test]
fn functions_of_the_host_come_in_order_and_may_panic() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let driver = driver();
    let device = device(&driver);
    let stream = device.new_stream().unwrap();
    for number in 0..10 {
        device
            .call_after(&stream, move || {
                assert_eq!(CALLS.fetch_add(1, Ordering::Relaxed), number);
            })
            .unwrap();
    }
    device.call_after(&stream, || panic!("it ends here")).unwrap();
    device.call_after(&stream, || _ = CALLS.fetch_add(1, Ordering::Relaxed)).unwrap();
    device.synchronize().unwrap();
    assert_eq!(CALLS.load(Ordering::Relaxed), 11);
    driver.fail("cuLaunchHostFunc", 800);
    let text = device.call_after(&stream, || ()).unwrap_err().to_string();
    assert!(text.starts_with("putting a call of the host's on a stream failed") && text.contains("callback"), "{text}");
}

#[test]
fn a_stream_of_another_device_is_refused() {
    let driver = driver();
    let (first, second) = (device(&driver), Device::open(1).unwrap());
    let stream = second.new_stream().unwrap();
    for refused in [
        first.finished(&stream).map(drop),
        first.call_after(&stream, || ()),
        first.time(&stream, || Ok(())).map(drop),
        first.new_pool().unwrap().zeroed::<u32>(&stream, 4).map(drop),
    ] {
        let text = refused.unwrap_err().to_string();
        assert!(text.starts_with("the stream belongs to a context of device 1, and this is one of device 0"), "{text}");
    }
    assert_eq!(first.time(first.stream(), || Ok(())).unwrap(), Duration::from_micros(1500));
}
