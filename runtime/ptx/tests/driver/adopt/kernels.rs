//! The kernels of the program, and their device code.

use std::sync::LazyLock;

use ptx::Image;

use crate::driver::image_of;
pub use crate::launches::saxpy;

/// `ptx::image!()` of a program with a build script.
pub static IMAGE: LazyLock<Image> = LazyLock::new(|| {
    let device = ptx::Device::first().expect("the driver is the tests'");
    let (x, mut y) = (device.zeroed::<f32>(1).expect("there is memory"), device.zeroed(1).expect("there is memory"));
    image_of(&saxpy(1.0, &x, &mut y))
});
