//! A test and what its attributes say.

pub use TestFn::{StaticBenchFn, StaticTestFn};
pub use TestName::StaticTestName;

use crate::bench::Bencher;

/// What the compiler reads; the first of each text and of each variant's fields lies where the type does, or a word later.
#[cfg(target_arch = "nvptx64")]
const _: () = {
    use core::mem::offset_of;
    use ptx::__private::harness;

    assert!(offset_of!(TestDescAndFn, desc) == 0);
    assert!(offset_of!(TestDesc, name) + 8 == harness::NAME);
    assert!(offset_of!(TestDesc, ignore) == harness::IGNORE);
    assert!(offset_of!(TestDesc, ignore_message) == harness::IGNORE_MESSAGE);
    assert!(offset_of!(TestDesc, source_file) == harness::FILE);
    assert!(offset_of!(TestDesc, start_line) == harness::LINE);
    assert!(offset_of!(TestDesc, start_col) == harness::COLUMN);
    assert!(offset_of!(TestDesc, should_panic) == harness::SHOULD_PANIC);
    assert!(offset_of!(TestDesc, should_panic) + 8 == harness::EXPECTED);
};

/// A test as the expansion of `#[test]` describes it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TestDescAndFn {
    /// What its attributes say.
    pub desc: TestDesc,
    /// What it does.
    pub testfn: TestFn,
}

/// What a test's attributes say, and where it stands.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TestDesc {
    /// Its path in the crate: `tests::adds`.
    pub name: TestName,
    /// `#[ignore]`
    pub ignore: bool,
    /// `#[ignore = "…"]`
    pub ignore_message: Option<&'static str>,
    /// As in `file!()`.
    pub source_file: &'static str,
    /// Of its name, from 1.
    pub start_line: usize,
    /// Likewise.
    pub start_col: usize,
    /// Of its name's end.
    pub end_line: usize,
    /// Likewise.
    pub end_col: usize,
    /// rustdoc's.
    pub compile_fail: bool,
    /// rustdoc's.
    pub no_run: bool,
    /// `#[should_panic]`
    pub should_panic: ShouldPanic,
    /// What kind of crate it is in; rustc knows none.
    pub test_type: TestType,
}

/// The name of a test; rustc has only this kind.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub enum TestName {
    /// Known when it was compiled.
    StaticTestName(&'static str),
}

/// Whether a test has to panic.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub enum ShouldPanic {
    /// It must not.
    No,
    /// With any message.
    Yes,
    /// With a message that contains this.
    YesWithMessage(&'static str),
}

/// What kind of crate a test is in.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub enum TestType {
    /// A library or program.
    UnitTest,
    /// The folder `tests`.
    IntegrationTest,
    /// Documentation.
    DocTest,
    /// rustc does not say.
    Unknown,
}

/// A test's function. Of what it returns an error alone is left, because by then the test has panicked.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub enum TestFn {
    /// Of `#[test]`.
    StaticTestFn(fn() -> Result<(), ()>),
    /// Of `#[bench]`: run once.
    StaticBenchFn(fn(&mut Bencher) -> Result<(), ()>),
}
