//! The kernels. This library is compiled twice: for the GPU, and for the program that launches them.

#![cfg_attr(target_arch = "nvptx64", no_std)]

use ptx::prelude::*;

/// `y = a * x + y`, one element a thread.
#[kernel]
pub fn saxpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y += a * x[i.get()];
    }
}

// `cargo test` runs the kernel on the CPU.
#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;
    use ptx::CpuMemory;

    #[test]
    fn saxpy_adds() {
        let x = CpuMemory::from([1.0, 2.0, 3.0]);
        let mut y = CpuMemory::from([10.0, 20.0, 30.0]);
        let launch = saxpy(2.0, &x, &mut y);
        launch.launch_on_cpu(Grid::cover(3, 256)).unwrap();
        assert_eq!(y[..], [12.0, 24.0, 36.0]);
    }
}
