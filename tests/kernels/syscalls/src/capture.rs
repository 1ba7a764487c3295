//! What the driver does with the format and the values of a `vprintf`, on the CPU: one `snprintf` of the C library for each
//! conversion.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int};

unsafe extern "C" {
    fn snprintf(buffer: *mut c_char, size: usize, format: *const c_char, ...) -> c_int;
}

thread_local! {
    static PRINTED: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// What was printed since the last call.
pub fn take() -> Vec<String> {
    PRINTED.take()
}

/// Stands in for `ptx_device::print::print`.
///
/// # Safety
/// The fields of `values` are what `format` asks for.
pub unsafe fn print<V>(format: &[u8], values: &V) {
    let format = CStr::from_bytes_until_nul(format).expect("NUL-terminated");
    let mut values = Values { next: std::ptr::from_ref(values).cast(), size: size_of::<V>(), at: 0 };
    // SAFETY: the caller's promise.
    let text = unsafe { interpret(format.to_bytes(), &mut values) };
    assert!(values.size - values.at.next_multiple_of(align_of::<V>()) == 0, "all values are used");
    PRINTED.with_borrow_mut(|printed| printed.push(text));
}

/// The values of a `vprintf`, and how many of their bytes were read.
struct Values {
    next: *const u8,
    size: usize,
    at: usize,
}

impl Values {
    /// The next value, packed as C packs a struct.
    unsafe fn take<T: Copy>(&mut self) -> T {
        let at = self.at.next_multiple_of(align_of::<T>());
        assert!(at + size_of::<T>() <= self.size, "no value is left");
        self.at = at + size_of::<T>();
        // SAFETY: inside the struct; the caller knows the type.
        unsafe { self.next.add(at).cast::<T>().read() }
    }
}

/// # Safety
/// `values` are what `format` asks for.
unsafe fn interpret(format: &[u8], values: &mut Values) -> String {
    let mut out = Vec::new();
    let mut rest = format;
    let mut count = 0;
    while let Some((&byte, behind)) = rest.split_first() {
        if byte != b'%' {
            out.push(byte);
            rest = behind;
            continue;
        }
        if behind.first() == Some(&b'%') {
            out.push(b'%');
            rest = &behind[1..];
            continue;
        }
        let len = behind.iter().position(u8::is_ascii_alphabetic).expect("a letter");
        let letters = behind[len..].iter().take_while(|&&byte| byte == b'l').count();
        let end = len + letters + 1;
        let mut spec = String::from_utf8(behind[..end].to_vec()).expect("ASCII");
        rest = &behind[end..];
        count += 1;
        // The driver knows no other `*`; the width stands in the text from here on.
        assert!(!spec.contains(".*"), "{spec}");
        if spec.contains('*') {
            count += 1;
            // SAFETY: a `*` takes an `int`.
            let width = unsafe { values.take::<c_int>() };
            spec = spec.replace('*', &if width == 0 { String::new() } else { width.to_string() });
        }
        let spec = CString::new(format!("%{spec}")).expect("no NUL");
        // SAFETY: each conversion takes what C says.
        out.extend(unsafe {
            match spec.to_bytes().last() {
                Some(b'f') => print_one(&spec, values.take::<f64>()),
                Some(b's') => print_one(&spec, values.take::<*const c_char>()),
                Some(b'd' | b'u' | b'x' | b'X' | b'o') if letters == 2 => print_one(&spec, values.take::<i64>()),
                Some(b'd' | b'u' | b'x' | b'X' | b'o') if letters == 0 => print_one(&spec, values.take::<i32>()),
                _ => panic!("{spec:?} is no conversion of the driver's"),
            }
        });
    }
    assert!(count <= 32, "the driver takes 32 values");
    String::from_utf8(out).expect("UTF-8")
}

/// # Safety
/// `value` is what `format` asks for.
unsafe fn print_one<T: Copy>(format: &CStr, value: T) -> Vec<u8> {
    let mut buffer = vec![0_u8; 4096];
    // SAFETY: the caller's promise; the size is the buffer's.
    let len = unsafe { snprintf(buffer.as_mut_ptr().cast(), buffer.len(), format.as_ptr(), value) };
    buffer.truncate(len.try_into().expect("no error"));
    buffer
}
