//! Pools, page-locked and managed memory, and memory of several devices: what is left, and what is waited for.

use ptx::prelude::*;
use ptx::{Error, Pitch};

use crate::driver::{device, driver, module_of};
use crate::launches::saxpy;

#[test]
fn host_memory_can_be_launched_with_and_is_waited_for() {
    let driver = driver();
    let (memory, host) = (driver.alive("memory"), driver.alive("host"));
    {
        let device = device(&driver);
        let mut x = device.pinned_zeroed::<f32>(32).unwrap();
        assert_eq!(x.as_slice().unwrap(), [0.0; 32]);
        x.as_mut_slice().unwrap().fill(1.0);
        let mut y = device.managed_zeroed::<f32>(32).unwrap();
        assert_eq!(y.as_slice().unwrap(), [0.0; 32]);
        let module = module_of(&device, &saxpy(1.0, &x, &mut y));
        let before = driver.calls("cuEventRecord");
        saxpy(1.0, &x, &mut y).launch(&module, Grid::new(1, 32)).unwrap();
        assert_eq!(driver.calls("cuEventRecord") - before, 2, "the host waits for these");
        assert_eq!(device.download(&y).unwrap(), [0.0; 32]);
        // An address that the driver does not have is the launch's error.
        driver.fail("cuMemHostGetDevicePointer_v2", 1);
        let error = saxpy(1.0, &x, &mut y).launch(&module, Grid::new(1, 32)).unwrap_err();
        assert!(matches!(error, Error::Driver { .. }), "{error}");
        // So is one that kernels write.
        let from = device.upload(&[1.0_f32; 32]).unwrap();
        saxpy(1.0, &from, &mut x).launch(&module, Grid::new(1, 32)).unwrap();
        driver.fail("cuMemHostAlloc", 2);
        let text = device.pinned_zeroed::<u64>(4).map(drop).unwrap_err().to_string();
        assert!(text.contains("making 32 zero bytes of page-locked memory"), "{text}");
        driver.fail("cuMemAllocManaged", 2);
        let text = device.managed_zeroed::<u64>(4).map(drop).unwrap_err().to_string();
        assert!(text.contains("making 32 zero bytes of managed memory"), "{text}");
    }
    assert_eq!((driver.alive("memory"), driver.alive("host")), (memory, host));
}

#[test]
fn pools_keep_trim_and_go() {
    let driver = driver();
    let before = (driver.alive("pool"), driver.alive("memory"));
    {
        let device = device(&driver);
        device.pool().unwrap().keep(u64::MAX).unwrap();
        let pool = device.new_pool().unwrap();
        assert_eq!(driver.alive("pool"), before.0 + 1);
        let memory = pool.zeroed::<u32>(device.stream(), 100).unwrap();
        assert_eq!(device.download(&memory).unwrap(), [0; 100]);
        pool.trim(0).unwrap();
        assert_eq!((pool.used().unwrap(), pool.reserved().unwrap()), (4096, 4096));
        driver.fail("cuMemAllocFromPoolAsync", 2);
        let text = pool.zeroed::<u32>(device.stream(), 100).map(drop).unwrap_err().to_string();
        assert!(text.contains("free memory for making 400 zero bytes on the device"), "{text}");
        // Memory may outlive its pool.
        drop(pool);
        drop(memory);
    }
    assert_eq!((driver.alive("pool"), driver.alive("memory")), before);
}

#[test]
fn devices_copy_to_each_other() {
    let driver = driver();
    let all = Device::all().unwrap();
    assert_eq!(all.iter().map(Device::number).collect::<Vec<_>>(), [0, 1]);
    assert!(all[0].can_reach(&all[1]).unwrap() && !all[0].can_reach(&all[0]).unwrap());
    all[0].reach(&all[1]).unwrap();
    driver.fail("cuCtxEnablePeerAccess", 704);
    all[0].reach(&all[1]).unwrap();
    driver.fail("cuCtxEnablePeerAccess", 217);
    let text = all[0].reach(&all[1]).unwrap_err().to_string();
    assert!(text.starts_with("letting CUDA device 0 reach the memory of device 1 failed"), "{text}");
    assert!(text.contains("copy through the host"), "{text}");
    let from = all[1].upload(&[7_u32; 10]).unwrap();
    let mut to = all[0].zeroed::<u32>(10).unwrap();
    let before = driver.calls("cuMemcpyPeerAsync");
    all[0].copy(&from, &mut to).unwrap();
    assert_eq!(all[0].download(&to).unwrap(), [7; 10]);
    assert_eq!(driver.calls("cuMemcpyPeerAsync") - before, 1);
    // A launch takes its own device's.
    let x = all[1].upload(&[1.0_f32; 32]).unwrap();
    let mut y = all[0].zeroed::<f32>(32).unwrap();
    let module = module_of(&all[0], &saxpy(1.0, &x, &mut y));
    let text = saxpy(1.0, &x, &mut y).launch(&module, Grid::new(1, 32)).unwrap_err().to_string();
    assert!(
        text.starts_with("the memory for parameter `x` of kernel `saxpy` belongs to a context of device 1"),
        "{text}"
    );
}

/// Each element of a box is where plain loops put it, and nothing else is written.
#[test]
fn boxes_are_copied_row_by_row() {
    let driver = driver();
    let device = device(&driver);
    let other = Device::open(1).unwrap();
    let (from, to) = (Pitch::rows(7).layers(5).at(3), Pitch::rows(6).layers(4).at(1));
    let (width, height, depth) = (5, 4, 3);
    let host: Vec<u16> = (0..7 * 5 * 3 + 3).collect();
    let mut expected = vec![0_u16; 6 * 4 * 3 + 1];
    for z in 0..depth {
        for y in 0..height {
            for x in 0..width {
                expected[(z * 4 + y) * 6 + x + 1] = host[(z * 5 + y) * 7 + x + 3];
            }
        }
    }
    let extent = (width as u32, height as u32, depth as u32);
    let mut memory = device.zeroed::<u16>(expected.len()).unwrap();
    device.upload_box((&host, from), (&mut memory, to), extent).unwrap();
    assert_eq!(device.download(&memory).unwrap(), expected);
    let (whole, mut copied) = (device.upload(&host).unwrap(), device.zeroed::<u16>(expected.len()).unwrap());
    device.copy_box((&whole, from), (&mut copied, to), extent).unwrap();
    assert_eq!(device.download(&copied).unwrap(), expected);
    let mut back = vec![0; expected.len()];
    device.download_box((&whole, from), (&mut back, to), extent).unwrap();
    assert_eq!(back, expected);
    // A plane, a row, and nothing.
    let mut back = [0; 12];
    device.download_box((&whole, Pitch::rows(7).at(7)), (&mut back, Pitch::rows(4)), (2, 3)).unwrap();
    assert_eq!(back, [7, 8, 0, 0, 14, 15, 0, 0, 21, 22, 0, 0]);
    device.download_box((&whole, Pitch::rows(0).at(50)), (&mut back, Pitch::rows(0)), 3).unwrap();
    assert_eq!(back[..4], [50, 51, 52, 0]);
    let calls = driver.calls("cuMemcpy3DAsync_v2");
    device.download_box((&whole, Pitch::rows(0)), (&mut back, Pitch::rows(0)), (4, 0)).unwrap();
    assert_eq!(driver.calls("cuMemcpy3DAsync_v2"), calls);

    let says = |result: ptx::Result<()>, text: &str| assert_eq!(result.unwrap_err().to_string(), text);
    says(
        device.upload_box((&host, Pitch::rows(7)), (&mut memory, Pitch::rows(4)), (5, 2)),
        "the box to copy to does not lie in its memory: rows of 5 elements are wider than the pitch of 4",
    );
    says(
        device.copy_box((&whole, Pitch::rows(7)), (&mut copied, to), (5, 2, 2)),
        "the box to copy from does not lie in its memory: the box has 2 layers, and nothing says how many rows a layer has: \
         `Pitch::layers`",
    );
    says(
        device.copy_box((&whole, Pitch::rows(7).layers(1)), (&mut copied, to), (5, 2, 2)),
        "the box to copy from does not lie in its memory: layers of 2 rows are higher than the 1 of a layer in memory",
    );
    says(
        device.download_box((&whole, from), (&mut back, Pitch::rows(5)), (5, 3)),
        "the box to copy to does not lie in its memory: the last element is number 15, and the memory has 12",
    );
    let mut far = other.zeroed::<u16>(100).unwrap();
    let error = device.copy_box((&whole, from), (&mut far, to), extent).unwrap_err().to_string();
    assert!(error.starts_with("the memory to copy a box to belongs to a context of device 1"), "{error}");
    driver.fail("cuMemcpy3DAsync_v2", 1);
    let error = device.copy_box((&whole, from), (&mut copied, to), extent).unwrap_err().to_string();
    assert!(error.starts_with("copying a box of 5 by 4 by 3 elements failed"), "{error}");
}
