// What the compile-time benchmark holds the Rust kernel of the same name against.
extern "C" __global__ void saxpy(float a, const float *__restrict__ x, unsigned long long x_len, float *__restrict__ y,
                                 unsigned long long y_len) {
    unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < y_len && i < x_len) {
        y[i] = a * x[i] + y[i];
    }
}
