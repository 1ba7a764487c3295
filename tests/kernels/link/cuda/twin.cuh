// What both sides know.
#pragma once

namespace twin {
struct alignas(32) Mixed {
    signed char small;
    double wide;
    short parts[3];
    unsigned int count;
};

struct Pair {
    short wide;
    unsigned char small;
};

typedef short (*Combine)(signed char, unsigned short, Pair);
}  // namespace twin

namespace rusty {
// In Rust.
__device__ twin::Mixed step(twin::Mixed mixed, signed char by);
__device__ short apply(twin::Combine combine, signed char a, unsigned short b);
}  // namespace rusty

// In Rust.
extern "C" __device__ int rust_twice(int x);
