// The kernels of src/lib.rs in CUDA C++: nvcc's signatures are the ones to have.
#include <stddef.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct Pair { unsigned a; float b; };
struct Nested { bool flag; Pair pair; double value; };
struct Small { unsigned char a; unsigned short b; };
struct WithArray { float values[5]; unsigned char count; };
struct Grid { Pair rows[3][2]; };
struct alignas(16) Aligned16 { float a; };
struct alignas(32) Aligned32 { unsigned char values[40]; };
struct alignas(64) Aligned64 { unsigned char a; };
struct alignas(128) Aligned128 { double a; };
union Number { double floating; int integer; };
union OddUnion { unsigned char bytes[7]; unsigned short half; };
struct WithPointer { float *data; unsigned count; };
struct WithWide { unsigned char a; unsigned __int128 b; };
struct OneByte { unsigned char a; };
struct ThreeBytes { unsigned char a[3]; };
struct Meters { double value; };
struct Large { double values[256]; };

extern "C" __global__ void bytes(unsigned char a, signed char b, bool c) {}
extern "C" __global__ void halves(unsigned short a, short b) {}
extern "C" __global__ void words(unsigned a, int b, unsigned c) {}
extern "C" __global__ void longs(unsigned long long a, long long b, size_t c, ptrdiff_t d) {}
extern "C" __global__ void floats(float a, double b) {}
extern "C" __global__ void wide(unsigned __int128 a, __int128 b) {}
extern "C" __global__ void mixed(unsigned char a, double b, unsigned short c, float d, unsigned long long e) {}
extern "C" __global__ void pointers(const float *a, unsigned char *b, const Pair *c) {}
extern "C" __global__ void references(const float *a, const Pair *b) {}
extern "C" __global__ void slices(const float *a, size_t a_len, double *b, size_t b_len) {}
extern "C" __global__ void slices_of_structs(const Pair *a, size_t a_len, Aligned64 *b, size_t b_len) {}
extern "C" __global__ void pair(Pair a) {}
extern "C" __global__ void nested(Nested a) {}
extern "C" __global__ void small_then_large(Small a, double b) {}
extern "C" __global__ void with_array(WithArray a) {}
extern "C" __global__ void array_of_structs(Grid a) {}
extern "C" __global__ void aligned16(Aligned16 a, unsigned char b) {}
extern "C" __global__ void aligned32(unsigned char a, Aligned32 b) {}
extern "C" __global__ void aligned64(unsigned char a, Aligned64 b, unsigned char c) {}
extern "C" __global__ void aligned128(unsigned char a, Aligned128 b) {}
extern "C" __global__ void number(Number a) {}
extern "C" __global__ void odd_union(OddUnion a) {}
extern "C" __global__ void with_pointer(WithPointer a) {}
extern "C" __global__ void with_wide(WithWide a) {}
extern "C" __global__ void one_byte(OneByte a, OneByte b) {}
extern "C" __global__ void three_bytes(ThreeBytes a, unsigned b) {}
extern "C" __global__ void newtype(Meters a) {}
extern "C" __global__ void large(Large a) {}

struct Fields { unsigned a : 3; long b : 40; unsigned short : 0; unsigned char c; };
extern "C" __global__ void bitfields(Fields a, unsigned char b) {}
extern "C" __global__ void vectors(float4 a, double3 b, uchar4 c, long4_32a d, short2 e) {}
extern "C" __global__ void half_floats(__half a, __nv_bfloat16 b) {}
extern "C" __global__ void handles(cudaTextureObject_t a, cudaSurfaceObject_t b) {}
extern "C" __global__ void c_integers(char a, long long b, unsigned long long c, wchar_t d, char16_t e) {}
extern "C" __global__ void c_pointers(float *__restrict__ a, volatile unsigned *b) {}
