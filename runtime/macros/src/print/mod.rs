//! `println!` and `print!` of device code: a format string becomes a constant format of printf and a packed valist.

mod class;
mod expand;
mod input;
pub mod parse;

pub use expand::expand;
