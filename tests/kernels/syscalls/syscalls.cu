// What nvcc makes of printf, malloc, free and assert: the prototypes that ours must be, and the packing of the valist.
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
