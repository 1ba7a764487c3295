//! A program that uses cudarc takes a typed kernel by changing at most five lines: the book shows both files.

use crate::driver::{device, driver};

mod after;
mod kernels;

#[test]
fn a_program_of_cudarcs_takes_a_typed_kernel_by_changing_five_lines() {
    let (before, after) = (include_str!("before.rs"), include_str!("after.rs"));
    let code = |text: &'static str| text.lines().filter(|line| !line.trim().is_empty() && !line.contains("//"));
    let changed: Vec<_> = code(after).filter(|line| code(before).all(|known| known != *line)).collect();
    assert!(!changed.is_empty() && changed.len() <= 5, "{changed:#?}");
    let driver = driver();
    drop(device(&driver));
    let launched = driver.launches();
    assert_eq!(after::run(&[1.0; 100], &[3.0; 100]).unwrap(), [3.0; 100], "the driver runs nothing");
    assert_eq!(driver.launches() - launched, 1);
}
