// Stencils: each element from its neighbours; the edge is copied.
#include "bench.cuh"

KERNEL stencil_1d(SLICE(float, from), SLICE_MUT(float, to)) {
    constexpr float weights[7] = {0.05f, 0.1f, 0.2f, 0.3f, 0.2f, 0.1f, 0.05f};
    int i = index_1d(), n = to_len;
    if (i >= n) return;
    if (i >= 3 && i + 3 < n) {
        float sum = 0.0f;
#pragma unroll
        for (int k = 0; k < 7; k++) sum += from[i - 3 + k] * weights[k];
        to[i] = sum;
    } else {
        to[i] = from[i];
    }
}

KERNEL stencil_2d(SLICE(float, from), PLANE_MUT(float, to)) {
    int width = WIDTH(to), height = HEIGHT(to);
    int2 at = index_2d();
    if (at.x >= width || at.y >= height) return;
    int i = at.y * width + at.x;
    if (at.x > 0 && at.x + 1 < width && at.y > 0 && at.y + 1 < height)
        to[i] = 0.5f * from[i] + 0.125f * (from[i - 1] + from[i + 1] + from[i - width] + from[i + width]);
    else
        to[i] = from[i];
}

KERNEL stencil_3d(SLICE(float, from), size_t side_, SLICE_MUT(float, to)) {
    int i = index_1d(), side = side_;
    if (i >= (int)to_len) return;
    int x = i % side, y = i / side % side, z = i / (side * side);
    if (x >= 1 && x < side - 1 && y >= 1 && y < side - 1 && z >= 1 && z < side - 1) {
        int row = side, plane = side * side;
        float neighbours =
            from[i - 1] + from[i + 1] + from[i - row] + from[i + row] + from[i - plane] + from[i + plane];
        to[i] = 0.4f * from[i] + 0.1f * neighbours;
    } else {
        to[i] = from[i];
    }
}

KERNEL life(SLICE(unsigned char, from), PLANE_MUT(unsigned char, to)) {
    int width = WIDTH(to), height = HEIGHT(to);
    int2 at = index_2d();
    if (at.x >= width || at.y >= height) return;
    int columns[3] = {at.x == 0 ? width - 1 : at.x - 1, at.x, at.x + 1 == width ? 0 : at.x + 1};
    int rows[3] = {at.y == 0 ? height - 1 : at.y - 1, at.y, at.y + 1 == height ? 0 : at.y + 1};
    int alive = 0;
#pragma unroll
    for (int r = 0; r < 3; r++)
#pragma unroll
        for (int c = 0; c < 3; c++) alive += from[rows[r] * width + columns[c]];
    int me = from[at.y * width + at.x];
    to[at.y * width + at.x] = alive == 3 || (alive == 4 && me == 1);
}
