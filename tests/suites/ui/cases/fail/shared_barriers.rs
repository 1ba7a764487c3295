//! A block has 15 barriers beside that of `sync_threads`.
#![no_std]
use ptx::prelude::*;
use ptx::shared::SharedTile;

type One = SharedTile<'static, [u32; 1]>;

#[kernel]
#[expect(clippy::too_many_arguments, reason = "this is what is tested")]
pub fn sixteen(
    #[shared] _a: One,
    #[shared] _b: One,
    #[shared] _c: One,
    #[shared] _d: One,
    #[shared] _e: One,
    #[shared] _f: One,
    #[shared] _g: One,
    #[shared] _h: One,
    #[shared] _i: One,
    #[shared] _j: One,
    #[shared] _k: One,
    #[shared] _l: One,
    #[shared] _m: One,
    #[shared] _n: One,
    #[shared] _o: One,
    #[shared] _p: One, //~ ERROR: a block has 15 barriers for its `#[shared]` parameters
) {
}
