// Hashes, checksums and ciphers: 32-bit integers and little memory.
#include "bench.cuh"

__constant__ const unsigned K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

#define INITIAL 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19

struct Block {
    unsigned words[16];
};

struct Digest {
    unsigned words[8];
};

__device__ __forceinline__ unsigned right(unsigned x, int n) {
    return __funnelshift_r(x, x, n);
}

__device__ __forceinline__ unsigned left(unsigned x, int n) {
    return __funnelshift_l(x, x, n);
}

KERNEL sha256(SLICE(Block, blocks), SLICE_MUT(Digest, digests)) {
    int i = index_1d();
    if (i >= (int)digests_len) return;
    unsigned w[64];
#pragma unroll
    for (int t = 0; t < 16; t++) w[t] = blocks[i].words[t];
#pragma unroll
    for (int t = 16; t < 64; t++) {
        unsigned s0 = right(w[t - 15], 7) ^ right(w[t - 15], 18) ^ (w[t - 15] >> 3);
        unsigned s1 = right(w[t - 2], 17) ^ right(w[t - 2], 19) ^ (w[t - 2] >> 10);
        w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    const unsigned initial[8] = {INITIAL};
    unsigned a = initial[0], b = initial[1], c = initial[2], d = initial[3];
    unsigned e = initial[4], f = initial[5], g = initial[6], h = initial[7];
#pragma unroll
    for (int t = 0; t < 64; t++) {
        unsigned s1 = right(e, 6) ^ right(e, 11) ^ right(e, 25);
        unsigned choice = (e & f) ^ (~e & g);
        unsigned t1 = h + s1 + choice + K[t] + w[t];
        unsigned s0 = right(a, 2) ^ right(a, 13) ^ right(a, 22);
        unsigned majority = (a & b) ^ (a & c) ^ (b & c);
        h = g, g = f, f = e, e = d + t1;
        d = c, c = b, b = a, a = t1 + s0 + majority;
    }
    const unsigned last[8] = {a, b, c, d, e, f, g, h};
#pragma unroll
    for (int k = 0; k < 8; k++) digests[i].words[k] = initial[k] + last[k];
}

__device__ __forceinline__ void quarter_round(unsigned &a, unsigned &b, unsigned &c, unsigned &d) {
    a += b, d = left(d ^ a, 16);
    c += d, b = left(b ^ c, 12);
    a += b, d = left(d ^ a, 8);
    c += d, b = left(b ^ c, 7);
}

KERNEL chacha20(SLICE(unsigned, key), SLICE(unsigned, nonce), SLICE(Block, plain), SLICE_MUT(Block, cipher)) {
    int i = index_1d();
    if (i >= (int)cipher_len) return;
    unsigned first[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
#pragma unroll
    for (int k = 0; k < 8; k++) first[4 + k] = key[k];
    first[12] = i;
#pragma unroll
    for (int k = 0; k < 3; k++) first[13 + k] = nonce[k];
    unsigned s[16];
#pragma unroll
    for (int k = 0; k < 16; k++) s[k] = first[k];
    for (int round = 0; round < 10; round++) {
        quarter_round(s[0], s[4], s[8], s[12]);
        quarter_round(s[1], s[5], s[9], s[13]);
        quarter_round(s[2], s[6], s[10], s[14]);
        quarter_round(s[3], s[7], s[11], s[15]);
        quarter_round(s[0], s[5], s[10], s[15]);
        quarter_round(s[1], s[6], s[11], s[12]);
        quarter_round(s[2], s[7], s[8], s[13]);
        quarter_round(s[3], s[4], s[9], s[14]);
    }
#pragma unroll
    for (int k = 0; k < 16; k++) cipher[i].words[k] = plain[i].words[k] ^ (s[k] + first[k]);
}

__device__ __forceinline__ void mix(unsigned &a, unsigned &b, unsigned &c, unsigned &d, unsigned x, unsigned y) {
    a += b + x, d = right(d ^ a, 16);
    c += d, b = right(b ^ c, 12);
    a += b + y, d = right(d ^ a, 8);
    c += d, b = right(b ^ c, 7);
}

KERNEL blake2s(SLICE(Block, blocks), SLICE_MUT(Digest, digests)) {
    constexpr unsigned char sigma[10][16] = {
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
        {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
        {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
        {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
        {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
        {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
        {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
        {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
        {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
        {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
    };
    int i = index_1d();
    if (i >= (int)digests_len) return;
    unsigned m[16];
#pragma unroll
    for (int k = 0; k < 16; k++) m[k] = blocks[i].words[k];
    const unsigned initial[8] = {INITIAL};
    unsigned h[8] = {INITIAL};
    h[0] ^= 0x01010020;
    unsigned v[16];
#pragma unroll
    for (int k = 0; k < 8; k++) v[k] = h[k], v[k + 8] = initial[k];
    v[12] ^= 64;
    v[14] = ~v[14];
#pragma unroll
    for (int round = 0; round < 10; round++) {
        const unsigned char *s = sigma[round];
        mix(v[0], v[4], v[8], v[12], m[s[0]], m[s[1]]);
        mix(v[1], v[5], v[9], v[13], m[s[2]], m[s[3]]);
        mix(v[2], v[6], v[10], v[14], m[s[4]], m[s[5]]);
        mix(v[3], v[7], v[11], v[15], m[s[6]], m[s[7]]);
        mix(v[0], v[5], v[10], v[15], m[s[8]], m[s[9]]);
        mix(v[1], v[6], v[11], v[12], m[s[10]], m[s[11]]);
        mix(v[2], v[7], v[8], v[13], m[s[12]], m[s[13]]);
        mix(v[3], v[4], v[9], v[14], m[s[14]], m[s[15]]);
    }
#pragma unroll
    for (int k = 0; k < 8; k++) digests[i].words[k] = h[k] ^ v[k] ^ v[k + 8];
}

struct Record {
    unsigned char bytes[64];
};

KERNEL fnv1a(SLICE(Record, records), SLICE_MUT(unsigned long long, hashes)) {
    int i = index_1d();
    if (i >= (int)hashes_len) return;
    unsigned long long hash = 0xcbf29ce484222325ull;
    for (int k = 0; k < 64; k++) hash = (hash ^ records[i].bytes[k]) * 0x100000001b3ull;
    hashes[i] = hash;
}

KERNEL crc32(SLICE(unsigned, table), SLICE(Record, records), SLICE_MUT(unsigned, sums)) {
    int i = index_1d();
    if (i >= (int)sums_len) return;
    unsigned sum = 0xffffffffu;
    for (int k = 0; k < 64; k++) sum = table[(sum ^ records[i].bytes[k]) & 0xff] ^ (sum >> 8);
    sums[i] = ~sum;
}
