// The function, in CUDA C++: PTX Writer's Guide to Interoperability 12.8, chapter 6.

__device__ __noinline__ int foo(int i, int j)
{
    return i + j;
}
