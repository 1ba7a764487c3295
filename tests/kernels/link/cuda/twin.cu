// The CUDA C++ side of src/lib.rs.
#include "twin.cuh"

namespace twin {
__device__ Mixed mix(Mixed mixed, signed char by) {
    Mixed out;
    out.small = mixed.small ^ by;
    out.wide = mixed.wide + mixed.small;
    out.parts[0] = mixed.parts[2];
    out.parts[1] = mixed.parts[0];
    out.parts[2] = mixed.parts[1];
    out.count = mixed.count - 7;
    return out;
}

__device__ Mixed through_rust(Mixed mixed, int times) {
    for (int time = 0; time < times; ++time) mixed = rusty::step(mixed, static_cast<signed char>(time));
    return mixed;
}
// Rust gives the pointer.
__device__ short apply_here(Combine combine, signed char a, unsigned short b) {
    Pair pair;
    pair.wide = 300;
    pair.small = 200;
    return combine(a, b, pair);
}

__device__ short subtract(signed char a, unsigned short b, Pair pair) {
    return static_cast<short>(a * 3 - b - pair.wide + pair.small);
}

// Rust gets the pointer.
__device__ short through_pointer(signed char a, unsigned short b) {
    return rusty::apply(subtract, a, b);
}
}  // namespace twin

extern "C" __device__ int cpp_scale(int a, int b) { return a * b + rust_twice(a); }

// A kernel of CUDA C++ that calls Rust.
extern "C" __global__ void cuda_kernel(const twin::Mixed *values, twin::Mixed *out, unsigned int n) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = rusty::step(values[i], 5);
}
