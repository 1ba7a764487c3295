//! Launches the kernel and checks its result.

use {crate}::saxpy;
use ptx::prelude::*;

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
    assert!(result.iter().all(|&y| y == 5.0), "the GPU's result is wrong");
    println!("{LEN} elements on {}: all are 3 * 1 + 2 = {}", device.name(), result[0]);
    Ok(())
}
