// What neural networks consist of, besides products of matrices.
#include "bench.cuh"

constexpr int WIDTH = 64;

struct Row {
    float x[WIDTH];
};

KERNEL softmax(SLICE(Row, rows), SLICE_MUT(Row, results)) {
    int i = index_1d();
    if (i >= (int)results_len) return;
    const float *row = rows[i].x;
    float *result = results[i].x;
    float largest = -INFINITY, sum = 0.0f;
    for (int k = 0; k < WIDTH; k++) largest = fmaxf(largest, row[k]);
    for (int k = 0; k < WIDTH; k++) sum += expf(row[k] - largest);
    for (int k = 0; k < WIDTH; k++) result[k] = expf(row[k] - largest) / sum;
}

KERNEL layer_norm(SLICE(Row, rows), SLICE(float, scale), SLICE(float, shift), SLICE_MUT(Row, results)) {
    int i = index_1d();
    if (i >= (int)results_len) return;
    const float *row = rows[i].x;
    float *result = results[i].x;
    float sum = 0.0f, squares = 0.0f;
    for (int k = 0; k < WIDTH; k++) sum += row[k];
    float mean = sum / WIDTH;
    for (int k = 0; k < WIDTH; k++) squares += (row[k] - mean) * (row[k] - mean);
    float inverse = rsqrtf(squares / WIDTH + 1e-5f);
    for (int k = 0; k < WIDTH; k++) result[k] = (row[k] - mean) * inverse * scale[k] + shift[k];
}

struct Larger {
    __device__ __forceinline__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

struct Sum {
    __device__ __forceinline__ float operator()(float a, float b) const { return a + b; }
};

template <typename By>
__device__ __forceinline__ float combine(float *partial, float value, By by) {
    int t = threadIdx.x;
    partial[t] = value;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) partial[t] = by(partial[t], partial[t + half]);
        __syncthreads();
    }
    float result = partial[0];
    __syncthreads();
    return result;
}

KERNEL softmax_block(SLICE(float, x), PLANE_MUT(float, result)) {
    constexpr int THREADS = 256;
    __shared__ float partial[THREADS];
    int t = threadIdx.x, width = WIDTH(result);
    const float *row = x + (size_t)blockIdx.x * width;
    float largest = -INFINITY;
    for (int column = t; column < width; column += THREADS) largest = fmaxf(largest, row[column]);
    largest = combine(partial, largest, Larger{});
    float sum = 0.0f;
    for (int column = t; column < width; column += THREADS) sum += expf(row[column] - largest);
    sum = combine(partial, sum, Sum{});
    float *out = result + (size_t)blockIdx.x * width;
    for (int column = t; column < width; column += THREADS) out[column] = expf(row[column] - largest) / sum;
}

KERNEL gelu(SLICE(float, x), SLICE_MUT(float, y)) {
    int i = index_1d();
    if (i < (int)y_len) y[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
}
