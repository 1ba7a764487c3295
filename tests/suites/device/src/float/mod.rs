//! Floating point: explicit roundings and functions against MPFR, functions against nvcc's bit for bit, CPU against GPU,
//! and modes that stay where they belong.

mod double;
mod equality;
mod images;
pub mod launch;
mod modes;
mod narrow;
mod rounding;
mod single;
mod table;

use crate::record::Test;

pub fn tests() -> Vec<Test> {
    [equality::tests(), modes::tests(), rounding::tests(), narrow::tests(), single::tests(), double::tests()].concat()
}
