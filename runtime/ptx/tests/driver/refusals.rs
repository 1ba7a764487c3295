//! What is refused before the driver sees it, or because of what it says: each is brought about, and its message read.

use ptx::prelude::*;
use ptx::{DisjointStrided, Error, Image, KernelRecord, Linking, Object, Pitch, Plane, Strided};

use crate::driver::{device, driver, image_of, module_of};
use crate::launches::{all, saxpy};

#[kernel(dimensions = 1)]
pub fn flat(mut y: DisjointSlice<f32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = 1.0;
    }
}

#[kernel(cluster(2, 1, 1))]
pub fn in_pairs(mut y: DisjointSlice<f32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = 1.0;
    }
}

#[kernel(launch_bounds(256, 1, 4))]
pub fn bounded(mut y: DisjointSlice<f32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = 1.0;
    }
}

#[kernel]
pub fn strided(mut y: DisjointStrided<f32, 2>) {
    if let Some([a, b]) = y.get_mut(thread::index_1d()) {
        (*a, *b) = (1.0, 2.0);
    }
}

/// The message; the error is of this kind.
fn says<T>(result: ptx::Result<T>, is_kind: impl Fn(&Error) -> bool, parts: &[&str]) {
    let error = result.map(drop).unwrap_err();
    assert!(is_kind(&error), "{error}");
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

#[test]
fn devices_that_are_not_there() {
    let driver = driver();
    drop(device(&driver));
    says(
        Device::open(9),
        |error| matches!(error, Error::UnknownDevice { .. }),
        &["there is no CUDA device 9: this machine has 2, numbered from 0"],
    );
    driver.fail("cuInit", 100);
    let parts =
        ["the NVIDIA driver is installed but sees no CUDA device (CUDA_ERROR_NO_DEVICE", "CUDA_VISIBLE_DEVICES"];
    says(Device::first(), |error| matches!(error, Error::NoDevice { .. }), &parts);
}

#[test]
fn device_code_that_does_not_fit() {
    static OBJECTS: [Object; 1] = [Object { arch: "sm_100a", ptx: "", ptx_path: "", cubin: Some(&[0]) }];
    let driver = driver();
    let device = device(&driver);
    let x = device.upload(&[1.0_f32; 32]).unwrap();
    let mut y = device.zeroed::<f32>(32).unwrap();
    // SAFETY: the driver runs nothing.
    let image = |linking, kernels: Vec<KernelRecord>| unsafe { Image::new("i", linking, &OBJECTS, kernels.leak()) };
    let newer = device.load(&image(Linking::None, Vec::new()));
    let parts = ["`i` has nothing for Fake GPU (sm_90)", "it was compiled for sm_100a", ".arch(\"sm_90\")"];
    says(newer, |error| matches!(error, Error::NoObject { .. }), &parts);
    let unlinked = device.load(&image(Linking::AtLoad, Vec::new()));
    says(unlinked, |error| matches!(error, Error::NotLinked { .. }), &["`device.linker().image(&image)"]);

    let module = module_of(&device, &flat(&mut y));
    let unknown = saxpy(1.0, &x, &mut y).launch(&module, Grid::new(1, 32));
    let parts = ["the device code `test` has no kernel `saxpy` (it has `flat`)", "is it `image!"];
    says(unknown, |error| matches!(error, Error::UnknownKernel { .. }), &parts);

    // A kernel of the same name, and with other parameters.
    let known = image_of(&flat(&mut y));
    let record = known.kernels()[0];
    let image = {
        static OBJECTS: [Object; 1] = [Object { arch: "sm_90", ptx: "", ptx_path: "", cubin: Some(&[0]) }];
        let kernels = vec![KernelRecord { name: "saxpy", signature: "saxpy(a: f64)", ..record }].leak();
        // SAFETY: the driver runs nothing.
        unsafe { Image::new("i", Linking::None, &OBJECTS, kernels) }
    };
    let other = saxpy(1.0, &x, &mut y).launch(&device.load(&image).unwrap(), Grid::new(1, 32));
    let parts = ["kernel `saxpy` was compiled with other parameters", "device: saxpy(a: f64)", "host:   saxpy(a: f32"];
    says(other, |error| matches!(error, Error::Signature { .. }), &parts);
}

#[test]
fn grids_that_do_not_fit() {
    let driver = driver();
    let device = device(&driver);
    let mut y = device.zeroed::<f32>(32).unwrap();
    let is_grid = |error: &Error| matches!(error, Error::Grid { .. });
    let module = module_of(&device, &flat(&mut y));
    // The first launch looks the kernel up, the second knows it: both say the same.
    for _ in 0..2 {
        for (grid, part) in [
            (
                Grid::new(0, 32),
                "kernel `flat` cannot be launched as 0x1x1 blocks of 32x1x1 threads: an extent of the grid is 0",
            ),
            (Grid::new(1, 2048), "the block's x extent is 2048, and this device allows 1024"),
            (Grid::new((1, 2), 32), "at most 1 dimension(s)"),
            (Grid::new(1 << 22, 1024), "4294967296 threads in the first dimension"),
            (Grid::new(1, 32).shared_bytes(1 << 20), "1048576 bytes of dynamic shared memory"),
        ] {
            says(flat(&mut y).launch(&module, grid), is_grid, &[part]);
        }
        flat(&mut y).launch(&module, Grid::new(1, 32)).unwrap();
    }
    says(flat(&mut y).priority(1).launch(&module, Grid::new(1, 32)), is_grid, &["the priority 1 is none"]);
    says(
        flat(&mut y).cluster(2).launch(&module, Grid::new(5, 32)),
        is_grid,
        &["the grid's x extent of 5 blocks is no multiple of the cluster's 2"],
    );
    driver.fail("cuLaunchKernelEx", 912);
    says(
        flat(&mut y).cluster(16).launch(&module, Grid::new(32, 32)),
        is_grid,
        &["clusters of 16 blocks are over the limit of 8 that this device has"],
    );
    driver.fail("cuLaunchKernelEx", 720);
    says(
        flat(&mut y).cooperative().launch(&module, Grid::new(100_000, 1024)),
        is_grid,
        &["a cooperative launch of 100000 blocks is over the 264 that this device runs"],
    );
    let module = module_of(&device, &in_pairs(&mut y));
    says(
        in_pairs(&mut y).cluster(4).launch(&module, Grid::new(4, 32)),
        is_grid,
        &["the launch asks for clusters of 4x1x1, and this kernel's are of 2x1x1"],
    );
    let module = module_of(&device, &bounded(&mut y));
    says(
        bounded(&mut y).launch(&module, Grid::new((1, 70_000), 32)),
        is_grid,
        &["the grid's y extent is 70000, and this device allows 65535"],
    );
    says(
        bounded(&mut y).launch(&module, Grid::new(1, (64, 32))),
        is_grid,
        &["a block of 2048 threads is over this device's limit of 1024"],
    );
    says(
        bounded(&mut y).cluster(8).launch(&module, Grid::new(8, 32)),
        is_grid,
        &["clusters of 8 blocks are over the 4 of this kernel's `launch_bounds`"],
    );
}

#[test]
fn arguments_that_do_not_fit() {
    let driver = driver();
    let (device, other) = (device(&driver), Device::open(1).unwrap());
    let x = device.upload(&[1.0_f32; 32]).unwrap();
    let (first, far) = (device.zeroed::<u32>(1).unwrap(), other.zeroed::<f32>(32).unwrap());
    let mut y = device.zeroed::<f32>(32).unwrap();
    let grid = Grid::new(1, 32);
    let module = module_of(&device, &all(1, &first, &x, Plane::new(&mut y, 8, 4), 2.0));
    let none = first.slice(..0);
    says(
        all(1, &none, &x, Plane::new(&mut y, 8, 4), 2.0).launch(&module, grid),
        |error| matches!(error, Error::NoElement { .. }),
        &["parameter `first` of kernel `all` is a reference, and was given memory without elements"],
    );
    says(
        all(1, &first, &x, Plane::new(&mut y, 8, 5), 2.0).launch(&module, grid),
        |error| matches!(error, Error::Shape { .. }),
        &["parameter `plane` of kernel `all`: a shape of 8 by 5 has 40 elements, and the memory has 32"],
    );
    says(
        all(1, &first, &far, Plane::new(&mut y, 8, 4), 2.0).launch(&module, grid),
        |error| matches!(error, Error::OtherDevice { .. }),
        &["the memory for parameter `x` of kernel `all` belongs to a context of device 1, and this is one of device 0"],
    );
    says(
        device.download(&far),
        |error| matches!(error, Error::OtherDevice { .. }),
        &["the memory to download belongs to a context of device 1"],
    );
    says(
        all(1, &first, &x, Plane::new(&mut y, 8, 4), 2.0)
            .prepare(&module, grid)
            .and_then(|mut prepared| prepared.launch_on(other.stream())),
        |error| matches!(error, Error::OtherDevice { .. }),
        &["the stream belongs to a context of device 1"],
    );
    let module = module_of(&device, &strided(Strided::new(&mut y, 4)));
    says(
        strided(Strided::new(&mut y, 3)).launch(&module, grid),
        |error| matches!(error, Error::Shape { .. }),
        &["parameter `y` of kernel `strided`: a stride is a power of two, and 3 is none"],
    );
    let mut few = [0.0; 3];
    says(
        device.download_box((&x, Pitch::rows(8)), (&mut few, Pitch::rows(2)), (2, 2)),
        |error| matches!(error, Error::Box { side: "to", .. }),
        &["the box to copy to does not lie in its memory: the last element is number 4, and the memory has 3"],
    );
}
