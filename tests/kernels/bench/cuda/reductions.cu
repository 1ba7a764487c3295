// Reductions, scans and histograms: what threads of a block find out together.
#include "bench.cuh"

constexpr int THREADS = 256, BINS = 256;

__device__ __forceinline__ float block_sum(float value) {
    __shared__ float partial[THREADS];
    int t = threadIdx.x;
    partial[t] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) partial[t] += partial[t + half];
        __syncthreads();
    }
    return partial[0];
}

KERNEL reduce(SLICE(float, x), SLICE_MUT(float, sums)) {
    int n = x_len, stride = gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (int i = index_1d(); i < n; i += stride) sum += x[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

KERNEL dot(SLICE(float, x), SLICE(float, y), SLICE_MUT(float, sums)) {
    int n = x_len, stride = gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (int i = index_1d(); i < n; i += stride) sum += x[i] * y[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

KERNEL scan(SLICE(unsigned, x), SLICE_MUT(unsigned, sums)) {
    __shared__ unsigned scanned[THREADS];
    int i = index_1d(), t = threadIdx.x;
    unsigned sum = i < (int)x_len ? x[i] : 0;
    scanned[t] = sum;
    __syncthreads();
    for (int distance = 1; distance < THREADS; distance *= 2) {
        if (t >= distance) sum += scanned[t - distance];
        __syncthreads();
        scanned[t] = sum;
        __syncthreads();
    }
    if (i < (int)sums_len) sums[i] = sum;
}

KERNEL histogram(SLICE(unsigned char, data), unsigned *counts, size_t counts_len) {
    __shared__ unsigned local[BINS];
    int t = threadIdx.x, n = data_len, stride = gridDim.x * blockDim.x;
    local[t] = 0;
    __syncthreads();
    for (int i = index_1d(); i < n; i += stride) atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    atomicAdd(&counts[t], local[t]);
}

KERNEL histogram_global(SLICE(unsigned, data), unsigned *counts, size_t counts_len) {
    int i = index_1d();
    if (i < (int)data_len) atomicAdd(&counts[data[i] % (unsigned)counts_len], 1u);
}

KERNEL largest(SLICE(float, x), unsigned *result, size_t result_len) {
    int n = x_len, stride = gridDim.x * blockDim.x;
    float largest = 0.0f;
    for (int i = index_1d(); i < n; i += stride) largest = fmaxf(largest, fabsf(x[i]));
    atomicMax(&result[0], __float_as_uint(largest));
}
