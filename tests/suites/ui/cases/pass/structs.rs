//! Structs by value are byte arrays of their size at their alignment, 1 to 128.
#![no_std]
use ptx::prelude::*;

macro_rules! aligned {
    ($($kernel:ident, $ty:ident, $align:literal;)*) => {$(
        #[derive(Clone, Copy, ptx::AbiType)]
        #[repr(C, align($align))]
        pub struct $ty {
            pub bytes: [u8; $align],
        }

        #[kernel]
        pub fn $kernel(value: $ty, mut out: DisjointSlice<u8>) {
            let i = thread::index_1d();
            if let Some(out) = out.get_mut(i) {
                *out = value.bytes[i.get() % $align];
            }
        }
    )*};
}

aligned! {
    k001, Align1, 1;
    k002, Align2, 2;
    k004, Align4, 4;
    k008, Align8, 8;
    k016, Align16, 16;
    k032, Align32, 32;
    k064, Align64, 64;
    k128, Align128, 128;
}

// CHECK-LABEL: .visible .entry k001(
// CHECK: .param .align 1 .b8 k001_param_0[1],
// CHECK-LABEL: .visible .entry k002(
// CHECK: .param .align 2 .b8 k002_param_0[2],
// CHECK-LABEL: .visible .entry k004(
// CHECK: .param .align 4 .b8 k004_param_0[4],
// CHECK-LABEL: .visible .entry k008(
// CHECK: .param .align 8 .b8 k008_param_0[8],
// CHECK-LABEL: .visible .entry k016(
// CHECK: .param .align 16 .b8 k016_param_0[16],
// CHECK-LABEL: .visible .entry k032(
// CHECK: .param .align 32 .b8 k032_param_0[32],
// CHECK-LABEL: .visible .entry k064(
// CHECK: .param .align 64 .b8 k064_param_0[64],
// CHECK-LABEL: .visible .entry k128(
// CHECK: .param .align 128 .b8 k128_param_0[128],
