//! Modules that are loaded once for each device, and what is known of their kernels there.

use ptx::cudarc::driver::sys::CUresult::*;
use ptx::prelude::*;
use ptx::{Error, Image, Linking, Object};

use crate::driver::{device, driver, image_of};
use crate::launches::saxpy;

#[test]
fn a_module_is_loaded_once_for_each_device() {
    let driver = driver();
    let device = device(&driver);
    let (x, mut y) = (device.zeroed::<f32>(32).unwrap(), device.zeroed(32).unwrap());
    let image = image_of(&saxpy(1.0, &x, &mut y));
    let loads = || driver.calls("cuModuleLoadDataEx");
    let before = loads();
    driver.fail("cuModuleLoadDataEx", 2);
    assert!(matches!(device.module(&image), Err(Error::Load { .. })));
    let first = device.module(&image).unwrap();
    assert_eq!(loads() - before, 2, "a failed load is tried again");
    // The same code once more, in other threads and by another handle of the device.
    let again = image_of(&saxpy(1.0, &x, &mut y));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let device = Device::first().unwrap();
                assert!(std::ptr::eq(device.module(&again).unwrap(), first));
            });
        }
    });
    assert_eq!(loads() - before, 2);
    let second = Device::open(1).unwrap().module(&image).unwrap();
    assert_eq!((loads() - before, second.device().number()), (3, 1));
    saxpy(1.0, &x, &mut y).launch(first, Grid::new(1, 32)).unwrap();
}

#[test]
fn occupancy_and_limits_are_the_drivers() {
    let driver = driver();
    let device = device(&driver);
    let (x, mut y) = (device.zeroed::<f32>(32).unwrap(), device.zeroed(32).unwrap());
    let module = device.load(&image_of(&saxpy(1.0, &x, &mut y))).unwrap();
    assert_eq!(module.suggested_threads("saxpy").unwrap(), 768);
    assert_eq!(module.resident_blocks("saxpy", 768, 0).unwrap(), 2 * 132);
    assert_eq!(module.occupancy("saxpy", 768, 0).unwrap(), 0.75);
    assert_eq!(module.resident_clusters("saxpy", Grid::new(8, 128), 2).unwrap(), 66);
    assert_eq!(module.free_shared("saxpy", 2, (32, 4)).unwrap(), 100 << 10);
    assert_eq!(module.attributes("saxpy").unwrap().registers, 24);
    for refused in [
        module.suggested_threads("other").map(drop),
        module.occupancy("other", 32, 0).map(drop),
        module.resident_clusters("other", Grid::new(8, 128), 2).map(drop),
        module.free_shared("other", 1, 32).map(drop),
    ] {
        let text = refused.unwrap_err().to_string();
        assert!(text.contains("has no kernel `other` (it has `saxpy`)"), "{text}");
    }
    driver.fail("cuOccupancyMaxActiveClusters", 912);
    let text = module.resident_clusters("saxpy", Grid::new(8, 128), 2).map(drop).unwrap_err().to_string();
    assert!(text.starts_with("asking how many clusters of kernel `saxpy` run at once failed"), "{text}");
    assert_eq!(device.memory().unwrap(), (1 << 33, 1 << 34));
    assert!(device.pending_launches().unwrap() > 0);
    device.set_pending_launches(4096).unwrap();
    driver.fail("cuCtxSetLimit", 215);
    let text = device.set_pending_launches(4096).unwrap_err().to_string();
    assert!(text.contains("having 4096 launches by kernels wait failed") && text.contains("does not have that limit"));
}

/// There is no management library beside the driver of the tests, or it knows no such device.
#[cfg(feature = "nvml")]
#[test]
fn a_missing_management_library_is_an_error_that_says_where_it_comes_from() {
    let driver = driver();
    let device = device(&driver);
    match device.health() {
        Err(error @ Error::Health { .. }) => {
            let text = error.to_string();
            assert!(
                text.starts_with("asking how Fake GPU is failed: ") && text.contains("libnvidia-ml.so.1"),
                "{text}"
            );
        }
        // A machine with a GPU at this place.
        Ok(health) => assert!(health.celsius.is_none_or(|celsius| celsius < 150), "{health:?}"),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn cubins_of_one_arch_are_loaded_together() {
    static OBJECTS: [Object; 4] = [
        Object { arch: "sm_80", ptx: "", ptx_path: "", cubin: Some(&[0]) },
        Object { arch: "sm_90", ptx: "", ptx_path: "", cubin: Some(&[1]) },
        Object { arch: "sm_90", ptx: "", ptx_path: "", cubin: Some(&[2]) },
        Object { arch: "sm_90", ptx: "", ptx_path: "", cubin: Some(&[3]) },
    ];
    let driver = driver();
    let device = device(&driver);
    let [loads, unloads, lookups] =
        ["cuModuleLoadDataEx", "cuModuleUnload", "cuModuleGetFunction"].map(|name| driver.calls(name));
    // SAFETY: the driver runs nothing.
    let image = unsafe { Image::new("parts", Linking::None, &OBJECTS, &[]) };
    let module = device.load(&image).unwrap();
    assert_eq!((module.loaded(), driver.calls("cuModuleLoadDataEx") - loads), ("`parts` (3 cubins for sm_90)", 3));
    driver.fail("cuModuleGetFunction", CUDA_ERROR_NOT_FOUND as i32);
    module.function("k").unwrap();
    assert_eq!(driver.calls("cuModuleGetFunction") - lookups, 2, "it is in the second");
    driver.fail("cuModuleGetFunction", CUDA_ERROR_INVALID_VALUE as i32);
    assert!(module.function("k").is_err(), "another error is one");
    drop(module);
    assert_eq!(driver.calls("cuModuleUnload") - unloads, 3);
    driver.fail("cuModuleLoadDataEx", CUDA_ERROR_INVALID_IMAGE as i32);
    assert!(device.load(&image).is_err());
    assert_eq!(driver.calls("cuModuleUnload") - unloads, 3, "nothing was loaded before");
}
