//! Integer arithmetic: random numbers, divisors, primes, bits.

use ptx::prelude::*;

/// The state of Marsaglia's 64-bit generator after some steps.
#[kernel]
pub fn xorshift(seeds: &[u64], steps: u32, mut states: DisjointSlice<u64>) {
    let i = thread::index_1d();
    if let Some(out) = states.get_mut(i) {
        let mut state = seeds[i.get()];
        for _ in 0..steps {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
        }
        *out = state;
    }
}

/// Greatest common divisors by Euclid.
#[kernel]
pub fn gcd(a: &[u32], b: &[u32], mut divisors: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(divisor) = divisors.get_mut(i) {
        let (mut a, mut b) = (a[i.get()], b[i.get()]);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        *divisor = a;
    }
}

/// In how many bits two numbers differ.
#[kernel]
pub fn hamming(a: &[u64], b: &[u64], mut distances: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(distance) = distances.get_mut(i) {
        *distance = (a[i.get()] ^ b[i.get()]).count_ones();
    }
}

/// How many steps of Collatz's lead from each number to 1.
#[kernel]
pub fn collatz(first: u64, mut steps: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(steps) = steps.get_mut(i) {
        let mut number = first + i.get() as u64;
        let mut count = 0;
        while number != 1 {
            number = if number.is_multiple_of(2) { number / 2 } else { 3 * number + 1 };
            count += 1;
        }
        *steps = count;
    }
}

/// Which numbers are prime, by trial division.
#[kernel]
pub fn primes(first: u32, mut are_prime: DisjointSlice<u8>) {
    let i = thread::index_1d();
    if let Some(is_prime) = are_prime.get_mut(i) {
        let number = first + i.get() as u32;
        let mut divisors = (3..).step_by(2).take_while(|divisor| divisor * divisor <= number);
        *is_prime = u8::from(
            number == 2 || (number > 2 && number % 2 == 1 && !divisors.any(|divisor| number.is_multiple_of(divisor))),
        );
    }
}
