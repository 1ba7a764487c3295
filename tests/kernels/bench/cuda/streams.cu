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

KERNEL transpose(SLICE(float, from), size_t width_, size_t height_, SLICE_MUT(float, to)) {
    __shared__ float tile[TILE][TILE + 1];
    int width = width_, height = height_;
    int x = blockIdx.x * TILE + threadIdx.x, top = blockIdx.y * TILE;
    for (int row = threadIdx.y; row < TILE; row += ROWS)
        if (x < width && top + row < height) tile[row][threadIdx.x] = from[(top + row) * width + x];
    __syncthreads();
    x = top + threadIdx.x;
    int left = blockIdx.x * TILE;
    for (int row = threadIdx.y; row < TILE; row += ROWS)
        if (x < height && left + row < width) to[(left + row) * height + x] = tile[threadIdx.x][row];
}
