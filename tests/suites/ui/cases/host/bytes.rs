//! bytemuck's traits: `Zeroable` and `Pod` where all fields have them, `Pod` only without padding; enums without fields have
//! those of integers of which not all are values.
use ptx::__private::bytemuck::{self, CheckedBitPattern, NoUninit, Pod, Zeroable};
use ptx::vec::Float4;

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(C)]
pub struct Pixel {
    pub place: Float4,
    pub colour: [u8; 4],
    pub depth: f32,
    pub half: ptx::f16,
    pub padding: [u16; 3],
}

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(transparent)]
pub struct Metres<T>(pub T);

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(C)]
pub struct Pair<T> {
    pub first: T,
    pub second: T,
}

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(C)]
pub struct Padded {
    pub number: u32,
    pub byte: u8,
}

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(C)]
pub struct Pointer {
    pub to: *const f32,
}

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(C)]
pub union Either {
    pub number: u32,
    pub byte: u8,
}

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(u8)]
pub enum Level {
    Low = 1,
    High = 2,
}

fn pod<T: Pod>() {}
fn zeroable<T: Zeroable>() {}
fn no_uninit<T: NoUninit + CheckedBitPattern>() {}

pub fn host(pixels: &[Pixel], levels: &[Level]) -> usize {
    pod::<Pixel>();
    pod::<Metres<f64>>();
    zeroable::<Pair<u64>>();
    zeroable::<Padded>();
    zeroable::<Pointer>();
    zeroable::<Either>();
    no_uninit::<Level>();
    pod::<Padded>(); //~ ERROR: a struct with padding cannot be `bytemuck::Pod`
    zeroable::<Level>(); //~ ERROR: Zeroable
    bytemuck::cast_slice::<Pixel, u8>(pixels).len() + bytemuck::cast_slice::<Level, u8>(levels).len()
}
