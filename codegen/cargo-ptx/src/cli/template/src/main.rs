//! Launches the kernel and checks its result.

use ptx::prelude::*;

use {crate}::saxpy;

const LEN: usize = 1 << 20;

fn main() -> ptx::Result<()> {
    let image = ptx::image!();
    for object in image.objects() {
        println!("compiled for {}: {}", object.arch, object.ptx_path);
    }
    let device = match Device::first() {
        Ok(device) => device,
        Err(error @ (ptx::Error::NoDriver { .. } | ptx::Error::NoDevice { .. })) => {
            println!("not launched: {error}");
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let module = device.load(&image)?;

    let x = device.upload(&vec![1.0_f32; LEN])?;
    let mut y = device.upload(&vec![2.0_f32; LEN])?;
    saxpy(3.0, &x, &mut y).launch(&module, Grid::cover(LEN, 256))?;

    let result = device.download(&y)?;
    let is_right = result.iter().all(|&y| y == 5.0);
    assert!(is_right, "the GPU's result is wrong");
    let (gpu, first) = (device.name(), result[0]);
    println!("{LEN} elements on {gpu}: all are 3 * 1 + 2 = {first}");
    Ok(())
}
