//! Random numbers in CURAND's sequences: Philox4x32-10, XORWOW and MRG32k3a, on the device and on the host.
//!
//! A generator is made from seed, subsequence and offset, as by CURAND's `curand_init`, and then gives the same bits as
//! CURAND's device functions. Give each thread a subsequence of its own:
//!
//! ```
//! use ptx_rand::{Generator as _, Philox4x32};
//!
//! let thread = 7;
//! let mut random = Philox4x32::new(42, thread, 0);
//! let (u, n, k) = (random.uniform(), random.normal(), random.poisson(3.5));
//! assert!(u > 0.0 && u <= 1.0 && n.is_finite() && k < 100);
//! ```
//!
//! The generators are `rand_core`'s `Rng` and `SeedableRng` as well, so that the crates `rand` and `rand_distr` work on
//! top:
//!
//! ```
//! use ptx_rand::Xorwow;
//! use rand::{RngExt as _, SeedableRng as _};
//! use rand_distr::{Distribution as _, Gamma};
//!
//! let mut random = Xorwow::seed_from_u64(42); // `curand_init(42, 0, 0, …)`
//! let dice = random.random_range(1..=6);
//! let wait = Gamma::new(2.0, 5.0_f64)?.sample(&mut random);
//! assert!((1..=6).contains(&dice) && wait > 0.0);
//! # Ok::<(), rand_distr::GammaError>(())
//! ```
//!
//! | | state | period | subsequences of |
//! |---|---|---|---|
//! | [`Philox4x32`] | 64 bytes | 2^130 | 2^66 numbers; the cheapest to make |
//! | [`Xorwow`] | 48 bytes | 2^192 - 2^32 | 2^67 numbers; CURAND's default |
//! | [`Mrg32k3a`] | 48 bytes | about 2^191 | 2^76 numbers |
//!
//! States are laid out as CURAND's, so that kernels in CUDA C++ and in Rust may take turns with them.
//!
//! Bits and uniform numbers are the same on every GPU and on the host. Normal, log-normal and Poisson numbers are
//! computed with logarithms, sines and exponentials: on the GPU with those that CURAND uses, under the same modes of
//! floating point (nvcc's defaults are ours), on the host with the host's, which differ in the last digits.
#![cfg_attr(target_arch = "nvptx64", no_std)]

mod distribution;
mod generator;
mod mrg;
mod philox;
mod poisson;
mod rng;
mod state;
mod xorwow;

pub use generator::Generator;
pub use mrg::Mrg32k3a;
pub use philox::Philox4x32;
pub use xorwow::Xorwow;
