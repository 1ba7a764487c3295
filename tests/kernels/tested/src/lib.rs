//! Tests that pass, fail, panic, print and never end. What is expected of each stands in `tests/suites/device/src/tested.rs`.
#![cfg_attr(not(test), no_std)]

use ptx::prelude::*;

/// A kernel, as a crate has that is tested.
#[kernel]
pub fn double(mut x: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(x) = x.get_mut(i) {
        *x = twice(*x);
    }
}

/// What is tested.
pub fn twice(x: u32) -> u32 {
    x * 2
}

#[cfg(test)]
mod tests {
    use core::hint::black_box;
    use core::sync::atomic::{AtomicU32, Ordering};
    use std::collections::BTreeMap;
    use std::num::ParseIntError;

    use super::*;

    #[test]
    fn passes() {
        assert_eq!(twice(black_box(21)), 42);
    }

    #[test]
    fn fails() {
        let x = black_box(1);
        println!("x is {x}");
        assert_eq!(twice(x), 3, "twice {x}");
    }

    #[test]
    fn allocates() {
        let map: BTreeMap<String, usize> = ["a", "bb"].map(|key| (key.to_string(), key.len())).into();
        assert_eq!(format!("{map:?}"), "{\"a\": 1, \"bb\": 2}");
        assert_eq!(black_box(2.0_f32).powf(3.0).floor(), 8.0);
    }

    #[test]
    #[should_panic]
    fn panics_as_it_should() {
        let values = [1, 2, 3];
        black_box(values[black_box(7)]);
    }

    #[test]
    #[should_panic(expected = "is not even")]
    fn panics_with_the_right_text() {
        let x = black_box(3);
        assert!(x % 2 == 0, "{x} is not even");
    }

    #[test]
    #[should_panic(expected = "is not odd")]
    fn panics_with_another_text() {
        panic!("{} is not even", black_box(3));
    }

    #[test]
    #[should_panic]
    fn does_not_panic() {}

    #[test]
    #[ignore = "it fails"]
    fn is_ignored() {
        panic!("this one was to be ignored");
    }

    #[test]
    fn returns_ok() -> Result<(), ParseIntError> {
        assert_eq!(black_box("42").parse::<u32>()?, 42);
        Ok(())
    }

    #[test]
    fn returns_an_error() -> Result<(), ParseIntError> {
        black_box("x").parse::<u32>().map(|_| ())
    }

    #[test]
    fn never_ends() {
        static STOP: AtomicU32 = AtomicU32::new(0);
        while STOP.load(Ordering::Relaxed) == 0 {
            core::hint::spin_loop();
        }
    }

    #[test]
    fn loses_the_context() {
        // SAFETY: none; that is what it tests.
        unsafe { black_box(core::ptr::without_provenance::<u32>(8)).read_volatile() };
    }

    #[test]
    fn works_after_that() {
        assert_eq!(twice(black_box(4)), 8);
    }
}
