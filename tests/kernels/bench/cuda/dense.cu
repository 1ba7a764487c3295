// Dense linear algebra.
#include "bench.cuh"

KERNEL matmul(SLICE(float, a), SLICE(float, b), size_t n_, PLANE_MUT(float, c)) {
    int n = n_;
    int2 at = index_2d();
    if (at.x >= n || at.y >= n) return;
    float sum = 0.0f;
    for (int k = 0; k < n; k++) sum += a[at.y * n + k] * b[k * n + at.x];
    c[at.y * n + at.x] = sum;
}

KERNEL matmul_tiled(SLICE(float, a), SLICE(float, b), size_t n_, PLANE_MUT(float, c)) {
    constexpr int TILE = 16;
    __shared__ float tile_of_a[TILE][TILE], tile_of_b[TILE][TILE];
    int n = n_, tx = threadIdx.x, ty = threadIdx.y;
    int2 at = index_2d();
    float sum = 0.0f;
    for (int tile = 0; tile < n; tile += TILE) {
        tile_of_a[ty][tx] = a[at.y * n + tile + tx];
        tile_of_b[ty][tx] = b[(tile + ty) * n + at.x];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; k++) sum += tile_of_a[ty][k] * tile_of_b[k][tx];
        __syncthreads();
    }
    if (at.x < n && at.y < n) c[at.y * n + at.x] = sum;
}

KERNEL dgemm(size_t n_, double alpha, SLICE(double, a), SLICE(double, b), double beta, PLANE_MUT(double, c)) {
    int n = n_;
    int2 at = index_2d();
    if (at.x >= n || at.y >= n) return;
    double sum = 0.0;
    for (int k = 0; k < n; k++) sum += a[at.y * n + k] * b[k * n + at.x];
    c[at.y * n + at.x] = alpha * sum + beta * c[at.y * n + at.x];
}

KERNEL gemv(SLICE(float, a), SLICE(float, x), SLICE_MUT(float, y)) {
    int rows = y_len, columns = x_len, row = index_1d();
    if (row >= rows) return;
    float sum = 0.0f;
    for (int column = 0; column < columns; column++) sum += a[column * rows + row] * x[column];
    y[row] = sum;
}
