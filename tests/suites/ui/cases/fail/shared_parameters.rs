//! What `#[shared]` before a parameter must be.
#![no_std]
use ptx::prelude::*;
use ptx::shared::SharedTile;

#[kernel]
pub fn two_dynamic(
    #[shared(dynamic)] a: SharedTile<[u32]>,
    #[shared(dynamic)] b: SharedTile<[u32]>, //~ ERROR: a block has one dynamic shared memory
) {
    let _ = (a, b);
}

#[kernel]
pub fn misspelt(
    #[shared(static)] a: SharedTile<[u32; 4]>, //~ ERROR: it is `#[shared]`, or `#[shared(dynamic)]`
    #[shared] #[shared] b: SharedTile<[u32; 4]>, //~ ERROR: a parameter has one of `#[shared]` and `#[children]`
    #[cfg(debug)] c: u32, //~ ERROR: cannot have attributes but `#[shared]` and `#[children]`
) {
    let _ = (a, b, c);
}

#[device(export)]
pub fn exported(#[shared] a: SharedTile<[u32; 4]>) { //~ ERROR: parameters cannot have attributes
    let _ = a;
}
