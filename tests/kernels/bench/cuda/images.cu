// Image filters.
#include "bench.cuh"

KERNEL rgb_to_gray(SLICE(uchar3, pixels), SLICE_MUT(unsigned char, gray)) {
    int i = index_1d();
    if (i >= (int)gray_len) return;
    uchar3 pixel = pixels[i];
    gray[i] = (77 * pixel.x + 150 * pixel.y + 29 * pixel.z) >> 8;
}

KERNEL box_blur(SLICE(float, from), PLANE_MUT(float, to)) {
    int width = WIDTH(to), height = HEIGHT(to);
    int2 at = index_2d();
    if (at.x >= width || at.y >= height) return;
    int left = max(at.x - 2, 0), right = min(at.x + 3, width);
    int top = max(at.y - 2, 0), bottom = min(at.y + 3, height);
    float sum = 0.0f;
    for (int row = top; row < bottom; row++) {
        float part = 0.0f;
        for (int column = left; column < right; column++) part += from[row * width + column];
        sum += part;
    }
    to[at.y * width + at.x] = sum / (float)((right - left) * (bottom - top));
}

KERNEL sobel(SLICE(unsigned char, from), PLANE_MUT(unsigned char, to)) {
    int width = WIDTH(to), height = HEIGHT(to);
    int2 at = index_2d();
    if (at.x >= width || at.y >= height) return;
    int i = at.y * width + at.x;
    if (at.x == 0 || at.y == 0 || at.x + 1 == width || at.y + 1 == height) {
        to[i] = 0;
        return;
    }
    const unsigned char *above = from + i - width - 1, *middle = from + i - 1, *below = from + i + width - 1;
    int horizontal = above[2] + 2 * middle[2] + below[2] - above[0] - 2 * middle[0] - below[0];
    int vertical = below[0] + 2 * below[1] + below[2] - above[0] - 2 * above[1] - above[2];
    to[i] = min(abs(horizontal) + abs(vertical), 255);
}
