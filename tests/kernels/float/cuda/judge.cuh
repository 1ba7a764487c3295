// The twins of Rust's kernels, and what compares with them and measures errors. See tests/suites/device/src/float.
#pragma once

#include <math.h>

typedef unsigned long long u64;

// Results outside the bound whose indices are kept.
#define KEPT 1024

// What one launch after the other adds to.
struct Outcome {
    u64 checked;
    // Results that are not those of the twin, and the smallest index of one.
    u64 different;
    u64 first_different;
    // Results outside the bound, and the indices of the first few that were found.
    u64 outside;
    u64 outside_indices[KEPT];
    // The largest distance to the correctly rounded result, above the index.
    u64 distance;
    // The largest errors that several groups of threads found, in units in the last place as the bits of a float, above
    // the index; and absolute ones where the bound is absolute.
    u64 errors[64];
    u64 absolute_errors[64];
};

// A bound of CUDA's documentation; see `Bound` in runtime/host/src/compare/cuda.rs.
struct Bound {
    // 0: `ulps` for all inputs. 1: `ulps` outside of a to b, none inside. 2: `ulps` below a, `absolute` from there on.
    // 3: by order. 4: `absolute` at the order a, none at others. 5: `absolute` beyond 1.5 times the order. 6: none.
    // 3 and 5 at the orders 0 and 1: as 2. 7: `ulps` and a times the magnitude. 8: `absolute` between a and b, else `ulps`.
    // 9: `absolute` up to the magnitude a, none beyond. 10: `absolute` times the exact result. 11: `ulps` for magnitudes from
    // 1/a to a.
    int kind;
    unsigned ulps;
    double a;
    double b;
    double absolute;
};

// Where the arguments are; where there are none, the first is the float with the bits `first`, plus its index.
template <typename T> struct Inputs {
    const T *numbers[4];
    u64 first;

    __device__ T get(int argument, u64 index) const;
};

template <> inline __device__ float Inputs<float>::get(int argument, u64 index) const {
    const float *from = numbers[argument];
    return from ? from[index] : __int_as_float(int(unsigned(first) + unsigned(index)));
}

template <> inline __device__ double Inputs<double>::get(int argument, u64 index) const {
    return numbers[argument][index];
}

// A place in the order of all numbers: neighbours differ by 1.
static __device__ long long ordinal(float x) {
    long long magnitude = __float_as_int(x) & 0x7fffffff;
    return __float_as_int(x) < 0 ? -magnitude : magnitude;
}

static __device__ bool same(float a, float b) {
    // Not by comparing numbers, which a compiler's flags may change.
    unsigned bits_a = unsigned(__float_as_int(a)), bits_b = unsigned(__float_as_int(b));
    bool nan_a = (bits_a & 0x7fffffff) > 0x7f800000, nan_b = (bits_b & 0x7fffffff) > 0x7f800000;
    return bits_a == bits_b || (nan_a && nan_b);
}

// How far `got` is from `exact`, in units in the last place of the exact result; as `ulp_error` has it.
static __device__ double ulp_error(float got, double exact) {
    double value = got;
    if (isnan(value) || isnan(exact)) {
        return isnan(value) && isnan(exact) ? 0.0 : INFINITY;
    }
    if (isinf(exact)) {
        return value == exact ? 0.0 : INFINITY;
    }
    // Infinity counts as the number after the largest, and so does what is beyond it.
    if (isinf(value)) {
        value = copysign(0x1p128, value);
    }
    if (fabs(exact) > 0x1p128) {
        exact = copysign(0x1p128, exact);
    }
    int exponent = int(__double_as_longlong(exact) >> 52 & 0x7ff) - 1023;
    exponent = min(max(exponent, -126), 127);
    // Multiplying by a power of two is exact.
    return fabs(value - exact) * __longlong_as_double((long long)(1023 - (exponent - 23)) << 52);
}

// x y + z of floats, which rounds to float as the exact sum does: cut off after 53 bits, with the last bit set where something
// was cut off. The nearest double could be a tie of floats that the exact sum is not.
static __device__ double fma_to_odd(double x, double y, double z) {
    double product = __dmul_rn(x, y); // exact
    double sum = __dadd_rn(product, z);
    double from_z = __dadd_rn(sum, -product);
    double left = __dadd_rn(__dadd_rn(product, -__dadd_rn(sum, -from_z)), __dadd_rn(z, -from_z));
    long long bits = __double_as_longlong(sum);
    if (left == 0 || isnan(left) || isinf(sum) || (bits & 1)) {
        return sum;
    }
    // One place towards what is left.
    return __longlong_as_double((left > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

static __device__ u64 packed(double error, u64 index) {
    return (u64)(unsigned(__float_as_int(__double2float_ru(error)))) << 32 | (index & 0xffffffff);
}

// What one thread found.
struct Found {
    u64 checked, different, first_different, outside, distance, error, absolute_error;
};

static __device__ void judge(Found &found, Outcome *out, const Bound &bound, double order, double last, float got,
                             double exact, u64 index, u64 label) {
    bool by_ulps = false, by_absolute = false;
    unsigned ulps = bound.ulps;
    int kind = bound.kind;
    // The orders 0 and 1 of y: by the bound of y0 and y1.
    if ((kind == 3 || kind == 5) && order < 2) {
        kind = 2;
    }
    switch (kind) {
    case 0: by_ulps = true; break;
    case 1: by_ulps = !(last >= bound.a && last <= bound.b); break;
    case 2: by_ulps = fabs(last) < bound.a; by_absolute = !by_ulps; break;
    case 3: by_ulps = fabs(last) < order; by_absolute = !by_ulps; ulps = unsigned(ceil(2 + 2.5 * order)); break;
    case 4: by_absolute = order == bound.a; break;
    case 7: by_ulps = true; ulps += unsigned(fmin(floor(fabs(bound.a * last)), 1e9)); break;
    case 8: by_absolute = last >= bound.a && last <= bound.b; by_ulps = !by_absolute; break;
    case 9: by_absolute = fabs(last) <= bound.a; break;
    case 10: by_absolute = true; break;
    case 11: by_ulps = fabs(last) <= bound.a && fabs(last) >= 1 / bound.a; break;
    case 5: by_absolute = fabs(last) > 1.5 * order; break;
    }
    bool outside = false;
    if (by_ulps) {
        double error = ulp_error(got, exact);
        float rounded = __double2float_rn(exact);
        u64 distance = 0;
        if (isnan(error) || isinf(error)) {
            distance = 0xffffffff;
        } else if (!isnan(exact)) {
            distance = u64(llabs(ordinal(got) - ordinal(rounded)));
        }
        distance = distance > 0xffffffff ? 0xffffffff : distance;
        outside = distance > ulps;
        found.distance = max(found.distance, distance << 32 | (label & 0xffffffff));
        found.error = max(found.error, packed(error, label));
    } else if (by_absolute) {
        double error = fabs(double(got) - exact);
        if (isnan(error)) {
            bool equal = (isnan(double(got)) && isnan(exact)) || double(got) == exact;
            error = equal ? 0.0 : INFINITY;
        }
        if (bound.kind == 10 && error > 0 && !isinf(exact)) {
            error /= fabs(exact);
        }
        outside = error > bound.absolute;
        found.absolute_error = max(found.absolute_error, packed(error, label));
    }
    if (outside) {
        u64 slot = atomicAdd(&out->outside, 1ull);
        if (slot < KEPT) {
            out->outside_indices[slot] = label;
        }
    }
}

static __device__ void finish(const Found &found, Outcome *out) {
    unsigned slot = (blockIdx.x * blockDim.x + threadIdx.x) >> 5 & 63;
    atomicAdd(&out->checked, found.checked);
    if (found.different) {
        atomicAdd(&out->different, found.different);
        atomicMin(&out->first_different, found.first_different);
    }
    atomicMax(&out->distance, found.distance);
    atomicMax(&out->errors[slot], found.error);
    atomicMax(&out->absolute_errors[slot], found.absolute_error);
}

// A kernel that compares `count` results of Rust's kernel with those of CUDA's function, and judges them.
#define SINGLE(NAME, LAST, SINGLE_CALL, DOUBLE_CALL)                                                                         \
    extern "C" __global__ void NAME(Inputs<float> inputs, u64 count, const float *results, Bound bound, Outcome *out) {      \
        Found found = {0, 0, ~0ull, 0, 0, 0, 0};                                                                             \
        u64 stride = u64(gridDim.x) * blockDim.x;                                                                            \
        for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {                                   \
            u64 label = inputs.numbers[0] ? i : (unsigned(inputs.first) + unsigned(i));                                      \
            float from_x = inputs.get(0, i), from_y = 0, from_z = 0, from_t = 0;                                             \
            if (LAST > 0) from_y = inputs.get(1, i);                                                                         \
            if (LAST > 1) from_z = inputs.get(2, i);                                                                         \
            if (LAST > 2) from_t = inputs.get(3, i);                                                                         \
            float got = results[i], twin;                                                                                    \
            {                                                                                                                \
                float x = from_x, y = from_y, z = from_z, t = from_t;                                                        \
                (void)y, (void)z, (void)t;                                                                                   \
                twin = SINGLE_CALL;                                                                                          \
            }                                                                                                                \
            found.checked++;                                                                                                 \
            if (!same(got, twin)) {                                                                                          \
                found.different++;                                                                                           \
                found.first_different = min(found.first_different, label);                                                   \
            }                                                                                                                \
            JUDGE_##LAST(DOUBLE_CALL)                                                                                        \
        }                                                                                                                    \
        finish(found, out);                                                                                                  \
    }

#ifdef ACCURACY
#define JUDGE_WITH(EXACT, LAST_ARGUMENT)                                                                                     \
    {                                                                                                                        \
        double x = from_x, y = from_y, z = from_z, t = from_t;                                                               \
        (void)y, (void)z, (void)t;                                                                                           \
        judge(found, out, bound, x, LAST_ARGUMENT, got, EXACT, i, label);                                                    \
    }
#else
#define JUDGE_WITH(EXACT, LAST_ARGUMENT)
#endif
#define JUDGE_0(EXACT) JUDGE_WITH(EXACT, x)
#define JUDGE_1(EXACT) JUDGE_WITH(EXACT, y)
#define JUDGE_2(EXACT) JUDGE_WITH(EXACT, z)
#define JUDGE_3(EXACT) JUDGE_WITH(EXACT, t)

// The twin of Rust's kernel in double precision; the host compares.
#define DOUBLE(NAME, LAST, CALL)                                                                                             \
    extern "C" __global__ void NAME(Inputs<double> inputs, u64 count, double *results) {                                     \
        u64 stride = u64(gridDim.x) * blockDim.x;                                                                            \
        for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {                                   \
            double x = inputs.get(0, i), y = 0, z = 0, t = 0;                                                                \
            if (LAST > 0) y = inputs.get(1, i);                                                                              \
            if (LAST > 1) z = inputs.get(2, i);                                                                              \
            if (LAST > 2) t = inputs.get(3, i);                                                                              \
            (void)y, (void)z, (void)t;                                                                                       \
            results[i] = CALL;                                                                                               \
        }                                                                                                                    \
    }

// In libdevice, and in no header of CUDA's.
extern "C" __device__ float __nv_powif(float x, int n);
extern "C" __device__ double __nv_powi(double x, int n);
static __device__ float powif(float x, int n) { return __nv_powif(x, n); }
static __device__ double powi(double x, int n) { return __nv_powi(x, n); }

// What CUDA has with two results, and operators, under names of functions.
#define TWO_RESULTS(T, F)                                                                                                    \
    static __device__ T sincos_sin##F(T x) { T s, c; sincos##F(x, &s, &c); return s; }                                       \
    static __device__ T sincos_cos##F(T x) { T s, c; sincos##F(x, &s, &c); return c; }                                       \
    static __device__ T sincospi_sin##F(T x) { T s, c; sincospi##F(x, &s, &c); return s; }                                   \
    static __device__ T sincospi_cos##F(T x) { T s, c; sincospi##F(x, &s, &c); return c; }                                   \
    static __device__ T frexp_fraction##F(T x) { int e; return frexp##F(x, &e); }                                            \
    static __device__ T frexp_exponent##F(T x) { int e; frexp##F(x, &e); return T(e); }                                      \
    static __device__ T modf_fraction##F(T x) { T w; return modf##F(x, &w); }                                                \
    static __device__ T modf_whole##F(T x) { T w; modf##F(x, &w); return w; }                                                \
    static __device__ T remquo_remainder##F(T x, T y) { int q; return remquo##F(x, y, &q); }                                 \
    static __device__ T remquo_quotient##F(T x, T y) { int q; remquo##F(x, y, &q); return T(q & 7); }                        \
    static __device__ T op_ilogb##F(T x) { return T(ilogb##F(x)); }                                                          \
    static __device__ T op_lround##F(T x) { return T(lround##F(x)); }                                                        \
    static __device__ T op_lrint##F(T x) { return T(lrint##F(x)); }                                                          \
    static __device__ T op_llround##F(T x) { return T(llround##F(x)); }                                                      \
    static __device__ T op_llrint##F(T x) { return T(llrint##F(x)); }                                                        \
    static __device__ T op_norm##F(T x, T y, T z, T t) { T a[4] = {x, y, z, t}; return norm##F(4, a); }                      \
    static __device__ T op_rnorm##F(T x, T y, T z, T t) { T a[4] = {x, y, z, t}; return rnorm##F(4, a); }                    \
    static __device__ T op_add##F(T x, T y) { return x + y; }                                                                \
    static __device__ T op_mul##F(T x, T y) { return x * y; }                                                                \
    static __device__ T op_div##F(T x, T y) { return x / y; }                                                                \
    static __device__ T op_rcp##F(T x) { return T(1) / x; }                                                                  \
    static __device__ T op_mul_add##F(T x, T y, T z) { return x * y + z; }                                                   \
    static __device__ T op_mul_sub##F(T x, T y, T z) { return x * y - z; }                                                   \
    static __device__ T op_sum_of_products##F(T x, T y, T z, T t) { return x * y + z * t; }
TWO_RESULTS(float, f)
TWO_RESULTS(double, )
