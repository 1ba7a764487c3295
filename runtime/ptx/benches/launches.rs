//! `cargo bench -p ptx`: nanoseconds that a launch costs beside the driver's own work, with the driver of the tests, which does
//! nothing. `cargo xtask bench launches` measures on a GPU.

use std::ffi::c_void;
use std::time::Instant;

use ptx::cudarc::driver::{DevicePtr, DevicePtrMut, result};
use ptx::prelude::*;

use crate::driver::{device, driver, module_of};

#[expect(dead_code, reason = "the tests use the rest")]
#[path = "../tests/driver/driver.rs"]
mod driver;

/// y = a x + y
#[kernel]
pub fn saxpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y += a * x[i.get()];
    }
}

fn main() {
    const LAUNCHES: u32 = 1_000_000;
    let driver = driver();
    let device = device(&driver);
    let x = device.upload(&[1.0_f32; 32]).unwrap();
    let mut y = device.zeroed::<f32>(32).unwrap();
    let module = module_of(&device, &saxpy(1.0, &x, &mut y));
    let grid = Grid::new(1, 32);
    let stream = device.stream().clone();
    let function = module.function("saxpy").unwrap();
    let (mut factor, length) = (1.0_f32, 32_u64);
    let mut words = [x.device_ptr(&stream).0, length, y.device_ptr_mut(&stream).0, length];
    for _ in 0..3 {
        let mut pointers: Vec<*mut c_void> = vec![(&raw mut factor).cast()];
        pointers.extend(words.iter_mut().map(|word| std::ptr::from_mut(word).cast::<c_void>()));
        let begin = Instant::now();
        for _ in 0..LAUNCHES {
            // SAFETY: a number and two slices, as the kernel takes them.
            unsafe {
                result::launch_kernel(function, (1, 1, 1), (32, 1, 1), 0, stream.cu_stream(), &mut pointers).unwrap();
            }
        }
        let bare = begin.elapsed();
        let begin = Instant::now();
        for _ in 0..LAUNCHES {
            saxpy(1.0, &x, &mut y).launch(&module, grid).unwrap();
        }
        let typed = begin.elapsed();
        let mut prepared = saxpy(1.0, &x, &mut y).prepare(&module, grid).unwrap();
        let begin = Instant::now();
        for _ in 0..LAUNCHES {
            prepared.launch().unwrap();
        }
        let again = begin.elapsed();
        let of = |time: std::time::Duration| time.as_secs_f64() * 1e9 / f64::from(LAUNCHES);
        println!("bare {:.1} ns, typed {:.1} ns, prepared {:.1} ns", of(bare), of(typed), of(again));
    }
}
