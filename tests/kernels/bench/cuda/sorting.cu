// Sorting and searching.
#include "bench.cuh"

KERNEL bitonic_step(SLICE(unsigned, from), size_t distance_, size_t length_, SLICE_MUT(unsigned, to)) {
    int i = index_1d(), distance = distance_, length = length_;
    if (i >= (int)to_len) return;
    unsigned mine = from[i], other = from[i ^ distance];
    bool is_first = (i & distance) == 0, ascends = (i & length) == 0;
    to[i] = is_first == ascends ? min(mine, other) : max(mine, other);
}

KERNEL binary_search(SLICE(unsigned, sorted), SLICE(unsigned, keys), SLICE_MUT(unsigned, ranks)) {
    int i = index_1d();
    if (i >= (int)ranks_len) return;
    unsigned key = keys[i];
    int low = 0, size = sorted_len;
    while (size > 0) {
        int half = size / 2;
        if (sorted[low + half] < key) {
            low += half + 1;
            size -= half + 1;
        } else {
            size = half;
        }
    }
    ranks[i] = low;
}
