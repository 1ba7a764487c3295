// Option prices and Monte Carlo methods.
#include "bench.cuh"

__device__ __forceinline__ float normal(float x) {
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(x));
    float polynomial =
        k * (0.31938153f + k * (-0.35656378f + k * (1.7814779f + k * (-1.8212559f + k * 1.3302744f))));
    float tail = 0.3989423f * expf(-0.5f * x * x) * polynomial;
    return x > 0.0f ? 1.0f - tail : tail;
}

KERNEL black_scholes(SLICE(float, spots), SLICE(float, strikes), SLICE(float, years), float rate, float volatility,
                     SLICE_MUT(float, calls), SLICE_MUT(float, puts)) {
    int i = index_1d();
    if (i >= (int)calls_len) return;
    float spot = spots[i], strike = strikes[i], t = years[i];
    float deviation = volatility * sqrtf(t);
    float d1 = (logf(spot / strike) + (rate + 0.5f * volatility * volatility) * t) / deviation;
    float d2 = d1 - deviation;
    float discounted = strike * expf(-rate * t);
    calls[i] = spot * normal(d1) - discounted * normal(d2);
    puts[i] = discounted * (1.0f - normal(d2)) - spot * (1.0f - normal(d1));
}

struct XorShift {
    unsigned state;

    __device__ __forceinline__ explicit XorShift(unsigned thread) : state((thread * 747796405u + 2891336453u) | 1u) {}

    __device__ __forceinline__ float uniform() {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        return (float)((state >> 8) + 1) * (1.0f / 16777216.0f);
    }
};

KERNEL monte_carlo_pi(unsigned points, SLICE_MUT(unsigned, inside)) {
    int i = index_1d();
    if (i >= (int)inside_len) return;
    XorShift random(i);
    unsigned count = 0;
    for (unsigned k = 0; k < points; k++) {
        float x = random.uniform(), y = random.uniform();
        if (x * x + y * y <= 1.0f) count++;
    }
    inside[i] = count;
}

KERNEL monte_carlo_asian(unsigned steps, float strike, float drift, float volatility, SLICE_MUT(float, payoffs)) {
    int i = index_1d();
    if (i >= (int)payoffs_len) return;
    XorShift random(i);
    float price = 100.0f, sum = 0.0f;
    for (unsigned k = 0; k < steps; k++) {
        float radius = sqrtf(-2.0f * logf(random.uniform()));
        float normal = radius * cosf(6.2831853f * random.uniform());
        price *= expf(drift + volatility * normal);
        sum += price;
    }
    payoffs[i] = fmaxf(sum / (float)steps - strike, 0.0f);
}
