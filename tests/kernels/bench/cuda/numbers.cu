// Integer arithmetic: random numbers, divisors, primes, bits.
#include "bench.cuh"

typedef unsigned long long u64;

KERNEL xorshift(SLICE(u64, seeds), unsigned steps, SLICE_MUT(u64, states)) {
    int i = index_1d();
    if (i >= (int)states_len) return;
    u64 state = seeds[i];
    for (unsigned k = 0; k < steps; k++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    states[i] = state;
}

KERNEL gcd(SLICE(unsigned, a_), SLICE(unsigned, b_), SLICE_MUT(unsigned, divisors)) {
    int i = index_1d();
    if (i >= (int)divisors_len) return;
    unsigned a = a_[i], b = b_[i];
    while (b != 0) {
        unsigned rest = a % b;
        a = b;
        b = rest;
    }
    divisors[i] = a;
}

KERNEL hamming(SLICE(u64, a), SLICE(u64, b), SLICE_MUT(unsigned, distances)) {
    int i = index_1d();
    if (i < (int)distances_len) distances[i] = __popcll(a[i] ^ b[i]);
}

KERNEL collatz(u64 first, SLICE_MUT(unsigned, steps)) {
    int i = index_1d();
    if (i >= (int)steps_len) return;
    u64 number = first + i;
    unsigned count = 0;
    while (number != 1) {
        number = number % 2 == 0 ? number / 2 : 3 * number + 1;
        count++;
    }
    steps[i] = count;
}

KERNEL primes(unsigned first, SLICE_MUT(unsigned char, are_prime)) {
    int i = index_1d();
    if (i >= (int)are_prime_len) return;
    unsigned number = first + i;
    bool is_prime = number == 2 || (number > 2 && number % 2 == 1);
    for (unsigned divisor = 3; is_prime && divisor * divisor <= number; divisor += 2)
        if (number % divisor == 0) is_prime = false;
    are_prime[i] = is_prime;
}
