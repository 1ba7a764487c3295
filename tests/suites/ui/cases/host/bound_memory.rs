//! Memory of the host that a copy writes while it is read, a part that is used after it was given back, and two launches that write
//! one part at the same time.
use ptx::prelude::*;
use ptx::{StreamHostMemory, StreamMemory};

pub fn read(x: &StreamMemory<u32>, host: &mut StreamHostMemory<u32>) -> ptx::Result<u32> {
    let before = host.as_slice()?;
    x.download(host)?; //~ ERROR: cannot borrow `*host` as mutable because it is also borrowed as immutable
    Ok(before[0])
}

pub fn given_back(x: StreamMemory<u32>, host: &mut StreamHostMemory<u32>) -> ptx::Result<()> {
    let slice = x.into_slice();
    x.download(host)?; //~ ERROR: borrow of moved value: `x`
    drop(slice);
    Ok(())
}

pub fn twice(x: &mut StreamMemory<u32>) {
    let first = fill(1, x);
    let second = fill(2, x); //~ ERROR: cannot borrow `*x` as mutable more than once at a time
    let _ = (first, second);
}

#[kernel]
pub fn fill(value: u32, mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = value;
    }
}
