// Sequences: dynamic programming, search in text, prefix codes.
#include "bench.cuh"

constexpr int LENGTH = 32, SYMBOLS = 32;

struct String {
    unsigned char x[LENGTH];
};

KERNEL common_subsequence(SLICE(String, a), SLICE(String, b), SLICE_MUT(unsigned, lengths)) {
    int i = index_1d();
    if (i >= (int)lengths_len) return;
    unsigned char row[LENGTH + 1];
#pragma unroll
    for (int k = 0; k <= LENGTH; k++) row[k] = 0;
    for (int r = 0; r < LENGTH; r++) {
        unsigned char x = a[i].x[r], diagonal = 0;
#pragma unroll
        for (int k = 0; k < LENGTH; k++) {
            unsigned char above = row[k + 1];
            row[k + 1] = x == b[i].x[k] ? diagonal + 1 : max(above, row[k]);
            diagonal = above;
        }
    }
    lengths[i] = row[LENGTH];
}

KERNEL edit_distance(SLICE(unsigned char, a), SLICE(unsigned char, b), size_t diagonal_, SLICE(unsigned, previous),
                     SLICE(unsigned, before), SLICE_MUT(unsigned, distances)) {
    int row = index_1d(), diagonal = diagonal_, column = diagonal - row;
    if (row >= (int)distances_len || column < 0) return;
    if (row == 0 || column == 0) {
        distances[row] = diagonal;
    } else {
        unsigned replaced = before[row - 1] + (a[row - 1] != b[column - 1]);
        distances[row] = min(min(replaced, previous[row - 1] + 1), previous[row] + 1);
    }
}

KERNEL string_search(SLICE(unsigned char, text), SLICE(unsigned char, pattern), SLICE_MUT(unsigned char, found)) {
    int i = index_1d(), length = pattern_len;
    if (i >= (int)found_len) return;
    bool equal = i + length <= (int)text_len;
    for (int k = 0; equal && k < length; k++) equal = text[i + k] == pattern[k];
    found[i] = equal;
}

struct Symbols {
    unsigned char x[SYMBOLS];
};

KERNEL prefix_decode(SLICE(unsigned, stream), SLICE(unsigned short, table), SLICE(unsigned, offsets),
                     SLICE_MUT(Symbols, symbols)) {
    int i = index_1d();
    if (i >= (int)symbols_len) return;
    unsigned position = offsets[i];
    for (int k = 0; k < SYMBOLS; k++) {
        unsigned bits = __funnelshift_r(stream[position / 32], stream[position / 32 + 1], position % 32);
        unsigned entry = table[bits & 0xff];
        symbols[i].x[k] = entry;
        position += entry >> 8;
    }
}
