// The twins of the kernels in ../src/lib.rs, by CURAND's device functions.
#include <curand_kernel.h>

#include <cstring>

struct Words {
    static const int COUNT = 28;
    unsigned int words[COUNT];
};

struct Writer {
    Words* to;
    int at;

    __device__ void add(unsigned int word) { to->words[at++] = word; }
    __device__ void add(float number) { add(__float_as_uint(number)); }
    __device__ void add(double number) {
        unsigned long long bits = __double_as_longlong(number);
        add((unsigned int)bits);
        add((unsigned int)(bits >> 32));
    }
};

template <typename State>
__device__ void numbers(State* s, Words* to) {
    Writer writer = {to, 0};
    for (int i = 0; i < 5; i++) writer.add(curand(s));
    writer.add(curand_uniform(s));
    writer.add(curand_uniform_double(s));
    for (int i = 0; i < 3; i++) writer.add(curand_normal(s));
    for (int i = 0; i < 2; i++) writer.add(curand_log_normal(s, 0.5f, 0.25f));
    for (int i = 0; i < 2; i++) writer.add(curand_normal_double(s));
    writer.add(curand_log_normal_double(s, -1.0, 2.0));
    float2 two = curand_normal2(s);
    writer.add(two.x);
    writer.add(two.y);
    const double lambdas[] = {0.75, 30.0, 64.0, 300.0, 3999.0, 5000.0};
    for (int i = 0; i < 6; i++) writer.add(curand_poisson(s, lambdas[i]));
    writer.add(curand(s));
}

template <typename State>
__device__ void skip_subsequences(unsigned long long n, State* s) {
    skipahead_sequence(n, s);
}

__device__ void skip_subsequences(unsigned long long n, curandStateMRG32k3a_t* s) { skipahead_subsequence(n, s); }

#define KERNELS(State, make, go_on)                                                                               \
    extern "C" __global__ void make(unsigned long long seed, unsigned long long subsequence,                      \
                                    unsigned long long offset, Words* words, size_t count, State* states) {       \
        size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;                                                 \
        if (i >= count) return;                                                                                   \
        State state;                                                                                              \
        curand_init(seed, subsequence + i, offset, &state);                                                       \
        numbers(&state, words + i);                                                                               \
        states[i] = state;                                                                                        \
    }                                                                                                             \
    extern "C" __global__ void go_on(unsigned long long skip, Words* words, size_t count, State* states) {        \
        size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;                                                 \
        if (i >= count) return;                                                                                   \
        State state = states[i];                                                                                  \
        skipahead(skip, &state);                                                                                  \
        skip_subsequences(skip >> 40, &state);                                                                    \
        numbers(&state, words + i);                                                                               \
        states[i] = state;                                                                                        \
    }

KERNELS(curandStatePhilox4_32_10_t, philox, philox_go_on)
KERNELS(curandStateXORWOW_t, xorwow, xorwow_go_on)
KERNELS(curandStateMRG32k3a_t, mrg, mrg_go_on)
