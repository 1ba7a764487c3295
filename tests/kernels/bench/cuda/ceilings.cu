// Kernels that show what the device can do at most.
#include "bench.cuh"

// Eight chains of fused multiplications and additions a thread, which hide each other's latency.
template <typename T>
__device__ __forceinline__ void fma_chains(unsigned steps, T *results) {
    T a[8];
#pragma unroll
    for (int k = 0; k < 8; k++) a[k] = (T)(threadIdx.x + k);
    T factor = (T)0.999, term = (T)0.001;
    for (unsigned step = 0; step < steps; step++)
#pragma unroll
        for (int k = 0; k < 8; k++) a[k] = a[k] * factor + term;
    T sum = a[0];
#pragma unroll
    for (int k = 1; k < 8; k++) sum += a[k];
    results[index_1d()] = sum;
}

KERNEL peak_f32(unsigned steps, SLICE_MUT(float, results)) {
    fma_chains<float>(steps, results);
}

KERNEL peak_f64(unsigned steps, SLICE_MUT(double, results)) {
    fma_chains<double>(steps, results);
}
