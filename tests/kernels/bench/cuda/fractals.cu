// Fractals and ray marching: long loops whose ends differ from thread to thread.
#include "bench.cuh"

constexpr unsigned LIMIT = 256;

KERNEL mandelbrot(size_t width_, size_t height_, SLICE_MUT(unsigned, iterations)) {
    int width = width_, height = height_;
    int2 at = index_2d();
    if (at.x >= width || at.y >= height) return;
    float cx = (float)at.x / (float)width * 3.0f - 2.25f;
    float cy = (float)at.y / (float)height * 2.5f - 1.25f;
    float x = 0.0f, y = 0.0f;
    unsigned count = 0;
    while (x * x + y * y <= 4.0f && count < LIMIT) {
        float next = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next;
        count++;
    }
    iterations[at.y * width + at.x] = count;
}

KERNEL julia(size_t width_, size_t height_, double cx, double cy, SLICE_MUT(unsigned, iterations)) {
    int width = width_, height = height_;
    int2 at = index_2d();
    if (at.x >= width || at.y >= height) return;
    double x = (double)at.x / (double)width * 3.0 - 1.5;
    double y = (double)at.y / (double)height * 3.0 - 1.5;
    unsigned count = 0;
    while (x * x + y * y <= 4.0 && count < LIMIT) {
        double next = x * x - y * y + cx;
        y = 2.0 * x * y + cy;
        x = next;
        count++;
    }
    iterations[at.y * width + at.x] = count;
}

__device__ __forceinline__ float wrap(float x) {
    return x - floorf(x * 0.25f + 0.5f) * 4.0f;
}

__device__ __forceinline__ float distance(float x, float y, float z) {
    x = wrap(x), y = wrap(y), z = wrap(z);
    return sqrtf(x * x + y * y + z * z) - 1.0f;
}

KERNEL raymarch(size_t width_, size_t height_, SLICE_MUT(float, depths)) {
    int width = width_, height = height_;
    int2 at = index_2d();
    if (at.x >= width || at.y >= height) return;
    float u = (float)at.x / (float)width - 0.5f, v = (float)at.y / (float)height - 0.5f;
    float scale = rsqrtf(u * u + v * v + 1.0f);
    float dx = u * scale, dy = v * scale, dz = scale;
    float travelled = 0.0f;
    for (int i = 0; i < 96; i++) {
        float step = distance(2.0f + travelled * dx, 2.0f + travelled * dy, travelled * dz - 2.0f);
        if (step < 1e-3f || travelled > 60.0f) break;
        travelled += step;
    }
    depths[at.y * width + at.x] = travelled;
}
