// The kernel, in CUDA C++: PTX Writer's Guide to Interoperability 12.8, chapter 6. Rust defines `foo`.

extern __device__ int foo(int i, int j);

__global__ void test(int *p)
{
    *p = foo(1, 2);
}
