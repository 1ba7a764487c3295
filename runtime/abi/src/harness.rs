//! The tests of a crate that is compiled for `cargo ptx test`: which symbols run them, and how the list of them lies in memory.
//!
//! rustc's harness hands the list to `test::test_main_static`. The crate `test` is `ptx-test`, whose types have C's layout;
//! it asserts the offsets that stand here, by which the compiler reads the list.

/// The kernel that runs one test: `(index: u32)`.
pub const KERNEL: &str = "__ptx_test";

/// The function that the harness calls with the list: `(&[&TestDescAndFn])`, address and length.
pub const MAIN: &str = "__ptx_test_main";

/// The name: address and length.
pub const NAME: usize = 8;

/// `#[ignore]`: one byte.
pub const IGNORE: usize = 24;

/// Why: address, or null, and length.
pub const IGNORE_MESSAGE: usize = 32;

/// The file: address and length.
pub const FILE: usize = 48;

/// The line: eight bytes.
pub const LINE: usize = 64;

/// The column: eight bytes.
pub const COLUMN: usize = 72;

/// `#[should_panic]`: four bytes, one of the three below.
pub const SHOULD_PANIC: usize = 104;

/// What a message has to contain, where it has to: address and length.
pub const EXPECTED: usize = 112;

/// [`SHOULD_PANIC`]: it must not.
pub const NO: u32 = 0;

/// [`SHOULD_PANIC`]: with any message.
pub const YES: u32 = 1;

/// [`SHOULD_PANIC`]: with a message that contains [`EXPECTED`].
pub const YES_WITH_MESSAGE: u32 = 2;
