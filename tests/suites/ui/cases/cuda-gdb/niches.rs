//! Enums that keep the variant in the data itself: `Option<&T>`, `Option<bool>`, nested options, `NonZero`.
//@ launch: niches<<<1, 32>>>(f32 2, slice f32 32, slice f32 32)
//@ cuda-gdb-command: run
//@ cuda-gdb-check: CUDA thread hit Breakpoint [...], niches::niches (scale=2, input=..., out=...) at [...]/niches.rs:{#break}
//@ cuda-gdb-command: info locals
//@ cuda-gdb-names: inner letter slice deep uncounted counted order unset flag some none i
//@ cuda-gdb-command: print none
//@ cuda-gdb-check: [...] = core::option::Option<&f32> {{variant}: core::option::Option<&f32>::None, [...]}
//@ cuda-gdb-command: print some
//@ cuda-gdb-check: [...] = core::option::Option<&f32> {{variant}: (unknown: 0x[...]), [...], Some: core::option::Option<&f32>::Some (0x[...])}
//@ cuda-gdb-command: print *some.Some.__0
//@ cuda-gdb-check: [...] = 5
//@ cuda-gdb-command: print flag
//@ cuda-gdb-check: [...] = core::option::Option<bool> {{variant}: (unknown: 0x1), [...], Some: core::option::Option<bool>::Some (true)}
//@ cuda-gdb-command: print unset
//@ cuda-gdb-check: [...] = core::option::Option<bool> {{variant}: core::option::Option<bool>::None, [...]}
//@ cuda-gdb-command: print order.Some.__0
//@ cuda-gdb-check: [...] = core::cmp::Less
//@ cuda-gdb-command: print counted
//@ cuda-gdb-check: [...](core::num::niche_types::NonZeroU32Inner (12)))}
//@ cuda-gdb-command: print uncounted
//@ cuda-gdb-check: [...] = core::option::Option<core::num::nonzero::NonZero<u32>> {{variant}: core::option::Option<core::num::nonzero::NonZero<u32>>::None, [...]}
//@ cuda-gdb-command: print deep.Some.__0
//@ cuda-gdb-check: [...] = core::option::Option<bool> {{variant}: core::option::Option<bool>::None, [...]}
//@ cuda-gdb-command: print slice.Some.__0
//@ cuda-gdb-check: [...] = &[f32] [4, 5]
//@ cuda-gdb-command: print slice.Some.__0.length
//@ cuda-gdb-check: [...] = 2
//@ cuda-gdb-command: print letter.Some.__0
//@ cuda-gdb-check: [...] = 113 'q'
//@ cuda-gdb-command: print inner[0].Flag.__0
//@ cuda-gdb-check: [...] = true
//@ cuda-gdb-command: print inner[1]
//@ cuda-gdb-check: [...] = niches::Inner {{variant}: niches::Inner::A, [...]}
#![no_std]
use core::cmp::Ordering;
use core::num::NonZero;
use ptx::prelude::*;

#[derive(Clone, Copy)]
pub enum Inner {
    Flag(bool),
    A,
    B,
}

#[kernel]
pub fn niches(scale: f32, input: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let none: Option<&f32> = None;
    let some: Option<&f32> = input.get(5);
    let flag: Option<bool> = Some(scale > 1.0);
    let unset: Option<bool> = None;
    let order: Option<Ordering> = scale.partial_cmp(&3.0);
    let counted = NonZero::new(12_u32);
    let uncounted = NonZero::new(0_u32);
    let deep: Option<Option<bool>> = Some(None);
    let slice = input.get(4..6);
    let letter: Option<char> = Some('q');
    let inner = [Inner::Flag(true), Inner::A, Inner::B];
    let count = inner.len() as f32; // #break
    if let Some(out) = out.get_mut(i) {
        let options = none.is_some() as u8 + some.is_some() as u8 + flag.is_some() as u8 + unset.is_some() as u8;
        let more = order.is_some() as u8 + counted.is_some() as u8 + uncounted.is_some() as u8 + deep.is_some() as u8;
        *out = count + options as f32 + more as f32 + slice.is_some() as u8 as f32 + letter.is_some() as u8 as f32;
    }
}
