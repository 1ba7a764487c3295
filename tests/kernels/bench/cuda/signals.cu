// Convolutions and Fourier transforms.
#include "bench.cuh"

KERNEL convolve_1d(SLICE(float, x), SLICE(float, taps), SLICE_MUT(float, y)) {
    int i = index_1d(), count = taps_len;
    if (i >= (int)y_len) return;
    float sum = 0.0f;
    for (int k = 0; k < count; k++) sum += x[i + k] * taps[k];
    y[i] = sum;
}

KERNEL convolve_2d(SLICE(float, from), SLICE(float, weights), PLANE_MUT(float, to)) {
    constexpr int SIZE = 5;
    int width = WIDTH(to);
    int2 at = index_2d();
    if (at.x >= width || at.y >= HEIGHT(to)) return;
    float sum = 0.0f;
#pragma unroll
    for (int row = 0; row < SIZE; row++)
#pragma unroll
        for (int column = 0; column < SIZE; column++)
            sum += weights[row * SIZE + column] * from[(at.y + row) * (width + SIZE - 1) + at.x + column];
    to[at.y * width + at.x] = sum;
}

constexpr int POINTS = 16;

struct Signal {
    float2 x[POINTS];
};

KERNEL fft_16(SLICE(Signal, signals), SLICE_MUT(Signal, spectra)) {
    constexpr float cosines[8] = {1.0f, 0.9238795f, 0.70710677f, 0.38268343f, 0.0f, -0.38268343f, -0.70710677f,
                                  -0.9238795f};
    constexpr float sines[8] = {0.0f, -0.38268343f, -0.70710677f, -0.9238795f, -1.0f, -0.9238795f, -0.70710677f,
                                -0.38268343f};
    constexpr int reversed[POINTS] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};
    int i = index_1d();
    if (i >= (int)spectra_len) return;
    float2 v[POINTS];
#pragma unroll
    for (int k = 0; k < POINTS; k++) v[k] = signals[i].x[reversed[k]];
#pragma unroll
    for (int stage = 0; stage < 4; stage++) {
#pragma unroll
        for (int pair = 0; pair < POINTS / 2; pair++) {
            int half = 1 << stage, k = pair % half, first = 2 * pair - k;
            float2 even = v[first], odd = v[first + half];
            float c = cosines[k * (POINTS / 2 / half)], s = sines[k * (POINTS / 2 / half)];
            odd = make_float2(odd.x * c - odd.y * s, odd.x * s + odd.y * c);
            v[first] = make_float2(even.x + odd.x, even.y + odd.y);
            v[first + half] = make_float2(even.x - odd.x, even.y - odd.y);
        }
    }
#pragma unroll
    for (int k = 0; k < POINTS; k++) spectra[i].x[k] = v[k];
}

KERNEL fft_stage(SLICE(float2, from), size_t span_, SLICE_MUT(float2, to)) {
    int i = index_1d(), n = to_len, span = span_;
    if (i >= n) return;
    int group = i / (2 * span), k = i % span, source = group * span + k;
    float2 even = from[source], odd = from[source + n / 2];
    float s, c;
    sincospif(-(float)k / (float)span, &s, &c);
    odd = make_float2(odd.x * c - odd.y * s, odd.x * s + odd.y * c);
    to[i] = i / span % 2 == 0 ? make_float2(even.x + odd.x, even.y + odd.y)
                              : make_float2(even.x - odd.x, even.y - odd.y);
}
