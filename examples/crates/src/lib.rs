//! The kernels. What they call is compiled for the GPU from crates.io as it is.
#![cfg_attr(target_arch = "nvptx64", no_std)]

use glam::Mat4;
use ptx::prelude::*;
use sha2::{Digest, Sha256};

/// Where a message lies in the bytes of all messages.
#[derive(Clone, Copy, Debug, AbiType)]
#[repr(C)]
pub struct Message {
    /// Its first byte.
    pub start: usize,
    /// Past its last byte.
    pub end: usize,
}

/// SHA-256 of every message, one a thread.
#[kernel]
pub fn sha256(bytes: &[u8], messages: &[Message], mut digests: DisjointSlice<[u8; 32]>) {
    let i = thread::index_1d();
    if let Some(digest) = digests.get_mut(i) {
        let Message { start, end } = messages[i.get()];
        *digest = Sha256::digest(&bytes[start..end]).into();
    }
}

/// The inverse of every 4x4 matrix, one a thread; columns one after the other.
#[kernel]
pub fn invert(matrices: &[[f32; 16]], mut inverses: DisjointSlice<[f32; 16]>) {
    let i = thread::index_1d();
    if let Some(inverse) = inverses.get_mut(i) {
        *inverse = Mat4::from_cols_array(&matrices[i.get()]).inverse().to_cols_array();
    }
}
