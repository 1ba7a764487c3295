//! Memory of zeros for a struct: where zeros are a value of every field, and nowhere else.
//@normalize-stderr-test: "and \d+ others" -> "and N others"
use ptx::prelude::*;

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(C)]
pub struct Pixel {
    pub colour: [u8; 3],
    pub depth: f32,
}

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(C)]
pub struct Pair<T> {
    pub pixel: Pixel,
    pub value: T,
}

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(u32)]
pub enum Level {
    Low = 1,
    High = 2,
}

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(C)]
pub struct Sample {
    pub level: Level,
}

pub fn host(device: &Device) {
    let _ = device.zeroed::<Pixel>(8);
    let _ = device.zeroed::<Pair<u64>>(8);
    let _ = device.zeroed::<Sample>(8); //~ ERROR: ValidAsZeroBits
}
