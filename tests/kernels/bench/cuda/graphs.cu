// Gather and scatter, sparse matrices and graphs: addresses that come from memory.
#include "bench.cuh"

KERNEL gather(SLICE(float, x), SLICE(unsigned, indices), SLICE_MUT(float, y)) {
    int i = index_1d();
    if (i < (int)y_len) y[i] = x[indices[i]];
}

KERNEL scatter(SLICE(float, x), SLICE(unsigned, indices), float *y, size_t y_len) {
    int i = index_1d();
    if (i < (int)x_len) y[indices[i]] = x[i];
}

KERNEL spmv(SLICE(unsigned, offsets), SLICE(unsigned, columns), SLICE(float, values), SLICE(float, x),
            SLICE_MUT(float, y)) {
    int row = index_1d();
    if (row >= (int)y_len) return;
    float sum = 0.0f;
    for (unsigned k = offsets[row], end = offsets[row + 1]; k < end; k++) sum += values[k] * x[columns[k]];
    y[row] = sum;
}

KERNEL bfs(SLICE(unsigned, offsets), SLICE(unsigned, edges), unsigned level, SLICE(unsigned, levels),
           SLICE_MUT(unsigned, next)) {
    int vertex = index_1d();
    if (vertex >= (int)next_len) return;
    unsigned result = levels[vertex];
    if (result == 0xffffffffu) {
        for (unsigned k = offsets[vertex], end = offsets[vertex + 1]; k < end; k++) {
            if (levels[edges[k]] == level) {
                result = level + 1;
                break;
            }
        }
    }
    next[vertex] = result;
}
