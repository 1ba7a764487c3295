// What nvcc makes of printf, malloc, free, assert and conditions of graphs: the prototypes that ours must be, and the packing of the valist.
#include <cassert>
#include <cstdio>
#include <cstdlib>

extern "C" __global__ void packs(int a, unsigned long long b, unsigned char c, short d, long long e, signed char f, unsigned g)
{
    printf("%d %llu %u %d %lld %d %u\n", a, b, c, d, e, f, g);
}

extern "C" __global__ void allocates(int **out, int n)
{
    int *p = (int *)malloc(n * sizeof(int));
    assert(p != nullptr);
    out[0] = p;
    free(out[1]);
}

extern "C" __global__ void sets_condition(cudaGraphConditionalHandle condition, unsigned value)
{
    cudaGraphSetConditional(condition, value);
}
