//! C's standard output, C++ exceptions and tables of virtual functions are not there: each says what to use instead.
#![no_std]
use ptx::prelude::*;

unsafe extern "C" {
    safe fn puts(text: *const u8) -> i32;
    fn __cxa_throw(object: *mut u8, class: *const u8, destroy: *const u8) -> !;
    static _ZTV4Base: [usize; 3];
}

#[kernel]
pub fn run(mut out: DisjointSlice<usize>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        if *out == 1 {
            puts(c"text".as_ptr().cast()); //~ ERROR: puts
        }
        if *out == 2 {
            unsafe { __cxa_throw(core::ptr::null_mut(), core::ptr::null(), core::ptr::null()) } //~ ERROR: __cxa_throw
        }
        *out = unsafe { _ZTV4Base[2] }; //~ ERROR: vtable(Base)
    }
}
