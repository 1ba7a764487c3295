//! Numbers of every width, `bool`, `char`, floats and raw pointers.
//@ launch: scalars<<<1, 32>>>(i64 -5, f64 0.25, char x, buffer u32 32)
//@ cuda-gdb-command: run
//@ cuda-gdb-check: CUDA thread hit Breakpoint [...], scalars::scalars (wide=-5, double=0.25, letter=120 'x', out=0x[...]) at [...]/scalars.rs:{#break}
//@ cuda-gdb-command: info args
//@ cuda-gdb-check: wide = -5
//@ cuda-gdb-check: double = 0.25
//@ cuda-gdb-check: letter = 120 'x'
//@ cuda-gdb-check: out = 0x[...]
//@ cuda-gdb-names: wide double letter out
//@ cuda-gdb-command: info locals
//@ cuda-gdb-names: pointer constant single umlaut flag negative huge size uint ushort short byte tiny i
//@ cuda-gdb-unordered: tiny = -7
//@ cuda-gdb-unordered: byte = 200
//@ cuda-gdb-unordered: short = -30000
//@ cuda-gdb-unordered: ushort = 60000
//@ cuda-gdb-unordered: uint = 4000000000
//@ cuda-gdb-unordered: size = 18446744073709551615
//@ cuda-gdb-unordered: huge = 1267650600228229401496703205376
//@ cuda-gdb-unordered: negative = -1237940039285380274899124224
//@ cuda-gdb-unordered: flag = true
//@ cuda-gdb-unordered: single = 1.5
//@ cuda-gdb-command: print tiny
//@ cuda-gdb-check: [...] = -7
//@ cuda-gdb-command: print byte
//@ cuda-gdb-check: [...] = 200
//@ cuda-gdb-command: print short
//@ cuda-gdb-check: [...] = -30000
//@ cuda-gdb-command: print ushort
//@ cuda-gdb-check: [...] = 60000
//@ cuda-gdb-command: print uint
//@ cuda-gdb-check: [...] = 4000000000
//@ cuda-gdb-command: print size
//@ cuda-gdb-check: [...] = 18446744073709551615
//@ cuda-gdb-command: print huge
//@ cuda-gdb-check: [...] = 1267650600228229401496703205376
//@ cuda-gdb-command: print/x huge
//@ cuda-gdb-check: [...] = 0x10000000000000000000000000
//@ cuda-gdb-command: print negative
//@ cuda-gdb-check: [...] = -1237940039285380274899124224
//@ cuda-gdb-command: print flag
//@ cuda-gdb-check: [...] = true
//@ cuda-gdb-command: print letter
//@ cuda-gdb-check: [...] = 120 'x'
//@ cuda-gdb-command: print umlaut
//@ cuda-gdb-check: [...] = 228 '[...]'
//@ cuda-gdb-command: print single
//@ cuda-gdb-check: [...] = 1.5
//@ cuda-gdb-command: print double
//@ cuda-gdb-check: [...] = 0.25
//@ cuda-gdb-command: print *pointer
//@ cuda-gdb-check: [...] = 0
//@ cuda-gdb-command: print *constant
//@ cuda-gdb-check: [...] = 4000000000
//@ cuda-gdb-command: print wide + 1
//@ cuda-gdb-check: [...] = -4
//@ cuda-gdb-command: print uint == 4000000000
//@ cuda-gdb-check: [...] = true
//@ cuda-gdb-command: whatis huge
//@ cuda-gdb-check: type = u128
//@ cuda-gdb-command: whatis constant
//@ cuda-gdb-check: type = *mut u32
//@ cuda-gdb-command: set var uint = 7
//@ cuda-gdb-command: print *constant
//@ cuda-gdb-check: [...] = 7
#![no_std]
use ptx::prelude::*;

/// # Safety
/// `out` must have an element for every thread.
#[kernel]
pub unsafe fn scalars(wide: i64, double: f64, letter: char, out: *mut u32) {
    let i = thread::thread_idx_x() as usize;
    let tiny = -7_i8;
    let byte = 200_u8;
    let short = -30000_i16;
    let ushort = 60000_u16;
    let uint = 4_000_000_000_u32;
    let size = usize::MAX;
    let huge = 1_u128 << 100;
    let negative = -(1_i128 << 90);
    let flag = double < 1.0;
    let umlaut = 'ä';
    let single = 1.5_f32;
    let constant: *const u32 = &uint;
    // SAFETY: the caller's promise.
    let pointer = unsafe { out.add(i) };
    let sum = tiny as i64 + byte as i64 + short as i64 + ushort as i64 + size as i64 + wide + double as i64; // #break
    let more = huge as i64 + negative as i64 + flag as i64 + letter as i64 + umlaut as i64 + single as i64;
    // SAFETY: the caller's promise.
    unsafe { *pointer = (sum + more) as u32 + *constant };
}
