//! Integers and bits: the GPU's instructions that Rust has no method for, and what Rust's methods become.
//!
//! All of this works on the host, too. What Rust has becomes the same instruction as CUDA's function:
//!
//! | CUDA C++ | Rust | PTX |
//! |---|---|---|
//! | `__popc(x)`, `__popcll(x)` | `x.count_ones()` | `popc.b32`, `popc.b64` |
//! | `__clz(x)`, `__clzll(x)` | `x.leading_zeros()` | `clz.b32`, `clz.b64` |
//! | `__brev(x)`, `__brevll(x)` | `x.reverse_bits()` | `brev.b32`, `brev.b64` |
//! | `__ffs(x)`, `__ffsll(x)` | [`ffs`], [`ffs_64`]; `x.trailing_zeros()` counts from 0 | `brev`, `bfind.shiftamt` |
//! | `__mulhi`, `__umulhi`, `__mul64hi`, `__umul64hi` | [`mulhi`], [`mulhi_u32`], [`mulhi_i64`], [`mulhi_u64`] | `mul.hi` |
//! | `(long long)a * b` | `i64::from(a) * i64::from(b)` | `mul.wide` |
//! | 128-bit sums and products | `u128`, `i128` | `add.cc`, `mad.hi` |
//!
//! The rest is in the functions below. Each names its instruction, whose semantics are in the PTX ISA's chapters "Integer
//! Arithmetic Instructions", "Logic and Shift Instructions" and "Data Movement and Conversion Instructions: prmt", and
//! the lowest GPU where that is not the oldest, sm_70. [`simd`] has the functions on two or four numbers in a word.

mod arithmetic;
mod field;
mod permute;
pub mod simd;
#[cfg(test)]
mod tests;

pub use arithmetic::*;
pub use field::*;
pub use permute::*;
