//! Slices, `&str`, references to arrays and to slices of structures; elements by index, also in `#[kernel]` arguments.
//@ launch: views<<<1, 32>>>(slice f32 32, slice f32 32)
//@ cuda-gdb-command: run
//@ cuda-gdb-check: CUDA thread hit Breakpoint [...], views::views (input=..., out=...) at [...]/views.rs:{#break}
//@ cuda-gdb-command: info args
//@ cuda-gdb-check: input = &[f32] [0, 1, 2, 3, [...], 30, 31]
//@ cuda-gdb-check: out = ptx_device::disjoint::DisjointSlice<f32> {ptr: 0x[...], len: 32, [...]}
//@ cuda-gdb-names: input out
//@ cuda-gdb-command: info locals
//@ cuda-gdb-names: none points all bytes window text middle tail i
//@ cuda-gdb-unordered: none = &[u8] []
//@ cuda-gdb-unordered: tail = &[f32] [30, 31]
//@ cuda-gdb-command: print input.length
//@ cuda-gdb-check: [...] = 32
//@ cuda-gdb-command: print input[3]
//@ cuda-gdb-check: [...] = 3
//@ cuda-gdb-command: print *input.data_ptr
//@ cuda-gdb-check: [...] = 0
//@ cuda-gdb-command: print *input.data_ptr@4
//@ cuda-gdb-check: [...] = [0, 1, 2, 3]
//@ cuda-gdb-command: print tail.length
//@ cuda-gdb-check: [...] = 2
//@ cuda-gdb-command: print tail[0]
//@ cuda-gdb-check: [...] = 30
//@ cuda-gdb-command: print middle
//@ cuda-gdb-check: [...] = &[f32] [2, 3, 4]
//@ cuda-gdb-command: print text.length
//@ cuda-gdb-check: [...] = 5
//@ cuda-gdb-command: print text[1]
//@ cuda-gdb-check: [...] = 101
//@ cuda-gdb-command: print *text.data_ptr@text.length
//@ cuda-gdb-check: [...] = [104, 101, 108, 108, 111]
//@ cuda-gdb-command: print *window
//@ cuda-gdb-check: [...] = [7, 8, 9]
//@ cuda-gdb-command: print (*window)[2]
//@ cuda-gdb-check: [...] = 9
//@ cuda-gdb-command: print (*bytes)[1]
//@ cuda-gdb-check: [...] = 98
//@ cuda-gdb-command: print points[1].y
//@ cuda-gdb-check: [...] = 4.5
//@ cuda-gdb-command: print points
//@ cuda-gdb-check: [...] = &[views::Point] [views::Point {x: 1, y: 2}, views::Point {x: 3, y: 4.5}]
//@ cuda-gdb-command: print out.len
//@ cuda-gdb-check: [...] = 32
//@ cuda-gdb-command: print *out.ptr
//@ cuda-gdb-check: [...] = 0
//@ cuda-gdb-command: whatis input
//@ cuda-gdb-check: type = &[f32]
//@ cuda-gdb-command: whatis text
//@ cuda-gdb-check: type = &str
//@ cuda-gdb-command: ptype input
//@ cuda-gdb-check: type = struct &[f32] {
//@ cuda-gdb-check: data_ptr: *mut f32,
//@ cuda-gdb-check: length: usize,
//@ cuda-gdb-check: }
//@ cuda-gdb-command: set language c
//@ cuda-gdb-command: print *text.data_ptr@5
//@ cuda-gdb-check: [...] = "hello"
#![no_std]
use ptx::prelude::*;

#[derive(Clone, Copy)]
pub struct Point {
    x: f32,
    y: f32,
}

#[kernel]
pub fn views(input: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let tail = &input[30..];
    let middle = &input[2..5];
    let text = "hello";
    let window: &[f32; 3] = &[7.0, 8.0, 9.0];
    let bytes = b"ab";
    let all = [Point { x: 1.0, y: 2.0 }, Point { x: 3.0, y: 4.5 }];
    let points = &all[..];
    let none: &[u8] = &[];
    let sum = tail[0] + middle[0] + window[0] + bytes[0] as f32 + points[0].x + points[1].y; // #break
    if let Some(out) = out.get_mut(i) {
        *out = sum + text.len() as f32 + none.len() as f32;
    }
}
