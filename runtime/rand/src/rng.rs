//! The generators are those of the crate `rand_core`, on which `rand` and `rand_distr` build.

use core::convert::Infallible;

use rand_core::utils::{fill_bytes_via_next_word, next_u64_via_u32};
use rand_core::{SeedableRng, TryRng};

use crate::generator::Generator;
use crate::{Mrg32k3a, Philox4x32, Xorwow};

macro_rules! rng {
    ($($name:ident)*) => {$(
        impl TryRng for $name {
            type Error = Infallible;

            #[inline]
            fn try_next_u32(&mut self) -> Result<u32, Infallible> {
                Ok(self.bits())
            }

            #[inline]
            fn try_next_u64(&mut self) -> Result<u64, Infallible> {
                next_u64_via_u32(self)
            }

            #[inline]
            fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
                fill_bytes_via_next_word(bytes, || self.try_next_u32())
            }
        }

        /// At the beginning of the seed's sequence.
        impl SeedableRng for $name {
            type Seed = [u8; 8];

            #[inline]
            fn from_seed(seed: [u8; 8]) -> Self {
                Self::seed_from_u64(u64::from_le_bytes(seed))
            }

            #[inline]
            fn seed_from_u64(seed: u64) -> Self {
                Self::new(seed, 0, 0)
            }
        }
    )*};
}
rng!(Mrg32k3a Philox4x32 Xorwow);
