// What all kernels share: slices are passed as a pointer and a length, as Rust passes them, and planes with width and
// height in the length's place.
#pragma once

#define KERNEL extern "C" __global__ void
#define SLICE(T, name) const T *__restrict__ name, size_t name##_len
#define SLICE_MUT(T, name) T *__restrict__ name, size_t name##_len
#define PLANE_MUT(T, name) T *__restrict__ name, size_t name##_extents
#define WIDTH(name) ((int)(unsigned)name##_extents)
#define HEIGHT(name) ((int)(name##_extents >> 32))

__device__ __forceinline__ int index_1d() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ int2 index_2d() {
    return make_int2(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y);
}
