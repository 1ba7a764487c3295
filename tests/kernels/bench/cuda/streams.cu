// Streams: kernels that do little but move memory.
#include "bench.cuh"

KERNEL copy(SLICE(float, x), SLICE_MUT(float, y)) {
    int i = index_1d();
    if (i < (int)y_len) y[i] = x[i];
}

KERNEL saxpy(float a, SLICE(float, x), SLICE_MUT(float, y)) {
    int i = index_1d();
    if (i < (int)y_len) y[i] += a * x[i];
}

KERNEL triad(float a, SLICE(float, x), SLICE(float, y), SLICE_MUT(float, z)) {
    int i = index_1d();
    if (i < (int)z_len) z[i] = x[i] + a * y[i];
}

constexpr int TILE = 32, ROWS = 8;

KERNEL transpose(SLICE(float, from), unsigned width_, unsigned height_, PLANE_MUT(float, to)) {
    __shared__ float tile[TILE][TILE + 1];
    int width = width_, height = height_, tx = threadIdx.x, ty = threadIdx.y;
    int left = blockIdx.x * TILE, top = blockIdx.y * TILE;
#pragma unroll
    for (int step = 0; step < TILE; step += ROWS) {
        int x = left + tx, y = top + ty + step;
        if (x < width && y < height) tile[ty + step][tx] = from[y * width + x];
    }
    __syncthreads();
#pragma unroll
    for (int step = 0; step < TILE; step += ROWS) {
        int x = top + tx, y = left + ty + step;
        if (x < height && y < width) to[y * height + x] = tile[tx][ty + step];
    }
}
