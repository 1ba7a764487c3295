//! Bytes that a thread stores one behind the other go four at a time, where the address allows it.
//@ arch: sm_90
#![no_std]
use ptx::atomic::{AtomicSlice, Device, Ordering};
use ptx::prelude::*;

// Others may look at what an atomic operation tells of.
// CHECK-LABEL: .visible .entry counted(
// CHECK-NOT: st.global.b32
// CHECK: ret;
#[kernel]
pub fn counted(codes: &[u32], table: &[u16], done: AtomicSlice<u32, Device>, mut symbols: DisjointSlice<[u8; 32]>) {
    let i = thread::index_1d();
    if let Some(symbols) = symbols.get_mut(i) {
        let mut position = i.get();
        for symbol in symbols {
            let entry = table[codes[position] as usize];
            *symbol = entry as u8;
            position += usize::from(entry >> 8);
            done[0].fetch_add(1, Ordering::Release);
        }
    }
}

// What each round loads is checked, so that LLVM joins nothing: before a panic the bytes so far are stored.
// CHECK-LABEL: .visible .entry decode(
// CHECK: st.global.b32
#[kernel]
pub fn decode(codes: &[u32], table: &[u16], mut symbols: DisjointSlice<[u8; 32]>) {
    let i = thread::index_1d();
    if let Some(symbols) = symbols.get_mut(i) {
        let mut position = i.get();
        for symbol in symbols {
            let entry = table[codes[position] as usize];
            *symbol = entry as u8;
            position += usize::from(entry >> 8);
        }
    }
}
