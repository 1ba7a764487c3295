//! Crates of crates.io as they are: a function for each uses what it is mainly for, in a kernel and on the CPU.
#![no_std]

extern crate alloc;

#[macro_use]
pub mod list;

pub mod data;

#[cfg(feature = "ciphers")]
mod ciphers;
#[cfg(feature = "collections")]
mod collections;
#[cfg(feature = "compression")]
mod compression;
#[cfg(feature = "curves")]
mod curves;
#[cfg(feature = "encodings")]
mod encodings;
#[cfg(feature = "exact")]
mod exact;
#[cfg(feature = "formats")]
mod formats;
#[cfg(feature = "hashes")]
mod hashes;
#[cfg(feature = "numbers")]
mod numbers;
#[cfg(feature = "random")]
mod random;
#[cfg(feature = "structures")]
mod structures;
#[cfg(feature = "text")]
mod text;

macro_rules! groups {
    ($($group:ident $feature:literal { $($function:ident $name:literal $what:literal $note:literal;)* })*) => {
        /// What each group makes of the crate of that number and of a seed.
        pub mod run {
            $(
                #[doc = concat!("One of the group `", $feature, "`.")]
                #[cfg(feature = $feature)]
                pub fn $group(number: u32, seed: u32) -> u64 {
                    use core::hash::Hasher;

                    let (mut random, mut digest) = (crate::data::Random::new(seed), crate::data::Digest::default());
                    // Not by function pointers, which would make the kernel's stack a guess.
                    let mut at = 0;
                    $(
                        if number == at {
                            crate::$group::$function(&mut random, &mut digest);
                        }
                        at += 1;
                    )*
                    digest.add(number < at);
                    digest.finish()
                }
            )*
        }

        $(
            #[doc = concat!("Every thread runs one crate of the group `", $feature, "` with its own number as the seed.")]
            #[cfg(feature = $feature)]
            #[ptx::kernel]
            pub fn $group(number: u32, mut out: ptx::DisjointSlice<u64>) {
                let i = ptx::thread::index_1d();
                if let Some(out) = out.get_mut(i) {
                    *out = run::$group(number, i.get() as u32);
                }
            }
        )*
    };
}
for_each_crate!(groups);
