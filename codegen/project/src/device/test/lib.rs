//! The crate `test` on a GPU: what rustc's expansions of `#[test]` and `#[bench]` name, and the kernel that runs one test.
//!
//! ```text
//! #[test]              pub const adds: test::TestDescAndFn = test::TestDescAndFn {
//! fn adds() { … }          desc: test::TestDesc { name: test::StaticTestName("adds"), ignore: false, … },
//!                          testfn: test::StaticTestFn(|| test::assert_test_result(adds())),
//!                      };
//!                      fn main() { extern crate test; test::test_main_static(&[&adds]) }
//! ```
//! The names and fields are those of `library/test` in Rust's repository. `ptx-codegen` reads the list that `main` hands
//! over (`tests::read`), so every type in it has C's layout, which `ptx_abi::test` describes.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(lang_items, never_type))]
#![cfg_attr(
    target_arch = "nvptx64",
    expect(internal_features, reason = "rustc's entry point calls the language item `start`")
)]

mod bench;
#[cfg(target_arch = "nvptx64")]
mod entry;
mod result;
mod types;

pub use bench::{Bencher, black_box};
#[cfg(target_arch = "nvptx64")]
pub use entry::test_main_static;
pub use result::{Termination, assert_test_result};
pub use types::{
    ShouldPanic, StaticBenchFn, StaticTestFn, StaticTestName, TestDesc, TestDescAndFn, TestFn, TestName, TestType,
};
