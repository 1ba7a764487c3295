// Writes what CURAND's own functions give, compiled for the host: the table that tests/curand.rs compares with.
// `cargo xtask curand` compiles and runs it. A line is: generator, seed, subsequence, offset, function, results; floats
// are C's hexadecimal ones.

#include <cuda_runtime.h>
#include <curand_kernel.h>

#include <cstdio>

namespace {

struct Start {
    unsigned long long seed, subsequence, offset;
};

// MRG32k3a's subsequences end at 2^51.
const Start STARTS[] = {
    {0, 0, 0},
    {1, 0, 3},
    {42, 7, 0},
    {0x123456789abcdefull, 1000003, 65537},
    {0xfedcba9876543210ull, (1ull << 51) - 1, 0xffffffffull},
    {0x8000000000000001ull, 1ull << 50, 0xffffffffffffffffull},
};

template <typename State, typename F>
void line(const char* name, const Start& start, const char* function, F print) {
    State state;
    curand_init(start.seed, start.subsequence, start.offset, &state);
    std::printf("%s %llu %llu %llu %s", name, start.seed, start.subsequence, start.offset, function);
    print(&state);
    std::printf("\n");
}

template <typename State>
void skip_subsequences(unsigned long long n, State* state) {
    skipahead_sequence(n, state);
}

void skip_subsequences(unsigned long long n, curandStateMRG32k3a_t* state) {
    skipahead_subsequence(n, state);
}

template <typename State>
void all(const char* name) {
    for (const Start& start : STARTS) {
        line<State>(name, start, "bits", [](State* s) {
            for (int i = 0; i < 9; i++) std::printf(" %u", curand(s));
        });
        line<State>(name, start, "skipped", [](State* s) {
            skipahead(1, s);
            std::printf(" %u", curand(s));
            skipahead(0x10000000full, s);
            std::printf(" %u", curand(s));
            skip_subsequences(0x3000000001ull, s);
            for (int i = 0; i < 2; i++) std::printf(" %u", curand(s));
        });
        line<State>(name, start, "uniform", [](State* s) {
            for (int i = 0; i < 5; i++) std::printf(" %a", curand_uniform(s));
        });
        line<State>(name, start, "uniform_f64", [](State* s) {
            for (int i = 0; i < 5; i++) std::printf(" %a", curand_uniform_double(s));
        });
        line<State>(name, start, "normal", [](State* s) {
            for (int i = 0; i < 5; i++) std::printf(" %a", curand_normal(s));
            std::printf(" %a", curand_log_normal(s, 0.5f, 0.25f));
            std::printf(" %a", curand_log_normal(s, 1.5f, 1.25f));
            std::printf(" %a", curand_normal(s));
            float2 two = curand_normal2(s);
            std::printf(" %a %a", two.x, two.y);
        });
        line<State>(name, start, "normal_f64", [](State* s) {
            (void)curand(s);
            for (int i = 0; i < 5; i++) std::printf(" %a", curand_normal_double(s));
            std::printf(" %a", curand_log_normal_double(s, 0.5, 0.25));
            std::printf(" %a", curand_log_normal_double(s, 1.5, 1.25));
            std::printf(" %a", curand_normal_double(s));
        });
        line<State>(name, start, "poisson", [](State* s) {
            for (double lambda : {0.5, 3.5, 40.0, 63.9, 64.0, 200.0, 1000.5, 4000.0, 4001.0, 1e9}) {
                std::printf(" %u", curand_poisson(s, lambda));
            }
        });
    }
}

}  // namespace

int main() {
    all<curandStatePhilox4_32_10_t>("Philox4x32");
    all<curandStateXORWOW_t>("Xorwow");
    all<curandStateMRG32k3a_t>("Mrg32k3a");
    for (const Start& start : STARTS) {
        line<curandStatePhilox4_32_10_t>("Philox4x32", start, "four", [](curandStatePhilox4_32_10_t* s) {
            for (int i = 0; i < 4; i++) {
                uint4 four = curand4(s);
                std::printf(" %u %u %u %u", four.x, four.y, four.z, four.w);
                std::printf(" %u", curand(s));
            }
        });
        line<curandStatePhilox4_32_10_t>("Philox4x32", start, "uniform2_f64", [](curandStatePhilox4_32_10_t* s) {
            (void)curand(s);
            for (int i = 0; i < 3; i++) {
                double2 two = curand_uniform2_double(s);
                std::printf(" %a %a", two.x, two.y);
            }
        });
    }
}
