// What both sides know.
#pragma once

namespace twin {
struct alignas(32) Mixed {
    signed char small;
    double wide;
    short parts[3];
    unsigned int count;
};
}  // namespace twin

namespace rusty {
// In Rust.
__device__ twin::Mixed step(twin::Mixed mixed, signed char by);
}  // namespace rusty

// In Rust.
extern "C" __device__ int rust_twice(int x);
