//! The kernel that runs one test.
//!
//! `__ptx_test(index)` → `main`, which rustc writes → `start` → the harness's `main` → [`test_main_static`] with all tests.
//! So the tests' crate needs no code of ours, and its list of tests can stay where rustc puts it.

use core::hint::black_box;
use core::sync::atomic::{AtomicU32, Ordering};

use ptx::kernel;

use crate::bench::Bencher;
use crate::types::{TestDescAndFn, TestFn};

/// Which test to run. A launch has one thread, and launches follow each other.
static INDEX: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" {
    /// rustc's entry point in the crate of the tests.
    fn main(argc: i32, argv: *const *const u8) -> i32;
}

/// Runs a test, by its number in the list.
#[kernel]
pub fn __ptx_test(index: u32) {
    INDEX.store(index, Ordering::Relaxed);
    // SAFETY: rustc defines it so, and nothing reads the arguments.
    unsafe { main(0, core::ptr::null()) };
}

/// What rustc's entry point calls with the program's `main`.
#[lang = "start"]
fn start<T>(main: fn() -> T, _argc: isize, _argv: *const *const u8, _sigpipe: u8) -> isize {
    main();
    0
}

/// What the harness's `main` calls. The compiler finds the list of tests in the call, by this name: Rust passes a slice as
/// address and length.
#[unsafe(export_name = "__ptx_test_main")]
#[inline(never)]
pub fn test_main_static(tests: &[&TestDescAndFn]) {
    let Some(test) = tests.get(INDEX.load(Ordering::Relaxed) as usize) else { return };
    // A test that fails has panicked. LLVM knows the list: where it finds that all in it do nothing, it would call none.
    _ = match test.testfn {
        TestFn::StaticTestFn(test) => black_box(test)(),
        TestFn::StaticBenchFn(bench) => black_box(bench)(&mut Bencher::default()),
    };
}
