//! Tiles of several warps that no block can be parted into, and values that are too large for them.
//@ error-in-other-file: each tile needs one of the 15 barriers
//@ error-in-other-file: a tile of several warps has 64, 128, 256 or 512
//@ error-in-other-file: is parted into tiles, without a rest
#![no_std]
use ptx::cooperative::BlockTile;
use ptx::prelude::*;

#[kernel]
pub fn too_many(#[shared] tile: BlockTile<64, 1024>) {
    _ = tile.count();
}

#[kernel]
pub fn too_small(#[shared] tile: BlockTile<32, 128>) {
    _ = tile.count();
}

#[kernel]
pub fn with_a_rest(#[shared] tile: BlockTile<128, 320>) {
    _ = tile.count();
}
