//! Results and options through `?`, without a panic.
//@ revisions: o0 o3
//@[o0] debug: full
//@ run
//@ expect: 35 1040 63 2000 2000 2000
#![no_std]
use ptx::prelude::*;

#[derive(Debug, PartialEq)]
enum Error {
    Range(u32),
    Missing,
}

fn checked(x: u32) -> Result<u32, Error> {
    if x > 30 { Err(Error::Range(x)) } else { Ok(x * 2) }
}

fn all(i: u32) -> Result<u32, Error> {
    let table = [5, 40, 9];
    let first = table.get(i as usize).copied().ok_or(Error::Missing)?;
    let second = checked(first)?;
    Ok(first + second + checked(second)?)
}

fn value(i: u32) -> u32 {
    match all(i) {
        Ok(sum) => sum,
        Err(Error::Range(x)) => 1000 + x,
        Err(Error::Missing) => 2000,
    }
}

#[kernel]
pub fn case(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = value(i.get() as u32);
    }
}
