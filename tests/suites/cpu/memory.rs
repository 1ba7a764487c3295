//! Statics that the host reaches, cache operators and random numbers on the CPU.

use ptx::CpuMemory;
use ptx::prelude::*;
use ptx::random::{Generator, Mrg32k3a, Philox4x32, Xorwow};
use ptx_memory_kernels::{self as statics, HISTOGRAM, WEIGHTS};
use ptx_rand_kernels::{self as random, WORDS};

#[test]
fn statics_have_their_first_value() {
    let values: CpuMemory<u32> = (0..1000).collect();
    let mut weighed = CpuMemory::from(vec![0.0; 1000]);
    // SAFETY: launches on the CPU wait for each other, and nobody else uses the static.
    let counts = || unsafe { HISTOGRAM.as_ptr().read() };
    let before = counts();
    statics::weigh_and_count(&values, &mut weighed).launch_on_cpu(Grid::cover(1000, 128)).unwrap();
    assert!(weighed.iter().enumerate().all(|(i, weighed)| *weighed == WEIGHTS[i % 16] * i as f32));
    let after = counts();
    for (bin, (before, after)) in before.iter().zip(after).enumerate() {
        let expected = (0..1000).filter(|value| value % 16 == bin as u32).count() as u32;
        assert_eq!(after - before, expected, "bin {bin}");
    }
}

#[test]
fn generators_in_kernels() {
    fn check<G: Generator + PartialEq + std::fmt::Debug>(words: &[[u32; WORDS]], states: &[G]) {
        for (i, (words, state)) in words.iter().zip(states).enumerate() {
            let mut host = G::new(7, 100 + i as u64, 5);
            assert_eq!(*words, random::numbers(&mut host));
            assert_eq!(*state, host);
        }
    }
    macro_rules! kinds {
        ($($generator:ident: $make:ident;)*) => {$(
            let mut words = CpuMemory::from(vec![[0; WORDS]; 70]);
            let mut states = CpuMemory::from(vec![$generator::new(0, 0, 0); 70]);
            random::$make(7, 100, 5, &mut words, &mut states).launch_on_cpu(Grid::cover(70, 32)).unwrap();
            check(&words, &states);
        )*};
    }
    kinds! {
        Philox4x32: philox;
        Xorwow: xorwow;
        Mrg32k3a: mrg;
    }
}
