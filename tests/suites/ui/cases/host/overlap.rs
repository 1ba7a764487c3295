//! Ranges of one buffer that overlap cannot go to two streams: the borrow checker sees them.
use ptx::prelude::*;
use ptx::CudaStream;

#[kernel]
pub fn fill(value: u32, mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = value;
    }
}

pub fn host(module: &Module, streams: [&CudaStream; 2], mut memory: CudaSlice<u32>) -> ptx::Result<()> {
    let grid = Grid::new(1, 64);
    let mut low = memory.slice_mut(0..64);
    let mut high = memory.slice_mut(32..96); //~ ERROR: cannot borrow `memory` as mutable more than once at a time
    fill(1, &mut low).launch_on(module, streams[0], grid)?;
    fill(2, &mut high).launch_on(module, streams[1], grid)?;
    Ok(())
}
