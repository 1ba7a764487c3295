//! What a test may return.

use core::fmt::Debug;

/// `std::process::Termination`, which `core` lacks.
pub trait Termination {
    /// Panics if it means failure.
    #[track_caller]
    fn report(self);
}

impl Termination for () {
    fn report(self) {}
}

#[cfg(target_arch = "nvptx64")]
impl Termination for ! {
    fn report(self) {
        self
    }
}

impl<T: Termination, E: Debug> Termination for Result<T, E> {
    #[track_caller]
    fn report(self) {
        match self {
            Ok(value) => value.report(),
            Err(error) => panic!("the test returned `Err({error:?})`"),
        }
    }
}

/// What the expansion of `#[test]` calls with the result.
#[track_caller]
#[expect(clippy::result_unit_err, reason = "what rustc's harness calls has this signature")]
pub fn assert_test_result<T: Termination>(result: T) -> Result<(), ()> {
    result.report();
    Ok(())
}
