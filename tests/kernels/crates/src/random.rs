//! Generators of random numbers.

use rand_core::{RngCore, SeedableRng};

use crate::data::{Digest, Random};

fn generator<G: RngCore + SeedableRng>(random: &mut Random, digest: &mut Digest) {
    let mut generator = G::seed_from_u64(random.word());
    for _ in 0..20 {
        digest.add((generator.next_u32(), generator.next_u64()));
    }
    let mut bytes = [0; 77];
    generator.fill_bytes(&mut bytes);
    digest.add(bytes);
}

#[inline(never)]
pub fn fastrand(random: &mut Random, digest: &mut Digest) {
    let mut generator = fastrand::Rng::with_seed(random.word());
    let mut numbers: [u32; 20] = core::array::from_fn(|_| generator.u32(..1000));
    generator.shuffle(&mut numbers);
    digest.add((numbers, generator.i128(-5..1 << 90), generator.char('a'..='z'), generator.bool()));
    digest.float(generator.f64());
    digest.add((generator.choice(&numbers), generator.fork().u64(..)));
}

#[inline(never)]
pub fn oorandom(random: &mut Random, digest: &mut Digest) {
    let mut short = oorandom::Rand32::new(random.word());
    let mut long = oorandom::Rand64::new(random.word().into());
    for _ in 0..10 {
        digest.add((short.rand_u32(), short.rand_range(5..99), long.rand_u64(), long.rand_range(1..1 << 40)));
        digest.float(f64::from(short.rand_float()) + long.rand_float());
    }
}

#[inline(never)]
pub fn rand(random: &mut Random, digest: &mut Digest) {
    use rand::distr::{Alphanumeric, Bernoulli, Distribution, StandardUniform, Uniform};
    use rand::rngs::SmallRng;
    use rand::seq::{IndexedRandom, SliceRandom};
    use rand::{Rng, SeedableRng};

    let mut generator = SmallRng::seed_from_u64(random.word());
    for _ in 0..5 {
        digest.add((
            generator.random_range(-9..5000_i32),
            generator.random_range(..=7_u128),
            generator.random_bool(0.3),
        ));
        // On the CPU `value * scale + offset` is two roundings.
        digest.float(generator.random_range(-3.0..7.5));
        digest.float(generator.random());
        digest.add(generator.random_ratio(2, 7));
    }
    let mut numbers: [u32; 24] = StandardUniform.sample(&mut generator);
    numbers.shuffle(&mut generator);
    digest.add((numbers, numbers.choose(&mut generator)));
    digest.add(numbers.partial_shuffle(&mut generator, 5).0);
    digest.add([0; 9].map(|_| Alphanumeric.sample(&mut generator)));
    digest.add(Uniform::new(1_u8, 200).map(|between| between.sample(&mut generator)).ok());
    digest.add(Bernoulli::new(0.7).map(|coin| coin.sample(&mut generator)).ok());
}

#[inline(never)]
pub fn rand_chacha(random: &mut Random, digest: &mut Digest) {
    generator::<rand_chacha::ChaCha8Rng>(random, digest);
    let mut stream = rand_chacha::ChaCha20Rng::from_seed(random.array());
    stream.set_stream(random.word());
    stream.set_word_pos(12345);
    digest.add((stream.next_u64(), stream.get_word_pos()));
}

#[inline(never)]
pub fn rand_core(random: &mut Random, digest: &mut Digest) {
    use rand_core::block::{BlockRng, BlockRngCore};
    use rand_core::le::read_u32_into;

    /// A counter that is mixed.
    struct Blocks(u32);

    impl BlockRngCore for Blocks {
        type Item = u32;
        type Results = [u32; 8];

        fn generate(&mut self, results: &mut [u32; 8]) {
            for result in results {
                self.0 = self.0.wrapping_mul(0x9e37_79b9).rotate_left(9).wrapping_add(1);
                *result = self.0;
            }
        }
    }
    let mut generator = BlockRng::new(Blocks(random.word() as u32 >> 1));
    for _ in 0..9 {
        digest.add((generator.next_u32(), generator.next_u64()));
    }
    let mut bytes = [0; 44];
    generator.fill_bytes(&mut bytes);
    let mut words = [0; 11];
    read_u32_into(&bytes, &mut words);
    digest.add((words, generator.index()));
}

#[inline(never)]
pub fn rand_pcg(random: &mut Random, digest: &mut Digest) {
    generator::<rand_pcg::Pcg32>(random, digest);
    generator::<rand_pcg::Pcg64>(random, digest);
    let mut far = rand_pcg::Pcg64Mcg::new(random.word().into());
    far.advance(1 << 70);
    digest.add(far.next_u64());
}

#[inline(never)]
pub fn rand_xoshiro(random: &mut Random, digest: &mut Digest) {
    generator::<rand_xoshiro::Xoshiro256PlusPlus>(random, digest);
    generator::<rand_xoshiro::Xoroshiro128StarStar>(random, digest);
    let mut jumped = rand_xoshiro::Xoshiro512StarStar::from_seed(rand_xoshiro::Seed512(random.array()));
    jumped.jump();
    digest.add(jumped.next_u64());
}
