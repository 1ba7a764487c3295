//! Random numbers in kernels: what each generator gives, states that kernels in CUDA C++ go on with, and the crates
//! `rand` and `rand_distr` on top. `cuda/curand.cu` has the twins of the first.
#![cfg_attr(target_arch = "nvptx64", no_std)]

use ptx::prelude::*;
use ptx::random::{Generator, Mrg32k3a, Philox4x32, Xorwow};
use rand::seq::SliceRandom as _;
use rand::{Rng, RngExt as _};
use rand_distr::{Binomial, Distribution as _, Geometric};

/// What one thread computes.
pub const WORDS: usize = 28;

/// The bits of some numbers of every kind.
pub fn numbers<G: Generator>(random: &mut G) -> [u32; WORDS] {
    let mut words = [0; WORDS];
    let mut at = 0;
    let mut add = |word: u32| {
        words[at] = word;
        at += 1;
    };
    for _ in 0..5 {
        add(random.bits());
    }
    add(random.uniform().to_bits());
    let double = random.uniform_f64().to_bits();
    add(double as u32);
    add((double >> 32) as u32);
    for _ in 0..3 {
        add(random.normal().to_bits());
    }
    for _ in 0..2 {
        add(random.log_normal(0.5, 0.25).to_bits());
    }
    for _ in 0..2 {
        let double = random.normal_f64().to_bits();
        add(double as u32);
        add((double >> 32) as u32);
    }
    let double = random.log_normal_f64(-1.0, 2.0).to_bits();
    add(double as u32);
    add((double >> 32) as u32);
    for number in random.normal2() {
        add(number.to_bits());
    }
    for lambda in [0.75, 30.0, 64.0, 300.0, 3999.0, 5000.0] {
        add(random.poisson(lambda));
    }
    add(random.bits());
    words
}

macro_rules! kernels {
    ($($generator:ident: $make:ident $go_on:ident;)*) => {$(
        /// A generator for each thread, by its subsequence; its numbers, and its state afterwards.
        #[kernel]
        pub fn $make(
            seed: u64,
            subsequence: u64,
            offset: u64,
            mut words: DisjointSlice<[u32; WORDS]>,
            mut states: DisjointSlice<$generator>,
        ) {
            let i = thread::index_1d();
            if let (Some(words), Some(state)) = (words.get_mut(i), states.get_mut(i)) {
                let mut random = $generator::new(seed, subsequence + i.get() as u64, offset);
                *words = numbers(&mut random);
                *state = random;
            }
        }

        /// Goes on with states that somebody else has left, and skips.
        #[kernel]
        pub fn $go_on(skip: u64, mut words: DisjointSlice<[u32; WORDS]>, mut states: DisjointSlice<$generator>) {
            let i = thread::index_1d();
            if let (Some(words), Some(state)) = (words.get_mut(i), states.get_mut(i)) {
                let mut random = *state;
                random.skip(skip);
                random.skip_subsequences(skip >> 40);
                *words = numbers(&mut random);
                *state = random;
            }
        }
    )*};
}

kernels! {
    Philox4x32: philox philox_go_on;
    Xorwow: xorwow xorwow_go_on;
    Mrg32k3a: mrg mrg_go_on;
}

/// What the crates `rand` and `rand_distr` make of a generator: the same everywhere.
pub fn on_top(random: &mut impl Rng) -> [u32; WORDS] {
    let mut words: [u32; WORDS] = core::array::from_fn(|i| i as u32);
    words.shuffle(random);
    words[0] = random.random_range(0..1_000_000_007);
    words[1] = random.random_range(-5..=5_i32) as u32;
    words[2] = random.random::<f32>().to_bits();
    words[3] = (random.random_range(0..1_u64 << 50) >> 20) as u32;
    words[4] = random.random_bool(0.25).into();
    words[5] = Geometric::new(0.5).map_or(0, |geometric| geometric.sample(random)) as u32;
    words[6] = Binomial::new(20, 0.25).map_or(0, |binomial| binomial.sample(random)) as u32;
    let mut bytes = [0; 7];
    random.fill_bytes(&mut bytes);
    words[7] = bytes.iter().fold(0, |sum, byte| sum * 31 + u32::from(*byte));
    words
}

/// The same for each thread.
#[kernel]
pub fn crates(seed: u64, mut words: DisjointSlice<[u32; WORDS]>) {
    let i = thread::index_1d();
    if let Some(words) = words.get_mut(i) {
        *words = match i.get() % 3 {
            0 => on_top(&mut Philox4x32::new(seed, i.get() as u64, 0)),
            1 => on_top(&mut Xorwow::new(seed, i.get() as u64, 0)),
            _ => on_top(&mut Mrg32k3a::new(seed, i.get() as u64, 0)),
        };
    }
}
