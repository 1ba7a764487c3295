//! A kernel cannot read what it writes, nor the host what a prepared launch will write.
use ptx::prelude::*;

#[kernel]
pub fn copy(from: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = from[i.get()];
    }
}

pub fn host(device: &Device, module: &Module, a: CudaSlice<u32>, mut b: CudaSlice<u32>) -> ptx::Result<()> {
    let grid = Grid::new(1, 64);
    copy(&b, &mut b).launch(module, grid)?;
    //~^ ERROR: cannot borrow `b` as mutable because it is also borrowed as immutable
    let mut prepared = copy(&a, &mut b).prepare(module, grid)?;
    device.download(&b)?;
    //~^ ERROR: cannot borrow `b` as immutable because it is also borrowed as mutable
    drop(a);
    //~^ ERROR: cannot move out of `a` because it is borrowed
    prepared.launch()
}
