//! Pointers that know their space, read from memory, where the compiler does not see what they point to.

use ptx::Shared;
use ptx::memory::{ConstantPtr, GlobalPtr, LocalPtr, SharedPtr, SpacePtr, space::Space};
use ptx::prelude::*;

use crate::WEIGHTS;

#[ptx::shared]
static WORDS: Shared<[u32; 64]>;

/// Reads and writes a word of each space, by pointers and by addresses within the spaces. `sums` gets two sums and a
/// mask: four bits for each pointer say which spaces it is found in.
///
/// # Safety
/// Blocks have 64 threads, and all three an element for each thread of the grid.
#[kernel(launch_bounds(64))]
pub unsafe fn known_spaces(values: *mut u32, pointers: *mut [u64; 4], sums: *mut [u32; 3]) {
    let (i, t) = (thread::index_1d().get(), thread::thread_idx_x() as usize);
    // SAFETY: each thread uses its own elements, and a constant.
    unsafe {
        let mut own = [0, 5 * i as u32];
        let shared = WORDS.as_ptr().cast::<u32>().add(t);
        shared.write(3 * i as u32);
        let constant = (&raw const WEIGHTS[t % 16]).cast_mut().cast();
        let pointers = pointers.cast::<[*mut u32; 4]>().add(i);
        pointers.write_volatile([values.add(i), shared, &raw mut own[1], constant]);
        let all = pointers.read_volatile();
        let mask = all.iter().rev().fold(0, |mask, at| mask << 4 | found(*at));
        let [global, shared, local, constant] = all;
        let global = GlobalPtr::assume(global);
        let shared = SharedPtr::assume(shared);
        let local = LocalPtr::assume(local);
        let constant = ConstantPtr::assume(constant);
        let first = sum([global.read(), shared.read(), local.read(), constant.read()]);
        global.write(global.read() ^ 1);
        shared.write(shared.read() ^ 2);
        local.write(local.read() ^ 4);
        let second = sum([again(global), again(shared), again(local), again(constant)]);
        sums.add(i).write([first, second, mask]);
    }
}

fn found(at: *mut u32) -> u32 {
    let (global, shared) = (GlobalPtr::new(at).is_some(), SharedPtr::new(at).is_some());
    let (local, constant) = (LocalPtr::new(at).is_some(), ConstantPtr::new(at).is_some());
    u32::from(global) | u32::from(shared) << 1 | u32::from(local) << 2 | u32::from(constant) << 3
}

fn sum(words: [u32; 4]) -> u32 {
    words.iter().fold(0, |sum, word| sum.wrapping_mul(31).wrapping_add(*word))
}

/// Reads it by its address within the space.
///
/// # Safety
/// It points to a word.
unsafe fn again<S: Space>(at: SpacePtr<u32, S>) -> u32 {
    // SAFETY: the same place.
    unsafe { SpacePtr::<u32, S>::from_address(at.to_address()).read() }
}
